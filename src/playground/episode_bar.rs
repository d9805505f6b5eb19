//! The bar above the panes: Run and Step, the state of the episode, the timeline, import and export.

use leptos::prelude::*;
use volary_trajectory::{Episode, Relation};

use super::intents::Intent;
use super::run_controls::RunControls;
use super::state::use_playground;
use crate::components::{EpisodeStatus, Timeline};
use crate::route::{IN_PLAYGROUND, ReviewPlace, Route};
use volary_app::playground::address::last_step;
use volary_app::playground::session::Phase;

/// The bar.
#[component]
pub(super) fn EpisodeBar() -> impl IntoView {
    let playground = use_playground();
    let transfer = playground.transfer;
    let length = Memo::new(move |_| playground.episode.with(|episode| last_step(episode)));
    let is_empty = Memo::new(move |_| {
        let session = playground.session.read();
        matches!(session.phase(), Phase::Empty)
    });
    let origin = move || {
        let place = playground
            .episode
            .with(|episode| fork_beside_origin(episode))?;
        Some(view! {
            <a class="button quiet" href=Route::Review(place).to_hash()>
                "Compare with the original"
            </a>
        })
    };
    let import = move || match transfer.reading.get() {
        true => "Importing…",
        false => "Import",
    };
    view! {
        <section class="episode-bar" aria-label="Episode and timeline">
            <RunControls/>
            <EpisodeStatus episode=playground.episode edition=playground.edition/>
            <div class="episode-actions button-row">
                {origin}
                <Show when=move || playground.former.with(Option::is_some)>
                    <button
                        type="button"
                        class="quiet"
                        on:click=move |_| playground.intend(Intent::BringBack)
                    >
                        {"Previous episode"}
                    </button>
                </Show>
                <div class="button-row">
                    <button
                        type="button"
                        class="quiet"
                        on:click=move |_| playground.intend(Intent::PickFile)
                    >
                        {import}
                    </button>
                    <button
                        type="button"
                        disabled=is_empty
                        on:click=move |_| transfer.exporting.set(true)
                    >
                        {"Export"}
                    </button>
                    <button
                        type="button"
                        disabled=is_empty
                        on:click=move |_| playground.intend(Intent::Share)
                    >
                        {"Share"}
                    </button>
                </div>
            </div>
            <p class="news" role="status" aria-label="Notifications">
                {move || playground.said.get()}
            </p>
            <Timeline
                length
                selected=playground.selected
                playing=transfer.playing
                speed=transfer.speed
            />
        </section>
    }
}

/// The comparison of a fork with its original.
fn fork_beside_origin(episode: &Episode) -> Option<ReviewPlace> {
    let mut links = episode.links.iter();
    let origin = links.find(|link| link.relation == Relation::Branch)?;
    Some(ReviewPlace {
        episode: Some(origin.episode.to_string()),
        beside: vec![IN_PLAYGROUND.to_owned()],
        ..ReviewPlace::default()
    })
}
