//! The display state of the table: columns, filters, order, groups, position, and selected rows. All of it except the
//! selected rows is part of the address.

use std::sync::Arc;

use leptos::prelude::*;
use volary_analysis::table::answers::{AnswersByEpisode, answered};
use volary_analysis::table::arrange::{Arranging, Only, Wanted};
use volary_analysis::table::diagnostic_column::need_extra_steps;
use volary_analysis::table::filter::Filter;
use volary_analysis::table::groups::GroupOrder;
use volary_analysis::table::order::Direction;
use volary_analysis::table::variation::{Uniform, Variation};
use volary_analysis::table::view::View;
use volary_analysis::table::{Column, Row, found_columns};
use volary_core::json::Text;
use volary_view::library::{COLUMNS, FIRST_COLUMNS, Sort};

use super::gradually::{Work, gradually, gradually_with};
use super::notes::Notes;
use volary_behaviour::link::BehaviourLink;
use volary_library_client::LibraryClient;
use volary_protocol::library::Match;
use volary_view::review::behaviour_cells::with_behaviour;
use volary_view::review::group_cells::{next_order, range_with_zero};
use volary_view::review::row_selection::RowSelection;
pub use volary_view::review::table_rows::sampled;
use volary_view::review::table_rows::{default_columns, has_notes_with, is_hidden, noted};

/// The maximum number of score and metadata columns offered.
const MOST_FOUND: usize = 40;
/// The number of rows filtered and sorted per slice.
const ARRANGED: usize = 512;

/// Signals of the display state of the table.
#[derive(Clone, Copy)]
pub struct Look {
    pub client: LibraryClient,
    pub notes: Notes,
    /// What the table shares with the panel of behaviour.
    pub behaviour: BehaviourLink,
    /// Answers of models to questions about the episodes, which Ask fills in.
    pub answers: RwSignal<Arc<AnswersByEpisode>>,
    /// The rows of the library, with the notes on them, and what else is filled in for display.
    pub rows: Memo<Arc<Vec<Arc<Row>>>>,
    /// The minimum and the maximum reward, extended to include 0. The bars of rewards span this range.
    pub rewards: Memo<(f64, f64)>,
    /// The columns that the user chose, in order; `None` for the default ones without uniform columns.
    pub chosen_columns: RwSignal<Option<Arc<Vec<Column>>>>,
    /// The visible columns in order.
    pub columns: Memo<Arc<Vec<Column>>>,
    /// All available columns: fixed ones, then scores and metadata. A memo, so that lists of them are drawn again only if
    /// there are others.
    pub all_columns: Memo<Arc<Vec<Column>>>,
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
    /// The selected rows.
    pub chosen: RwSignal<RowSelection>,
    /// The search hits by id; `None` without a search.
    pub found: Memo<Option<Arc<HitsById>>>,
    /// The rows that pass the filters, in order.
    pub shown: RwSignal<Arc<Vec<Arc<Row>>>>,
    /// Whether they are being filtered and sorted.
    pub is_arranging: RwSignal<bool>,
}

/// Search hits by the id of the episode.
pub type HitsById = std::collections::HashMap<Text, Match>;

