//! What a client sends on the socket: `{"type": …, "data": …}`.

use volary_core::fields::{self, FieldError};
use volary_core::json::{Json, Object, read};
use volary_core::object;

use crate::refusal::{ErrorCode, Refusal};

/// What a client asks of its environment.
#[derive(Clone, Debug, PartialEq)]
pub enum ClientMessage {
    /// Start an episode, with these arguments.
    Reset(Object),
    /// Take an action.
    Step(Object),
    State,
    /// End the session.
    Close,
    /// A call of MCP.
    Mcp(Object),
}

const KINDS: &str = "reset, step, state, close and mcp";

impl ClientMessage {
    /// Reads a message.
    pub fn read(text: &str) -> Result<ClientMessage, Refusal> {
        let value = read(text).map_err(|error| {
            Refusal::new(ErrorCode::InvalidJson, format!("Invalid JSON: {error}"))
        })?;
        let object = fields::object("", &value)?;
        let kind = object.get("type").and_then(Json::as_text);
        let Some(kind) = kind else {
            let message = format!("A message needs a `type`: {KINDS}.");
            return Err(Refusal::new(ErrorCode::UnknownType, message));
        };
        let data = || -> Result<Object, FieldError> {
            Ok(fields::object("data", fields::required(object, "data")?)?.clone())
        };
        let message = match &**kind {
            "reset" if object.get("data").is_none_or(Json::is_null) => {
                ClientMessage::Reset(Object::new())
            }
            "reset" => ClientMessage::Reset(data()?),
            "step" => ClientMessage::Step(data()?),
            "state" => ClientMessage::State,
            "close" => ClientMessage::Close,
            "mcp" => ClientMessage::Mcp(data()?),
            unknown => {
                let message = format!("Unknown message type: {unknown}. There are {KINDS}.");
                return Err(Refusal::new(ErrorCode::UnknownType, message));
            }
        };
        Ok(message)
    }

    /// The message on the wire.
    pub fn to_json(&self) -> Json {
        Json::Object(match self {
            ClientMessage::Reset(data) => object!({"type": "reset", "data": (data.clone())}),
            ClientMessage::Step(data) => object!({"type": "step", "data": (data.clone())}),
            ClientMessage::State => object!({"type": "state"}),
            ClientMessage::Close => object!({"type": "close"}),
            ClientMessage::Mcp(data) => object!({"type": "mcp", "data": (data.clone())}),
        })
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn what_is_sent_is_read() {
        let data = object!({"a": 1});
        for message in [
            ClientMessage::Reset(data.clone()),
            ClientMessage::Step(data.clone()),
            ClientMessage::State,
            ClientMessage::Close,
            ClientMessage::Mcp(data),
        ] {
            let text = message.to_json().to_compact_text();
            assert_eq!(ClientMessage::read(&text), Ok(message));
        }
        let bare = ClientMessage::read(r#"{"type": "reset"}"#);
        assert_eq!(bare, Ok(ClientMessage::Reset(Object::new())));
    }

    #[test]
    fn what_does_not_fit_has_a_code() {
        for (text, code) in [
            ("", ErrorCode::InvalidJson),
            ("{\"type\": \"ste", ErrorCode::InvalidJson),
            ("[]", ErrorCode::Validation),
            ("{}", ErrorCode::UnknownType),
            (r#"{"type": 1}"#, ErrorCode::UnknownType),
            (r#"{"type": "jump"}"#, ErrorCode::UnknownType),
            (r#"{"type": "step"}"#, ErrorCode::Validation),
            (r#"{"type": "step", "data": []}"#, ErrorCode::Validation),
            (r#"{"type": "mcp", "data": null}"#, ErrorCode::Validation),
        ] {
            let read = ClientMessage::read(text).map_err(|refusal| refusal.code);
            assert_eq!(read, Err(code), "{text}");
        }
    }
}
