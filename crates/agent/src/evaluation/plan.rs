//! What an evaluation is to do, and the cells that follow from it.

use serde::{Deserialize, Serialize};
use volary_core::json::{Json, Object, Text, from_json, to_json};
use volary_core::random::Random;
use volary_trajectory::{Recipe, TaskReference};

use crate::model::limits::Budget;

/// An evaluation as it was set up. It holds its tasks whole, so that it can go on without the dataset.
#[derive(Clone, Debug, Default, PartialEq)]
pub struct Plan {
    /// What a person calls it.
    pub name: Text,
    /// The dataset that the tasks are of; `None` for tasks that are seeds of one environment.
    pub dataset: Option<Text>,
    /// The tasks.
    pub tasks: Vec<PlannedTask>,
    /// What acts.
    pub policies: Vec<PlannedPolicy>,
    /// How often each policy tries each task; at least 1.
    pub repeats: usize,
    /// What all seeds follow from. Below 2^53.
    pub seed: u64,
    /// The total reward from which an episode is a success.
    pub success: f64,
    /// How fast, and how much.
    pub pace: Pace,
}

/// How fast an evaluation may go, and how much it may spend.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct Pace {
    /// How many episodes of models run at once; at least 1.
    pub concurrency: usize,
    /// Requests to one model within any 60 seconds.
    pub requests_per_minute: Option<u64>,
    /// Tokens of one model within any 60 seconds.
    pub tokens_per_minute: Option<u64>,
    /// The most that all episodes together may spend (tokens and cost).
    pub budget: Budget,
}

impl Default for Pace {
    fn default() -> Self {
        Pace {
            concurrency: 4,
            requests_per_minute: None,
            tokens_per_minute: None,
            budget: Budget::default(),
        }
    }
}

/// A task.
#[derive(Clone, Debug, PartialEq)]
pub struct PlannedTask {
    /// Its id within the dataset.
    pub id: Text,
    /// What a person reads.
    pub title: Text,
    /// The environment.
    pub environment: Text,
    /// Its configuration.
    pub configuration: Object,
}

/// A policy under a name.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
pub struct PlannedPolicy {
    /// The name, unique within the plan.
    pub name: Text,
    /// What acts.
    pub actor: Actor,
    /// The most steps of an episode.
    pub max_steps: usize,
}

/// What acts, stored under its name.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
#[serde(tag = "kind", rename_all = "lowercase")]
pub enum Actor {
    /// Random calls.
    Random,
    /// The environment's own solution.
    Oracle,
    /// The actions of a script.
    Scripted {
        /// The script, as `Scripted::parse` reads it.
        script: Text,
    },
    /// A model.
    Model {
        /// The name of the connection.
        connection: Text,
        /// How it is asked, as the page's form of model policies says it.
        settings: Object,
    },
}

/// A plan as it is stored.
#[derive(Serialize, Deserialize)]
struct PlanRecord {
    name: Text,
    #[serde(default)]
    dataset: Option<Text>,
    tasks: Vec<TaskRecord>,
    policies: Vec<PlannedPolicy>,
    repeats: usize,
    seed: u64,
    success: f64,
    pace: PaceRecord,
}

/// A task as it is stored. What makes its environment is left out where it is as in the task before: a thousand
/// seeds of one environment store it once.
#[derive(Serialize, Deserialize)]
struct TaskRecord {
    id: Text,
    title: Text,
    #[serde(default, skip_serializing_if = "Option::is_none")]
    environment: Option<Text>,
    #[serde(default, skip_serializing_if = "Option::is_none")]
    configuration: Option<Object>,
}

#[derive(Serialize, Deserialize)]
struct PaceRecord {
    concurrency: usize,
    #[serde(default)]
    requests_per_minute: Option<u64>,
    #[serde(default)]
    tokens_per_minute: Option<u64>,
    #[serde(default)]
    tokens: Option<u64>,
    /// US dollars.
    #[serde(default)]
    cost: Option<f64>,
}

/// Which tasks of a dataset.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Selection {
    /// All of them.
    All,
    /// From the first to the last, both included, counted from 1.
    Range {
        /// The first.
        first: usize,
        /// The last.
        last: usize,
    },
    /// So many, drawn by a seed.
    Sample {
        /// How many.
        count: usize,
        /// The same seed draws the same tasks.
        seed: u64,
    },
}

impl Selection {
    /// The selected places out of this many, in order.
    pub fn places(self, length: usize) -> Vec<usize> {
        match self {
            Selection::All => (0..length).collect(),
            Selection::Range { first, last } => (first.max(1) - 1..last.min(length)).collect(),
            Selection::Sample { count, seed } => {
                let mut places: Vec<usize> = (0..length).collect();
                Random::new(seed).shuffle(&mut places);
                places.truncate(count);
                places.sort_unstable();
                places
            }
        }
    }
}

/// One episode of an evaluation: which policy tries which task for which time.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Cell {
    /// Its place in the plan.
    pub number: usize,
    /// The place of the task.
    pub task: usize,
    /// The place of the policy.
    pub policy: usize,
    /// Which try, from 0.
    pub repeat: usize,
}

impl Plan {
    /// How many cells there are.
    pub fn length(&self) -> usize {
        self.tasks.len() * self.policies.len() * self.repeats
    }

