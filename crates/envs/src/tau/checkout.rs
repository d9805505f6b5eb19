//! Reads domains from the original's own files, which the user provides: data as JSON, tasks as Python
//! literals, the policy as Markdown.

use std::sync::Arc;

use volary_core::json::Text;
use volary_core::{Json, Object, Tool};

use super::database::{Database, Table};
use super::domain::{Action, Domain, Task};
use super::environment::definition;
use super::hash::data_hash;
use super::literal::{LiteralError, assigned, returned};
use super::state::State;
use super::tool::TauTool;
use super::{airline, retail};

/// A domain of the original.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Original {
    /// Orders of a shop.
    Retail,
    /// Flights and reservations.
    Airline,
}

/// A split of the tasks.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Split {
    /// The tasks for reported results.
    Test,
    /// More tasks, without outputs. Retail only.
    Train,
    /// A few tasks for development. Retail only.
    Dev,
}

/// The hash of data or tasks, and its expected value.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Fingerprint {
    /// The hash of the data or tasks that were read.
    pub found: String,
    /// The hash of the original at its commit 59a200c.
    pub original: &'static str,
}

/// Why a checkout cannot be read.
#[derive(Clone, Debug, PartialEq, Eq, thiserror::Error)]
#[non_exhaustive]
pub enum CheckoutError {
    /// A file is missing.
    #[error("{path} is missing; bring the whole repository of tau-bench")]
    Missing {
        /// Its path from the root of the repository.
        path: String,
    },
    /// A file is malformed.
    #[error("{path}: {reason}")]
    Malformed {
        /// The file.
        path: String,
        reason: String,
    },
    /// The domain does not have this split.
    #[error("Unknown task split: {split}")]
    UnknownSplit {
        /// The name.
        split: String,
    },
}

/// Returns the text of a file of the checkout by its path from the root.
pub type ReadFile<'a> = &'a dyn Fn(&str) -> Option<Text>;

impl Fingerprint {
    /// Whether the hashes are equal. If not, the checkout is of another commit, incomplete, or
    /// edited, and results are not comparable.
    pub fn is_original(&self) -> bool {
        self.found == self.original
    }
}

impl Original {
    /// Both domains.
    pub const ALL: [Original; 2] = [Original::Retail, Original::Airline];

    /// The domain with this name.
    pub fn from_name(name: &str) -> Option<Original> {
        Original::ALL.into_iter().find(|one| one.name() == name)
    }

