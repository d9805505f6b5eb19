//! Events with `action` or `observation`.

use volary_core::json::{Json, Object, Text};
use volary_core::message::Body;
use volary_core::{
    AnyMessage, Message, Role, ToolCall, ToolRequestMessage, ToolResponseMessage, object,
};
use volary_episode::episode::{Ending, StepDetails, StepError, Usage};

use super::{Conversation, tokens, verdict};
use crate::import::chat;
use crate::import::members::{Members, id, text_at};
use crate::import::transcript::ImportedMessage;

/// Actions that are bookkeeping.
const BOOKKEEPING: [&str; 7] = [
    "recall",
    "change_agent_state",
    "null",
    "condensation",
    "condensation_request",
    "loop_recovery",
    "push",
];

/// Observations that are bookkeeping.
const BOOKKEEPING_OBSERVED: [&str; 4] = ["recall", "agent_state_changed", "null", "loop_detection"];

pub(super) fn read(event: Object, state: &mut Conversation) {
    let text = |key| event.get(key).and_then(Json::as_text).cloned();
    match (text("action"), text("observation")) {
        (Some(action), _) => act(&action, event, state),
        (None, Some(observation)) => observe(&observation, event, state),
        (None, None) => state.aside.push(event.into()),
    }
}

fn act(action: &str, mut event: Object, state: &mut Conversation) {
    match action {
        action if BOOKKEEPING.contains(&action) => state.aside.push(event.into()),
        "system" => system(event, state),
        "message" => message(event, state),
        _ => {
            let is_end = matches!(action, "finish" | "reject");
            if is_end && !state.delegates.is_active() {
                state.episode.ending = Ending::Done;
                state.episode.outcome = Some(action.into());
            }
            let metadata = event.take("tool_call_metadata").unwrap_or_default();
            let details = details(&mut event, &metadata, state);
            let mut args = event.take_object("args").unwrap_or_default();
            let answer = text_at_answer(&metadata);
            let thought = args.take_text("thought").filter(|text| !text.is_empty());
            let spoken =
                thought.or_else(|| answer.and_then(|answer| text_at(answer, &["content"])));
            let call = asked(&metadata, answer)
                .unwrap_or_else(|| taken(action, &metadata, &mut event, &args));
            if let Some(event) = event.get("id").and_then(id) {
                state.calls.insert(event, call.id.clone());
            }
            let closing = args
                .take_text("final_thought")
                .filter(|text| !text.is_empty());
            let content = spoken.or(closing).map_or_else(Body::default, Body::text);
            event.remove("action");
            event.retain(|_, value| !value.is_null());
            let mut extras = event;
            if !args.is_empty() {
                extras.insert("args", args);
            }
            let request = ToolRequestMessage {
                body: content,
                tool_calls: vec![call],
            };
            let delegate = match action {
                "delegate" => text_at(extras.get("args").unwrap_or(&Json::Null), &["agent"]),
                _ => None,
            };
            state.transcript.push(ImportedMessage {
                details,
                extras,
                ..AnyMessage::from(request).into()
            });
            if let Some(name) = delegate {
                state.delegates.start(name, state.transcript.len());
            }
        }
    }
}

/// The model's reply that requested the action.
fn text_at_answer(metadata: &Json) -> Option<&Json> {
    metadata
        .get("model_response")?
        .get("choices")?
        .as_list()?
        .first()?
        .get("message")
}

/// The original call of the model.
fn asked(metadata: &Json, answer: Option<&Json>) -> Option<ToolCall> {
    let id = text_at(metadata, &["tool_call_id"])?;
    let calls = answer?.get("tool_calls")?.as_list()?;
    let call = calls
        .iter()
        .find(|call| text_at(call, &["id"]).as_ref() == Some(&id))?;
    Some(chat::call(call))
}

/// The call that is equivalent to an action.
fn taken(action: &str, metadata: &Json, event: &mut Object, args: &Object) -> ToolCall {
    let mut arguments = args.clone();
    for key in [
        "thought",
        "blocking",
        "hidden",
        "confirmation_state",
        "is_confirmed",
        "security_risk",
    ] {
        arguments.remove(key);
    }
    arguments.retain(|_, value| !value.is_null());
    if arguments.is_empty()
        && let Some(content) = event.take("content")
    {
        arguments.insert("content", content);
    }
    let known = text_at(metadata, &["tool_call_id"]);
    let name = text_at(metadata, &["function_name"]);
    let numbered = || {
        event
            .get("id")
            .and_then(id)
            .map(|id| Text::from(format!("event-{id}")))
    };
    ToolCall::new(
        known.or_else(numbered).unwrap_or_default(),
        name.unwrap_or_else(|| action.into()),
        arguments,
    )
}

