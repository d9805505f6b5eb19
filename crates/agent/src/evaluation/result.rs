//! What came of one cell.

use serde::{Deserialize, Serialize};
use volary_core::json::{Json, Text, from_json, to_json};
use volary_trajectory::{Ending, Episode};

use crate::model::ModelError;
use crate::model::limits::Spent;
use crate::model::selection::usage_of;
use crate::{PolicyError, RunnerError};

/// What came of a cell.
#[derive(Clone, Debug, PartialEq)]
pub struct CellResult {
    /// The place of the cell in the plan.
    pub cell: usize,
    /// How it went.
    pub status: Status,
    /// The sum of the rewards.
    pub reward: f64,
    /// What all tries of the cell spent, failed ones included.
    pub spent: Spent,
    /// How many tries there were, this one included.
    pub tries: u32,
    /// The name of the model that was asked, if any.
    pub model: Option<Text>,
}

/// A result as it is stored: with an ending, or with a failure and its message.
#[derive(Serialize, Deserialize)]
struct ResultRecord {
    cell: usize,
    reward: f64,
    steps: u64,
    seconds: f64,
    tokens: u64,
    cost: Option<f64>,
    tries: u32,
    #[serde(default, skip_serializing_if = "Option::is_none")]
    ending: Option<Text>,
    #[serde(default, skip_serializing_if = "Option::is_none")]
    failure: Option<FailureKind>,
    #[serde(default, skip_serializing_if = "Option::is_none")]
    message: Option<Text>,
    #[serde(default, skip_serializing_if = "Option::is_none")]
    model: Option<Text>,
}

/// How an episode of an evaluation went.
#[derive(Clone, Debug, PartialEq)]
pub enum Status {
    /// It came to an end that counts: "done", "truncated", or "open" if the policy had nothing more to do.
    Finished {
        /// Which.
        ending: Text,
    },
    /// It broke off. It counts for nothing, and can be tried again.
    Failed(Failure),
}

/// Why an episode broke off.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Failure {
    /// What kind of failure.
    pub kind: FailureKind,
    /// What failed and why, for people.
    pub message: Text,
}

/// Kinds of failures, stored by their words.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Serialize, Deserialize)]
#[serde(rename_all = "lowercase")]
#[non_exhaustive]
pub enum FailureKind {
    /// The environment could not be made or broke down.
    Environment,
    /// The server of the environments can't be used.
    Server,
    /// The policy does not fit.
    Policy,
    /// The key was refused.
    #[serde(rename = "key refused")]
    Key,
    /// Too many requests.
    #[serde(rename = "rate limit")]
    RateLimit,
    /// The provider failed.
    #[serde(rename = "provider failed")]
    Provider,
    /// The request was refused.
    #[serde(rename = "request refused")]
    Request,
    /// The provider could not be reached, or fell silent.
    Network,
    /// The answer could not be used.
    #[serde(rename = "unusable answer")]
    Answer,
    /// It took too long.
    Time,
}

impl FailureKind {
    /// All of them.
    pub const ALL: [FailureKind; 10] = [
        FailureKind::Environment,
        FailureKind::Server,
        FailureKind::Policy,
        FailureKind::Key,
        FailureKind::RateLimit,
        FailureKind::Provider,
        FailureKind::Request,
        FailureKind::Network,
        FailureKind::Answer,
        FailureKind::Time,
    ];

    /// The word for it, in tables and files.
    pub const fn word(self) -> &'static str {
        match self {
            FailureKind::Environment => "environment",
            FailureKind::Server => "server",
            FailureKind::Policy => "policy",
            FailureKind::Key => "key refused",
            FailureKind::RateLimit => "rate limit",
            FailureKind::Provider => "provider failed",
            FailureKind::Request => "request refused",
            FailureKind::Network => "network",
            FailureKind::Answer => "unusable answer",
            FailureKind::Time => "time",
        }
    }

    /// Whether it is the model, or the way to it, that failed.
    pub const fn is_of_model(self) -> bool {
        !matches!(
            self,
            FailureKind::Environment
                | FailureKind::Server
                | FailureKind::Policy
                | FailureKind::Time
        )
    }

    /// Whether going on with other cells is pointless until a person has done something.
    pub const fn concerns_all(self) -> bool {
        matches!(self, FailureKind::Key | FailureKind::Server)
    }
}

impl Failure {
    /// Of an environment.
    pub fn of_runner(error: &RunnerError) -> Self {
        let of_server = matches!(
            error,
            RunnerError::Elsewhere {
                concerns_all: true,
                ..
            }
        );
        Failure {
            kind: match of_server {
                true => FailureKind::Server,
                false => FailureKind::Environment,
            },
            message: error.to_string().into(),
        }
    }

    /// Of a policy without a model.
    pub fn of_policy(error: &PolicyError) -> Self {
        Failure {
            kind: FailureKind::Policy,
            message: error.to_string().into(),
        }
    }

