//! The setup: which environment and task are chosen, and what opens an episode of them. The page holds the forms of
//! configuration and seed; values come and go as events and effects.
//!
//! Invariant: the choice changes only because the user, an address or a shown episode changes it. New lists of tasks do
//! not: a chosen task stays chosen for as long as it exists, and so does *Custom*.

use std::sync::Arc;

use volary_core::json::{Json, Object, Text};
use volary_episode::Recipe;
use volary_remote::task;

use super::tasks::{self, TaskPlace, TaskSource};
use super::{Effect, PlaygroundMachine};
use crate::notice::Notice;

/// The chosen environment and task.
#[derive(Clone, Debug, Default)]
pub struct Setup {
    environment: Text,
    /// The available task lists.
    sources: Arc<Vec<TaskSource>>,
    /// The chosen task; `None` for a custom configuration.
    task: Option<TaskPlace>,
}

impl Setup {
    /// A setup with task lists and without a choice.
    pub fn new(sources: Vec<TaskSource>) -> Setup {
        Setup {
            sources: Arc::new(sources),
            ..Setup::default()
        }
    }

    /// The name of the chosen environment; empty if there is none.
    pub fn environment(&self) -> &Text {
        &self.environment
    }

    /// The available task lists.
    pub fn sources(&self) -> &Arc<Vec<TaskSource>> {
        &self.sources
    }

    /// The chosen task; `None` for a custom configuration.
    pub fn task(&self) -> Option<TaskPlace> {
        self.task
    }

    /// Chooses an environment and a task of it, without opening it.
    pub fn choose(&mut self, environment: Text, task: Option<TaskPlace>) {
        self.environment = environment;
        self.task = task;
    }

    /// Replaces the task lists. The chosen task stays chosen if a list still has it.
    pub(super) fn replace_sources(&mut self, sources: Vec<TaskSource>) {
        let chosen = self.task.and_then(|place| {
            let list = self.sources.get(place.source)?;
            let task = list.tasks.get(place.task)?;
            let is_same = |other: &TaskSource| {
                other.dataset == list.dataset && other.file.is_some() == list.file.is_some()
            };
            let source = sources.iter().position(is_same)?;
            let mut tasks = sources.get(source)?.tasks.iter();
            let task = tasks.position(|other| other.id == task.id)?;
            Some(TaskPlace { source, task })
        });
        self.task = chosen;
        self.sources = Arc::new(sources);
    }
}

impl PlaygroundMachine {
    /// Chooses a custom configuration. It is a method of its own for pages that have not loaded the code behind
    /// [`PlaygroundMachine::update`].
    pub fn choose_custom(&mut self) {
        self.setup.task = None;
    }

    /// Adds the tasks of a file and opens the first of them.
    pub(super) fn add_tasks(&mut self, source: TaskSource, effects: &mut Vec<Effect>) {
        let mut sources = Vec::clone(&self.setup.sources);
        let place = tasks::add_file(&mut sources, source);
        self.setup.sources = Arc::new(sources);
        self.pick_task(Some(place), effects);
    }

    /// Chooses a task and opens it. `None` preserves the configuration for editing.
    pub(super) fn pick_task(&mut self, place: Option<TaskPlace>, effects: &mut Vec<Effect>) {
        self.setup.task = place;
        let task = place.and_then(|place| tasks::at(&self.setup.sources, place).cloned());
        if let Some(task) = task {
            let environment = task.environment.into();
            self.configure(environment, Some(task.configuration), effects);
            effects.push(Effect::Reset);
        }
    }

    /// Chooses an environment, with its first task if it has tasks, and opens it.
    pub(super) fn begin(&mut self, environment: Option<&str>, effects: &mut Vec<Effect>) {
        let first = tasks::first(&self.setup.sources, environment);
        match (first, environment) {
            (Some(place), _) => self.pick_task(Some(place), effects),
            (None, Some(name)) if self.known.knows(name) => {
                self.configure(name.into(), None, effects);
                effects.push(Effect::Reset);
            }
            (None, Some(name)) => {
                self.begin(None, effects);
                self.say_unknown(name, effects);
            }
            (None, None) => {}
        }
    }

