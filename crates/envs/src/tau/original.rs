//! The domains of the original as environments. Their data belong to the user: a reset requests them from
//! outside.
//!
//! Invariants: an episode records the version of its data, and is not replayed with another version. The registry
//! entries refer to no code of the domains, which is loaded with the data, so a page can load it on demand.

use std::cell::RefCell;
use std::collections::BTreeMap;
use std::rc::Rc;
use std::sync::Arc;

use futures_util::future::LocalBoxFuture;
use volary_core::dataset::Task as ListedTask;
use volary_core::environment::Setting;
use volary_core::json::{Json, Object, Text};
use volary_core::message::ToolRequestMessage;
use volary_core::outside::OutsideError;
use volary_core::registry::{EnvironmentEntry, RegistryError};
use volary_core::view::ViewInput;
use volary_core::{AnyMessage, Environment, EnvironmentError, Frame, Reset, Step, json, object};

use super::checkout::{CheckoutError, Original, ReadFile, Split};
use super::checkout_files::CUSTOMER_SOURCE;
use super::configuration;
use super::customer::{Customer, Prompts};
use super::domain::{Domain, STOP, Task};
use super::environment::TauEnvironment;
use super::oracle::next_action;
use super::view::view;
use crate::settings::Settings;

/// The registry entry of retail.
pub const RETAIL: EnvironmentEntry = EnvironmentEntry {
    name: "tau-retail",
    summary: "tau-bench: serve a customer of a shop. Its data come from your checkout.",
    configuration: || schema(Original::Retail),
    make: |configuration, setting| {
        let made = OriginalEnvironment::new(Original::Retail, configuration, setting)?;
        Ok(Box::new(made))
    },
    from_task: None,
    view: Some(view),
    oracle: Some(solve),
};

/// The registry entry of airline.
pub const AIRLINE: EnvironmentEntry = EnvironmentEntry {
    name: "tau-airline",
    summary: "tau-bench: serve a passenger of an airline. Its data come from your checkout.",
    configuration: || schema(Original::Airline),
    make: |configuration, setting| {
        let made = OriginalEnvironment::new(Original::Airline, configuration, setting)?;
        Ok(Box::new(made))
    },
    from_task: None,
    view: Some(view),
    oracle: Some(solve),
};

/// The selectable customers.
pub const CUSTOMERS: [&str; 6] = ["llm", "react", "verify", "reflection", "person", "script"];

/// The default customer.
const CUSTOMER: &str = "llm";

/// The maximum number of a task.
const MOST_TASKS: i64 = 100_000;

/// The number of characters of a hash that identify data.
const HASH_LENGTH: usize = 12;

thread_local! {
    /// The tasks of each split known to this thread, by [`OriginalData::name`]. An oracle receives only a frame,
    /// and a frame must not reveal the task.
    static KNOWN: RefCell<BTreeMap<String, Rc<[Task]>>> = const { RefCell::new(BTreeMap::new()) };
}

/// The data of a domain with the tasks of a split: the result of
/// [`Outside::data`](volary_core::outside::Outside::data) for [`OriginalData::name`].
pub struct OriginalData {
    domain: Arc<Domain>,
    tasks: Rc<[Task]>,
    /// The original's wording if it is present, else this project's.
    prompts: Prompts,
    /// Identifies the version of data and tasks.
    version: Text,
}

/// A task of the original, which receives its data at the reset.
pub struct OriginalEnvironment {
    original: Original,
    split: Split,
    task: usize,
    customer: Text,
    replies: Vec<Text>,
    /// The version of the data in the recorded episode.
    known: Option<Text>,
    setting: Setting,
    /// `None` before the first reset.
    inner: Option<(TauEnvironment, Text)>,
}

impl OriginalData {
    /// The name of the data of a domain with the tasks of a split.
    pub fn name(original: Original, split: Split) -> String {
        format!("tau-bench/{}/{}", original.name(), split.name())
    }

    /// Parses [`OriginalData::name`].
    pub fn of_name(name: &str) -> Option<(Original, Split)> {
        let (original, split) = name.strip_prefix("tau-bench/")?.split_once('/')?;
        let original = Original::from_name(original)?;
        Some((original, Split::from_name(split).ok()?))
    }

