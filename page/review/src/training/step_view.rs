//! One training step: its facts, its groups, histograms of its samples, and a timeline.
//!
//! [`group_tiles`](super::group_tiles), [`distribution`](super::distribution) and [`timeline`](super::timeline) draw
//! these.

use std::sync::Arc;

use leptos::prelude::*;
use volary_analysis::training::StepSummary;

use super::distribution::card;
use super::group_tiles::groups;
use super::timeline::times;
use super::{ShownRun, Training};
use volary_view::review::training::texts::{step_facts, table_address};

pub(super) fn view(
    training: Training,
    shown: &Arc<ShownRun>,
    at: usize,
    step: &StepSummary,
) -> AnyView {
    let cards = shown
        .run
        .measures
        .iter()
        .filter_map(|measure| card(shown, at, step, measure));
    let first = shown
        .run
        .steps
        .first()
        .filter(|first| first.step != step.step);
    let first = first.map(|first| {
        view! { <span class="run-key first">{format!("Step {}, as an outline", first.step)}</span> }
    });
    let samples = shown.run.samples_of(&step.samples);
    let to_table = table_address(samples, step.step, &shown.run.choice);
    let legend = view! {
        <p class="run-legend">
            <span class="run-key">{format!("Step {}", step.step)}</span>
            <span class="run-key mean">{"Mean"}</span>
            {first}
        </p>
    };
    view! {
        <div class="run-line-of-facts">
            <p class="run-facts">{step_facts(step)}</p>
            <a class="button small" href=to_table>
                {"Show in table"}
            </a>
        </div>
        {groups(training, shown, at)}
        <h2 class="run-section">{"Distributions"}</h2>
        {legend}
        <div class="run-cards">{cards.collect_view()}</div>
        {times(training, shown, &step.samples)}
    }
    .into_any()
}
