//! What a rollout needs of an environment.

use volary_core::{Object, Text};
use volary_tokens::Action;

/// The beginning of an episode.
#[derive(Clone, Debug, PartialEq)]
pub struct EnvReset {
    /// What the user says first.
    pub observation: Text,
    /// What is known about the task.
    pub info: Object,
}

/// What came of an action.
#[derive(Clone, Debug, PartialEq)]
pub struct EnvStep {
    /// The answer of the tool or of the user.
    pub observation: Text,
    /// The reward of the episode so far; not added up.
    pub reward: f64,
    /// Whether the episode is over.
    pub done: bool,
    /// What is known now; it replaces earlier values key by key.
    pub info: Object,
}

/// An environment that answers at once. Those that take time are driven by events instead.
pub trait RolloutEnvironment {
    /// Starts an episode of a task, or of a task of the environment's choice.
    fn reset(&mut self, task_index: Option<i64>) -> Result<EnvReset, Text>;

    /// Takes an action. An error means that the environment itself failed, such as a simulated user without a model.
    fn step(&mut self, action: &Action) -> Result<EnvStep, Text>;
}
