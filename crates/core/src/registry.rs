//! Environments and task datasets by name, with their configuration as JSON Schema.
//!
//! A [`Registry`] is plain data: the built-in one is made by `volary_envs::registry()`. An environment
//! needs only one entry to appear in the page.

use std::cell::RefCell;
use std::ptr::fn_addr_eq;

use crate::dataset::{Task, TaskDataset};
use crate::environment::{Environment, Setting};
use crate::fields::FieldError;
use crate::json::{Json, Object, Text};
use crate::message::ToolRequestMessage;
use crate::schema;
use crate::view::{View, ViewInput};

/// Makes something from a configuration.
pub type Make<T> = fn(&Object, &Setting) -> Result<Box<T>, RegistryError>;

/// The registry entry of an environment.
#[derive(Clone, Copy)]
pub struct EnvironmentEntry {
    pub name: &'static str,
    /// A summary of one line.
    pub summary: &'static str,
    /// The JSON Schema of its configuration: an object with properties, each with title,
    /// description and default.
    pub configuration: fn() -> Json,
    /// Makes one from a configuration.
    pub make: Make<dyn Environment>,
    /// The configuration of a task text; `None` if the environment cannot be made from one.
    pub from_task: Option<fn(&str) -> Object>,
    /// The rich view of its frame; `None` without one.
    pub view: Option<fn(&ViewInput<'_>) -> View>,
    /// Computes the solving action from the frame; `None` if it has no oracle.
    pub oracle: Option<fn(&ViewInput<'_>) -> Option<ToolRequestMessage>>,
}

/// The registry entry of a task dataset.
#[derive(Clone, Copy)]
pub struct DatasetEntry {
    pub name: &'static str,
    /// A summary of one line.
    pub summary: &'static str,
    /// The JSON Schema of its arguments.
    pub configuration: fn() -> Json,
    /// Lists its tasks for arguments and a seed; none for endless datasets. Unlike `make`, it refers to no environment.
    pub tasks: fn(&Object, u64) -> Result<Vec<Task>, RegistryError>,
    /// Makes it from arguments.
    pub make: Make<dyn TaskDataset>,
}

/// The registered environments and datasets.
#[derive(Clone, Default)]
pub struct Registry {
    /// The environments, in display order.
    pub environments: Vec<EnvironmentEntry>,
    /// The task datasets, in display order.
    pub datasets: Vec<DatasetEntry>,
}

impl Registry {
    /// The names of the environments, in display order.
    pub fn available(&self) -> impl Iterator<Item = &'static str> {
        self.environments.iter().map(|entry| entry.name)
    }

    /// The entry of an environment.
    pub fn environment(&self, name: &str) -> Result<&EnvironmentEntry, RegistryError> {
        let entry = self.environments.iter().find(|entry| entry.name == name);
        entry.ok_or_else(|| RegistryError::UnknownName { name: name.into() })
    }

    /// The entry of a task dataset.
    pub fn dataset(&self, name: &str) -> Result<&DatasetEntry, RegistryError> {
        let entry = self.datasets.iter().find(|entry| entry.name == name);
        entry.ok_or_else(|| RegistryError::UnknownName { name: name.into() })
    }

    /// Makes an environment from either a task text or a configuration.
    pub fn environment_from_name(
        &self,
        name: &str,
        task: Option<&str>,
        configuration: &Object,
        setting: &Setting,
    ) -> Result<Box<dyn Environment>, RegistryError> {
        let entry = self.environment(name)?;
        let Some(task) = task else {
            return entry.make(configuration, setting);
        };
        if !configuration.is_empty() {
            return Err(RegistryError::TaskAndSettings);
        }
        entry.make_from_task(task, setting)
    }

    /// Lists the tasks of a dataset for arguments, with seed 0.
    pub fn tasks(&self, name: &str, arguments: &Object) -> Result<Vec<Task>, RegistryError> {
        let entry = self.dataset(name)?;
        (entry.tasks)(&checked(entry.configuration, arguments)?, 0)
    }

    /// Makes a task dataset from arguments.
    pub fn dataset_from_name(
        &self,
        name: &str,
        arguments: &Object,
        setting: &Setting,
    ) -> Result<Box<dyn TaskDataset>, RegistryError> {
        let entry = self.dataset(name)?;
        (entry.make)(&checked(entry.configuration, arguments)?, setting)
    }
}

impl EnvironmentEntry {
    /// Makes one from a configuration, which is first validated and completed with defaults.
    pub fn make(
        &self,
        configuration: &Object,
        setting: &Setting,
    ) -> Result<Box<dyn Environment>, RegistryError> {
        (self.make)(&checked(self.configuration, configuration)?, setting)
    }

