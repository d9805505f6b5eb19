//! Task datasets: tasks by place, by arguments, or fresh ones for ever.
//!
//! [`Batches`] goes through any of them; [`EnvsTaskDataset`] is made of given environments.

mod batches;
mod envs;

pub use batches::Batches;
pub use envs::EnvsTaskDataset;

use crate::environment::Environment;
use crate::json::{Object, Text};
use crate::registry::RegistryError;

/// A task as a list shows it, and what makes its environment again: with it, an episode of a
/// dataset's task needs nothing of the dataset.
#[derive(Clone, Debug, PartialEq)]
pub struct Task {
    /// Its id within the dataset.
    pub id: Text,
    /// What a person reads in a list.
    pub title: Text,
    /// The name of the environment in the registry.
    pub environment: &'static str,
    /// The configuration of the environment.
    pub configuration: Object,
}

/// Why a dataset could not give an environment.
#[derive(Clone, Debug, PartialEq, thiserror::Error)]
#[non_exhaustive]
pub enum DatasetError {
    /// The dataset has no such way.
    #[error("\"{kind}\" does not implement {method}")]
    NotImplemented {
        /// The kind of dataset.
        kind: Text,
        /// The method.
        method: &'static str,
    },
    /// No task at this place.
    #[error("There is no task {index}; the dataset has {length}.")]
    OutOfRange {
        /// The place asked for.
        index: i64,
        /// How many there are.
        length: usize,
    },
    /// The environment could not be made.
    #[error(transparent)]
    Make(#[from] RegistryError),
    /// Batches of nothing.
    #[error("Batches must hold at least one task.")]
    EmptyBatches,
    /// Anything else, in the dataset's words.
    #[error("{message}")]
    Failed {
        /// What failed and why.
        message: Text,
    },
}

/// A source of environments.
pub trait TaskDataset {
    /// The name of the kind of dataset, as error texts show it (aviary's class name).
    fn kind(&self) -> &'static str;

    /// How many tasks there are; `None` for endless ones.
    fn length(&self) -> Option<usize> {
        None
    }

    /// The task at a place, for lists and for making it again. `None` past the end, and for
    /// datasets that have no such list.
    fn task(&self, index: usize) -> Option<Task> {
        let _ = index;
        None
    }

    /// The environment of the task at a place.
    fn environment_at(&self, index: usize) -> Result<Box<dyn Environment>, DatasetError> {
        let _ = index;
        Err(self.lacks("get_new_env_by_idx"))
    }

    /// A new environment, of the dataset's choice.
    fn environment(&self) -> Result<Box<dyn Environment>, DatasetError> {
        Err(self.lacks("get_new_env"))
    }

    /// A new environment from arguments.
    fn environment_with(&self, arguments: &Object) -> Result<Box<dyn Environment>, DatasetError> {
        let _ = arguments;
        Err(self.lacks("get_new_env_by_args"))
    }

    /// The error for what the dataset does not have.
    fn lacks(&self, method: &'static str) -> DatasetError {
        DatasetError::NotImplemented {
            kind: self.kind().into(),
            method,
        }
    }
}
