//! The policy acts, step after step, until it is stopped or there is nothing more to do.

use std::sync::Arc;
use std::time::Duration;

use leptos::prelude::*;
use volary_agent::{Next, decide};
use volary_core::AnyMessage;
use volary_trace::Ending;

use super::drive::{Plan, Run};
use super::incoming::is_over;
use super::state::Playground;
use crate::projection::notice::Notice;
use crate::shell::{self, timers};

/// How long Stop waits for the step that is under way before the worker is ended.
const PATIENCE: Duration = Duration::from_secs(1);

impl Playground {
    /// Lets the policy act.
    pub fn run(self) {
        if self.drive.run.get_untracked() != Run::Idle {
            return;
        }
        if let Err(refusal) = untrack(|| self.may_step()) {
            self.refuse(refusal);
            return;
        }
        let Some(plan) = self.policy() else {
            return;
        };
        if self.episode.with_untracked(|episode| !is_over(episode)) {
            // A limit may have cut it off before; now another one holds.
            self.set_ending(Ending::Open);
        }
        let runs = self.drive.runs;
        runs.update_value(|runs| *runs = runs.wrapping_add(1));
        let number = runs.get_value();
        self.drive.run.set(Run::Going(number));
        self.depart_from_link();
        self.set_policy_name(&plan.policy.name());
        shell::spawn(async move {
            self.act(plan, number).await;
            if self.is_run(number) {
                self.drive.run.set(Run::Idle);
            }
            self.tell();
        });
    }

    /// Ends the run after the step that is under way; a step that takes too long is ended too.
    pub fn stop(self) {
        match self.drive.run.get_untracked() {
            Run::Going(number) | Run::Stopping(number) => {
                self.drive.run.set(Run::Stopping(number));
            }
            Run::Idle => {}
        }
        if !self.session.with_untracked(|session| session.is_busy()) {
            return;
        }
        let steps = self.episode.with_untracked(|episode| episode.steps.len());
        let edition = self.edition.get_untracked();
        shell::spawn(async move {
            timers::sleep(PATIENCE).await;
            let same = self.edition.get_untracked() == edition
                && self.episode.with_untracked(|episode| episode.steps.len()) == steps;
            if same && self.session.with_untracked(|session| session.is_busy()) {
                self.drive.run.set(Run::Idle);
                self.end_worker();
                self.say("The step took too long and was ended; the episode stands at its last good step.");
            }
        });
    }

    /// Forgets the run: another episode comes.
    pub(super) fn halt(self) {
        if self.drive.run.get_untracked() != Run::Idle {
            self.drive.run.set(Run::Idle);
        }
        self.transfer.playing.set(false);
    }

    async fn act(self, mut plan: Plan, number: u32) {
        let delay = Duration::from_secs_f64(plan.delay.clamp(0.0, 3600.0));
        while self.drive.run.get_untracked() == Run::Going(number) {
            let episode = self.episode.get_untracked();
            let next = decide(plan.policy.as_mut(), &episode, &plan.limits).await;
            // A copy that is kept would make the next step copy the whole episode.
            drop(episode);
            if !self.is_run(number) {
                break;
            }
            match next {
                Ok(Next::Act(action)) => {
                    self.take_action(AnyMessage::from(action));
                    self.settled().await;
                }
                Ok(Next::Stop(stop)) => {
                    self.set_ending(stop.ending);
                    self.say(stop.reason.to_string());
                    break;
                }
                Err(error) => {
                    self.alert(Notice::new(
                        "The policy could not act.",
                        error.to_string(),
                        "Choose another policy, or act by hand.",
                    ));
                    break;
                }
            }
            if !delay.is_zero() {
                timers::sleep(delay).await;
            }
        }
    }

    fn is_run(self, number: u32) -> bool {
        matches!(
            self.drive.run.get_untracked(),
            Run::Going(current) | Run::Stopping(current) if current == number
        )
    }

    fn set_ending(self, ending: Ending) {
        if self
            .episode
            .with_untracked(|episode| episode.ending != ending)
        {
            self.episode
                .update_untracked(|episode| Arc::make_mut(episode).ending = ending);
        }
    }
}
