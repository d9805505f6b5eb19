//! The display state of the table: columns, filters, order, groups, and selected rows.

use std::collections::BTreeSet;
use std::sync::Arc;

use leptos::prelude::*;
use volary_core::json::Text;
use volary_trajectory::table::arrange::{Arranging, Only, Wanted};
use volary_trajectory::table::filter::Filter;
use volary_trajectory::table::groups::GroupBy;
use volary_trajectory::table::order::Direction;
use volary_trajectory::table::{Column, Row, found_columns};

use super::gradually::{Work, gradually};
use crate::library::client::Shelf;
use crate::library::findings::Match;
use crate::projection::library::{COLUMNS, FIRST_COLUMNS, Sort};

/// The maximum number of score and metadata columns offered.
const MOST_FOUND: usize = 40;
/// The number of rows arranged per slice.
const ARRANGED: usize = 512;

/// The display state of the table.
#[derive(Clone, Copy)]
pub struct Look {
    /// The library.
    pub shelf: Shelf,
    /// The visible columns in order.
    pub columns: RwSignal<Arc<Vec<Column>>>,
    /// The filters.
    pub filters: RwSignal<Vec<(Column, Filter)>>,
    /// The sort order.
    pub sort: RwSignal<Option<Sort>>,
    /// The grouping, if any.
    pub group: RwSignal<Option<GroupBy>>,
    /// The ids of the selected rows.
    pub chosen: RwSignal<Arc<BTreeSet<Text>>>,
    /// The search hits by id; `None` without a search.
    pub found: Memo<Option<Arc<Found>>>,
    /// The visible rows in order.
    pub shown: RwSignal<Arc<Vec<Arc<Row>>>>,
}

/// Search hits by the id of the episode.
pub type Found = std::collections::HashMap<Text, Match>;

impl Look {
    /// The initial state.
    pub fn new(shelf: Shelf) -> Look {
        let filters = RwSignal::new(Vec::new());
        let sort = RwSignal::new(None::<Sort>);
        let found = Memo::new(move |_| {
            shelf.matches.with(|matches| {
                let matches = matches.as_ref()?.iter();
                let by_id = matches.map(|found| (found.id.clone(), found.clone()));
                Some(Arc::new(by_id.collect::<Found>()))
            })
        });
        let shown = gradually(shelf.rows.get_untracked(), move || {
            let only = found
                .get()
                .map(|found| -> Only { Arc::new(move |row: &Row| found.contains_key(&row.id)) });
            let wanted = Wanted {
                filters: filters.get(),
                only,
                sort: sort.get(),
            };
            let mut arranging = Arranging::of(shelf.rows.get(), wanted);
            Box::new(move || arranging.advance(ARRANGED)) as Work<_>
        });
        Look {
            shelf,
            columns: RwSignal::new(Arc::new(FIRST_COLUMNS.to_vec())),
            filters,
            sort,
            group: RwSignal::new(None),
            chosen: RwSignal::default(),
            found,
            shown,
        }
    }

    /// All available columns: fixed ones, then scores and metadata.
    pub fn all_columns(self) -> Vec<Column> {
        let found = self
            .shelf
            .rows
            .with(|rows| found_columns(sampled(rows), MOST_FOUND));
        let found = found.into_iter().map(|(column, _)| column);
        COLUMNS.iter().cloned().chain(found).collect()
    }

    /// The visible row at an index.
    pub fn row(self, place: usize) -> Option<Arc<Row>> {
        self.shown.with_untracked(|rows| rows.get(place).cloned())
    }

    /// Selects or deselects a row.
    pub fn choose(self, id: &Text, chosen: bool) {
        self.chosen.update(|known| {
            let known = Arc::make_mut(known);
            match chosen {
                true => known.insert(id.clone()),
                false => known.remove(id),
            };
        });
    }

    /// Selects all visible rows, or none.
    pub fn choose_all(self, chosen: bool) {
        let ids = match chosen {
            false => BTreeSet::new(),
            true => self
                .shown
                .with_untracked(|rows| rows.iter().map(|row| row.id.clone()).collect()),
        };
        self.chosen.set(Arc::new(ids));
    }

    /// The selected rows in the order of the table; rows hidden by a filter come last.
    pub fn chosen_rows(self) -> Vec<Arc<Row>> {
        self.chosen.with_untracked(|chosen| {
            let (shown, all) = (self.shown.get_untracked(), self.shelf.rows.get_untracked());
            in_order(chosen, &shown, &all)
        })
    }

    /// Their ids.
    pub fn chosen_ids(self) -> Vec<Text> {
        let rows = self.chosen_rows();
        rows.iter().map(|row| row.id.clone()).collect()
    }

    /// Cycles the order of a column: ascending, descending, none.
    pub fn sort_by(self, column: &Column) {
        self.sort.update(|sort| {
            *sort = match sort.take() {
                Some((known, Direction::Ascending)) if known == *column => {
                    Some((known, Direction::Descending))
                }
                Some((known, Direction::Descending)) if known == *column => None,
                _ => Some((column.clone(), Direction::Ascending)),
            };
        });
    }
}

fn in_order(chosen: &BTreeSet<Text>, shown: &[Arc<Row>], all: &[Arc<Row>]) -> Vec<Arc<Row>> {
    let mut left = chosen.clone();
    let rows = shown.iter().chain(all);
    rows.filter(|row| left.remove(&row.id)).cloned().collect()
}

/// A sample of rows from the whole table: enough to list values, few enough for every update.
pub fn sampled(rows: &[Arc<Row>]) -> impl Iterator<Item = &Row> {
    const MOST: usize = 1000;
    let every = rows.len().div_ceil(MOST).max(1);
    rows.iter().step_by(every).map(AsRef::as_ref)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn chosen_rows_follow_the_table() {
        let rows: Vec<Arc<Row>> = ["a", "b", "c", "d"]
            .map(|id| {
                Arc::new(Row {
                    id: id.into(),
                    ..Row::default()
                })
            })
            .to_vec();
        let shown = [3, 1, 0].map(|place: usize| Arc::clone(&rows[place]));
        let chosen = ["a", "c", "d"].map(Text::from).into();
        let found = in_order(&chosen, &shown, &rows);
        let ids: Vec<&str> = found.iter().map(|row| &*row.id).collect();
        assert_eq!(ids, ["d", "a", "c"]);
    }
}
