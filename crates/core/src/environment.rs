//! The trait of environments, which are reset and stepped and export their state as frames.

use std::rc::Rc;
use std::sync::Arc;

use futures_util::future::LocalBoxFuture;

use crate::clock::Clock;
use crate::exec::ExecError;
use crate::frame::Frame;
use crate::json::{Object, Text};
use crate::message::{AnyMessage, Message};
use crate::outside::Outside;
use crate::tool::Tool;

/// The result of `reset`: the first observations and the tools.
#[derive(Clone, Debug, Default, PartialEq)]
pub struct Reset {
    /// The first observations.
    pub messages: Vec<AnyMessage>,
    /// The tools, in order. Shared, so that a reset copies no schema.
    pub tools: Vec<Arc<Tool>>,
}

/// The result of `step`.
#[derive(Clone, Debug, Default, PartialEq)]
pub struct Step {
    /// The observations after the action.
    pub messages: Vec<AnyMessage>,
    /// The reward of this step.
    pub reward: f64,
    /// Whether the episode ended.
    pub done: bool,
    /// Whether the episode was truncated.
    pub truncated: bool,
}

/// The inputs of an environment in addition to its configuration: a seed, a clock, and access to the outside.
#[derive(Clone)]
pub struct Setting {
    /// The seed of all randomness in the environment.
    pub seed: u64,
    pub clock: Rc<dyn Clock>,
    /// Access to pages, models and a person.
    pub outside: Rc<dyn Outside>,
}

/// Why an operation of an environment failed.
#[derive(Debug, Clone, PartialEq, thiserror::Error)]
#[non_exhaustive]
pub enum EnvironmentError {
    /// Running the tool calls failed.
    #[error(transparent)]
    Exec(#[from] ExecError),
    /// `step` was called before the first `reset`.
    #[error("The environment was stepped before its first reset; reset it first.")]
    NotReset,
    /// The environment does not define an id.
    #[error("{reason}")]
    NoId { reason: Text },
    /// The environment is lost or its state is unknown; it must not be stepped again. Only remote environments
    /// can be lost.
    #[error("{message}")]
    Lost {
        /// A description of the loss.
        message: Text,
    },
    /// Another failure, described by the environment.
    #[error("{message}")]
    Failed {
        /// What failed and why.
        message: Text,
    },
}

/// A language-agent environment. Futures are local: a browser has one thread.
///
/// Steps after the end work as before it; the caller decides when to stop.
pub trait Environment {
    /// The name of the kind of environment in error messages (aviary's class name).
    fn kind(&self) -> &'static str;

    /// Starts a new episode.
    fn reset(&mut self) -> LocalBoxFuture<'_, Result<Reset, EnvironmentError>>;

    /// Takes an action. A message that is not a tool request is answered by [`no_tool_calls`].
    fn step(&mut self, action: AnyMessage) -> LocalBoxFuture<'_, Result<Step, EnvironmentError>>;

    /// A snapshot of the state. Must not have side effects. Empty by default.
    fn export_frame(&self) -> Frame {
        Frame::default()
    }

    /// The id of its task; independent of the state.
    fn id(&self) -> Result<Text, EnvironmentError> {
        Err(EnvironmentError::NoId {
            reason: format!(
                "Getting ID is not yet implemented for environment {}.",
                self.kind()
            )
            .into(),
        })
    }

    /// The input received from outside since the reset, as members of its configuration: with them, the same
    /// actions reproduce the same observations without access to the outside. Empty by default.
    fn recorded(&self) -> Object {
        Object::new()
    }

    /// Frees its resources. Does nothing by default.
    fn close(&mut self) -> LocalBoxFuture<'_, Result<(), EnvironmentError>> {
        Box::pin(std::future::ready(Ok(())))
    }
}

/// The default response to an action that is not a tool request.
pub fn no_tool_calls() -> Step {
    Step {
        messages: vec![
            Message::user("No tool calls received. Please call one or more tools to proceed.")
                .into(),
        ],
        ..Step::default()
    }
}
