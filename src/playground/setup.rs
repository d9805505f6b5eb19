//! What a person sets up: environment, task, configuration, seed. Intents in here end in an
//! episode being opened, or in a field being marked.

use leptos::prelude::*;
use volary_app::playground::tasks::{self, TaskPlace, TaskSource};
use volary_core::json::{Json, Object, Text};
use volary_core::registry::EnvironmentEntry;
use volary_remote::task;
use volary_trajectory::Recipe;

use super::python::PythonEntry;
use super::state::Playground;
use crate::browser;
use crate::projection::form::Form;
use crate::projection::notice::Notice;
use crate::remote::servers::Server;

/// A list of more tasks is not offered to choose from, but by number.
pub const TASKS_IN_A_LIST: usize = 300;

/// The id of the form of the configuration.
pub const CONFIGURATION_FORM: &str = "configuration-form";

/// The signals of the set-up.
#[derive(Clone, Copy)]
pub struct Setup {
    /// The name of the chosen environment.
    pub environment: RwSignal<Text>,
    /// The lists of tasks.
    pub sources: RwSignal<Vec<TaskSource>>,
    /// The chosen task; `None` for a configuration of one's own.
    pub task: RwSignal<Option<TaskPlace>>,
    /// The configuration.
    pub form: RwSignal<Form>,
    /// The seed, as typed.
    pub seed: RwSignal<String>,
    /// What is wrong with the seed.
    pub seed_error: RwSignal<Option<&'static str>>,
    /// The servers that the person connected to.
    pub servers: RwSignal<Vec<Server>>,
    /// The environments of Python files.
    pub python: RwSignal<Vec<PythonEntry>>,
}

impl Setup {
    /// Nothing chosen yet.
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

impl Playground {
    /// What the registry says of an environment.
    pub fn entry(self, name: &str) -> Option<EnvironmentEntry> {
        self.whole.track();
        self.registry.with_value(|registry| {
            let mut entries = registry.environments.iter();
            entries.find(|entry| entry.name == name).copied()
        })
    }

    /// What the registry says of the chosen environment.
    pub fn chosen(self) -> Option<EnvironmentEntry> {
        self.setup.environment.with(|name| self.entry(name))
    }

    /// Chooses an environment, with its first task if it has tasks, and opens it.
    pub fn begin(self, environment: Option<&str>) {
        let setup = self.setup;
        let first = setup
            .sources
            .with_untracked(|sources| tasks::first(sources, environment));
        match (first, environment) {
            (Some(place), _) => self.pick_task(Some(place)),
            (None, Some(name)) if untrack(|| self.knows(name)) => {
                self.configure(name, None);
                self.reset();
            }
            (None, Some(name)) => {
                self.begin(None);
                self.say_unknown(name);
            }
            (None, None) => {}
        }
    }

    /// Chooses a task and opens it; `None` leaves the configuration as it is, to be changed.
    pub fn pick_task(self, place: Option<TaskPlace>) {
        let setup = self.setup;
        setup.task.set(place);
        let task = place.and_then(|place| {
            setup
                .sources
                .with_untracked(|sources| tasks::at(sources, place).cloned())
        });
        if let Some(task) = task {
            self.configure(task.environment, Some(&task.configuration));
            self.reset();
        }
    }

    /// Fills the set-up for an environment: with a configuration, or with its defaults.
    pub fn configure(self, name: &str, configuration: Option<&Object>) {
        if let Some(server) = untrack(|| self.server(name)) {
            return self.configure_server(&server, configuration);
        }
        if let Some(entry) = untrack(|| self.python_entry(name)) {
            return self.configure_python(&entry, configuration);
        }
        let Some(entry) = self.entry(name) else {
            return;
        };
        let setup = self.setup;
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

    /// Fills the set-up from a recipe, so that Reset opens the same again.
    pub fn show_recipe(self, recipe: &Recipe) {
        let setup = self.setup;
        self.adopt_python(recipe);
        self.configure(&recipe.environment, Some(&recipe.configuration));
        setup.seed.set(recipe.seed.to_string());
        let sources = setup.sources;
        let place = sources.with_untracked(|sources| tasks::of_recipe(sources, recipe));
        setup.task.set(place);
    }

    /// Opens an episode of what is set up, if all fields are as they should be.
    pub fn reset(self) {
        let setup = self.setup;
        let seed = setup.seed.with_untracked(|seed| tasks::read_seed(seed));
        setup.seed_error.set(seed.err());
        let configuration = setup.form.try_update(Form::submit).flatten();
        let Some(Json::Object(configuration)) = configuration else {
            browser::show_fault(CONFIGURATION_FORM);
            return;
        };
        if untrack(|| self.is_server_chosen()) {
            return self.reset_on_server(&configuration);
        }
        let Ok(seed) = seed else { return };
        let recipe = self
            .python_recipe(&configuration, seed)
            .unwrap_or_else(|| self.recipe(configuration, seed));
        self.open(recipe, Vec::new());
    }

    /// The recipe of a configuration: the chosen task's, as long as nothing in it was changed.
    fn recipe(self, configuration: Object, seed: u64) -> Recipe {
        let setup = self.setup;
        let chosen = setup.task.get_untracked().and_then(|place| {
            setup
                .sources
                .with_untracked(|sources| tasks::unchanged(sources, place, &configuration, seed))
        });
        chosen.unwrap_or_else(|| Recipe {
            environment: setup.environment.get_untracked(),
            configuration,
            seed,
            task: None,
        })
    }

    /// Cuts another part from the file of a list of tasks.
    pub fn pick_split(self, source: usize, split: &str) {
        let setup = self.setup;
        let file = setup
            .sources
            .with_untracked(|sources| sources.get(source)?.file.clone());
        let Some(file) = file else { return };
        self.add_tasks(&file.name, file.text, Some(split));
    }

    /// Reads a file of tasks, and opens the first one.
    pub fn add_tasks(self, name: &str, text: Text, split: Option<&str>) {
        let made = self
            .registry
            .with_value(|registry| tasks::from_file(registry, name, text, split));
        match made {
            Ok(source) if source.tasks.is_empty() => self.alert(Notice::new(
                format!("{} contains no tasks.", source.title),
                "The selected split of the file is empty.",
                "Choose another split or a longer file.",
            )),
            Ok(source) => {
                let sources = self.setup.sources;
                let place = sources.try_update(|sources| tasks::add_file(sources, source));
                self.pick_task(place);
                self.show_environment_in_address();
            }
            Err(reason) => self.alert(Notice::new(
                format!("The tasks in {name} could not be read."),
                reason.to_string(),
                "Use JSON Lines, each with a question and an answer that ends in \"#### \" and a \
                 number.",
            )),
        }
    }

    fn say_unknown(self, name: &str) {
        if task::is_server(name) {
            return self.say_not_connected(name);
        }
        let known = self.registry.with_value(|registry| {
            let names: Vec<_> = registry
                .environments
                .iter()
                .map(|entry| entry.name)
                .collect();
            names.join(", ")
        });
        let shown: String = name.chars().take(60).collect();
        self.alert(Notice::new(
            format!("Unknown environment \"{shown}\"."),
            "The address names an environment that this page does not have.",
            format!("Available: {known}."),
        ));
    }
}