    pub const fn name(self) -> &'static str {
        match self {
            Original::Retail => "retail",
            Original::Airline => "airline",
        }
    }

    pub const fn tools(self) -> &'static [TauTool] {
        match self {
            Original::Retail => retail::TOOLS,
            Original::Airline => airline::TOOLS,
        }
    }

    const fn tables(self) -> [&'static str; 3] {
        match self {
            Original::Retail => ["orders", "products", "users"],
            Original::Airline => ["flights", "reservations", "users"],
        }
    }

    /// The hash of the original's data.
    const fn data_hash(self) -> &'static str {
        match self {
            Original::Retail => "5a4b2cb59f4d12dea7e4adff24a7f8fada510ead49372ea4a729a82bbb5f49b5",
            Original::Airline => "4587e6b48ad2b2c4f3e1fecb40aabec7bb2286513273b8f8cec3f5865222f290",
        }
    }

    fn path(self, file: &str) -> String {
        format!("tau_bench/envs/{}/{file}", self.name())
    }

    /// The paths of all files of a domain.
    pub fn paths(self, split: Split) -> Vec<String> {
        let data = self.tables().map(|table| format!("data/{table}.json"));
        let others = ["wiki.md".to_owned(), split.file()];
        data.into_iter()
            .chain(others)
            .map(|file| self.path(&file))
            .collect()
    }

    /// Reads the data.
    ///
    /// # Errors
    ///
    /// A file is missing or not an object of objects.
    pub fn database(self, read: ReadFile<'_>) -> Result<Arc<Database>, CheckoutError> {
        let tables = self.tables().map(|table| {
            let path = self.path(&format!("data/{table}.json"));
            let text = text_of(read, &path)?;
            let malformed = |reason: String| CheckoutError::Malformed {
                path: path.clone(),
                reason,
            };
            match Json::parse(&text).map_err(|error| malformed(error.to_string()))? {
                Json::Object(records) if records.values().all(|one| one.as_object().is_some()) => {
                    Ok(Table::new(table, records))
                }
                _ => Err(malformed("an object of objects is needed".to_owned())),
            }
        });
        let tables = tables.into_iter().collect::<Result<_, _>>()?;
        Ok(Arc::new(Database::new(tables)))
    }

    /// Reads the tasks.
    ///
    /// # Errors
    ///
    /// The file is missing or not a list of tasks, or the domain does not have the split.
    pub fn tasks(self, split: Split, read: ReadFile<'_>) -> Result<Vec<Task>, CheckoutError> {
        let name = match (self, split) {
            (Original::Retail, Split::Test) => "TASKS_TEST",
            (Original::Retail, Split::Train) => "TASKS_TRAIN",
            (Original::Retail, Split::Dev) => "TASKS_DEV",
            (Original::Airline, Split::Test) => "TASKS",
            (Original::Airline, _) => {
                return Err(CheckoutError::UnknownSplit {
                    split: split.name().to_owned(),
                });
            }
        };
        let path = self.path(&split.file());
        let source = text_of(read, &path)?;
        tasks(&source, name).map_err(|error| CheckoutError::Malformed {
            path,
            reason: error.to_string(),
        })
    }

    /// The definitions of the tools for a model: the original's descriptions if their files are present, else this
    /// project's.
    ///
    /// # Errors
    ///
    /// A file is present, but does not define its tool.
    pub fn definitions(self, read: ReadFile<'_>) -> Result<Vec<Arc<Tool>>, CheckoutError> {
        let tools = self.tools().iter().map(|tool| {
            let path = self.path(&format!("tools/{}.py", tool.name));
            let Some(source) = read(&path) else {
                return Ok(Arc::new(definition(tool)));
            };
            let malformed = |reason: String| CheckoutError::Malformed {
                path: path.clone(),
                reason,
            };
            let info = returned(&source, "get_info");
            let info = info.map_err(|error| malformed(error.to_string()))?;
            let read = Tool::read(&info).map_err(|error| malformed(error.to_string()))?;
            if *read.info.name == *tool.name {
                Ok(Arc::new(read))
            } else {
                Err(malformed(format!("the tool is not {}", tool.name)))
            }
        });
        tools.collect()
    }

    /// Reads the whole domain.
    ///
    /// # Errors
    ///
    /// See [`Original::database`] and [`Original::tasks`]; or the policy is missing.
    pub fn read(self, split: Split, read: ReadFile<'_>) -> Result<Domain, CheckoutError> {
        Ok(Domain {
            name: self.name(),
            tools: self.tools(),
            definitions: self.definitions(read)?,
            database: self.database(read)?,
            policy: text_of(read, &self.path("wiki.md"))?,
            tasks: self.tasks(split, read)?,
        })
    }

    /// Compares the data with the original's.
    pub fn data_fingerprint(self, domain: &Domain) -> Fingerprint {
        Fingerprint {
            found: State::new(Arc::clone(&domain.database)).hash(),
            original: self.data_hash(),
        }
    }

    /// Compares the tasks with the original's.
    pub fn task_fingerprint(self, split: Split, tasks: &[Task]) -> Fingerprint {
        let all: Vec<Json> = tasks.iter().map(Task::to_json).collect();
        Fingerprint {
            found: data_hash(&Json::List(all)),
            original: match (self, split) {
                (Original::Retail, Split::Test) => {
                    "d5c3f6bb509885f8061a297164e1d9aabf37df1f0b6ea0f4084680cac2539d7f"
                }
                (Original::Retail, Split::Train) => {
                    "e22307278bf749ef4fdf0e6e12491f35363d818ff97adaba8d1cf6e3fb54695e"
                }
                (Original::Retail, Split::Dev) => {
                    "ea1ed35a4d06d901e7000b32c295b28c2043cc098967f26ba56c6b8ef51964b5"
                }
                (Original::Airline, _) => {
                    "41e8e6dd4d27c12ddd2ee686d35af92c6570b7b5f6014b097302f7ca9447969e"
                }
            },
        }
    }
}

impl Split {
    /// All splits.
    pub const ALL: [Split; 3] = [Split::Test, Split::Train, Split::Dev];

    /// The split with this name.
    pub fn from_name(name: &str) -> Result<Split, CheckoutError> {
        let found = Split::ALL.into_iter().find(|split| split.name() == name);
        found.ok_or_else(|| CheckoutError::UnknownSplit {
            split: name.to_owned(),
        })
    }

    pub const fn name(self) -> &'static str {
        match self {
            Split::Test => "test",
            Split::Train => "train",
            Split::Dev => "dev",
        }
    }

    fn file(self) -> String {
        format!("tasks_{}.py", self.name())
    }
}

fn text_of(read: ReadFile<'_>, path: &str) -> Result<Text, CheckoutError> {
    read(path).ok_or_else(|| CheckoutError::Missing {
        path: path.to_owned(),
    })
}

/// The tasks in the list assigned to a name.
fn tasks(source: &str, name: &str) -> Result<Vec<Task>, LiteralError> {
    let fault = |index: usize, reason: &str| LiteralError {
        line: 1,
        reason: format!("{name}[{index}]: {reason}"),
    };
    let Json::List(list) = assigned(source, name)? else {
        return Err(fault(0, "a list of tasks is needed"));
    };
    let tasks = list.iter().enumerate();
    tasks
        .map(|(index, task)| {
            let wrong = || {
                fault(
                    index,
                    "user_id, instruction, actions and outputs are needed",
                )
            };
            Task::from_json(task).ok_or_else(wrong)
        })
        .collect()
}

