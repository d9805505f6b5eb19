//! The desk of a public library: a domain in the style of tau-bench with built-in data.
//!
//! - [`tools`]: eight tools on books and members.
//! - [`tasks`]: 40 tasks on three levels, generated from the data, each with the actions that solve it.
//!
//! Invariants: one version always has the same tasks, and the actions of a task earn its reward.

pub mod tasks;
pub mod tools;

use std::sync::{Arc, LazyLock};

use volary_core::dataset::{DatasetError, Task as ListedTask, TaskDataset};
use volary_core::environment::{Environment, Setting};
use volary_core::json::{Json, Object};
use volary_core::registry::{DatasetEntry, EnvironmentEntry, RegistryError};
use volary_core::{json, object};

use crate::datasets::out_of_range;
use crate::settings::Settings;
use crate::tau::configuration;
use crate::tau::customer::{Customer, Prompts};
use crate::tau::database::{Database, Table};
use crate::tau::domain::Domain;
use crate::tau::environment::{TauEnvironment, definition};
use crate::tau::oracle::next_action;
use crate::tau::view::view;
use tasks::DeskTask;

/// The entry in the registry.
pub const ENTRY: EnvironmentEntry = EnvironmentEntry {
    name: "library_desk",
    summary: "Serve a customer of a public library by tools, and keep to its policy.",
    configuration: schema,
    make: |configuration, setting| Ok(Box::new(make(configuration, setting)?)),
    from_task: None,
    view: Some(view),
    oracle: Some(|input| {
        let id = input.frame.state.get("task")?.as_text()?;
        let task = TASKS.iter().find(|task| task.id == *id)?;
        next_action(input, &task.task)
    }),
};

/// The tasks as a dataset.
pub const DATASET: DatasetEntry = DatasetEntry {
    name: "library_desk",
    summary: "40 tasks at the desk of a library, on three levels.",
    configuration: || {
        json!({
            "type": "object",
            "properties": {
                "level": {
                    "anyOf": [
                        {"type": "integer", "minimum": 1, "maximum": 3},
                        {"type": "null"},
                    ],
                    "title": "Level",
                    "description": "1 takes one change, 3 takes several that depend on each \
                                    other. Without a level, all.",
                    "default": null,
                },
            },
            "required": [],
            "additionalProperties": false,
        })
    },
    tasks: |arguments, _| Ok(chosen(arguments)?.into_iter().map(listed).collect()),
    make: |arguments, setting| {
        Ok(Box::new(Tasks {
            tasks: chosen(arguments)?,
            setting: setting.clone(),
        }))
    },
};

/// The tasks of the level in the arguments.
fn chosen(arguments: &Object) -> Result<Vec<&'static DeskTask>, RegistryError> {
    let level = Settings::new(arguments, &["level"])?.whole("level", 1..=3)?;
    let all = TASKS.iter();
    let tasks = all.filter(|task| level.is_none_or(|level| level == i64::from(task.level)));
    Ok(tasks.collect())
}

fn listed(task: &DeskTask) -> ListedTask {
    ListedTask {
        id: task.id.clone(),
        title: format!("Level {}: {}", task.level, task.title).into(),
        environment: ENTRY.name,
        configuration: object!({"task": (task.id.clone())}),
    }
}

/// The policy that the agent must follow.
pub const POLICY: &str = include_str!("../data/library_desk_policy.txt");

const DATA: &str = include_str!("../data/library_desk.json");

/// The tasks, with the data that the domain does not contain. They do not refer to the tools.
pub static TASKS: LazyLock<Vec<DeskTask>> =
    LazyLock::new(|| tasks::all(&Json::parse(DATA).unwrap_or_default()));

/// The domain. Tests check the format of its data.
pub static DOMAIN: LazyLock<Arc<Domain>> = LazyLock::new(|| {
    let data = Json::parse(DATA).unwrap_or_default();
    let table = |name: &'static str| {
        let records = data.get(name).and_then(Json::as_object);
        Table::new(name, records.cloned().unwrap_or_default())
    };
    Arc::new(Domain {
        name: "library_desk",
        tools: tools::TOOLS,
        definitions: tools::TOOLS
            .iter()
            .map(|tool| Arc::new(definition(tool)))
            .collect(),
        database: Arc::new(Database::new(vec![table("books"), table("members")])),
        policy: POLICY.into(),
        tasks: TASKS.iter().map(|task| task.task.clone()).collect(),
    })
});

/// The default task.
const FIRST_TASK: &str = "library_01";

/// The kinds of customers.
const CUSTOMERS: [&str; 6] = ["script", "person", "llm", "react", "verify", "reflection"];

fn make(configuration: &Object, setting: &Setting) -> Result<TauEnvironment, RegistryError> {
    let settings = Settings::new(configuration, &["task", "customer", "replies"])?;
    let id = settings.text("task")?.unwrap_or_else(|| FIRST_TASK.into());
    let found = TASKS.iter().find(|task| task.id == id);
    let task = found.ok_or_else(|| {
        let reason = format!("there is no task {id}; there are library_01 to library_40");
        settings.fault("task", &reason)
    })?;
    let kind = settings
        .text("customer")?
        .unwrap_or_else(|| "script".into());
    let customer = match &*kind {
        "script" => Customer::scripted(task.script.iter().cloned()),
        kind => configuration::customer(kind, Prompts::default())
            .ok_or_else(|| configuration::unknown_customer(&settings, kind, &CUSTOMERS))?,
    };
    let replies = configuration::replies(&settings, configuration)?;
    Ok(environment(task, customer, setting).with_replies(replies))
}

fn environment(task: &DeskTask, customer: Customer, setting: &Setting) -> TauEnvironment {
    let domain = Arc::clone(&DOMAIN);
    TauEnvironment::new(
        domain,
        task.task.clone(),
        task.id.clone(),
        customer,
        setting,
    )
}

fn schema() -> Json {
    json!({
        "type": "object",
        "properties": {
            "task": {
                "type": "string",
                "enum": (TASKS.iter().map(|task| task.id.clone()).collect::<Vec<_>>()),
                "title": "Task",
                "description": "Which task: library_01 to library_40, easy ones first.",
                "default": FIRST_TASK,
            },
            "customer": {
                "type": "string",
                "enum": (CUSTOMERS.to_vec()),
                "title": "Customer",
                "description": "A script, a person, or a model that plays the customer, by one \
                                reply (llm), with a thought (react), or with a judge (verify, \
                                reflection).",
                "default": "script",
            },
            "replies": (configuration::replies_schema()),
        },
        "required": [],
        "additionalProperties": false,
    })
}

struct Tasks {
    tasks: Vec<&'static DeskTask>,
    setting: Setting,
}

impl TaskDataset for Tasks {
    fn kind(&self) -> &'static str {
        "LibraryDeskDataset"
    }

    fn length(&self) -> Option<usize> {
        Some(self.tasks.len())
    }

    fn task(&self, index: usize) -> Option<ListedTask> {
        self.tasks.get(index).copied().map(listed)
    }

    fn environment_at(&self, index: usize) -> Result<Box<dyn Environment>, DatasetError> {
        let task = self.tasks.get(index);
        let task = task.ok_or_else(|| out_of_range(index, self.tasks.len()))?;
        let customer = Customer::scripted(task.script.iter().cloned());
        Ok(Box::new(environment(task, customer, &self.setting)))
    }
}