    /// A cell by its place. All tasks are tried once before any is tried twice, so that what is known
    /// midway says something of all.
    pub fn cell(&self, number: usize) -> Option<Cell> {
        if number >= self.length() {
            return None;
        }
        let policies = self.policies.len();
        let round = self.tasks.len() * policies;
        Some(Cell {
            number,
            task: number % round / policies,
            policy: number % policies,
            repeat: number / round,
        })
    }

    /// The place of a cell.
    pub fn number(&self, task: usize, policy: usize, repeat: usize) -> usize {
        (repeat * self.tasks.len() + task) * self.policies.len() + policy
    }

    /// The task of a cell.
    pub fn task(&self, cell: Cell) -> Option<&PlannedTask> {
        self.tasks.get(cell.task)
    }

    /// The policy of a cell.
    pub fn policy(&self, cell: Cell) -> Option<&PlannedPolicy> {
        self.policies.get(cell.policy)
    }

    /// What makes the environment of a cell. All policies meet the same environments.
    pub fn recipe(&self, cell: Cell) -> Option<Recipe> {
        let task = self.task(cell)?;
        Some(Recipe {
            environment: task.environment.clone(),
            configuration: task.configuration.clone(),
            seed: self.drawn(&format!("task {} repeat {}", cell.task, cell.repeat)),
            task: self.dataset.as_ref().map(|dataset| TaskReference {
                dataset: dataset.clone(),
                id: task.id.clone(),
            }),
        })
    }

    /// The seed of whatever is random in the policy of a cell.
    pub fn policy_seed(&self, cell: Cell) -> u64 {
        self.drawn(&format!("policy of cell {}", cell.number))
    }

    fn drawn(&self, label: &str) -> u64 {
        // Below 2^53, so that every JSON reader keeps it.
        Random::new(self.seed).fork(label).next_u64() >> 11
    }

    /// As it is stored.
    pub fn to_json(&self) -> Json {
        let former = std::iter::once(None).chain(self.tasks.iter().map(Some));
        let tasks = self.tasks.iter().zip(former).map(|(task, former)| {
            let is_same = former.is_some_and(|former| former.makes_the_same(task));
            let (environment, configuration) = match is_same {
                true => (None, None),
                false => (Some(&task.environment), Some(&task.configuration)),
            };
            TaskRecord {
                id: task.id.clone(),
                title: task.title.clone(),
                environment: environment.cloned(),
                configuration: configuration.cloned(),
            }
        });
        let pace = &self.pace;
        let record = PlanRecord {
            name: self.name.clone(),
            dataset: self.dataset.clone(),
            tasks: tasks.collect(),
            policies: self.policies.clone(),
            repeats: self.repeats,
            seed: self.seed,
            success: self.success,
            pace: PaceRecord {
                concurrency: pace.concurrency,
                requests_per_minute: pace.requests_per_minute,
                tokens_per_minute: pace.tokens_per_minute,
                tokens: pace.budget.tokens,
                cost: pace.budget.cost,
            },
        };
        // Texts, numbers and values can always be written.
        to_json(&record).unwrap_or_default()
    }

    /// From what was stored; `None` if that is no plan.
    pub fn read(value: &Json) -> Option<Self> {
        let record: PlanRecord = from_json(value).ok()?;
        let mut tasks: Vec<PlannedTask> = Vec::with_capacity(record.tasks.len());
        for task in record.tasks {
            let (environment, configuration) = match (task.environment, tasks.last()) {
                (None, Some(former)) => (former.environment.clone(), former.configuration.clone()),
                (environment, _) => (environment?, task.configuration?),
            };
            tasks.push(PlannedTask {
                id: task.id,
                title: task.title,
                environment,
                configuration,
            });
        }
        let pace = record.pace;
        Some(Plan {
            name: record.name,
            dataset: record.dataset,
            tasks,
            policies: record.policies,
            repeats: record.repeats,
            seed: record.seed,
            success: record.success,
            pace: Pace {
                concurrency: pace.concurrency,
                requests_per_minute: pace.requests_per_minute,
                tokens_per_minute: pace.tokens_per_minute,
                budget: Budget {
                    tokens: pace.tokens,
                    cost: pace.cost,
                    ..Budget::default()
                },
            },
        })
    }
}

impl PlannedTask {
    /// Whether the environments of both are alike to the order of keys.
    fn makes_the_same(&self, other: &PlannedTask) -> bool {
        self.environment == other.environment
            && (self.configuration.iter()).eq(other.configuration.iter())
    }
}

impl Actor {
    /// As it is stored.
    pub fn to_json(&self) -> Json {
        // Texts and values can always be written.
        to_json(self).unwrap_or_default()
    }

    /// From what was stored; `None` if that is no actor.
    pub fn read(value: &Json) -> Option<Self> {
        from_json(value).ok()
    }

    /// The word for it in files.
    pub fn word(&self) -> &'static str {
        match self {
            Actor::Random => "random",
            Actor::Oracle => "oracle",
            Actor::Scripted { .. } => "scripted",
            Actor::Model { .. } => "model",
        }
    }

    /// Whether its turns cost money and time elsewhere.
    pub fn is_model(&self) -> bool {
        matches!(self, Actor::Model { .. })
    }
}

#[cfg(test)]
mod tests;
