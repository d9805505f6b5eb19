//! Reads messages from JSON, and determines their kind.
//!
//! Reading never changes its input. Unknown fields are dropped. If the union accepts less than the object contains,
//! [`Notes`] reports it.

use std::borrow::Cow;

use super::error::MessageError;
use super::{AnyMessage, Body, Message, Role, ToolRequestMessage, ToolResponseMessage};
use crate::fields::{self, FieldError};
use crate::json::{Json, Object, Text};
use crate::tool::ToolCall;

/// Differences between the input and the message read from it, for people.
pub type Notes = Vec<Text>;

/// The key in `info` that marks an environment's state messages.
pub const ENV_STATE_KEY: &str = "is_env_state";

impl Message {
    /// Reads a plain message.
    pub fn read(value: &Json) -> Result<Self, MessageError> {
        const KIND: &str = "Message";
        in_kind(KIND, fields::object(KIND, value).and_then(plain))
    }

    /// Reads a message of aviary's deprecated kind `EnvStateMessage`: a plain one, marked in its info.
    /// A falsy info (in Python's sense) counts as missing.
    pub fn read_env_state(value: &Json) -> Result<Self, MessageError> {
        let mut value = Cow::Borrowed(value);
        if value.get("info").is_some_and(|info| !info.is_truthy())
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

    /// Reads a message of any kind. All kinds that accept the object compete: the one with the most of the given
    /// fields wins, including those of nested calls; on a tie a request precedes a response, which
    /// precedes a plain message. So an object without a role is a request, and an assistant's message with
    /// invalid calls becomes a plain one without them.
    pub fn read_noting(value: &Json, notes: &mut Notes) -> Result<Self, MessageError> {
        const KIND: &str = "message";
        let read = fields::object(KIND, value).and_then(|object| any(object, notes));
        in_kind(KIND, read)
    }
}

impl Body {
    /// Reads the content of a message: a text or null is used unchanged; any other value is
    /// stored as its JSON text, flagged, except that values that are falsy in Python are rejected.
    pub fn read_content(value: &Json) -> Result<Self, FieldError> {
        match value {
            Json::Null => Ok(Body::default()),
            Json::Text(text) => Ok(Body::text(Text::clone(text))),
            value if value.is_truthy() => Ok(Body::json(value)),
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
    // Role, content, info and flags count equally for every kind, so only the other fields are compared.
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
        FieldError::new("role", format!("\"{name}\" is not one of {names}"))
    })
}

/// Reads the fields of every kind.
fn body(object: &Object) -> Result<Body, FieldError> {
    let mut body = match object.get("content") {
        Some(content) => Body::read_content(content)?,
        None => Body::default(),
    };
    // Content that was just serialized is flagged whatever the object contains.
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

/// Reads the fields of a request. Returns its calls and the number of given request fields, including nested ones.
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
    for (index, value) in fields::list("tool_calls", value)?.iter().enumerate() {
        let call = ToolCall::read_noting(value, notes)
            .map_err(|error| error.within(&format!("[{index}]")).within("tool_calls"))?;
        tool_calls.push(call);
        // Id, function, arguments and name are required; the type is optional.
        given += 4 + usize::from(value.get("type").is_some());
    }
    Ok((tool_calls, given))
}

/// The number of fields that only a response has.
const ANSWERED: usize = 2;

/// Reads the fields of a response: name and call id.
fn answered(object: &Object) -> Result<(Text, Text), FieldError> {
    let name = fields::text("name", fields::required(object, "name")?)?;
    let id = fields::text("tool_call_id", fields::required(object, "tool_call_id")?)?;
    Ok((name, id))
}

/// The body of a response, whose content is never null.
fn with_content(body: Body) -> Result<Body, FieldError> {
    match body.content {
        Some(_) => Ok(body),
        None => Err(FieldError::new("content", "a string is required, not null")),
    }
}

/// The body of a response from a value.
pub(super) fn response_body(content: &Json) -> Result<Body, MessageError> {
    in_kind(RESPONSE, Body::read_content(content).and_then(with_content))
}
