//! Environments of Python files in the playground: which ones can be chosen, and how their tasks are configured.

use leptos::prelude::*;
use volary_core::json::Text;
use volary_core::{Object, object};
use volary_remote::task::{self, TASK_INDEX};
use volary_trajectory::Recipe;

use super::intents::Intent;
use super::state::Playground;
use crate::projection::form::Form;
use crate::python::files::{self, Description, PythonFiles, PythonSource};
use crate::python::stored;

#[derive(Clone, Debug, PartialEq, Eq)]
pub struct PythonEntry {
    /// The name of the environment, which contains the hash of its code.
    pub environment: Text,
    /// The user's name for the file.
    pub name: Text,
    /// The code and wheels of the file.
    pub source: PythonSource,
    /// The description that Python returned; `None` for code that never ran in this browser.
    pub description: Option<Description>,
}

/// Follows the Python files stored in this browser, which other tabs change as well.
pub(super) fn follow_python_files(playground: Playground) {
    Effect::new(move |_| {
        let files = stored::files();
        playground.setup.python.update(|entries| {
            // Keep the entries that were added by episodes.
            entries.retain(|entry| entry.description.is_none());
            for entry in entries_of(&files) {
                entries.retain(|other| other.environment != entry.environment);
                entries.push(entry);
            }
        });
    });
}

/// The entry of an environment, if its name is that of a known Python file. Tracks changes.
pub fn python_entry(playground: Playground, name: &str) -> Option<PythonEntry> {
    playground.setup.python.with(|entries| {
        let mut entries = entries.iter();
        entries.find(|entry| *entry.environment == *name).cloned()
    })
}

/// Returns whether the shown episode was played in Python.
pub fn is_python_chosen(playground: Playground) -> bool {
    playground
        .setup
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
    playground.setup.python.update(|entries| {
        entries.retain(|other| other.environment != environment);
        entries.push(entry);
    });
    playground.intend(Intent::GoToEnvironment(environment.to_string()));
}

/// Adds the code of a recipe to the choices, under a name that says where it came from.
pub(super) fn adopt_python(playground: Playground, recipe: &Recipe) {
    let is_known = untrack(|| python_entry(playground, &recipe.environment)).is_some();
    if let (Ok(source), false) = (PythonSource::of_recipe(recipe), is_known) {
        let entry = PythonEntry {
            environment: recipe.environment.clone(),
            name: "Python environment of the episode".into(),
            source,
            description: None,
        };
        playground
            .setup
            .python
            .update(|entries| entries.push(entry));
    }
}

/// Fills the setup for a Python file, from a recipe's configuration or with defaults.
pub(super) fn configure_python(
    playground: Playground,
    entry: &PythonEntry,
    configuration: Option<&Object>,
) {
    let setup = playground.setup;
    setup.environment.set(entry.environment.clone());
    setup.task.set(None);
    let description = entry.description.clone().unwrap_or_default();
    let schema = description.form();
    let values = configuration.map(|configuration| {
        files::values(&Recipe {
            configuration: configuration.clone(),
            ..Recipe::default()
        })
    });
    setup.form.set(match values {
        Some(values) => Form::with_value(schema, &values.into()),
        None if description.size.is_some_and(|size| size > 0) => {
            let first = object!({ TASK_INDEX: 0 });
            Form::with_value(schema, &first.into())
        }
        None => Form::new(schema),
    });
}

/// The recipe of the current setup, if a Python file is chosen.
pub(super) fn python_recipe(playground: Playground, values: &Object, seed: u64) -> Option<Recipe> {
    let name = playground.setup.environment.get_untracked();
    let entry = untrack(|| python_entry(playground, &name))?;
    let description = entry.description.unwrap_or_default();
    Some(files::recipe(&entry.source, &description, values, seed))
}

/// The last version of each file that was run.
fn entries_of(files: &PythonFiles) -> impl Iterator<Item = PythonEntry> {
    files.files.iter().filter_map(|file| {
        let version = file
            .last()
            .filter(|version| version.description.is_some())?;
        Some(PythonEntry {
            environment: version.source.environment(),
            name: file.name.as_str().into(),
            source: version.source.clone(),
            description: version.description.clone(),
        })
    })
}
