//! The configuration of a task dataset, with arguments per split.

use crate::dataset::TaskDataset;
use crate::environment::Setting;
use crate::fields::{self, FieldError};
use crate::json::{Json, Object, Text, text_repr};
use crate::registry::{Registry, RegistryError};

/// A task dataset with its arguments.
#[derive(Clone, Debug, Default, PartialEq)]
pub struct TaskConfig {
    /// The name of the dataset in the registry.
    pub name: Text,
    /// Arguments for every split.
    pub task_kwargs: Object,
    /// Arguments for the split `train`, which override the common ones.
    pub train_kwargs: Object,
    /// Arguments for the split `eval`, which override the common ones.
    pub eval_kwargs: Object,
    /// Arguments for the split `test`, which override the common ones.
    pub test_kwargs: Object,
}

/// Why a dataset cannot be made.
#[derive(Clone, Debug, PartialEq, thiserror::Error)]
#[non_exhaustive]
pub enum TaskConfigError {
    /// The configuration is malformed.
    #[error("The task configuration can't be read: {error}.")]
    Field {
        /// The field and the reason.
        error: FieldError,
    },
    /// The split is unknown.
    #[error(
        "Didn't handle split {}. There are train, eval and test.",
        text_repr(split)
    )]
    UnknownSplit {
        /// The requested split.
        split: Text,
    },
    /// The dataset could not be made.
    #[error(transparent)]
    Make(#[from] RegistryError),
}

impl TaskConfig {
    /// Reads a configuration. Unknown fields are rejected, since a misspelt split would be ignored silently.
    pub fn read(value: &Json) -> Result<Self, TaskConfigError> {
        read(value).map_err(|error| TaskConfigError::Field { error })
    }

    /// The arguments for a split: those for every split, overridden key by key by the split's own.
    pub fn arguments(&self, split: &str) -> Result<Object, TaskConfigError> {
        let own = match split {
            "train" => &self.train_kwargs,
            "eval" => &self.eval_kwargs,
            "test" => &self.test_kwargs,
            _ => {
                return Err(TaskConfigError::UnknownSplit {
                    split: split.into(),
                });
            }
        };
        let mut arguments = self.task_kwargs.clone();
        for (key, value) in own.iter() {
            arguments.insert(key.clone(), value.clone());
        }
        Ok(arguments)
    }

    /// The dataset of a split.
    pub fn make_dataset(
        &self,
        split: &str,
        registry: &Registry,
        setting: &Setting,
    ) -> Result<Box<dyn TaskDataset>, TaskConfigError> {
        let arguments = self.arguments(split)?;
        Ok(registry.dataset_from_name(&self.name, &arguments, setting)?)
    }
}

fn read(value: &Json) -> Result<TaskConfig, FieldError> {
    let object = fields::object("", value)?;
    let mut config = TaskConfig {
        name: fields::text("name", fields::required(object, "name")?)?,
        ..TaskConfig::default()
    };
    for (key, value) in object.iter() {
        let arguments = match &**key {
            "name" => continue,
            "task_kwargs" => &mut config.task_kwargs,
            "train_kwargs" => &mut config.train_kwargs,
            "eval_kwargs" => &mut config.eval_kwargs,
            "test_kwargs" => &mut config.test_kwargs,
            unknown => return Err(FieldError::new(unknown, "is unknown")),
        };
        *arguments = fields::object(key, value)?.clone();
    }
    Ok(config)
}
