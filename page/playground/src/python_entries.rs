//! The environments of Python files that the setup offers. Pure.
//!
//! Invariants:
//! - The environment that is chosen stays, even if its file was changed or removed: the shown episode can still be
//!   replayed and reset.
//! - The user knows code only if exactly this code ran from one of their files, or they agreed to it.

use volary_core::json::Text;
use volary_core::{Object, object};
use volary_episode::Recipe;
use volary_remote::task::TASK_INDEX;
use volary_view::form::Form;

use volary_app::python::files::{self, Description, PythonFiles, PythonSource};

/// Marks a version that is no longer the last one of its file.
const EARLIER: &str = " (earlier version)";

/// The environments, each once.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct PythonEntries {
    entries: Vec<PythonEntry>,
    /// The code of links and files that the user agreed to run, in this page.
    agreed: Vec<PythonSource>,
}

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

impl PythonEntries {
    pub fn iter(&self) -> impl Iterator<Item = &PythonEntry> {
        self.entries.iter()
    }

    /// Notes that the user agreed to run code that a link or a file brought.
    pub fn agree(&mut self, source: PythonSource) {
        if !self.agreed.contains(&source) {
            self.agreed.push(source);
        }
    }

    /// Whether the user knows exactly this code and these wheels.
    pub fn knows(&self, source: &PythonSource) -> bool {
        let mut run = self.iter().filter(|entry| entry.description.is_some());
        self.agreed.contains(source) || run.any(|entry| entry.source == *source)
    }

    /// The code and wheels that the user knows ([`PythonEntries::knows`]).
    pub fn known_code(&self) -> impl Iterator<Item = &PythonSource> {
        let run = self.iter().filter(|entry| entry.description.is_some());
        self.agreed.iter().chain(run.map(|entry| &entry.source))
    }

    /// The entry of an environment.
    pub fn get(&self, environment: &str) -> Option<&PythonEntry> {
        self.iter().find(|entry| *entry.environment == *environment)
    }

    /// Adds an entry, or replaces that of the same environment.
    pub fn put(&mut self, entry: PythonEntry) {
        self.entries
            .retain(|other| other.environment != entry.environment);
        self.entries.push(entry);
    }

    /// Adds the code of a recipe under a name that says where it came from, unless it is there.
    pub fn adopt(&mut self, recipe: &Recipe) {
        if let Ok(source) = PythonSource::of_recipe(recipe)
            && self.get(&source.environment()).is_none()
        {
            self.entries.push(PythonEntry {
                environment: source.environment(),
                name: "Python environment of the episode".into(),
                source,
                description: None,
            });
        }
    }

    /// Follows the stored files: offers the last version of each file that was run. What an episode added stays, and so
    /// does the chosen environment.
    pub fn follow(&mut self, files: &PythonFiles, chosen: &str) {
        self.entries
            .retain(|entry| entry.description.is_none() || *entry.environment == *chosen);
        for entry in &mut self.entries {
            let is_of_file = entry.description.is_some() && !entry.name.ends_with(EARLIER);
            if is_of_file {
                // If it still is the last version, it is replaced below.
                entry.name = format!("{}{EARLIER}", entry.name).into();
            }
        }
        for file in &files.files {
            if let Some(version) = file.last()
                && let Some(description) = &version.description
            {
                self.put(PythonEntry {
                    environment: version.source.environment(),
                    name: file.name.as_str().into(),
                    source: version.source.clone(),
                    description: Some(description.clone()),
                });
            }
        }
    }
}

impl PythonEntry {
    /// The form of a task, filled from the configuration of a recipe or with defaults. A dataset starts with its first
    /// task.
    pub fn form(&self, configuration: Option<&Object>) -> Form {
        let description = self.description.clone().unwrap_or_default();
        let schema = description.form();
        let values = configuration.map(|configuration| {
            let recipe = Recipe {
                configuration: configuration.clone(),
                ..Recipe::default()
            };
            // The form of code that never ran here does not know the constructor's arguments.
            match self.description {
                Some(_) => files::values(&recipe),
                None => files::start_values(&recipe),
            }
        });
        match values {
            Some(values) => Form::with_value(schema, &values.into()),
            None if description.size.is_some_and(|size| size > 0) => {
                let first = object!({ TASK_INDEX: 0 });
                Form::with_value(schema, &first.into())
            }
            None => Form::new(schema),
        }
    }

    /// The recipe of a task from the values of its form.
    pub fn recipe(&self, values: &Object, seed: u64) -> Recipe {
        let description = self.description.clone().unwrap_or_default();
        files::recipe(&self.source, &description, values, seed)
    }
}

#[cfg(test)]
mod tests {
    use volary_core::json::Json;

    use super::*;

    fn source(code: &str) -> PythonSource {
        PythonSource::of_code(code)
    }

    fn environment(code: &str) -> Text {
        source(code).environment()
    }

    fn described(class: &str) -> Description {
        Description {
            environment: Some(class.to_owned()),
            ..Description::default()
        }
    }

    fn entry(code: &str, description: Option<Description>) -> PythonEntry {
        PythonEntry {
            environment: environment(code),
            name: code.into(),
            source: source(code),
            description,
        }
    }

    /// A file `story` whose versions were all run.
    fn files(versions: &[&str]) -> PythonFiles {
        let mut files = PythonFiles::default();
        for code in versions {
            files.save("story", &source(code), 1);
            files.describe(&source(code), &described(code));
        }
        files
    }