impl Task {
    /// The serialized task.
    pub fn to_json(&self) -> Json {
        let actions: Vec<Json> = self.actions.iter().map(Action::to_json).collect();
        volary_core::json!({
            "user_id": (self.user_id.clone()),
            "actions": actions,
            "instruction": (self.instruction.clone()),
            "outputs": (self.outputs.clone()),
        })
    }

    /// Reads a serialized task; `None` if a member is missing or has another type.
    pub fn from_json(task: &Json) -> Option<Task> {
        let text = |key: &str| task.get(key)?.as_text().cloned();
        let actions = task.get("actions")?.as_list()?.iter();
        let outputs = task.get("outputs")?.as_list()?.iter();
        Some(Task {
            user_id: text("user_id")?,
            instruction: text("instruction")?,
            actions: actions.map(Action::from_json).collect::<Option<_>>()?,
            outputs: outputs
                .map(|one| one.as_text().cloned())
                .collect::<Option<_>>()?,
        })
    }
}

impl Action {
    /// Reads a serialized action.
    pub fn from_json(action: &Json) -> Option<Action> {
        let kwargs: &Object = action.get("kwargs")?.as_object()?;
        Some(Action {
            name: action.get("name")?.as_text()?.clone(),
            kwargs: kwargs.clone(),
        })
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    /// A minimal checkout.
    fn file(path: &str) -> Option<Text> {
        let name = path.strip_prefix("tau_bench/envs/retail/")?;
        let text = match name {
            "data/orders.json" | "data/products.json" => "{}",
            "data/users.json" => r#"{"ana_1": {"email": "a@example.com", "balance": 1.0}}"#,
            "wiki.md" => "Be kind.",
            "tasks_test.py" => {
                "TASKS_TEST = [Task(annotator=\"0\", user_id=\"ana_1\", instruction=\"i\", \
                 actions=[Action(name=\"think\", kwargs={\"thought\": \"x\"})], outputs=[])]\n"
            }
            "tools/think.py" => {
                "class Think(Tool):\n    def get_info():\n        return {\"type\": \"function\", \
                 \"function\": {\"name\": \"think\", \"description\": \"Muse.\", \"parameters\": \
                 {\"type\": \"object\", \"properties\": {}, \"required\": []}}}\n"
            }
            "tasks_dev.py" => "TASKS_DEV = [Task(user_id=1)]",
            _ => return None,
        };
        Some(text.into())
    }

    #[test]
    fn a_domain_is_read_and_edits_are_found() {
        let domain = Original::Retail.read(Split::Test, &file).unwrap();
        assert_eq!(&*domain.policy, "Be kind.");
        assert_eq!(&*domain.tasks[0].actions[0].name, "think");
        let told = |name: &str| {
            let named = |tool: &&Arc<Tool>| &*tool.info.name == name;
            domain
                .definitions
                .iter()
                .find(named)
                .map(|tool| tool.info.description.to_string())
        };
        assert_eq!(told("think").as_deref(), Some("Muse."));
        assert_eq!(
            told("calculate").as_deref(),
            Some(crate::tau::common::CALCULATE.description)
        );
        let data = Original::Retail.data_fingerprint(&domain);
        assert!(!data.is_original() && data.found.len() == 64);
        let tasks = Original::Retail.task_fingerprint(Split::Test, &domain.tasks);
        assert!(!tasks.is_original());
    }

    #[test]
    fn what_is_missing_or_malformed_is_named() {
        let error = |original: Original, split| {
            original
                .read(split, &file)
                .err()
                .map(|error| error.to_string())
        };
        let said = |text: &str| Some(text.to_owned());
        assert_eq!(
            error(Original::Retail, Split::Train),
            said(
                "tau_bench/envs/retail/tasks_train.py is missing; bring the whole repository of tau-bench"
            )
        );
        assert_eq!(
            error(Original::Retail, Split::Dev),
            said(
                "tau_bench/envs/retail/tasks_dev.py: line 1: TASKS_DEV[0]: user_id, instruction, \
                 actions and outputs are needed"
            )
        );
        let no_object = |_: &str| Some(Text::from("[]"));
        let error = Original::Airline
            .database(&no_object)
            .err()
            .map(|error| error.to_string());
        assert_eq!(
            error,
            said("tau_bench/envs/airline/data/flights.json: an object of objects is needed")
        );
        assert_eq!(
            Original::Airline
                .tasks(Split::Dev, &file)
                .err()
                .map(|error| error.to_string()),
            said("Unknown task split: dev")
        );
    }
}
