//! Tools: definitions ([`Tool`]), calls ([`ToolCall`]), and executable tools
//! ([`ToolSet`]).
//!
//! - [`call`]: calls, and reading them.
//! - [`wire`]: tools from and to JSON.
//! - [`describe`]: tools as texts for prompts.
//! - [`run`]: handlers and their state; [`outcome`]: their results.
//! - [`parameter`]: Rust types as JSON Schema and back; [`signature`]: checks of arguments.
//! - [`definition`]: assembles the tool schema; [`builder`]: builds tools at run time.

pub mod builder;
pub mod call;
pub mod definition;
pub mod describe;
pub mod outcome;
pub mod parameter;
pub mod run;
pub mod signature;
pub mod wire;

pub use builder::{BuildError, ToolBuilder};
pub use call::{ToolCall, ToolCallFunction};
pub use outcome::{IntoToolResult, ToolError, ToolResult, ToolValue};
pub use parameter::{Parameter, ParameterError};
pub use run::{BoundTool, CallContext, Handler, ToolSet};
pub use signature::{Signature, argument, argument_or};
pub use wire::ToolDumpOptions;

use crate::json::{Object, Text};

/// A tool in its wire format.
#[derive(Clone, Debug, PartialEq)]
pub struct Tool {
    /// Name, description and parameters.
    pub info: FunctionInfo,
    /// Whether its calls may run concurrently with others; read from JSON, never written.
    pub concurrency_safe: bool,
}

/// The description of a tool for a model.
#[derive(Clone, Debug, PartialEq)]
pub struct FunctionInfo {
    /// The name of the function.
    pub name: Text,
    /// The description for a model.
    pub description: Text,
    /// Its parameters; `None` is null on the wire.
    pub parameters: Option<Parameters>,
}

/// The JSON Schema of a tool's arguments, always of type `object`.
#[derive(Clone, Debug, Default, PartialEq)]
pub struct Parameters {
    /// The schema of each parameter, by name, in order.
    pub properties: Object,
    /// The names that must be given.
    pub required: Vec<Text>,
    /// Further members of the schema, such as `$defs`.
    pub extras: Object,
}
