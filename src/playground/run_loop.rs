//! The policy acts, step after step, until it is stopped or there is nothing more to do.

use std::sync::Arc;
use std::time::Duration;

use futures_util::future::{AbortHandle, Abortable};
use leptos::prelude::*;
use volary_core::AnyMessage;
use volary_core::json::Text;
use volary_trajectory::Ending;

use super::model;
use super::player::Move;
use super::policy_settings::Plan;
use super::state::Playground;
use crate::browser::lazy::Unloaded;
use crate::browser::{self, timers};
use crate::models::connections;
use crate::projection::notice::Notice;
use volary_app::playground::policy::PolicyKind;
use volary_app::playground::replay::is_over;
use volary_app::playground::run::{Run, Runs};
use volary_app::playground::run_choice::{Actor, RunChoice, run_choice};

/// How long Stop waits for the step that is under way before the worker is ended.
const PATIENCE: Duration = Duration::from_secs(1);

impl Playground {
    /// Lets the policy act, or does what that takes first.
    pub fn run(self) {
        if self.drive.run.get_untracked() != Run::Idle {
            return;
        }
        let actor = match self.drive.kind.get_untracked() {
            PolicyKind::Manual => Actor::Person,
            PolicyKind::Model => Actor::Model {
                is_connected: untrack(|| connections::read(|known| !known.list().is_empty())),
            },
            PolicyKind::Scripted | PolicyKind::Random | PolicyKind::Oracle => Actor::Policy,
        };
        match run_choice(actor, untrack(|| self.may_step())) {
            RunChoice::Run => self.let_act(false),
            RunChoice::StartOver => self.start_over(),
            RunChoice::ChoosePolicy => self.drive.is_choosing.set(true),
            RunChoice::Refuse(refusal) => self.refuse(refusal),
        }
    }

    /// Begins a new episode of the same task and lets the policy act in it.
    fn start_over(self) {
        self.reset();
        let edition = self.edition.get_untracked();
        browser::spawn(async move {
            self.settled().await;
            // If the task could not be reset, that is shown already.
            let is_new = self.edition.get_untracked() != edition;
            if is_new && untrack(|| self.may_step()).is_ok() {
                self.let_act(false);
            }
        });
    }

    /// Lets a policy act that the user has just chosen.
    pub fn run_with(self, kind: PolicyKind) {
        self.drive.is_choosing.set(false);
        self.choose_policy(kind);
        self.run();
    }

    /// Asks the policy for one action.
    pub fn ask_once(self) {
        self.let_act(true);
    }

    /// Asks again as it was asked last: for one action, or for all of them.
    pub fn run_again(self) {
        self.let_act(self.drive.runs.with_value(Runs::was_single));
    }

    fn let_act(self, once: bool) {
        if self.drive.run.get_untracked() != Run::Idle {
            return;
        }
        if let Err(refusal) = untrack(|| self.may_step()) {
            self.refuse(refusal);
            return;
        }
        // A model has to be loaded first, all others are here.
        let plan = match self.drive.kind.get_untracked() {
            PolicyKind::Model => None,
            _ => match self.policy() {
                None => return,
                plan => plan,
            },
        };
        let runs = self.drive.runs;
        let Some(number) = runs.try_update_value(|runs| runs.begin(once)) else {
            return;
        };
        self.drive.run.set(Run::Going(number));
        browser::spawn(async move {
            let plan = match plan {
                None => self.plan_of_model().await,
                plan => plan,
            };
            if let Some(plan) = plan.filter(|_| self.is_run(number)) {
                self.begin_run(plan.player.name());
                self.act(plan, number, once).await;
            }
            if self.is_run(number) {
                self.drive.run.set(Run::Idle);
            }
            self.tell();
        });
    }

    async fn plan_of_model(self) -> Option<Plan> {
        match model::seated(self).await {
            Ok(player) => player.map(|player| Plan { player, delay: 0.0 }),
            Err(unloaded) => {
                let what = "The model cannot be called.";
                self.alert(Notice::new(what, unloaded.to_string(), Unloaded::ADVICE));
                None
            }
        }
    }

    fn begin_run(self, policy: Text) {
        if self.episode.with_untracked(|episode| !is_over(episode)) {
            // A limit may have cut it off before; now another one holds.
            self.set_ending(Ending::Open);
        }
        self.set_policy_name(&policy);
    }

    /// Ends the run: a request at once, a step when it is done, unless it takes too long.
    pub fn stop(self) {
        self.drive.leash.with_value(AbortHandle::abort);
        let run = self.drive.run.get_untracked();
        if run != Run::Idle {
            self.drive.run.set(run.stopping());
        }
        if !self.session.with_untracked(|session| session.is_busy()) {
            return;
        }
        let steps = self.episode.with_untracked(|episode| episode.steps.len());
        let edition = self.edition.get_untracked();
        browser::spawn(async move {
            timers::sleep(PATIENCE).await;
            let same = self.edition.get_untracked() == edition
                && self.episode.with_untracked(|episode| episode.steps.len()) == steps;
            if same && self.session.with_untracked(|session| session.is_busy()) {
                self.drive.run.set(Run::Idle);
                self.end_worker();
                if !self.is_abroad() {
                    self.say(
                        "The step took too long and was stopped. The episode is at its last \
                         completed step.",
                    );
                }
            }
        });
    }

    /// Forgets the run: another episode comes.
    pub(super) fn halt(self) {
        self.drive.leash.with_value(AbortHandle::abort);
        if self.drive.run.get_untracked() != Run::Idle {
            self.drive.run.set(Run::Idle);
        }
        self.transfer.playing.set(false);
    }

    async fn act(self, mut plan: Plan, number: u32, once: bool) {
        let delay = Duration::from_secs_f64(plan.delay.clamp(0.0, 3600.0));
        while self.drive.run.get_untracked().goes_on(number) {
            let (leash, registration) = AbortHandle::new_pair();
            self.drive.leash.set_value(leash);
            let playing = plan.player.play(self.episode.get_untracked());
            let Ok(next) = Abortable::new(playing, registration).await else {
                plan.player.stopped();
                break;
            };
            if !self.is_run(number) {
                break;
            }
            match next {
                Move::Act(action, aside) => {
                    self.drive.aside.set_value(Some(aside));
                    self.take_action(AnyMessage::from(*action));
                    self.settled().await;
                }
                Move::Stop(stop) => {
                    self.set_ending(stop.ending);
                    self.say(stop.reason.to_string());
                    break;
                }
                Move::Failed(notice) => {
                    self.alert(notice);
                    break;
                }
            }
            if once {
                break;
            }
            if !delay.is_zero() {
                timers::sleep(delay).await;
            }
        }
    }

    fn is_run(self, number: u32) -> bool {
        self.drive.run.get_untracked().is_current(number)
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
