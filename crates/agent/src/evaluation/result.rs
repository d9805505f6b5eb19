//! The result of one cell.

use serde::{Deserialize, Serialize};
use volary_core::json::{Json, Text, from_json, to_json};
use volary_episode::{Ending, Episode};

use crate::model::ModelError;
use crate::model::limits::Spent;
use crate::model::selection::usage_of;
use crate::{PolicyError, RunnerError};

#[derive(Clone, Debug, PartialEq)]
pub struct CellResult {
    /// The index of the cell in the plan.
    pub cell: usize,
    /// Whether the episode counts or was aborted.
    pub status: Status,
    /// The sum of the rewards.
    pub reward: f64,
    /// The total cost of all attempts of the cell, including failed ones.
    pub spent: Spent,
    /// The number of attempts, including this one.
    pub attempts: u32,
    /// The name of the model, if one was asked.
    pub model: Option<Text>,
}

/// The stored form of a result: with an ending, or with a failure and its message.
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

/// The outcome of an episode of an evaluation.
#[derive(Clone, Debug, PartialEq)]
pub enum Status {
    /// It ended and counts: "done", "truncated", or "open" if the policy had no further action.
    Finished { ending: Text },
    /// It was aborted. It is excluded from statistics and can be retried.
    Failed(Failure),
}

/// Why an episode was aborted.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Failure {
    pub kind: FailureKind,
    /// What failed and why, for people.
    pub message: Text,
}

/// Categories of failures, stored by their identifiers.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Serialize, Deserialize)]
#[serde(rename_all = "lowercase")]
#[non_exhaustive]
pub enum FailureKind {
    /// The environment could not be made, or crashed.
    Environment,
    /// The environment server is unavailable.
    Server,
    /// The policy does not suit the environment.
    Policy,
    /// The provider rejected the key.
    #[serde(rename = "key refused")]
    Key,
    /// The rate limit was exceeded.
    #[serde(rename = "rate limit")]
    RateLimit,
    /// The provider failed with a server error.
    #[serde(rename = "provider failed")]
    Provider,
    /// The provider rejected the request.
    #[serde(rename = "request refused")]
    Request,
    /// The provider could not be reached, or the connection timed out.
    Network,
    /// The answer was unusable.
    #[serde(rename = "unusable answer")]
    Answer,
    /// The time limit was exceeded.
    Time,
}

impl FailureKind {
    /// All categories.
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

    /// The identifier in tables and files.
    pub const fn as_str(self) -> &'static str {
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

    /// Whether the model, or the connection to it, failed.
    pub const fn is_of_model(self) -> bool {
        !matches!(
            self,
            FailureKind::Environment
                | FailureKind::Server
                | FailureKind::Policy
                | FailureKind::Time
        )
    }

    /// Whether all further cells would fail as well until the user fixes the cause.
    pub const fn concerns_all(self) -> bool {
        matches!(self, FailureKind::Key | FailureKind::Server)
    }
}

impl Failure {
    /// The failure of an environment.
    pub fn of_runner(error: &RunnerError) -> Self {
        let of_server = matches!(
            error,
            RunnerError::Elsewhere {
                concerns_all: true,
                ..
            }
        );
        Failure {
            kind: if of_server {
                FailureKind::Server
            } else {
                FailureKind::Environment
            },
            message: error.to_string().into(),
        }
    }

    /// The failure of a policy without a model.
    pub fn of_policy(error: &PolicyError) -> Self {
        Failure {
            kind: FailureKind::Policy,
            message: error.to_string().into(),
        }
    }

    /// The failure of a model.
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
    /// The result of an episode that ended, with its cost.
    pub fn finished(cell: usize, episode: &Episode, spent: Spent, attempts: u32) -> Self {
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
            attempts,
            model: None,
        }
    }

    /// The result of an episode that was aborted.
    pub fn failed(cell: usize, failure: Failure, reward: f64, spent: Spent, attempts: u32) -> Self {
        CellResult {
            cell,
            status: Status::Failed(failure),
            reward,
            spent,
            attempts,
            model: None,
        }
    }

    /// Whether it counts in statistics.
    pub fn is_finished(&self) -> bool {
        matches!(self.status, Status::Finished { .. })
    }

    /// The stored form.
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
            tries: self.attempts,
            ending,
            failure: failure.map(|failure| failure.kind),
            message: failure.map(|failure| failure.message.clone()),
            model: self.model.clone(),
        };
        // Texts and numbers always serialize.
        to_json(&record).unwrap_or_default()
    }

    /// Reads the stored form; `None` if the value is not a result.
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
            attempts: record.tries,
            model: record.model,
        })
    }
}

/// The cost of an episode's steps as far as it is recorded: steps, seconds, tokens. `cost` prices the usage of one
/// answer; it is called for steps of models only.
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
    fn a_crash_does_not_count_as_a_result() {
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
