//! How the episode stands, in one line.

use std::sync::Arc;

use leptos::prelude::*;
use volary_trace::Episode;

use super::text::inert;
use crate::projection::summary::{Standing, State, standing};

/// The status **Episode**: reward, number of steps, and whether it is done or truncated.
#[component]
pub fn EpisodeStatus(
    /// The episode.
    #[prop(into)]
    episode: Signal<Arc<Episode>>,
) -> impl IntoView {
    let standing = Memo::new(move |_| episode.with(|episode| standing(episode)));
    let state = move || {
        let (tone, word, reason) = match standing.get().state {
            State::Open => ("badge", "open", None),
            State::Done => ("badge good", "done", None),
            State::Truncated(reason) => ("badge notice", "truncated", Some(reason)),
            State::Crashed(message) => ("badge bad", "crashed", Some(message)),
        };
        view! {
            <span class=tone>{word}</span>
            {reason.map(|reason| view! { <span class="status-reason">{inert(&reason)}</span> })}
        }
    };
    let reward = move || standing.with(|Standing { reward, .. }| reward.clone());
    let steps = move || standing.with(|Standing { steps, .. }| steps.clone());
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
}
