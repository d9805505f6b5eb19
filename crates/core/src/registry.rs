//! Environments and task datasets by name, with their configuration as JSON Schema.
//!
//! A [`Registry`] is plain data: the built-in one is made by `volary_envs::registry()`. One entry
//! is all that an environment needs to appear in the page.

use crate::dataset::TaskDataset;
use crate::environment::{Environment, Setting};
use crate::fields::FieldError;
use crate::json::{Json, Object, Text};
use crate::message::ToolRequestMessage;
use crate::schema;
use crate::view::{View, ViewInput};

/// Makes something from a configuration.
pub type Make<T> = fn(&Object, &Setting) -> Result<Box<T>, RegistryError>;

/// An environment that can be made by name.
#[derive(Clone, Copy)]
pub struct EnvironmentEntry {
    /// The name by which it is asked for.
    pub name: &'static str,
    /// One line that says what it is.
    pub summary: &'static str,
    /// The JSON Schema of its configuration: an object with properties, each with title,
    /// description and default.
    pub configuration: fn() -> Json,
    /// Makes one from a configuration.
    pub make: Make<dyn Environment>,
    /// The configuration that a task text stands for; `None` where there is no such thing.
    pub from_task: Option<fn(&str) -> Object>,
    /// The rich view of its frame, where it has one.
    pub view: Option<fn(&ViewInput<'_>) -> View>,
    /// The action that solves what the frame shows, where that is known.
    pub oracle: Option<fn(&ViewInput<'_>) -> Option<ToolRequestMessage>>,
}

/// A task dataset that can be made by name.
#[derive(Clone, Copy)]
pub struct DatasetEntry {
    /// The name by which it is asked for.
    pub name: &'static str,
    /// One line that says what it is.
    pub summary: &'static str,
    /// The JSON Schema of its arguments.
    pub configuration: fn() -> Json,
    /// Makes it from arguments.
    pub make: Make<dyn TaskDataset>,
}

/// What there is.
#[derive(Clone, Default)]
pub struct Registry {
    /// The environments, in the order of display.
    pub environments: Vec<EnvironmentEntry>,
    /// The task datasets, in the order of display.
    pub datasets: Vec<DatasetEntry>,
}

impl Registry {
    /// The names of the environments, in the order of display.
    pub fn available(&self) -> impl Iterator<Item = &'static str> {
        self.environments.iter().map(|entry| entry.name)
    }

    /// The entry of an environment.
    pub fn environment(&self, name: &str) -> Result<&EnvironmentEntry, RegistryError> {
        let entry = self.environments.iter().find(|entry| entry.name == name);
        entry.ok_or_else(|| RegistryError::UnknownName { name: name.into() })
    }

    /// The entry of a task dataset.
    pub fn dataset(&self, name: &str) -> Result<&DatasetEntry, RegistryError> {
        let entry = self.datasets.iter().find(|entry| entry.name == name);
        entry.ok_or_else(|| RegistryError::UnknownName { name: name.into() })
    }

    /// Makes an environment from a task text or from a configuration, not both.
    pub fn environment_from_name(
        &self,
        name: &str,
        task: Option<&str>,
        configuration: &Object,
        setting: &Setting,
    ) -> Result<Box<dyn Environment>, RegistryError> {
        let entry = self.environment(name)?;
        let Some(task) = task else {
            return entry.make(configuration, setting);
        };
        if !configuration.is_empty() {
            return Err(RegistryError::TaskAndSettings);
        }
        entry.make_from_task(task, setting)
    }

    /// Makes a task dataset from arguments.
    pub fn dataset_from_name(
        &self,
        name: &str,
        arguments: &Object,
        setting: &Setting,
    ) -> Result<Box<dyn TaskDataset>, RegistryError> {
        let entry = self.dataset(name)?;
        (entry.make)(&checked(&(entry.configuration)(), arguments)?, setting)
    }
}

impl EnvironmentEntry {
    /// Makes one from a configuration, which is checked and filled with defaults first.
    pub fn make(
        &self,
        configuration: &Object,
        setting: &Setting,
    ) -> Result<Box<dyn Environment>, RegistryError> {
        (self.make)(&checked(&(self.configuration)(), configuration)?, setting)
    }

    /// Makes one from a task text.
    pub fn make_from_task(
        &self,
        task: &str,
        setting: &Setting,
    ) -> Result<Box<dyn Environment>, RegistryError> {
        let from_task = self.from_task.ok_or_else(|| RegistryError::NoTasks {
            kind: self.name.into(),
        })?;
        self.make(&from_task(task), setting)
    }
}

/// The configuration with its defaults, if it fits.
fn checked(schema: &Json, configuration: &Object) -> Result<Object, RegistryError> {
    let filled = schema::with_defaults(schema, configuration);
    let value = Json::Object(filled);
    let problems = schema::check(schema, &value);
    match value {
        Json::Object(filled) if problems.is_empty() => Ok(filled),
        _ => Err(RegistryError::Schema { problems }),
    }
}

fn listed(problems: &[FieldError]) -> String {
    let problems: Vec<String> = problems.iter().map(ToString::to_string).collect();
    problems.join("; ")
}

/// Why something could not be made.
#[derive(Clone, Debug, PartialEq, thiserror::Error)]
#[non_exhaustive]
pub enum RegistryError {
    /// No such name (aviary says the same of datasets).
    #[error("Unknown environment name: {name}")]
    UnknownName {
        /// The name.
        name: Text,
    },
    /// Both a task and settings.
    #[error("Cannot pass both a task and environment kwargs.")]
    TaskAndSettings,
    /// The environment cannot be made from a task text.
    #[error("{kind} does not implement from_task")]
    NoTasks {
        /// The kind of environment.
        kind: Text,
    },
    /// The configuration does not fit its schema.
    #[error("{}", listed(problems))]
    Schema {
        /// All that is wrong, each with its place in the configuration.
        problems: Vec<FieldError>,
    },
    /// The configuration fits its schema, and yet nothing can be made from it.
    #[error("{key}: {reason}")]
    Configuration {
        /// The key at fault.
        key: Text,
        /// What is wrong with it.
        reason: Text,
    },
}
