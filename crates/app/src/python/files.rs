//! The user's Python files and their versions. Pure.
//!
//! A version is named by the hash of its code and wheels, and so is its environment ([`PythonSource::environment`]). A
//! recipe contains the code itself, so an episode can be replayed anywhere; the wheels are only named.
//!
//! Invariant: code counts as known only if the code itself is the same. Names alone are never compared for that: recipes
//! of older versions have names of 16 digits, for which different code can be made.

use std::collections::HashSet;

use serde::{Deserialize, Serialize};
use volary_core::Object;
use volary_core::json::{Json, Text};
use volary_core::{json, object};
use volary_episode::{Recipe, TaskReference};
use volary_remote::request::Start;
use volary_remote::task::{self, PYTHON_CODE, PYTHON_WHEELS, TASK_ARGUMENTS, TASK_INDEX};

use super::wheels::{self, Wheel};

/// The maximum number of old versions of a file.
const OLD_VERSIONS: usize = 19;

#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct PythonFile {
    /// The name that the user chose; unique among the files.
    pub name: String,
    /// The versions, the latest last; never empty.
    pub versions: Vec<Version>,
}

/// The input of Python: code, and the wheels that it imports.
#[derive(Clone, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
pub struct PythonSource {
    pub code: String,
    /// The wheels, in Python's search order.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub wheels: Vec<Wheel>,
}

/// A version of a file.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct Version {
    /// The code and its wheels.
    #[serde(flatten)]
    pub source: PythonSource,
    /// The time of saving, in milliseconds since 1970.
    pub saved: u64,
    /// The description of the code; `None` until it was run.
    #[serde(default)]
    pub description: Option<Description>,
}

/// Python's description of a file after executing it (`/load` in `public/python/host.py`).
#[derive(Clone, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
pub struct Description {
    /// The class of the environment.
    pub environment: Option<String>,
    /// The class of the dataset.
    pub dataset: Option<String>,
    /// The first paragraph of the docstring.
    #[serde(default)]
    pub summary: String,
    /// The JSON Schema of the constructor's arguments, as text; `None` for a dataset.
    #[serde(default)]
    pub configuration: Option<String>,
    /// The number of tasks in the dataset.
    pub size: Option<u64>,
}

/// The files in this browser.
#[derive(Clone, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
pub struct PythonFiles {
    /// The files, in the order of their creation.
    pub files: Vec<PythonFile>,
}

/// The relation of an episode's code to the files in this browser.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum CodeState {
    /// The code is the latest version of a file.
    Last { file: String },
    /// The code is an older version of a file.
    Changed {
        file: String,
        /// The number of the episode's version, from 1.
        version: usize,
        /// The number of versions of the file.
        versions: usize,
    },
    /// The code is in no file.
    Unknown,
}

impl PythonSource {
    /// Code that needs no wheels.
    pub fn of_code(code: &str) -> PythonSource {
        PythonSource {
            code: code.to_owned(),
            wheels: Vec::new(),
        }
    }

    /// Reads the code of a recipe and the wheels that it names. The error is a message for the user.
    pub fn of_recipe(recipe: &Recipe) -> Result<PythonSource, String> {
        let code = recipe
            .configuration
            .get(PYTHON_CODE)
            .and_then(Json::as_text);
        let code =
            code.ok_or("The episode does not contain the code of its Python environment.")?;
        let wheels = match recipe.configuration.get(PYTHON_WHEELS) {
            None => Vec::new(),
            Some(wheels) => serde_json::from_str(&wheels.to_compact_text())
                .map_err(|_| "The episode does not name its wheels as it should.")?,
        };
        let source = PythonSource {
            code: code.to_string(),
            wheels,
        };
        if task::is_name_of_python(&recipe.environment, &source.digest()) {
            Ok(source)
        } else {
            Err("The code of the Python environment does not match its name.".to_owned())
        }
    }

    /// The name of the environment.
    pub fn environment(&self) -> Text {
        task::python_name(&self.digest()).into()
    }

    /// The SHA-256 of the code and the hashes of its wheels in hexadecimal.
    fn digest(&self) -> String {
        let mut hash = hmac_sha256::Hash::new();
        hash.update(&self.code);
        for wheel in &self.wheels {
            // Code that ends with such a line is no Python, so it is never confused with code and a wheel.
            hash.update(format!("\nwheel {}", wheel.sha256));
        }
        wheels::hexadecimal(&hash.finalize())
    }

