//! What happens to a run.

use std::sync::Arc;

use serde::{Deserialize, Serialize};
use volary_agent::model::limits::Budget;
use volary_agent::model::{ModelError, Usage};
use volary_core::json::Text;

use crate::answer::Answer;
use crate::prompt::Retry;
use crate::question::Question;
use crate::render::Rendered;

/// What happened to a run: the page, or the command, passes it to [`super::AskRun::update`].
#[derive(Clone, Debug, PartialEq)]
pub enum AskEvent {
    /// Start, or go on; failed rows are asked about again.
    Resume,
    /// Send nothing more. Replies under way still count.
    Pause,
    /// Abort what is under way.
    Stop,
    SetBudget(Budget),
    /// A trajectory was rendered, or could not be.
    Loaded {
        row: usize,
        rendered: Result<Arc<Rendered>, Text>,
    },
    Replied {
        request: RequestId,
        reply: Result<ModelReply, ModelError>,
    },
    /// A reply was checked, or could not be.
    Checked {
        request: RequestId,
        checked: Result<CheckedReply, Text>,
    },
    /// The time of [`WakeAt`](super::AskEffect::WakeAt) has come.
    Tick,
}

/// A request of a run.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub struct RequestId {
    pub row: usize,
    pub part: usize,
    /// Counts all requests, so that a late reply is not taken for one to a later request.
    pub number: u64,
}

/// The checked answer, and what is to be asked for again.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
pub struct CheckedReply {
    pub answer: Answer,
    pub retry: Option<Retry>,
}

impl CheckedReply {
    /// Checks what a model said about a trajectory.
    pub fn of(question: &Question, rendered: &Rendered, said: &str) -> CheckedReply {
        let (answer, retry) = Answer::of_reply(question, rendered, said);
        CheckedReply { answer, retry }
    }
}

/// What a model replied, with the key redacted.
#[derive(Clone, Debug, Default, PartialEq)]
pub struct ModelReply {
    pub text: String,
    pub usage: Option<Usage>,
}
