//! JSON to message, and which JSON becomes which kind.
//!
//! Reading never changes its input. Unknown fields are dropped. If the union accepts less than was meant,
//! [`Notes`] says so.

use std::borrow::Cow;

use super::error::MessageError;
use super::{AnyMessage, Body, Message, Role, ToolRequestMessage, ToolResponseMessage};
use crate::fields::{self, FieldError};
use crate::json::{Json, Object, Text};
use crate::tool::ToolCall;

/// What was read otherwise than it was written, for people.
pub type Notes = Vec<Text>;

/// The key under which an environment's state messages are marked in `info`.
pub const ENV_STATE_KEY: &str = "is_env_state";

impl Message {
    /// Reads a plain message.
    pub fn read(value: &Json) -> Result<Self, MessageError> {
        const KIND: &str = "Message";
        in_kind(KIND, fields::object(KIND, value).and_then(plain))
    }

    /// Reads a message of aviary's deprecated kind `EnvStateMessage`: a plain one, marked in its info.
    /// What Python counts as false is as good as no info.
    pub fn read_env_state(value: &Json) -> Result<Self, MessageError> {
        let mut value = Cow::Borrowed(value);
        if value.get("info").is_some_and(|info| !is_truthy(info))
            && let Json::Object(object) = value.to_mut()
        {
            object.remove("info");
        }
        let mut message = Message::read(&value)?;
        message
            .body
            .info
            .get_or_insert_default()
            .insert(ENV_STATE_KEY, true);
        Ok(message)
    }
}

impl ToolRequestMessage {
    /// Reads an action.
    pub fn read(value: &Json) -> Result<Self, MessageError> {
        const KIND: &str = "ToolRequestMessage";
        let mut notes = Notes::new();
        let read = fields::object(KIND, value).and_then(|object| {
            if let Some(role) = object.get("role") {
                fields::constant("role", role, "assistant")?;
            }
            let body = body(object)?;
            let (tool_calls, _) = calls(object, &mut notes)?;
            Ok(ToolRequestMessage { body, tool_calls })
        });
        in_kind(KIND, read)
    }
}

const RESPONSE: &str = "ToolResponseMessage";

impl ToolResponseMessage {
    /// Reads an answer to a call.
    pub fn read(value: &Json) -> Result<Self, MessageError> {
        const KIND: &str = RESPONSE;
        let read = fields::object(KIND, value).and_then(|object| {
            if let Some(role) = object.get("role") {
                fields::constant("role", role, "tool")?;
            }
            let body = with_content(body(object)?)?;
            let (name, tool_call_id) = answered(object)?;
            Ok(ToolResponseMessage {
                body,
                name,
                tool_call_id,
            })
        });
        in_kind(KIND, read)
    }
}

impl AnyMessage {
    /// Reads a message of any kind; see [`AnyMessage::read_noting`].
    pub fn read(value: &Json) -> Result<Self, MessageError> {
        AnyMessage::read_noting(value, &mut Notes::new())
    }

    /// Reads a message of any kind. All kinds that accept the object compete: most of the given
    /// fields wins, those of nested calls included; among equals a request goes before a response, and
    /// that before a plain message. So what has no role is a request, and an assistant's message whose
    /// calls do not fit becomes a plain one without them.
    pub fn read_noting(value: &Json, notes: &mut Notes) -> Result<Self, MessageError> {
        const KIND: &str = "message";
        let read = fields::object(KIND, value).and_then(|object| any(object, notes));
        in_kind(KIND, read)
    }
}

impl Body {
    /// The content that a value becomes: a text or null is taken as it is; any other value is
    /// stored as its JSON text, flagged, but those that Python counts as false are refused.
    pub fn read_content(value: &Json) -> Result<Self, FieldError> {
        match value {
            Json::Null => Ok(Body::default()),
            Json::Text(text) => Ok(Body::text(Text::clone(text))),
            value if is_truthy(value) => Ok(Body::json(value)),
            _ => Err(FieldError::new(
                "content",
                format!(
                    "a string, null, or JSON that is not empty, zero or false is required, not {}",
                    value.to_compact_text()
                ),
            )),
        }
    }
}

fn in_kind<T>(kind: &'static str, read: Result<T, FieldError>) -> Result<T, MessageError> {
    read.map_err(|error| MessageError::Field { kind, error })
}

