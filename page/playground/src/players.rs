//! Creates the players of runs from the settings of the policy. [`super::turns`] asks them for their moves.

use std::time::Duration;

use volary_app::notice::Notice;
use volary_app::playground::Event;
use volary_app::playground::policy::PolicyKind;

use super::model;
use super::policy_settings::{self, Plan};
use super::state::Playground;
use super::turns;
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
    turns::keep_player(playground, run, player);
    let delay = delay.clamp(0.0, LONGEST_PAUSE.as_secs_f64());
    playground.update(Event::Seated { run, name, delay });
}
