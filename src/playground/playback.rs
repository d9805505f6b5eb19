//! Play: the playground's selection moves along the timeline by itself.

use leptos::prelude::*;

use super::state::Playground;
use crate::components::playback::Player;
use volary_app::playground::address::last_step;

impl Playground {
    /// Moves the selection while play is on.
    pub fn play_along(self) {
        Player {
            selected: self.selected,
            last: Signal::derive(move || self.episode.with(|episode| last_step(episode))),
            playing: self.transfer.playing,
            speed: self.transfer.speed,
        }
        .play_along();
    }
}