fn details(event: &mut Object, metadata: &Json, state: &mut Conversation) -> StepDetails {
    let response = metadata.get("model_response");
    let answer = text_at_answer(metadata);
    let answer_id = response.and_then(|response| text_at(response, &["id"]));
    let metrics = event.take("llm_metrics");
    let before = state.spent;
    if let Some(metrics) = &metrics {
        let usage = metrics
            .get("accumulated_token_usage")
            .and_then(tokens)
            .unwrap_or_default();
        let cost = metrics.get("accumulated_cost").and_then(Json::as_f64);
        state.spent = Usage {
            cost: cost.or(before.cost),
            ..usage
        };
    }
    // Several actions may belong to one reply: its usage counts once.
    let again = answer_id.is_some() && state.counted == answer_id;
    let cost = metrics
        .is_some()
        .then(|| state.spent.cost.unwrap_or(0.0) - before.cost.unwrap_or(0.0));
    let usage = response.and_then(|response| chat::usage(response.get("usage")?));
    let usage = match (usage, cost.filter(|cost| *cost > 0.0)) {
        (None, None) => None,
        (usage, cost) => Some(Usage {
            cost,
            ..usage.unwrap_or_default()
        }),
    };
    state.counted = answer_id.or(state.counted.take());
    let model = response.and_then(|response| text_at(response, &["model"]));
    if state.episode.model.is_none() {
        state.episode.model = model.clone();
    }
    StepDetails {
        reasoning: answer.and_then(|answer| text_at(answer, &["reasoning_content"])),
        model,
        usage: usage.filter(|_| !again),
        started: event.take_time("timestamp"),
        errors: Vec::new(),
    }
}

fn system(mut event: Object, state: &mut Conversation) {
    let args = event.take("args").unwrap_or_default();
    let content = text_at(&args, &["content"]).or_else(|| event.take_text("content"));
    let tools = args
        .get("tools")
        .and_then(Json::as_list)
        .unwrap_or_default();
    state
        .episode
        .tools
        .extend(tools.iter().filter_map(chat::tool));
    if let Some(class) = text_at(&args, &["agent_class"]) {
        state.episode.policy = Some(format!("OpenHands {class}").into());
    }
    if let Some(version) = text_at(&args, &["openhands_version"]) {
        state.episode.metadata.insert("openhands_version", version);
    }
    let message = Message::new(Role::System, content.unwrap_or_default());
    state.transcript.observe(message.into());
}

fn message(mut event: Object, state: &mut Conversation) {
    let metadata = event.take("tool_call_metadata").unwrap_or_default();
    let by_agent = event
        .get("source")
        .and_then(Json::as_text)
        .is_some_and(|source| &**source == "agent");
    let args = event.take("args").unwrap_or_default();
    let said = args
        .get("content")
        .cloned()
        .or_else(|| event.take("content"));
    let said = said.or_else(|| event.take("message")).unwrap_or_default();
    let images = args
        .get("image_urls")
        .and_then(Json::as_list)
        .unwrap_or_default();
    let content = match (said, images) {
        (said, []) => said,
        (said, images) => {
            let text = object!({ "type": "text", "text": (said.to_display()) });
            let images = images
                .iter()
                .map(|url| object!({ "type": "image_url", "image_url": { "url": (url.clone()) } }));
            let blocks = std::iter::once(text).chain(images);
            Json::List(blocks.map(Json::Object).collect())
        }
    };
    let body = chat::body(content);
    if by_agent {
        let details = details(&mut event, &metadata, state);
        let message = Message {
            role: Role::Assistant,
            body,
        };
        state.transcript.push(ImportedMessage {
            details,
            ..message.into()
        });
    } else {
        state.transcript.observe(
            Message {
                role: Role::User,
                body,
            }
            .into(),
        );
    }
}

fn observe(observation: &str, mut event: Object, state: &mut Conversation) {
    if BOOKKEEPING_OBSERVED.contains(&observation) {
        let now = event.get("extras").unwrap_or(&Json::Null);
        if let Some(agent) = text_at(now, &["agent_state"]) {
            state.stands = verdict::ending(&agent, text_at(now, &["reason"]));
        }
        return state.aside.push(event.into());
    }
    if observation == "delegate" {
        state.delegates.end(state.transcript.len());
    }
    let metadata = event.take("tool_call_metadata").unwrap_or_default();
    let cause = event.get("cause").and_then(id);
    let caused = cause.and_then(|cause| state.calls.get(&cause).cloned());
    let call = text_at(&metadata, &["tool_call_id"]).or(caused);
    let mut body = chat::body(event.take("content").unwrap_or_default());
    let said = event.take_text("message");
    if body.content.is_none() {
        body.content = said.clone();
    }
    let content = body.content.get_or_insert_with(Text::default).clone();
    let failed = match (observation, event.get("success")) {
        ("error", _) => Some(content),
        (_, Some(Json::Bool(false))) => Some(said.unwrap_or(content)),
        _ => None,
    };
    for key in ["observation", "cause", "source", "timestamp", "id"] {
        event.remove(key);
    }
    event.retain(|_, value| !value.is_null());
    let answers = call.is_some() || state.transcript.expects_answer();
    let message: AnyMessage = if answers {
        ToolResponseMessage {
            body,
            name: text_at(&metadata, &["function_name"]).unwrap_or_default(),
            tool_call_id: call.unwrap_or_default(),
        }
        .into()
    } else {
        Message {
            role: Role::User,
            body,
        }
        .into()
    };
    let mut said = ImportedMessage::from(chat::with_info(message, event));
    said.details.errors.extend(failed.map(|message| StepError {
        call: None,
        message,
    }));
    state.transcript.observe(said);
}
