//! State machine of an open evaluation: which cells are played, what is stored of them, and which tab holds the lock.
//!
//! [`Evaluation::update`] handles an event and returns effects. The page carries them out and reports their results as
//! further events; it gets jobs for its workers from [`Evaluation::begin_local`], and calls [`Evaluation::permit`]
//! before each request to a model. Times are in seconds of a monotonic clock.
//!
//! - `event`, `effect`, [`stored`](Kept): its data. `ownership`: the lock. `writer`: the order of writes.
//! - [`open_evaluation`]: which evaluation the page shows. [`worker_slot`]: the batches of a worker.
//!   [`worker_stage`]: the environment of a model's episode. [`tasks`], [`task_source`]: the tasks of a plan. [`summary`],
//!   [`comparison`], [`estimate`]: figures about it. `problem`: what concerns all cells.
//!
//! Invariants:
//! - A cell is done once its episode and its result are stored, or are in memory because the browser refused to store
//!   them. A cell that was started and is not done returns to the queue.
//! - No cell starts without the evaluation's lock, which one tab holds at a time. A new evaluation is unknown to other
//!   tabs, so it starts while the lock is still requested.
//! - A result counts only if the current generation of workers started its cell: a late reply changes nothing.
//! - Pausing withdraws a start that still waits for the lock.

pub mod comparison;
mod effect;
pub mod estimate;
mod event;
pub mod open_evaluation;
mod ownership;
mod problem;
mod stored;
pub mod summary;
pub mod task_source;
pub mod tasks;
pub mod worker_slot;
pub mod worker_stage;
mod writer;

use std::collections::BTreeMap;

use volary_agent::evaluation::plan::Pace;
use volary_agent::evaluation::schedule::PauseReason;
use volary_agent::evaluation::{
    CellResult, EvaluationPhase, Failure, FailureKind, Job, Lane, Permit, Plan, Progress, Schedule,
};
use volary_agent::model::Usage;
use volary_agent::model::limits::Spent;
use volary_core::json::Text;

pub use effect::{DraftChange, Effect, StoredResult};
pub use event::{Event, Reloaded};
use ownership::{Next, Ownership, Start};
pub use stored::{Done, Draft, Head, Kept};
use writer::Writer;

/// A cell that waits before it calls its model.
#[derive(Clone, Debug, PartialEq)]
pub struct Wait {
    /// The end of the wait, in seconds.
    pub until: f64,
    /// The reason, as displayed after "Waiting 3 s".
    pub why: Text,
}

/// Whether the browser accepts writes.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum Durability {
    Stored,
    /// The browser refused a write, which was reported. Results are only in memory.
    Refused,
}

/// Whether the user sees the evaluation.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum Attention {
    Open,
    Left,
}

/// An open evaluation. `E` is an episode as the page stores it.
#[derive(Clone, Debug)]
pub struct Evaluation<E> {
    plan: Plan,
    head: Head,
    schedule: Schedule,
    results: BTreeMap<usize, CellResult>,
    drafts: BTreeMap<usize, Draft>,
    ownership: Ownership,
    writer: Writer<E>,
    durability: Durability,
    attention: Attention,
    /// Tells events of the current workers from those of earlier workers.
    generation: u32,
    /// The number of cells to play alone, after one of several cells broke a worker.
    careful: usize,
    /// The number of consecutive failed episodes of models.
    misses: usize,
    waits: BTreeMap<usize, Wait>,
}

impl<E> Evaluation<E> {
    /// Opens a stored evaluation, paused.
    pub fn stored(kept: Kept) -> Self {
        let drafts = kept.drafts.iter().map(|(cell, draft)| (*cell, draft.spent));
        let schedule = Schedule::new(&kept.plan, &kept.results, drafts);
        let results = kept.results.into_iter().map(|result| (result.cell, result));
        Evaluation {
            schedule,
            plan: kept.plan,
            head: kept.head,
            results: results.collect(),
            drafts: kept.drafts.into_iter().collect(),
            ownership: Ownership::Free,
            writer: Writer::idle(),
            durability: Durability::Stored,
            attention: Attention::Open,
            generation: 0,
            careful: 0,
            misses: 0,
            waits: BTreeMap::new(),
        }
    }

    /// Creates an evaluation whose plan is being stored, paused.
    pub fn new(head: Head, plan: Plan) -> Self {
        let kept = Kept {
            head,
            plan,
            results: Vec::new(),
            drafts: Vec::new(),
        };
        Evaluation {
            ownership: Ownership::New,
            writer: Writer::storing_plan(),
            ..Evaluation::stored(kept)
        }
    }