impl Look {
    /// The initial state.
    pub fn new(client: LibraryClient, notes: Notes) -> Look {
        let behaviour = BehaviourLink::new();
        let answers = RwSignal::new(Arc::new(AnswersByEpisode::new()));
        let chosen_columns = RwSignal::new(None::<Arc<Vec<Column>>>);
        let filters = RwSignal::new(Vec::<(Column, Filter)>::new());
        let sort = RwSignal::new(None::<Sort>);
        let groups = RwSignal::new(Vec::<Column>::new());
        let chart = RwSignal::new(None::<(Column, Column)>);
        let needs_extra_steps = Memo::new(move |_| {
            chosen_columns
                .with(|columns| columns.iter().any(|columns| need_extra_steps(&**columns)))
                || filters
                    .with(|filters| need_extra_steps(filters.iter().map(|(column, _)| column)))
                || sort.with(|sort| need_extra_steps(sort.iter().map(|(column, _)| column)))
                || groups.with(|groups| need_extra_steps(groups))
                || chart.with(|chart| {
                    need_extra_steps(chart.iter().flat_map(|(one, other)| [one, other]))
                })
        });
        let rows = Memo::new(move |_| {
            let rows = client
                .rows
                .with(|rows| notes.all.with(|notes| noted(rows, notes)));
            let rows = answers.with(|answers| answered(&rows, answers));
            behaviour
                .clusters
                .with(|clusters| with_behaviour(rows, clusters, needs_extra_steps.get()))
        });
        let uniform = gradually(Vec::new(), move || -> Work<Vec<Uniform>> {
            let (rows, mut seen) = (rows.get(), 0);
            let mut variation = Some(Variation::new(FIRST_COLUMNS));
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
                    .map(|variation| variation.done().into_iter().filter(is_hidden).collect())
            })
        });
        let hidden = Memo::new(move |_| {
            if chosen_columns.with(Option::is_some) {
                Vec::new()
            } else {
                uniform.get()
            }
        });
        let columns = Memo::new(move |_| {
            chosen_columns
                .get()
                .unwrap_or_else(|| hidden.with(|hidden| Arc::new(default_columns(hidden))))
        });
        let found = Memo::new(move |_| {
            client.matches.with(|matches| {
                let matches = matches.as_ref()?.iter();
                let by_id = matches.map(|found| (found.id.clone(), found.clone()));
                Some(Arc::new(by_id.collect::<HitsById>()))
            })
        });
        let is_arranging = RwSignal::new(false);
        let shown = gradually_with(rows.get_untracked(), is_arranging, move || {
            let only = found.get().map(|found| -> Only {
                let words = client.wanted.get_untracked();
                Arc::new(move |row: &Row| {
                    found.contains_key(&row.id) || has_notes_with(row, &words)
                })
            });
            let only = match (only, behaviour.only()) {
                (Some(only), Some(narrowed)) => {
                    Some(Arc::new(move |row: &Row| narrowed(row) && only(row)) as Only)
                }
                (only, narrowed) => only.or(narrowed.map(|narrowed| Arc::new(narrowed) as Only)),
            };
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
            behaviour,
            answers,
            rows,
            rewards: Memo::new(move |_| {
                rows.with(|rows| range_with_zero(rows.iter().filter_map(|row| row.reward)))
            }),
            chosen_columns,
            columns,
            all_columns: Memo::new(move |_| {
                let found = rows.with(|rows| found_columns(sampled(rows), MOST_FOUND));
                let found = found.into_iter().map(|(column, _)| column);
                Arc::new(COLUMNS.iter().cloned().chain(found).collect())
            }),
            hidden,
            filters,
            sort,
            groups,
            group_sort: RwSignal::new(None),
            chart,
            first: RwSignal::new(0),
            wanted_first: RwSignal::new(None),
            opened: RwSignal::new(None),
            chosen: RwSignal::default(),
            found,
            shown,
            is_arranging,
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
            narrowing: self.behaviour.named(),
            first: self.first.get(),
        };
        view.to_query()
    }

    /// Applies the display state of an address.
    pub fn apply(self, query: &str) {
        let view = View::read(query);
        if self.client.wanted.get_untracked() != view.search {
            self.search(view.search);
        }
        self.filters.set(view.filters);
        self.sort.set(view.sort);
        self.groups.set(view.groups);
        self.group_sort.set(view.group_sort);
        self.chart.set(view.chart);
        self.chosen_columns.set(view.columns.map(Arc::new));
        self.behaviour.restore(view.narrowing);
        self.first.set(view.first);
        self.wanted_first
            .set((view.first > 0).then_some(view.first));
    }

    /// Whether all rows are there, filtered and sorted.
    pub fn is_settled(self) -> Signal<bool> {
        let client = self.client;
        Signal::derive(move || {
            self.shown.track();
            client.is_listed.get()
                && client.readings.with(|readings| readings.is_empty())
                && !self.is_arranging.get()
                && !client.is_searching()
        })
    }

    /// Searches all texts, as the search field says.
    pub fn search(self, words: String) {
        self.client.wanted.set(words);
        self.client
            .wanted
            .with_untracked(|words| self.client.search(words));
    }

    /// The index of an episode among the visible rows.
    pub fn place_of(self, id: &str) -> Option<usize> {
        self.shown
            .with(|rows| rows.iter().position(|row| *row.id == *id))
    }

    pub fn row(self, place: usize) -> Option<Arc<Row>> {
        self.shown.with_untracked(|rows| rows.get(place).cloned())
    }

    /// Selects or deselects a row.
    pub fn choose(self, id: &Text, chosen: bool) {
        self.chosen.update(|known| known.choose(id, chosen));
    }

    /// Selects all visible rows, or clears the selection.
    pub fn choose_all(self, chosen: bool) {
        self.chosen.update(|known| {
            if chosen {
                self.shown.with_untracked(|shown| known.choose_all(shown))
            } else {
                known.clear()
            }
        });
    }

    /// The selected rows in the order of the table; rows hidden by a filter come last.
    pub fn chosen_rows(self) -> Vec<Arc<Row>> {
        self.chosen.with_untracked(|chosen| {
            let (shown, all) = (self.shown.get_untracked(), self.rows.get_untracked());
            chosen.rows(&shown, &all)
        })
    }

    /// The ids of the selected rows, in the same order.
    pub fn chosen_ids(self) -> Vec<Text> {
        let rows = self.chosen_rows();
        rows.iter().map(|row| row.id.clone()).collect()
    }

    /// Cycles the sort order of a column: ascending, descending, none.
    pub fn sort_by(self, column: &Column) {
        self.sort
            .update(|sort| *sort = next_order(sort.take(), column.clone()));
    }
}
