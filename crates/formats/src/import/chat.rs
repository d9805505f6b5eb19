//! Reads chat messages in the forms of many tools: OpenAI's, Anthropic's blocks, and mixtures of both.
//!
//! - `shapes`: converts messages of other tools to OpenAI's form. `parts`: the parts of a message.
//!
//! Invariants: nothing is rejected and nothing is lost. An unusual message gets the role that it names (or the role
//! `user`); unknown members go into its info.

mod parts;
mod shapes;

use volary_core::json::{Json, Key, Object, Text};
use volary_core::message::Body;
use volary_core::{
    AnyMessage, FunctionInfo, Message, Parameters, Role, Tool, ToolCall, ToolRequestMessage,
    ToolResponseMessage,
};
use volary_episode::episode::{StepError, Usage};

use super::members::{self, id};
use super::transcript::ImportedMessage;
use parts::Parts;
pub(super) use parts::place_images;

/// The key for arguments that are not a JSON object.
pub(crate) const RAW_ARGUMENTS: &str = "(arguments)";

/// Whether a value is a message in any of the shapes.
pub(crate) fn is_message(value: &Json) -> bool {
    shapes::is_message(value)
}

/// Joins items of OpenAI's Responses API that form one reply into one message.
pub(crate) fn joined(messages: Vec<Json>) -> Vec<Json> {
    shapes::joined(messages)
}

/// Reads messages in order. Items of OpenAI's Responses API that form one reply are joined.
pub(crate) fn read_all(messages: Vec<Json>) -> impl Iterator<Item = ImportedMessage> {
    shapes::joined(messages).into_iter().flat_map(read_owned)
}

/// Reads a message without taking it; see [`read_owned`].
pub(crate) fn read(value: &Json) -> Vec<ImportedMessage> {
    read_owned(value.clone())
}

/// Reads a message. Blocks with tool results become separate messages, before the rest (after it in an assistant's
/// message, whose calls were answered at once).
pub(crate) fn read_owned(value: Json) -> Vec<ImportedMessage> {
    let object = match value {
        Json::Object(object) => object,
        Json::Null => return Vec::new(),
        Json::Text(text) => return vec![Message::user(text).into()],
        other => return vec![plain(Role::User, Body::json(&other))],
    };
    let mut rest = shapes::shaped(object);
    let named = rest.remove("role").unwrap_or_default();
    let name = named.as_text().map(AsRef::as_ref);
    let role = name.and_then(role_of);
    if role.is_none() && !named.is_null() {
        rest.insert("role", named);
    }
    let mut parts = Parts::default();
    parts.content(rest.remove("content").unwrap_or_default());
    for key in ["reasoning_content", "reasoning", "thinking"] {
        if let Some(Json::Text(text)) = rest.get(key) {
            parts.reasoning.push(text.clone());
            rest.remove(key);
        }
    }
    if let Some(calls) = rest.remove("tool_calls") {
        // Tables have them as a JSON text.
        match members::unpacked(calls) {
            Json::List(calls) => parts.calls.extend(calls.iter().map(call)),
            Json::Null => {}
            other => {
                rest.insert("tool_calls", other);
            }
        }
    }
    if let Some(function @ Json::Object(_)) = rest.get("function_call") {
        parts.calls.push(call(function));
        rest.remove("function_call");
    }
    rest.retain(|_, value| !value.is_null());
    parts.said(role.unwrap_or_default(), rest)
}

/// The role of a name, including the names that other tools use.
pub(crate) fn role_of(name: &str) -> Option<Role> {
    Role::from_name(name).or(match name {
        "developer" => Some(Role::System),
        "human" => Some(Role::User),
        "ai" | "agent" | "model" => Some(Role::Assistant),
        // Llama's name for the results of tools.
        "ipython" => Some(Role::Tool),
        _ => None,
    })
}

/// Builds a plain message.
pub(crate) fn plain(role: Role, body: Body) -> ImportedMessage {
    Message { role, body }.into()
}

/// Builds a message of a model with this content and these calls.
pub(crate) fn acted(content: Json, calls: Vec<ToolCall>) -> ImportedMessage {
    let body = body(content);
    if calls.is_empty() {
        plain(Role::Assistant, body)
    } else {
        AnyMessage::from(ToolRequestMessage {
            body,
            tool_calls: calls,
        })
        .into()
    }
}

/// Builds a tool's response to a call. [`Transcript`] matches a response without an id to a call.
///
/// [`Transcript`]: super::transcript::Transcript
pub(crate) fn answer(call: Text, name: Text, content: Json) -> ImportedMessage {
    let mut body = body(content);
    body.content.get_or_insert_with(Text::default);
    AnyMessage::from(ToolResponseMessage {
        body,
        name,
        tool_call_id: call,
    })
    .into()
}

/// Marks a response as the error message of its call.
pub(crate) fn failed(mut answer: ImportedMessage) -> ImportedMessage {
    let body = answer.message.body();
    answer.details.errors.push(StepError {
        call: None,
        message: body.content_or_empty().into(),
    });
    answer
}