    /// Handles an event and returns the effects for the page.
    pub fn update(&mut self, now: f64, event: Event<E>) -> Vec<Effect<E>> {
        let mut effects = Vec::new();
        match event {
            Event::Resume => self.start(now, Start::Resume, &mut effects),
            Event::RetryFailures => self.start(now, Start::RetryFailures, &mut effects),
            Event::Pause(why) => self.pause(now, why),
            Event::Leave => {
                self.attention = Attention::Left;
                self.pause(now, PauseReason::Asked);
            }
            Event::Cancel => self.cancel(now, &mut effects),
            Event::SetPace { pace, and_resume } => {
                self.schedule.set_pace(pace);
                effects.push(Effect::StorePace { pace, and_resume });
            }
            Event::PlanStored => {
                self.writer.plan_stored();
                self.save(&mut effects);
            }
            Event::LockGranted => self.lock_granted(now, &mut effects),
            Event::LockRefused => self.lock_refused(now, &mut effects),
            Event::Reloaded(reloaded) => self.reloaded(now, reloaded, &mut effects),
            Event::RetriesStored => {
                let start = self.ownership.retried();
                if start.is_some_and(|start| start != Start::Withdrawn) {
                    self.schedule.resume(now);
                }
            }
            Event::Played { generation, done } => {
                if generation == self.generation {
                    self.keep(now, done, &mut effects);
                }
            }
            Event::NotStarted { generation, cells } => {
                if generation == self.generation {
                    self.return_cells(&cells);
                }
            }
            Event::WorkerLost {
                generation,
                cells,
                message,
            } => {
                if generation == self.generation {
                    self.lose(now, &cells, message, &mut effects);
                }
            }
            Event::ModelEnded(failure) => self.model_ended(now, failure.as_ref()),
            Event::ModelPlayed(done) => {
                self.waits.remove(&done.result.cell);
                self.keep(now, vec![done], &mut effects);
            }
            Event::ModelReturned { cell } => {
                self.waits.remove(&cell);
                self.schedule.returned(cell);
            }
            Event::Stored(stored) => self.stored_results(now, stored, &mut effects),
            Event::Shown => {
                self.shown(now, &mut effects);
                return effects;
            }
        }
        effects.push(Effect::FillWorkers);
        let models = self.schedule.begin(Lane::Model, usize::MAX);
        effects.extend(models.into_iter().map(Effect::PlayModel));
        effects.push(Effect::Changed);
        effects
    }

    fn start(&mut self, now: f64, start: Start, effects: &mut Vec<Effect<E>>) {
        match self.ownership.start(start) {
            Next::RequestLock { is_new } => {
                if is_new {
                    // Start cells before anything is drawn.
                    self.schedule.resume(now);
                }
                effects.push(Effect::RequestLock);
            }
            Next::PlayMeanwhile => self.schedule.resume(now),
            Next::Begin(start) => self.begin(now, start, effects),
            Next::Wait | Next::Reload => {}
        }
        self.attention = Attention::Open;
        self.misses = 0;
    }

    /// Starts playing with the lock held.
    fn begin(&mut self, now: f64, start: Start, effects: &mut Vec<Effect<E>>) {
        match start {
            Start::Withdrawn => {}
            Start::Resume => self.schedule.resume(now),
            Start::RetryFailures => {
                self.ownership.retry();
                effects.push(Effect::StoreRetries(self.free_failures()));
            }
        }
    }

    /// Queues all failed cells again. Returns their drafts.
    fn free_failures(&mut self) -> Vec<(usize, Draft)> {
        self.schedule.retry_failures();
        let failed = self.results.values().filter(|result| !result.is_finished());
        let failed: Vec<CellResult> = failed.cloned().collect();
        let drafts = failed.into_iter().map(|result| {
            self.results.remove(&result.cell);
            let draft = self.drafts.entry(result.cell).or_default();
            // The spent tokens and cost count whatever the result was.
            draft.spent = result.spent;
            draft.attempts = result.attempts;
            (result.cell, draft.clone())
        });
        drafts.collect()
    }

    fn lock_granted(&mut self, now: f64, effects: &mut Vec<Effect<E>>) {
        match self.ownership.granted() {
            Next::Begin(start) => self.begin(now, start, effects),
            Next::Reload => effects.push(Effect::Reload),
            Next::Wait | Next::PlayMeanwhile | Next::RequestLock { .. } => {}
        }
    }

