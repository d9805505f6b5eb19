//! How far an evaluation is, and how long it will take.

use super::{Queue, Schedule, State};
use crate::model::limits::Spent;

/// How far it is.
#[derive(Clone, Copy, Debug, Default, PartialEq)]
pub struct Progress {
    /// All cells.
    pub total: usize,
    /// Those that count.
    pub finished: usize,
    /// Those that broke off.
    pub failed: usize,
    /// Those that are played now.
    pub under_way: usize,
    /// What was spent.
    pub spent: Spent,
    /// How long the rest will take in seconds, if it goes on as it did; `None` if nobody can tell.
    pub seconds_left: Option<f64>,
}

/// How long it has been running since it was last begun.
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
    /// How far it is.
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

    /// The lanes run in parallel, so the longer one counts.
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
