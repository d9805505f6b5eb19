//! The forms of the setup: configuration and seed. Resetting either opens an episode or marks an invalid field. Which
//! environment and task are chosen is decided by `volary_app::playground::setup`.

use std::sync::Arc;

use leptos::prelude::*;
use volary_app::notice::Notice;
use volary_app::playground::Event;
use volary_app::playground::tasks::{self, TaskPlace, TaskSource};
use volary_core::json::{Json, Object, Text};
use volary_core::registry::EnvironmentEntry;
use volary_episode::Recipe;
use volary_view::form::Form;

use super::python;
use super::python_entries::PythonEntries;
use super::remote_environments;
use super::session_driver;
use super::state::Playground;
use super::url_sync;
use volary_browser as browser;
use volary_connections::remote::servers::Server;

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

/// The registry entry of an environment.
pub fn entry(playground: Playground, name: &str) -> Option<EnvironmentEntry> {
    playground.whole().track();
    playground.registry().with_value(|registry| {
        let mut entries = registry.environments.iter();
        entries.find(|entry| entry.name == name).copied()
    })
}

/// The registry entry of the chosen environment.
pub fn chosen(playground: Playground) -> Option<EnvironmentEntry> {
    playground
        .setup()
        .environment
        .with(|name| entry(playground, name))
}

/// Fills the form of the configuration for an environment, from a configuration or with defaults.
pub(super) fn configure(playground: Playground, name: &str, configuration: Option<&Object>) {
    if let Some(server) = untrack(|| remote_environments::server(playground, name)) {
        return remote_environments::configure_server(playground, &server, configuration);
    }
    if let Some(entry) = untrack(|| python::python_entry(playground, name)) {
        return python::configure_python(playground, &entry, configuration);
    }
    let Some(entry) = entry(playground, name) else {
        return;
    };
    let schema = (entry.configuration)();
    playground.setup().form.set(match configuration {
        Some(configuration) => Form::with_value(schema, &configuration.clone().into()),
        None => Form::new(schema),
    });
}

/// Fills the forms of configuration and seed from a recipe, so that Reset opens the same again.
pub(super) fn show_recipe(playground: Playground, recipe: &Recipe) {
    python::adopt_python(playground, recipe);
    configure(playground, &recipe.environment, Some(&recipe.configuration));
    playground.setup().seed.set(recipe.seed.to_string());
}

/// Opens an episode of the current setup, if all fields are valid.
pub fn reset(playground: Playground) {
    let setup = playground.setup();
    let seed = setup.seed.with_untracked(|seed| tasks::read_seed(seed));
    setup.seed_error.set(seed.err());
    let configuration = setup.form.try_update(Form::submit).flatten();
    let Some(Json::Object(configuration)) = configuration else {
        browser::show_fault(CONFIGURATION_FORM);
        return;
    };
    if untrack(|| remote_environments::is_server_chosen(playground)) {
        return remote_environments::reset_on_server(playground, &configuration);
    }
    let Ok(seed) = seed else { return };
    if let Some(recipe) = python::python_recipe(playground, &configuration, seed) {
        return session_driver::open(playground, recipe, Vec::new());
    }
    let schema = untrack(|| chosen(playground)).map(|entry| (entry.configuration)());
    session_driver::update(
        playground,
        Event::Reset {
            configuration,
            seed,
            schema: schema.unwrap_or_default(),
            id: browser::random_id(),
        },
    );
}

/// Selects another split of the file of a task list.
pub fn pick_split(playground: Playground, source: usize, split: &str) {
    let setup = playground.setup();
    let file = setup
        .sources
        .with_untracked(|sources| sources.get(source)?.file.clone());
    let Some(file) = file else { return };
    add_tasks(playground, &file.name, file.text, Some(split));
}

/// Reads a task file and opens its first task.
pub fn add_tasks(playground: Playground, name: &str, text: Text, split: Option<&str>) {
    let made = playground
        .registry()
        .with_value(|registry| tasks::from_file(registry, name, text, split));
    match made {
        Ok(source) if source.tasks.is_empty() => playground.alert(Notice::new(
            format!("{} contains no tasks.", source.title),
            "The selected split of the file is empty.",
            "Choose another split or a longer file.",
        )),
        Ok(source) => {
            session_driver::update(playground, Event::AddTasks(source));
            url_sync::show_environment_in_address(playground);
        }
        Err(reason) => playground.alert(Notice::new(
            format!("The tasks in {name} could not be read."),
            reason.to_string(),
            "Use JSON Lines, each with a question and an answer that ends in \"#### \" and a \
             number.",
        )),
    }
}
