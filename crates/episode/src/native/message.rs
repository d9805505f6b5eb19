//! Messages and tools in the native format: lossless, unlike aviary's dumps.
//!
//! A message is `{role, content}` and, if they are set, `content_is_json_str`, `info` and `cache_breakpoint`; content
//! is the stored text. An action also has `tool_calls` of `{id, name, arguments}` (even an empty list, which
//! distinguishes it from a plain message of role `assistant`), a response `name` and `tool_call_id`. A tool is `{name,
//! description, parameters}`, and `concurrency_safe` if it is false.

use volary_core::json::value_writer::{ValueWriter, tree};
use volary_core::json::{Json, Object};
use volary_core::message::Body;
use volary_core::tool::ToolCallFunction;
use volary_core::{
    AnyMessage, FunctionInfo, Message, Parameters, Role, Tool, ToolCall, ToolRequestMessage,
    ToolResponseMessage,
};

use super::NativeError;
use super::node::{Fault, Node};

/// The members of parameters that are not specific to a tool.
const OF_PARAMETERS: [&str; 3] = ["type", "properties", "required"];

/// Serializes a message.
pub fn message_to_json(message: &AnyMessage) -> Json {
    tree(|writer| put_message(writer, message))
}

pub(super) fn put_message(writer: ValueWriter<'_>, message: &AnyMessage) {
    let body = message.body();
    writer.object(|members| {
        members.at("role").word(message.role().as_str());
        let content = members.at("content");
        match &body.content {
            Some(text) => content.text(text),
            None => content.json(&Json::Null),
        }
        match message {
            AnyMessage::Request(request) => {
                members.at("tool_calls").list(&request.tool_calls, put_call);
            }
            AnyMessage::Response(response) => {
                members.at("name").text(&response.name);
                members.at("tool_call_id").text(&response.tool_call_id);
            }
            AnyMessage::Plain(_) => {}
        }
        if body.content_is_json_str {
            members.at("content_is_json_str").flag(true);
        }
        if let Some(info) = &body.info {
            members.at("info").members(info);
        }
        if body.cache_breakpoint {
            members.at("cache_breakpoint").flag(true);
        }
    });
}

/// Serializes messages.
pub fn messages_to_json(messages: &[AnyMessage]) -> Json {
    tree(|writer| writer.list(messages, put_message))
}

/// Deserializes a message.
pub fn message_from_json(value: &Json) -> Result<AnyMessage, NativeError> {
    Ok(message(Node::root(value))?)
}

/// Deserializes messages.
pub fn messages_from_json(value: &Json) -> Result<Vec<AnyMessage>, NativeError> {
    Ok(Node::root(value).each(message)?)
}

/// Serializes tools.
pub fn tools_to_json<'a>(tools: impl IntoIterator<Item = &'a Tool>) -> Json {
    tree(|writer| writer.list(tools, put_tool))
}

fn put_call(writer: ValueWriter<'_>, call: &ToolCall) {
    writer.object(|members| {
        members.at("id").text(&call.id);
        members.at("name").text(&call.function.name);
        members.at("arguments").members(&call.function.arguments);
    });
}

pub(super) fn put_tool(writer: ValueWriter<'_>, tool: &Tool) {
    writer.object(|members| {
        members.at("name").text(&tool.info.name);
        members.at("description").text(&tool.info.description);
        let parameters = members.at("parameters");
        match &tool.info.parameters {
            Some(known) => put_parameters(parameters, known),
            None => parameters.json(&Json::Null),
        }
        if !tool.concurrency_safe {
            members.at("concurrency_safe").flag(false);
        }
    });
}

fn put_parameters(writer: ValueWriter<'_>, parameters: &Parameters) {
    writer.object(|members| {
        members.at("type").word("object");
        members.at("properties").members(&parameters.properties);
        members
            .at("required")
            .list(&parameters.required, |writer, name| writer.text(name));
        let extras = parameters.extras.iter();
        for (key, value) in extras.filter(|(key, _)| !OF_PARAMETERS.contains(&key.as_ref())) {
            members.under(key).json(value);
        }
    });
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
        node.refuse(format!("is \"{name}\", which is not one of {known}"))
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
        extras: Object::from_pairs(node.unknown(&OF_PARAMETERS)?),
    })
}
