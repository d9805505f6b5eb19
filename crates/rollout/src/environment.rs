//! The environment interface of a rollout.

use volary_core::{Object, Text};
use volary_tokens::Action;

/// The beginning of an episode.
#[derive(Clone, Debug, PartialEq)]
pub struct EnvReset {
    /// The user's first message.
    pub observation: Text,
    /// Information about the task.
    pub info: Object,
}

/// The result of an action.
#[derive(Clone, Debug, PartialEq)]
pub struct EnvStep {
    /// The result of the tool, or the answer of the user.
    pub observation: Text,
    /// The total reward of the episode so far; it is not summed.
    pub reward: f64,
    /// Whether the episode is over.
    pub done: bool,
    /// Current information; it replaces earlier values key by key.
    pub info: Object,
}

/// A synchronous environment. Asynchronous ones are driven by events instead.
pub trait RolloutEnvironment {
    /// Starts an episode of a task; `None` lets the environment choose one.
    fn reset(&mut self, task_index: Option<i64>) -> Result<EnvReset, Text>;

    /// Takes an action. An error means that the environment itself failed, such as a simulated user without a model.
    fn step(&mut self, action: &Action) -> Result<EnvStep, Text>;
}
