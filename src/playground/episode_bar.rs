//! The bar above the panes: how the episode stands, what goes in and out, the timeline.

use leptos::prelude::*;

use super::session::Phase;
use super::state::{length, use_playground};
use crate::components::erased::{flag, label, pressed, shown, words};
use crate::components::{EpisodeStatus, Timeline};

/// The bar.
#[component]
pub fn EpisodeBar() -> impl IntoView {
    let playground = use_playground();
    let transfer = playground.transfer;
    let length = Memo::new(move |_| playground.episode.with(|episode| length(episode)));
    let empty = flag(move || {
        playground
            .session
            .with(|session| matches!(session.phase(), Phase::Empty))
    });
    let has_former = move || playground.former.with(|former| former.is_some());
    view! {
        <section class="episode-bar" aria-label="Episode and timeline">
            <EpisodeStatus episode=playground.episode/>
            <p class="episode-name">
                {words(move || playground.episode.with(|episode| episode.name.to_string()))}
            </p>
            <div class="episode-actions button-row">
                {shown(
                    has_former,
                    move || {
                        view! {
                            <button
                                type="button"
                                class="quiet"
                                on:click=pressed(move |_| playground.bring_back())
                            >
                                "Former episode"
                            </button>
                        }
                            .into_any()
                    },
                )}
                <button type="button" class="quiet" on:click=pressed(move |_| playground.pick_file())>
                    {label(move || if transfer.reading.get() { "Reading…" } else { "Import" })}
                </button>
                <button
                    type="button"
                    prop:disabled=empty
                    on:click=pressed(move |_| transfer.exporting.set(true))
                >
                    "Export"
                </button>
                <button type="button" prop:disabled=empty on:click=pressed(move |_| playground.share())>
                    "Share"
                </button>
            </div>
            <p class="news" role="status" aria-label="News">
                {words(move || playground.said.get())}
            </p>
            <Timeline
                length=length
                selected=playground.selected
                playing=transfer.playing
                speed=transfer.speed
            />
        </section>
    }
}
