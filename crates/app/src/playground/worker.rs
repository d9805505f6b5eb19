//! Replies and losses of the worker, and the environments that it opened on servers.

use std::sync::Arc;

use volary_core::json::Text;
use volary_episode::Episode;
use volary_protocol::WorkerLoss;
use volary_protocol::environments::{EnvironmentId, Event as WorkerEvent};

use super::known::is_remote;
use super::session::{Change, Session, Why};
use super::{Effect, PlaygroundMachine};
use crate::notice::Notice;

impl PlaygroundMachine {
    pub(super) fn replied(
        &mut self,
        environment: EnvironmentId,
        event: WorkerEvent,
        effects: &mut Vec<Effect>,
    ) {
        self.losses.replied();
        if let WorkerEvent::Question { id, question } = event {
            effects.push(Effect::Ask { id, question });
            return;
        }
        self.note_servers(&event);
        if self.session.finishes_new(environment, &event) {
            self.keep_former(effects);
        }
        let before = self.steps();
        let episode = Arc::make_mut(&mut self.episode);
        match self.session.receive(environment, event, episode) {
            Err(error) => self.lose(error.to_string().into(), effects),
            Ok(change) => {
                if matches!(change, Change::Replaced { .. }) {
                    effects.push(Effect::CloseOthers(environment));
                }
                self.follow(change, before, effects);
                effects.push(Effect::Redraw);
            }
        }
    }

    /// Follows a change of the session. `before` is the number of steps before it.
    fn follow(&mut self, change: Change, before: usize, effects: &mut Vec<Effect>) {
        match change {
            Change::Nothing => {}
            Change::Appended => {
                if self.selected == before {
                    self.selected = self.steps();
                }
                self.played(effects);
            }
            Change::Replaced { why, differs, then } => {
                if why == Why::Again {
                    self.saver.replayed(self.steps(), differs);
                }
                if let Some(step) = differs {
                    let text = format!(
                        "The replay differs from the recording from step {step} on. The page shows the replay."
                    );
                    effects.push(Effect::Say(text.into()));
                }
                self.replaced(effects);
                if let Some(action) = then {
                    self.take_action(action, effects);
                }
            }
            Change::Refused { reason, key } => {
                let advice = if key.is_some() {
                    "Correct the marked fields and try again. The current episode is unchanged."
                } else {
                    "The current episode is unchanged."
                };
                if let Some(key) = key {
                    let reason = reason.clone();
                    effects.push(Effect::RefuseField { key, reason });
                }
                let what = "The environment rejected the input.";
                effects.push(Effect::Alert(Notice::new(what, reason.to_string(), advice)));
            }
            Change::Gone { action } => {
                self.take_action(*action, effects);
            }
            Change::Lost { reason } => {
                self.halt(effects);
                self.replaced(effects);
                say_lost(reason, effects);
            }
            Change::Crashed { message } if is_remote(&self.episode) => say_lost(message, effects),
            Change::Crashed { message } => effects.push(Effect::Alert(Notice::new(
                "The environment crashed and ended the episode.",
                message.to_string(),
                "All steps so far are kept. Continue from an earlier step, or press Reset.",
            ))),
        }
    }

    pub(super) fn worker_lost(&mut self, loss: WorkerLoss, effects: &mut Vec<Effect>) {
        match loss {
            WorkerLoss::Crashed { message } => self.lose(message, effects),
            // The next command that needs the worker tries again.
            WorkerLoss::Unloaded => {
                self.drop_worker(effects);
                self.halt(effects);
                if self.session.unloaded() {
                    effects.push(Effect::SayUnloaded);
                }
                effects.push(Effect::Redraw);
            }
        }
    }

    /// Handles the loss of the worker.
    fn lose(&mut self, message: Text, effects: &mut Vec<Effect>) {
        self.drop_worker(effects);
        self.halt(effects);
        let before = self.steps();
        let change = self.end_opening(effects, |session, episode| session.lost(message, episode));
        self.follow(change, before, effects);
        if self.steps() > before {
            self.played(effects);
        }
        if self.losses.lost() {
            effects.push(Effect::StartWorker);
        }
        self.replaced(effects);
        effects.push(Effect::Redraw);
    }

    /// Ends a worker that takes too long, and replays the episode up to its last good step.
    pub(super) fn end_worker(&mut self, effects: &mut Vec<Effect>) {
        if is_remote(&self.episode) && self.session.is_stepping() {
            // The server may still take the step, so nothing is replayed unless the user asks for it.
            let message =
                "The server did not answer in time. It is unknown whether it took the step.";
            return self.lose(message.into(), effects);
        }
        effects.push(Effect::StopPython);
        self.drop_worker(effects);
        let command = self.end_opening(effects, Session::interrupted);
        effects.push(Effect::StartWorker);
        effects.extend(command.map(Effect::Send));
        self.replaced(effects);
        effects.push(Effect::Redraw);
    }

    /// Ends what the session waits for. If a new episode is being opened, what has arrived of it may be shown; the
    /// episode that was shown until then is stored, and becomes the previous one.
    fn end_opening<T>(
        &mut self,
        effects: &mut Vec<Effect>,
        end: impl FnOnce(&mut Session, &mut Episode) -> T,
    ) -> T {
        let shown = self.session.is_opening().then(|| {
            self.store(effects);
            Arc::clone(&self.episode)
        });
        let ended = end(&mut self.session, Arc::make_mut(&mut self.episode));
        self.former = shown
            .filter(|shown| shown.id != self.episode.id && !shown.steps.is_empty())
            .or(self.former.take());
        ended
    }

    pub(super) fn drop_worker(&mut self, effects: &mut Vec<Effect>) {
        self.close_servers(effects);
        self.worker = self.worker.wrapping_add(1);
        effects.push(Effect::DropWorker);
    }

    /// Tracks the environments that the worker opened on servers, so that they can be closed without the worker.
    pub(super) fn note_servers(&mut self, event: &WorkerEvent) {
        match event {
            WorkerEvent::Started(environment) => self.on_servers.push(environment.clone()),
            WorkerEvent::Stopped { env_id } => {
                self.on_servers.retain(|open| open.env_id != *env_id);
            }
            WorkerEvent::Episode(_)
            | WorkerEvent::Refused { .. }
            | WorkerEvent::Lost { .. }
            | WorkerEvent::Gone
            | WorkerEvent::Question { .. }
            | WorkerEvent::Recorded { .. } => {}
        }
    }

    pub(super) fn close_servers(&mut self, effects: &mut Vec<Effect>) {
        if !self.on_servers.is_empty() {
            effects.push(Effect::CloseOnServers(std::mem::take(&mut self.on_servers)));
        }
    }
}

/// Says that an environment on a server was lost, and what to do.
fn say_lost(reason: Text, effects: &mut Vec<Effect>) {
    effects.push(Effect::Alert(Notice::new(
        "The environment on the server was lost, so the episode ended.",
        reason.to_string(),
        "All steps so far are kept. Reset starts a new environment. Going back to an earlier step also starts a new one \
         and repeats the actions there; the results may differ.",
    )));
}