    fn add_to(&self, configuration: &mut Object) {
        configuration.insert(PYTHON_CODE, self.code.as_str());
        configuration.remove(PYTHON_WHEELS);
        if !self.wheels.is_empty() {
            let wheels = self.wheels.iter().map(|wheel| {
                let size = i64::try_from(wheel.size).unwrap_or_default();
                json!({"name": (wheel.name.as_str()), "sha256": (wheel.sha256.as_str()), "size": size})
            });
            configuration.insert(PYTHON_WHEELS, Json::List(wheels.collect()));
        }
    }
}

impl CodeState {
    /// Describes the state to the user; empty if the code is the latest version.
    pub fn words(&self) -> String {
        match self {
            CodeState::Last { .. } => String::new(),
            CodeState::Changed {
                file,
                version,
                versions,
            } => format!(
                "The code of {file} changed since: this episode was played on version {version} of {versions}."
            ),
            CodeState::Unknown => {
                "No file of this browser has the code of this episode.".to_owned()
            }
        }
    }
}

impl PythonFile {
    /// The latest version.
    pub fn last(&self) -> Option<&Version> {
        self.versions.last()
    }
}

impl PythonFiles {
    /// Returns the file with a name.
    pub fn get(&self, name: &str) -> Option<&PythonFile> {
        self.files.iter().find(|file| file.name == name)
    }

    /// Returns the file and version with this code and these wheels.
    pub fn of_source(&self, source: &PythonSource) -> Option<(&PythonFile, &Version)> {
        self.files.iter().find_map(|file| {
            let mut versions = file.versions.iter().rev();
            let version = versions.find(|version| version.source == *source)?;
            Some((file, version))
        })
    }

    /// The relation of an episode's code to the files.
    pub fn code_state(&self, source: &PythonSource) -> CodeState {
        let Some((file, version)) = self.of_source(source) else {
            return CodeState::Unknown;
        };
        let place = file.versions.iter().position(|other| other == version);
        let (version, versions) = (place.map_or(0, |place| place + 1), file.versions.len());
        let file = file.name.clone();
        if version == versions {
            CodeState::Last { file }
        } else {
            CodeState::Changed {
                file,
                version,
                versions,
            }
        }
    }

    /// Whether this browser ran this code from one of its own files, so that the user has seen it.
    pub fn has_run(&self, source: &PythonSource) -> bool {
        let known = self.of_source(source);
        known.is_some_and(|(_, version)| version.description.is_some())
    }

    /// The code that this browser ran from its own files.
    pub fn code_that_ran(&self) -> impl Iterator<Item = &PythonSource> {
        let versions = self.files.iter().flat_map(|file| &file.versions);
        let ran = versions.filter(|version| version.description.is_some());
        ran.map(|version| &version.source)
    }

    /// Saves code under a name. Unchanged code makes no new version. Returns the wheels that no version needs any more.
    pub fn save(&mut self, name: &str, source: &PythonSource, now: u64) -> Vec<Wheel> {
        // The same code defines the same environment, in whichever file it was run.
        let known = self.of_source(source);
        let version = Version {
            source: source.clone(),
            saved: now,
            description: known.and_then(|(_, version)| version.description.clone()),
        };
        let Some(file) = self.files.iter_mut().find(|file| file.name == name) else {
            self.files.push(PythonFile {
                name: name.to_owned(),
                versions: vec![version],
            });
            return Vec::new();
        };
        if file.last().is_some_and(|last| last.source == *source) {
            return Vec::new();
        }
        // An older version that is saved again becomes the latest one.
        file.versions.retain(|old| old.source != *source);
        let surplus = file.versions.len().saturating_sub(OLD_VERSIONS);
        let dropped: Vec<Version> = file.versions.drain(..surplus).collect();
        file.versions.push(version);
        self.unused_wheels(&dropped)
    }

    /// Stores the description of some code in all files that contain it.
    pub fn describe(&mut self, source: &PythonSource, description: &Description) {
        let versions = self.files.iter_mut().flat_map(|file| &mut file.versions);
        for version in versions.filter(|version| version.source == *source) {
            version.description = Some(description.clone());
        }
    }

    /// Removes a file with all its versions, and returns the wheels that no other file needs.
    pub fn remove(&mut self, name: &str) -> Vec<Wheel> {
        let removed: Vec<PythonFile> = self
            .files
            .extract_if(.., |file| file.name == name)
            .collect();
        let versions = removed.into_iter().flat_map(|file| file.versions);
        let versions: Vec<Version> = versions.collect();
        self.unused_wheels(&versions)
    }

