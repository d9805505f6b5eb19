//! The display state of the table: columns, filters, order, groups, position, and selected rows. All of it except the
//! selected rows is part of the address.

use std::collections::{BTreeMap, BTreeSet};
use std::sync::Arc;

use leptos::prelude::*;
use volary_core::json::Text;
use volary_trajectory::annotations::tags::{self, tag_of};
use volary_trajectory::annotations::{Annotation, Annotations};
use volary_trajectory::table::arrange::{Arranging, Only, Wanted};
use volary_trajectory::table::filter::Filter;
use volary_trajectory::table::groups::GroupOrder;
use volary_trajectory::table::order::Direction;
use volary_trajectory::table::variation::{Uniform, Variation};
use volary_trajectory::table::view::View;
use volary_trajectory::table::{Column, Row, found_columns};

use super::gradually::{Work, gradually};
use super::notes::Notes;
use crate::library::client::LibraryClient;
use crate::library::findings::Match;
use crate::projection::library::{COLUMNS, FIRST_COLUMNS, Sort};

/// The maximum number of score and metadata columns offered.
const MOST_FOUND: usize = 40;
/// The number of rows filtered and sorted per slice.
const ARRANGED: usize = 512;

/// Signals of the display state of the table.
#[derive(Clone, Copy)]
pub struct Look {
    pub client: LibraryClient,
    pub notes: Notes,
    /// The rows of the library, with the notes on them.
    pub rows: Memo<Arc<Vec<Arc<Row>>>>,
    /// The minimum and the maximum reward, extended to include 0. The bars of rewards span this range.
    pub rewards: Memo<(f64, f64)>,
    /// The columns that the user chose, in order; `None` for the default ones without uniform columns.
    pub chosen_columns: RwSignal<Option<Arc<Vec<Column>>>>,
    /// The visible columns in order.
    pub columns: Memo<Arc<Vec<Column>>>,
    /// The columns that are hidden because all rows have the same value.
    pub hidden: Memo<Vec<Uniform>>,
    pub filters: RwSignal<Vec<(Column, Filter)>>,
    /// The sort order.
    pub sort: RwSignal<Option<Sort>>,
    /// The columns by which the rows are grouped.
    pub groups: RwSignal<Vec<Column>>,
    /// The order of the groups.
    pub group_sort: RwSignal<Option<(GroupOrder, Direction)>>,
    /// The two columns of the chart, if it is shown.
    pub chart: RwSignal<Option<(Column, Column)>>,
    /// The index of the first visible row.
    pub first: RwSignal<usize>,
    /// The row to scroll to once it is loaded.
    pub wanted_first: RwSignal<Option<usize>>,
    /// The row that was last opened.
    pub opened: RwSignal<Option<usize>>,
    /// The ids of the selected rows.
    pub chosen: RwSignal<Arc<BTreeSet<Text>>>,
    /// The search hits by id; `None` without a search.
    pub found: Memo<Option<Arc<HitsById>>>,
    /// The rows that pass the filters, in order.
    pub shown: RwSignal<Arc<Vec<Arc<Row>>>>,
}

/// Search hits by the id of the episode.
pub type HitsById = std::collections::HashMap<Text, Match>;

