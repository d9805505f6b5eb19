//! The dataset to serve: a dataset or an environment of the registry by name, or a file.

use std::path::Path;
use std::sync::Arc;
use std::sync::atomic::{AtomicU64, Ordering};

use anyhow::{Context, bail};
use volary_core::dataset::{DatasetError, Task, TaskDataset};
use volary_core::environment::{Environment, Setting};
use volary_core::json::{Json, Object};
use volary_core::registry::EnvironmentEntry;
use volary_core::{json, object, schema};

use crate::shared::MakeDataset;
use crate::time::RuntimeClock;

/// The dataset asked for on the command line.
#[derive(Clone, Debug)]
pub struct DatasetSpec {
    /// The name of a dataset or an environment.
    pub name: String,
    /// The arguments of the dataset or the configuration of the environment.
    pub arguments: Object,
    /// The seed of all randomness.
    pub seed: u64,
}

/// Returns a function that makes the dataset. It has been called once, so that errors are reported before
/// anyone connects.
///
/// The name of an environment means an endless dataset of such environments. Their configuration consists of
/// the arguments and the `task_kwargs` of the start. The calculator needs a problem, so without arguments
/// its dataset is the word problems: by index, or, without one, in turn.
pub fn make_dataset(spec: DatasetSpec) -> anyhow::Result<MakeDataset> {
    let registry = volary_envs::registry();
    let known = registry
        .datasets
        .iter()
        .any(|entry| entry.name == spec.name)
        || registry.environment(&spec.name).is_ok();
    if !known {
        let mut names: Vec<&str> = registry.datasets.iter().map(|entry| entry.name).collect();
        for name in registry.available() {
            // "dummy" is a dataset too.
            if !names.contains(&name) {
                names.push(name);
            }
        }
        bail!(
            "there is no dataset {:?}; available: {}",
            spec.name,
            names.join(", ")
        );
    }
    checked(spec).context("cannot make the dataset with these arguments")
}

/// A GSM8K file as a dataset: JSON Lines of `question` and `answer`.
pub fn read_gsm8k(path: &Path, seed: u64) -> anyhow::Result<MakeDataset> {
    let text =
        std::fs::read_to_string(path).with_context(|| format!("cannot read {}", path.display()))?;
    let spec = DatasetSpec {
        name: "gsm8k".into(),
        arguments: object!({"jsonl": (text)}),
        seed,
    };
    checked(spec).with_context(|| format!("cannot serve {}", path.display()))
}

fn checked(spec: DatasetSpec) -> anyhow::Result<MakeDataset> {
    let given = Arc::new(AtomicU64::new(0));
    let make: MakeDataset = Arc::new(move || build(&spec, &given));
    make()?;
    Ok(make)
}

fn build(spec: &DatasetSpec, given: &Arc<AtomicU64>) -> Result<Box<dyn TaskDataset>, DatasetError> {
    let registry = volary_envs::registry();
    let setting = Setting {
        seed: spec.seed,
        clock: RuntimeClock::new(),
        outside: std::rc::Rc::new(volary_core::outside::Closed),
    };
    let Ok(entry) = registry.environment(&spec.name) else {
        return Ok(registry.dataset_from_name(&spec.name, &spec.arguments, &setting)?);
    };
    // "dummy" names both; the dataset is aviary's.
    if spec.arguments.is_empty()
        && let Ok(dataset) = registry.dataset_from_name(&spec.name, &spec.arguments, &setting)
    {
        return Ok(dataset);
    }
    check(entry, &spec.arguments)?;
    let tasks = match entry.name {
        "calculator" if spec.arguments.is_empty() => {
            Some(registry.dataset_from_name("word_problems", &Object::new(), &setting)?)
        }
        _ => None,
    };
    Ok(Box::new(Environments {
        entry: *entry,
        configuration: spec.arguments.clone(),
        setting,
        given: Arc::clone(given),
        tasks,
    }))
}

/// Validates a configuration. It may be incomplete, because each start can extend it.
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

/// An endless dataset of environments of one kind.
struct Environments {
    entry: EnvironmentEntry,
    configuration: Object,
    setting: Setting,
    /// The number of starts without index and arguments, on all threads. Each gets another seed.
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

    fn task(&self, index: usize) -> Option<Task> {
        self.tasks.as_ref()?.task(index)
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
        self.environment_seeded(self.setting.seed.wrapping_add(number), &Object::new())
    }

    fn environment_with(&self, arguments: &Object) -> Result<Box<dyn Environment>, DatasetError> {
        self.environment_seeded(self.setting.seed, arguments)
    }

    fn environment_seeded(
        &self,
        seed: u64,
        arguments: &Object,
    ) -> Result<Box<dyn Environment>, DatasetError> {
        // The last of equal keys wins.
        let pairs = self.configuration.iter().chain(arguments.iter());
        let pairs = pairs.map(|(key, value)| (key.clone(), value.clone()));
        let configuration = Object::from_pairs(pairs.collect());
        let setting = Setting {
            seed,
            ..self.setting.clone()
        };
        Ok(self.entry.make(&configuration, &setting)?)
    }
}

/// Parses the JSON object of `--arguments`.
pub fn read_arguments(text: &str) -> anyhow::Result<Object> {
    match volary_core::json::read(text) {
        Ok(Json::Object(arguments)) => Ok(arguments),
        Ok(other) => bail!(
            "expected an object such as {}, not {}",
            json!({"level": 1}).to_compact_text(),
            other.to_compact_text()
        ),
        Err(error) => bail!("not valid JSON: {error}"),
    }
}
