//! Applies a change of the session to the page: selects steps, shows messages and warnings, and continues with a
//! pending action.

use leptos::prelude::*;
use volary_app::notice::Notice;
use volary_app::playground::session::{Change, Why};
use volary_view::form::Form;

use crate::playground::remote_environments;
use crate::playground::run_loop;
use crate::playground::saving;
use crate::playground::session_driver;
use crate::playground::state::Playground;

pub(super) fn act_on(playground: Playground, change: Change, before: usize) {
    match change {
        Change::Nothing => {}
        Change::Appended => {
            let mut selected = playground.selected.write_untracked();
            if *selected == before {
                *selected = playground
                    .episode
                    .with_untracked(|episode| episode.steps.len());
            }
            drop(selected);
            saving::played(playground);
        }
        Change::Replaced { why, differs, then } => {
            if why == Why::Again {
                saving::replayed(playground, differs);
            }
            if let Some(step) = differs {
                playground.say(format!(
                    "The replay differs from the recording from step {step} on. The page shows \
                     the replay."
                ));
            }
            session_driver::replaced(playground);
            if let Some(action) = then {
                session_driver::take_action(playground, action);
            }
        }
        Change::Refused { reason, key } => {
            if let Some(key) = &key {
                let form = playground.setup.form;
                form.update(|form: &mut Form| form.refuse(key, &reason));
            }
            playground.alert(Notice::new(
                "The environment rejected the input.",
                reason.to_string(),
                match key {
                    Some(_) => {
                        "Correct the marked fields and try again. The current episode \
                         is unchanged."
                    }
                    None => "The current episode is unchanged.",
                },
            ));
        }
        Change::Gone { action } => session_driver::take_action(playground, *action),
        Change::Lost { reason } => {
            run_loop::halt(playground);
            session_driver::replaced(playground);
            remote_environments::say_lost(playground, reason);
        }
        Change::Crashed { message } if remote_environments::shows_remote(playground) => {
            remote_environments::say_lost(playground, message)
        }
        Change::Crashed { message } => playground.alert(Notice::new(
            "The environment crashed and ended the episode.",
            message.to_string(),
            "All steps so far are kept. Continue from an earlier step, or press Reset.",
        )),
    }
}
