//! The results of an evaluation, one row per policy.

use std::rc::Rc;

use leptos::prelude::*;
use volary_agent::evaluation::table::PolicyRow;

use super::chart;
use super::run::Run;
use crate::components::erased::dynamic;
use crate::components::markup::{El, all, el};
use crate::components::text::inert_in;
use crate::projection::summary::seconds_text;
use crate::projection::text::{count_text, large_count_text};

/// The table.
pub(super) fn policies_table(run: &Rc<Run>) -> El {
    let table = run.shown.table;
    let names = run.policy_names();
    let heads = move || {
        let mut heads: Vec<String> = ["Policy", "Episodes", "Mean reward", "Successes"]
            .map(str::to_owned)
            .into();
        table.with_untracked(|table| {
            for k in &table.tries {
                heads.push(format!("pass@{k}"));
                if *k > 1 {
                    heads.push(format!("pass^{k}"));
                }
            }
        });
        heads.extend(["Steps", "Tokens", "Cost", "Time", "Failures"].map(str::to_owned));
        heads
    };
    let head_cells: Vec<AnyView> = heads()
        .into_iter()
        .map(|head| el("th").attr("scope", "col").child(head).view())
        .collect();
    let rows = dynamic(move || {
        table.with(|table| {
            let rows = table.policies.iter().zip(&names);
            all(rows
                .map(|(row, name)| policy_row(name, row, &table.tries))
                .collect())
        })
    });
    el("section")
        .class("card outcomes")
        .attr("aria-label", "Results")
        .child(el("h2").child("Results"))
        .child(
            el("div")
                .class("table-scroll")
                .attr("tabindex", "0")
                .attr("role", "region")
                .attr("aria-label", "Table of results")
                .child(
                    el("table")
                        .class("results-table")
                        .child(
                            el("caption")
                                .class("visually-hidden")
                                .child("Results by policy, with 95% intervals"),
                        )
                        .child(el("thead").child(el("tr").child(head_cells)))
                        .child(el("tbody").child(rows)),
                ),
        )
}

fn policy_row(name: &str, row: &PolicyRow, tries: &[usize]) -> AnyView {
    let number = |text: String| el("td").class("number").child(text);
    let mut line = el("tr")
        .child(
            el("th")
                .attr("scope", "row")
                .child(inert_in("span", "", name)),
        )
        .child(number(format!(
            "{} of {}",
            count_text(row.finished),
            count_text(row.total)
        )))
        .child(number(chart::reward_words(row)))
        .child(number(count_text(row.successes)));
    for (k, (at, each)) in tries.iter().zip(&row.passes) {
        line = line.child(number(chart::percent(*at)));
        if *k > 1 {
            line = line.child(number(chart::percent(*each)));
        }
    }
    let average =
        |value: Option<f64>| value.map_or_else(|| "–".to_owned(), |value| format!("{value:.1}"));
    let failures: Vec<String> = row
        .failures
        .iter()
        .map(|(kind, count)| format!("{} × {}", count_text(*count), kind.word()))
        .collect();
    line.child(number(average(row.steps)))
        .child(number(match row.tokens {
            0 => "–".to_owned(),
            tokens => large_count_text(tokens),
        }))
        .child(number(chart::cost_words(row.cost)))
        .child(number(
            row.seconds.map_or_else(|| "–".to_owned(), seconds_text),
        ))
        .child(el("td").child(match failures.is_empty() {
            true => "none".to_owned(),
            false => failures.join(", "),
        }))
        .view()
}
