//! Messages recorded as events of a span, one per event, before the conventions made attributes of them: the model's
//! input (`gen_ai.user.message` and so on), and its output (`gen_ai.choice`).

use volary_core::json::{Json, Object};
use volary_core::object;

use super::spans::Span;
use crate::import::members::{Members, unpacked};

/// The output of a model or a tool.
const GIVEN: &str = "gen_ai.choice";

/// The arguments or the result of a tool.
const TOOL: &str = "gen_ai.tool.message";

/// The input and output messages of a model call.
pub(super) fn messages(span: &Span) -> (Vec<Json>, Vec<Json>) {
    let (mut sent, mut given) = (Vec::new(), Vec::new());
    for (name, attributes) in &span.events {
        let (role, list) = match &**name {
            "gen_ai.system.message" => ("system", &mut sent),
            "gen_ai.user.message" => ("user", &mut sent),
            "gen_ai.assistant.message" => ("assistant", &mut sent),
            TOOL => ("tool", &mut sent),
            GIVEN => ("assistant", &mut given),
            _ => continue,
        };
        list.push(message(attributes, role).into());
    }
    (sent, given)
}

/// Whether the result of a span is recorded.
pub(super) fn gave(span: &Span) -> bool {
    span.events.iter().any(|(name, _)| &**name == GIVEN)
}

/// The arguments of a tool run.
pub(super) fn arguments(span: &Span) -> Option<Json> {
    content(span, TOOL)
}

/// The result of a tool run.
pub(super) fn result(span: &Span) -> Option<Json> {
    content(span, GIVEN)
}

fn content(span: &Span, name: &str) -> Option<Json> {
    let mut events = span.events.iter();
    let (_, attributes) = events.find(|(event, _)| **event == *name)?;
    message(attributes, "tool").take("content")
}

/// The message of an event. Its content is a member, or the whole body is JSON text.
fn message(attributes: &Object, role: &'static str) -> Object {
    let mut attributes = attributes.clone();
    let said = ["gen_ai.event.content", "message", "content"].into_iter();
    let said = said.filter_map(|key| attributes.take(key)).next();
    let said = match said.map(unpacked).unwrap_or_default() {
        Json::Object(mut around) => match around.take("message").map(unpacked) {
            Some(message) => message,
            None => around.into(),
        },
        said => said,
    };
    let mut message = match said {
        Json::Object(message) if is_message(&message) => message,
        said => object!({ "content": said }),
    };
    if let Some(calls) = attributes.take("tool_calls").map(unpacked) {
        message.insert("tool_calls", calls);
    }
    // A tool result contains the id of its call.
    if role == "tool"
        && !message.contains_key("tool_call_id")
        && let Some(id) = attributes.take_id("id").or_else(|| message.take_id("id"))
    {
        message.insert("tool_call_id", id);
    }
    if !message.contains_key("role") {
        message.insert("role", role);
    }
    message
}

fn is_message(object: &Object) -> bool {
    ["role", "content", "tool_calls"]
        .iter()
        .any(|key| object.contains_key(key))
}
