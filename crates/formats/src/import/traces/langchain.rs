//! Messages in LangChain's serialisation: `{lc: 1, type: "constructor", id: [… "AIMessage"], kwargs: {content,
//! tool_calls, …}}`.

use volary_core::json::{Json, Object, Text};

use crate::import::members::Members;

/// Deserialises a message; returns other values unchanged.
pub(super) fn plain(value: Json) -> Json {
    let Json::Object(mut object) = value else {
        return value;
    };
    if object.contains_key("role") && object.contains_key(MORE) {
        with_calls(&mut object);
        object.remove(MORE);
        return object.into();
    }
    let class = object.get("id").and_then(Json::as_list);
    let class: Option<Text> = class.and_then(|path| path.last()?.as_text().cloned());
    let role = class.as_deref().and_then(role);
    match (role, object.take_object("kwargs")) {
        (Some(role), Some(message)) => shaped(role, message),
        (_, Some(kwargs)) => {
            object.insert("kwargs", kwargs);
            object.into()
        }
        (_, None) => match object
            .get("type")
            .and_then(Json::as_text)
            .and_then(|kind| named(kind))
        {
            Some(role) if object.contains_key("content") && !object.contains_key("role") => {
                object.remove("type");
                shaped(role, object)
            }
            _ => object.into(),
        },
    }
}

/// The member in which LangChain keeps what a provider added.
const MORE: &str = "additional_kwargs";

/// Takes the calls, the older function call and the reasoning that only the provider's members have.
fn with_calls(message: &mut Object) {
    let Some(Json::Object(more)) = message.get_mut(MORE) else {
        return;
    };
    let mut more = std::mem::take(more);
    let is_empty = |value: Option<&Json>| match value {
        Some(Json::List(list)) => list.is_empty(),
        Some(value) => value.is_null(),
        None => true,
    };
    for key in ["tool_calls", "function_call", "reasoning_content"] {
        if is_empty(message.get(key))
            && let Some(value) = more.take(key)
        {
            message.insert(key, value);
        }
    }
}

fn role(class: &str) -> Option<&'static str> {
    let class = class.strip_suffix("Chunk").unwrap_or(class);
    named(&class.strip_suffix("Message")?.to_ascii_lowercase())
}

fn named(kind: &str) -> Option<&'static str> {
    Some(match kind {
        "human" => "user",
        "ai" => "assistant",
        "system" => "system",
        "tool" | "function" => "tool",
        _ => return None,
    })
}

/// Converts a message to OpenAI's form. Redundant and transport members are dropped.
fn shaped(role: &'static str, mut message: Object) -> Json {
    with_calls(&mut message);
    const AGAIN: [&str; 8] = [
        "additional_kwargs",
        "response_metadata",
        "usage_metadata",
        "tool_call_chunks",
        "invalid_tool_calls",
        "example",
        "type",
        "id",
    ];
    message.retain(|key, value| {
        let is_empty = value.as_list().is_some_and(<[Json]>::is_empty);
        !AGAIN.contains(&key.as_ref()) && !value.is_null() && !is_empty
    });
    message.insert("role", role);
    message.into()
}
