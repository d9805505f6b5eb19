//! The results of an evaluation, one row per policy.

use std::rc::Rc;

use leptos::prelude::*;
use volary_agent::evaluation::table::PolicyRow;

use super::chart;
use super::run::Run;
use crate::components::text::inert;
use crate::projection::summary::seconds_text;
use crate::projection::text::{count_text, large_count_text};

/// The table.
#[component]
pub(super) fn PoliciesTable(run: Rc<Run>) -> impl IntoView {
    let table = run.shown.table;
    let names = run.policy_names();
    let heads = table.with_untracked(|table| heads(&table.tries));
    let heads = heads.into_iter();
    let heads = heads.map(|head| view! { <th scope="col">{head}</th> });
    let rows = move || {
        table.with(|table| {
            let rows = table.policies.iter().zip(&names);
            rows.map(|(row, name)| policy_row(name, row, &table.tries))
                .collect_view()
        })
    };
    view! {
        <section class="card outcomes" aria-label="Results">
            <h2>{"Results"}</h2>
            <div class="table-scroll" tabindex="0" role="region" aria-label="Table of results">
                <table class="results-table">
                    <caption class="visually-hidden">
                        {"Results by policy, with 95% intervals"}
                    </caption>
                    <thead>
                        <tr>{heads.collect_view()}</tr>
                    </thead>
                    <tbody>{rows}</tbody>
                </table>
            </div>
        </section>
    }
}

fn heads(tries: &[usize]) -> Vec<String> {
    let first = ["Policy", "Episodes", "Mean reward", "Successes"];
    let mut heads: Vec<String> = first.map(str::to_owned).into();
    for k in tries {
        heads.push(format!("pass@{k}"));
        if *k > 1 {
            heads.push(format!("pass^{k}"));
        }
    }
    heads.extend(["Steps", "Tokens", "Cost", "Time", "Failures"].map(str::to_owned));
    heads
}

fn policy_row(name: &str, row: &PolicyRow, tries: &[usize]) -> AnyView {
    let mut numbers = vec![
        format!("{} of {}", count_text(row.finished), count_text(row.total)),
        chart::reward_words(row),
        count_text(row.successes),
    ];
    for (k, (at, each)) in tries.iter().zip(&row.passes) {
        numbers.push(chart::percent(*at));
        if *k > 1 {
            numbers.push(chart::percent(*each));
        }
    }
    let average =
        |value: Option<f64>| value.map_or_else(|| "–".to_owned(), |value| format!("{value:.1}"));
    let failures: Vec<String> = row
        .failures
        .iter()
        .map(|(kind, count)| format!("{} × {}", count_text(*count), kind.word()))
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
    let failures = match failures.is_empty() {
        true => "none".to_owned(),
        false => failures.join(", "),
    };
    view! {
        <tr>
            <th scope="row">
                <span dir="auto">{inert(name)}</span>
            </th>
            {numbers.collect_view()}
            <td>{failures}</td>
        </tr>
    }
    .into_any()
}
