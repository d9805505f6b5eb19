//! An episode as an outline: one line per step, for overview and navigation.

use std::collections::BTreeSet;
use std::sync::Arc;

use leptos::prelude::*;
use volary_core::quantity::count_text;
use volary_episode::Episode;
use volary_view::outline::{class_and_name, line};
use volary_view::summary::reward_text;

use super::rows::Rows;
use super::text::inert;

/// The height of a line in pixels, as in the style sheet.
const LINE: f64 = 30.0;

/// Additional marks of steps.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Badges {
    /// Steps with notes.
    pub noted: BTreeSet<usize>,
    /// The first step that differed on replay.
    pub differs: Option<usize>,
}

/// The outline, which scrolls the selected step into view.
pub fn outline(
    episode: Signal<Arc<Episode>>,
    edition: Signal<u32>,
    selected: RwSignal<usize>,
    badges: Signal<Badges>,
) -> AnyView {
    let count = Memo::new(move |_| episode.with(|episode| episode.steps.len() + 1));
    let rows = Rows {
        count: count.into(),
        edition,
        height: LINE,
        seen: Signal::derive(move || Some(selected.get())),
        role: "list",
        class: "outline",
        name: Some("Outline"),
    };
    rows.view(move |step| {
        let line = episode.with_untracked(|episode| line(episode, step));
        let number = match step {
            0 => "Start".to_owned(),
            step => count_text(step),
        };
        let is_selected = move || selected.get() == step;
        let class = move || {
            if is_selected() {
                "outline-line selected"
            } else {
                "outline-line"
            }
        };
        let reward = line.reward.map(|reward| {
            let sign = if reward > 0.0 { "+" } else { "" };
            let class = if reward < 0.0 {
                "reward bad"
            } else {
                "reward good"
            };
            view! { <span class=class>{format!("{sign}{}", reward_text(reward))}</span> }
        });
        let (class_of_kind, name) = class_and_name(line.kind);
        view! {
            <div class=class role="listitem">
                <button
                    type="button"
                    class="outline-step"
                    aria-current=move || is_selected().then_some("step")
                    on:click=move |_| selected.set(step)
                >
                    <span class="outline-number">{number}</span>
                    <span
                        class=format!("kind-mark {class_of_kind}")
                        role="img"
                        aria-label=name
                        title=name
                    ></span>
                    <span class="outline-title" dir="auto">
                        {inert(&line.title)}
                    </span>
                    {move || badges.with(|badges| step_badges(badges, step))}
                    {reward}
                </button>
            </div>
        }
        .into_any()
    })
}

fn step_badges(badges: &Badges, step: usize) -> Vec<AnyView> {
    let badge = |class: &'static str, sign: &'static str, name: &'static str| {
        view! {
            <span class=class role="img" aria-label=name title=name>
                {sign}
            </span>
        }
        .into_any()
    };
    let differs = badges.differs == Some(step);
    let differs = differs.then(|| badge("outline-badge bad", "≠", "differs on replay"));
    let noted = badges.noted.contains(&step);
    let noted = noted.then(|| badge("outline-badge", "✎", "noted"));
    [differs, noted].into_iter().flatten().collect()
}
