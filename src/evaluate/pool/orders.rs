//! Orders for workers: how many cells each has, which cells are left, and how long it may take.

use std::cell::RefCell;
use std::collections::BTreeSet;
use std::rc::Rc;
use std::time::Duration;

use super::{Hear, WorkerSlot, lose};
use crate::browser::{self, timers};

/// How many orders a worker has at a time, so that it continues while the page handles the results of one.
pub(super) const AHEAD: usize = 3;
/// An order has this part of a worker's share of the waiting cells, so that few cells are left for the end.
const PART: usize = 2;
/// The maximum number of cells in an order. A worker returns what it could not begin in time.
const LARGEST: usize = 256;
/// Smaller orders cost more than they balance.
const SMALLEST: usize = 32;

/// An order in progress.
pub(super) struct Ordered {
    /// The cells that are left.
    pub(super) cells: BTreeSet<usize>,
    /// When it became the first.
    pub(super) since: f64,
    /// How long it may take, in seconds. (Each request to a server has a limit of its own.)
    pub(super) limit: Option<f64>,
}

/// How the cells of an evaluation are divided into orders.
pub(super) struct Share {
    /// How many orders of equal size would hold all waiting cells.
    parts: usize,
    /// The minimum number of cells in an order, except for the last one.
    least: usize,
}

impl Share {
    /// For this many cells.
    pub(super) fn new(cells: usize, workers: usize) -> Self {
        let parts = workers * PART;
        // Where there are few cells, each may take long.
        let least = cells.div_ceil(parts).clamp(1, SMALLEST);
        Share { parts, least }
    }

    /// The size of an order while this many cells wait. The last ones are smaller, so that all workers finish
    /// together.
    pub(super) fn of(&self, waiting: usize) -> usize {
        waiting.div_ceil(self.parts).clamp(self.least, LARGEST)
    }
}

impl WorkerSlot {
    /// Cells were played or returned. Returns whether that completes an order.
    pub(super) fn tick_off(&mut self, cells: impl Iterator<Item = usize>) -> bool {
        for cell in cells {
            let mut orders = self.orders.iter_mut();
            orders.any(|order| order.cells.remove(&cell));
        }
        let mut is_ended = false;
        while let Some(first) = self.orders.front()
            && first.cells.is_empty()
        {
            self.orders.pop_front();
            is_ended = true;
            if let Some(next) = self.orders.front_mut() {
                next.since = timers::now();
            }
        }
        is_ended
    }
}

/// Ends a worker whose first order takes too long.
pub(super) fn watch(worker: &Rc<RefCell<WorkerSlot>>, hear: &Hear) {
    let seen = {
        let entry = worker.borrow();
        let first = entry.orders.front();
        first.and_then(|first| Some((entry.generation, first.since, first.limit?)))
    };
    let Some((generation, since, seconds)) = seen else {
        return;
    };
    let (worker, hear) = (Rc::downgrade(worker), Rc::clone(hear));
    browser::spawn(async move {
        let limit = Duration::try_from_secs_f64(seconds).unwrap_or_default();
        timers::sleep(limit).await;
        let Some(worker) = worker.upgrade() else {
            return;
        };
        let is_same = {
            let entry = worker.borrow();
            let first = entry.orders.front();
            let is_first = |first: &Ordered| first.since == since && first.limit.is_some();
            entry.generation == generation && first.is_some_and(is_first)
        };
        if is_same {
            lose(
                &worker,
                &hear,
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