    fn names(entries: &PythonEntries) -> Vec<Text> {
        entries
            .iter()
            .map(|entry| entry.environment.clone())
            .collect()
    }

    #[test]
    fn the_last_version_of_each_file_that_ran_is_offered() {
        let mut files = files(&["a", "b"]);
        files.save("new", &source("c"), 1);
        let mut entries = PythonEntries::default();
        entries.follow(&files, "");
        assert_eq!(names(&entries), [environment("b")]);
        assert_eq!(
            entries.iter().next().map(|entry| &*entry.name),
            Some("story")
        );
    }

    #[test]
    fn the_chosen_environment_survives_a_change_of_its_file() {
        let mut entries = PythonEntries::default();
        entries.follow(&files(&["a"]), "");
        let chosen = environment("a");
        for files in [files(&["a", "b"]), PythonFiles::default()] {
            entries.follow(&files, &chosen);
            let entry = entries.get(&chosen).expect("it is chosen");
            assert_eq!(&*entry.name, "story (earlier version)");
            // A reset still has the code.
            let recipe = entry.recipe(&Object::new(), 3);
            assert_eq!(PythonSource::of_recipe(&recipe), Ok(source("a")));
        }
        // Another environment is chosen.
        entries.follow(&files(&["a", "b"]), &environment("b"));
        assert_eq!(names(&entries), [environment("b")]);
    }

    #[test]
    fn code_of_an_episode_is_offered_once_and_replaced_when_it_is_run() {
        let mut entries = PythonEntries::default();
        let recipe = entry("a", None).recipe(&Object::new(), 0);
        entries.adopt(&recipe);
        entries.adopt(&recipe);
        assert_eq!(names(&entries), [environment("a")]);
        assert_eq!(
            entries
                .get(&environment("a"))
                .map(|entry| &entry.description),
            Some(&None)
        );
        // Another file changes nothing.
        entries.follow(&files(&["b"]), "");
        assert_eq!(entries.iter().count(), 2);
        entries.put(entry("a", Some(described("A"))));
        let known = entries
            .get(&environment("a"))
            .and_then(|entry| entry.description.clone());
        assert_eq!(known, Some(described("A")));
        assert_eq!(entries.iter().count(), 2);
    }

    #[test]
    fn code_is_known_once_it_was_run_or_agreed_to() {
        let mut entries = PythonEntries::default();
        entries.adopt(&entry("a", None).recipe(&Object::new(), 0));
        assert!(!entries.knows(&source("a")), "it is only shown");
        entries.agree(source("a"));
        entries.agree(source("a"));
        assert!(entries.knows(&source("a")));
        entries.follow(&files(&["b"]), "");
        assert!(entries.knows(&source("a")) && entries.knows(&source("b")));
        assert!(!entries.knows(&source("c")));
        // The name of an entry does not count.
        entries.put(PythonEntry {
            source: source("d"),
            ..entry("e", Some(described("E")))
        });
        assert!(!entries.knows(&source("e")));
    }

    #[test]
    fn a_recipe_without_valid_code_is_not_offered() {
        let mut entries = PythonEntries::default();
        let mut recipe = entry("a", None).recipe(&Object::new(), 0);
        recipe.environment = environment("b");
        entries.adopt(&recipe);
        entries.adopt(&Recipe::default());
        assert_eq!(entries, PythonEntries::default());
    }

    #[test]
    fn a_task_of_code_that_never_ran_here_can_be_reset() {
        let described = Description {
            configuration: Some("{\"type\":\"object\"}".to_owned()),
            ..described("A")
        };
        let description = Some(described);
        let recorded = entry("a", description).recipe(&object!({"words": 5}), 7);
        let mut entries = PythonEntries::default();
        entries.adopt(&recorded);
        let adopted = entries.get(&environment("a")).expect("it is offered");
        let mut form = adopted.form(Some(&recorded.configuration));
        let values = form.submit();
        let values = values.as_ref().and_then(Json::as_object);
        let values = values.expect("the form is valid");
        assert_eq!(adopted.recipe(values, 7), recorded);
    }

    #[test]
    fn a_dataset_starts_with_its_first_task() {
        let index = |size, configuration: Option<&Object>| {
            let description = Description {
                dataset: Some("D".to_owned()),
                size,
                ..Description::default()
            };
            let form = entry("a", Some(description)).form(configuration);
            form.filled().get(TASK_INDEX).and_then(Json::as_i64)
        };
        assert_eq!(index(Some(3), None), Some(0));
        assert_eq!(index(None, None), None);
        assert_eq!(index(Some(3), Some(&object!({ TASK_INDEX: 2 }))), Some(2));
    }

    #[test]
    fn a_form_restores_the_arguments_of_a_recipe() {
        let description = Description {
            configuration: Some(
                r#"{"type": "object", "properties": {"words": {"type": "integer"}}}"#.to_owned(),
            ),
            ..described("A")
        };
        let entry = entry("a", Some(description));
        let values = object!({"words": 5});
        let recipe = entry.recipe(&values, 7);
        assert_eq!(recipe.seed, 7);
        let form = entry.form(Some(&recipe.configuration));
        assert!(!form.is_raw());
        assert_eq!(form.value(), Ok(Json::Object(values)));
    }
}
