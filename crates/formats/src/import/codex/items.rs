//! Converts items of the model's conversation, as in OpenAI's Responses API, to the common chat form.

use volary_core::json::{Json, Object, Text};
use volary_core::object;
use volary_episode::episode::StepError;

use crate::import::chat;
use crate::import::members::{Members, text_at};
use crate::import::transcript::ImportedMessage;

/// The kind of an item.
pub(super) enum Item {
    /// A part of the model's reply.
    Reply(Json),
    /// Reasoning without its text; whether it is encrypted.
    Silent(bool),
    /// A call: a part of the model's reply.
    Call(Json),
    /// The result of a call.
    Output(Vec<ImportedMessage>),
    /// Messages of other roles.
    Given(Vec<ImportedMessage>),
    /// An unknown item.
    Other(Json),
}

/// Whether a value is an item of a type that older files have.
pub(super) fn is_item(value: &Json) -> bool {
    let kind = text_at(value, &["type"]);
    let known = ["message", "reasoning", "local_shell_call", "function_call"];
    kind.is_some_and(|kind| known.contains(&&*kind) || is_output(&kind))
}

fn is_output(kind: &str) -> bool {
    kind.ends_with("_call_output") || kind == "tool_search_output"
}

/// Reads an item.
pub(super) fn read(item: Json) -> Item {
    let kind = text_at(&item, &["type"]);
    let Json::Object(mut item) = item else {
        return Item::Other(item);
    };
    match kind.as_deref() {
        Some("message") => message(item),
        Some("reasoning") => reasoning(item),
        Some("function_call") => {
            let texts = [item.get("namespace"), item.get("name")];
            if let [Some(Json::Text(space)), Some(Json::Text(name))] = texts {
                let (space, name) = (space.trim_end_matches('_'), name.trim_start_matches('_'));
                let name = format!("{space}__{name}");
                item.insert("name", name);
            }
            Item::Call(item.into())
        }
        Some("custom_tool_call") => {
            let given = item.remove("input").unwrap_or_default();
            item.insert("arguments", object!({ "input": given }));
            Item::Call(item.into())
        }
        Some("local_shell_call") => called(item, "local_shell"),
        Some("web_search_call") => called(item, "web_search"),
        Some("tool_search_call") => called(item, "tool_search"),
        Some(kind) if is_output(kind) => output(item),
        _ => Item::Other(item.into()),
    }
}

fn message(mut item: Object) -> Item {
    let role = item.get("role").and_then(Json::as_text);
    if role.is_some_and(|role| &**role == "assistant") {
        return Item::Reply(item.into());
    }
    for known in ["type", "id", "status"] {
        item.remove(known);
    }
    Item::Given(chat::read(&item.into()))
}

/// The reasoning, or its summary if the text is missing.
fn reasoning(mut item: Object) -> Item {
    let texts = |key: &str| {
        let parts = item.get(key).and_then(Json::as_list).unwrap_or_default();
        let parts = parts.iter().filter_map(|part| part.get("text")?.as_text());
        let parts: Vec<&str> = parts.map(AsRef::as_ref).collect();
        (!parts.is_empty()).then(|| Text::from(parts.join("\n\n")))
    };
    let own = item.get("text").and_then(Json::as_text).cloned();
    let text = own
        .or_else(|| texts("content"))
        .or_else(|| texts("summary"));
    match text.filter(|text| !text.is_empty()) {
        Some(text) => Item::Reply(object!({ "type": "reasoning", "text": text }).into()),
        None => Item::Silent(item.take("encrypted_content").is_some()),
    }
}

/// A call of a tool with its own item type.
fn called(mut item: Object, name: &str) -> Item {
    let mut arguments = match item.remove("action").or_else(|| item.remove("arguments")) {
        Some(Json::Object(action)) => action,
        Some(Json::Null) | None => Object::new(),
        Some(other) => chat::arguments(other),
    };
    arguments.retain(|key, value| {
        let is_same = name == "local_shell" && &**key == "type";
        !value.is_null() && !is_same
    });
    let id = item.take_id("call_id").or_else(|| item.take_id("id"));
    let call = object!({
        "type": "function_call",
        "call_id": (id.unwrap_or_default()),
        "name": name,
        "arguments": arguments
    });
    Item::Call(call.into())
}

/// The result of a call: a text, parts, or an object with its success.
fn output(mut item: Object) -> Item {
    let tools = item
        .take("tools")
        .map(|tools| tools.to_compact_text().into());
    let outputs = ["output", "result"].into_iter();
    let output = outputs.filter_map(|key| item.take(key)).next().or(tools);
    let mut failed = false;
    let content = match output.unwrap_or_default() {
        Json::Object(mut output) if output.contains_key("content") => {
            failed = output.get("success").and_then(Json::as_bool) == Some(false);
            output.remove("content").unwrap_or_default()
        }
        other => other,
    };
    let message = object!({
        "role": "tool",
        "tool_call_id": (item.take_id("call_id").unwrap_or_default()),
        "content": content
    });
    let mut said = chat::read(&message.into());
    if failed && let Some(said) = said.first_mut() {
        let message = said.message.body().content.clone();
        said.details.errors.push(StepError {
            call: None,
            message: message.unwrap_or_else(|| "It failed.".into()),
        });
    }
    Item::Output(said)
}
