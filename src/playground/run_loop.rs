//! The run loop: the policy acts step by step until it is stopped or the episode ends.

use std::sync::Arc;
use std::time::Duration;

use futures_util::future::{AbortHandle, Abortable};
use leptos::prelude::*;
use volary_app::notice::Notice;
use volary_app::playground::chosen_action::ChosenAction;
use volary_app::playground::policy::PolicyKind;
use volary_app::playground::replay::is_over;
use volary_app::playground::run::{Run, Runs};
use volary_app::playground::run_choice::{ActingParty, RunChoice, run_choice};
use volary_app::playground::session::Session;
use volary_core::json::Text;
use volary_episode::{Ending, Episode};

use super::model;
use super::policy_settings::{self, Plan};
use super::remote_environments;
use super::run_steps::{RunEnd, RunHost, run_steps};
use super::session_driver::{self, redraws};
use super::setup;
use super::state::Playground;
use crate::browser::lazy::Unloaded;
use crate::browser::{self, timers};
use crate::models::connections;

/// How long Stop waits for the step in progress before it terminates the worker.
const PATIENCE: Duration = Duration::from_secs(1);

/// Starts a run, or first does what is missing for one: opens the choice of a policy, or starts a new episode.
pub fn run(playground: Playground) {
    if playground.policy.run.get_untracked() != Run::Idle {
        return;
    }
    let actor = match playground.policy.kind.get_untracked() {
        PolicyKind::Manual => ActingParty::Person,
        PolicyKind::Model => ActingParty::Model {
            is_connected: untrack(|| connections::read(|known| !known.list().is_empty())),
        },
        PolicyKind::Scripted | PolicyKind::Random | PolicyKind::Oracle | PolicyKind::Student => {
            ActingParty::Policy
        }
    };
    match run_choice(actor, untrack(|| session_driver::may_step(playground))) {
        RunChoice::Run => let_act(playground, false),
        RunChoice::StartOver => start_over(playground),
        RunChoice::ChoosePolicy => playground.policy.is_choosing.set(true),
        RunChoice::Refuse(refusal) => session_driver::refuse(playground, refusal),
    }
}

/// Starts a new episode of the same task and lets the policy act in it.
fn start_over(playground: Playground) {
    setup::reset(playground);
    let Some(opened) = playground.session.with_untracked(Session::awaited) else {
        // A failed reset was already reported.
        return;
    };
    browser::spawn(async move {
        session_driver::settled(playground).await;
        // The user may have opened another episode meanwhile, in which no policy was asked to act.
        let is_shown = |session: &Session| session.is_live_in(opened);
        if playground.session.with_untracked(is_shown) {
            let_act(playground, false);
        }
    });
}

/// Starts a run with the policy that the user has just chosen.
pub fn run_with(playground: Playground, kind: PolicyKind) {
    playground.policy.is_choosing.set(false);
    policy_settings::choose_policy(playground, kind);
    run(playground);
}

/// Asks the policy for a single action.
pub fn ask_once(playground: Playground) {
    let_act(playground, true);
}

/// Repeats the last request: for one action, or for a whole run.
pub fn run_again(playground: Playground) {
    let_act(
        playground,
        playground.policy.runs.with_value(Runs::was_single),
    );
}

fn let_act(playground: Playground, once: bool) {
    if playground.policy.run.get_untracked() != Run::Idle {
        return;
    }
    if let Err(refusal) = untrack(|| session_driver::may_step(playground)) {
        session_driver::refuse(playground, refusal);
        return;
    }
    // A model has to be loaded first; all other policies are already loaded.
    let plan = match playground.policy.kind.get_untracked() {
        PolicyKind::Model => None,
        _ => match policy_settings::policy(playground) {
            None => return,
            plan => plan,
        },
    };
    let runs = playground.policy.runs;
    let Some(number) = runs.try_update_value(|runs| runs.begin(once)) else {
        return;
    };
    playground.policy.run.set(Run::Going(number));
    browser::spawn(async move {
        let plan = match plan {
            None => plan_of_model(playground).await,
            plan => plan,
        };
        if let Some(plan) = plan.filter(|_| goes_on(playground, number)) {
            begin_run(playground, plan.player.name());
            act(playground, plan, number, once).await;
        }
        if is_run(playground, number) {
            playground.policy.run.set(Run::Idle);
        }
        redraws::redraw(playground);
    });
}

