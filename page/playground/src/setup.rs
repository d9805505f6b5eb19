//! The forms of the setup: configuration and seed. Resetting either opens an episode or marks an invalid field. Which
//! environment and task are chosen is decided by `volary_app::playground::setup`.

use leptos::prelude::*;
use volary_app::notice::Notice;
use volary_app::playground::Event;
use volary_app::playground::tasks::{self};
use volary_core::json::{Json, Object, Text};
use volary_episode::Recipe;
use volary_view::form::Form;

use super::entries;
use super::shown_place;
use super::signals::CONFIGURATION_FORM;
use super::state::Playground;
use volary_browser as browser;

/// Fills the form of the configuration for an environment, from a configuration or with defaults.
pub(super) fn configure(playground: Playground, name: &str, configuration: Option<&Object>) {
    let connected = playground.lazy_code_untracked();
    if connected.is_some_and(|code| (code.connected.configure)(playground, name, configuration)) {
        return;
    }
    let Some(entry) = entries::entry(playground, name) else {
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
    if let Some(code) = playground.lazy_code_untracked() {
        (code.connected.adopt)(playground, recipe);
    }
    configure(playground, &recipe.environment, Some(&recipe.configuration));
    playground.setup().seed.set(recipe.seed.to_string());
}

/// Opens an episode of the current setup because the user asks for it.
pub fn start_over(playground: Playground) {
    playground.begin_attempt();
    // The message was about an episode that is about to change.
    playground.say("");
    reset(playground);
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
    let connected = playground.lazy_code_untracked();
    let seed = seed.ok();
    if connected.is_some_and(|code| (code.connected.reset)(playground, &configuration, seed)) {
        return;
    }
    let Some(seed) = seed else { return };
    let schema = untrack(|| entries::chosen(playground)).map(|entry| (entry.configuration)());
    playground.update(Event::Reset {
        configuration,
        seed,
        schema: schema.unwrap_or_default(),
        id: browser::random_id(),
    });
}

/// Selects another split of the file of a task list.
pub fn pick_split(playground: Playground, source: usize, split: &str) {
    playground.begin_attempt();
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
            playground.update(Event::AddTasks(source));
            shown_place::show_environment_in_address(playground);
        }
        Err(reason) => playground.alert(Notice::new(
            format!("The tasks in {name} could not be read."),
            reason.to_string(),
            "Use JSON Lines, each with a question and an answer that ends in \"#### \" and a \
             number.",
        )),
    }
}
