//! Calls of tools: making them, reading them, showing them.

use crate::json::{Object, Text};

/// A call of a tool.
#[derive(Clone, Debug, PartialEq)]
pub struct ToolCall {
    /// Links the call to its response.
    pub id: Text,
    /// What is called, with what.
    pub function: ToolCallFunction,
}

/// What is called, with what.
#[derive(Clone, Debug, Default, PartialEq)]
pub struct ToolCallFunction {
    /// The name of the tool; [`INVALID`] if the arguments could not be read.
    pub name: Text,
    /// The arguments by name.
    pub arguments: Object,
}

/// The name that a call gets when its arguments are no JSON.
pub const INVALID: &str = "INVALID";