impl Look {
    /// The initial state.
    pub fn new(client: LibraryClient, notes: Notes) -> Look {
        let rows = Memo::new(move |_| {
            client
                .rows
                .with(|rows| notes.all.with(|notes| noted(rows, notes)))
        });
        let chosen_columns = RwSignal::new(None::<Arc<Vec<Column>>>);
        let uniform = gradually(Vec::new(), move || -> Work<Vec<Uniform>> {
            let (rows, mut seen) = (rows.get(), 0);
            let mut variation = Some(Variation::new(
                FIRST_COLUMNS
                    .iter()
                    .filter(|column| may_hide(column))
                    .cloned(),
            ));
            Box::new(move || {
                let next = rows.iter().skip(seen).take(ARRANGED);
                next.for_each(|row| {
                    variation
                        .iter_mut()
                        .for_each(|variation| variation.add(row))
                });
                seen += ARRANGED;
                variation
                    .take_if(|_| seen >= rows.len())
                    .map(Variation::done)
            })
        });
        let hidden = Memo::new(move |_| match chosen_columns.with(Option::is_some) {
            true => Vec::new(),
            false => uniform.get(),
        });
        let columns = Memo::new(move |_| {
            chosen_columns.get().unwrap_or_else(|| {
                hidden.with(|hidden| {
                    let columns = FIRST_COLUMNS.iter();
                    let columns = columns
                        .filter(|column| hidden.iter().all(|known| known.column != **column));
                    Arc::new(columns.cloned().collect())
                })
            })
        });
        let filters = RwSignal::new(Vec::new());
        let sort = RwSignal::new(None::<Sort>);
        let found = Memo::new(move |_| {
            client.matches.with(|matches| {
                let matches = matches.as_ref()?.iter();
                let by_id = matches.map(|found| (found.id.clone(), found.clone()));
                Some(Arc::new(by_id.collect::<HitsById>()))
            })
        });
        let shown = gradually(rows.get_untracked(), move || {
            let only = found.get().map(|found| -> Only {
                let words = client.wanted.get_untracked();
                Arc::new(move |row: &Row| {
                    found.contains_key(&row.id) || has_notes_with(row, &words)
                })
            });
            let wanted = Wanted {
                filters: filters.get(),
                only,
                sort: sort.get(),
            };
            let mut arranging = Arranging::of(rows.get(), wanted);
            Box::new(move || arranging.advance(ARRANGED)) as Work<_>
        });
        Look {
            client,
            notes,
            rows,
            rewards: Memo::new(move |_| {
                rows.with(|rows| {
                    let rewards = rows.iter().filter_map(|row| row.reward);
                    let finite = rewards.filter(|reward| reward.is_finite());
                    finite.fold((0.0_f64, 0.0_f64), |(low, high), reward| {
                        (low.min(reward), high.max(reward))
                    })
                })
            }),
            chosen_columns,
            columns,
            hidden,
            filters,
            sort,
            groups: RwSignal::default(),
            group_sort: RwSignal::new(None),
            chart: RwSignal::new(None),
            first: RwSignal::new(0),
            wanted_first: RwSignal::new(None),
            opened: RwSignal::new(None),
            chosen: RwSignal::default(),
            found,
            shown,
        }
    }

    /// Encodes the display state for the address.
    pub fn query(self) -> String {
        let columns = self.chosen_columns.get();
        let view = View {
            search: self.client.wanted.get(),
            filters: self.filters.get(),
            sort: self.sort.get(),
            groups: self.groups.get(),
            group_sort: self.group_sort.get(),
            chart: self.chart.get(),
            columns: columns.map(|columns| columns.to_vec()),
            first: self.first.get(),
        };
        view.to_query()
    }

    /// Applies the display state of an address.
    pub fn apply(self, query: &str) {
        let view = View::read(query);
        if self.client.wanted.get_untracked() != view.search {
            self.client.wanted.set(view.search.clone());
            self.client.search(&view.search);
        }
        self.filters.set(view.filters);
        self.sort.set(view.sort);
        self.groups.set(view.groups);
        self.group_sort.set(view.group_sort);
        self.chart.set(view.chart);
        self.chosen_columns.set(view.columns.map(Arc::new));
        self.first.set(view.first);
        self.wanted_first
            .set((view.first > 0).then_some(view.first));
    }

    /// The index of an episode among the visible rows.
    pub fn place_of(self, id: &str) -> Option<usize> {
        self.shown
            .with(|rows| rows.iter().position(|row| *row.id == *id))
    }

    /// All available columns: fixed ones, then scores and metadata.
    pub fn all_columns(self) -> Vec<Column> {
        let found = self
            .rows
            .with(|rows| found_columns(sampled(rows), MOST_FOUND));
        let found = found.into_iter().map(|(column, _)| column);
        COLUMNS.iter().cloned().chain(found).collect()
    }

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

    /// Selects all visible rows, or clears the selection.
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
            let (shown, all) = (self.shown.get_untracked(), self.rows.get_untracked());
            in_order(chosen, &shown, &all)
        })
    }

    /// The ids of the selected rows, in the same order.
    pub fn chosen_ids(self) -> Vec<Text> {
        let rows = self.chosen_rows();
        rows.iter().map(|row| row.id.clone()).collect()
    }

    /// Cycles the sort order of a column: ascending, descending, none.
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

/// Returns whether a default column may be hidden. The others identify the row and show how well it went.
fn may_hide(column: &Column) -> bool {
    !matches!(
        column,
        Column::Name | Column::Reward | Column::Steps | Column::Outcome
    )
}

