//! The policy acts, step after step, until it is stopped or there is nothing more to do.

use std::sync::Arc;
use std::time::Duration;

use leptos::prelude::*;
use volary_agent::policy::{Decision, Policy, PolicyInput};
use volary_core::{AnyMessage, Frame};
use volary_trace::{Ending, Episode};

use super::drive::{Limits, Run};
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
        if let Err(refusal) = self.may_step() {
            self.refuse(refusal);
            return;
        }
        let Some((policy, limits)) = self.policy() else {
            return;
        };
        let runs = self.drive.runs;
        runs.update_value(|runs| *runs = runs.wrapping_add(1));
        let number = runs.get_value();
        self.drive.run.set(Run::Going(number));
        self.depart_from_link();
        self.set_policy_name(&policy.name());
        shell::spawn(async move {
            self.act(policy, limits, number).await;
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

    async fn act(self, mut policy: Box<dyn Policy>, limits: Limits, number: u32) {
        let delay = Duration::from_secs_f64(limits.delay.clamp(0.0, 3600.0));
        while self.drive.run.get_untracked() == Run::Going(number) {
            let episode = self.episode.get_untracked();
            if is_over(&episode) {
                break;
            }
            if episode.steps.len() >= limits.max_steps {
                drop(episode);
                self.truncate(limits.max_steps);
                break;
            }
            let decision = decide(policy.as_mut(), &episode).await;
            // A copy that is kept would make the next step copy the whole episode.
            drop(episode);
            match decision {
                Ok(Decision::Act(action)) if self.is_run(number) => {
                    self.take_action(AnyMessage::from(action));
                    self.settled().await;
                }
                Ok(Decision::Act(_)) => break,
                Ok(Decision::End { reason }) => {
                    self.say(reason.to_string());
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

    fn truncate(self, steps: usize) {
        self.episode.update_untracked(|episode| {
            Arc::make_mut(episode).ending = Ending::Truncated {
                reason: format!("The maximum of {steps} steps was reached.").into(),
            };
        });
    }
}

async fn decide(
    policy: &mut dyn Policy,
    episode: &Episode,
) -> Result<Decision, volary_agent::policy::PolicyError> {
    let nothing = Frame::default();
    policy
        .act(PolicyInput {
            episode,
            tools: &episode.tools,
            frame: episode.frames.last().unwrap_or(&nothing),
        })
        .await
}
