//! The table **Trajectories**. Only rows near the viewport are rendered.

use std::sync::Arc;

use leptos::ev::Event;
use leptos::prelude::*;
use volary_trajectory::table::order::Direction;
use volary_trajectory::table::{Column, Row};

use super::selection::{Found, Look};
use crate::components::erased::{dynamic, flag, maybe_words, shown, words};
use crate::components::markup::{El, all, button, el, key_of, nothing};
use crate::components::rows::Rows;
use crate::components::text::inert_in;
use crate::library::findings::Match;
use crate::projection::library::{cell_text, class, heading, widths};
use crate::route::{ReviewPlace, Route};

/// The height of a row, as in the style sheet.
const ROW: f64 = 40.0;

/// The table.
pub fn table(look: Look) -> AnyView {
    let count = Memo::new(move |_| look.shown.with(|rows| rows.len()));
    let edition = Memo::new(move |edition: Option<&u32>| {
        look.shown.track();
        look.columns.track();
        edition.map_or(0, |edition| edition.wrapping_add(1))
    });
    let body = Rows {
        count: count.into(),
        edition: edition.into(),
        height: ROW,
        seen: Signal::derive(|| None),
        role: "rowgroup",
        class: "table-body",
        name: None,
    }
    .view_of(
        move |place| identity(look, place),
        move |place| {
            // A memo, so that a row is rendered again only if it changed.
            let standing = Memo::new(move |_| {
                let place = place.get();
                untrack(|| Standing::of(look, place))
            });
            dynamic(move || standing.with(|standing| row_view(look, standing)))
        },
    );
    let none = shown(
        move || count.get() == 0 && look.shelf.rows.with(|rows| !rows.is_empty()),
        || {
            el("p")
                .class("faint nothing-found")
                .child("No trajectories match. Remove a filter or search term.")
                .view()
        },
    );
    let table = el("div")
        .class(words(move || {
            format!(
                "table trajectories {}",
                look.columns.with(|columns| widths(columns))
            )
        }))
        .attr("role", "table")
        .attr("aria-label", "Trajectories")
        .attr(
            "aria-rowcount",
            words(move || (count.get() + 1).to_string()),
        )
        .attr(
            "hidden",
            flag(move || {
                look.shelf.rows.with(|rows| rows.is_empty()) || look.group.with(Option::is_some)
            }),
        )
        .child(
            el("div")
                .class("trajectories-inner")
                .child(head(look))
                .child(body),
        );
    all(vec![table.view(), none])
}

/// The trajectory in a row, which may move when others arrive.
fn identity(look: Look, place: usize) -> u64 {
    match look.row(place) {
        Some(row) => key_of(&row.id),
        None => key_of(place),
    }
}

fn head(look: Look) -> El {
    let cells = dynamic(move || {
        let columns = look.columns.get();
        let headings = columns.iter().map(|column| heading_of(look, column).view());
        all(std::iter::once(choose_all(look).view())
            .chain(headings)
            .collect())
    });
    el("div")
        .class("table-head")
        .attr("role", "rowgroup")
        .child(
            el("div")
                .class("table-row")
                .attr("role", "row")
                .child(cells),
        )
}

fn choose_all(look: Look) -> El {
    let chosen = flag(move || {
        let count = look.shown.with(|rows| rows.len());
        count > 0 && look.chosen.with(|chosen| chosen.len()) >= count
    });
    el("div")
        .class("column-choice")
        .attr("role", "columnheader")
        .child(
            el("input")
                .attr("type", "checkbox")
                .attr("aria-label", "Select all")
                .flag_property("checked", chosen)
                .on("change", move |event: Event| {
                    look.choose_all(event_target_checked(&event));
                }),
        )
}

/// The inputs of a row.
#[derive(Clone, PartialEq)]
struct Standing {
    place: usize,
    row: Option<Arc<Row>>,
    /// The search hit, if any.
    hit: Option<Match>,
    columns: Arc<Vec<Column>>,
}

