//! Filters and sorts rows incrementally, so that the page can draw in between, however many rows there are.

use std::cmp::Ordering;
use std::sync::Arc;

use super::filter::Filter;
use super::order::{Direction, Key};
use super::{Column, Row};

/// A predicate of shown rows.
pub type Only = Arc<dyn Fn(&Row) -> bool + Send + Sync>;

/// The requested arrangement of rows.
#[derive(Clone, Default)]
pub struct Wanted {
    /// The filters that all rows must pass.
    pub filters: Vec<(Column, Filter)>,
    /// An additional predicate.
    pub only: Option<Only>,
    /// The sort column; equal rows keep their order.
    pub sort: Option<(Column, Direction)>,
}

/// An arrangement in progress.
pub struct Arranging {
    rows: Arc<Vec<Arc<Row>>>,
    wanted: Wanted,
    /// The number of rows examined so far.
    seen: usize,
    /// The shown rows with their sort keys, and the bytes of the keys.
    shown: Vec<(Key, u32)>,
    bytes: Vec<u8>,
    sorting: Option<Sorting>,
}

impl Arranging {
    /// Starts an arrangement.
    pub fn of(rows: Arc<Vec<Arc<Row>>>, wanted: Wanted) -> Self {
        Arranging {
            rows,
            wanted,
            seen: 0,
            shown: Vec::new(),
            bytes: Vec::new(),
            sorting: None,
        }
    }

    /// Processes about `most` rows. Returns the shown rows once all are processed.
    pub fn advance(&mut self, most: usize) -> Option<Arc<Vec<Arc<Row>>>> {
        let wanted = &self.wanted;
        if wanted.filters.is_empty() && wanted.only.is_none() && wanted.sort.is_none() {
            return Some(Arc::clone(&self.rows));
        }
        let end = self.rows.len().min(self.seen.saturating_add(most));
        let left = most - (end - self.seen);
        self.look_at(end);
        if left == 0 {
            return None;
        }
        if let Some((_, direction)) = self.wanted.sort {
            let sorting = self.sorting.get_or_insert_default();
            let bytes = &self.bytes;
            let order =
                |one: &(Key, u32), other: &(Key, u32)| one.0.compare(other.0, bytes, direction);
            if !sorting.advance(&mut self.shown, left, order) {
                return None;
            }
        }
        let shown = self.shown.iter();
        let shown = shown.filter_map(|(_, index)| self.rows.get(*index as usize).cloned());
        Some(Arc::new(shown.collect()))
    }

    fn look_at(&mut self, end: usize) {
        let Wanted {
            filters,
            only,
            sort,
        } = &self.wanted;
        for index in self.seen..end {
            let row = &self.rows[index];
            let passes = |(column, filter): &(Column, Filter)| filter.passes(&row.cell(column));
            if only.as_ref().is_none_or(|only| only(row)) && filters.iter().all(passes) {
                let key = match sort {
                    Some((column, _)) => Key::of(&row.cell(column), &mut self.bytes),
                    None => Key::Empty,
                };
                self.shown.push((key, index as u32));
            }
        }
        self.seen = end;
    }
}

/// The shown rows, computed at once.
pub fn arranged(rows: Vec<Row>, wanted: Wanted) -> Vec<Arc<Row>> {
    let rows = Arc::new(rows.into_iter().map(Arc::new).collect());
    let mut arranging = Arranging::of(rows, wanted);
    loop {
        if let Some(rows) = arranging.advance(usize::MAX) {
            return rows.to_vec();
        }
    }
}

/// The length of a run that is sorted at once; runs are then merged.
const STRETCH: usize = 512;

/// A resumable merge sort. It is stable.
#[derive(Default)]
struct Sorting {
    /// The length of the sorted runs; 0 while the initial runs are sorted.
    width: usize,
    /// The start of the pair of runs that is being merged, and the position within either one.
    start: usize,
    left: usize,
    right: usize,
    /// The merged output of this round.
    merged: Vec<(Key, u32)>,
}

impl Sorting {
    /// Processes about `most` positions. Returns whether all are done.
    fn advance(
        &mut self,
        items: &mut Vec<(Key, u32)>,
        most: usize,
        order: impl Fn(&(Key, u32), &(Key, u32)) -> Ordering,
    ) -> bool {
        let mut left = most;
        while self.width == 0 {
            let end = items.len().min(self.start + STRETCH);
            items[self.start..end].sort_by(&order);
            left = left.saturating_sub(end - self.start);
            self.start = end;
            if end == items.len() {
                (self.width, self.start, self.right) = (STRETCH, 0, STRETCH);
            } else if left == 0 {
                return false;
            }
        }
        while self.width < items.len() {
            let middle = items.len().min(self.start + self.width);
            let end = items.len().min(self.start + 2 * self.width);
            while self.left < middle || self.right < end {
                if left == 0 {
                    return false;
                }
                left -= 1;
                let is_left = self.left < middle
                    && (self.right >= end || order(&items[self.left], &items[self.right]).is_le());
                let cursor = if is_left {
                    &mut self.left
                } else {
                    &mut self.right
                };
                self.merged.push(items[*cursor]);
                *cursor += 1;
            }
            self.start = end;
            if end == items.len() {
                std::mem::swap(items, &mut self.merged);
                self.merged.clear();
                (self.width, self.start) = (2 * self.width, 0);
            }
            self.left = self.start;
            self.right = items.len().min(self.start + self.width);
        }
        true
    }
}
