//! Filters, columns and grouping of the table.

use std::sync::Arc;

use leptos::ev::{Event, SubmitEvent};
use leptos::prelude::*;
use volary_analysis::table::view::{column_text, read_column};
use volary_analysis::table::{Column, choices};
use volary_view::library::{FIRST_COLUMNS, heading};

use super::selection::{Look, sampled};
use volary_behaviour::link::{BehaviourButton, NarrowingChip};
use volary_ui::Menu;
use volary_ui::icon::{Glyph, NamedIcon};
use volary_ui::text::inert;
use volary_view::review::filter_texts::{
    NotANumber, chip_text, group_first, group_second, grouping_columns, grouping_name, hidden_text,
    new_filter, show_column,
};

/// The maximum number of a column's values that are suggested.
const MOST_CHOICES: usize = 30;

/// The row of filter controls and selects above the table.
#[component]
pub(super) fn FilterBar(look: Look) -> impl IntoView {
    view! {
        <div class="filter-bar">
            {move || filter_chips(look)}
            <NarrowingChip link=look.behaviour/>
            <NewFilter look/>
            <GroupChoice look/>
            <ChartButton look/>
            <BehaviourButton link=look.behaviour/>
            <ColumnChoice look/>
        </div>
        <HiddenColumns look/>
    }
}

/// Lists the columns that are hidden because all rows have the same value, with that value.
#[component]
fn HiddenColumns(look: Look) -> impl IntoView {
    let show = move |_| {
        look.chosen_columns
            .set(Some(Arc::new(FIRST_COLUMNS.to_vec())));
    };
    view! {
        <Show when=move || look.hidden.with(|hidden| !hidden.is_empty())>
            <p class="hidden-columns faint">
                <span dir="auto">
                    {move || look.hidden.with(|hidden| inert(&hidden_text(hidden)))}
                </span>
                <button type="button" class="quiet small" on:click=show>
                    {"Show all columns"}
                </button>
            </p>
        </Show>
    }
}

