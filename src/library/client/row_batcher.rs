//! Rows on their way into the table.

use std::collections::{BTreeMap, BTreeSet, HashSet};
use std::sync::Arc;

use volary_core::json::Text;
use volary_trace::table::Row;

/// The rows that wait. With each change the whole table is gone through, so many changes are made
/// into few: what comes is held back until it is a part of what is there.
#[derive(Default)]
pub(super) struct RowBatcher {
    /// The ids of all rows.
    known: HashSet<Text>,
    /// What is listed, to stand behind the others.
    back: Vec<Arc<Row>>,
    /// What is new, to stand before them, and what takes the place of a row.
    front: Vec<Arc<Row>>,
    again: BTreeMap<Text, Arc<Row>>,
    /// When the rows in front of the table came, and how many of them came then.
    newest: (Option<f64>, usize),
}

/// Where rows come from.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum RowSource {
    /// The list of what was stored, in order.
    List,
    /// Anything else: what is new comes first.
    Other,
}

/// When what is held back is shown.
#[derive(Default)]
pub(super) struct Pace {
    /// Before then no more rows are shown, in seconds of the clock.
    next: f64,
    /// Whether somebody waits to show them.
    is_due: bool,
}

/// So many seconds pass before more rows are shown.
const PAUSE: f64 = 0.2;

/// As long as there are few rows, all are shown at once.
const FEW: usize = 2000;

impl RowBatcher {
    /// Takes rows that a request gave; whether they are to be shown now, with so many there already.
    pub fn take(&mut self, source: RowSource, rows: Vec<Row>, length: usize) -> bool {
        for row in rows {
            let row = Arc::new(row);
            if !self.known.insert(row.id.clone()) {
                self.again.insert(row.id.clone(), row);
            } else if source == RowSource::List {
                self.back.push(row);
            } else {
                self.front.push(row);
            }
        }
        let held = self.back.len() + self.front.len();
        length < FEW || held * 4 >= length || held == 0
    }

    /// Whether nothing is held back.
    pub fn is_empty(&self) -> bool {
        self.back.is_empty() && self.front.is_empty() && self.again.is_empty()
    }

    /// Puts what was held back where it belongs.
    pub fn flush(&mut self, rows: &mut Vec<Arc<Row>>) {
        if !self.again.is_empty() {
            let held = self.front.iter_mut().chain(&mut self.back);
            for row in rows.iter_mut().chain(held) {
                if let Some(newer) = self.again.remove(&row.id) {
                    *row = newer;
                }
            }
            self.again.clear();
        }
        rows.append(&mut self.back);
        let front = std::mem::take(&mut self.front);
        let Some(first) = front.first() else { return };
        // What comes of one reading stands as it came, before what was there when it began.
        if self.newest.0 != first.added {
            self.count_newest(first.added, rows);
        }
        let at = self.newest.1.min(rows.len());
        self.newest.1 += front.len();
        rows.splice(at..at, front);
    }

    fn count_newest(&mut self, added: Option<f64>, rows: &[Arc<Row>]) {
        let same = rows.iter().take_while(|row| row.added == added);
        self.newest = (added, same.count());
    }

    pub fn drop_rows(&mut self, gone: &BTreeSet<&Text>, rows: &mut Vec<Arc<Row>>) {
        self.known.retain(|id| !gone.contains(id));
        self.front.retain(|row| !gone.contains(&row.id));
        self.back.retain(|row| !gone.contains(&row.id));
        rows.retain(|row| !gone.contains(&row.id));
        self.count_newest(self.newest.0, rows);
    }
}

impl Pace {
    /// There are rows to be shown: in how many seconds, 0 for at once. `None` if nobody sees the table, or if they
    /// will be shown with others.
    pub fn ask(&mut self, is_seen: bool, now: f64) -> Option<f64> {
        if self.is_due || !is_seen {
            return None;
        }
        let wait = (self.next - now).max(0.0);
        self.is_due = wait > 0.0;
        Some(wait)
    }

    /// Who waited to show them is awake: asks once more, since they may have been shown meanwhile, or nobody sees the
    /// table any longer.
    pub fn woken(&mut self, is_seen: bool, now: f64) -> Option<f64> {
        match std::mem::take(&mut self.is_due) {
            true => self.ask(is_seen, now),
            false => None,
        }
    }

    /// All are shown.
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
        rows.iter().map(|row| row.id.to_string()).collect()
    }

    #[test]
    fn the_newest_stand_first_and_in_the_order_of_their_file() {
        let mut batcher = RowBatcher::default();
        let mut rows = Vec::new();
        assert!(batcher.take(RowSource::List, vec![row("x", 1.0)], 0));
        batcher.flush(&mut rows);
        for (id, again) in [("a", "a"), ("b", "a"), ("c", "b")] {
            batcher.take(RowSource::Other, vec![row(id, 2.0)], rows.len());
            batcher.take(RowSource::Other, vec![row(again, 2.0)], rows.len());
            batcher.flush(&mut rows);
        }
        assert_eq!(ids(&rows), "abcx");
        batcher.take(RowSource::List, vec![row("y", 0.5)], rows.len());
        batcher.flush(&mut rows);
        assert_eq!(rows.last().map(|row| &*row.id), Some("y"));
    }

    #[test]
    fn rows_are_shown_a_few_times_a_second_and_only_to_who_sees_them() {
        let mut pace = Pace::default();
        assert_eq!(pace.ask(false, 1.0), None, "nobody sees them");
        assert_eq!(pace.ask(true, 1.0), Some(0.0));
        pace.shown(1.0);
        let wait = pace.ask(true, 1.05).unwrap();
        assert!((wait - (PAUSE - 0.05)).abs() < 1e-9, "{wait}");
        assert_eq!(pace.ask(true, 1.1), None, "they come with the others");
        assert_eq!(pace.woken(true, 1.0 + PAUSE), Some(0.0));
        pace.shown(1.2);
        assert_eq!(pace.ask(true, 9.0), Some(0.0), "after a rest at once");
    }

    #[test]
    fn who_waited_looks_again_before_rows_are_shown() {
        let mut pace = Pace::default();
        pace.shown(1.0);
        pace.ask(true, 1.1);
        assert_eq!(pace.woken(false, 1.0 + PAUSE), None, "the table is gone");
        assert_eq!(pace.ask(true, 1.0 + PAUSE), Some(0.0), "it is back");
        // All were shown meanwhile, for another reason, and more came.
        pace.shown(2.0);
        assert_eq!(pace.woken(true, 2.1), None, "nothing is left of the former");
        pace.ask(true, 2.1);
        pace.shown(2.15);
        assert!(pace.ask(true, 2.2).is_some());
        let early = pace.woken(true, 2.25).unwrap();
        assert!(early > 0.0, "not before its time: {early}");
    }

    #[test]
    fn many_rows_are_held_back() {
        let mut batcher = RowBatcher::default();
        let many: Vec<Row> = (0..100).map(|id| row(&id.to_string(), 1.0)).collect();
        assert!(!batcher.take(RowSource::Other, many, 10 * FEW));
        let more: Vec<Row> = (100..6000).map(|id| row(&id.to_string(), 1.0)).collect();
        assert!(batcher.take(RowSource::Other, more, 10 * FEW));
    }
}
