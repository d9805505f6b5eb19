//! Filters, columns and grouping of the table.

use std::sync::Arc;

use leptos::ev::{Event, KeyboardEvent};
use leptos::prelude::*;
use volary_trajectory::table::groups::GroupBy;
use volary_trajectory::table::{Cell, Column, choices};

use super::selection::{Look, sampled};
use crate::browser;
use crate::components::erased::{dynamic, flag, maybe_words, shown, words};
use crate::components::icon::{Glyph, named_icon};
use crate::components::markup::{El, all, button, el};
use crate::components::text::inert;
use crate::playground::controls::{choice, option, typed};
use crate::projection::library::{filter_text, heading, read_filter};

/// The number of values of a column offered as suggestions.
const MOST_CHOICES: usize = 30;

/// The row of filters and selects above the table.
pub fn filter_bar(look: Look) -> El {
    el("div")
        .class("filter-bar")
        .child(filter_chips(look))
        .child(new_filter(look))
        .child(group_choice(look))
        .child(column_choice(look))
}

fn filter_chips(look: Look) -> AnyView {
    dynamic(move || {
        let chips = look.filters.with(|filters| {
            let chips = filters.iter().enumerate().map(|(place, (column, filter))| {
                let name = format!("{} {}", heading(column), filter_text(filter));
                let remove = move || {
                    look.filters.update(|filters| {
                        if place < filters.len() {
                            filters.remove(place);
                        }
                    });
                };
                el("li")
                    .class("chip")
                    .child(inert(&name))
                    .child(
                        button("quiet icon-button small")
                            .on_click(remove)
                            .child(named_icon(Glyph::Close, "Remove filter")),
                    )
                    .view()
            });
            chips.collect::<Vec<_>>()
        });
        el("ul")
            .class("chips")
            .attr("aria-label", "Filters")
            .child(chips)
            .view()
    })
}

/// A new filter: a column and its condition (`>= 1`, `0..0.5` or a part of a text).
fn new_filter(look: Look) -> El {
    let column = RwSignal::new(0usize);
    let wanted = RwSignal::new(String::new());
    let columns = Memo::new(move |_| Arc::new(look.all_columns()));
    let of = move || columns.with(|columns| columns.get(column.get()).cloned());
    // The rejected input; cleared when the input changes.
    let refused = RwSignal::new(None::<String>);
    let is_refused =
        flag(move || refused.with(|refused| refused.as_ref() == Some(&*wanted.read())));
    let add = move || {
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
    let names = dynamic(move || {
        let columns = columns.get();
        let names = columns.iter().enumerate();
        all(names
            .map(|(place, column)| option(place.to_string(), heading(column)).view())
            .collect())
    });
    let offered = dynamic(move || {
        let Some(column) = of() else {
            return ().into_any();
        };
        let offered = look
            .shelf
            .rows
            .with(|rows| choices(sampled(rows), &column, MOST_CHOICES));
        all(offered
            .into_iter()
            .map(|(text, count)| {
                el("option")
                    .attr("value", text)
                    .child(format!("{count}"))
                    .view()
            })
            .collect())
    });
    let input = el("input")
        .attr("type", "text")
        .attr("aria-label", "Condition")
        .attr("placeholder", "text, >= 1, 0..0.5")
        .attr(
            "aria-invalid",
            maybe_words(move || is_refused.get().then(|| "true".to_owned())),
        )
        .attr("list", "filter-choices");
    el("form")
        .class("new-filter")
        .attr("aria-label", "New filter")
        .on("submit", move |event: leptos::ev::SubmitEvent| {
            event.prevent_default();
            add();
        })
        .child(
            choice(words(move || column.get().to_string()), move |place| {
                column.set(place.parse().unwrap_or_default());
            })
            .attr("aria-label", "Column")
            .child(names),
        )
        .child(typed(input, wanted))
        .child(el("datalist").attr("id", "filter-choices").child(offered))
        .child(el("button").attr("type", "submit").child("Filter"))
        .child(shown(
            move || is_refused.get(),
            || {
                el("p")
                    .class("refused-filter")
                    .attr("role", "alert")
                    .child(
                        "This column contains numbers. Use 2, >= 1, < 3, 0..0.5, known or unknown.",
                    )
                    .view()
            },
        ))
}

fn group_choice(look: Look) -> El {
    let value = words(move || {
        let value = match look.group.get() {
            None => "",
            Some(GroupBy::Task) => "task",
            Some(GroupBy::Run) => "run",
            Some(GroupBy::Column(Column::Model)) => "model",
            Some(GroupBy::Column(Column::Agent)) => "agent",
            Some(GroupBy::Column(_)) => "environment",
        };
        value.to_owned()
    });
    let choose = move |value: String| {
        look.group.set(match value.as_str() {
            "task" => Some(GroupBy::Task),
            "run" => Some(GroupBy::Run),
            "model" => Some(GroupBy::Column(Column::Model)),
            "agent" => Some(GroupBy::Column(Column::Agent)),
            "environment" => Some(GroupBy::Column(Column::Environment)),
            _ => None,
        });
    };
    el("label")
        .class("group-choice")
        .child(el("span").child("Group by"))
        .child(
            choice(value, choose)
                .child(option("", "nothing"))
                .child(option("task", "task"))
                .child(option("run", "run"))
                .child(option("model", "model"))
                .child(option("agent", "agent"))
                .child(option("environment", "environment")),
        )
}

/// The choice of visible columns.
fn column_choice(look: Look) -> El {
    let boxes = dynamic(move || {
        let columns = look.all_columns();
        all(columns
            .into_iter()
            .map(|column| {
                let of = column.clone();
                let is_shown = flag(move || look.columns.with(|columns| columns.contains(&of)));
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
                el("label")
                    .class("column-box")
                    .child(
                        el("input")
                            .attr("type", "checkbox")
                            .flag_property("checked", is_shown)
                            .on("change", toggle),
                    )
                    .child(inert(&name))
                    .view()
            })
            .collect())
    });
    el("details")
        .class("column-choice-box")
        .on("keydown", |press: KeyboardEvent| {
            if press.key() == "Escape" {
                browser::element::close_details(&press);
            }
        })
        .child(el("summary").child("Columns"))
        .child(el("div").class("column-boxes").child(boxes))
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
