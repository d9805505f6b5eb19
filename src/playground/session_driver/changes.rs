//! What the page does about what became of an episode: select, say, warn, go on.

use leptos::prelude::*;

use crate::playground::state::Playground;
use crate::projection::form::Form;
use crate::projection::notice::Notice;
use volary_app::playground::session::Change;

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
                        "The replay differs from the recording from step {step} on. The page shows \
                         the replay."
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
            Change::Gone { action } => self.take_action(action),
            Change::Lost { reason } => {
                self.halt();
                self.replaced();
                self.say_lost(reason);
            }
            Change::Crashed { message } if self.is_abroad() => self.say_lost(message),
            Change::Crashed { message } => self.alert(Notice::new(
                "The environment crashed and ended the episode.",
                message.to_string(),
                "All steps so far are kept. Continue from an earlier step, or press Reset.",
            )),
        }
    }
}