async fn plan_of_model(playground: Playground) -> Option<Plan> {
    match model::seated(playground).await {
        Ok(player) => player.map(|player| Plan { player, delay: 0.0 }),
        Err(unloaded) => {
            let what = "The model cannot be called.";
            playground.alert(Notice::new(what, unloaded.to_string(), Unloaded::ADVICE));
            None
        }
    }
}

fn begin_run(playground: Playground, policy: Text) {
    if playground
        .episode
        .with_untracked(|episode| !is_over(episode))
    {
        // A limit may have truncated the episode; now another limit applies.
        set_ending(playground, Ending::Open);
    }
    policy_settings::set_policy_name(playground, &policy);
}

/// Ends the run. A request is aborted at once; a step is awaited, unless it takes too long.
pub fn stop(playground: Playground) {
    playground.policy.abort.with_value(AbortHandle::abort);
    let run = playground.policy.run.get_untracked();
    if run != Run::Idle {
        playground.policy.run.set(run.stopping());
    }
    if !playground
        .session
        .with_untracked(|session| session.is_busy())
    {
        return;
    }
    let steps = playground
        .episode
        .with_untracked(|episode| episode.steps.len());
    let edition = playground.edition.get_untracked();
    browser::spawn(async move {
        timers::sleep(PATIENCE).await;
        let same = playground.edition.get_untracked() == edition
            && playground
                .episode
                .with_untracked(|episode| episode.steps.len())
                == steps;
        if same
            && playground
                .session
                .with_untracked(|session| session.is_busy())
        {
            playground.policy.run.set(Run::Idle);
            session_driver::end_worker(playground);
            if !remote_environments::shows_remote(playground) {
                playground.say(
                    "The step took too long and was stopped. The episode is at its last \
                     completed step.",
                );
            }
        }
    });
}

/// Discards the run because another episode is about to be shown.
pub(super) fn halt(playground: Playground) {
    playground.policy.abort.with_value(AbortHandle::abort);
    if playground.policy.run.get_untracked() != Run::Idle {
        playground.policy.run.set(Run::Idle);
    }
    playground.transfer.playing.set(false);
}

async fn act(playground: Playground, mut plan: Plan, number: u32, once: bool) {
    let delay = Duration::from_secs_f64(plan.delay.clamp(0.0, 3600.0));
    let host = PlaygroundRun { playground, number };
    match run_steps(&host, plan.player.as_mut(), delay, once).await {
        RunEnd::Over | RunEnd::NotTaken => {}
        RunEnd::Stopped(stop) => {
            set_ending(playground, stop.ending);
            playground.say(stop.reason.to_string());
        }
        RunEnd::Failed(notice) => playground.alert(notice),
    }
}

/// A run of this number in the playground.
struct PlaygroundRun {
    playground: Playground,
    number: u32,
}

impl RunHost for PlaygroundRun {
    fn is_current(&self) -> bool {
        is_run(self.playground, self.number)
    }

    fn goes_on(&self) -> bool {
        goes_on(self.playground, self.number)
    }

    fn episode(&self) -> Arc<Episode> {
        self.playground.episode.get_untracked()
    }

    async fn unless_stopped<T>(&self, future: impl Future<Output = T>) -> Option<T> {
        let (abort, registration) = AbortHandle::new_pair();
        self.playground.policy.abort.set_value(abort);
        Abortable::new(future, registration).await.ok()
    }

    async fn take(&self, action: ChosenAction) -> bool {
        let playground = self.playground;
        let steps = || {
            playground
                .episode
                .with_untracked(|episode| episode.steps.len())
        };
        let before = steps();
        session_driver::take_action(playground, action);
        session_driver::settled(playground).await;
        steps() > before
    }

    async fn sleep(&self, duration: Duration) {
        timers::sleep(duration).await;
    }
}

fn goes_on(playground: Playground, number: u32) -> bool {
    playground.policy.run.get_untracked().goes_on(number)
}

fn is_run(playground: Playground, number: u32) -> bool {
    playground.policy.run.get_untracked().is_current(number)
}

fn set_ending(playground: Playground, ending: Ending) {
    if playground
        .episode
        .with_untracked(|episode| episode.ending != ending)
    {
        playground
            .episode
            .update_untracked(|episode| Arc::make_mut(episode).ending = ending);
    }
}
