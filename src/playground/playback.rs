//! Play: the selection moves along the timeline by itself.

use std::time::Duration;

use leptos::prelude::*;

use super::state::Playground;
use crate::shell::{self, timers};

impl Playground {
    /// Moves the selection while play is on.
    pub fn play_along(self) {
        let playing = self.transfer.playing;
        let round = StoredValue::new(0u32);
        Effect::new(move |_| {
            round.update_value(|round| *round = round.wrapping_add(1));
            if !playing.get() {
                return;
            }
            if untrack(|| self.selected.get()) >= self.last_step() {
                // Play at the end begins anew.
                self.selected.set(0);
            }
            let number = round.get_value();
            shell::spawn(async move {
                loop {
                    let speed = self.transfer.speed.get_untracked().max(0.1);
                    timers::sleep(Duration::from_secs_f64(1.0 / speed)).await;
                    if round.get_value() != number || !playing.get_untracked() {
                        return;
                    }
                    let next = self.selected.get_untracked() + 1;
                    let last = self.last_step();
                    self.selected.set(next.min(last));
                    if next >= last {
                        playing.set(false);
                        return;
                    }
                }
            });
        });
    }
}
