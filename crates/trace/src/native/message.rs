//! Messages and tools in the native format: complete, where aviary's dumps leave things out.
//!
//! A message is `{role, content}` and, where they are set, `content_is_json_str`, `info` and
//! `cache_breakpoint`; content is the stored text. An action also has `tool_calls` of `{id, name, arguments}`
//! (even if there are none: that tells it from a plain message of role assistant), a response
//! `name` and `tool_call_id`. A tool is `{name, description, parameters}`, and `concurrency_safe` if it
//! is not.

use volary_core::json::{Json, Object};
use volary_core::message::Body;
use volary_core::tool::ToolCallFunction;
use volary_core::{
    AnyMessage, FunctionInfo, Message, Parameters, Role, Tool, ToolCall, ToolRequestMessage,
    ToolResponseMessage, json, object,
};

use super::NativeError;
use super::node::{Fault, Node};

/// A message in the native format.
pub fn message_to_json(message: &AnyMessage) -> Json {
    let body = message.body();
    let mut object = object!({
        "role": (message.role().as_str()),
        "content": (body.content.clone())
    });
    match message {
        AnyMessage::Request(request) => {
            let calls = request.tool_calls.iter().map(call_to_json);
            object.insert("tool_calls", calls.collect::<Vec<_>>());
        }
        AnyMessage::Response(response) => {
            object.insert("name", response.name.clone());
            object.insert("tool_call_id", response.tool_call_id.clone());
        }
        AnyMessage::Plain(_) => {}
    }
    if body.content_is_json_str {
        object.insert("content_is_json_str", true);
    }
    if let Some(info) = &body.info {
        object.insert("info", info.clone());
    }
    if body.cache_breakpoint {
        object.insert("cache_breakpoint", true);
    }
    object.into()
}

/// Several messages in the native format.
pub fn messages_to_json(messages: &[AnyMessage]) -> Json {
    Json::List(messages.iter().map(message_to_json).collect())
}

/// Reads a message.
pub fn message_from_json(value: &Json) -> Result<AnyMessage, NativeError> {
    Ok(message(Node::root(value))?)
}

/// Reads several messages.
pub fn messages_from_json(value: &Json) -> Result<Vec<AnyMessage>, NativeError> {
    Ok(Node::root(value).each(message)?)
}

/// Tools in the native format.
pub fn tools_to_json<'a>(tools: impl IntoIterator<Item = &'a Tool>) -> Json {
    Json::List(tools.into_iter().map(tool_to_json).collect())
}

/// Reads tools.
pub fn tools_from_json(value: &Json) -> Result<Vec<Tool>, NativeError> {
    Ok(Node::root(value).each(tool)?)
}

fn call_to_json(call: &ToolCall) -> Json {
    json!({
        "id": (call.id.clone()),
        "name": (call.function.name.clone()),
        "arguments": (call.function.arguments.clone())
    })
}

fn tool_to_json(tool: &Tool) -> Json {
    let parameters = tool.info.parameters.as_ref().map(parameters_to_json);
    let mut object = object!({
        "name": (tool.info.name.clone()),
        "description": (tool.info.description.clone()),
        "parameters": (parameters)
    });
    if !tool.concurrency_safe {
        object.insert("concurrency_safe", false);
    }
    object.into()
}

fn parameters_to_json(parameters: &Parameters) -> Object {
    let object = object!({
        "type": "object",
        "properties": (parameters.properties.clone()),
        "required": (parameters.required.clone())
    });
    let extras = parameters.extras.iter();
    let extras = extras.map(|(key, value)| (key.clone(), value.clone()));
    Object::from_pairs(object.into_iter().chain(extras).collect())
}

pub(super) fn message(node: Node<'_>) -> Result<AnyMessage, Fault> {
    let role = node.member("role", role)?;
    let body = Body {
        content: node.optional("content", |node| node.text())?,
        content_is_json_str: flag(node, "content_is_json_str")?,
        info: node.optional("info", |node| Ok(node.object()?.clone()))?,
        cache_breakpoint: flag(node, "cache_breakpoint")?,
    };
    let has = |key| node.value().get(key).is_some();
    Ok(match role {
        Role::Assistant if has("tool_calls") => AnyMessage::Request(ToolRequestMessage {
            body,
            tool_calls: node.member("tool_calls", |node| node.each(call))?,
        }),
        Role::Tool if has("tool_call_id") => AnyMessage::Response(ToolResponseMessage {
            body,
            name: node.member("name", |node| node.text())?,
            tool_call_id: node.member("tool_call_id", |node| node.text())?,
        }),
        role => AnyMessage::Plain(Message { role, body }),
    })
}

fn flag(node: Node<'_>, key: &'static str) -> Result<bool, Fault> {
    Ok(node.optional(key, |node| node.boolean())?.unwrap_or(false))
}

fn role(node: Node<'_>) -> Result<Role, Fault> {
    let name = node.text()?;
    let found = Role::ALL.into_iter().find(|role| role.as_str() == &*name);
    found.ok_or_else(|| {
        let known = Role::ALL.map(Role::as_str).join(", ");
        node.refuse(format!("is \"{name}\", which is none of {known}"))
    })
}

fn call(node: Node<'_>) -> Result<ToolCall, Fault> {
    Ok(ToolCall {
        id: node.member("id", |node| node.text())?,
        function: ToolCallFunction {
            name: node.member("name", |node| node.text())?,
            arguments: node.member("arguments", |node| Ok(node.object()?.clone()))?,
        },
    })
}

pub(super) fn tool(node: Node<'_>) -> Result<Tool, Fault> {
    let unsafe_beside_others = node.optional("concurrency_safe", |node| node.boolean())?;
    Ok(Tool {
        info: FunctionInfo {
            name: node.member("name", |node| node.text())?,
            description: node.member("description", |node| node.text())?,
            parameters: node.optional("parameters", parameters)?,
        },
        concurrency_safe: unsafe_beside_others.unwrap_or(true),
    })
}

fn parameters(node: Node<'_>) -> Result<Parameters, Fault> {
    let required = node.optional("required", |node| node.each(|node| node.text()))?;
    Ok(Parameters {
        properties: node.member("properties", |node| Ok(node.object()?.clone()))?,
        required: required.unwrap_or_default(),
        extras: Object::from_pairs(node.unknown(&["type", "properties", "required"])?),
    })
}
