//! The head of a training run: the way from the run to the shown group, and the choice of run and reward.

use std::sync::Arc;

use leptos::prelude::*;
use volary_protocol::library::FoundRun;
use volary_trajectory::table::Row;
use volary_trajectory::training::{RewardChoice, RunRows, TrainingRun};

use super::{Level, ShownRun, Training, group_key, neighbour};
use crate::browser::location;
use crate::components::sharing_check::{CheckedExport, CheckedExportDialog};
use crate::components::text::inert;
use crate::review::export_chosen::findings;
use crate::route::TrainingPlace;

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
    let run = TrainingPlace {
        step: None,
        group: None,
        ..place.clone()
    };
    let step = TrainingPlace {
        group: None,
        ..place.clone()
    };
    let (title, note, links) = match shown.level(place) {
        Level::Run | Level::Missing(_) => (shown.title.clone(), None, Vec::new()),
        Level::Step(_, known) => (
            format!("Step {}", known.step),
            None,
            vec![(run.to_hash(), shown.title.clone())],
        ),
        Level::Group(known, group) => {
            let task = group.task.as_ref().map(|task| task.to_string());
            let name = group.name();
            (
                name.clone(),
                task.filter(|task| *task != name),
                vec![
                    (run.to_hash(), shown.title.clone()),
                    (step.to_hash(), format!("Step {}", known.step)),
                ],
            )
        }
    };
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
    let name = |target: &TrainingPlace| match (&target.group, target.step) {
        (Some(key), Some(step)) => {
            let at = shown.run.place_of(step)?;
            let groups = &shown.run.steps[at].groups;
            let group = groups.iter().find(|group| group_key(group) == *key)?;
            Some(group.name())
        }
        (_, step) => step.map(|step| format!("Step {step}")),
    };
    let link = |forward: bool| {
        let target = neighbour(&shown.run, place, forward)?;
        let words = name(&target)?;
        let (before, after, title) = match forward {
            true => ("", " ›", format!("Next: {words} (])")),
            false => ("‹ ", "", format!("Previous: {words} ([)")),
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
        let here = place.clone();
        let choose = move |name: String| TrainingPlace {
            reward: Some(name),
            ..here.clone()
        };
        let now = match &shown.run.choice {
            RewardChoice::Whole => String::new(),
            RewardChoice::Part(name) => name.to_string(),
        };
        choice("Reward", now, rewards(&shown.run), choose)
    });
    let findings = is_run.then(|| {
        let (shown, reward) = (Arc::clone(shown), place.reward.clone());
        let save = move |_| save_findings(training, checked, &shown, reward.as_deref());
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
fn save_findings(
    training: Training,
    checked: CheckedExport,
    shown: &ShownRun,
    reward: Option<&str>,
) {
    let is_noted =
        |row: &Row| !row.notes.is_empty() || row.verdict.is_some() || !row.tags.is_empty();
    let rows = shown.run.samples.iter().map(|sample| &sample.row);
    let ids: Vec<_> = rows.clone().map(|row| row.id.clone()).collect();
    let noted: Vec<Arc<Row>> = rows.filter(|row| is_noted(row)).cloned().collect();
    let run = FoundRun {
        title: shown.title.as_str().into(),
        ids,
        reward: reward.map(Into::into),
    };
    findings(training.look, checked, &noted, vec![run]);
}

/// The rewards that may count, with their names.
fn rewards(run: &TrainingRun) -> Vec<(String, String)> {
    let whole = run
        .has_whole_reward
        .then(|| (String::new(), "reward of the file".to_owned()));
    let parts = run
        .parts
        .iter()
        .map(|(name, _)| (name.to_string(), name.to_string()));
    whole.into_iter().chain(parts).collect()
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
