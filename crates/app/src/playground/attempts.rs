//! What a user, or content, wants to run, and whether the user has to agree first ([`super::consent`]).

use volary_core::AnyMessage;
use volary_core::json::Text;
use volary_episode::Recipe;
use volary_remote::task;

use super::consent::{EpisodeAttempt, PlannedEpisode, Reach, Then};
use super::{Effect, PlaygroundMachine};
use crate::python::files::PythonSource;

impl PlaygroundMachine {
    /// Does what the user wants, or plans it if it would run something that the user has not agreed to.
    pub(super) fn attempt(&mut self, attempt: EpisodeAttempt, effects: &mut Vec<Effect>) {
        let actions = attempt.repeated_actions(&self.episode);
        if !self.session.may_rerun(&self.episode, actions)
            && let Some(plan) = PlannedEpisode::of_record(&self.episode, attempt)
        {
            match self.known.reach_of_recipe(&plan.recipe) {
                Reach::Connected => return self.planned = Some(plan),
                // The user knows its code.
                Reach::Local => self.session.agree(actions),
                // It cannot run at all; the attempt reports that.
                Reach::NotConnected | Reach::Unknown => {}
            }
        }
        self.proceed(attempt, effects);
    }

    fn proceed(&mut self, attempt: EpisodeAttempt, effects: &mut Vec<Effect>) {
        match attempt {
            EpisodeAttempt::GoBack(steps) => self.go_back(steps, effects),
            EpisodeAttempt::RunAgain => self.start_run(self.runs.was_single(), effects),
            EpisodeAttempt::Step
            | EpisodeAttempt::StepByHand
            | EpisodeAttempt::EditLastAction
            | EpisodeAttempt::Run => {
                effects.push(Effect::Proceed(attempt));
            }
        }
    }

    /// Takes the last step back. Undo runs the episode again, so it needs the same consent as going back.
    pub(super) fn undo(&mut self, effects: &mut Vec<Effect>) {
        let before = self.steps().checked_sub(1).filter(|_| self.may_go_back());
        if let Some(steps) = before {
            self.attempt(EpisodeAttempt::GoBack(steps), effects);
        }
    }

    /// Opens the episode of the forms. If they came from a record that would run on a server, the user is asked.
    pub(super) fn open_chosen(
        &mut self,
        recipe: Recipe,
        actions: Vec<AnyMessage>,
        (id, name): (Text, Option<Text>),
        effects: &mut Vec<Effect>,
    ) {
        if self.must_show_code(&recipe, &actions, effects) {
            return;
        }
        let shown = self.episode.recipe.as_ref();
        let is_of_record = shown.is_some_and(|shown| shown.environment == recipe.environment)
            && !self.session.may_rerun(&self.episode, 0);
        if is_of_record && self.known.reach_of_recipe(&recipe) == Reach::Connected {
            self.planned = Some(PlannedEpisode {
                recipe,
                actions,
                then: Then::Reset,
            });
            return;
        }
        self.open(recipe, actions, (id, name), effects);
    }

    /// Plans an episode whose Python code the user does not know. Returns whether it did; the episode then waits.
    pub(super) fn must_show_code(
        &mut self,
        recipe: &Recipe,
        actions: &[AnyMessage],
        effects: &mut Vec<Effect>,
    ) -> bool {
        let is_python = task::python_file(&recipe.environment).is_some();
        let must_show = is_python && self.known.reach_of_recipe(recipe) != Reach::Local;
        if must_show {
            let plan = PlannedEpisode {
                recipe: recipe.clone(),
                actions: actions.to_vec(),
                then: Then::Open(None),
            };
            self.plan(plan, effects);
        }
        must_show
    }

    /// Plans an episode that content wants to run. If the page shows nothing yet, its first episode is shown behind the
    /// question; that one calls no server.
    pub(super) fn plan(&mut self, plan: PlannedEpisode, effects: &mut Vec<Effect>) {
        if self.edition == 0 {
            self.wanted_step = None;
            effects.push(Effect::ShowOpening);
        }
        self.planned = Some(plan);
    }

    /// Runs the planned episode. `id` is that of a new episode.
    pub(super) fn agree(&mut self, id: Text, effects: &mut Vec<Effect>) {
        let Some(plan) = self.planned.take() else {
            return;
        };
        if let Ok(source) = PythonSource::of_recipe(&plan.recipe) {
            if !self.known.code.contains(&source) {
                self.known.code.push(source);
            }
            effects.push(Effect::AgreeToCode(plan.recipe.clone()));
        }
        match plan.then {
            Then::Open(step) => {
                self.wanted_step = step;
                self.replay(plan.recipe, plan.actions, id, effects);
            }
            Then::Reset => self.replay(plan.recipe, plan.actions, id, effects),
            Then::Resume(attempt) => {
                self.session.agree(plan.actions.len());
                self.proceed(attempt, effects);
            }
        }
    }

    /// Discards the planned episode.
    pub(super) fn decline(&mut self, effects: &mut Vec<Effect>) {
        let plan = self.planned.take();
        if plan.is_some_and(|plan| matches!(plan.then, Then::Open(_))) {
            self.wanted_step = None;
            effects.push(Effect::RestoreAddress);
        }
    }

    fn replay(
        &mut self,
        recipe: Recipe,
        actions: Vec<AnyMessage>,
        id: Text,
        effects: &mut Vec<Effect>,
    ) {
        self.show_recipe(&recipe, effects);
        self.open(recipe, actions, (id, None), effects);
    }
}