impl Standing {
    fn of(look: Look, place: usize) -> Standing {
        let row = look.row(place);
        let hit = |found: &Option<Arc<Found>>| found.as_ref()?.get(&row.as_ref()?.id).cloned();
        Standing {
            place,
            hit: look.found.with(hit),
            columns: look.columns.get(),
            row,
        }
    }
}

fn row_view(look: Look, standing: &Standing) -> AnyView {
    let Standing { place, hit, .. } = standing;
    let Some(row) = &standing.row else {
        return nothing();
    };
    let step = hit.as_ref().map(|hit| hit.step as usize);
    let address = Route::Review(ReviewPlace {
        episode: Some(row.id.to_string()),
        step: step.filter(|step| *step > 0),
        ..ReviewPlace::default()
    })
    .to_hash();
    let (id, known) = (row.id.clone(), row.id.clone());
    let choice = el("div").class("column-choice").attr("role", "cell").child(
        el("input")
            .attr("type", "checkbox")
            .attr(
                "aria-label",
                format!("Select {}", cell_text(row, &Column::Name)),
            )
            .flag_property(
                "checked",
                flag(move || look.chosen.with(|chosen| chosen.contains(&known))),
            )
            .on("change", move |event: Event| {
                look.choose(&id, event_target_checked(&event));
            }),
    );
    let cells = standing.columns.iter().map(|column| {
        let text = cell_text(row, column);
        let cell = el("div").class(class(column)).attr("role", "cell");
        match column {
            Column::Name => cell
                .child(
                    el("a")
                        .attr("href", address.clone())
                        .child(inert_in("span", "", &text)),
                )
                .child(hit.as_ref().map(snippet)),
            Column::Outcome => cell.child(inert_in("span", outcome_class(&text), &text)),
            Column::Tags => {
                let tags = row
                    .tags
                    .iter()
                    .map(|tag| inert_in("span", "tag", tag).view());
                cell.child(tags.collect::<Vec<_>>())
            }
            _ => cell.child(inert_in("span", "", &text)),
        }
        .view()
    });
    el("div")
        .class("table-row")
        .attr("role", "row")
        .attr("aria-rowindex", (place + 2).to_string())
        .child(choice)
        .child(cells.collect::<Vec<_>>())
        .view()
}

fn heading_of(look: Look, column: &Column) -> El {
    let (of, by) = (column.clone(), column.clone());
    let now = Memo::new(move |_| {
        look.sort.with(|sort| {
            let sort = sort.as_ref().filter(|(by, _)| *by == of);
            sort.map(|(_, direction)| *direction)
        })
    });
    let direction = maybe_words(move || {
        let direction = match now.get()? {
            Direction::Ascending => "ascending",
            Direction::Descending => "descending",
        };
        Some(direction.to_owned())
    });
    let mark = words(move || {
        let mark = match now.get() {
            None => "",
            Some(Direction::Ascending) => " ↑",
            Some(Direction::Descending) => " ↓",
        };
        mark.to_owned()
    });
    el("div")
        .class(class(column))
        .attr("role", "columnheader")
        .attr("aria-sort", direction)
        .child(
            button("quiet column-sort")
                .on_click(move || look.sort_by(&by))
                .child(inert_in("span", "", &heading(column)))
                .child(el("span").attr("aria-hidden", "true").child(mark)),
        )
}

/// The search hit with its surroundings: little text before it, so that it is not cut off at the end of the
/// cell.
fn snippet(found: &Match) -> El {
    const BEFORE: usize = 16;
    let from = found.before.char_indices().rev().nth(BEFORE);
    let before = match from {
        None => found.before.to_string(),
        Some((place, _)) => format!("…{}", found.before[place..].trim_start_matches('…')),
    };
    el("span")
        .class("snippet")
        .child(inert_in("span", "", &before))
        .child(inert_in("mark", "", &found.hit))
        .child(inert_in("span", "", &found.after))
}

fn outcome_class(outcome: &str) -> &'static str {
    match outcome {
        // "done" and "submitted" only say that the episode ended, not how well.
        "success" | "resolved" => "badge good",
        "truncated" => "badge notice",
        "crashed" | "error" => "badge bad",
        _ => "badge",
    }
}