    fn lock_refused(&mut self, now: f64, effects: &mut Vec<Effect<E>>) {
        let Some(is_new) = self.ownership.refused() else {
            return;
        };
        if is_new {
            // Cells that started without the lock must not be played here.
            self.cancel(now, effects);
        }
        self.pause(now, PauseReason::Elsewhere);
    }

    fn reloaded(&mut self, now: f64, reloaded: Reloaded, effects: &mut Vec<Effect<E>>) {
        let Some(start) = self.ownership.reloaded() else {
            return;
        };
        match reloaded {
            Reloaded::Found(kept) => {
                let drafts = kept.drafts.iter().map(|(cell, draft)| (*cell, draft.spent));
                self.schedule = self.schedule.renewed(&kept.plan, &kept.results, drafts);
                let results = kept.results.into_iter().map(|result| (result.cell, result));
                self.results = results.collect();
                self.drafts = kept.drafts.into_iter().collect();
            }
            Reloaded::Deleted => {
                self.ownership.release();
                let problem = "This evaluation was deleted in another tab. Set up a new one.";
                self.schedule
                    .pause(now, PauseReason::Problem(problem.into()));
                effects.push(Effect::Release);
                return;
            }
            Reloaded::Unreadable => {}
        }
        self.begin(now, start, effects);
    }

    fn pause(&mut self, now: f64, why: PauseReason) {
        self.ownership.withdraw();
        self.schedule.pause(now, why);
    }

    fn cancel(&mut self, now: f64, effects: &mut Vec<Effect<E>>) {
        self.pause(now, PauseReason::Cancelled);
        self.waits.clear();
        self.generation = self.generation.wrapping_add(1);
        effects.push(Effect::AbortModels);
        effects.push(Effect::ReplaceWorkers {
            generation: self.generation,
        });
        let storing = self.writer.cells();
        for cell in (0..self.plan.length()).filter(|cell| !storing.contains(cell)) {
            self.schedule.returned(cell);
        }
    }

    fn return_cells(&mut self, cells: &[usize]) {
        for cell in cells {
            self.schedule.returned(*cell);
        }
    }

    /// Handles the loss of a worker with its cells. A single cell is known to have broken it; several are played again
    /// one by one.
    fn lose(&mut self, now: f64, cells: &[usize], message: Text, effects: &mut Vec<Effect<E>>) {
        let [cell] = *cells else {
            self.careful += cells.len();
            self.return_cells(cells);
            return;
        };
        let failure = Failure {
            kind: FailureKind::Environment,
            message,
        };
        let attempts = self.drafts.get(&cell).map_or(0, |draft| draft.attempts);
        let done = Done {
            result: CellResult::failed(cell, failure, 0.0, Spent::default(), attempts + 1),
            episode: None,
            draft: None,
        };
        self.keep(now, vec![done], effects);
    }

    fn model_ended(&mut self, now: f64, failure: Option<&Failure>) {
        let Some(failure) = failure else {
            self.misses = 0;
            return;
        };
        self.misses += 1;
        if let Some(problem) = problem::of_failures(failure, self.misses) {
            self.pause(now, PauseReason::Problem(problem));
        }
    }

    /// Stores the results of running cells. From here on cancelling does not change them.
    fn keep(&mut self, now: f64, mut done: Vec<Done<E>>, effects: &mut Vec<Effect<E>>) {
        let storing = self.writer.cells();
        done.retain(|done| {
            let cell = done.result.cell;
            self.schedule.is_under_way(cell) && !storing.contains(&cell)
        });
        if let Some(problem) = done
            .iter()
            .find_map(|done| problem::of_server(&done.result))
        {
            self.pause(now, PauseReason::Problem(problem));
        }
        self.writer.push(done);
        self.save(effects);
    }

    fn save(&mut self, effects: &mut Vec<Effect<E>>) {
        let drafts = &self.drafts;
        let results = self.writer.next(|cell| drafts.contains_key(&cell));
        effects.extend(results.map(Effect::StoreResults));
    }

    fn stored_results(&mut self, now: f64, stored: Result<(), Text>, effects: &mut Vec<Effect<E>>) {
        let Some(saved) = self.writer.stored() else {
            return;
        };
        if let Err(problem) = stored
            && self.durability == Durability::Stored
        {
            self.durability = Durability::Refused;
            self.pause(now, PauseReason::Problem(problem));
        }
        for (result, draft) in saved {
            let (cell, counts) = (result.cell, result.is_finished());
            match draft {
                Some(draft) => self.drafts.insert(cell, draft),
                None => self.drafts.remove(&cell),
            };
            self.results.insert(cell, result);
            self.schedule.ended(now, cell, counts);
        }
        self.save(effects);
    }

