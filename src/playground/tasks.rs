//! Where tasks come from: the built-in datasets, and files that the person gives. Pure.

use std::rc::Rc;
use std::sync::Arc;

use volary_core::clock::Standstill;
use volary_core::dataset::Task;
use volary_core::environment::Setting;
use volary_core::json::{Json, Object, Text};
use volary_core::object;
use volary_core::registry::{DatasetEntry, Registry};
use volary_trajectory::{Recipe, TaskReference};

/// A list of tasks.
#[derive(Clone, Debug, PartialEq)]
pub struct TaskSource {
    /// The name of the dataset.
    pub dataset: Text,
    /// What a person reads above its tasks.
    pub title: Text,
    /// The tasks, in order.
    pub tasks: Arc<[Task]>,
    /// What the tasks were read from, if from a file: cutting it another way needs it again.
    pub file: Option<TaskFile>,
}

/// A file that tasks were read from.
#[derive(Clone, Debug, PartialEq)]
pub struct TaskFile {
    /// Its text.
    pub text: Text,
    /// Its name.
    pub name: Text,
    /// The split that was cut from it.
    pub split: Text,
}

/// A task of a list.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct TaskPlace {
    /// The list.
    pub source: usize,
    /// The task within it.
    pub task: usize,
}

/// The key under which a dataset takes a whole file.
const FILE_KEY: &str = "jsonl";
/// The key under which a dataset takes the part of the file.
const SPLIT_KEY: &str = "split";

/// The lists that need nothing from the person.
pub fn built_in(registry: &Registry) -> Vec<TaskSource> {
    let entries = registry.datasets.iter();
    entries
        .filter_map(|entry| {
            // Datasets that need arguments wait for a file.
            let tasks = make(registry, entry.name, &Object::new()).ok()?;
            (!tasks.is_empty()).then(|| TaskSource {
                dataset: entry.name.into(),
                title: entry.summary.into(),
                tasks,
                file: None,
            })
        })
        .collect()
}

/// Whether a text may hold tasks: JSON lines with questions and answers.
pub fn holds_tasks(text: &str) -> bool {
    let first = text.lines().find(|line| !line.trim().is_empty());
    first
        .filter(|line| line.len() < 1_000_000)
        .and_then(|line| Json::parse(line.trim()).ok())
        .is_some_and(|row| row.get("question").is_some() && row.get("answer").is_some())
}

/// The tasks of a file. The split is guessed from its name if none is given.
pub fn from_file(
    registry: &Registry,
    name: &str,
    text: Text,
    split: Option<&str>,
) -> Result<TaskSource, Text> {
    let entry = registry
        .datasets
        .iter()
        .find(|entry| property(entry, FILE_KEY).is_some())
        .ok_or("No dataset accepts files.")?;
    let splits = splits(entry);
    let guessed = splits.iter().find(|split| name.contains(&***split));
    let split = split
        .map(Text::from)
        .or_else(|| guessed.cloned())
        .or_else(|| splits.first().cloned())
        .unwrap_or_default();
    let arguments = object!({ FILE_KEY: (text.clone()), SPLIT_KEY: (split.clone()) });
    let tasks = make(registry, entry.name, &arguments)?;
    Ok(TaskSource {
        dataset: entry.name.into(),
        title: format!("{name} ({split})").into(),
        tasks,
        file: Some(TaskFile {
            text,
            name: name.into(),
            split,
        }),
    })
}

/// The parts into which a file of tasks can be cut.
pub fn file_splits(registry: &Registry) -> Vec<Text> {
    registry
        .datasets
        .iter()
        .find(|entry| property(entry, FILE_KEY).is_some())
        .map(splits)
        .unwrap_or_default()
}

/// The task that is shown first: the first one of the first list.
pub fn first(sources: &[TaskSource], environment: Option<&str>) -> Option<TaskPlace> {
    sources.iter().enumerate().find_map(|(source, list)| {
        let task = list
            .tasks
            .iter()
            .position(|task| environment.is_none_or(|name| task.environment == name))?;
        Some(TaskPlace { source, task })
    })
}

/// The task with an id, among those of an environment.
pub fn find(sources: &[TaskSource], environment: Option<&str>, id: &str) -> Option<TaskPlace> {
    sources.iter().enumerate().find_map(|(source, list)| {
        let fits = |task: &Task| {
            *task.id == *id && environment.is_none_or(|name| task.environment == name)
        };
        let task = list.tasks.iter().position(fits)?;
        Some(TaskPlace { source, task })
    })
}

/// The task at a place.
pub fn at(sources: &[TaskSource], place: TaskPlace) -> Option<&Task> {
    sources.get(place.source)?.tasks.get(place.task)
}

/// What makes a task's environment.
pub fn recipe(source: &TaskSource, task: &Task, seed: u64) -> Recipe {
    Recipe {
        environment: task.environment.into(),
        configuration: task.configuration.clone(),
        seed,
        task: Some(TaskReference {
            dataset: source.dataset.clone(),
            id: task.id.clone(),
        }),
    }
}

fn make(registry: &Registry, name: &str, arguments: &Object) -> Result<Arc<[Task]>, Text> {
    let setting = Setting {
        seed: 0,
        clock: Rc::new(Standstill),
        outside: Rc::new(volary_core::outside::Closed),
    };
    let dataset = registry
        .dataset_from_name(name, arguments, &setting)
        .map_err(|error| error.to_string())?;
    Ok((0..).map_while(|index| dataset.task(index)).collect())
}

fn property(entry: &DatasetEntry, key: &str) -> Option<Json> {
    (entry.configuration)().get("properties")?.get(key).cloned()
}

fn splits(entry: &DatasetEntry) -> Vec<Text> {
    property(entry, SPLIT_KEY)
        .as_ref()
        .and_then(|split| split.get("enum")?.as_list())
        .map(|names| names.iter().filter_map(Json::as_text).cloned().collect())
        .unwrap_or_default()
}
