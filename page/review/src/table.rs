//! The **Trajectories** table. Only rows near the viewport are rendered.

use std::sync::Arc;
use std::time::Duration;

use leptos::ev::Event;
use leptos::html;
use leptos::prelude::*;
use volary_analysis::table::{Column, Row};
use volary_view::library::{cell_text, class, heading};
use volary_view::review::column_widths::ColumnWidths;
use volary_view::route::{ReviewPlace, Route};
use volary_view::summary::outcome_class;

use super::groups::bar;
use super::selection::{HitsById, Look, sampled};
use volary_browser::{element, spawn, timers};
use volary_protocol::library::Match;
use volary_ui::keyed::key_of;
use volary_ui::rows::Rows;
use volary_ui::sort_button::{SortButton, aria_sort};
use volary_ui::text::inert;
use volary_ui::transient_memo::transient_memo;

/// The height of a row in pixels, as in the style sheet.
const ROW: f64 = 40.0;
/// Debounce of writing the scroll position into the address.
const SCROLL_REST: Duration = Duration::from_millis(250);

#[component]
pub(super) fn Table(look: Look) -> impl IntoView {
    let count = Memo::new(move |_| look.shown.with(|rows| rows.len()));
    let edition = Memo::new(move |edition: Option<&u32>| {
        look.shown.track();
        look.columns.track();
        look.rewards.track();
        edition.map_or(0, |edition| edition.wrapping_add(1))
    });
    let body = Rows {
        count: count.into(),
        edition: edition.into(),
        height: ROW,
        seen: look.opened.into(),
        role: "rowgroup",
        class: "table-body",
        name: None,
    }
    .view_of(
        move |place| identity(look, place),
        move |place| {
            // A memo, so that a row is rendered again only if it changed, and not if it only moves.
            let inputs = Memo::new(move |_| {
                let place = place.get();
                untrack(|| RowInputs::of(look, place))
            });
            (move || inputs.with(|inputs| row_view(look, inputs, place))).into_any()
        },
    );
    let is_hidden = move || {
        look.rows.with(|rows| rows.is_empty()) || look.groups.with(|groups| !groups.is_empty())
    };
    let finds_nothing = move || count.get() == 0 && look.rows.with(|rows| !rows.is_empty());
    let frame = NodeRef::<html::Div>::new();
    keep_position(look, frame, count);
    set_widths(look, frame);
    // The address is updated once scrolling rests: browsers limit how often it may change.
    let scrolled = StoredValue::new(0_u32);
    let follow_scroll = move |event: Event| {
        let number = scrolled.get_value().wrapping_add(1);
        scrolled.set_value(number);
        let Some(top) = element::scrolled_to(&event) else {
            return;
        };
        spawn(async move {
            timers::sleep(SCROLL_REST).await;
            if scrolled.try_get_value() == Some(number) {
                look.first.set((top / ROW).round() as usize);
            }
        });
    };
    view! {
        <div
            node_ref=frame
            on:scroll:capture=follow_scroll
            class="table trajectories"
            role="table"
            aria-label="Trajectories"
            aria-rowcount=move || (count.get() + 1).to_string()
            hidden=is_hidden
        >
            <div class="trajectories-inner">
                <Head look/>
                {body}
            </div>
        </div>
        <Show when=finds_nothing>
            <p class="faint nothing-found">
                {"No trajectories match. Remove a filter or search term."}
            </p>
        </Show>
    }
}

/// Sets the widths of the columns.
fn set_widths(look: Look, frame: NodeRef<html::Div>) {
    let widths = Memo::new(move |_| {
        let columns = look.columns.get();
        look.rows
            .with(|rows| ColumnWidths::of(&columns, sampled(rows)))
    });
    Effect::new(move |_| {
        let Some(frame) = frame.get() else {
            return;
        };
        widths.with(|widths| {
            for (name, value) in [
                ("--tracks", &widths.tracks),
                ("--least", &widths.least),
                ("--narrow-tracks", &widths.narrow_tracks),
                ("--narrow-least", &widths.narrow_least),
            ] {
                element::set_variable(&frame, name, value);
            }
        });
    });
}

/// Scrolls to the row that the address names, once it is loaded.
fn keep_position(look: Look, frame: NodeRef<html::Div>, count: Memo<usize>) {
    Effect::new(move |_| {
        let (Some(wanted), Some(frame)) = (look.wanted_first.get(), frame.get()) else {
            return;
        };
        if count.get() <= wanted {
            return;
        }
        look.wanted_first.set(None);
        // The scrollable height for all rows is laid out in the next frame.
        timers::next_frame(move || {
            timers::next_frame(move || {
                element::scroll_within(&frame, ".table-body", wanted as f64 * ROW);
            });
        });
    });
}

/// The identity of the trajectory in a row, which may move when others arrive.
fn identity(look: Look, place: usize) -> u64 {
    match look.row(place) {
        Some(row) => key_of(&row.id),
        None => key_of(place),
    }
}

