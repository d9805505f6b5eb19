//! The events of an evaluation, which the page reports.

use volary_agent::evaluation::Failure;
use volary_agent::evaluation::plan::Pace;
use volary_agent::evaluation::schedule::PauseReason;
use volary_core::json::Text;

use super::stored::{Done, Kept};

/// An input of the state machine.
#[derive(Clone, Debug, PartialEq)]
pub enum Event<E> {
    /// The user resumes it.
    Resume,
    /// The user retries the failed cells.
    RetryFailures,
    /// The user pauses it, or something failed that concerns all cells.
    Pause(PauseReason),
    /// The user left it for another evaluation, a comparison, or the form of a new one. Requests in flight are awaited, and
    /// no more are sent.
    Leave,
    /// The user cancels the running cells.
    Cancel,
    /// The user sets another pace and budget, and may resume with them.
    SetPace {
        pace: Pace,
        /// Whether the evaluation resumes once both are stored.
        and_resume: bool,
    },
    /// The plan of a new evaluation was stored, or refused.
    PlanStored,
    /// This tab holds the lock.
    LockGranted,
    /// Another tab holds the lock.
    LockRefused,
    /// The stored evaluation was read again.
    Reloaded(Reloaded),
    /// The drafts of the cells to retry were stored, or refused.
    RetriesStored,
    /// A worker played cells.
    Played {
        /// The generation of the workers, as in [`Effect::ReplaceWorkers`](super::Effect::ReplaceWorkers).
        generation: u32,
        done: Vec<Done<E>>,
    },
    /// A worker had no time to start these cells.
    NotStarted {
        /// As in [`Effect::ReplaceWorkers`](super::Effect::ReplaceWorkers).
        generation: u32,
        cells: Vec<usize>,
    },
    /// A worker crashed or was terminated.
    WorkerLost {
        generation: u32,
        /// The cells that were assigned to it.
        cells: Vec<usize>,
        message: Text,
    },
    /// A model finished an episode, or failed to.
    ModelEnded(Option<Failure>),
    /// An episode of a model ended.
    ModelPlayed(Done<E>),
    /// An episode of a model was suspended: its cell is queued again, and continues from the stored steps.
    ModelReturned { cell: usize },
    /// Results were stored, or the browser refused them with this message for the user.
    Stored(Result<(), Text>),
    /// The page has rendered the current state.
    Shown,
}

/// The evaluation as another tab left it in storage.
#[derive(Clone, Debug, PartialEq)]
pub enum Reloaded {
    Found(Box<Kept>),
    /// It was deleted.
    Deleted,
    /// It cannot be read; the copy in memory is the only one.
    Unreadable,
}
