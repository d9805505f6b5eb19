//! Which dataset is served: one of the registry by name, any environment of the registry, or a file.

use std::path::Path;
use std::sync::Arc;
use std::sync::atomic::{AtomicU64, Ordering};

use anyhow::{Context, bail};
use volary_core::dataset::{DatasetError, TaskDataset};
use volary_core::environment::{Environment, Setting};
use volary_core::json::{Json, Object};
use volary_core::registry::EnvironmentEntry;
use volary_core::{json, object, schema};

use crate::server::MakeDataset;
use crate::time::RuntimeClock;

/// What was asked for on the command line.
#[derive(Clone, Debug)]
pub struct DatasetSpec {
    /// A dataset's or an environment's name.
    pub name: String,
    /// JSON arguments.
    pub arguments: Object,
    /// Whatever is random follows from this.
    pub seed: u64,
}

/// How to make the dataset, tried once, so that what is wrong with it is said before anybody connects.
///
/// A name of the registry's datasets gives that one. A name of its environments gives them without end:
/// started plainly they have the arguments as their configuration, `task_kwargs` add to it. The
/// calculator, which is nothing without a problem, comes with the word problems: by index, or, started
/// plainly, one after the other.
pub fn make_dataset(wanted: DatasetSpec) -> anyhow::Result<MakeDataset> {
    let registry = volary_envs::registry();
    let known = registry
        .datasets
        .iter()
        .any(|entry| entry.name == wanted.name)
        || registry.environment(&wanted.name).is_ok();
    if !known {
        let mut names: Vec<&str> = registry.datasets.iter().map(|entry| entry.name).collect();
        for name in registry.available() {
            // "dummy" is both.
            if !names.contains(&name) {
                names.push(name);
            }
        }
        bail!(
            "There is no dataset {:?}. There are: {}.",
            wanted.name,
            names.join(", ")
        );
    }
    tried(wanted).context("The dataset can't be made of these arguments")
}

/// A GSM8K file as a dataset: JSON Lines of `question` and `answer`.
pub fn read_gsm8k(path: &Path, seed: u64) -> anyhow::Result<MakeDataset> {
    let text = std::fs::read_to_string(path)
        .with_context(|| format!("{} can't be read", path.display()))?;
    let wanted = DatasetSpec {
        name: "gsm8k".into(),
        arguments: object!({"jsonl": (text)}),
        seed,
    };
    tried(wanted).with_context(|| format!("{} cannot be served", path.display()))
}

fn tried(wanted: DatasetSpec) -> anyhow::Result<MakeDataset> {
    let given = Arc::new(AtomicU64::new(0));
    let make: MakeDataset = Arc::new(move || made(&wanted, &given));
    make()?;
    Ok(make)
}

fn made(
    wanted: &DatasetSpec,
    given: &Arc<AtomicU64>,
) -> Result<Box<dyn TaskDataset>, DatasetError> {
    let registry = volary_envs::registry();
    let setting = Setting {
        seed: wanted.seed,
        clock: RuntimeClock::new(),
    };
    let Ok(entry) = registry.environment(&wanted.name) else {
        return Ok(registry.dataset_from_name(&wanted.name, &wanted.arguments, &setting)?);
    };
    // "dummy" is both, and the dataset of that name is aviary's.
    if wanted.arguments.is_empty()
        && let Ok(dataset) = registry.dataset_from_name(&wanted.name, &wanted.arguments, &setting)
    {
        return Ok(dataset);
    }
    check(entry, &wanted.arguments)?;
    let tasks = match entry.name {
        "calculator" if wanted.arguments.is_empty() => {
            Some(registry.dataset_from_name("word_problems", &Object::new(), &setting)?)
        }
        _ => None,
    };
    Ok(Box::new(Environments {
        entry: *entry,
        configuration: wanted.arguments.clone(),
        setting,
        given: Arc::clone(given),
        tasks,
    }))
}

/// Checks a configuration, to which each start may add what is missing.
fn check(entry: &EnvironmentEntry, configuration: &Object) -> Result<(), DatasetError> {
    let mut schema = (entry.configuration)();
    if let Json::Object(schema) = &mut schema {
        schema.remove("required");
    }
    let problems = schema::check(&schema, &Json::Object(configuration.clone()));
    if problems.is_empty() {
        return Ok(());
    }
    let problems: Vec<String> = problems.iter().map(ToString::to_string).collect();
    Err(DatasetError::Failed {
        message: problems.join("; ").into(),
    })
}

/// Environments of one kind.
struct Environments {
    entry: EnvironmentEntry,
    configuration: Object,
    setting: Setting,
    /// How many were given out without being asked for by name or place, on all threads: the seed
    /// moves with it.
    given: Arc<AtomicU64>,
    tasks: Option<Box<dyn TaskDataset>>,
}

impl TaskDataset for Environments {
    fn kind(&self) -> &'static str {
        "EnvironmentDataset"
    }

    fn length(&self) -> Option<usize> {
        self.tasks.as_ref()?.length()
    }

    fn environment_at(&self, index: usize) -> Result<Box<dyn Environment>, DatasetError> {
        match &self.tasks {
            Some(tasks) => tasks.environment_at(index),
            None => Err(self.lacks("get_new_env_by_idx")),
        }
    }

    fn environment(&self) -> Result<Box<dyn Environment>, DatasetError> {
        let number = self.given.fetch_add(1, Ordering::Relaxed);
        if let Some(length) = self.length().filter(|length| *length > 0) {
            let place = number % u64::try_from(length).unwrap_or(u64::MAX);
            return self.environment_at(usize::try_from(place).unwrap_or(0));
        }
        let setting = Setting {
            seed: self.setting.seed.wrapping_add(number),
            clock: self.setting.clock.clone(),
        };
        Ok(self.entry.make(&self.configuration, &setting)?)
    }

    fn environment_with(&self, arguments: &Object) -> Result<Box<dyn Environment>, DatasetError> {
        // The last of equal keys wins.
        let pairs = self.configuration.iter().chain(arguments.iter());
        let pairs = pairs.map(|(key, value)| (key.clone(), value.clone()));
        let configuration = Object::from_pairs(pairs.collect());
        Ok(self.entry.make(&configuration, &self.setting)?)
    }
}

/// Reads the JSON object of `--arguments`.
pub fn read_arguments(text: &str) -> anyhow::Result<Object> {
    match volary_core::json::read(text) {
        Ok(Json::Object(arguments)) => Ok(arguments),
        Ok(other) => bail!(
            "An object is needed, such as {}, not {}.",
            json!({"level": 1}).to_compact_text(),
            other.to_compact_text()
        ),
        Err(error) => bail!("This is no JSON: {error}."),
    }
}
