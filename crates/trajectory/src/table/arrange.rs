//! Filters and sorts rows incrementally, so that drawing can continue in between, however many rows there are.

use std::cmp::Ordering;
use std::sync::Arc;

use super::filter::Filter;
use super::order::{Direction, Key};
use super::{Column, Row};

/// Whether a row is shown.
pub type Only = Arc<dyn Fn(&Row) -> bool + Send + Sync>;

/// What is wanted of rows.
#[derive(Clone, Default)]
pub struct Wanted {
    /// What all of them must be.
    pub filters: Vec<(Column, Filter)>,
    /// What else they must be.
    pub only: Option<Only>,
    /// By what they are sorted; rows that are equal keep their order.
    pub sort: Option<(Column, Direction)>,
}

/// Rows on their way into an order.
pub struct Arranging {
    rows: Arc<Vec<Arc<Row>>>,
    wanted: Wanted,
    /// How many rows were looked at.
    seen: usize,
    /// The rows that are shown, with what they are sorted by, and the bytes of that.
    places: Vec<(Key, u32)>,
    bytes: Vec<u8>,
    sorting: Option<Sorting>,
}

impl Arranging {
    /// Begins.
    pub fn of(rows: Arc<Vec<Arc<Row>>>, wanted: Wanted) -> Self {
        Arranging {
            rows,
            wanted,
            seen: 0,
            places: Vec::new(),
            bytes: Vec::new(),
            sorting: None,
        }
    }

    /// Processes about `most` rows. Returns the shown rows once all are done.
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
            if !sorting.advance(&mut self.places, left, order) {
                return None;
            }
        }
        let places = self.places.iter();
        let shown = places.filter_map(|(_, place)| self.rows.get(*place as usize).cloned());
        Some(Arc::new(shown.collect()))
    }

    fn look_at(&mut self, end: usize) {
        let Wanted {
            filters,
            only,
            sort,
        } = &self.wanted;
        for place in self.seen..end {
            let row = &self.rows[place];
            let passes = |(column, filter): &(Column, Filter)| filter.passes(&row.cell(column));
            if only.as_ref().is_none_or(|only| only(row)) && filters.iter().all(passes) {
                let key = match sort {
                    Some((column, _)) => Key::of(&row.cell(column), &mut self.bytes),
                    None => Key::Empty,
                };
                self.places.push((key, place as u32));
            }
        }
        self.seen = end;
    }
}

/// The rows that are shown, all at once.
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

/// A merge sort that can be left and taken up again. What is equal keeps its order.
#[derive(Default)]
struct Sorting {
    /// How long the stretches are that are sorted; 0 while they are made.
    width: usize,
    /// Where the pair of stretches begins that is being merged, and how far either one is.
    start: usize,
    left: usize,
    right: usize,
    /// What was merged in this round.
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
                let place = match is_left {
                    true => &mut self.left,
                    false => &mut self.right,
                };
                self.merged.push(items[*place]);
                *place += 1;
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
