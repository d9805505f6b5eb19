//! A run: what changed, curves over its steps, a table of the steps, and how often each task was solved over the steps.
//! A second run is shown next to it in all of these.

use std::sync::Arc;

use leptos::prelude::*;
use volary_analysis::training::series::{Change, change, changes};
use volary_analysis::training::{Measure, Series};
use volary_view::training::figure_text;

use super::card::card;
use super::steps_table::steps_table;
use super::task_table::task_table;
use super::{ShownRun, Training};
use volary_ui::text::inert;
use volary_view::review::training::texts::{gaps_text, run_facts};

/// The maximum number of changes that are named.
const MOST_CHANGES: usize = 4;

pub(super) fn view(training: Training, shown: &Arc<ShownRun>) -> AnyView {
    let beside = training.beside.get();
    let mut series = Series::of(&shown.run);
    for other in beside.iter().flat_map(|beside| Series::of(&beside.run)) {
        if !series.contains(&other) {
            series.push(other);
        }
    }
    let cards = series
        .into_iter()
        .filter_map(|series| card(training, shown, beside.as_ref(), series));
    let runs = std::iter::once((shown, "run-key"))
        .chain(beside.iter().map(|beside| (beside, "run-key other")));
    // A run alone needs no key.
    let key = |class: &'static str, title: &str| {
        let key = view! { <span class=class dir="auto">{inert(title)}</span> };
        beside.is_some().then_some(key)
    };
    let facts = runs
        .clone()
        .map(|(run, class)| facts(run, key(class, &run.title)));
    let changes = runs.map(|(run, class)| what_changed(run, key(class, &run.title)));
    let chosen = shown.choice_text().map(|words| {
        view! { <p class="run-notice" dir="auto">{inert(&words)}</p> }
    });
    view! {
        {facts.collect_view()}
        {chosen}
        {changes.collect_view()}
        <div class="run-cards">{cards.collect_view()}</div>
        {steps_table(shown, beside.as_deref(), &training.here())}
        {task_table(training, shown, beside.as_ref())}
    }
    .into_any()
}

fn facts(shown: &ShownRun, key: Option<impl IntoView>) -> AnyView {
    let run = &shown.run;
    let gaps = gaps_text(run).map(|words| view! { <p class="run-notice">{words}</p> });
    view! {
        <p class="run-facts">{key} {run_facts(run)}</p>
        {gaps}
    }
    .into_any()
}

/// What changed from the first to the last step: the reward, and what changed most besides it.
fn what_changed(shown: &ShownRun, key: Option<impl IntoView>) -> Option<AnyView> {
    let run = &shown.run;
    let reward = change(run, &Measure::Reward)?;
    let told = |change: &Change| {
        let is_share = change.measure.is_share();
        let text = |value| figure_text(value, is_share);
        let (first, last) = (text(change.first), text(change.last));
        // A change that the figures do not show has no direction.
        let mark = match change.last > change.first {
            _ if first == last => "",
            true => " ↑",
            false => " ↓",
        };
        let name = match &change.measure {
            Measure::Reward => shown.reward_name().to_owned(),
            measure => measure.title(),
        };
        view! {
            <li>
                <span dir="auto">{inert(&name)}</span>
                " "
                <strong>{format!("{first} → {last}")}</strong>
                <span aria-hidden="true">{mark}</span>
            </li>
        }
    };
    let found = changes(run);
    let others = found.iter().take(MOST_CHANGES).map(told);
    let ends = run.steps.first().zip(run.steps.last());
    let ends = ends.map(|(first, last)| format!("From step {} to {}:", first.step, last.step));
    let label = format!("What changed most in {}", shown.title);
    Some(
        view! {
            <div class="run-changes">
                {key}
                <span class="faint">{ends}</span>
                <ul aria-label=label>{told(&reward)} {others.collect_view()}</ul>
            </div>
        }
        .into_any(),
    )
}
