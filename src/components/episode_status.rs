//! How the episode stands, in one line.

use std::sync::Arc;

use leptos::prelude::*;
use volary_trace::Episode;

use super::erased::words;
use super::markup::el;
use crate::projection::summary::{State, standing};

/// The status **Episode**: reward, number of steps, and whether it is done or truncated. Why it is
/// stands at the end of the transcript.
#[component]
pub fn EpisodeStatus(
    /// The episode.
    #[prop(into)]
    episode: Signal<Arc<Episode>>,
) -> impl IntoView {
    let state = move || {
        let (class, word) = match episode.with(|episode| standing(episode).state) {
            State::Open => ("badge", "open"),
            State::Done => ("badge good", "done"),
            State::Truncated => ("badge notice", "truncated"),
            State::Crashed => ("badge bad", "crashed"),
        };
        (class.to_owned(), word.to_owned())
    };
    let reward = words(move || episode.with(|episode| standing(episode).reward));
    let steps = words(move || episode.with(|episode| standing(episode).steps));
    let spent = words(move || episode.with(|episode| standing(episode).spent.unwrap_or_default()));
    let reward = el("span")
        .class("figure")
        .child("Reward ")
        .child(el("strong").child(reward));
    let badge = el("span")
        .class(words(move || state().0))
        .child(words(move || state().1));
    el("div")
        .class("episode-status")
        .attr("role", "status")
        .attr("aria-label", "Episode")
        .child(reward)
        .child(el("span").class("figure").child(steps))
        .child(badge)
        .child(el("span").class("figure spent").child(spent))
        .view()
}
