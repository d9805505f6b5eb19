//! Playback: moves the playground's selection along the timeline.

use leptos::prelude::*;

use super::state::Playground;
use volary_app::playground::address::last_step;
use volary_ui::playback::Playback;

/// Moves the selection while playback is on.
pub fn play_along(playground: Playground) {
    Playback {
        selected: playground.selected(),
        last: Signal::derive(move || playground.episode().with(|episode| last_step(episode))),
        playing: playground.transfer().playing,
        speed: playground.transfer().speed,
    }
    .play_along();
}
