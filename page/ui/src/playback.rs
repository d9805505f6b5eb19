//! Playback: advances the selection along a timeline.

use std::time::Duration;

use leptos::prelude::*;

use volary_browser::{self as browser, timers};

/// The state of playback.
#[derive(Clone, Copy)]
pub struct Playback {
    /// The selected step; 0 is the reset.
    pub selected: RwSignal<usize>,
    /// The last step that can be selected.
    pub last: Signal<usize>,
    /// Whether playback is on.
    pub playing: RwSignal<bool>,
    /// Speed in steps per second.
    pub speed: RwSignal<f64>,
}

impl Playback {
    /// A player that is stopped.
    pub fn new(selected: RwSignal<usize>, last: Signal<usize>) -> Playback {
        Playback {
            selected,
            last,
            playing: RwSignal::new(false),
            speed: RwSignal::new(2.0),
        }
    }

    /// Advances the selection while playing.
    pub fn play_along(self) {
        let round = StoredValue::new(0u32);
        Effect::new(move |_| {
            round.update_value(|round| *round = round.wrapping_add(1));
            if !self.playing.get() {
                return;
            }
            if self.selected.get_untracked() >= self.last.get_untracked() {
                // Playback at the end restarts from the beginning.
                self.selected.set(0);
            }
            browser::spawn(self.play(round, round.get_value()));
        });
    }

    async fn play(self, round: StoredValue<u32>, number: u32) {
        loop {
            let speed = self.speed.get_untracked().max(0.1);
            timers::sleep(Duration::from_secs_f64(1.0 / speed)).await;
            if round.get_value() != number || !self.playing.get_untracked() {
                return;
            }
            let last = self.last.get_untracked();
            let next = self.selected.get_untracked() + 1;
            self.selected.set(next.min(last));
            if next >= last {
                self.playing.set(false);
                return;
            }
        }
    }
}