    /// Reads data and tasks.
    ///
    /// # Errors
    ///
    /// A file is missing or malformed.
    pub fn read(
        original: Original,
        split: Split,
        read: ReadFile<'_>,
    ) -> Result<Self, CheckoutError> {
        let domain = original.read(split, read)?;
        let data = original.data_fingerprint(&domain).found;
        let tasks = original.task_fingerprint(split, &domain.tasks).found;
        let short = |hash: &str| hash.get(..HASH_LENGTH).unwrap_or_default().to_owned();
        let prompts = read(CUSTOMER_SOURCE).and_then(|source| Prompts::from_source(&source));
        Ok(OriginalData {
            tasks: domain.tasks.iter().cloned().collect(),
            domain: Arc::new(domain),
            prompts: prompts.unwrap_or_default(),
            version: format!("{}-{}", short(&data), short(&tasks)).into(),
        })
    }
}

/// The registry entry of a domain.
pub const fn entry(original: Original) -> EnvironmentEntry {
    match original {
        Original::Retail => RETAIL,
        Original::Airline => AIRLINE,
    }
}

/// The name of a domain's environment. It refers to no code of the environment.
pub const fn environment_name(original: Original) -> &'static str {
    match original {
        Original::Retail => RETAIL.name,
        Original::Airline => AIRLINE.name,
    }
}

/// The tasks of a split as a list, for a customer.
pub fn listed(original: Original, split: Split, count: usize, customer: &str) -> Vec<ListedTask> {
    let environment = environment_name(original);
    // The instruction is the customer's secret, so a title contains only the number.
    let task = |number: usize| ListedTask {
        id: id(original, split, number),
        title: format!("Task {number}").into(),
        environment,
        configuration: object!({
            "task": (number as i64),
            "split": (split.name()),
            "customer": customer,
        }),
    };
    (0..count).map(task).collect()
}

/// Provides the tasks of a split to the oracle of this thread.
pub fn know_tasks(original: Original, split: Split, tasks: Rc<[Task]>) {
    let name = OriginalData::name(original, split);
    KNOWN.with_borrow_mut(|known| known.insert(name, tasks));
}

fn id(original: Original, split: Split, task: usize) -> Text {
    format!("{}_{}_{task}", original.name(), split.name()).into()
}

/// The task with this id, if the oracle knows it.
fn known_task<T>(id: &str, found: impl FnOnce(&Task) -> T) -> Option<T> {
    let mut parts = id.splitn(3, '_');
    let original = Original::from_name(parts.next()?)?;
    let split = Split::from_name(parts.next()?).ok()?;
    let number: usize = parts.next()?.parse().ok()?;
    KNOWN.with_borrow(|known| {
        let tasks = known.get(&OriginalData::name(original, split))?;
        tasks.get(number).map(found)
    })
}

fn solve(input: &ViewInput<'_>) -> Option<ToolRequestMessage> {
    let id = input.frame.state.get("task")?.as_text()?;
    known_task(id, |task| next_action(input, task)).flatten()
}

/// The customer of a kind for a task.
fn customer(kind: &str, task: &Task, prompts: Prompts) -> Option<Customer> {
    match kind {
        "script" => Some(Customer::scripted([
            task.instruction.clone(),
            Text::from(STOP),
        ])),
        kind => configuration::customer(kind, prompts),
    }
}

impl OriginalEnvironment {
    fn new(
        original: Original,
        configuration: &Object,
        setting: &Setting,
    ) -> Result<Self, RegistryError> {
        let known = ["task", "split", "customer", "replies", "data"];
        let settings = Settings::new(configuration, &known)?;
        let task = settings.whole("task", 0..=MOST_TASKS)?.unwrap_or_default();
        let split = settings.text("split")?.unwrap_or_else(|| "test".into());
        let split = Split::from_name(&split)
            .ok()
            .filter(|split| original.splits().contains(split))
            .ok_or_else(|| {
                let reason = format!(
                    "unknown {split}; available: {}",
                    splits(original).join(", ")
                );
                settings.fault("split", &reason)
            })?;
        let customer = settings
            .text("customer")?
            .unwrap_or_else(|| CUSTOMER.into());
        if !CUSTOMERS.contains(&&*customer) {
            return Err(configuration::unknown_customer(
                &settings, &customer, &CUSTOMERS,
            ));
        }
        Ok(OriginalEnvironment {
            original,
            split,
            task: usize::try_from(task).unwrap_or_default(),
            customer,
            replies: configuration::replies(&settings, configuration)?,
            known: settings.text("data")?,
            setting: setting.clone(),
            inner: None,
        })
    }

