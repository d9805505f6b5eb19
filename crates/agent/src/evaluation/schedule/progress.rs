//! Progress of an evaluation and its estimated remaining time.

use super::{Queue, Schedule, State};
use crate::model::limits::Spent;

/// Progress of an evaluation.
#[derive(Clone, Copy, Debug, Default, PartialEq)]
pub struct Progress {
    /// The number of cells.
    pub total: usize,
    /// Cells that count.
    pub finished: usize,
    /// Failed cells.
    pub failed: usize,
    /// Cells in flight.
    pub under_way: usize,
    /// The total cost so far.
    pub spent: Spent,
    /// The estimated remaining time in seconds at the speed so far; `None` if it cannot be estimated.
    pub seconds_left: Option<f64>,
}

/// Measures the running time since the last start.
#[derive(Clone, Copy, Debug, Default)]
pub(super) struct Stopwatch {
    since: Option<f64>,
}

impl Stopwatch {
    pub(super) fn start(&mut self, now: f64) {
        self.since = Some(now);
    }

    pub(super) fn stop(&mut self, _now: f64) {
        self.since = None;
    }

    fn seconds(self, now: f64) -> Option<f64> {
        self.since.map(|since| (now - since).max(0.0))
    }
}

impl Schedule {
    /// The progress at a time.
    pub fn progress(&self, now: f64) -> Progress {
        let count = |wanted: State| self.cells.iter().filter(|state| **state == wanted).count();
        Progress {
            total: self.cells.len(),
            finished: count(State::Finished),
            failed: count(State::Failed),
            under_way: count(State::UnderWay),
            spent: self.spent,
            seconds_left: self.seconds_left(now),
        }
    }

    /// The lanes run in parallel, so the maximum of both counts.
    fn seconds_left(&self, now: f64) -> Option<f64> {
        let running = self.watch.seconds(now)?;
        let left = |queue: &Queue| {
            let left = queue.waiting.len() + queue.under_way;
            match (left, queue.finished) {
                (0, _) => Some(0.0),
                (_, 0) => None,
                (left, finished) => Some(running / finished as f64 * left as f64),
            }
        };
        Some(left(&self.local)?.max(left(&self.model)?))
    }
}