/// Reads a call in any of its forms: `{id, function: {name, arguments}}` or flat; arguments as an object or as JSON
/// text.
pub(crate) fn call(value: &Json) -> ToolCall {
    let function = match value.get("function") {
        Some(function @ Json::Object(_)) => function,
        _ => value,
    };
    // If there are several ids, responses use the first of these.
    const IDS: [&str; 5] = ["call_id", "tool_call_id", "toolCallId", "toolUseId", "id"];
    const NAMES: [&str; 5] = ["name", "function", "function_name", "toolName", "tool_name"];
    const GIVEN: [&str; 4] = ["arguments", "input", "args", "parameters"];
    let given = GIVEN.into_iter().find_map(|key| function.get(key));
    let named = |key: &str| function.get(key)?.as_text().cloned();
    ToolCall::new(
        IDS.into_iter()
            .find_map(|key| id(value.get(key)?))
            .unwrap_or_default(),
        NAMES.into_iter().find_map(named).unwrap_or_default(),
        arguments(given.cloned().unwrap_or_default()),
    )
}

/// Arguments as an object; any other value is stored under [`RAW_ARGUMENTS`].
pub(crate) fn arguments(value: Json) -> Object {
    let raw = |value: Json| Object::from_distinct(vec![(RAW_ARGUMENTS.into(), value)]);
    match value {
        Json::Object(object) => object,
        Json::Null => Object::new(),
        Json::Text(text) => match Json::parse(&text) {
            Ok(Json::Object(object)) => object,
            // JSON that was encoded twice.
            Ok(Json::Text(inner)) if inner.trim_start().starts_with('{') => {
                arguments(Json::Text(inner))
            }
            _ if text.trim().is_empty() => Object::new(),
            _ => raw(Json::Text(text)),
        },
        other => raw(other),
    }
}

/// Reads a content: a text unchanged; text and image blocks as blocks (a single text block as text); anything else as
/// JSON.
pub(crate) fn body(content: Json) -> Body {
    let mut parts = Parts::default();
    parts.content(content);
    parts.body()
}

/// Reads a tool in OpenAI's form, or flat. `None` without a name.
pub(crate) fn tool(value: &Json) -> Option<Tool> {
    let function = value.get("function").unwrap_or(value);
    let name = function.get("name").and_then(Json::as_text)?;
    let schema = ["parameters", "input_schema", "params"];
    let schema = schema
        .into_iter()
        .find_map(|key| function.get(key)?.as_object());
    let description = function.get("description").and_then(Json::as_text);
    Some(Tool {
        info: FunctionInfo {
            name: name.clone(),
            description: description.cloned().unwrap_or_default(),
            parameters: schema.map(parameters),
        },
        concurrency_safe: true,
    })
}

fn parameters(schema: &Object) -> Parameters {
    const OWN: [&str; 3] = ["type", "properties", "required"];
    let required = schema.get("required").and_then(Json::as_list);
    let required = required.unwrap_or_default().iter();
    let mut extras = schema.clone();
    extras.retain(|key, _| !OWN.contains(&key.as_ref()));
    Parameters {
        properties: schema
            .get("properties")
            .and_then(Json::as_object)
            .cloned()
            .unwrap_or_default(),
        required: required
            .filter_map(|name| name.as_text().cloned())
            .collect(),
        extras,
    }
}

/// Reads token counts under the names of OpenAI, Anthropic and others. `None` if there are none.
pub(crate) fn usage(value: &Json) -> Option<Usage> {
    let count = |path: &[&str]| {
        let found = path.iter().try_fold(value, |value, key| value.get(key))?;
        members::count(found)
    };
    let first = |paths: &[&[&str]]| paths.iter().find_map(|path| count(path));
    let from_anthropic = count(&["cache_read_input_tokens"])
        .or_else(|| count(&["cache_creation_input_tokens"]))
        .is_some();
    let mut input = first(&[
        &["prompt_tokens"],
        &["input_tokens"],
        &["promptTokens"],
        &["inputTokens"],
    ]);
    if from_anthropic {
        // Anthropic counts cached tokens separately.
        let cached = ["cache_read_input_tokens", "cache_creation_input_tokens"];
        let counts = cached.iter().filter_map(|key| count(&[key]));
        let cached = counts.fold(0, u64::saturating_add);
        input = input.map(|input| input.saturating_add(cached));
    }
    let usage = Usage {
        input,
        output: first(&[
            &["completion_tokens"],
            &["output_tokens"],
            &["completionTokens"],
            &["outputTokens"],
        ]),
        cached: first(&[
            &["cached_tokens"],
            &["cache_read_input_tokens"],
            &["prompt_tokens_details", "cached_tokens"],
            &["input_tokens_details", "cached_tokens"],
        ]),
        reasoning: first(&[
            &["reasoning_tokens"],
            &["completion_tokens_details", "reasoning_tokens"],
            &["output_tokens_details", "reasoning_tokens"],
        ]),
        cost: ["cost_usd", "total_cost", "cost"]
            .iter()
            .find_map(|key| members::number(value.get(key)?)),
    };
    (!usage.is_empty()).then_some(usage)
}

/// Adds members to the info of a message.
pub(crate) fn with_info(mut message: AnyMessage, info: Object) -> AnyMessage {
    if !info.is_empty() {
        let body = match &mut message {
            AnyMessage::Request(request) => &mut request.body,
            AnyMessage::Response(response) => &mut response.body,
            AnyMessage::Plain(plain) => &mut plain.body,
        };
        let known = body.info.take().unwrap_or_default();
        let pairs: Vec<(Key, Json)> = known.into_iter().chain(info).collect();
        body.info = Some(Object::from_pairs(pairs));
    }
    message
}

#[cfg(test)]
mod tests;
