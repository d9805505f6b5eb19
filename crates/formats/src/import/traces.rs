//! Traces of services other than OpenTelemetry: their records are converted to its spans, with the attributes of the
//! conventions for generative AI, from which episodes are built.
//!
//! - `openai_agents`: OpenAI Agents SDK. `langfuse`, `langsmith`: exports of these services. `langchain`: messages of
//!   LangChain.

mod langchain;
pub(super) mod langfuse;
pub(super) mod langsmith;
pub(super) mod openai_agents;

use volary_core::json::{Json, Object, Text};
use volary_core::object;

use super::chat;
use super::members::{Members, text_at, unpacked};
use super::open_telemetry::Span;

/// The kind of a record.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum Kind {
    Model,
    Tool,
    Agent,
    Other,
}

/// Sets the kind of a span.
fn tell_kind(span: &mut Span, kind: Kind) {
    let operation = match kind {
        Kind::Model => "chat",
        Kind::Tool => "execute_tool",
        Kind::Agent => "invoke_agent",
        Kind::Other => return,
    };
    let name = span.name.clone();
    match kind {
        Kind::Tool => drop(span.attributes.insert("gen_ai.tool.name", name)),
        Kind::Agent => drop(span.attributes.insert("gen_ai.agent.name", name)),
        _ => {}
    }
    span.attributes.insert("gen_ai.operation.name", operation);
}

/// Sets the input and output messages of a model's span.
fn tell_messages(span: &mut Span, sent: Vec<Json>, given: Vec<Json>) {
    span.attributes.insert("gen_ai.input.messages", sent);
    span.attributes.insert("gen_ai.output.messages", given);
}

/// Sets the arguments and the result of a tool's span.
fn tell_tool(span: &mut Span, given: Json, result: Json) {
    let arguments = unpacked(given);
    span.attributes
        .insert("gen_ai.tool.call.arguments", arguments);
    span.attributes.insert("gen_ai.tool.call.result", result);
}

/// Sets a usage attribute of a span. `None` is unknown.
fn tell_usage(span: &mut Span, name: &'static str, value: Option<f64>) {
    if let Some(value) = value.filter(|value| *value >= 0.0) {
        let value = if value.fract() == 0.0 && value < 1e15 {
            Json::from(value as i64)
        } else {
            Json::from(value)
        };
        span.attributes.insert(name, value);
    }
}

const INPUT: &str = "gen_ai.usage.input_tokens";
const OUTPUT: &str = "gen_ai.usage.output_tokens";
const CACHED: &str = "gen_ai.usage.cache_read.input_tokens";
const REASONING: &str = "gen_ai.usage.reasoning.output_tokens";
const COST: &str = "gen_ai.usage.cost";

/// Adds a score to a span.
fn tell_score(span: &mut Span, name: Text, value: Json, comment: Option<Text>) {
    let mut attributes = object!({
        "gen_ai.evaluation.name": name,
        "gen_ai.evaluation.score.value": value
    });
    if let Some(comment) = comment {
        attributes.insert("gen_ai.evaluation.explanation", comment);
    }
    span.events
        .push(("gen_ai.evaluation.result".into(), attributes));
}

/// The messages of a value in any form: a list, a member `messages` (whose siblings are returned), a response with
/// choices, a text, or another value, which becomes one message.
fn messages(value: Json, role: &'static str) -> (Vec<Json>, Object) {
    let one = |content: Json| -> Json { object!({ "role": role, "content": content }).into() };
    match unpacked(value) {
        Json::Null => (Vec::new(), Object::new()),
        // LangChain sends a batch of conversations; usually there is one.
        Json::List(mut lists) if lists.len() == 1 && lists[0].as_list().is_some() => {
            messages(lists.remove(0), role)
        }
        // The calls alone, as Vercel's AI SDK gives them.
        Json::List(calls) if !calls.is_empty() && calls.iter().all(is_call) => {
            let message = object!({ "role": "assistant", "tool_calls": calls });
            (vec![message.into()], Object::new())
        }
        Json::List(list) => {
            let list: Vec<Json> = list.into_iter().map(langchain::plain).collect();
            if list.iter().all(chat::is_message) {
                (joined(list), Object::new())
            } else {
                (vec![one(list.into())], Object::new())
            }
        }
        Json::Object(mut object) => {
            for key in ["messages", "input"] {
                let is_list = |value: &Json| {
                    matches!(value, Json::List(_))
                        || matches!(value, Json::Text(text) if text.starts_with("[{"))
                };
                if let Some(list) = object.take_if(key, is_list) {
                    return (messages(list, role).0, object);
                }
            }
            // A reply of OpenAI's Responses API.
            let is_list = |value: &Json| value.as_list().is_some();
            let kind = object.get("object").and_then(Json::as_text);
            if kind.is_some_and(|kind| &**kind == "response")
                && let Some(output) = object.take_if("output", is_list)
            {
                return (messages(output, role).0, object);
            }
            // A reply of Gemini: `{content: {role, parts}, finish_reason, …}`.
            let is_content = |value: &Json| value.get("parts").is_some();
            if let Some(content) = object.take_if("content", is_content) {
                return (vec![content], object);
            }
            if let Some(Json::Object(mut choice)) = object
                .take_list("choices")
                .unwrap_or_default()
                .into_iter()
                .next()
                && let Some(message) = choice.take("message")
            {
                return (vec![message], object);
            }
            let message = langchain::plain(object.into());
            if chat::is_message(&message) {
                (joined(vec![message]), Object::new())
            } else {
                (vec![one(message)], Object::new())
            }
        }
        text => (vec![one(text)], Object::new()),
    }
}

/// Whether a value is a call without a message, as in Vercel's AI SDK.
fn is_call(value: &Json) -> bool {
    text_at(value, &["toolName"]).is_some()
        && text_at(value, &["toolCallId"]).is_some()
        && value.get("role").is_none()
        && value.get("output").is_none()
}

/// Converts items of OpenAI's Responses API to messages; items of one reply are joined.
fn joined(messages: Vec<Json>) -> Vec<Json> {
    let shaped = |value: Json| match value {
        Json::Object(mut item) if !item.contains_key("role") && item.contains_key("output") => {
            let id = item.take("call_id").unwrap_or_default();
            let content = item.take("output").unwrap_or_default();
            object!({ "role": "tool", "tool_call_id": id, "content": content }).into()
        }
        other => other,
    };
    chat::joined(messages).into_iter().map(shaped).collect()
}

/// The first non-empty text or number among some members.
fn text(record: &Object, keys: &[&str]) -> Option<Text> {
    let found = keys
        .iter()
        .find_map(|key| super::members::id(record.get(key)?));
    found.filter(|text| !text.is_empty())
}

/// The model in the settings of a call.
fn model_of(settings: &Json) -> Option<Text> {
    const NAMES: [&str; 4] = ["ls_model_name", "model", "model_name", "deployment"];
    NAMES.iter().find_map(|key| text_at(settings, &[key]))
}