fn filter_chips(look: Look) -> impl IntoView {
    let chips = look.filters.get().into_iter().enumerate();
    let chips = chips.map(|(place, (column, filter))| {
        let name = chip_text(&column, &filter);
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

/// The input for a new filter: a column and its condition (`>= 1`, `0..0.5` or a substring).
#[component]
fn NewFilter(look: Look) -> impl IntoView {
    // Not its place: rows that arrive add columns before it.
    let column = RwSignal::new(None::<Column>);
    let wanted = RwSignal::new(String::new());
    let columns = look.all_columns;
    let of = Memo::new(move |_| {
        column
            .get()
            .or_else(|| columns.with(|columns| columns.first().cloned()))
    });
    // The rejected input, cleared on the next change.
    let refused = RwSignal::new(None::<String>);
    let is_refused =
        Memo::new(move |_| refused.with(|refused| refused.as_ref() == Some(&*wanted.read())));
    let add = move |event: SubmitEvent| {
        event.prevent_default();
        let words = wanted.get_untracked();
        let Some(column) = of.get_untracked() else {
            return;
        };
        let read = look
            .rows
            .with_untracked(|rows| new_filter(&words, &column, rows));
        match read {
            Ok(Some(filter)) => {
                look.filters
                    .update(|filters| filters.push((column, filter)));
                wanted.set(String::new());
            }
            Ok(None) => {}
            Err(NotANumber) => refused.set(Some(words)),
        }
    };
    let names = move || {
        let columns = columns.get();
        let names = columns.iter().cloned();
        names
            .map(|column| {
                let (value, name) = (column_text(&column), heading(&column));
                let is_chosen = move || of.with(|of| of.as_ref() == Some(&column));
                view! {
                    <option value=value prop:selected=is_chosen>
                        {name}
                    </option>
                }
            })
            .collect_view()
    };
    let offered = move || {
        let column = of.get()?;
        let offered = look
            .rows
            .with(|rows| choices(sampled(rows), &column, MOST_CHOICES));
        let offered = offered.into_iter();
        let options =
            offered.map(|(text, count)| view! { <option value=text>{count.to_string()}</option> });
        Some(options.collect_view())
    };
    let choose = move |event| {
        column.set(read_column(&event_target_value(&event)));
    };
    view! {
        <form class="new-filter" aria-label="New filter" on:submit=add>
            <select aria-label="Column" on:change=choose>
                {names}
            </select>
            <input
                type="text"
                aria-label="Condition"
                placeholder="text, >= 1, 0..0.5"
                aria-invalid=move || is_refused.get().then_some("true")
                list="filter-choices"
                bind:value=wanted
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

/// The select for the grouping columns: one, or two for a cross table.
#[component]
fn GroupChoice(look: Look) -> impl IntoView {
    let first = move || look.groups.with(|groups| groups.first().cloned());
    let has_first = Memo::new(move |_| first().is_some());
    let choose_first = move |column: Option<Column>| {
        look.groups.update(|groups| group_first(groups, column));
    };
    let second = move || look.groups.with(|groups| groups.get(1).cloned());
    let choose_second = move |column: Option<Column>| {
        look.groups.update(|groups| group_second(groups, column));
    };
    view! {
        <label class="group-choice">
            <span>{"Group by"}</span>
            <GroupSelect look chosen=Signal::derive(first) choose=Callback::new(choose_first)/>
        </label>
        <Show when=move || has_first.get()>
            <label class="group-choice">
                <span>{"and"}</span>
                <GroupSelect
                    look
                    chosen=Signal::derive(second)
                    choose=Callback::new(choose_second)
                />
            </label>
        </Show>
    }
}

/// The button that shows or hides the chart.
#[component]
fn ChartButton(look: Look) -> impl IntoView {
    let is_shown = Memo::new(move |_| look.chart.with(Option::is_some));
    let toggle = move |_| {
        look.chart.update(|chart| {
            *chart = match chart.take() {
                Some(_) => None,
                None => Some((Column::Steps, Column::Reward)),
            };
        });
    };
    view! {
        <button type="button" aria-pressed=move || is_shown.get().to_string() on:click=toggle>
            {"Chart"}
        </button>
    }
}

#[component]
fn GroupSelect(
    look: Look,
    chosen: Signal<Option<Column>>,
    choose: Callback<Option<Column>>,
) -> impl IntoView {
    let options = move || {
        let options = grouping_columns(&look.all_columns.get())
            .into_iter()
            .map(|column| {
                let name = grouping_name(&column);
                let is_chosen = {
                    let column = column.clone();
                    move || chosen.with(|chosen| chosen.as_ref() == Some(&column))
                };
                view! {
                    <option value=column_text(&column) prop:selected=is_chosen>
                        {name}
                    </option>
                }
            });
        options.collect_view()
    };
    let value = move || chosen.with(|chosen| chosen.as_ref().map(column_text).unwrap_or_default());
    view! {
        <select
            prop:value=value
            on:change=move |event| choose.run(read_column(&event_target_value(&event)))
        >
            <option value="">{"nothing"}</option>
            {options}
        </select>
    }
}

/// The choice of visible columns.
#[component]
fn ColumnChoice(look: Look) -> impl IntoView {
    // Incoming rows change the list. If it changes while `details` is closed, Chromium sometimes renders no check boxes
    // in it.
    let is_open = RwSignal::new(false);
    let boxes = move || {
        if !is_open.get() {
            return ().into_any();
        }
        let columns = look.all_columns.get();
        let columns = columns.iter().cloned();
        columns
            .map(|column| {
                let of = column.clone();
                let is_shown = move || look.columns.with(|columns| columns.contains(&of));
                let name = heading(&column);
                let toggle = move |event: Event| {
                    let wanted = event_target_checked(&event);
                    let mut columns = look.columns.get_untracked();
                    show_column(Arc::make_mut(&mut columns), &column, wanted);
                    look.chosen_columns.set(Some(columns));
                };
                view! {
                    <label class="column-box">
                        <input type="checkbox" prop:checked=is_shown on:change=toggle/>
                        {inert(&name)}
                    </label>
                }
            })
            .collect_view()
            .into_any()
    };
    view! {
        <Menu name="Columns" class="column-choice-box" is_open>
            <div class="column-boxes">
                <Show when=move || look.chosen_columns.with(Option::is_some)>
                    <button
                        type="button"
                        class="small"
                        on:click=move |_| look.chosen_columns.set(None)
                    >
                        {"Default columns"}
                    </button>
                </Show>
                {boxes}
            </div>
        </Menu>
    }
}
