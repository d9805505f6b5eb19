//! The moves of the player of a run, one after the other.

use futures_util::future::{AbortHandle, Abortable};
use leptos::prelude::*;
use volary_app::playground::Event;
use volary_browser as browser;

use super::player::Player;
use super::state::Playground;

/// Keeps the player for its next move. The player of an ended run must not take the place of another one.
pub(super) fn keep_player(playground: Playground, run: u32, player: Box<dyn Player>) {
    if playground.with_untracked(|machine| machine.current_run().is_current(run)) {
        playground
            .driver()
            .update_value(|driver| driver.player = Some((run, player)));
    }
}

/// Asks the player of a run for its next move.
pub(super) fn decide(playground: Playground, run: u32, steps: usize) {
    let player = playground
        .driver()
        .try_update_value(|driver| driver.player.take());
    let Some((_, mut player)) = player.flatten().filter(|(of, _)| *of == run) else {
        return playground.update(Event::NotSeated { run });
    };
    let (abort, registration) = AbortHandle::new_pair();
    playground
        .driver()
        .update_value(|driver| driver.abort = Some(abort));
    browser::spawn(async move {
        let deciding = player.play(playground.episode().get_untracked());
        let Ok(next) = Abortable::new(deciding, registration).await else {
            return player.stopped();
        };
        keep_player(playground, run, player);
        playground.update(Event::Decided { run, steps, next });
    });
}

/// Cancels what the player does, and drops it.
pub(super) fn drop_player(playground: Playground) {
    let player = playground.driver().try_update_value(|driver| {
        if let Some(abort) = driver.abort.take() {
            abort.abort();
        }
        driver.player.take()
    });
    drop(player);
}
