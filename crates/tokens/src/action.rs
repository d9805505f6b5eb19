//! Actions of tau-bench: a tool with arguments, or an answer to the user.

use volary_core::json::ReadError;
use volary_core::{Json, Object, Text, object};

use crate::tool_parser::ParsedCall;

/// The name of the action that answers the user.
pub const RESPOND: &str = "respond";

/// The action of an agent in a turn.
#[derive(Clone, Debug, PartialEq)]
pub struct Action {
    /// The tool, or [`RESPOND`].
    pub name: Text,
    /// Its arguments.
    pub kwargs: Object,
}

/// Why calls cannot be converted to an action.
#[derive(Clone, Debug, PartialEq, Eq, thiserror::Error)]
#[non_exhaustive]
pub enum ActionError {
    /// The arguments are not JSON.
    #[error("The parameters of the call are not valid JSON: {0}")]
    Json(#[from] ReadError),
    /// The call has no name.
    #[error("The call has no name")]
    NoName,
}

impl Action {
    /// An answer to the user.
    pub fn respond(content: impl Into<Text>) -> Self {
        let content: Text = content.into();
        Action {
            name: RESPOND.into(),
            kwargs: object!({"content": content}),
        }
    }

    /// Whether it answers the user.
    pub fn is_respond(&self) -> bool {
        &*self.name == RESPOND
    }
}

/// The action of a turn: the first call; all others are ignored. Without a call, or if its arguments are not an object,
/// the text goes to the user, even an empty one.
pub fn call_to_action(calls: &[ParsedCall], text: &Text) -> Result<Action, ActionError> {
    let Some(call) = calls.first() else {
        return Ok(Action::respond(text.clone()));
    };
    match Json::parse(&call.parameters)? {
        Json::Object(kwargs) => Ok(Action {
            name: call.name.clone().ok_or(ActionError::NoName)?,
            kwargs,
        }),
        _ => Ok(Action::respond(text.clone())),
    }
}
