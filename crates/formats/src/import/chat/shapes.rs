//! Converts messages of other tools to OpenAI's form: LangChain's (`type` for `role`), Gemini's and OpenTelemetry's
//! (`parts` for `content`), and the items of OpenAI's Responses API, several of which form one reply.

use volary_core::json::{Json, Object, Text};
use volary_core::{Role, object};

use crate::import::members::Members;

/// Converts a message to OpenAI's form.
pub(super) fn shaped(mut message: Object) -> Object {
    if let Some(parts) = message.take_list("parts") {
        // A message with both holds the same content twice, as user interfaces store it.
        match message.get("content") {
            None | Some(Json::Null) => message.insert("content", parts),
            Some(_) => message.insert("parts", parts),
        };
    }
    if message.get("role").is_some_and(|role| !role.is_null()) {
        if !message.contains_key("content")
            && let Some(text) = message.take_text("text")
        {
            message.insert("content", text);
        }
        return message;
    }
    if let Some(output) = message.take_list("output") {
        if kind(&message, "object").as_deref() == Some("response") {
            message.insert("role", "assistant");
            message.insert("content", output);
            return message;
        }
        message.insert("output", output);
    }
    match kind(&message, "type").as_deref() {
        Some(kind) if is_role(kind) => {
            let role = message.remove("type").unwrap_or_default();
            // LangChain's format of histories.
            if let Some(data) = message.take_object("data") {
                message.extend_missing(data);
                message.remove("type");
            }
            message.insert("role", role);
            message
        }
        Some(kind) if is_answer(kind) => {
            let content = message.take("output");
            message.remove("type");
            message.insert("role", "tool");
            message.insert("content", content);
            message
        }
        Some(kind) if is_own(kind) => object!({ "role": "assistant", "content": [message] }),
        _ => message,
    }
}

/// Whether a value is a message, or an item of a reply.
pub(super) fn is_message(value: &Json) -> bool {
    let has = |key| value.get(key).is_some();
    let is_text = |key| {
        value
            .get(key)
            .is_some_and(|value| value.as_text().is_some())
    };
    const SAID: [&str; 5] = ["content", "tool_calls", "function_call", "parts", "text"];
    if is_text("role") {
        SAID.into_iter().any(has)
    } else {
        says_kind(value, is_own)
            || says_kind(value, is_answer)
            || says_kind(value, is_role) && (has("content") || has("data"))
    }
}

/// Joins consecutive items of a model's reply into one message.
pub(super) fn joined(messages: Vec<Json>) -> Vec<Json> {
    if !messages
        .iter()
        .any(|message| says_kind(message, is_own) || says_kind(message, is_answer))
    {
        return messages;
    }
    let mut all: Vec<Json> = Vec::new();
    let mut items: Vec<Json> = Vec::new();
    let end = |items: &mut Vec<Json>, all: &mut Vec<Json>| {
        if !items.is_empty() {
            let content = Json::List(std::mem::take(items));
            all.push(object!({ "role": "assistant", "content": content }).into());
        }
    };
    for message in messages {
        let is_said = message
            .get("role")
            .and_then(Json::as_text)
            .map(AsRef::as_ref)
            == Some("assistant")
            && says_kind(&message, |kind| kind == "message");
        if is_said || says_kind(&message, is_own) {
            // A text after a call is the next reply: the results of the calls are not recorded.
            let has_called = items.last().is_some_and(|item| says_kind(item, is_call));
            if is_said && has_called {
                end(&mut items, &mut all);
            }
            items.push(message);
        } else {
            end(&mut items, &mut all);
            all.push(message);
        }
    }
    end(&mut items, &mut all);
    all
}

fn kind(message: &Object, key: &str) -> Option<Text> {
    message.get(key)?.as_text().cloned()
}

fn says_kind(message: &Json, is: fn(&str) -> bool) -> bool {
    let kind = message.get("type").and_then(Json::as_text);
    kind.is_some_and(|kind| is(kind))
}

/// Whether a type is a role, as in LangChain.
fn is_role(kind: &str) -> bool {
    let others = ["human", "ai", "developer"];
    others.contains(&kind) || Role::from_name(kind).is_some()
}

/// Whether an item is reasoning or a call of the model.
fn is_own(kind: &str) -> bool {
    matches!(kind, "function_call" | "custom_tool_call" | "reasoning")
}

/// Whether an item is a call.
fn is_call(kind: &str) -> bool {
    matches!(kind, "function_call" | "custom_tool_call")
}

/// Whether an item is the result of a call.
fn is_answer(kind: &str) -> bool {
    matches!(kind, "function_call_output" | "custom_tool_call_output")
}
