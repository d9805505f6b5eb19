//! Environments of Python files in the playground: which ones can be chosen, and how their tasks are configured.

use leptos::prelude::*;
use volary_core::Object;
use volary_episode::Recipe;
use volary_remote::task;

use super::python_entries::PythonEntry;
use super::state::Playground;
use super::url_sync;
use volary_app::python::files::{Description, PythonSource};
use volary_connections::python::stored;

/// Follows the Python files stored in this browser, which other tabs change as well.
pub(super) fn follow_python_files(playground: Playground) {
    Effect::new(move |_| {
        let files = stored::files();
        let chosen = playground.setup().environment.get_untracked();
        let entries = playground.setup().python;
        entries.update(|entries| entries.follow(&files, &chosen));
    });
}

/// The entry of an environment, if its name is that of a known Python file. Tracks changes.
pub fn python_entry(playground: Playground, name: &str) -> Option<PythonEntry> {
    let entries = playground.setup().python;
    entries.with(|entries| entries.get(name).cloned())
}

/// Returns whether the shown episode was played in Python.
pub fn is_python_chosen(playground: Playground) -> bool {
    playground
        .setup()
        .environment
        .with(|name| task::python_file(name).is_some())
}

/// Opens the environment of a file that was just run, and navigates to it.
pub fn play_python(
    playground: Playground,
    name: &str,
    source: PythonSource,
    description: Description,
) {
    let entry = PythonEntry {
        environment: source.environment(),
        name: name.into(),
        source,
        description: Some(description),
    };
    let environment = entry.environment.clone();
    // Update the entries at once: the subscriber to the stored files is notified later.
    let entries = playground.setup().python;
    entries.update(|entries| entries.put(entry));
    url_sync::go_to_environment(playground, &environment);
}

/// The code that the user knows: it ran from a file of this browser, or the user agreed to it. Tracks changes.
pub(super) fn known_code(playground: Playground) -> Vec<PythonSource> {
    let entries = playground.setup().python;
    let mut code: Vec<_> = entries.with(|entries| entries.known_code().cloned().collect());
    for source in stored::files().code_that_ran() {
        if !code.contains(source) {
            code.push(source.clone());
        }
    }
    code
}

/// Notes that the user has seen the code of a recipe, if it is one of Python, and agreed to run it.
pub(super) fn agree(playground: Playground, recipe: &Recipe) {
    if let Ok(source) = PythonSource::of_recipe(recipe) {
        let entries = playground.setup().python;
        entries.update_untracked(|entries| entries.agree(source));
    }
}

/// Adds the code of a recipe to the choices.
pub(super) fn adopt_python(playground: Playground, recipe: &Recipe) {
    if task::python_file(&recipe.environment).is_some() {
        let entries = playground.setup().python;
        entries.update(|entries| entries.adopt(recipe));
    }
}

/// Fills the form for a Python file, from a recipe's configuration or with defaults.
pub(super) fn configure_python(
    playground: Playground,
    entry: &PythonEntry,
    configuration: Option<&Object>,
) {
    playground.setup().form.set(entry.form(configuration));
}

/// The recipe of the current setup, if a Python file is chosen.
pub(super) fn python_recipe(playground: Playground, values: &Object, seed: u64) -> Option<Recipe> {
    let name = playground.setup().environment.get_untracked();
    let entry = untrack(|| python_entry(playground, &name))?;
    Some(entry.recipe(values, seed))
}
