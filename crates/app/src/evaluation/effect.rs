//! The effects of an evaluation, for the page to carry out.

use volary_agent::evaluation::CellResult;
use volary_agent::evaluation::plan::Pace;

use super::stored::{Draft, Head};

/// An effect for the page to carry out.
#[derive(Clone, Debug, PartialEq)]
pub enum Effect<E> {
    /// Request the lock; reports [`Event::LockGranted`](super::Event::LockGranted) or [`Event::LockRefused`](super::Event::LockRefused).
    RequestLock,
    /// Release the lock and the idle workers.
    Release,
    /// Read the stored evaluation; reports [`Event::Reloaded`](super::Event::Reloaded).
    Reload,
    /// Store drafts in place of failed results; reports [`Event::RetriesStored`](super::Event::RetriesStored).
    StoreRetries(Vec<(usize, Draft)>),
    /// Store results; reports [`Event::Stored`](super::Event::Stored).
    StoreResults(Vec<StoredResult<E>>),
    StoreHead(Head),
    /// Store the plan with another pace; reports [`Event::Resume`](super::Event::Resume) if `and_resume` is set.
    StorePace {
        pace: Pace,
        and_resume: bool,
    },
    /// Give jobs to workers; [`Evaluation::begin_local`](super::Evaluation::begin_local) hands them out.
    FillWorkers,
    /// Play a cell with a model.
    PlayModel(usize),
    /// Abort all episodes of models.
    AbortModels,
    /// Terminate the workers, which may hang, and start others.
    ReplaceWorkers {
        /// The new generation, which tells their events from those of earlier workers.
        generation: u32,
    },
    /// Notify everything that waits for a change, and render the current state.
    Changed,
}

/// A result with its episode and draft, stored in one transaction.
#[derive(Clone, Debug, PartialEq)]
pub struct StoredResult<E> {
    pub result: CellResult,
    /// The episode, if one was recorded.
    pub episode: Option<E>,
    /// The change of its cell's draft.
    pub draft: DraftChange,
}

/// How a stored draft changes.
#[derive(Clone, Debug, PartialEq)]
pub enum DraftChange {
    /// There is no draft.
    None,
    /// It is stored.
    Put(Draft),
    /// It is deleted.
    Delete,
}
