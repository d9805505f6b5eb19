//! Signals of the setup: what is played, and the forms of configuration and seed. [`crate::setup`] changes them.

use std::sync::Arc;

use leptos::prelude::*;
use volary_app::playground::tasks::{TaskPlace, TaskSource};
use volary_connections::remote::servers::Server;
use volary_core::json::Text;
use volary_view::form::Form;

use crate::python_entries::PythonEntries;

/// The id of the form of the configuration.
pub const CONFIGURATION_FORM: &str = "configuration-form";

/// Signals of the setup. Environment, task lists and task show what the machine says.
#[derive(Clone, Copy)]
pub struct SetupSignals {
    /// The name of the chosen environment.
    pub environment: RwSignal<Text>,
    /// The available task lists.
    pub sources: RwSignal<Arc<Vec<TaskSource>>>,
    /// The chosen task; `None` for a custom configuration.
    pub task: RwSignal<Option<TaskPlace>>,
    pub form: RwSignal<Form>,
    /// The seed, as typed.
    pub seed: RwSignal<String>,
    /// The validation error of the seed.
    pub seed_error: RwSignal<Option<&'static str>>,
    /// The servers that the user connected to.
    pub servers: RwSignal<Vec<Server>>,
    /// The environments of Python files.
    pub python: RwSignal<PythonEntries>,
}

impl SetupSignals {
    /// An empty setup with the given task lists.
    pub fn new(sources: Arc<Vec<TaskSource>>) -> Self {
        SetupSignals {
            environment: RwSignal::default(),
            sources: RwSignal::new(sources),
            task: RwSignal::new(None),
            form: RwSignal::default(),
            seed: RwSignal::new("0".to_owned()),
            seed_error: RwSignal::new(None),
            servers: RwSignal::default(),
            python: RwSignal::default(),
        }
    }
}
