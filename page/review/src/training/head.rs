//! The head of a training run: the way from the run to the shown group, and the choice of run and reward.

use std::sync::Arc;

use leptos::prelude::*;
use volary_analysis::table::Row;
use volary_analysis::training::{RewardChoice, RunRows};
use volary_protocol::library::FoundRun;
use volary_view::route::TrainingPlace;

use super::{ShownRun, Training, kept_reward};
use crate::export_chosen::findings;
use volary_browser::location;
use volary_ui::sharing_check::{CheckedExport, CheckedExportDialog};
use volary_ui::text::inert;
use volary_view::review::training::shown_run::Way;

#[component]
pub(super) fn Head(training: Training) -> impl IntoView {
    let way = move || {
        let place = training.place.get()?;
        let shown = training.shown.get()?;
        Some(way(&shown, &place))
    };
    let checked = CheckedExport::new();
    let choices = move || {
        let place = training.place.get()?;
        let shown = training.shown.get()?;
        Some(choices(training, checked, &shown, &place))
    };
    let around = move || {
        let place = training.place.get()?;
        let shown = training.shown.get()?;
        around(&shown, &place)
    };
    view! {
        <header class="library-head training-head">
            <div class="training-title">{way}</div>
            {around}
            {choices}
            <CheckedExportDialog export=checked/>
        </header>
    }
}

/// The links to what is above, and the heading.
fn way(shown: &ShownRun, place: &TrainingPlace) -> AnyView {
    let Way { title, note, links } = shown.way(place);
    let links = links.into_iter().map(|(href, name)| {
        view! {
            <a href=href dir="auto">
                {inert(&name)}
            </a>
            <span aria-hidden="true">{"›"}</span>
        }
    });
    view! {
        <nav class="training-way" aria-label="Training run">
            <a href="#/review">{"Trajectories"}</a>
            <span aria-hidden="true">{"›"}</span>
            {links.collect_view()}
        </nav>
        <h1 dir="auto">{inert(&title)}</h1>
        {note.map(|note| view! { <p class="faint training-task" dir="auto">{inert(&note)}</p> })}
    }
    .into_any()
}

/// The links to the neighbours of a step or a group.
fn around(shown: &ShownRun, place: &TrainingPlace) -> Option<AnyView> {
    place.step?;
    let link = |forward: bool| {
        let target = shown.neighbour(place, forward)?;
        let words = shown.place_name(&target)?;
        let (before, after, title) = if forward {
            ("", " ›", format!("Next: {words} (])"))
        } else {
            ("‹ ", "", format!("Previous: {words} ([)"))
        };
        Some(view! {
            <a class="button quiet small training-neighbour" href=target.to_hash() title=title>
                {before}
                <span dir="auto">{inert(&words)}</span>
                {after}
            </a>
        })
    };
    let (before, after) = (link(false), link(true));
    Some(view! { <div class="button-row">{before} {after}</div> }.into_any())
}

fn choices(
    training: Training,
    checked: CheckedExport,
    shown: &Arc<ShownRun>,
    place: &TrainingPlace,
) -> AnyView {
    let catalog = training.catalog.get();
    let is_run = place.step.is_none();
    let runs = (is_run && catalog.runs.len() > 1).then(|| {
        let options = catalog.runs.iter().map(|run| (run.id(), run.title()));
        let here = place.clone();
        let choose = move |id: String| TrainingPlace {
            with: here.with.clone().filter(|with| *with != id),
            run: id,
            // Another run may have other rewards.
            ..TrainingPlace::default()
        };
        choice("Run", shown.id.clone(), options.collect(), choose)
    });
    let beside = (is_run && catalog.runs.len() > 1).then(|| {
        let others = catalog.runs.iter().filter(|run| run.id() != shown.id);
        let others = others.map(|run: &RunRows| (run.id(), run.title()));
        let none = std::iter::once((String::new(), "none".to_owned()));
        let here = place.clone();
        let choose = move |id: String| TrainingPlace {
            with: Some(id).filter(|id| !id.is_empty()),
            ..here.clone()
        };
        let now = place.with.clone().unwrap_or_default();
        choice("Compare with", now, none.chain(others).collect(), choose)
    });
    let reward = shown.run.has_choice().then(|| {
        let (here, run) = (place.clone(), shown.id.clone());
        let choose = move |name: String| {
            kept_reward::keep(&run, &name);
            TrainingPlace {
                reward: Some(name),
                ..here.clone()
            }
        };
        let now = match &shown.run.choice {
            RewardChoice::Whole => String::new(),
            RewardChoice::Part(name) => name.to_string(),
        };
        choice("Reward", now, shown.rewards(), choose)
    });
    let findings = is_run.then(|| {
        let shown = Arc::clone(shown);
        let save = move |_| save_findings(training, checked, &shown);
        view! {
            <button
                type="button"
                title="Save the curves, and the samples with notes or tags, as one HTML page for others"
                on:click=save
            >
                {"Save findings"}
            </button>
        }
    });
    view! { <div class="training-choices">{runs} {beside} {reward} {findings}</div> }.into_any()
}

/// Saves a page with the run, and with its samples that have notes or tags.
fn save_findings(training: Training, checked: CheckedExport, shown: &ShownRun) {
    let is_noted =
        |row: &Row| !row.notes.is_empty() || row.verdict.is_some() || !row.tags.is_empty();
    let rows = shown.run.samples.iter().map(|sample| &sample.row);
    let ids: Vec<_> = rows.clone().map(|row| row.id.clone()).collect();
    let noted: Vec<Arc<Row>> = rows.filter(|row| is_noted(row)).cloned().collect();
    let run = FoundRun {
        title: shown.title.as_str().into(),
        ids,
        reward: shown.chosen.as_deref().map(Into::into),
    };
    findings(training.look, checked, &noted, vec![run]);
}

/// A choice that leads to another place.
fn choice(
    label: &'static str,
    now: String,
    options: Vec<(String, String)>,
    choose: impl Fn(String) -> TrainingPlace + 'static,
) -> AnyView {
    let options = options.into_iter().map(|(value, name)| {
        let is_selected = value == now;
        view! {
            <option value=value prop:selected=is_selected>
                {inert(&name)}
            </option>
        }
    });
    view! {
        <label class="group-choice">
            <span>{label}</span>
            <select on:change=move |event| {
                location::go(&choose(event_target_value(&event)).to_hash());
            }>{options.collect_view()}</select>
        </label>
    }
    .into_any()
}
