//! Task datasets: finite ones with tasks by index, ones with tasks by arguments, and endless ones.
//!
//! [`Batches`] iterates over any of them; [`EnvsTaskDataset`] consists of given environments.

mod batches;
mod envs;

pub use batches::Batches;
pub use envs::EnvsTaskDataset;

use crate::environment::Environment;
use crate::json::{Object, Text};
use crate::registry::RegistryError;

/// A task as listed, with the recipe of its environment: an episode of a
/// dataset's task does not depend on the dataset.
#[derive(Clone, Debug, PartialEq)]
pub struct Task {
    /// Its id within the dataset.
    pub id: Text,
    /// The title in lists.
    pub title: Text,
    /// The name of the environment in the registry.
    pub environment: &'static str,
    /// The configuration of the environment.
    pub configuration: Object,
}

/// Why a dataset could not return an environment.
#[derive(Clone, Debug, PartialEq, thiserror::Error)]
#[non_exhaustive]
pub enum DatasetError {
    /// The dataset does not support this method.
    #[error("\"{kind}\" does not implement {method}")]
    NotImplemented {
        /// The kind of dataset.
        kind: Text,
        method: &'static str,
    },
    /// There is no task at this index.
    #[error("There is no task {index}; the dataset has {length}.")]
    OutOfRange {
        /// The requested index.
        index: i64,
        /// The number of tasks.
        length: usize,
    },
    /// The environment could not be made.
    #[error(transparent)]
    Make(#[from] RegistryError),
    /// The batch size is zero.
    #[error("Batches must hold at least one task.")]
    EmptyBatches,
    /// Another failure, described by the dataset.
    #[error("{message}")]
    Failed {
        /// What failed and why.
        message: Text,
    },
}

/// A source of environments.
pub trait TaskDataset {
    /// The name of the kind of dataset in error messages (aviary's class name).
    fn kind(&self) -> &'static str;

    /// The number of tasks; `None` for endless datasets.
    fn length(&self) -> Option<usize> {
        None
    }

    /// The task at an index, with its recipe. `None` past the end, and for
    /// datasets without a list of tasks.
    fn task(&self, index: usize) -> Option<Task> {
        let _ = index;
        None
    }

    /// The environment of the task at an index.
    fn environment_at(&self, index: usize) -> Result<Box<dyn Environment>, DatasetError> {
        let _ = index;
        Err(self.lacks("get_new_env_by_idx"))
    }

    /// A new environment, chosen by the dataset.
    fn environment(&self) -> Result<Box<dyn Environment>, DatasetError> {
        Err(self.lacks("get_new_env"))
    }

    /// A new environment from arguments.
    fn environment_with(&self, arguments: &Object) -> Result<Box<dyn Environment>, DatasetError> {
        let _ = arguments;
        Err(self.lacks("get_new_env_by_args"))
    }

    /// A new environment with this seed, from arguments. Datasets without randomness ignore the seed.
    fn environment_seeded(
        &self,
        seed: u64,
        arguments: &Object,
    ) -> Result<Box<dyn Environment>, DatasetError> {
        let _ = seed;
        if arguments.is_empty() {
            self.environment()
        } else {
            self.environment_with(arguments)
        }
    }

    /// The error for an unsupported method.
    fn lacks(&self, method: &'static str) -> DatasetError {
        DatasetError::NotImplemented {
            kind: self.kind().into(),
            method,
        }
    }
}