    async fn begin(&mut self) -> Result<Reset, EnvironmentError> {
        let name = OriginalData::name(self.original, self.split);
        let given = self.setting.outside.data(&name).await;
        let given =
            given.map_err(|OutsideError { message }| EnvironmentError::Failed { message })?;
        let data: Rc<OriginalData> = given
            .downcast()
            .map_err(|_| failed(format!("The data of {name} are of another kind.")))?;
        if let Some(known) = self.known.as_ref().filter(|known| **known != data.version) {
            return Err(failed(format!(
                "This episode was played with other data or tasks of tau-bench ({known}) than those of the checkout \
                 here ({}). Add the checkout that it was played with.",
                data.version
            )));
        }
        let task = data.tasks.get(self.task).ok_or_else(|| {
            let count = data.tasks.len();
            failed(format!(
                "There is no task {} in {}: the checkout has {count}, counted from 0.",
                self.task,
                self.split.name()
            ))
        })?;
        let customer = customer(&self.customer, task, data.prompts.clone());
        let made = TauEnvironment::new(
            Arc::clone(&data.domain),
            task.clone(),
            id(self.original, self.split, self.task),
            customer.unwrap_or(Customer::Human),
            &self.setting,
        );
        know_tasks(self.original, self.split, Rc::clone(&data.tasks));
        let mut inner = made.with_replies(self.replies.clone());
        let reset = inner.reset().await?;
        self.inner = Some((inner, data.version.clone()));
        Ok(reset)
    }
}

fn failed(message: String) -> EnvironmentError {
    EnvironmentError::Failed {
        message: message.into(),
    }
}

impl Environment for OriginalEnvironment {
    fn kind(&self) -> &'static str {
        "TauEnv"
    }

    fn reset(&mut self) -> LocalBoxFuture<'_, Result<Reset, EnvironmentError>> {
        Box::pin(self.begin())
    }

    fn step(&mut self, action: AnyMessage) -> LocalBoxFuture<'_, Result<Step, EnvironmentError>> {
        match &mut self.inner {
            Some((inner, _)) => inner.step(action),
            None => Box::pin(std::future::ready(Err(EnvironmentError::NotReset))),
        }
    }

    fn export_frame(&self) -> Frame {
        let inner = self.inner.as_ref();
        inner.map_or_else(Frame::default, |(inner, _)| inner.export_frame())
    }

    fn id(&self) -> Result<Text, EnvironmentError> {
        Ok(id(self.original, self.split, self.task))
    }

    fn recorded(&self) -> Object {
        let Some((inner, version)) = &self.inner else {
            return Object::new();
        };
        let mut recorded = inner.recorded();
        recorded.insert("data", version.clone());
        recorded
    }
}

fn splits(original: Original) -> Vec<&'static str> {
    original.splits().iter().map(|split| split.name()).collect()
}

fn schema(original: Original) -> Json {
    json!({
        "type": "object",
        "properties": {
            "task": {
                "type": "integer",
                "minimum": 0,
                "maximum": MOST_TASKS,
                "title": "Task",
                "description": "The number of the task, counted from 0.",
                "default": 0,
            },
            "split": {
                "type": "string",
                "enum": (splits(original)),
                "title": "Split",
                "description": "The set of tasks. Results are reported on test.",
                "default": "test",
            },
            "customer": {
                "type": "string",
                "enum": (CUSTOMERS.to_vec()),
                "title": "Customer",
                "description": "A model that plays the customer, by one reply (llm), with a thought (react), or with a \
                                judge (verify, reflection). Or you (person). Or a script that says all that the \
                                customer wants at once, and ends the conversation at the next message.",
                "default": CUSTOMER,
            },
            "replies": (configuration::replies_schema()),
            "data": {
                "anyOf": [{"type": "string"}, {"type": "null"}],
                "title": "Version of the data",
                "description": "Recorded: identifies the data and tasks of the episode.",
                "default": null,
            },
        },
        "required": [],
        "additionalProperties": false,
    })
}