/// The rows with the notes on them. Rows without notes are shared.
fn noted(rows: &Arc<Vec<Arc<Row>>>, notes: &Annotations) -> Arc<Vec<Arc<Row>>> {
    /// Texts, labels and verdict of the notes on an episode.
    type Noted = (Vec<Text>, Vec<Text>, Option<Text>);
    let mut known: BTreeMap<&str, Noted> = BTreeMap::new();
    let mut tagged: BTreeMap<&str, Vec<&Annotation>> = BTreeMap::new();
    for note in notes.iter_all().filter(|note| tag_of(note).is_some()) {
        tagged.entry(&note.episode).or_default().push(note);
        known.entry(&note.episode).or_default();
    }
    let notes = notes.iter().filter(|note| tag_of(note).is_none());
    let mut notes: Vec<_> = notes.collect();
    notes.sort_by(|one, other| one.changed.total_cmp(&other.changed));
    for note in notes {
        let (texts, labels, verdict) = known.entry(&note.episode).or_default();
        let words = note.label.iter().chain([&note.text]);
        texts.extend(words.filter(|text| !text.is_empty()).cloned());
        let label = note.label.iter().filter(|label| !label.is_empty());
        labels.extend(
            label
                .filter(|label| !labels.contains(label))
                .cloned()
                .collect::<Vec<_>>(),
        );
        if let Some(given) = note.verdict {
            *verdict = Some(given.as_str().into());
        }
    }
    if known.is_empty() {
        return Arc::clone(rows);
    }
    let with_notes = rows.iter().map(|row| match known.remove(&*row.id) {
        None => Arc::clone(row),
        Some((notes, labels, verdict)) => {
            let mut tags = row.tags.clone();
            for note in tagged.remove(&*row.id).unwrap_or_default() {
                tags::apply(note, &mut tags);
            }
            Arc::new(Row {
                notes,
                labels,
                verdict,
                tags,
                ..Row::clone(row)
            })
        }
    });
    Arc::new(with_notes.collect())
}

/// Returns whether the notes on an episode contain all words of a search.
fn has_notes_with(row: &Row, words: &str) -> bool {
    if row.notes.is_empty() {
        return false;
    }
    let notes = row.notes.join("\n").to_lowercase();
    let words = words.to_lowercase();
    let mut words = words.split_whitespace().map(|word| word.trim_matches('"'));
    words.all(|word| notes.contains(word))
}

fn in_order(chosen: &BTreeSet<Text>, shown: &[Arc<Row>], all: &[Arc<Row>]) -> Vec<Arc<Row>> {
    let mut left = chosen.clone();
    let rows = shown.iter().chain(all);
    rows.filter(|row| left.remove(&row.id)).cloned().collect()
}

/// A sample of rows of the whole table: large enough to list values, small enough to compute on every update.
pub fn sampled(rows: &[Arc<Row>]) -> impl Iterator<Item = &Row> + Clone {
    const MOST: usize = 1000;
    let every = rows.len().div_ceil(MOST).max(1);
    rows.iter().step_by(every).map(AsRef::as_ref)
}

#[cfg(test)]
mod tests {
    use volary_trajectory::annotations::{Annotation, Verdict};

    use super::*;

    #[test]
    fn rows_carry_their_notes() {
        let rows = ["a", "b"].map(|id| {
            Arc::new(Row {
                id: id.into(),
                ..Row::default()
            })
        });
        let rows = Arc::new(rows.to_vec());
        assert!(Arc::ptr_eq(&noted(&rows, &Annotations::default()), &rows));
        let mut notes = Annotations::default();
        notes.write(
            Annotation {
                id: "n".into(),
                episode: "b".into(),
                text: "asks twice".into(),
                label: Some("loop".into()),
                verdict: Some(Verdict::Bad),
                ..Annotation::default()
            },
            1.0,
        );
        let with_notes = noted(&rows, &notes);
        assert!(Arc::ptr_eq(&with_notes[0], &rows[0]));
        assert_eq!(
            with_notes[1].notes,
            ["loop".into(), "asks twice".into()] as [Text; 2]
        );
        assert!(has_notes_with(&with_notes[1], "Asks LOOP"));
        assert!(!has_notes_with(&with_notes[1], "asks thrice"));
        assert!(!has_notes_with(&with_notes[0], ""));
        assert_eq!(with_notes[1].labels, ["loop".into()] as [Text; 1]);
        assert_eq!(with_notes[1].verdict.as_deref(), Some("bad"));
    }

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