    /// Of a model.
    pub fn of_model(error: &ModelError) -> Self {
        let kind = match error {
            ModelError::Status { status, .. } => match status {
                401 | 403 => FailureKind::Key,
                429 => FailureKind::RateLimit,
                408 | 500.. => FailureKind::Provider,
                _ => FailureKind::Request,
            },
            ModelError::Reported { .. } => FailureKind::Provider,
            ModelError::Unreachable { .. } | ModelError::Silent { .. } | ModelError::Cut => {
                FailureKind::Network
            }
            _ => FailureKind::Answer,
        };
        Failure {
            kind,
            message: error.to_string().into(),
        }
    }
}

impl CellResult {
    /// Of an episode that came to an end, with what was spent on it.
    pub fn finished(cell: usize, episode: &Episode, spent: Spent, tries: u32) -> Self {
        let finished = |ending: &str| Status::Finished {
            ending: ending.into(),
        };
        let status = match &episode.ending {
            Ending::Crashed { message } => Status::Failed(Failure {
                kind: FailureKind::Environment,
                message: message.clone(),
            }),
            Ending::Done => finished("done"),
            Ending::Truncated { .. } => finished("truncated"),
            Ending::Open => finished("open"),
        };
        CellResult {
            cell,
            status,
            reward: episode.total_reward(),
            spent,
            tries,
            model: None,
        }
    }

    /// Of an episode that broke off.
    pub fn failed(cell: usize, failure: Failure, reward: f64, spent: Spent, tries: u32) -> Self {
        CellResult {
            cell,
            status: Status::Failed(failure),
            reward,
            spent,
            tries,
            model: None,
        }
    }

    /// Whether it counts.
    pub fn is_finished(&self) -> bool {
        matches!(self.status, Status::Finished { .. })
    }

    /// As it is stored.
    pub fn to_json(&self) -> Json {
        let (ending, failure) = match &self.status {
            Status::Finished { ending } => (Some(ending.clone()), None),
            Status::Failed(failure) => (None, Some(failure)),
        };
        let record = ResultRecord {
            cell: self.cell,
            reward: self.reward,
            steps: self.spent.steps,
            seconds: self.spent.seconds,
            tokens: self.spent.tokens,
            cost: self.spent.cost,
            tries: self.tries,
            ending,
            failure: failure.map(|failure| failure.kind),
            message: failure.map(|failure| failure.message.clone()),
            model: self.model.clone(),
        };
        // Texts and numbers can always be written.
        to_json(&record).unwrap_or_default()
    }

    /// From what was stored; `None` if that is no result.
    pub fn read(value: &Json) -> Option<Self> {
        let record: ResultRecord = from_json(value).ok()?;
        let status = match (record.ending, record.failure) {
            (Some(ending), _) => Status::Finished { ending },
            (None, Some(kind)) => Status::Failed(Failure {
                kind,
                message: record.message?,
            }),
            (None, None) => return None,
        };
        Some(CellResult {
            cell: record.cell,
            status,
            reward: record.reward,
            spent: Spent {
                steps: record.steps,
                seconds: record.seconds,
                tokens: record.tokens,
                cost: record.cost,
            },
            tries: record.tries,
            model: record.model,
        })
    }
}

/// What the steps of an episode spent, as far as the episode tells: steps, seconds, tokens. `cost` prices the
/// usage of one answer; it is asked for steps of models alone.
pub fn spent_of(episode: &Episode, cost: impl Fn(&crate::model::Usage) -> Option<f64>) -> Spent {
    let mut spent = Spent::default();
    for step in &episode.steps {
        spent.steps += 1;
        spent.add_seconds(step.seconds.unwrap_or_default());
        if let volary_core::AnyMessage::Request(action) = &step.action
            && let Some(usage) = usage_of(action)
        {
            spent.add_answer(Some(&usage), cost(&usage));
        }
    }
    spent
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn results_come_back() {
        let spent = Spent {
            steps: 3,
            seconds: 0.25,
            tokens: 120,
            cost: None,
        };
        let finished = CellResult::finished(7, &Episode::default(), spent, 1);
        for kind in FailureKind::ALL {
            let failure = Failure {
                kind,
                message: "It did.".into(),
            };
            let failed = CellResult::failed(8, failure, -1.0, Spent::default(), 2);
            for result in [finished.clone(), failed] {
                let text = result.to_json().to_python_text();
                let read = CellResult::read(&Json::parse(&text).unwrap());
                assert_eq!(read, Some(result));
            }
        }
        assert_eq!(CellResult::read(&Json::Null), None);
    }

    #[test]
    fn a_crash_is_no_result_that_counts() {
        let crashed = Episode {
            ending: Ending::Crashed {
                message: "oh".into(),
            },
            ..Episode::default()
        };
        assert!(!CellResult::finished(0, &crashed, Spent::default(), 1).is_finished());
        assert!(CellResult::finished(0, &Episode::default(), Spent::default(), 1).is_finished());
    }
}
