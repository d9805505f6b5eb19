//! How the episode stands, in one line.

use std::sync::Arc;

use leptos::prelude::*;
use volary_trace::Episode;

use super::erased::{dynamic, words};
use crate::projection::summary::{Standing, State, standing};

/// The status **Episode**: reward, number of steps, and whether it is done or truncated. Why it is
/// stands at the end of the transcript.
#[component]
pub fn EpisodeStatus(
    /// The episode.
    #[prop(into)]
    episode: Signal<Arc<Episode>>,
) -> impl IntoView {
    let standing = Memo::new(move |_| episode.with(|episode| standing(episode)));
    let state = dynamic(move || {
        let (tone, word) = standing.with(|standing| match standing.state {
            State::Open => ("badge", "open"),
            State::Done => ("badge good", "done"),
            State::Truncated => ("badge notice", "truncated"),
            State::Crashed => ("badge bad", "crashed"),
        });
        view! { <span class=tone>{word}</span> }.into_any()
    });
    let reward = words(move || standing.with(|Standing { reward, .. }| reward.clone()));
    let steps = words(move || standing.with(|Standing { steps, .. }| steps.clone()));
    view! {
        <div class="episode-status" role="status" aria-label="Episode">
            <span class="figure">
                "Reward "
                <strong>{reward}</strong>
            </span>
            <span class="figure">{steps}</span>
            {state}
        </div>
    }
    .into_any()
}
