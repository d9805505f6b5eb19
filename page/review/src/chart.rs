//! The chart above the table: any column against any other, for the rows that pass the filters. Each point opens its
//! trajectory, by a click or by the arrow keys and Enter. A table below lists the same values.
//!
//! - `drawn`: the chart and its keys. `paths`: what it draws. `tables`: the same values as tables.

mod drawn;
mod paths;
mod tables;

use std::sync::Arc;

use leptos::prelude::*;
use volary_analysis::table::chart::Chart;
use volary_analysis::table::view::{column_text, read_column};
use volary_analysis::table::{Column, Row};
use volary_view::library::heading;
use volary_view::route::{ReviewPlace, Route};

use super::selection::Look;
use drawn::DrawnChart;
use volary_ui::text::inert;

/// The chart, if it is shown.
#[component]
pub(super) fn Charts(look: Look) -> impl IntoView {
    let columns = Memo::new(move |_| look.chart.get());
    let drawing = move || {
        let (first, second) = columns.get()?;
        let rows = look.shown.get();
        let chart = Arc::new(Chart::of(&rows, &first, &second));
        let shown = DrawnChart {
            look,
            rows,
            chart,
            columns: [first, second],
        };
        Some(shown.draw())
    };
    view! {
        <Show when=move || columns.with(Option::is_some)>
            <section class="column-chart" aria-label="Chart">
                <ChartColumns look/>
                {drawing}
            </section>
        </Show>
    }
}

/// The choice of the two columns.
#[component]
fn ChartColumns(look: Look) -> impl IntoView {
    let columns = look.all_columns;
    let choice = move |name: &'static str, place: usize| {
        let of = move |chart: &(Column, Column)| match place {
            0 => column_text(&chart.0),
            _ => column_text(&chart.1),
        };
        let now = move || {
            look.chart
                .with(|chart| chart.as_ref().map(of))
                .unwrap_or_default()
        };
        let change = move |event| {
            let Some(column) = read_column(&event_target_value(&event)) else {
                return;
            };
            look.chart.update(|chart| {
                if let Some(chart) = chart {
                    match place {
                        0 => chart.0 = column,
                        _ => chart.1 = column,
                    }
                }
            });
        };
        let options = move || {
            let columns = columns.get();
            let options = columns.iter().map(|column| {
                let text = column_text(column);
                let value = text.clone();
                view! {
                    <option value=value prop:selected=move || now() == text>
                        {inert(&heading(column))}
                    </option>
                }
            });
            options.collect_view()
        };
        view! {
            <label class="group-choice">
                <span>{name}</span>
                <select prop:value=now on:change=change>
                    {options}
                </select>
            </label>
        }
    };
    let swap = move |_| {
        look.chart.update(|chart| {
            *chart = chart.take().map(|(first, second)| (second, first));
        });
    };
    view! {
        <div class="chart-columns">
            {choice("Across", 0)} {choice("Up", 1)}
            <button type="button" class="quiet small" on:click=swap>
                {"Swap"}
            </button>
            <button type="button" class="quiet small" on:click=move |_| look.chart.set(None)>
                {"Close chart"}
            </button>
        </div>
    }
}

fn address(row: &Row) -> String {
    Route::Review(ReviewPlace {
        episode: Some(row.id.to_string()),
        ..ReviewPlace::default()
    })
    .to_hash()
}
