//! Filters, columns and grouping of the table.

use std::sync::Arc;

use leptos::ev::{Event, KeyboardEvent, SubmitEvent};
use leptos::prelude::*;
use volary_trajectory::table::groups::GroupBy;
use volary_trajectory::table::{Cell, Column, choices};

use super::selection::{Look, sampled};
use crate::browser;
use crate::components::icon::{Glyph, NamedIcon};
use crate::components::text::inert;
use crate::projection::library::{filter_text, heading, read_filter};

/// The number of values of a column offered as suggestions.
const MOST_CHOICES: usize = 30;

/// The row of filters and selects above the table.
#[component]
pub(super) fn FilterBar(look: Look) -> impl IntoView {
    view! {
        <div class="filter-bar">
            {move || filter_chips(look)}
            <NewFilter look/>
            <GroupChoice look/>
            <ColumnChoice look/>
        </div>
    }
}

fn filter_chips(look: Look) -> impl IntoView {
    let chips = look.filters.get().into_iter().enumerate();
    let chips = chips.map(|(place, (column, filter))| {
        let name = format!("{} {}", heading(&column), filter_text(&filter));
        let remove = move |_| {
            look.filters.update(|filters| {
                if place < filters.len() {
                    filters.remove(place);
                }
            });
        };
        view! {
            <li class="chip">
                {inert(&name)}
                <button type="button" class="quiet icon-button small" on:click=remove>
                    <NamedIcon glyph=Glyph::Close name="Remove filter"/>
                </button>
            </li>
        }
    });
    view! {
        <ul class="chips" aria-label="Filters">
            {chips.collect_view()}
        </ul>
    }
}

/// A new filter: a column and its condition (`>= 1`, `0..0.5` or a part of a text).
#[component]
fn NewFilter(look: Look) -> impl IntoView {
    let column = RwSignal::new(0usize);
    let wanted = RwSignal::new(String::new());
    let columns = Memo::new(move |_| Arc::new(look.all_columns()));
    let of = move || columns.with(|columns| columns.get(column.get()).cloned());
    // The rejected input; cleared when the input changes.
    let refused = RwSignal::new(None::<String>);
    let is_refused =
        Memo::new(move |_| refused.with(|refused| refused.as_ref() == Some(&*wanted.read())));
    let add = move |event: SubmitEvent| {
        event.prevent_default();
        let words = wanted.get_untracked();
        let Some(column) = untrack(of) else { return };
        let numeric = look.shelf.rows.with_untracked(|rows| {
            let mut cells = sampled(rows).map(|row| row.cell(&column));
            cells.any(|cell| matches!(cell, Cell::Number(_)))
        });
        match read_filter(&words, numeric) {
            Some(filter) => {
                look.filters
                    .update(|filters| filters.push((column, filter)));
                wanted.set(String::new());
            }
            None if words.trim().is_empty() => {}
            None => refused.set(Some(words)),
        }
    };
    let names = move || {
        let columns = columns.get();
        let names = columns.iter().enumerate();
        names
            .map(|(place, column)| {
                view! { <option value=place.to_string()>{heading(column)}</option> }
            })
            .collect_view()
    };
    let offered = move || {
        let column = of()?;
        let offered = look
            .shelf
            .rows
            .with(|rows| choices(sampled(rows), &column, MOST_CHOICES));
        let offered = offered.into_iter();
        let options =
            offered.map(|(text, count)| view! { <option value=text>{count.to_string()}</option> });
        Some(options.collect_view())
    };
    let choose = move |event| {
        column.set(event_target_value(&event).parse().unwrap_or_default());
    };
    view! {
        <form class="new-filter" aria-label="New filter" on:submit=add>
            <select
                aria-label="Column"
                prop:value=move || column.get().to_string()
                on:change=choose
            >
                {names}
            </select>
            <input
                type="text"
                aria-label="Condition"
                placeholder="text, >= 1, 0..0.5"
                aria-invalid=move || is_refused.get().then_some("true")
                list="filter-choices"
                prop:value=move || wanted.get()
                on:input=move |event| wanted.set(event_target_value(&event))
            />
            <datalist id="filter-choices">{offered}</datalist>
            <button type="submit">{"Filter"}</button>
            <Show when=move || is_refused.get()>
                <p class="refused-filter" role="alert">
                    {"This column contains numbers. Use 2, >= 1, < 3, 0..0.5, known or unknown."}
                </p>
            </Show>
        </form>
    }
}

