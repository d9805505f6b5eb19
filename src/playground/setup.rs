//! The setup: environment, task, configuration and seed. Each intent here either opens an episode or marks an invalid
//! field.

use leptos::prelude::*;
use volary_app::notice::Notice;
use volary_app::playground::tasks::{self, TaskPlace, TaskSource};
use volary_core::dataset::Task;
use volary_core::json::{Json, Object, Text};
use volary_core::registry::EnvironmentEntry;
use volary_episode::Recipe;
use volary_remote::task;
use volary_view::form::Form;

use super::python;
use super::python_entries::PythonEntries;
use super::remote_environments;
use super::session_driver;
use super::state::Playground;
use super::url_sync;
use crate::browser;
use crate::python::files;
use crate::remote::servers::Server;

pub const CONFIGURATION_FORM: &str = "configuration-form";

#[derive(Clone, Copy)]
pub struct Setup {
    /// The name of the chosen environment.
    pub environment: RwSignal<Text>,
    /// The available task lists.
    pub sources: RwSignal<Vec<TaskSource>>,
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

impl Setup {
    /// An empty setup with the given task lists.
    pub fn new(sources: Vec<TaskSource>) -> Self {
        Setup {
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
    playground.whole.track();
    playground.registry.with_value(|registry| {
        let mut entries = registry.environments.iter();
        entries.find(|entry| entry.name == name).copied()
    })
}

/// The registry entry of the chosen environment.
pub fn chosen(playground: Playground) -> Option<EnvironmentEntry> {
    playground
        .setup
        .environment
        .with(|name| entry(playground, name))
}

/// Chooses an environment, with its first task if it has tasks, and opens it.
pub fn begin(playground: Playground, environment: Option<&str>) {
    let setup = playground.setup;
    let first = setup
        .sources
        .with_untracked(|sources| tasks::first(sources, environment));
    match (first, environment) {
        (Some(place), _) => pick_task(playground, Some(place)),
        (None, Some(name)) if untrack(|| remote_environments::knows(playground, name)) => {
            configure(playground, name, None);
            reset(playground);
        }
        (None, Some(name)) => {
            begin(playground, None);
            say_unknown(playground, name);
        }
        (None, None) => {}
    }
}

/// Chooses a task and opens it. `None` preserves the configuration for editing.
pub fn pick_task(playground: Playground, place: Option<TaskPlace>) {
    let setup = playground.setup;
    setup.task.set(place);
    let task = place.and_then(|place| {
        setup
            .sources
            .with_untracked(|sources| tasks::at(sources, place).cloned())
    });
    if let Some(task) = task {
        configure(playground, task.environment, Some(&task.configuration));
        reset(playground);
    }
}

/// Fills the setup for an environment, from a configuration or with defaults.
pub fn configure(playground: Playground, name: &str, configuration: Option<&Object>) {
    if let Some(server) = untrack(|| remote_environments::server(playground, name)) {
        return remote_environments::configure_server(playground, &server, configuration);
    }
    if let Some(entry) = untrack(|| python::python_entry(playground, name)) {
        return python::configure_python(playground, &entry, configuration);
    }
    let Some(entry) = entry(playground, name) else {
        return;
    };
    let setup = playground.setup;
    setup.environment.set(name.into());
    let schema = (entry.configuration)();
    setup.form.set(match configuration {
        Some(configuration) => Form::with_value(schema, &configuration.clone().into()),
        None => Form::new(schema),
    });
    if configuration.is_none() {
        setup.task.set(None);
    }
}

/// Fills the setup from a recipe, so that Reset opens the same again.
pub fn show_recipe(playground: Playground, recipe: &Recipe) {
    let setup = playground.setup;
    let recipe = &files::renamed(recipe.clone());
    python::adopt_python(playground, recipe);
    configure(playground, &recipe.environment, Some(&recipe.configuration));
    setup.seed.set(recipe.seed.to_string());
    let sources = setup.sources;
    let place = sources.with_untracked(|sources| tasks::of_recipe(sources, recipe));
    setup.task.set(place);
}

/// Opens an episode of the current setup, if all fields are valid.
pub fn reset(playground: Playground) {
    let setup = playground.setup;
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
    let recipe = python::python_recipe(playground, &configuration, seed)
        .unwrap_or_else(|| recipe(playground, configuration, seed));
    session_driver::open(playground, recipe, Vec::new());
}

/// The recipe of a configuration. It is the chosen task's recipe if the configuration was not changed.
fn recipe(playground: Playground, configuration: Object, seed: u64) -> Recipe {
    let setup = playground.setup;
    let place = setup.task.get_untracked();
    let (chosen, task) = setup.sources.with_untracked(|sources| {
        let chosen = place.and_then(|place| tasks::unchanged(sources, place, &configuration, seed));
        let task = place.and_then(|place| tasks::at(sources, place).cloned());
        (chosen, task)
    });
    chosen.unwrap_or_else(|| Recipe {
        environment: setup.environment.get_untracked(),
        configuration: custom(playground, configuration, task),
        seed,
        task: None,
    })
}

/// A configuration that is no task's. If its prompt differs from that of the task that it was edited from, it is no
/// longer shown as that task and gets its own id.
fn custom(playground: Playground, configuration: Object, task: Option<Task>) -> Object {
    let setup = playground.setup;
    let Some(entry) = untrack(|| chosen(playground)) else {
        return configuration;
    };
    let schema = (entry.configuration)();
    let is_other = task
        .as_ref()
        .is_none_or(|task| tasks::is_other_problem(&task.configuration, &configuration, &schema));
    if !is_other {
        return configuration;
    }
    setup.task.set(None);
    let own = tasks::custom(task.as_ref().map(|task| &*task.id), &configuration);
    if own != configuration {
        let value = own.clone().into();
        setup.form.set(Form::with_value(schema, &value));
    }
    own
}

/// Selects another split of the file of a task list.
pub fn pick_split(playground: Playground, source: usize, split: &str) {
    let setup = playground.setup;
    let file = setup
        .sources
        .with_untracked(|sources| sources.get(source)?.file.clone());
    let Some(file) = file else { return };
    add_tasks(playground, &file.name, file.text, Some(split));
}

/// Reads a task file and opens its first task.
pub fn add_tasks(playground: Playground, name: &str, text: Text, split: Option<&str>) {
    let made = playground
        .registry
        .with_value(|registry| tasks::from_file(registry, name, text, split));
    match made {
        Ok(source) if source.tasks.is_empty() => playground.alert(Notice::new(
            format!("{} contains no tasks.", source.title),
            "The selected split of the file is empty.",
            "Choose another split or a longer file.",
        )),
        Ok(source) => {
            let sources = playground.setup.sources;
            let place = sources.try_update(|sources| tasks::add_file(sources, source));
            pick_task(playground, place);
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

fn say_unknown(playground: Playground, name: &str) {
    if task::is_server(name) {
        return remote_environments::say_not_connected(playground, name);
    }
    let known = playground.registry.with_value(|registry| {
        let names: Vec<_> = registry
            .environments
            .iter()
            .map(|entry| entry.name)
            .collect();
        names.join(", ")
    });
    let shown: String = name.chars().take(60).collect();
    playground.alert(Notice::new(
        format!("Unknown environment \"{shown}\"."),
        "The address names an environment that this page does not have.",
        format!("Available: {known}."),
    ));
}
