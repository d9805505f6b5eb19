//! Stores results, one batch after the other: a transaction takes time, and results that arrive meanwhile are stored
//! together in the next one.
//!
//! Invariant: each result is stored once, and none before the plan of its evaluation.

use std::collections::BTreeSet;

use volary_agent::evaluation::CellResult;

use super::effect::{DraftChange, StoredResult};
use super::stored::{Done, Draft};

/// The write in progress.
#[derive(Clone, Debug, PartialEq)]
enum Saving {
    /// The plan of a new evaluation; results are stored after it.
    Plan,
    /// No write is in progress.
    Idle,
    /// These results, with the drafts that remain.
    Results(Vec<(CellResult, Option<Draft>)>),
}

/// A result with the draft that remains.
pub(super) type SavedResult = (CellResult, Option<Draft>);

/// The write in progress, and the results that wait for its end.
#[derive(Clone, Debug)]
pub(super) struct Writer<E> {
    saving: Saving,
    queue: Vec<Done<E>>,
}

impl<E> Writer<E> {
    /// The writer of a stored evaluation.
    pub(super) fn idle() -> Self {
        Writer {
            saving: Saving::Idle,
            queue: Vec::new(),
        }
    }

    /// The writer of a new evaluation, whose plan is being stored.
    pub(super) fn storing_plan() -> Self {
        Writer {
            saving: Saving::Plan,
            ..Writer::idle()
        }
    }

    /// Whether the plan is stored, so that steps may be stored too.
    pub(super) fn is_planned(&self) -> bool {
        self.saving != Saving::Plan
    }

    /// Handles that the plan was stored, or refused.
    pub(super) fn plan_stored(&mut self) {
        if self.saving == Saving::Plan {
            self.saving = Saving::Idle;
        }
    }

    /// Queues results.
    pub(super) fn push(&mut self, done: Vec<Done<E>>) {
        self.queue.extend(done);
    }

    /// The next batch to store; `None` while a write is in progress. `has_draft` if a draft of a cell is stored.
    pub(super) fn next(
        &mut self,
        has_draft: impl Fn(usize) -> bool,
    ) -> Option<Vec<StoredResult<E>>> {
        if self.saving != Saving::Idle || self.queue.is_empty() {
            return None;
        }
        let queue = std::mem::take(&mut self.queue);
        let saving = queue
            .iter()
            .map(|done| (done.result.clone(), done.draft.clone()));
        self.saving = Saving::Results(saving.collect());
        let results = queue.into_iter().map(|done| StoredResult {
            draft: match done.draft {
                Some(draft) => DraftChange::Put(draft),
                None if has_draft(done.result.cell) => DraftChange::Delete,
                None => DraftChange::None,
            },
            result: done.result,
            episode: done.episode,
        });
        Some(results.collect())
    }

    /// Handles that a batch was stored, or refused. Returns its results; `None` if none was being stored.
    pub(super) fn stored(&mut self) -> Option<Vec<SavedResult>> {
        match std::mem::replace(&mut self.saving, Saving::Idle) {
            Saving::Results(saved) => Some(saved),
            // The plan is not stored before it is reported.
            Saving::Plan => {
                self.saving = Saving::Plan;
                None
            }
            Saving::Idle => None,
        }
    }

    /// The cells whose results are being stored or are queued for it.
    pub(super) fn cells(&self) -> BTreeSet<usize> {
        let queued = self.queue.iter().map(|done| done.result.cell);
        let saving = match &self.saving {
            Saving::Results(saving) => saving.as_slice(),
            Saving::Plan | Saving::Idle => &[],
        };
        queued
            .chain(saving.iter().map(|(result, _)| result.cell))
            .collect()
    }
}

#[cfg(test)]
mod tests {
    use volary_agent::evaluation::{Failure, FailureKind};
    use volary_agent::model::limits::Spent;

    use super::*;

    fn done(cell: usize, draft: Option<Draft>) -> Done<&'static str> {
        let failure = Failure {
            kind: FailureKind::Environment,
            message: "it crashed".into(),
        };
        Done {
            result: CellResult::failed(cell, failure, 0.0, Spent::default(), 1),
            episode: None,
            draft,
        }
    }

    fn cells(results: Option<Vec<StoredResult<&'static str>>>) -> Vec<usize> {
        let results = results.into_iter().flatten();
        results.map(|stored| stored.result.cell).collect()
    }

    #[test]
    fn results_wait_for_the_plan_and_for_the_write_in_progress() {
        let mut writer = Writer::storing_plan();
        writer.push(vec![done(1, None)]);
        assert_eq!(cells(writer.next(|_| false)), [0; 0]);
        assert_eq!(writer.stored(), None, "no result is being stored");
        assert!(!writer.is_planned());
        writer.plan_stored();
        assert!(writer.is_planned());
        assert_eq!(cells(writer.next(|_| false)), [1]);
        for cell in [2, 3] {
            writer.push(vec![done(cell, None)]);
            assert_eq!(cells(writer.next(|_| false)), [0; 0], "one is in progress");
        }
        assert_eq!(writer.cells(), BTreeSet::from([1, 2, 3]));
        let saved = writer.stored().expect("results");
        assert_eq!(saved[0].0.cell, 1);
        assert_eq!(cells(writer.next(|_| false)), [2, 3], "together");
        assert_eq!(writer.stored().map(|saved| saved.len()), Some(2));
        assert_eq!(writer.stored(), None, "once");
        assert!(writer.cells().is_empty());
    }

    #[test]
    fn a_draft_is_deleted_with_the_result_that_needs_it_no_more() {
        let mut writer = Writer::idle();
        let kept = Draft {
            attempts: 2,
            ..Draft::default()
        };
        writer.push(vec![
            done(1, None),
            done(2, None),
            done(3, Some(kept.clone())),
        ]);
        let results = writer.next(|cell| cell != 1).expect("results");
        let drafts: Vec<DraftChange> = results.into_iter().map(|stored| stored.draft).collect();
        let expected = [
            DraftChange::None,
            DraftChange::Delete,
            DraftChange::Put(kept),
        ];
        assert_eq!(drafts, expected);
    }
}