#[component]
fn GroupChoice(look: Look) -> impl IntoView {
    let value = move || match look.group.get() {
        None => "",
        Some(GroupBy::Task) => "task",
        Some(GroupBy::Run) => "run",
        Some(GroupBy::Column(Column::Model)) => "model",
        Some(GroupBy::Column(Column::Agent)) => "agent",
        Some(GroupBy::Column(_)) => "environment",
    };
    let choose = move |event| {
        look.group.set(match event_target_value(&event).as_str() {
            "task" => Some(GroupBy::Task),
            "run" => Some(GroupBy::Run),
            "model" => Some(GroupBy::Column(Column::Model)),
            "agent" => Some(GroupBy::Column(Column::Agent)),
            "environment" => Some(GroupBy::Column(Column::Environment)),
            _ => None,
        });
    };
    let options = [
        ("", "nothing"),
        ("task", "task"),
        ("run", "run"),
        ("model", "model"),
        ("agent", "agent"),
        ("environment", "environment"),
    ];
    let options = options.map(|(value, name)| view! { <option value=value>{name}</option> });
    view! {
        <label class="group-choice">
            <span>{"Group by"}</span>
            <select prop:value=value on:change=choose>
                {options.into_iter().collect_view()}
            </select>
        </label>
    }
}

/// The choice of visible columns.
#[component]
fn ColumnChoice(look: Look) -> impl IntoView {
    let boxes = move || {
        let columns = look.all_columns().into_iter();
        columns
            .map(|column| {
                let of = column.clone();
                let is_shown = move || look.columns.with(|columns| columns.contains(&of));
                let name = heading(&column);
                let toggle = move |event: Event| {
                    let wanted = event_target_checked(&event);
                    look.columns.update(|columns| {
                        let columns = Arc::make_mut(columns);
                        columns.retain(|known| *known != column);
                        if wanted {
                            columns.push(column.clone());
                        }
                    });
                };
                view! {
                    <label class="column-box">
                        <input type="checkbox" prop:checked=is_shown on:change=toggle/>
                        {inert(&name)}
                    </label>
                }
            })
            .collect_view()
    };
    let pressed = |press: KeyboardEvent| {
        if press.key() == "Escape" {
            browser::element::close_details(&press);
        }
    };
    view! {
        <details class="column-choice-box" on:keydown=pressed>
            <summary>{"Columns"}</summary>
            <div class="column-boxes">{boxes}</div>
        </details>
    }
}

#[cfg(test)]
mod tests {
    use volary_trajectory::table::filter::Filter;

    use super::*;

    #[test]
    fn filters_are_read_as_they_are_written() {
        for (words, numeric, expected) in [
            (">= 1", true, ">= 1"),
            ("<=0.5", true, "<= 0.5"),
            ("0..1", true, "0 to 1"),
            ("2", true, "= 2"),
            ("oracle", false, "contains \"oracle\""),
            ("= oracle", false, "is \"oracle\""),
            ("known", true, "is known"),
            ("unknown", true, "is unknown"),
        ] {
            let filter: Option<Filter> = read_filter(words, numeric);
            assert_eq!(
                filter.map(|filter| filter_text(&filter)).as_deref(),
                Some(expected)
            );
        }
        assert_eq!(read_filter("", true), None);
        assert_eq!(read_filter("more", true), None);
    }
}
