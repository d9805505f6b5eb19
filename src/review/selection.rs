//! How the table is looked at: its columns, filters, order, groups, and which rows are chosen.

use std::collections::BTreeSet;
use std::sync::Arc;

use leptos::prelude::*;
use volary_core::json::Text;
use volary_trace::table::arrange::{Arranging, Only, Wanted};
use volary_trace::table::filter::Filter;
use volary_trace::table::groups::GroupBy;
use volary_trace::table::order::Direction;
use volary_trace::table::{Column, Row, found_columns};

use super::gradually::{Work, gradually};
use crate::library::client::Shelf;
use crate::library::findings::Match;
use crate::projection::library::{COLUMNS, FIRST_COLUMNS, Sort};

/// So many columns for scores and metadata are offered.
const MOST_FOUND: usize = 40;
/// So many rows are arranged between two looks at the clock.
const ARRANGED: usize = 512;

/// How the table is looked at.
#[derive(Clone, Copy)]
pub struct Look {
    /// The library.
    pub shelf: Shelf,
    /// The columns that are shown, in order.
    pub columns: RwSignal<Arc<Vec<Column>>>,
    /// What rows must be.
    pub filters: RwSignal<Vec<(Column, Filter)>>,
    /// In which order they come.
    pub sort: RwSignal<Option<Sort>>,
    /// What makes them belong together, if groups are shown.
    pub group: RwSignal<Option<GroupBy>>,
    /// The ids of the rows that are chosen.
    pub chosen: RwSignal<Arc<BTreeSet<Text>>>,
    /// Where the words that are looked for stand, by id; `None` while nothing is looked for.
    pub found: Memo<Option<Arc<Found>>>,
    /// The rows that are shown, in order.
    pub shown: RwSignal<Arc<Vec<Arc<Row>>>>,
}

/// Where words stand, by the id of the episode.
pub type Found = std::collections::HashMap<Text, Match>;

impl Look {
    /// The first look.
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

    /// All columns that there are: those of every table, then scores and metadata.
    pub fn all_columns(self) -> Vec<Column> {
        let found = self
            .shelf
            .rows
            .with(|rows| found_columns(sampled(rows), MOST_FOUND));
        let found = found.into_iter().map(|(column, _)| column);
        COLUMNS.iter().cloned().chain(found).collect()
    }

    /// The row at a place among those that are shown.
    pub fn row(self, place: usize) -> Option<Arc<Row>> {
        self.shown.with_untracked(|rows| rows.get(place).cloned())
    }

    /// Chooses a row, or no longer.
    pub fn choose(self, id: &Text, chosen: bool) {
        self.chosen.update(|known| {
            let known = Arc::make_mut(known);
            match chosen {
                true => known.insert(id.clone()),
                false => known.remove(id),
            };
        });
    }

    /// Chooses all rows that are shown, or none.
    pub fn choose_all(self, chosen: bool) {
        let ids = match chosen {
            false => BTreeSet::new(),
            true => self
                .shown
                .with_untracked(|rows| rows.iter().map(|row| row.id.clone()).collect()),
        };
        self.chosen.set(Arc::new(ids));
    }

    /// The chosen rows in the order of the table; those that a filter hides come last.
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

    /// Sorts by a column: rising, falling, then no longer.
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

/// Rows from all over the table: enough to tell what there is, few enough to look at whenever rows come.
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