    /// Stores a changed head, and releases the lock once nothing is running and nothing starts by itself.
    fn shown(&mut self, now: f64, effects: &mut Vec<Effect<E>>) {
        if !self.has_lock() {
            // The tab with the lock stores the head.
            return;
        }
        let progress = self.schedule.progress(now);
        let mut head = Head {
            total: progress.total,
            finished: progress.finished,
            failed: progress.failed,
            ..self.head.clone()
        };
        // Not while it runs: a summary goes through all results, at each update.
        if *self.schedule.phase() != EvaluationPhase::Running && !summary::has_summary(&head) {
            summary::summarize(&mut head, &self.plan, self.results.values());
        }
        if self.head != head {
            self.head = head.clone();
            effects.push(Effect::StoreHead(head));
        }
        let under_way = [Lane::Local, Lane::Model].map(|lane| self.schedule.under_way(lane));
        let is_quiet = *self.schedule.phase() != EvaluationPhase::Running
            && under_way == [0, 0]
            && self.writer.cells().is_empty();
        if is_quiet && self.ownership.release() {
            effects.push(Effect::Release);
        }
    }

    /// Starts at most `most` cells that need no model, and returns their jobs.
    pub fn begin_local(&mut self, most: usize) -> Vec<Job> {
        let cells = self.schedule.begin(Lane::Local, most);
        self.careful = self.careful.saturating_sub(cells.len());
        let jobs = cells.into_iter().filter_map(|cell| {
            let attempts = self.drafts.get(&cell).map_or(0, |draft| draft.attempts);
            Job::of(&self.head.id, &self.plan, self.plan.cell(cell)?, attempts)
        });
        jobs.collect()
    }

    /// The number of waiting cells that need no model.
    pub fn waiting_local(&self) -> usize {
        self.schedule.waiting(Lane::Local)
    }

    /// Whether a worker gets only one cell at a time, because one of several broke a worker.
    pub fn is_careful(&self) -> bool {
        self.careful > 0
    }

    /// Whether a policy may send a request for a cell now. Ends the cell's wait.
    pub fn permit(&mut self, now: f64, cell: usize, policy: usize) -> Permit {
        self.waits.remove(&cell);
        self.schedule.permit(now, policy)
    }

    /// Records the response to a permitted request. `cost` is in US dollars, `None` if it is unknown.
    pub fn answered(&mut self, now: f64, policy: usize, usage: Option<&Usage>, cost: Option<f64>) {
        self.schedule.answered(now, policy, usage, cost);
    }

    /// Records that a permitted request failed or was aborted.
    pub fn given_up(&mut self, policy: usize) {
        self.schedule.given_up(policy);
    }

    /// Notes that a cell waits before it calls its model.
    pub fn wait(&mut self, cell: usize, wait: Wait) {
        self.waits.insert(cell, wait);
    }

    /// Replaces the draft of an unfinished episode.
    pub fn set_draft(&mut self, cell: usize, draft: Draft) {
        self.drafts.insert(cell, draft);
    }

    /// The draft of a cell.
    pub fn draft(&self, cell: usize) -> Option<&Draft> {
        self.drafts.get(&cell)
    }

    /// Whether the user left it for another evaluation, a comparison, or the form of a new one.
    pub fn is_left(&self) -> bool {
        self.attention == Attention::Left
    }

    /// Whether the plan is stored, so that steps may be stored too.
    pub fn is_planned(&self) -> bool {
        self.writer.is_planned()
    }

    /// Whether this tab holds the lock, so that cells run or may start.
    pub fn has_lock(&self) -> bool {
        self.ownership.has_lock()
    }

    pub fn phase(&self) -> &EvaluationPhase {
        self.schedule.phase()
    }

    pub fn progress(&self, now: f64) -> Progress {
        self.schedule.progress(now)
    }

    /// The pace and the budget.
    pub fn pace(&self) -> &Pace {
        self.schedule.pace()
    }

    /// The results so far, keyed by cell.
    pub fn results(&self) -> &BTreeMap<usize, CellResult> {
        &self.results
    }

    /// The wait that ends first, and the number of waiting cells; `None` if no cell waits or the evaluation is paused.
    pub fn first_wait(&self) -> Option<(&Wait, usize)> {
        if *self.schedule.phase() != EvaluationPhase::Running {
            return None;
        }
        let waits = self.waits.values();
        let first = waits.min_by(|one, other| one.until.total_cmp(&other.until))?;
        Some((first, self.waits.len()))
    }
}

#[cfg(test)]
mod tests;