    /// Makes one from a task text.
    pub fn make_from_task(
        &self,
        task: &str,
        setting: &Setting,
    ) -> Result<Box<dyn Environment>, RegistryError> {
        let from_task = self.from_task.ok_or_else(|| RegistryError::NoTasks {
            kind: self.name.into(),
        })?;
        self.make(&from_task(task), setting)
    }
}

/// The function that makes the schema of a configuration.
type Schema = fn() -> Json;

thread_local! {
    /// The last validated configuration, and its completed form. An evaluation makes thousands of environments with the
    /// same configuration, and validation takes as long as a step or two.
    static LAST: RefCell<Option<(Schema, Text, Object)>> = const { RefCell::new(None) };
}

/// The configuration completed with defaults, if it is valid.
fn checked(schema: Schema, configuration: &Object) -> Result<Object, RegistryError> {
    // Texts differ where values are equal: 1 and 1.0, and the order of keys.
    let given = configuration.to_python_text();
    let known = LAST.with_borrow(|last| {
        let (of, text, filled) = last.as_ref()?;
        // Functions with the same address are identical.
        (fn_addr_eq(*of, schema) && **text == *given).then(|| filled.clone())
    });
    if let Some(filled) = known {
        return Ok(filled);
    }
    let filled = filled(&schema(), configuration)?;
    LAST.set(Some((schema, given.into(), filled.clone())));
    Ok(filled)
}

fn filled(schema: &Json, configuration: &Object) -> Result<Object, RegistryError> {
    let mut filled = schema::with_defaults(schema, configuration);
    schema::read_scalars(schema, &mut filled);
    let value = Json::Object(filled);
    let problems = schema::check(schema, &value);
    match value {
        Json::Object(filled) if problems.is_empty() => Ok(filled),
        _ => Err(RegistryError::Schema { problems }),
    }
}

fn listed(problems: &[FieldError]) -> String {
    let problems: Vec<String> = problems.iter().map(ToString::to_string).collect();
    problems.join("; ")
}

/// Why something could not be made.
#[derive(Clone, Debug, PartialEq, thiserror::Error)]
#[non_exhaustive]
pub enum RegistryError {
    /// The name is unknown (aviary uses the same error for datasets).
    #[error("Unknown environment name: {name}")]
    UnknownName { name: Text },
    /// The registry only describes its environments; another program makes them.
    #[error("This registry only describes its environments.")]
    Described,
    /// Both a task and settings were given.
    #[error("Cannot pass both a task and environment kwargs.")]
    TaskAndSettings,
    /// The environment cannot be made from a task text.
    #[error("{kind} does not implement from_task")]
    NoTasks {
        /// The kind of environment.
        kind: Text,
    },
    /// The configuration does not match its schema.
    #[error("{}", listed(problems))]
    Schema {
        /// All violations, each with its path in the configuration.
        problems: Vec<FieldError>,
    },
    /// The configuration matches its schema, but is invalid.
    #[error("{key}: {reason}")]
    Configuration {
        /// The key of the invalid value.
        key: Text,
        reason: Text,
    },
}

#[cfg(test)]
mod tests {
    use std::rc::Rc;

