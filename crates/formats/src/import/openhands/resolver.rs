//! Results of the resolver of issues (`output.jsonl` of `openhands.resolver`): lines of `{issue, instruction, git_patch,
//! history, metrics, success, result_explanation, …}`. Its early versions write the arguments of an action next to its name,
//! without source, time and id.

use volary_core::json::{Json, Key, Object, Text};

use crate::import::members::{Members, id, text_at};

/// The members of an event that are not arguments.
const ENVELOPE: [&str; 9] = [
    "action",
    "observation",
    "source",
    "timestamp",
    "id",
    "message",
    "cause",
    "tool_call_metadata",
    "llm_metrics",
];

/// Whether a value is a result of the resolver.
pub(super) fn is_result(value: &Json) -> bool {
    value.as_object().is_some_and(is_output)
}

/// Whether the members are those of a result.
pub(super) fn is_output(object: &Object) -> bool {
    let history = object.get("history").and_then(Json::as_list);
    let is_event = |event: &Json| {
        text_at(event, &["action"]).is_some() || text_at(event, &["observation"]).is_some()
    };
    object.contains_key("issue")
        && object.contains_key("instruction")
        && history.is_some_and(|history| history.iter().take(8).all(is_event))
}

/// The issue as the id of a task: `owner/repository#number`.
pub(super) fn issue(around: &Object) -> Option<Text> {
    let issue = around.get("issue")?;
    let number = id(issue.get("number")?)?;
    let owner = text_at(issue, &["owner"])?;
    let repository = text_at(issue, &["repo"])?;
    Some(format!("{owner}/{repository}#{number}").into())
}

/// The members around the history, and its events in the form of later versions.
pub(super) fn opened(mut result: Object) -> (Object, Vec<Json>) {
    let history = result.take_list("history").unwrap_or_default();
    let is_bare = |event: &Json| event.get("args").is_none() && event.get("extras").is_none();
    let mut is_first = true;
    let events = history.into_iter().map(|event| {
        let event = if is_bare(&event) {
            wrapped(event, is_first)
        } else {
            event
        };
        is_first = false;
        event
    });
    let events = events.collect();
    if let Some(success) = result.take("success") {
        let mut verdict = result.take_object("test_result").unwrap_or_default();
        verdict.insert("success", success);
        result.insert("test_result", verdict);
    }
    (result, events)
}

/// An event with its arguments in `args`, and with its source: the first message is that of the user.
fn wrapped(event: Json, is_first: bool) -> Json {
    let Json::Object(event) = event else {
        return event;
    };
    let is_action = event.contains_key("action");
    let action = event.get("action").and_then(Json::as_text);
    let is_message = action.is_some_and(|action| &**action == "message");
    let waits = event.get("wait_for_response").and_then(Json::as_bool) == Some(true);
    let has_source = event.contains_key("source");
    // Results have their content outside.
    let is_outer = |(key, _): &(Key, Json)| {
        ENVELOPE.contains(&key.as_ref()) || !is_action && key.as_ref() == "content"
    };
    let (outer, inner) = event.into_iter().partition(is_outer);
    let mut outer = Object::from_distinct(outer);
    let inner = Object::from_distinct(inner);
    if !has_source {
        let is_user = is_message && (is_first || !waits);
        outer.insert("source", if is_user { "user" } else { "agent" });
    }
    outer.insert(if is_action { "args" } else { "extras" }, inner);
    outer.into()
}
