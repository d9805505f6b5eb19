//! Batches rows before they enter the table, and throttles how often the table changes.
//!
//! Invariant: the table is sorted by [`newest_first`], the order in which the next visit lists it too.

use std::collections::{BTreeMap, BTreeSet, HashSet};
use std::sync::Arc;

use volary_analysis::table::Row;
use volary_analysis::table::order::newest_first;
use volary_core::json::Text;

/// Rows that are held back. Each change of the table costs time proportional to its size, so small changes are batched
/// until they reach a good part of it.
#[derive(Debug, Default)]
pub struct RowBatcher {
    /// The ids of all rows.
    known: HashSet<Text>,
    /// New rows.
    new: Vec<Arc<Row>>,
    /// Newer versions of known rows, by id.
    again: BTreeMap<Text, Arc<Row>>,
}

/// Throttle that decides when held-back rows are shown.
#[derive(Debug, Default)]
pub struct RowThrottle {
    /// The earliest time of the next change of the table, in seconds.
    next: f64,
    /// Whether a timer is set.
    is_due: bool,
}

/// The minimum time between two changes of the table, in seconds.
const PAUSE: f64 = 0.2;

/// A table with fewer rows shows new rows immediately.
const FEW: usize = 2000;

impl RowBatcher {
    /// Holds back rows. Returns whether to show them now, in a table of `length` rows.
    pub fn take(&mut self, rows: Vec<Row>, length: usize) -> bool {
        for row in rows {
            let row = Arc::new(row);
            if !self.known.insert(row.id.clone()) {
                self.again.insert(row.id.clone(), row);
            } else {
                self.new.push(row);
            }
        }
        let held = self.new.len();
        length < FEW || held * 4 >= length || held == 0
    }

    /// Whether nothing is held back.
    pub fn is_empty(&self) -> bool {
        self.new.is_empty() && self.again.is_empty()
    }

    /// Moves the held-back rows into the table.
    pub fn flush(&mut self, rows: &mut Vec<Arc<Row>>) {
        let mut is_sorted = self.new.is_empty();
        if !self.again.is_empty() {
            for row in rows.iter_mut().chain(&mut self.new) {
                if let Some(newer) = self.again.remove(&row.id) {
                    is_sorted &= newer.added == row.added;
                    *row = newer;
                }
            }
            self.again.clear();
        }
        rows.append(&mut self.new);
        if !is_sorted {
            // Usually both parts are sorted, so this only merges them.
            rows.sort_by(|one, other| newest_first(one, other));
        }
    }

    /// Removes rows from the batch and from the table.
    pub fn drop_rows(&mut self, gone: &BTreeSet<&Text>, rows: &mut Vec<Arc<Row>>) {
        self.known.retain(|id| !gone.contains(id));
        self.new.retain(|row| !gone.contains(&row.id));
        // Otherwise it would replace a row that is added under this id later.
        self.again.retain(|id, _| !gone.contains(id));
        rows.retain(|row| !gone.contains(&row.id));
    }
}

impl RowThrottle {
    /// Requests that rows are shown. Returns the delay in seconds, 0 for immediately; `None` if the table is hidden or
    /// a timer is set.
    pub fn ask(&mut self, is_seen: bool, now: f64) -> Option<f64> {
        if self.is_due || !is_seen {
            return None;
        }
        let wait = (self.next - now).max(0.0);
        self.is_due = wait > 0.0;
        Some(wait)
    }

    /// Handles the timer. Asks again, because rows may have been shown meanwhile, or the table may be hidden now.
    pub fn woken(&mut self, is_seen: bool, now: f64) -> Option<f64> {
        if std::mem::take(&mut self.is_due) {
            self.ask(is_seen, now)
        } else {
            None
        }
    }

