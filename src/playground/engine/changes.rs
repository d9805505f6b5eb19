//! What the page does about what became of an episode: select, say, warn, go on.

use leptos::prelude::*;

use crate::playground::session::Change;
use crate::playground::state::Playground;
use crate::projection::form::Form;
use crate::projection::notice::Notice;

impl Playground {
    pub(super) fn act_on(self, change: Change, before: usize) {
        match change {
            Change::Nothing => {}
            Change::Appended => {
                let mut selected = self.selected.write_untracked();
                if *selected == before {
                    *selected = self.episode.with_untracked(|episode| episode.steps.len());
                }
                drop(selected);
                self.played();
            }
            Change::Replaced { differs, then, .. } => {
                if let Some(step) = differs {
                    self.say(format!(
                        "Running it again gave something else than the record, from step {step} on. \
                         What is shown now is what happened here."
                    ));
                }
                self.replaced();
                if let Some(action) = then {
                    self.take_action(action);
                }
            }
            Change::Refused { reason, key } => {
                if let Some(key) = &key {
                    let form = self.setup.form;
                    form.update(|form: &mut Form| form.refuse(key, &reason));
                }
                self.alert(Notice::new(
                    "The environment did not take that.",
                    reason.to_string(),
                    match key {
                        Some(_) => "Change what is marked and try again; the episode that is shown is as it was.",
                        None => "The episode that is shown is as it was.",
                    },
                ));
            }
            Change::Gone { action } => self.take_action(action),
            Change::Lost { reason } => {
                self.halt();
                self.replaced();
                self.say_lost(reason);
            }
            Change::Crashed { message } if self.is_abroad() => self.say_lost(message),
            Change::Crashed { message } => self.alert(Notice::new(
                "The environment broke down; the episode ended with it.",
                message.to_string(),
                "All steps so far are kept. Go back to an earlier step to go on from there, or Reset.",
            )),
        }
    }
}