    /// The wheels of removed versions that no version needs.
    fn unused_wheels(&self, removed: &[Version]) -> Vec<Wheel> {
        let versions = self.files.iter().flat_map(|file| &file.versions);
        let needed: HashSet<&str> = versions
            .flat_map(|version| &version.source.wheels)
            .map(|wheel| wheel.sha256.as_str())
            .collect();
        let wheels = removed.iter().flat_map(|version| &version.source.wheels);
        let unused = wheels.filter(|wheel| !needed.contains(wheel.sha256.as_str()));
        unused.cloned().collect()
    }

    /// Returns a name that no file has, derived from this one.
    pub fn free_name(&self, wanted: &str) -> String {
        let wanted = match wanted.trim() {
            "" => "environment",
            wanted => wanted,
        };
        let numbered = (2u32..).map(|number| format!("{wanted} {number}"));
        let mut names = std::iter::once(wanted.to_owned()).chain(numbered);
        names
            .find(|name| self.get(name).is_none())
            .unwrap_or_else(|| wanted.to_owned())
    }
}

impl Description {
    /// Decodes the body of a reply to `/load`.
    pub fn of(body: &Json) -> Description {
        let text = |key| {
            body.get(key)
                .and_then(Json::as_text)
                .map(ToString::to_string)
        };
        Description {
            environment: text("environment"),
            dataset: text("dataset"),
            summary: text("summary").unwrap_or_default(),
            configuration: body
                .get("configuration")
                .filter(|schema| !schema.is_null())
                .map(Json::to_compact_text),
            size: body
                .get("size")
                .and_then(Json::as_i64)
                .and_then(|size| size.try_into().ok()),
        }
    }

    /// The class that is played: the dataset, or else the environment.
    pub fn class(&self) -> &str {
        let class = self.dataset.as_ref().or(self.environment.as_ref());
        class.map_or("", String::as_str)
    }

    /// The schema of a task's form: the constructor's arguments, or the index of a task of the dataset.
    pub fn form(&self) -> Json {
        let schema = self.configuration.as_deref();
        schema
            .and_then(|schema| Json::parse(schema).ok())
            .unwrap_or_else(|| task::configuration(self.size))
    }

    /// Whether the form contains the constructor's arguments.
    pub fn is_constructed(&self) -> bool {
        self.configuration.is_some()
    }
}

/// Makes the recipe of a task from the values of its form.
pub fn recipe(
    source: &PythonSource,
    description: &Description,
    values: &Object,
    seed: u64,
) -> Recipe {
    let environment = source.environment();
    let mut configuration = values.clone();
    configuration.retain(|_, value| !value.is_null());
    if description.is_constructed() {
        configuration = object!({ TASK_ARGUMENTS: (Json::Object(configuration)) });
    }
    let index = configuration.get(TASK_INDEX).and_then(Json::as_i64);
    let task = index.map(|index| TaskReference {
        dataset: environment.clone(),
        id: index.to_string().into(),
    });
    source.add_to(&mut configuration);
    Recipe {
        environment,
        configuration,
        seed,
        task,
    }
}

/// Makes a recipe of the same task with other code.
pub fn on_source(recipe: &Recipe, source: &PythonSource) -> Recipe {
    let mut other = recipe.clone();
    other.environment = source.environment();
    source.add_to(&mut other.configuration);
    if let Some(task) = &mut other.task {
        task.dataset = other.environment.clone();
    }
    other
}

/// The same recipe under the name that is made today, so that the name identifies the code.
pub fn renamed(recipe: Recipe) -> Recipe {
    match PythonSource::of_recipe(&recipe) {
        Ok(source) if source.environment() != recipe.environment => on_source(&recipe, &source),
        _ => recipe,
    }
}

/// Splits a recipe into its code and the body of `/start`. The error is a message for the user.
pub fn parts(recipe: &Recipe) -> Result<(PythonSource, Start), String> {
    let source = PythonSource::of_recipe(recipe)?;
    let start = Start::read(Some(&start_values(recipe).into())).map_err(|problems| {
        let first = problems.first();
        first.map_or_else(String::new, |problem| problem.message.to_string())
    })?;
    Ok((source, start))
}

/// The index or the arguments of a recipe's task, as the body of `/start` has them.
pub fn start_values(recipe: &Recipe) -> Object {
    let mut configuration = recipe.configuration.clone();
    configuration.remove(PYTHON_CODE);
    configuration.remove(PYTHON_WHEELS);
    configuration
}

/// The values of the form for a recipe's task.
pub fn values(recipe: &Recipe) -> Object {
    let configuration = start_values(recipe);
    match configuration.get(TASK_ARGUMENTS) {
        Some(Json::Object(arguments)) => arguments.clone(),
        _ => configuration,
    }
}

#[cfg(test)]
mod tests;
