//! Trajectories of mini-swe-agent: `{info, messages, trajectory_format}`, or the bare messages. Actions are recorded
//! (`extra.actions` or `tool_calls`), or they are only in a code block of the text (`fence`): then the text is
//! preserved, and the next message is the result of the action.

mod fence;

use volary_core::json::{Json, Object, Text};
use volary_core::object;
use volary_core::{AnyMessage, Role, ToolCall, ToolRequestMessage};
use volary_episode::episode::{
    Ending, Episode, Rewards, StepDetails, StepError, TaskReference, Usage,
};

use super::chat;
use super::describe::counted;
use super::members::{Members, keep_rest, moment, text_at};
use super::reader::{Confidence, Document, Line, Reader, Sink};
use super::transcript::{ImportedMessage, Transcript};

use fence::{Fence, is_said_by_model, text_of};

/// The tool that runs all actions.
const SHELL: &str = "bash";

/// Prefixes of a person's message in place of an observation.
const BY_A_PERSON: [&str; 2] = ["The user added a new task: ", "Interrupted by user"];

/// The text that the agent prints to finish; only its prompts contain it.
const FINISH: &str = "COMPLETE_TASK_AND_SUBMIT_FINAL_OUTPUT";

pub(super) struct MiniSweAgent;

impl Reader for MiniSweAgent {
    fn id(&self) -> &'static str {
        "mini-swe-agent"
    }

    fn name(&self) -> &'static str {
        "mini-swe-agent trajectory"
    }

    fn recognise(&self, document: &Document) -> Confidence {
        let head = document.head();
        let format = text_at(head, &["trajectory_format"]);
        let messages = head.get("messages").and_then(Json::as_list);
        if format.is_some_and(|format| format.starts_with("mini-swe-agent"))
            || messages.is_some() && text_at(head, &["info", "mini_version"]).is_some()
        {
            return Confidence::Certain;
        }
        let mut says_how_to_finish = match (document, messages) {
            (_, Some(messages)) => messages.iter().take(3).collect::<Vec<_>>(),
            (Document::Value(Json::List(messages)), None) => messages.iter().take(3).collect(),
            _ => Vec::new(),
        }
        .into_iter()
        .map(|message| message.get("content").map(Json::to_compact_text));
        if says_how_to_finish.any(|text| text.is_some_and(|text| text.contains(FINISH))) {
            Confidence::Likely
        } else {
            Confidence::No
        }
    }

    fn read(&self, document: Document, sink: &mut Sink<'_>) {
        let before = sink.episodes();
        match document {
            Document::Value(Json::List(messages))
                if messages.iter().all(|value| value.get("messages").is_none()) =>
            {
                let episode = trajectory(Object::new(), messages, sink);
                sink.episode(episode);
            }
            document => {
                for Line { number, value } in document.into_records() {
                    match value {
                        Json::Object(mut object) => {
                            let messages = object.take_list("messages").unwrap_or_default();
                            let episode = trajectory(object, messages, sink);
                            sink.episode(episode);
                        }
                        _ => sink.lost(format!("Line {number} is not a trajectory.")),
                    }
                }
            }
        }
        let count = sink.episodes() - before;
        sink.understood(format!("mini-swe-agent: {}.", counted(count, "trajectory")));
    }
}

fn trajectory(mut rest: Object, messages: Vec<Json>, sink: &mut Sink<'_>) -> Episode {
    let format = rest.take_text("trajectory_format");
    sink.set_version(
        format
            .as_deref()
            .and_then(|format| format.strip_prefix("mini-swe-agent-"))
            .map(Text::from),
    );
    let info = rest.take_object("info").unwrap_or_default();
    let instance = rest.take_id("instance_id");
    let whole = Json::Object(info);
    let stats = whole.get("model_stats");
    let stat = |key| stats.and_then(|stats| stats.get(key)?.as_f64());
    let status = text_at(&whole, &["exit_status"]);
    let mut episode = Episode {
        id: instance.clone().unwrap_or_default(),
        task: instance.map(|id| TaskReference {
            dataset: "swe".into(),
            id,
        }),
        policy: Some("mini-swe-agent".into()),
        model: text_at(&whole, &["config", "model", "model_name"]),
        rewards: Rewards::Unknown,
        ..Episode::default()
    };
    let mut conversation = Conversation {
        fence: Fence::of(&whole, &messages),
        transcript: Transcript::default(),
        acted: false,
    };
    let mut exit = None;
    for message in messages {
        match message.get("role").and_then(Json::as_text) {
            Some(role) if &**role == "exit" => exit = Some(message),
            _ => conversation.message(message),
        }
    }
    let status = status.or_else(|| text_at(exit.as_ref()?, &["extra", "exit_status"]));
    episode.ending = ending(status.as_deref());
    episode.outcome = status;
    conversation.transcript.finish(&mut episode);
    let spent = episode.usage();
    let total = Usage {
        cost: stat("instance_cost").or(spent.cost),
        ..spent
    };
    episode.total_usage = (!total.is_empty()).then_some(total);
    if let Json::Object(info) = whole {
        episode.metadata = info;
    }
    if let Some(exit) = exit {
        rest.insert("exit", exit);
    }
    keep_rest(&mut episode, rest, sink);
    episode
}

