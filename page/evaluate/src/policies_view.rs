//! The results of an evaluation, one row per policy.

use std::rc::Rc;

use leptos::prelude::*;
use volary_agent::evaluation::table::PolicyRow;
use volary_core::json::Text;
use volary_core::quantity::{count_text, large_count_text};
use volary_view::summary::seconds_text;

use super::chart;
use super::list_view::policy_words;
use super::run::OpenRun;
use volary_ui::term::Terms;
use volary_ui::text::inert;

#[component]
pub(super) fn PoliciesTable(run: Rc<OpenRun>) -> impl IntoView {
    let table = run.shown.table;
    let names = run.policy_names();
    let heads = HEADS.map(|head| view! { <th scope="col">{head}</th> });
    let rows = move || {
        table.with(|table| {
            let rows = table.policies.iter().zip(&names);
            rows.map(|(row, name)| policy_row(name, row)).collect_view()
        })
    };
    view! {
        <section class="card outcomes" aria-label="Results">
            <h2>{"Results"} <Terms place="results" terms=&["95% interval"]/></h2>
            <div class="table-scroll" tabindex="0" role="region" aria-label="Table of results">
                <table class="results-table">
                    <caption class="visually-hidden">
                        {"Results by policy, with 95% intervals"}
                    </caption>
                    <thead>
                        <tr>{heads.into_iter().collect_view()}</tr>
                    </thead>
                    <tbody>{rows}</tbody>
                </table>
            </div>
        </section>
    }
}

/// The column headings. They fit a window of 1440 pixels; pass@k has a table of its own.
const HEADS: [&str; 9] = [
    "Policy",
    "Episodes",
    "Mean reward",
    "Success rate",
    "Steps",
    "Tokens",
    "Cost",
    "Time",
    "Failures",
];

fn policy_row(name: &str, row: &PolicyRow) -> AnyView {
    let mut numbers = vec![
        if row.finished == row.total {
            count_text(row.total)
        } else {
            format!("{} of {}", count_text(row.finished), count_text(row.total))
        },
        chart::reward_words(row),
        row.rate
            .map_or_else(|| "–".to_owned(), |rate| chart::interval_words(rate.into())),
    ];
    let models: Vec<Text> = row.models.iter().cloned().collect();
    let average =
        |value: Option<f64>| value.map_or_else(|| "–".to_owned(), |value| format!("{value:.1}"));
    let failures: Vec<String> = row
        .failures
        .iter()
        .map(|(kind, count)| format!("{} × {}", count_text(*count), kind.as_str()))
        .collect();
    numbers.push(average(row.steps));
    numbers.push(match row.tokens {
        0 => "–".to_owned(),
        tokens => large_count_text(tokens),
    });
    numbers.push(chart::cost_words(row.cost));
    numbers.push(row.seconds.map_or_else(|| "–".to_owned(), seconds_text));
    let numbers = numbers.into_iter();
    let numbers = numbers.map(|number| view! { <td class="number">{number}</td> });
    let failures = if failures.is_empty() {
        "none".to_owned()
    } else {
        failures.join(", ")
    };
    view! {
        <tr>
            <th scope="row">
                <span dir="auto">{inert(&policy_words(name, &models))}</span>
            </th>
            {numbers.collect_view()}
            <td class="failure-kinds">{failures}</td>
        </tr>
    }
    .into_any()
}
