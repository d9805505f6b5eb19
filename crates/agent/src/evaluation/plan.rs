//! The plan of an evaluation, and its cells.

use serde::{Deserialize, Serialize};
use volary_core::json::{Json, Object, Text, from_json, to_json};
use volary_core::random::Random;
use volary_episode::{Recipe, TaskReference};

use crate::Fault;
use crate::model::limits::Budget;

/// An evaluation as it was set up. It contains its tasks in full, so that it can resume without the dataset.
#[derive(Clone, Debug, Default, PartialEq)]
pub struct Plan {
    /// The display name.
    pub name: Text,
    /// The dataset of the tasks; `None` if the tasks are seeds of one environment.
    pub dataset: Option<Text>,
    pub tasks: Vec<PlannedTask>,
    /// The policies to evaluate.
    pub policies: Vec<PlannedPolicy>,
    /// The number of trials of each policy at each task; at least 1.
    pub trials: usize,
    /// The base seed, from which all seeds are derived. Below 2^53.
    pub seed: u64,
    /// The success threshold: the lowest total reward of a success.
    pub success: f64,
    /// Rate limits and budget.
    pub pace: Pace,
}

/// Rate limits and budget of an evaluation.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct Pace {
    /// The number of concurrent episodes with models; at least 1.
    pub concurrency: usize,
    /// Requests to one model within any 60 seconds.
    pub requests_per_minute: Option<u64>,
    /// Tokens of one model within any 60 seconds.
    pub tokens_per_minute: Option<u64>,
    /// The budget of all episodes together (tokens and cost).
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

#[derive(Clone, Debug, PartialEq)]
pub struct PlannedTask {
    /// Its id within the dataset.
    pub id: Text,
    /// The display title.
    pub title: Text,
    pub environment: Text,
    pub configuration: Object,
}

/// A policy under a name.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
pub struct PlannedPolicy {
    /// The name, unique within the plan.
    pub name: Text,
    pub actor: Actor,
    /// The maximum number of steps of an episode.
    pub max_steps: usize,
}

/// The kind of a policy with its settings, stored under its name.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
#[serde(tag = "kind", rename_all = "lowercase")]
pub enum Actor {
    /// Random tool calls.
    Random,
    /// The environment's own solution.
    Oracle,
    /// The scripted student.
    Student {
        /// Its fault; drawn from the seed of the episode if `None`.
        #[serde(default)]
        fault: Option<Fault>,
    },
    /// The actions of a script.
    Scripted {
        /// The script, as `Scripted::parse` reads it.
        script: Text,
    },
    Model {
        /// The name of the connection.
        connection: Text,
        /// The request settings, in the format of the page's form for model policies.
        settings: Object,
    },
}

/// The stored form of a plan.
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

/// The stored form of a task. Members equal to those of the previous task are omitted: a thousand seeds of one
/// environment store it once.
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

/// A selection of tasks of a dataset.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Selection {
    /// All tasks.
    All,
    /// A range with both ends included, counted from 1.
    Range { first: usize, last: usize },
    /// A random sample.
    Sample {
        /// The number of tasks.
        count: usize,
        /// The same seed draws the same tasks.
        seed: u64,
    },
}

impl Selection {
    /// The selected indices below `length`, in order.
    pub fn indices(self, length: usize) -> Vec<usize> {
        match self {
            Selection::All => (0..length).collect(),
            Selection::Range { first, last } => (first.max(1) - 1..last.min(length)).collect(),
            Selection::Sample { count, seed } => {
                let mut indices: Vec<usize> = (0..length).collect();
                Random::new(seed).shuffle(&mut indices);
                indices.truncate(count);
                indices.sort_unstable();
                indices
            }
        }
    }
}

/// One episode of an evaluation: a trial of a policy at a task.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Cell {
    /// The index in the plan.
    pub number: usize,
    /// The index of the task.
    pub task: usize,
    /// The index of the policy.
    pub policy: usize,
    /// The number of the trial, from 0.
    pub trial: usize,
}

impl Plan {
    /// The number of cells.
    pub fn length(&self) -> usize {
        self.tasks.len() * self.policies.len() * self.trials
    }

    /// A cell by its index. All tasks are tried once before any is tried twice, so that intermediate results cover all
    /// tasks.
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
            trial: number / round,
        })
    }

    /// The index of a cell.
    pub fn number(&self, task: usize, policy: usize, trial: usize) -> usize {
        (trial * self.tasks.len() + task) * self.policies.len() + policy
    }

    /// The task of a cell.
    pub fn task(&self, cell: Cell) -> Option<&PlannedTask> {
        self.tasks.get(cell.task)
    }

    /// The policy of a cell.
    pub fn policy(&self, cell: Cell) -> Option<&PlannedPolicy> {
        self.policies.get(cell.policy)
    }

    /// The recipe of a cell's environment. It is the same for all policies.
    pub fn recipe(&self, cell: Cell) -> Option<Recipe> {
        let task = self.task(cell)?;
        Some(Recipe {
            environment: task.environment.clone(),
            configuration: task.configuration.clone(),
            seed: self.drawn(&format!("task {} repeat {}", cell.task, cell.trial)),
            task: self.dataset.as_ref().map(|dataset| TaskReference {
                dataset: dataset.clone(),
                id: task.id.clone(),
            }),
        })
    }

    /// The seed of the policy of a cell.
    pub fn policy_seed(&self, cell: Cell) -> u64 {
        self.drawn(&format!("policy of cell {}", cell.number))
    }

    fn drawn(&self, label: &str) -> u64 {
        // Below 2^53, so that every JSON reader keeps it.
        Random::new(self.seed).fork(label).next_u64() >> 11
    }

    /// The stored form.
    pub fn to_json(&self) -> Json {
        let former = std::iter::once(None).chain(self.tasks.iter().map(Some));
        let tasks = self.tasks.iter().zip(former).map(|(task, former)| {
            let is_same = former.is_some_and(|former| former.makes_the_same(task));
            let (environment, configuration) = if is_same {
                (None, None)
            } else {
                (Some(&task.environment), Some(&task.configuration))
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
            repeats: self.trials,
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
        // Texts, numbers and values always serialize.
        to_json(&record).unwrap_or_default()
    }

    /// Reads the stored form; `None` if the value is not a plan.
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
            trials: record.repeats,
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
    /// Whether both make the same environment, with equal order of keys.
    fn makes_the_same(&self, other: &PlannedTask) -> bool {
        self.environment == other.environment
            && (self.configuration.iter()).eq(other.configuration.iter())
    }
}

impl Actor {
    /// The stored form.
    pub fn to_json(&self) -> Json {
        // Texts and values always serialize.
        to_json(self).unwrap_or_default()
    }

    /// Reads the stored form; `None` if the value is not an actor.
    pub fn read(value: &Json) -> Option<Self> {
        from_json(value).ok()
    }

    /// Its identifier in files.
    pub fn as_str(&self) -> &'static str {
        match self {
            Actor::Random => "random",
            Actor::Oracle => "oracle",
            Actor::Student { .. } => "student",
            Actor::Scripted { .. } => "scripted",
            Actor::Model { .. } => "model",
        }
    }

    /// Whether it asks a model, which costs money and time.
    pub fn is_model(&self) -> bool {
        matches!(self, Actor::Model { .. })
    }
}

#[cfg(test)]
mod tests;