#[component]
fn Head(look: Look) -> impl IntoView {
    let is_chosen = move || {
        look.chosen
            .with(|chosen| look.shown.with(|shown| chosen.has_all(shown)))
    };
    let headings = move || {
        let columns = look.columns.get();
        let headings = columns.iter();
        headings
            .map(|column| view! { <Heading look column=column.clone()/> })
            .collect_view()
    };
    view! {
        <div class="table-head" role="rowgroup">
            <div class="table-row" role="row">
                <div class="column-choice" role="columnheader">
                    <input
                        type="checkbox"
                        aria-label="Select all"
                        prop:checked=is_chosen
                        on:change=move |event| look.choose_all(event_target_checked(&event))
                    />
                </div>
                {headings}
            </div>
        </div>
    }
}

#[derive(Clone, PartialEq)]
struct RowInputs {
    row: Option<Arc<Row>>,
    /// The search hit, if any.
    hit: Option<Match>,
    columns: Arc<Vec<Column>>,
    /// The range that the bars of rewards span.
    rewards: (f64, f64),
}

impl RowInputs {
    fn of(look: Look, place: usize) -> RowInputs {
        let row = look.row(place);
        let hit = |found: &Option<Arc<HitsById>>| found.as_ref()?.get(&row.as_ref()?.id).cloned();
        RowInputs {
            hit: look.found.with(hit),
            columns: look.columns.get(),
            rewards: look.rewards.get(),
            row,
        }
    }
}

/// A row. `place` is its index, which may change.
fn row_view(look: Look, inputs: &RowInputs, place: Signal<usize>) -> AnyView {
    let hit = &inputs.hit;
    let Some(row) = &inputs.row else {
        return ().into_any();
    };
    let step = hit.as_ref().map(|hit| hit.step as usize);
    let address = Route::Review(ReviewPlace {
        episode: Some(row.id.to_string()),
        step: step.filter(|step| *step > 0),
        ..ReviewPlace::default()
    })
    .to_hash();
    // Of this drawing, so that its effects leave nothing in the lists of what outlives it.
    let number = transient_memo(move |_| place.get() + 2);
    let is_chosen = {
        let id = row.id.clone();
        transient_memo(move |_| look.chosen.with(|chosen| chosen.contains(&id)))
    };
    let id = row.id.clone();
    let cells = inputs.columns.iter().map(|column| {
        let text = cell_text(row, column);
        let content = match column {
            Column::Name => view! {
                <a href=address.clone()>{span(None, &text)}</a>
                {hit.as_ref().map(snippet)}
            }
            .into_any(),
            Column::Reward => {
                let bar = row.reward.map(|reward| bar(reward, inputs.rewards));
                view! { {span(None, &text)} {bar} }.into_any()
            }
            Column::Outcome => span(Some(outcome_class(&text)), &text),
            Column::Tags => {
                let tags = row.tags.iter().map(|tag| span(Some("tag"), tag));
                tags.collect_view().into_any()
            }
            _ => span(None, &text),
        };
        view! {
            <div class=class(column) role="cell">
                {content}
            </div>
        }
    });
    view! {
        <div class="table-row" role="row" aria-rowindex=move || number.get().to_string()>
            <div class="column-choice" role="cell">
                <input
                    type="checkbox"
                    aria-label=format!("Select {}", cell_text(row, &Column::Name))
                    prop:checked=move || is_chosen.get()
                    on:change=move |event: Event| {
                        look.choose(&id, event_target_checked(&event));
                    }
                />
            </div>
            {cells.collect_view()}
        </div>
    }
    .into_any()
}

fn span(class: Option<&'static str>, text: &str) -> AnyView {
    view! {
        <span class=class dir="auto">
            {inert(text)}
        </span>
    }
    .into_any()
}

#[component]
fn Heading(look: Look, column: Column) -> impl IntoView {
    let of = column.clone();
    let now = Memo::new(move |_| {
        look.sort.with(|sort| {
            let sort = sort.as_ref().filter(|(by, _)| *by == of);
            sort.map(|(_, direction)| *direction)
        })
    });
    let (name, class) = (heading(&column).to_string(), class(&column));
    let sort = Callback::new(move |()| look.sort_by(&column));
    view! {
        <div class=class role="columnheader" aria-sort=move || aria_sort(now.get())>
            <SortButton name direction=now.into() sort/>
        </div>
    }
}

/// The search hit with its context. There is little text before it, so that it is not cut off at the end of the cell.
fn snippet(found: &Match) -> impl IntoView + use<> {
    const BEFORE: usize = 16;
    let from = found.before.char_indices().rev().nth(BEFORE);
    let before = match from {
        None => found.before.to_string(),
        Some((place, _)) => format!("…{}", found.before[place..].trim_start_matches('…')),
    };
    view! {
        <span class="snippet">
            {span(None, &before)}
            <mark dir="auto">{inert(&found.hit)}</mark>
            {span(None, &found.after)}
        </span>
    }
}
