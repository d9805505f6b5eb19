//! One training step: its facts, its groups, histograms of its samples, and a timeline.
//!
//! [`group_tiles`](super::group_tiles), [`distribution`](super::distribution) and [`timeline`](super::timeline) draw
//! these.

use std::collections::BTreeSet;
use std::sync::Arc;

use leptos::prelude::*;
use volary_core::json::Text;
use volary_trajectory::table::Column;
use volary_trajectory::table::filter::Filter;
use volary_trajectory::table::view::View;
use volary_trajectory::training::StepSummary;

use super::distribution::card;
use super::group_tiles::groups;
use super::timeline::times;
use super::{ShownRun, Training};
use crate::projection::text::{count_text, plural};
use crate::route::{ReviewPlace, Route};

/// The maximum number of files that a filter of the table names.
const MOST_FILES: usize = 16;

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
    let legend = first.map(|first| {
        view! {
            <p class="run-legend">
                <span class="run-key">{format!("Step {}", step.step)}</span>
                <span class="run-key first">{format!("Step {}, as an outline", first.step)}</span>
            </p>
        }
    });
    view! {
        <div class="run-line-of-facts">
            <p class="run-facts">{facts(step)}</p>
            <a class="button small" href=table_address(shown, step)>
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

fn facts(step: &StepSummary) -> String {
    let mut parts = vec![plural(step.samples.len(), "sample")];
    let groups = step.group_count();
    if groups > 0 {
        let uniform = count_text(step.uniform_groups());
        parts.push(format!(
            "{}, {uniform} without variance",
            plural(groups, "group")
        ));
    }
    let reward = step.spreads.first().copied().unwrap_or_default();
    for (count, words) in [
        (step.truncated, "truncated"),
        (step.aborted, "aborted or failed"),
        (step.mixed_policies, "sampled from several policies"),
        (reward.missing, "without a reward"),
        (reward.not_finite, "with a NaN or infinite reward"),
    ] {
        if count > 0 {
            parts.push(format!("{} {words}", count_text(count)));
        }
    }
    parts.join(" · ")
}

/// The table of trajectories, filtered to the samples of a step.
fn table_address(shown: &ShownRun, step: &StepSummary) -> String {
    let samples = shown.run.samples_of(&step.samples);
    let has_step = samples
        .first()
        .is_some_and(|sample| sample.row.metadata.contains_key("step"));
    let key = if has_step { "step" } else { "iteration" };
    let of_step = (
        Column::Metadata(vec![key.into()]),
        Filter::OneOf(vec![step.step.to_string()]),
    );
    let files: BTreeSet<&Text> = samples
        .iter()
        .filter_map(|sample| sample.row.run.as_ref())
        .collect();
    let of_files = (!files.is_empty() && files.len() <= MOST_FILES).then(|| {
        let files = files.iter().map(|file| file.to_string());
        (Column::Run, Filter::OneOf(files.collect()))
    });
    let view = View {
        filters: std::iter::once(of_step).chain(of_files).collect(),
        ..View::default()
    };
    let place = ReviewPlace {
        view: view.to_query(),
        ..ReviewPlace::default()
    };
    Route::Review(place).to_hash()
}