    use super::*;
    use crate::clock::Standstill;
    use crate::dataset::EnvsTaskDataset;
    use crate::functional::FunctionalBuilder;
    use crate::json;
    use crate::virtual_clock::VirtualClock;

    /// An environment whose first observation is its configuration.
    const ECHO: EnvironmentEntry = EnvironmentEntry {
        name: "echo",
        summary: "Says how it is configured.",
        configuration: || {
            json!({
                "properties": {
                    "task": {"type": "string", "default": "none"},
                    "times": {"type": "integer", "default": 1, "minimum": 1}
                },
                "additionalProperties": false
            })
        },
        make: |configuration, setting| {
            let builder = FunctionalBuilder::start(|configuration| {
                Ok((configuration.to_python_text().into(), Object::new()))
            });
            Ok(Box::new(builder.make(configuration.clone(), setting)))
        },
        from_task: Some(|task| crate::object!({"task": task})),
        view: None,
        oracle: None,
    };

    fn registry() -> Registry {
        Registry {
            environments: vec![
                ECHO,
                EnvironmentEntry {
                    name: "mute",
                    from_task: None,
                    ..ECHO
                },
            ],
            datasets: vec![DatasetEntry {
                name: "none",
                summary: "No tasks.",
                configuration: || json!({"additionalProperties": false}),
                tasks: |_, _| Ok(Vec::new()),
                make: |_, _| Ok(Box::new(EnvsTaskDataset::new([]))),
            }],
        }
    }

    fn setting() -> Setting {
        Setting {
            seed: 0,
            clock: Rc::new(Standstill),
            outside: Rc::new(crate::outside::Closed),
        }
    }

    fn opening(name: &str, task: Option<&str>, configuration: Object) -> Result<Text, String> {
        let made = registry().environment_from_name(name, task, &configuration, &setting());
        let mut environment = made.map_err(|error| error.to_string())?;
        let reset = VirtualClock::new()
            .run(environment.reset())
            .unwrap()
            .unwrap();
        Ok(reset.messages[0].body().content.clone().unwrap())
    }

    #[test]
    fn configurations_are_checked_and_filled() {
        let told = |text: &str| Ok(text.into());
        for _ in 0..2 {
            assert_eq!(
                opening("echo", None, Object::new()),
                told(r#"{"task": "none", "times": 1}"#)
            );
        }
        assert_eq!(
            opening("echo", Some("owls"), Object::new()),
            told(r#"{"task": "owls", "times": 1}"#)
        );
        let unfit = crate::object!({"times": 0, "time": 1});
        assert_eq!(
            opening("echo", None, unfit),
            Err("times: must be at least 1; time: is unknown; known are task, times".into())
        );
    }

    #[test]
    fn names_and_tasks_that_do_not_fit() {
        assert_eq!(registry().available().collect::<Vec<_>>(), ["echo", "mute"]);
        assert_eq!(
            opening("nothing", None, Object::new()),
            Err("Unknown environment name: nothing".into())
        );
        assert_eq!(
            opening("echo", Some("a"), crate::object!({"times": 1})),
            Err("Cannot pass both a task and environment kwargs.".into())
        );
        assert_eq!(
            opening("mute", Some("a"), Object::new()),
            Err("mute does not implement from_task".into())
        );
    }

    #[test]
    fn datasets_by_name() {
        let make = |name: &str, arguments: Object| {
            let made = registry().dataset_from_name(name, &arguments, &setting());
            made.map(|dataset| dataset.length())
                .map_err(|error| error.to_string())
        };
        assert_eq!(make("none", Object::new()), Ok(Some(0)));
        assert_eq!(registry().tasks("none", &Object::new()), Ok(Vec::new()));
        assert!(registry().tasks("none", &crate::object!({"x": 1})).is_err());
        assert!(make("none", crate::object!({"x": 1})).is_err());
        assert_eq!(
            make("x", Object::new()),
            Err("Unknown environment name: x".to_owned())
        );
    }
}
