//! Schedules the cells of an evaluation and limits its requests: a state machine without I/O or clock.
//!
//! Invariants: a cell is in flight at most once, and a finished cell never starts again. Within any 60 seconds no more
//! requests are permitted than the rate limits allow. No request is permitted once the budget is spent or the
//! evaluation was paused. Equal sequences of calls return equal results.
//!
//! Times are seconds of a monotonic clock.

mod meter;
mod progress;

use std::collections::BTreeSet;

use volary_core::json::Text;

use super::plan::{Actor, Pace, Plan};
use super::result::{CellResult, Status};
use crate::model::Usage;
use crate::model::limits::{Exhausted, Spent};
use meter::Meter;

pub use progress::Progress;
use progress::Stopwatch;

/// Where an episode runs.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Lane {
    /// In the worker of the environment, without waiting.
    Local,
    /// With a remote model.
    Model,
}

/// The state of the evaluation.
#[derive(Clone, Debug, PartialEq)]
pub enum EvaluationPhase {
    /// Cells start and requests are sent.
    Running,
    /// No cell starts, and no request is sent.
    Paused(PauseReason),
    /// All cells have results.
    Finished,
}

/// Why an evaluation is paused.
#[derive(Clone, Debug, PartialEq)]
pub enum PauseReason {
    /// It was not started since the page was loaded.
    Loaded,
    /// The user paused it.
    Asked,
    /// The user cancelled it: cells in flight were aborted.
    Cancelled,
    /// The budget is exhausted.
    Budget(Exhausted),
    /// Another tab runs it: only one may, or steps would be paid for twice.
    Elsewhere,
    /// A failure that affects all further cells; the message is for people.
    Problem(Text),
}

/// Whether a request may be sent now.
#[derive(Clone, Copy, Debug, PartialEq)]
pub enum Permit {
    /// Send it now; then call [`Schedule::answered`] or [`Schedule::given_up`].
    Go,
    /// Ask again after this many seconds.
    Wait(f64),
    /// Ask again after the next change of state.
    Hold,
}

#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum State {
    Waiting,
    UnderWay,
    Finished,
    Failed,
}

/// The schedule of an evaluation.
#[derive(Clone, Debug)]
pub struct Schedule {
    pace: Pace,
    policies: Vec<PolicySlot>,
    cells: Vec<State>,
    local: Queue,
    model: Queue,
    meters: Vec<Meter>,
    spent: Spent,
    phase: EvaluationPhase,
    watch: Stopwatch,
}

/// The state of one policy.
#[derive(Clone, Debug)]
struct PolicySlot {
    lane: Lane,
    meter: usize,
}

#[derive(Clone, Debug, Default)]
struct Queue {
    waiting: BTreeSet<usize>,
    under_way: usize,
    finished: usize,
}

