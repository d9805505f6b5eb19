//! The way back from an episode to its group, step and run, and to its neighbours in the group. Empty unless the episode
//! was opened from a training run.

use leptos::prelude::*;
use volary_trajectory::training::Sample;

use super::{Level, Training};
use crate::components::text::inert;
use crate::projection::text::count_text;
use crate::route::{ReviewPlace, TrainingPlace};

/// What the bar shows.
#[derive(Clone, Debug, PartialEq)]
struct Trail {
    /// The links to run, step and group.
    links: Vec<(String, String)>,
    /// The name of the open sample, and its position in the group.
    here: Option<(String, usize, usize)>,
    before: Option<String>,
    after: Option<String>,
}

#[component]
pub(in crate::review) fn Trail(
    training: Training,
    /// The current place.
    place: Memo<ReviewPlace>,
) -> impl IntoView {
    let trail = Memo::new(move |_| {
        let episode = place.with(|place| place.episode.clone())?;
        let is_compared = place.with(|place| !place.beside.is_empty());
        let here = training.place.get()?;
        trail(training, &here, &episode, is_compared)
    });
    let bar = move || {
        let trail = trail.get()?;
        let links = trail.links.into_iter().map(|(href, name)| {
            view! {
                <a href=href dir="auto">
                    {inert(&name)}
                </a>
                <span aria-hidden="true">{"›"}</span>
            }
        });
        let here = trail.here.map(|(name, at, count)| {
            view! {
                <span aria-current="page" dir="auto">
                    <strong>{inert(&name)}</strong>
                </span>
                <span class="faint">
                    {format!("{} of {}", count_text(at + 1), count_text(count))}
                </span>
            }
        });
        let step = |href: Option<String>, words: &'static str| {
            href.map(|href| {
                view! {
                    <a class="button quiet small" href=href>
                        {words}
                    </a>
                }
            })
        };
        Some(view! {
            <nav class="failure-bar training-trail" aria-label="Training run">
                {links.collect_view()}
                {here}
                {step(trail.before, "Previous sample")}
                {step(trail.after, "Next sample")}
            </nav>
        })
    };
    view! { {bar} }
}

fn trail(
    training: Training,
    here: &TrainingPlace,
    episode: &str,
    is_compared: bool,
) -> Option<Trail> {
    let shown = training.shown.get()?;
    let mut links = Vec::new();
    let run = TrainingPlace {
        step: None,
        group: None,
        ..here.clone()
    };
    links.push((run.to_hash(), shown.title.clone()));
    let mut trail = Trail {
        links,
        here: None,
        before: None,
        after: None,
    };
    if let Level::Step(_, step) | Level::Group(step, _) = shown.level(here) {
        let place = TrainingPlace {
            group: None,
            ..here.clone()
        };
        trail
            .links
            .push((place.to_hash(), format!("Step {}", step.step)));
    }
    if let Level::Group(_, group) = shown.level(here) {
        trail.links.push((here.to_hash(), group.name()));
        let samples = shown.run.samples_of(&group.samples);
        let at = samples.iter().position(|sample| *sample.row.id == *episode);
        if let Some(at) = at.filter(|_| !is_compared) {
            let target = |sample: &Sample| here.episode_hash(&sample.row.id, &[]);
            trail.here = Some((format!("Sample {}", samples[at].label()), at, samples.len()));
            trail.before = at.checked_sub(1).and_then(|at| samples.get(at)).map(target);
            trail.after = samples.get(at + 1).map(target);
        }
    }
    Some(trail)
}
