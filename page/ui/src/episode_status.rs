//! The status of the episode on one line.

use std::sync::Arc;

use leptos::prelude::*;
use volary_episode::Episode;
use volary_view::summary::summarize;
use volary_view::tally::Tally;

/// The **Episode** status: reward, number of steps, and the ending. The reason for the ending is shown at the end of
/// the transcript.
#[component]
pub fn EpisodeStatus(
    #[prop(into)] episode: Signal<Arc<Episode>>,
    /// Changes whenever existing steps are replaced or removed.
    #[prop(into)]
    edition: Signal<u32>,
) -> impl IntoView {
    let tally = StoredValue::new(Tally::default());
    let summary = Memo::new(move |_| {
        let edition = edition.get();
        episode.with(|episode| {
            tally.update_value(|tally| tally.follow(episode, edition));
            tally.with_value(|tally| summarize(episode, tally))
        })
    });
    let state = move || summary.with(|summary| summary.state.badge());
    let reward = move || summary.with(|summary| summary.reward.clone());
    let steps = move || summary.with(|summary| summary.steps.clone());
    let spent = move || summary.with(|summary| summary.spent.clone().unwrap_or_default());
    view! {
        <div class="episode-status" role="status" aria-label="Episode">
            <span class="figure">
                {"Reward "} <strong>{reward}</strong>
            </span>
            <span class="figure">{steps}</span>
            <span class=move || state().0>{move || state().1}</span>
            <span class="figure spent">{spent}</span>
        </div>
    }
}