fn ending(status: Option<&str>) -> Ending {
    match status {
        None | Some("") => Ending::Open,
        Some("Submitted" | "submitted") => Ending::Done,
        Some(status)
            if status.contains("Limit")
                || status.contains("Exceeded")
                || status.contains("Timeout") =>
        {
            Ending::Truncated {
                reason: format!("It was cut off: {status}.").into(),
            }
        }
        Some(status) => Ending::Crashed {
            message: format!("The run ended with {status}.").into(),
        },
    }
}

/// The state while a conversation is read.
struct Conversation {
    fence: Fence,
    transcript: Transcript,
    /// Whether the last message was an action that is only in its text.
    acted: bool,
}

impl Conversation {
    fn message(&mut self, message: Json) {
        let acted = std::mem::take(&mut self.acted);
        let is_models = is_said_by_model(&message);
        let Json::Object(mut message) = message else {
            return chat::read(&message)
                .into_iter()
                .for_each(|said| self.transcript.push(said));
        };
        let extra = message.take_object("extra").unwrap_or_default();
        if is_models {
            return self.turn(message, extra);
        }
        let failed = extra
            .get("exception_info")
            .and_then(Json::as_text)
            .filter(|text| !text.is_empty())
            .cloned();
        let is_user = message
            .get("role")
            .and_then(Json::as_text)
            .map(AsRef::as_ref)
            == Some("user");
        let names_code = extra.contains_key("returncode") || extra.contains_key("raw_output");
        let answers = names_code && self.transcript.expects_answer();
        let when = extra.get("timestamp").and_then(moment);
        if is_user && (answers || acted && !is_by_a_person(&message)) {
            message.insert("role", "tool");
        }
        if !extra.is_empty() {
            message.insert("extra", extra);
        }
        for mut said in chat::read(&message.into()) {
            said.details.started = when;
            if let Some(message) = &failed {
                said.details.errors.push(StepError {
                    call: None,
                    message: message.clone(),
                });
            }
            self.transcript.push(said);
        }
    }

    /// A reply of the model.
    fn turn(&mut self, mut message: Object, mut extra: Object) {
        let details = details(&mut extra);
        let has_calls = |message: &Object| {
            let calls = message.get("tool_calls").and_then(Json::as_list);
            calls.is_some_and(|calls| !calls.is_empty())
        };
        let mut command = None;
        // A reply of OpenAI's Responses API contains its calls.
        if !message.contains_key("object") && !has_calls(&message) {
            match extra.take_list("actions") {
                Some(actions) => {
                    let calls = actions.iter().map(action);
                    message.insert("tool_calls", calls.collect::<Vec<_>>());
                }
                None => {
                    let text = text_of(&message);
                    let text = text.as_deref();
                    command = text.and_then(|text| Some(self.fence.only_command(text)?.to_owned()));
                }
            }
        }
        for mut said in chat::read(&message.into()) {
            let reasoning = said.details.reasoning.take();
            said.details = details.clone();
            said.details.reasoning = reasoning.or(said.details.reasoning);
            said.extras = std::mem::take(&mut extra);
            if let Some(command) = command.take() {
                (said, self.acted) = acting(said, command);
            }
            self.transcript.push(said);
        }
    }
}

/// Adds the call of a command to a message; also returns whether it has a call now.
fn acting(said: ImportedMessage, command: String) -> (ImportedMessage, bool) {
    match said.message {
        AnyMessage::Plain(plain) if plain.role == Role::Assistant => {
            let request = ToolRequestMessage {
                body: plain.body,
                tool_calls: vec![ToolCall::new("", SHELL, object!({ "command": command }))],
            };
            let message = AnyMessage::from(request);
            (ImportedMessage { message, ..said }, true)
        }
        message => (ImportedMessage { message, ..said }, false),
    }
}

fn is_by_a_person(message: &Object) -> bool {
    let text = text_of(message);
    text.is_some_and(|text| BY_A_PERSON.iter().any(|start| text.starts_with(start)))
}

/// Converts an action to a call.
fn action(action: &Json) -> Json {
    let command = match action {
        Json::Text(command) => Json::from(command.clone()),
        action => action
            .get("command")
            .cloned()
            .unwrap_or_else(|| action.clone()),
    };
    object!({
        "id": (text_at(action, &["tool_call_id"]).unwrap_or_default()),
        "name": SHELL,
        "arguments": { "command": command }
    })
    .into()
}

/// The metadata of a reply besides its text.
fn details(extra: &mut Object) -> StepDetails {
    let cost = extra.take_number("cost");
    let started = extra.take_time("timestamp");
    let response = extra.get("response");
    let usage = response.and_then(|response| chat::usage(response.get("usage")?));
    let message =
        response.and_then(|response| response.get("choices")?.as_list()?.first()?.get("message"));
    StepDetails {
        reasoning: message.and_then(|message| text_at(message, &["reasoning_content"])),
        model: response.and_then(|response| text_at(response, &["model"])),
        usage: match (usage, cost) {
            (None, None) => None,
            (usage, cost) => {
                let usage = usage.unwrap_or_default();
                Some(Usage {
                    cost: cost.or(usage.cost),
                    ..usage
                })
            }
        },
        started,
        errors: Vec::new(),
    }
}
