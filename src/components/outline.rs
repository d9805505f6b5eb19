//! An episode as an outline: one line per step, for overview and navigation.

use std::collections::BTreeSet;
use std::sync::Arc;

use leptos::prelude::*;
use volary_trajectory::Episode;

use super::erased::{dynamic, maybe_words, words};
use super::markup::{all, button, el};
use super::rows::Rows;
use super::text::inert_in;
use crate::projection::outline::{class_and_name, line};
use crate::projection::summary::reward_text;
use crate::projection::text::count_text;

/// The height of a line, as in the style sheet.
const LINE: f64 = 30.0;

/// Additional marks of steps.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Badges {
    /// Steps with notes.
    pub noted: BTreeSet<usize>,
    /// The first step that differed on replay.
    pub differs: Option<usize>,
}

/// The outline. It keeps the selected step in view.
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
        let current = maybe_words(move || (selected.get() == step).then(|| "step".to_owned()));
        let class = words(move || match selected.get() == step {
            true => "outline-line selected".to_owned(),
            false => "outline-line".to_owned(),
        });
        let reward = line.reward.map(|reward| {
            let sign = if reward > 0.0 { "+" } else { "" };
            el("span")
                .class(if reward < 0.0 {
                    "reward bad"
                } else {
                    "reward good"
                })
                .child(format!("{sign}{}", reward_text(reward)))
        });
        let badge = dynamic(move || {
            let (noted, differs) =
                badges.with(|badges| (badges.noted.contains(&step), badges.differs == Some(step)));
            let badge = |class: &'static str, sign: &'static str, name: &'static str| {
                el("span")
                    .class(class)
                    .attr("role", "img")
                    .attr("aria-label", name)
                    .attr("title", name)
                    .child(sign)
                    .view()
            };
            let differs = differs.then(|| badge("outline-badge bad", "≠", "differs on replay"));
            let noted = noted.then(|| badge("outline-badge", "✎", "noted"));
            all([differs, noted].into_iter().flatten().collect())
        });
        let (class_of_kind, name) = class_and_name(line.kind);
        let kind = el("span")
            .class(format!("kind-mark {class_of_kind}"))
            .attr("role", "img")
            .attr("aria-label", name)
            .attr("title", name);
        let go = button("outline-step")
            .attr("aria-current", current)
            .on_click(move || selected.set(step))
            .child(el("span").class("outline-number").child(number))
            .child(kind)
            .child(inert_in("span", "outline-title", &line.title))
            .child(badge)
            .child(reward);
        el("div")
            .class(class)
            .attr("role", "listitem")
            .child(go)
            .view()
    })
}
