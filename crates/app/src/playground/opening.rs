//! Which episode the playground shows: opening, showing, going back, bringing back.

use std::sync::Arc;

use volary_core::AnyMessage;
use volary_core::json::Text;
use volary_episode::{Episode, Recipe};
use volary_remote::task;

use super::chosen_action::ChosenAction;
use super::known::is_remote;
use super::session::{Command, Refusal};
use super::{Effect, PlaygroundMachine, refuse};

impl PlaygroundMachine {
    pub(super) fn open(
        &mut self,
        recipe: Recipe,
        actions: Vec<AnyMessage>,
        (id, name): (Text, Option<Text>),
        effects: &mut Vec<Effect>,
    ) {
        self.halt(effects);
        self.reading = None;
        if self.session.is_busy() {
            // Nothing waits for the current work of that worker, and it may never end.
            self.drop_worker(effects);
        }
        let name = name.unwrap_or_else(|| episode_name(&recipe));
        let command = self.session.open(recipe, actions, id, name);
        effects.push(Effect::Send(command));
        effects.push(Effect::Redraw);
    }

    /// Shows an episode that comes from elsewhere.
    pub(super) fn show(&mut self, episode: Episode, effects: &mut Vec<Effect>) {
        self.halt(effects);
        self.reading = None;
        self.close_servers(effects);
        self.keep_former(effects);
        if let Some(recipe) = episode.recipe.clone() {
            self.show_recipe(&recipe, effects);
        }
        self.show_record(episode);
        effects.push(Effect::AdaptAction);
        effects.push(Effect::Redraw);
    }

    pub(super) fn stored_read(
        &mut self,
        id: &Text,
        episode: Option<Box<Episode>>,
        effects: &mut Vec<Effect>,
    ) {
        // The user may have opened something else meanwhile.
        if self.reading.as_ref() != Some(id) {
            return;
        }
        self.reading = None;
        match episode {
            Some(episode) => self.show(*episode, effects),
            None => effects.push(Effect::StoredIsMissing),
        }
    }

    pub(super) fn go_back(&mut self, steps: usize, effects: &mut Vec<Effect>) {
        self.halt(effects);
        self.store(effects);
        if is_remote(&self.episode) {
            effects.push(Effect::Say(
                "Starting a new environment on the server and repeating the actions there.".into(),
            ));
        }
        let answer = self.session.go_back(&self.episode, steps);
        self.send(answer, effects);
    }

    pub(super) fn take_action(
        &mut self,
        action: impl Into<ChosenAction>,
        effects: &mut Vec<Effect>,
    ) -> bool {
        let answer = self.session.step(Arc::make_mut(&mut self.episode), action);
        self.send(answer, effects)
    }

    /// Sends a command, or says why it is refused. Returns whether it was sent.
    fn send(&mut self, answer: Result<Command, Refusal>, effects: &mut Vec<Effect>) -> bool {
        let command = match answer {
            Ok(command) => command,
            Err(refusal) => {
                refuse(refusal, effects);
                return false;
            }
        };
        let is_step = matches!(command, Command::Step { .. });
        effects.push(Effect::Send(command));
        effects.push(if is_step {
            Effect::RedrawForStep
        } else {
            Effect::Redraw
        });
        true
    }

    /// Offers the shown episode as the previous one, because another takes its place.
    pub(super) fn keep_former(&mut self, effects: &mut Vec<Effect>) {
        self.store(effects);
        if !self.episode.steps.is_empty() {
            self.former = Some(Arc::clone(&self.episode));
        }
    }
}

/// The name of a new episode.
pub fn episode_name(recipe: &Recipe) -> Text {
    let environment = task::shown_name(&recipe.environment);
    match &recipe.task {
        Some(task) => format!("{environment} {}", task.id).into(),
        None => environment.into(),
    }
}