impl Schedule {
    /// The schedule of a plan. Some cells may have results; others may have started and spent part of the budget. It is
    /// paused.
    pub fn new<'a>(
        plan: &Plan,
        results: impl IntoIterator<Item = &'a CellResult>,
        drafts: impl IntoIterator<Item = (usize, Spent)>,
    ) -> Self {
        let mut connections: Vec<&Text> = Vec::new();
        let mut policies = Vec::new();
        for policy in &plan.policies {
            // Policies of one connection share the rate limits of its provider.
            let (lane, meter) = match &policy.actor {
                Actor::Model { connection, .. } => {
                    let known = connections.iter().position(|known| *known == connection);
                    let meter = known.unwrap_or(connections.len());
                    if known.is_none() {
                        connections.push(connection);
                    }
                    (Lane::Model, meter)
                }
                _ => (Lane::Local, 0),
            };
            policies.push(PolicySlot { lane, meter });
        }
        let mut schedule = Schedule {
            pace: plan.pace,
            policies,
            cells: vec![State::Waiting; plan.length()],
            local: Queue::default(),
            model: Queue::default(),
            meters: vec![Meter::default(); connections.len()],
            spent: Spent::default(),
            phase: EvaluationPhase::Paused(PauseReason::Loaded),
            watch: Stopwatch::default(),
        };
        for result in results {
            if let Some(state) = schedule.cells.get_mut(result.cell) {
                *state = match result.status {
                    Status::Finished { .. } => State::Finished,
                    Status::Failed(_) => State::Failed,
                };
                schedule.spent.add(&result.spent);
            }
        }
        for (cell, spent) in drafts {
            if schedule.cells.get(cell) == Some(&State::Waiting) {
                schedule.spent.add(&spent);
            }
        }
        for cell in 0..schedule.cells.len() {
            if schedule.cells.get(cell) == Some(&State::Waiting) {
                schedule.queue_of(cell).waiting.insert(cell);
            }
        }
        schedule.settle(0.0);
        schedule
    }

    /// Rebuilds the schedule of the same plan after another tab may have worked on it. It is paused, and keeps the
    /// requests of the last minute.
    #[must_use]
    pub fn renewed<'a>(
        &self,
        plan: &Plan,
        results: impl IntoIterator<Item = &'a CellResult>,
        drafts: impl IntoIterator<Item = (usize, Spent)>,
    ) -> Self {
        Schedule {
            meters: self.meters.clone(),
            ..Schedule::new(plan, results, drafts)
        }
    }

    /// Starts up to this many cells of a lane.
    pub fn begin(&mut self, lane: Lane, most: usize) -> Vec<usize> {
        if self.phase != EvaluationPhase::Running {
            return Vec::new();
        }
        let concurrency = self.pace.concurrency.max(1);
        let queue = self.queue(lane);
        let most = match lane {
            Lane::Local => most,
            Lane::Model => most.min(concurrency.saturating_sub(queue.under_way)),
        };
        let mut begun = Vec::new();
        while begun.len() < most
            && let Some(cell) = queue.waiting.pop_first()
        {
            queue.under_way += 1;
            begun.push(cell);
        }
        for cell in &begun {
            if let Some(state) = self.cells.get_mut(*cell) {
                *state = State::UnderWay;
            }
        }
        begun
    }

    /// Whether a policy may send a request now.
    pub fn permit(&mut self, now: f64, policy: usize) -> Permit {
        if self.phase != EvaluationPhase::Running {
            return Permit::Hold;
        }
        if let Some(end) = self.pace.budget.exhausted(&self.spent) {
            self.pause(now, PauseReason::Budget(end));
            return Permit::Hold;
        }
        let expected: Spent = self.expected();
        let mut all = self.spent;
        all.add(&expected);
        if expected.steps > 0 && self.pace.budget.exhausted(&all).is_some() {
            // Requests in flight may spend the rest.
            return Permit::Hold;
        }
        let pace = self.pace;
        match self.meter(policy) {
            Some(meter) => meter.permit(now, &pace),
            None => Permit::Go,
        }
    }

    /// Records that a request was answered. `cost` is `None` if the price is unknown.
    pub fn answered(&mut self, now: f64, policy: usize, usage: Option<&Usage>, cost: Option<f64>) {
        let mut spent = Spent::default();
        spent.add_answer(usage, cost);
        self.spent.add(&spent);
        if let Some(meter) = self.meter(policy) {
            meter.answered(now, &spent);
        }
    }

    /// Records that a request failed.
    pub fn given_up(&mut self, policy: usize) {
        if let Some(meter) = self.meter(policy) {
            meter.given_up();
        }
    }

    /// Records that a cell ended; `counts` is false if it failed.
    pub fn ended(&mut self, now: f64, cell: usize, counts: bool) {
        if self.cells.get(cell) != Some(&State::UnderWay) {
            return;
        }
        if let Some(state) = self.cells.get_mut(cell) {
            *state = if counts {
                State::Finished
            } else {
                State::Failed
            };
        }
        let queue = self.queue_of(cell);
        queue.under_way = queue.under_way.saturating_sub(1);
        queue.finished += 1;
        self.settle(now);
    }

    /// Returns a cell that has no result to the queue.
    pub fn returned(&mut self, cell: usize) {
        if self.cells.get(cell) != Some(&State::UnderWay) {
            return;
        }
        if let Some(state) = self.cells.get_mut(cell) {
            *state = State::Waiting;
        }
        let queue = self.queue_of(cell);
        queue.under_way = queue.under_way.saturating_sub(1);
        queue.waiting.insert(cell);
    }

    /// Starts or resumes the evaluation.
    pub fn resume(&mut self, now: f64) {
        if matches!(self.phase, EvaluationPhase::Paused(_)) {
            self.phase = EvaluationPhase::Running;
            self.watch.start(now);
            self.local.finished = 0;
            self.model.finished = 0;
        }
    }

    /// Stops starting cells and sending requests.
    pub fn pause(&mut self, now: f64, why: PauseReason) {
        if self.phase != EvaluationPhase::Finished {
            self.phase = EvaluationPhase::Paused(why);
            self.watch.stop(now);
        }
    }

    /// Puts all failed cells back into the queue. Returns whether there were any.
    pub fn retry_failures(&mut self) -> bool {
        let failed: Vec<usize> = (0..self.cells.len())
            .filter(|cell| self.cells.get(*cell) == Some(&State::Failed))
            .collect();
        for cell in &failed {
            if let Some(state) = self.cells.get_mut(*cell) {
                *state = State::Waiting;
            }
            self.queue_of(*cell).waiting.insert(*cell);
        }
        if self.phase == EvaluationPhase::Finished && !failed.is_empty() {
            self.phase = EvaluationPhase::Paused(PauseReason::Asked);
        }
        !failed.is_empty()
    }

    /// Changes the rate limits and the budget.
    pub fn set_pace(&mut self, pace: Pace) {
        self.pace = pace;
    }

    /// The rate limits and the budget.
    pub fn pace(&self) -> &Pace {
        &self.pace
    }

    pub fn phase(&self) -> &EvaluationPhase {
        &self.phase
    }

    /// The total cost so far.
    pub fn spent(&self) -> &Spent {
        &self.spent
    }

    /// The number of cells of a lane in flight.
    pub fn under_way(&self, lane: Lane) -> usize {
        match lane {
            Lane::Local => self.local.under_way,
            Lane::Model => self.model.under_way,
        }
    }

    /// Whether a cell is in flight.
    pub fn is_under_way(&self, cell: usize) -> bool {
        self.cells.get(cell) == Some(&State::UnderWay)
    }

    /// The number of queued cells of a lane.
    pub fn waiting(&self, lane: Lane) -> usize {
        match lane {
            Lane::Local => self.local.waiting.len(),
            Lane::Model => self.model.waiting.len(),
        }
    }

    /// The lane of a cell.
    pub fn lane(&self, cell: usize) -> Lane {
        let post = self.policies.get(cell % self.policies.len().max(1));
        post.map_or(Lane::Local, |post| post.lane)
    }

    /// The expected cost of the requests in flight, estimated from previous ones.
    fn expected(&self) -> Spent {
        let mut expected = Spent::default();
        for meter in &self.meters {
            expected.add(&meter.expected());
        }
        expected
    }

    fn settle(&mut self, now: f64) {
        let is_open = |state: &State| matches!(state, State::Waiting | State::UnderWay);
        let queues = [&self.local, &self.model];
        let idle = queues
            .iter()
            .all(|queue| queue.waiting.is_empty() && queue.under_way == 0);
        if idle && !self.cells.iter().any(is_open) {
            self.phase = EvaluationPhase::Finished;
            self.watch.stop(now);
        }
    }

    fn meter(&mut self, policy: usize) -> Option<&mut Meter> {
        let post = self.policies.get(policy)?;
        match post.lane {
            Lane::Local => None,
            Lane::Model => self.meters.get_mut(post.meter),
        }
    }

    fn queue_of(&mut self, cell: usize) -> &mut Queue {
        self.queue(self.lane(cell))
    }

    fn queue(&mut self, lane: Lane) -> &mut Queue {
        match lane {
            Lane::Local => &mut self.local,
            Lane::Model => &mut self.model,
        }
    }
}

#[cfg(test)]
mod tests;
