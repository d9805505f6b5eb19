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
use volary_episode::Episode;
use volary_protocol::WorkerPart;
use volary_protocol::rollout::{Event, Request, RolloutCall, RolloutSetup, RolloutTask};

use crate::tokenizer;
use volary_browser::transferable::Attachment;
use volary_browser::worker_client::WorkerClient;

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
        let Some(reply) = reply_of(answer) else {
            return Ok(answer.clone());
        };
        match self.ask(RolloutTask::Read { reply }).await? {
            Event::Said { text, call } => Ok(answer_with(answer, &text, call)),
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
        let file = if self.has_tokenizer {
            tokenizer::file().await
        } else {
            None
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
    let Some(rendering) = rendering(connection, request)? else {
        return Ok(());
    };
    match call(&rendering, Vec::new()).await? {
        Event::Body { body } => {
            request.generate = Some(Json::Object(body));
            Ok(())
        }
        _ => Err(unexpected()),
    }
}

/// The request for the prompt of messages; `None` if the provider makes the prompt, or it is made already.
fn rendering(
    connection: &Connection,
    request: &ModelRequest,
) -> Result<Option<Request>, ModelError> {
    if connection.kind != ProviderKind::Sglang || request.generate.is_some() {
        return Ok(None);
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
    Ok(Some(Request {
        setup: setup(connection, request),
        conversation: object!({ "messages": messages, "tools": tools }),
        task: RolloutTask::Render,
    }))
}

/// The reply in which an action is looked for: the first one, unless it was cut off.
fn reply_of(answer: &Answer) -> Option<Object> {
    if answer.finish == Finish::Length {
        return None;
    }
    let reply = match answer.echo.first()? {
        Json::List(list) => list.first()?,
        reply => reply,
    };
    reply.as_object().cloned()
}

/// The answer with what was found in it: a text, and the call of a tool.
fn answer_with(answer: &Answer, text: &str, call: Option<RolloutCall>) -> Answer {
    let calls = call.into_iter().map(|call| RawCall {
        id: String::new(),
        name: call.name.to_string(),
        arguments: call.arguments.to_string(),
    });
    Answer {
        text: (!text.is_empty()).then(|| text.to_owned()),
        calls: calls.collect(),
        ..answer.clone()
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
            *worker = Some(WorkerClient::start(WorkerPart::Environments).map_err(failed)?);
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

#[cfg(test)]
mod tests {
    use volary_agent::model::connection::PRESETS;
    use volary_core::json;
    use volary_core::message::Message;

    use super::*;

    fn connection(kind: ProviderKind) -> Connection {
        let mut connection = Connection::of(&PRESETS[0]);
        connection.kind = kind;
        connection.generate.template = "qwen3".into();
        connection.generate.send_tokens = true;
        connection
    }

    fn request() -> ModelRequest {
        ModelRequest {
            messages: vec![Message::user("What is 6 times 7?").into()],
            temperature: Some(0.5),
            max_tokens: Some(64),
            ..ModelRequest::default()
        }
    }

    #[test]
    fn only_sglang_needs_its_prompts_made() {
        for kind in ProviderKind::ALL {
            let rendered = rendering(&connection(kind), &request()).expect("it can be dumped");
            assert_eq!(rendered.is_some(), kind == ProviderKind::Sglang, "{kind:?}");
            let turn = RolloutTurn::of(&connection(kind), &Episode::default(), None, &request());
            assert_eq!(turn.is_some(), kind == ProviderKind::Sglang, "{kind:?}");
        }
        let made = ModelRequest {
            generate: Some(json!({"text": "made"})),
            ..request()
        };
        let again = rendering(&connection(ProviderKind::Sglang), &made);
        assert!(
            again.is_ok_and(|again| again.is_none()),
            "the prompt is made once"
        );
    }

    #[test]
    fn a_prompt_is_made_of_the_messages_with_the_sampling_of_the_request() {
        let rendered = rendering(&connection(ProviderKind::Sglang), &request());
        let rendered = rendered.ok().flatten().expect("a request");
        assert_eq!(rendered.task, RolloutTask::Render);
        let messages = rendered.conversation.get("messages");
        assert_eq!(
            messages,
            Some(&json!([{"role": "user", "content": "What is 6 times 7?"}]))
        );
        let RolloutSetup {
            template,
            tokenizer,
            send_tokens,
            temperature,
            max_tokens,
            ..
        } = rendered.setup;
        assert_eq!((&*template, tokenizer), ("qwen3", None));
        assert_eq!(
            (send_tokens, temperature, max_tokens),
            (true, Some(0.5), Some(64))
        );
    }

    #[test]
    fn an_action_is_looked_for_in_the_first_reply() {
        let answer = |echo: Json| Answer {
            echo: vec![echo],
            ..Answer::default()
        };
        let reply = json!({"text": "42"});
        let expected = reply.as_object().cloned();
        assert_eq!(reply_of(&answer(reply.clone())), expected);
        assert_eq!(reply_of(&answer(json!([reply, {"text": "43"}]))), expected);
        assert_eq!(reply_of(&answer(json!([]))), None);
        assert_eq!(reply_of(&answer(json!("42"))), None);
        assert_eq!(reply_of(&Answer::default()), None);
    }

    #[test]
    fn no_action_is_looked_for_in_a_reply_that_was_cut_off() {
        let cut = Answer {
            echo: vec![json!({"text": "<tool_call>"})],
            finish: Finish::Length,
            ..Answer::default()
        };
        assert_eq!(reply_of(&cut), None);
    }

    #[test]
    fn what_was_found_replaces_the_text_of_the_answer() {
        let answer = Answer {
            text: Some("raw".to_owned()),
            model: Some("m".into()),
            ..Answer::default()
        };
        let call = RolloutCall {
            name: "add".into(),
            arguments: "{\"x\": 1}".into(),
        };
        let found = answer_with(&answer, "", Some(call));
        assert_eq!(found.text, None);
        assert_eq!(found.calls.len(), 1);
        assert_eq!(
            (&*found.calls[0].name, &*found.calls[0].arguments),
            ("add", "{\"x\": 1}")
        );
        assert_eq!(found.model, answer.model);
        let said = answer_with(&answer, "It is 42.", None);
        assert_eq!(said.text.as_deref(), Some("It is 42."));
        assert!(said.calls.is_empty());
    }
}
