//! Running tool calls: order kept, reader/writer rule, timeouts, failures answered or raised.
//!
//! The rules stand at [`exec_tool_calls`]; [`lock`] has the reader/writer rule.

pub mod lock;

use std::cell::RefCell;
use std::time::Duration;

use crate::clock::Clock;
use crate::json::Text;
use crate::message::{ToolRequestMessage, ToolResponseMessage};
use crate::tool::{ToolError, ToolSet};

/// How calls are run. The default is aviary's.
#[derive(Clone, Debug)]
pub struct ExecOptions {
    /// Whether calls run beside each other; else one after the other.
    pub concurrency: bool,
    /// Whether a failing tool becomes a response; else the first failure is the result.
    pub handle_tool_exc: bool,
    /// Whether calls of unknown tools become responses; else they are an error.
    pub handle_invalid_tool_calls: bool,
    /// The limit for each call, waiting for its turn not counted.
    pub exec_timeout: Option<Duration>,
}

impl Default for ExecOptions {
    fn default() -> Self {
        ExecOptions {
            concurrency: true,
            handle_tool_exc: false,
            handle_invalid_tool_calls: true,
            exec_timeout: None,
        }
    }
}

/// Why calls could not be run.
#[derive(Clone, Debug, PartialEq, thiserror::Error)]
#[non_exhaustive]
pub enum ExecError {
    /// A tool failed, and failures are not answered.
    #[error("{error}")]
    Tool {
        /// The tool.
        name: Text,
        /// Its failure.
        error: ToolError,
    },
    /// A call of an unknown tool, and such calls are not answered.
    #[error("'{name}' not a valid name in {names:?}")]
    InvalidTool {
        /// The name that was called.
        name: Text,
        /// The names there are.
        names: Vec<Text>,
    },
}
