//! Something that a worker computes, while it does and afterwards.

use std::sync::Arc;

use volary_core::quantity::plural;

/// Something that a worker computes.
#[derive(Clone, Debug, Default, PartialEq)]
pub enum BehaviourWork<T> {
    /// It was not asked for, or it was stopped.
    #[default]
    Nothing,
    Running {
        /// The current stage, for the user.
        doing: String,
        /// The completed part, from 0 to 1; `None` if unknown.
        done: Option<f64>,
    },
    Ready(Arc<T>),
    /// The reason, for the user.
    Failed(String),
}

impl<T> BehaviourWork<T> {
    /// It was asked for, over this number of rows.
    pub(super) fn begin(rows: usize) -> BehaviourWork<T> {
        BehaviourWork::Running {
            doing: format!("Reading {}", plural(rows, "trajectory")),
            done: None,
        }
    }

    pub(super) fn progress(&mut self, doing: &str, done: Option<f64>) {
        if self.is_running() {
            *self = BehaviourWork::Running {
                doing: doing.to_owned(),
                done,
            };
        }
    }

    /// Whether it is being computed.
    pub fn is_running(&self) -> bool {
        matches!(self, BehaviourWork::Running { .. })
    }

    /// How far it is, without the result.
    pub fn progress_only(&self) -> BehaviourWork<()> {
        match self {
            BehaviourWork::Nothing => BehaviourWork::Nothing,
            BehaviourWork::Running { doing, done } => BehaviourWork::Running {
                doing: doing.clone(),
                done: *done,
            },
            BehaviourWork::Ready(_) => BehaviourWork::Ready(Arc::new(())),
            BehaviourWork::Failed(why) => BehaviourWork::Failed(why.clone()),
        }
    }

    /// The result, if it is there.
    pub fn ready(&self) -> Option<&Arc<T>> {
        match self {
            BehaviourWork::Ready(result) => Some(result),
            _ => None,
        }
    }
}
