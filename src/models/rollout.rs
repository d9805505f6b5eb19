//! Models behind SGLang's `/generate`: a worker makes the prompt of a turn, finds the action in the reply, and records
//! the tokens. Connections with other wire formats are left alone.
//!
//! The worker is started with the first rollout, and lives as long as the page.

use std::cell::RefCell;

use futures_util::StreamExt;
use volary_agent::model::sglang::conversation::{Conversation, ConversationError};
use volary_agent::model::{
    Answer, Connection, Finish, ModelError, ModelRequest, ProviderKind, RawCall,
};
use volary_core::json::{Json, Object, Text, to_json};
use volary_core::message::DumpOptions;
use volary_core::tool::wire::ToolDumpOptions;
use volary_core::{AnyMessage, object};
use volary_protocol::rollout::{Event, Request, RolloutSetup, RolloutTask};
use volary_trajectory::Episode;

use crate::browser::transferable::Attachment;
use crate::browser::worker_client::WorkerClient;
use crate::tokenizer;

thread_local! {
    static WORKER: RefCell<Option<WorkerClient>> = const { RefCell::new(None) };
}

/// A turn of a rollout: its setup, and the episode before it.
pub struct RolloutTurn {
    setup: RolloutSetup,
    has_tokenizer: bool,
    conversation: Result<Object, ConversationError>,
}

impl RolloutTurn {
    /// Makes the next turn of an episode; `None` if the connection's model is of another kind. `request` contains the
    /// sampling parameters.
    pub fn of(
        connection: &Connection,
        episode: &Episode,
        system_prompt: Option<&str>,
        request: &ModelRequest,
    ) -> Option<Self> {
        if connection.kind != ProviderKind::Sglang {
            return None;
        }
        let conversation = Conversation::of(episode, system_prompt);
        let object = |conversation| match to_json(&conversation) {
            Ok(Json::Object(object)) => object,
            // Strings and numbers can always be serialized.
            _ => Object::new(),
        };
        Some(RolloutTurn {
            setup: setup(connection, request),
            has_tokenizer: connection.generate.stored_tokenizer,
            conversation: conversation.map(object),
        })
    }

    /// Sets the body of the request.
    pub async fn prepare(&self, request: &mut ModelRequest) -> Result<(), ModelError> {
        match self.ask(RolloutTask::Next).await? {
            Event::Body { body } => {
                request.generate = Some(Json::Object(body));
                Ok(())
            }
            _ => Err(unexpected()),
        }
    }

    /// Replaces the text of an answer by the action that it contains. A truncated answer is returned unchanged.
    pub async fn read(&self, answer: &Answer) -> Result<Answer, ModelError> {
        let reply = answer.echo.first().map(|reply| match reply {
            Json::List(list) => list.first().unwrap_or(reply),
            reply => reply,
        });
        let reply = reply
            .and_then(Json::as_object)
            .filter(|_| answer.finish != Finish::Length);
        let Some(reply) = reply.cloned() else {
            return Ok(answer.clone());
        };
        match self.ask(RolloutTask::Read { reply }).await? {
            Event::Said { text, call } => Ok(Answer {
                text: (!text.is_empty()).then(|| text.to_string()),
                calls: call
                    .into_iter()
                    .map(|call| RawCall {
                        id: String::new(),
                        name: call.name.to_string(),
                        arguments: call.arguments.to_string(),
                    })
                    .collect(),
                ..answer.clone()
            }),
            _ => Err(unexpected()),
        }
    }

    /// Returns the tokens of the turns so far, as members of the episode's raw record.
    pub async fn record(&self, is_over: bool) -> Result<Object, ModelError> {
        match self.ask(RolloutTask::Record { is_over }).await? {
            Event::Recorded { members } => Ok(members),
            _ => Err(unexpected()),
        }
    }

    async fn ask(&self, task: RolloutTask) -> Result<Event, ModelError> {
        let conversation = self.conversation.clone();
        let conversation = conversation.map_err(|error| failed(error.to_string()))?;
        let file = match self.has_tokenizer {
            true => tokenizer::file().await,
            false => None,
        };
        let tokenizer = file.as_ref();
        let tokenizer = tokenizer.map(|file| Text::from(format!("{} {}", file.name, file.size)));
        let setup = RolloutSetup {
            tokenizer,
            ..self.setup.clone()
        };
        let request = Request {
            setup,
            conversation,
            task,
        };
        call(&request, file.into_iter().map(Attachment::File).collect()).await
    }
}

/// Sets the body of a request that belongs to no episode, such as a test of the connection.
pub(super) async fn render(
    connection: &Connection,
    request: &mut ModelRequest,
) -> Result<(), ModelError> {
    if connection.kind != ProviderKind::Sglang || request.generate.is_some() {
        return Ok(());
    }
    let options = DumpOptions {
        exclude_none: true,
        ..DumpOptions::default()
    };
    let dump = |message: &AnyMessage| message.dump(&options).map(Json::Object);
    let messages: Result<Vec<Json>, _> = request.messages.iter().map(dump).collect();
    let messages = messages.map_err(|error| failed(error.to_string()))?;
    let tools = request.tools.iter();
    let tools = tools.map(|tool| Json::Object(tool.dump(ToolDumpOptions::WIRE)));
    let tools: Vec<Json> = tools.collect();
    let rendering = Request {
        setup: setup(connection, request),
        conversation: object!({ "messages": messages, "tools": tools }),
        task: RolloutTask::Render,
    };
    match call(&rendering, Vec::new()).await? {
        Event::Body { body } => {
            request.generate = Some(Json::Object(body));
            Ok(())
        }
        _ => Err(unexpected()),
    }
}

fn setup(connection: &Connection, request: &ModelRequest) -> RolloutSetup {
    let generate = &connection.generate;
    RolloutSetup {
        template: generate.template.clone(),
        mask: generate.mask.clone(),
        tokenizer: None,
        send_tokens: generate.send_tokens,
        temperature: request.temperature,
        max_tokens: request.max_tokens,
    }
}

async fn call(request: &Request, attachments: Vec<Attachment>) -> Result<Event, ModelError> {
    let replies: Result<_, ModelError> = WORKER.with_borrow_mut(|worker| {
        if worker.as_ref().is_none_or(WorkerClient::is_lost) {
            *worker = Some(WorkerClient::start().map_err(failed)?);
        }
        let worker = worker.as_ref().ok_or_else(unexpected)?;
        Ok(worker.call_with(request, attachments))
    });
    match replies?.next().await {
        Some(Ok(reply)) => match reply.event {
            Event::Failed { reason } => Err(ModelError::Rollout { reason }),
            event => Ok(event),
        },
        Some(Err(loss)) => Err(failed(loss.to_string())),
        None => Err(unexpected()),
    }
}

fn failed(reason: String) -> ModelError {
    ModelError::Rollout {
        reason: reason.into(),
    }
}

/// The worker ended without a reply: it was stopped, or is of another build.
fn unexpected() -> ModelError {
    failed("its worker gave no answer.".to_owned())
}
