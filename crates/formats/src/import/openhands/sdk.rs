//! Events of the agent SDK, which have a `kind`.

use volary_core::json::{Json, Object, Text};
use volary_core::message::Body;
use volary_core::{AnyMessage, Message, Role, ToolCall, ToolRequestMessage, ToolResponseMessage};
use volary_episode::episode::{Ending, StepDetails, StepError};

use super::{Conversation, all_spent, verdict};
use crate::import::chat;
use crate::import::members::{Members, text_at};
use crate::import::transcript::ImportedMessage;

/// The key of the metadata of a step's calls after the first one.
const OTHER_CALLS: &str = "other_calls";

/// Whether a `kind` may be that of an event.
pub(super) fn is_kind(kind: &str) -> bool {
    kind.ends_with("Event") || kind.starts_with("Condensation") || kind == "UserRejectObservation"
}

/// Whether an event of this kind without a source is part of the conversation.
pub(super) fn says(kind: &str, event: &Json) -> bool {
    let member = match kind {
        "MessageEvent" => "llm_message",
        "ActionEvent" | "ObservationEvent" => "tool_name",
        _ => return false,
    };
    event.get(member).is_some()
}

pub(super) fn read(mut event: Object, state: &mut Conversation) {
    let kind = event
        .get("kind")
        .and_then(Json::as_text)
        .cloned()
        .unwrap_or_default();
    match &*kind {
        "SystemPromptEvent" => {
            let text = event
                .get("system_prompt")
                .map(|prompt| chat::body(prompt.get("text").unwrap_or(prompt).clone()));
            let tools = event.take_list("tools").unwrap_or_default();
            state
                .episode
                .tools
                .extend(tools.iter().filter_map(chat::tool));
            let message = Message {
                role: Role::System,
                body: text.unwrap_or_default(),
            };
            state.transcript.observe(message.into());
        }
        "MessageEvent" => {
            let started = event.take_time("timestamp");
            let mut message = event.take("llm_message").unwrap_or_default();
            let by_agent = event.take_text("source").as_deref() == Some("agent");
            if let Json::Object(message) = &mut message
                && by_agent
                && message.get("role").is_none_or(Json::is_null)
            {
                message.insert("role", "assistant");
            }
            for mut said in chat::read(&message) {
                said.details.started = started;
                state.transcript.push(said);
            }
        }
        "ActionEvent" => act(event, state),
        "ObservationEvent" | "AgentErrorEvent" | "UserRejectObservation" => observe(event, state),
        "ConversationStateUpdateEvent" => {
            // The last value is the total of everything before.
            let spent = event.get("value").and_then(all_spent);
            state.episode.total_usage = spent.or(state.episode.total_usage);
            if let Some(agent) = status(&event) {
                state.stands = verdict::ending(&agent, None);
            }
            state.aside.push(event.into());
        }
        "ConversationErrorEvent" => {
            let detail = event
                .take_text("detail")
                .or_else(|| event.take_text("code"));
            let message = detail.unwrap_or_else(|| "The conversation failed.".into());
            state.episode.errors.push(message.clone());
            state.episode.ending = Ending::Crashed { message };
        }
        _ => state.aside.push(event.into()),
    }
}

/// The agent's status in an update: alone, or within the full state.
fn status(event: &Object) -> Option<Text> {
    const STATUS: &str = "execution_status";
    let value = event.get("value")?;
    match event.get("key").and_then(Json::as_text) {
        Some(key) if &**key == STATUS => value.as_text().cloned(),
        _ => text_at(value, &[STATUS]),
    }
}

fn act(mut event: Object, state: &mut Conversation) {
    let call_id = event.take_text("tool_call_id").unwrap_or_default();
    let name = event.take_text("tool_name").unwrap_or_default();
    let action = event.take("action").unwrap_or_default();
    let mut call = match event.take("tool_call") {
        Some(call) => chat::call(&call),
        None => {
            let mut arguments = action.as_object().cloned().unwrap_or_default();
            arguments.remove("kind");
            ToolCall::new("", name.clone(), arguments)
        }
    };
    if call.id.is_empty() {
        call.id = call_id;
    }
    if call.function.name.is_empty() {
        call.function.name = name;
    }
    if &*call.function.name == "finish" {
        state.episode.ending = Ending::Done;
        state.episode.outcome = Some("finish".into());
    }
    let thought = chat::body(event.take("thought").unwrap_or_default());
    let details = StepDetails {
        reasoning: event
            .take_text("reasoning_content")
            .filter(|text| !text.is_empty()),
        started: event.take_time("timestamp"),
        ..StepDetails::default()
    };
    // Each call of a reply has its own event, and these precede all results: they are one action, as the SDK
    // combines them for the model.
    let answer = event.get("llm_response_id").and_then(Json::as_text);
    let answer = answer.cloned();
    if let Some(last) = state.transcript.last_mut()
        && answer.is_some()
        && last.extras.get("llm_response_id").and_then(Json::as_text) == answer.as_ref()
        && last.messages().is_empty()
        && matches!(last.action, AnyMessage::Request(_))
    {
        event.remove("kind");
        event.remove("llm_response_id");
        event.retain(|_, value| !is_empty(value));
        let mut others = last.extras.take_list(OTHER_CALLS).unwrap_or_default();
        others.push(event.into());
        last.extras.insert(OTHER_CALLS, others);
        state.transcript.add_call(call);
        return;
    }
    event.remove("kind");
    event.retain(|_, value| !is_empty(value));
    let body = match thought.content.as_deref() {
        None | Some("") => Body::default(),
        Some(_) => thought,
    };
    let request = ToolRequestMessage {
        body,
        tool_calls: vec![call],
    };
    state.transcript.push(ImportedMessage {
        details,
        extras: event,
        ..AnyMessage::from(request).into()
    });
}

fn is_empty(value: &Json) -> bool {
    value.is_null() || value.as_list().is_some_and(<[Json]>::is_empty)
}

fn observe(mut event: Object, state: &mut Conversation) {
    let call = event.take_text("tool_call_id").unwrap_or_default();
    let name = event.take_text("tool_name").unwrap_or_default();
    let observation = event.take("observation").unwrap_or_default();
    let error = event.take_text("error");
    let refused = event.take_text("rejection_reason");
    let says_error = observation.get("is_error").and_then(Json::as_bool) == Some(true);
    let mut body = match error.clone().or_else(|| refused.clone()) {
        Some(text) => Body::text(text),
        None => output(observation),
    };
    let content = body.content.get_or_insert_with(Text::default).clone();
    let failed = error.or(refused).or_else(|| says_error.then_some(content));
    let response = ToolResponseMessage {
        body,
        name,
        tool_call_id: call,
    };
    for key in ["kind", "id", "timestamp", "source", "action_id"] {
        event.remove(key);
    }
    event.retain(|_, value| !value.is_null());
    let mut said = ImportedMessage::from(chat::with_info(response.into(), event));
    said.details.errors.extend(failed.map(|message| StepError {
        call: None,
        message,
    }));
    state.transcript.observe(said);
}

/// The text of an observation: its content or output, otherwise its JSON.
fn output(observation: Json) -> Body {
    let said = ["content", "output", "message", "text"];
    let said = said
        .iter()
        .find_map(|key| observation.get(key))
        .filter(|value| !value.is_null());
    match said {
        Some(said) => chat::body(said.clone()),
        None if observation.is_null() => Body::default(),
        None => chat::body(text_at(&observation, &["result"]).map_or(observation, Json::Text)),
    }
}