    /// Opens the task that an address names.
    pub(super) fn begin_task(
        &mut self,
        environment: Option<&str>,
        id: Option<&str>,
        seed: u64,
        effects: &mut Vec<Effect>,
    ) {
        effects.push(Effect::ShowSeed(seed));
        let Some(id) = id else {
            return self.begin(environment, effects);
        };
        match tasks::find(&self.setup.sources, environment, id) {
            Some(place) => self.pick_task(Some(place), effects),
            None => {
                self.begin(environment, effects);
                let id: String = id.chars().take(LONGEST_SHOWN).collect();
                effects.push(Effect::Alert(Notice::new(
                    format!("Unknown task \"{id}\"."),
                    "The address names a task that this environment does not have.",
                    "Choose one of its tasks on the left.",
                )));
            }
        }
    }

    /// Fills the setup for an environment, from a configuration or with defaults.
    fn configure(
        &mut self,
        environment: Text,
        configuration: Option<Object>,
        effects: &mut Vec<Effect>,
    ) {
        let has_tasks = self.known.built_in.contains(&&*environment);
        if configuration.is_none() || !has_tasks {
            self.setup.task = None;
        }
        self.setup.environment = environment.clone();
        effects.push(Effect::Configure {
            environment,
            configuration,
        });
    }

    /// Fills the setup from a recipe, so that Reset opens the same again.
    pub(super) fn show_recipe(&mut self, recipe: &Recipe, effects: &mut Vec<Effect>) {
        let name = &recipe.environment;
        // The code of a Python environment is in its recipe.
        if self.known.knows(name) || task::python_file(name).is_some() {
            self.setup.environment = name.clone();
        }
        self.setup.task = tasks::of_recipe(&self.setup.sources, recipe);
        effects.push(Effect::ShowRecipe(recipe.clone()));
    }

    /// Opens an episode of the chosen built-in environment, whose schema is given.
    pub(super) fn reset(
        &mut self,
        configuration: Object,
        seed: u64,
        schema: &Json,
        id: Text,
        effects: &mut Vec<Effect>,
    ) {
        let recipe = self.recipe(configuration, seed, schema, effects);
        if self.must_show_code(&recipe, &[], effects) {
            return;
        }
        self.open(recipe, Vec::new(), (id, None), effects);
    }

    /// The recipe of a configuration. It is the chosen task's recipe if the configuration was not changed. Otherwise, if
    /// its prompt differs from that of the task that it was edited from, it is no longer shown as that task and gets its
    /// own id.
    fn recipe(
        &mut self,
        configuration: Object,
        seed: u64,
        schema: &Json,
        effects: &mut Vec<Effect>,
    ) -> Recipe {
        let place = self.setup.task;
        let sources = &self.setup.sources;
        let unchanged =
            place.and_then(|place| tasks::unchanged(sources, place, &configuration, seed));
        if let Some(recipe) = unchanged {
            return recipe;
        }
        let task = place.and_then(|place| tasks::at(sources, place));
        let is_other = task.is_none_or(|task| {
            tasks::is_other_problem(&task.configuration, &configuration, schema)
        });
        let environment = self.setup.environment.clone();
        let mut own = configuration;
        if is_other {
            let given = tasks::custom(task.map(|task| &*task.id), &own);
            self.setup.task = None;
            if given != own {
                own = given;
                effects.push(Effect::Configure {
                    environment: environment.clone(),
                    configuration: Some(own.clone()),
                });
            }
        }
        Recipe {
            environment,
            configuration: own,
            seed,
            task: None,
        }
    }

    fn say_unknown(&self, name: &str, effects: &mut Vec<Effect>) {
        if task::is_server(name) {
            return effects.push(Effect::SayNotConnected(name.into()));
        }
        let shown: String = name.chars().take(LONGEST_SHOWN).collect();
        effects.push(Effect::Alert(Notice::new(
            format!("Unknown environment \"{shown}\"."),
            "The address names an environment that this page does not have.",
            format!("Available: {}.", self.known.built_in.join(", ")),
        )));
    }
}

/// The number of characters of an unknown name that are shown.
const LONGEST_SHOWN: usize = 60;