fn any(object: &Object, notes: &mut Notes) -> Result<AnyMessage, FieldError> {
    let body = body(object)?;
    let role = role(object)?;
    // Role, content, info and flags count for every kind alike, so only the rest is compared.
    let request = match role {
        Some(Role::Assistant) | None => Some(calls(object, notes)),
        Some(_) => None,
    };
    let response = match role {
        Some(Role::Tool) | None if body.content.is_some() => answered(object).ok(),
        _ => None,
    };
    match (request, response) {
        (Some(Ok((tool_calls, given))), response) if response.is_none() || given >= ANSWERED => {
            Ok(ToolRequestMessage { body, tool_calls }.into())
        }
        (_, Some((name, tool_call_id))) => Ok(ToolResponseMessage {
            body,
            name,
            tool_call_id,
        }
        .into()),
        (unfit, None) => {
            if let Some(Err(error)) = unfit {
                notes.push(format!("The tool calls do not fit and were left out: {error}.").into());
            }
            let role = role.unwrap_or_default();
            Ok(Message { role, body }.into())
        }
    }
}

fn plain(object: &Object) -> Result<Message, FieldError> {
    let body = body(object)?;
    let role = role(object)?.unwrap_or_default();
    Ok(Message { role, body })
}

fn role(object: &Object) -> Result<Option<Role>, FieldError> {
    let Some(value) = object.get("role") else {
        return Ok(None);
    };
    let name = fields::text("role", value)?;
    Role::from_name(&name).map(Some).ok_or_else(|| {
        let names = Role::ALL.map(Role::as_str).join(", ");
        FieldError::new("role", format!("\"{name}\" is none of {names}"))
    })
}

/// The fields of every kind.
fn body(object: &Object) -> Result<Body, FieldError> {
    let mut body = match object.get("content") {
        Some(content) => Body::read_content(content)?,
        None => Body::default(),
    };
    // Content that just became JSON text is flagged whatever the object says.
    if !body.content_is_json_str
        && let Some(flag) = object.get("content_is_json_str")
    {
        body.content_is_json_str = fields::flag("content_is_json_str", flag)?;
    }
    if let Some(info) = object.get("info")
        && !info.is_null()
    {
        body.info = Some(fields::object("info", info)?.clone());
    }
    if let Some(flag) = object.get("cache_breakpoint") {
        body.cache_breakpoint = fields::flag("cache_breakpoint", flag)?;
    }
    Ok(body)
}

/// The fields of a request, and how many of its own were given, nested ones included.
fn calls(object: &Object, notes: &mut Notes) -> Result<(Vec<ToolCall>, usize), FieldError> {
    let mut given = 0;
    if let Some(call) = object.get("function_call") {
        if !call.is_null() {
            return Err(FieldError::new("function_call", "only null is allowed"));
        }
        given += 1;
    }
    let Some(value) = object.get("tool_calls") else {
        return Ok((Vec::new(), given));
    };
    given += 1;
    let mut tool_calls = Vec::new();
    for (place, value) in fields::list("tool_calls", value)?.iter().enumerate() {
        let call = ToolCall::read_noting(value, notes)
            .map_err(|error| error.within(&format!("[{place}]")).within("tool_calls"))?;
        tool_calls.push(call);
        // Id, function, arguments and name must be there; the type may be.
        given += 4 + usize::from(value.get("type").is_some());
    }
    Ok((tool_calls, given))
}

/// How many fields of its own a response has.
const ANSWERED: usize = 2;

/// The fields of a response: name and call id.
fn answered(object: &Object) -> Result<(Text, Text), FieldError> {
    let name = fields::text("name", fields::required(object, "name")?)?;
    let id = fields::text("tool_call_id", fields::required(object, "tool_call_id")?)?;
    Ok((name, id))
}

/// The content of a response, which is never null.
fn with_content(body: Body) -> Result<Body, FieldError> {
    match body.content {
        Some(_) => Ok(body),
        None => Err(FieldError::new("content", "a string is required, not null")),
    }
}

/// The content of a response out of a value.
pub(super) fn response_body(content: &Json) -> Result<Body, MessageError> {
    in_kind(RESPONSE, Body::read_content(content).and_then(with_content))
}

/// Whether Python counts the value as true.
fn is_truthy(value: &Json) -> bool {
    match value {
        Json::Null => false,
        Json::Bool(value) => *value,
        Json::Integer(value) => !value.is_zero(),
        Json::Float(value) => *value != 0.0,
        Json::Text(text) => !text.is_empty(),
        Json::List(list) => !list.is_empty(),
        Json::Object(object) => !object.is_empty(),
    }
}