    /// Notes that all rows were shown.
    pub fn shown(&mut self, now: f64) {
        self.next = now + PAUSE;
        self.is_due = false;
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn row(id: &str, added: f64) -> Row {
        Row {
            id: id.into(),
            added: Some(added),
            ..Row::default()
        }
    }

    fn ids(rows: &[Arc<Row>]) -> String {
        let ids: Vec<&str> = rows.iter().map(|row| &*row.id).collect();
        ids.join(" ")
    }

    /// The order while files are read must be the order that the next visit lists.
    #[test]
    fn rows_come_in_the_order_of_the_next_visit() {
        let mut batcher = RowBatcher::default();
        let mut rows = Vec::new();
        assert!(batcher.take(vec![row("x", 1.0)], 0));
        batcher.flush(&mut rows);
        // In the order of their file, which differs from that of their ids.
        for (id, again) in [("b10", "b10"), ("a", "a"), ("b9", "b10")] {
            batcher.take(vec![row(id, 2.0)], rows.len());
            batcher.take(vec![row(again, 2.0)], rows.len());
            batcher.flush(&mut rows);
        }
        assert_eq!(ids(&rows), "a b9 b10 x");
        batcher.take(vec![row("y", 0.5), row("n", 3.0)], rows.len());
        batcher.flush(&mut rows);
        assert_eq!(ids(&rows), "n a b9 b10 x y");
        let mut listed = rows.clone();
        listed.sort_by(|one, other| newest_first(one, other));
        assert_eq!(listed, rows);
        // A row that was added again becomes the newest.
        batcher.take(vec![row("x", 4.0)], rows.len());
        batcher.flush(&mut rows);
        assert_eq!(ids(&rows), "x n a b9 b10 y");
    }

    #[test]
    fn a_visible_table_changes_a_few_times_a_second() {
        let mut throttle = RowThrottle::default();
        assert_eq!(throttle.ask(false, 1.0), None, "the table is hidden");
        assert_eq!(throttle.ask(true, 1.0), Some(0.0));
        throttle.shown(1.0);
        let wait = throttle.ask(true, 1.05).unwrap();
        assert!((wait - (PAUSE - 0.05)).abs() < 1e-9, "{wait}");
        assert_eq!(throttle.ask(true, 1.1), None, "a timer is set");
        assert_eq!(throttle.woken(true, 1.0 + PAUSE), Some(0.0));
        throttle.shown(1.2);
        assert_eq!(throttle.ask(true, 9.0), Some(0.0), "after a rest at once");
    }

    #[test]
    fn a_timer_that_fires_asks_again() {
        let mut throttle = RowThrottle::default();
        throttle.shown(1.0);
        throttle.ask(true, 1.1);
        assert_eq!(
            throttle.woken(false, 1.0 + PAUSE),
            None,
            "the table is gone"
        );
        assert_eq!(throttle.ask(true, 1.0 + PAUSE), Some(0.0), "it is back");
        // All rows were shown meanwhile, for another reason, and more arrived.
        throttle.shown(2.0);
        assert_eq!(throttle.woken(true, 2.1), None, "no timer is left");
        throttle.ask(true, 2.1);
        throttle.shown(2.15);
        assert!(throttle.ask(true, 2.2).is_some());
        let early = throttle.woken(true, 2.25).unwrap();
        assert!(early > 0.0, "too early: {early}");
    }

    #[test]
    fn a_row_that_is_added_after_its_deletion_is_the_new_one() {
        let (mut batcher, mut rows) = (RowBatcher::default(), Vec::new());
        batcher.take(vec![row("a", 1.0)], 0);
        batcher.flush(&mut rows);
        // A newer version is held back when the row is deleted.
        batcher.take(vec![row("a", 2.0)], rows.len());
        batcher.drop_rows(&BTreeSet::from([&"a".into()]), &mut rows);
        batcher.take(vec![row("a", 3.0)], rows.len());
        batcher.flush(&mut rows);
        assert_eq!(ids(&rows), "a");
        assert_eq!(rows[0].added, Some(3.0));
    }

    #[test]
    fn many_rows_are_held_back() {
        let mut batcher = RowBatcher::default();
        let many: Vec<Row> = (0..100).map(|id| row(&id.to_string(), 1.0)).collect();
        assert!(!batcher.take(many, 10 * FEW));
        let more: Vec<Row> = (100..6000).map(|id| row(&id.to_string(), 1.0)).collect();
        assert!(batcher.take(more, 10 * FEW));
    }
}
