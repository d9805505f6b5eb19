//! The bar above the panes: how the episode stands, what goes in and out, the timeline.

use leptos::prelude::*;
use volary_trajectory::{Episode, Relation};

use super::controls::buttons;
use super::intents::Intent;
use super::state::{length, use_playground};
use crate::components::erased::{dynamic, flag, shown, words};
use crate::components::markup::{El, button, el, nothing};
use crate::components::{EpisodeStatus, Timeline};
use crate::route::{IN_PLAYGROUND, ReviewPlace, Route};
use volary_app::playground::session::Phase;

/// The bar.
pub fn episode_bar() -> El {
    let playground = use_playground();
    let transfer = playground.transfer;
    let length = Memo::new(move |_| playground.episode.with(|episode| length(episode)));
    let empty = flag(move || {
        let session = playground.session.read();
        matches!(session.phase(), Phase::Empty)
    });
    let former = shown(
        move || playground.former.with(Option::is_some),
        move || {
            button("quiet")
                .on_click(move || playground.intend(Intent::BringBack))
                .child("Previous episode")
                .view()
        },
    );
    let origin = dynamic(move || {
        let place = playground
            .episode
            .with(|episode| fork_beside_origin(episode));
        place.map_or_else(nothing, |place| {
            el("a")
                .class("button quiet")
                .attr("href", Route::Review(place).to_hash())
                .child("Compare with the original")
                .view()
        })
    });
    let reading = words(move || {
        let label = if transfer.reading.get() {
            "Importing…"
        } else {
            "Import"
        };
        label.to_owned()
    });
    let actions = buttons([
        button("quiet")
            .on_click(move || playground.intend(Intent::PickFile))
            .child(reading),
        button("")
            .flag_property("disabled", empty)
            .on_click(move || transfer.exporting.set(true))
            .child("Export"),
        button("")
            .flag_property("disabled", empty)
            .on_click(move || playground.intend(Intent::Share))
            .child("Share"),
    ]);
    let timeline = view! {
        <Timeline
            length=length
            selected=playground.selected
            playing=transfer.playing
            speed=transfer.speed
        />
    };
    el("section")
        .class("episode-bar")
        .attr("aria-label", "Episode and timeline")
        .child(
            view! { <EpisodeStatus episode=playground.episode edition=playground.edition/> }
                .into_any(),
        )
        .child(
            el("div")
                .class("episode-actions button-row")
                .child(origin)
                .child(former)
                .child(actions),
        )
        .child(
            el("p")
                .class("news")
                .attr("role", "status")
                .attr("aria-label", "Notifications")
                .child(words(move || playground.said.get())),
        )
        .child(timeline.into_any())
}

/// Where a fork stands beside the episode that it comes from.
fn fork_beside_origin(episode: &Episode) -> Option<ReviewPlace> {
    let mut links = episode.links.iter();
    let origin = links.find(|link| link.relation == Relation::Branch)?;
    Some(ReviewPlace {
        episode: Some(origin.episode.to_string()),
        beside: vec![IN_PLAYGROUND.to_owned()],
        ..ReviewPlace::default()
    })
}
