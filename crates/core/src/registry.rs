//! Environments and task datasets by name, with their configuration as JSON Schema.
//!
//! A [`Registry`] is plain data: the built-in one is made by `volary_envs::registry()`. One entry
//! is all that an environment needs to appear in the page.

use crate::dataset::TaskDataset;
use crate::environment::{Environment, Setting};
use crate::json::{Json, Object, Text};
use crate::message::ToolRequestMessage;
use crate::view::{View, ViewInput};

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
    pub make: fn(&Object, &Setting) -> Result<Box<dyn Environment>, RegistryError>,
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
    pub make: fn(&Object, &Setting) -> Result<Box<dyn TaskDataset>, RegistryError>,
}

/// What there is.
#[derive(Clone, Default)]
pub struct Registry {
    /// The environments, in the order of display.
    pub environments: Vec<EnvironmentEntry>,
    /// The task datasets, in the order of display.
    pub datasets: Vec<DatasetEntry>,
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
    /// The configuration does not fit.
    #[error("{key}: {reason}")]
    Configuration {
        /// The key at fault.
        key: Text,
        /// What is wrong with it.
        reason: Text,
    },
}
