//! Orders: batches of cells for workers. Determines the size of a batch, its remaining cells, and its time limit.

use std::cell::RefCell;
use std::collections::BTreeSet;
use std::rc::Rc;
use std::time::Duration;

use super::{Handler, WorkerSlot, lose};
use crate::browser::{self, timers};

/// The number of batches that a worker has queued, so that it continues while the page handles the results of one.
pub(super) const AHEAD: usize = 3;
/// The divisor of a worker's share of the waiting cells that gives the size of a batch, so that batches get smaller at
/// the end.
const PART: usize = 2;
/// The maximum number of cells in a batch. A worker returns the cells that it could not begin in time.
const LARGEST: usize = 256;
/// The maximum of the minimum batch size: smaller batches cost more than they balance.
const SMALLEST: usize = 32;

/// A batch that was sent to a worker.
pub(super) struct SentBatch {
    /// The remaining cells.
    pub(super) cells: BTreeSet<usize>,
    /// When this batch became the first in the queue.
    pub(super) since: f64,
    /// The time limit in seconds. Requests to servers have a limit of their own.
    pub(super) limit: Option<f64>,
}

/// Divides the cells of an evaluation into batches.
pub(super) struct Share {
    /// The number of equal batches into which the waiting cells are divided.
    parts: usize,
    /// The minimum number of cells in a batch, except for the last one.
    least: usize,
}

impl Share {
    /// Divides this number of cells among workers.
    pub(super) fn new(cells: usize, workers: usize) -> Self {
        let parts = workers * PART;
        // If there are few cells, each may take long.
        let least = cells.div_ceil(parts).clamp(1, SMALLEST);
        Share { parts, least }
    }

    /// The size of the next batch when this number of cells wait. Batches get smaller at the end, so that all workers
    /// finish together.
    pub(super) fn of(&self, waiting: usize) -> usize {
        waiting.div_ceil(self.parts).clamp(self.least, LARGEST)
    }
}

/// Watchdog: terminates a worker whose first batch exceeds its time limit.
pub(super) fn watch(worker: &Rc<RefCell<WorkerSlot>>, handle: &Handler) {
    let seen = {
        let entry = worker.borrow();
        let first = entry.orders.front();
        first.and_then(|first| Some((entry.generation, first.since, first.limit?)))
    };
    let Some((generation, since, seconds)) = seen else {
        return;
    };
    let (worker, handle) = (Rc::downgrade(worker), Rc::clone(handle));
    browser::spawn(async move {
        let limit = Duration::try_from_secs_f64(seconds).unwrap_or_default();
        timers::sleep(limit).await;
        let Some(worker) = worker.upgrade() else {
            return;
        };
        let is_same = {
            let entry = worker.borrow();
            let first = entry.orders.front();
            let is_first = |first: &SentBatch| first.since == since && first.limit.is_some();
            entry.generation == generation && first.is_some_and(is_first)
        };
        if is_same {
            lose(
                &worker,
                &handle,
                format!("It exceeded the time limit of {seconds} s."),
            );
        }
    });
}

#[cfg(test)]
mod tests {
    use super::*;

    fn orders(cells: usize) -> Vec<usize> {
        let share = Share::new(cells, 2);
        let mut waiting = cells;
        let mut orders = Vec::new();
        while waiting > 0 {
            let order = share.of(waiting).min(waiting);
            orders.push(order);
            waiting -= order;
        }
        orders
    }

    #[test]
    fn all_workers_have_something_and_end_together() {
        assert_eq!(orders(1), [1]);
        assert_eq!(orders(3), [1, 1, 1]);
        assert_eq!(orders(10), [3, 3, 3, 1]);
        assert_eq!(orders(10_000)[0], LARGEST);
        let many = orders(1_000);
        let (begun, rest) = many.split_at(2 * AHEAD);
        assert!(begun.iter().sum::<usize>() > 800, "{many:?}");
        assert!(rest.iter().all(|cells| *cells < 50), "{many:?}");
        assert!(many.len() < 14, "{many:?}");
        assert!(many.is_sorted_by(|one, other| one >= other), "{many:?}");
    }
}
