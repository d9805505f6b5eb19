//! The runs of policies: a player chooses an action, the environment takes it, and after a pause the next one follows.
//!
//! Invariants: no action is taken after the run was stopped or replaced. An action that did not become a step ends the
//! run, because the player would choose from the same state again, without end.

use volary_core::json::Text;
use volary_episode::Ending;

use super::known::is_remote;
use super::player_move::Move;
use super::replay::is_over;
use super::run::Run;
use super::run_choice::{ActingParty, RunChoice, run_choice};
use super::{Effect, PlaygroundMachine, refuse};

/// What the current run waits for.
#[derive(Clone, Copy, Debug, Default, PartialEq)]
pub(super) enum RunStage {
    /// Its player is created.
    #[default]
    Seating,
    /// The player decides. After each step there is a pause of this many seconds.
    Deciding { delay: f64 },
    /// The environment takes the player's action, which follows this number of steps.
    Acting { delay: f64, steps: usize },
    /// The pause between two steps.
    Pausing { delay: f64 },
}

impl PlaygroundMachine {
    pub(super) fn run(&mut self, actor: ActingParty, effects: &mut Vec<Effect>) {
        if self.run != Run::Idle {
            return;
        }
        match run_choice(actor, self.may_step()) {
            RunChoice::Run => self.start_run(false, effects),
            RunChoice::StartOver => effects.push(Effect::StartOver),
            RunChoice::ChoosePolicy => effects.push(Effect::ChoosePolicy),
            RunChoice::Refuse(refusal) => refuse(refusal, effects),
        }
    }

    /// Starts a run. A single one ends after one action.
    pub(super) fn start_run(&mut self, is_single: bool, effects: &mut Vec<Effect>) {
        if self.run != Run::Idle {
            return;
        }
        if let Err(refusal) = self.may_step() {
            return refuse(refusal, effects);
        }
        let run = self.runs.begin(is_single);
        self.run = Run::Going(run);
        self.stage = RunStage::Seating;
        effects.push(Effect::Seat { run });
    }

    pub(super) fn seated(&mut self, run: u32, name: Text, delay: f64, effects: &mut Vec<Effect>) {
        if !self.run.goes_on(run) || self.stage != RunStage::Seating {
            return;
        }
        if !is_over(&self.episode) {
            // A limit may have truncated the episode; now another limit applies.
            self.set_ending(Ending::Open);
        }
        self.set_policy_name(&name);
        self.decide(run, delay, effects);
    }

    fn decide(&mut self, run: u32, delay: f64, effects: &mut Vec<Effect>) {
        self.stage = RunStage::Deciding { delay };
        let steps = self.steps();
        effects.push(Effect::Decide { run, steps });
    }

    pub(super) fn decided(
        &mut self,
        run: u32,
        steps: usize,
        next: Move,
        effects: &mut Vec<Effect>,
    ) {
        let RunStage::Deciding { delay } = self.stage else {
            return;
        };
        // A player decides once after each step.
        if !self.run.goes_on(run) || steps != self.steps() {
            return;
        }
        match next {
            Move::Act(action) => {
                self.stage = RunStage::Acting { delay, steps };
                if !self.take_action(*action, effects) {
                    self.end_run(effects);
                }
            }
            Move::Stop(stop) => {
                self.set_ending(stop.ending);
                effects.push(Effect::Say(stop.reason));
                self.end_run(effects);
            }
            Move::Failed(notice) => {
                effects.push(Effect::Alert(notice));
                self.end_run(effects);
            }
        }
    }

    /// Continues the run after its action, or ends it. Runs after every event, since many end an action.
    pub(super) fn go_on_with_run(&mut self, effects: &mut Vec<Effect>) {
        if let Some(environment) = self.run_in
            && self.session.awaited() != Some(environment)
        {
            self.run_in = None;
            if self.session.is_live_in(environment) {
                self.start_run(false, effects);
            }
        }
        let (Run::Going(run) | Run::Stopping(run)) = self.run else {
            return;
        };
        let RunStage::Acting { delay, steps } = self.stage else {
            return;
        };
        if self.session.is_busy() {
            return;
        }
        let is_last = self.steps() <= steps || self.runs.was_single() || !self.run.goes_on(run);
        if is_last {
            self.end_run(effects);
        } else if delay > 0.0 {
            self.stage = RunStage::Pausing { delay };
            let seconds = delay;
            effects.push(Effect::Pause { run, seconds });
        } else {
            self.decide(run, delay, effects);
        }
    }

    pub(super) fn paused(&mut self, run: u32, effects: &mut Vec<Effect>) {
        if let RunStage::Pausing { delay } = self.stage
            && self.run.goes_on(run)
        {
            self.decide(run, delay, effects);
        }
    }

    /// Ends the run. A step is awaited, unless it takes too long; everything else ends at once.
    pub(super) fn stop(&mut self, effects: &mut Vec<Effect>) {
        self.run_in = None;
        match (self.run, self.stage) {
            (Run::Idle, _) => {}
            (_, RunStage::Acting { .. }) => self.run = self.run.stopping(),
            _ => self.end_run(effects),
        }
        if self.session.is_busy() {
            let (edition, steps) = (self.edition, self.steps());
            effects.push(Effect::AwaitStep { edition, steps });
        }
    }

    pub(super) fn step_is_late(&mut self, edition: u32, steps: usize, effects: &mut Vec<Effect>) {
        let is_same = (edition, steps) == (self.edition, self.steps());
        if !is_same || !self.session.is_busy() {
            return;
        }
        self.halt(effects);
        let was_remote = is_remote(&self.episode);
        self.end_worker(effects);
        if !was_remote {
            effects.push(Effect::Say(
                "The step took too long and was stopped. The episode is at its last completed step."
                    .into(),
            ));
        }
    }

    /// Discards the run because something else takes its place.
    pub(super) fn halt(&mut self, effects: &mut Vec<Effect>) {
        self.run_in = None;
        if self.run != Run::Idle {
            self.end_run(effects);
        }
        effects.push(Effect::StopPlayback);
    }

    pub(super) fn end_run(&mut self, effects: &mut Vec<Effect>) {
        self.run = Run::Idle;
        effects.push(Effect::DropPlayer);
        effects.push(Effect::Redraw);
    }
}
