//! The players of runs: they are created from the settings of the policy, and asked for one move after the other.

use std::time::Duration;

use futures_util::future::{AbortHandle, Abortable};
use leptos::prelude::*;
use volary_app::notice::Notice;
use volary_app::playground::Event;
use volary_app::playground::policy::PolicyKind;

use super::model;
use super::player::Player;
use super::policy_settings::{self, Plan};
use super::state::Playground;
use volary_browser as browser;
use volary_browser::lazy::Unloaded;

/// The longest pause between two steps.
const LONGEST_PAUSE: Duration = Duration::from_secs(3600);

/// Creates the player of a run. A model has to be loaded first; all other policies are already loaded.
pub(super) fn seat(playground: Playground, run: u32) {
    if playground.with_untracked(|machine| machine.policy()) != PolicyKind::Model {
        return seated(playground, run, policy_settings::policy(playground));
    }
    browser::spawn(async move {
        let player = match model::seated(playground).await {
            Ok(player) => player,
            Err(unloaded) => {
                let what = "The model cannot be called.";
                playground.alert(Notice::new(what, unloaded.to_string(), Unloaded::ADVICE));
                None
            }
        };
        seated(
            playground,
            run,
            player.map(|player| Plan { player, delay: 0.0 }),
        );
    });
}

fn seated(playground: Playground, run: u32, plan: Option<Plan>) {
    let Some(Plan { player, delay }) = plan else {
        return playground.update(Event::NotSeated { run });
    };
    let name = player.name();
    keep_player(playground, run, player);
    let delay = delay.clamp(0.0, LONGEST_PAUSE.as_secs_f64());
    playground.update(Event::Seated { run, name, delay });
}

/// Keeps the player for its next move. The player of an ended run must not take the place of another one.
fn keep_player(playground: Playground, run: u32, player: Box<dyn Player>) {
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
