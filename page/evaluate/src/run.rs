//! Runs the effects of an open evaluation ([`volary_app::evaluation`]): workers, models, storage, the lock, and the
//! signals that the page shows.

mod changes;
mod signals;
mod storing;
mod throttle;

use std::cell::RefCell;
use std::collections::BTreeMap;
use std::future::Future;
use std::rc::{Rc, Weak};
use std::time::Duration;

use futures_util::future::{AbortHandle, abortable};
use volary_agent::evaluation::plan::Pace;
use volary_agent::evaluation::schedule::PauseReason;
use volary_agent::evaluation::{CellResult, EvaluationPhase, Failure, Plan, episode_id};
use volary_app::evaluation::{Done, Effect, Evaluation, Event, Head, Kept, Reloaded};
use volary_core::json::Text;

use super::model_episode;
use super::pool::{Pool, PoolEvent};
use super::remote_environments;
use changes::Changes;
pub use signals::RunSignals;
use throttle::{Due, Throttle};
use volary_browser::web_lock::{WebLock, acquire};
use volary_browser::{self as browser, timers};
use volary_connections::outside;
use volary_storage as storage;
use volary_storage::episodes::StoredEpisode;
use volary_storage::evaluations as kept;

/// The time limit of an episode without a model, in seconds.
const LONGEST_EPISODE: f64 = 120.0;

/// Acquires the lock on an evaluation. Returns `None` if another tab holds it.
pub(super) async fn lock(id: &str) -> Option<WebLock> {
    acquire(&format!("evaluation.{id}")).await
}

/// An open evaluation.
pub struct OpenRun {
    pub id: Text,
    pub plan: Plan,
    /// The signals that the page shows.
    pub shown: RunSignals,
    evaluation: RefCell<Evaluation<StoredEpisode>>,
    pool: RefCell<Rc<Pool>>,
    /// Handles that abort the model episodes in progress, by cell.
    models: RefCell<BTreeMap<usize, AbortHandle>>,
    lock: RefCell<Option<WebLock>>,
    changes: Changes,
    throttle: Throttle,
}

impl OpenRun {
    /// Opens a stored evaluation, paused.
    pub fn open(kept: Kept) -> Rc<OpenRun> {
        let (head, plan) = (kept.head.clone(), kept.plan.clone());
        OpenRun::of(head, plan, Evaluation::stored(kept))
    }

    /// Starts a new evaluation. `store` stores its plan concurrently.
    pub fn start(head: Head, plan: Plan, store: impl Future<Output = ()> + 'static) -> Rc<OpenRun> {
        let evaluation = Evaluation::new(head.clone(), plan.clone());
        let run = OpenRun::of(head, plan, evaluation);
        let started = Rc::clone(&run);
        browser::spawn(async move {
            store.await;
            started.dispatch(Event::PlanStored);
        });
        run.resume();
        run
    }

    fn of(head: Head, plan: Plan, evaluation: Evaluation<StoredEpisode>) -> Rc<OpenRun> {
        Rc::new_cyclic(|run: &Weak<OpenRun>| OpenRun {
            id: head.id,
            shown: RunSignals::new(&evaluation, &plan),
            pool: RefCell::new(pool(run.clone(), &plan, 0)),
            plan,
            evaluation: RefCell::new(evaluation),
            models: RefCell::default(),
            lock: RefCell::default(),
            changes: Changes::default(),
            throttle: Throttle::default(),
        })
    }

    /// Starts or continues the evaluation.
    pub fn resume(self: &Rc<Self>) {
        outside::evaluation_started();
        self.dispatch(Event::Resume);
    }

    /// Retries the cells that failed.
    pub fn retry_failures(self: &Rc<Self>) {
        outside::evaluation_started();
        self.dispatch(Event::RetryFailures);
    }

    /// Starts no more cells and sends no more requests. Episodes in progress wait.
    pub fn pause(self: &Rc<Self>, why: PauseReason) {
        self.dispatch(Event::Pause(why));
    }

    /// Pauses, and stops episodes in progress once the responses to sent requests have arrived.
    pub fn leave(self: &Rc<Self>) {
        self.dispatch(Event::Leave);
    }

    /// Stops the episodes in progress and aborts their requests. Steps that models have taken remain as drafts.
    pub fn cancel(self: &Rc<Self>) {
        self.dispatch(Event::Cancel);
    }

    /// Sets and stores a new pace and budget. Resumes with them if `and_resume` is set.
    pub fn set_pace(self: &Rc<Self>, pace: Pace, and_resume: bool) {
        self.dispatch(Event::SetPace { pace, and_resume });
    }

    /// The pace and the budget.
    pub fn pace(&self) -> Pace {
        *self.evaluation.borrow().pace()
    }

    /// Returns whether this tab holds the lock, so that cells are or may be played here.
    pub fn has_lock(&self) -> bool {
        self.evaluation.borrow().has_lock()
    }

    /// The names of the policies, in order.
    pub fn policy_names(&self) -> Vec<String> {
        let policies = self.plan.policies.iter();
        policies.map(|policy| policy.name.to_string()).collect()
    }

    /// The results so far, by cell.
    pub fn results(&self) -> Vec<CellResult> {
        let evaluation = self.evaluation.borrow();
        evaluation.results().values().cloned().collect()
    }

    /// The result of a cell.
    pub fn result(&self, cell: usize) -> Option<CellResult> {
        self.evaluation.borrow().results().get(&cell).cloned()
    }

    /// Reads the state machine.
    pub(super) fn with<T>(&self, read: impl FnOnce(&Evaluation<StoredEpisode>) -> T) -> T {
        read(&self.evaluation.borrow())
    }

    /// Changes the state machine without effects.
    pub(super) fn update<T>(&self, change: impl FnOnce(&mut Evaluation<StoredEpisode>) -> T) -> T {
        change(&mut self.evaluation.borrow_mut())
    }

    pub(super) fn pool(&self) -> Rc<Pool> {
        Rc::clone(&self.pool.borrow())
    }

    /// Resolves on the next change.
    pub(super) async fn changed(&self) {
        self.changes.next().await;
    }

    /// Resolves when the plan is stored.
    pub(super) async fn planned(&self) {
        while !self.with(Evaluation::is_planned) {
            self.changed().await;
        }
    }

    /// Handles a suspended model episode: its cell waits again, and continues from the stored steps.
    pub(super) fn model_returned(self: &Rc<Self>, cell: usize) {
        self.models.borrow_mut().remove(&cell);
        self.dispatch(Event::ModelReturned { cell });
    }

    /// Notifies episodes that wait for a request to end.
    pub(super) fn request_ended(self: &Rc<Self>) {
        self.carry_out(Effect::Changed);
    }

    /// Handles the end of a model's episode, successful or not.
    pub(super) fn model_ended(self: &Rc<Self>, failure: Option<&Failure>) {
        self.dispatch(Event::ModelEnded(failure.cloned()));
    }

    /// Handles a complete and stored episode of a model.
    pub(super) fn model_played(self: &Rc<Self>, done: Done<StoredEpisode>) {
        self.models.borrow_mut().remove(&done.result.cell);
        self.dispatch(Event::ModelPlayed(done));
    }

    /// Applies an event and runs its effects.
    fn dispatch(self: &Rc<Self>, event: Event<StoredEpisode>) {
        let effects = self.update(|evaluation| evaluation.update(timers::now(), event));
        for effect in effects {
            self.carry_out(effect);
        }
    }

    fn carry_out(self: &Rc<Self>, effect: Effect<StoredEpisode>) {
        match effect {
            Effect::RequestLock => self.spawn(async |run| {
                let lock = lock(&run.id).await;
                let event = match lock {
                    Some(_) => Event::LockGranted,
                    None => Event::LockRefused,
                };
                run.lock.replace(lock);
                run.dispatch(event);
            }),
            Effect::Release => {
                self.lock.take();
                self.pool().rest();
            }
            Effect::Reload => self.spawn(async |run| {
                let reloaded = match kept::load(&run.id).await {
                    Ok(Some(kept)) => Reloaded::Found(Box::new(kept)),
                    Ok(None) => Reloaded::Deleted,
                    Err(_) => Reloaded::Unreadable,
                };
                run.dispatch(Event::Reloaded(reloaded));
            }),
            Effect::StoreRetries(drafts) => self.spawn(async move |run| {
                let changes = drafts.iter().flat_map(|(cell, draft)| {
                    let draft = kept::keeping_draft(&run.id, *cell, draft);
                    [draft, kept::forgetting_result(&run.id, *cell)]
                });
                // `storage::problem` reports a refused write.
                let _ = storage::write(changes.collect()).await;
                run.dispatch(Event::RetriesStored);
            }),
            Effect::StoreResults(results) => self.spawn(async move |run| {
                let stored = storing::store(&run.id, results).await;
                run.dispatch(Event::Stored(
                    stored.map_err(|error| storing::problem(&error)),
                ));
            }),
            Effect::StoreHead(head) => browser::spawn(async move {
                // `storage::problem` reports a refused write.
                let _ = storage::write(vec![kept::keeping_head(&head)]).await;
            }),
            Effect::StorePace { pace, and_resume } => self.spawn(async move |run| {
                let plan = Plan {
                    pace,
                    ..run.plan.clone()
                };
                // `storage::problem` reports a refused write.
                let _ = storage::write(vec![kept::keeping_plan(&run.id, &plan)]).await;
                if and_resume {
                    run.resume();
                }
            }),
            Effect::FillWorkers => self.fill_workers(),
            Effect::PlayModel(cell) => {
                let (episode, handle) = abortable(model_episode::play(Rc::clone(self), cell));
                self.models.borrow_mut().insert(cell, handle);
                browser::spawn(async move {
                    // An aborted episode has no result.
                    let _ = episode.await;
                });
            }
            Effect::AbortModels => {
                let models = self.models.take();
                models.into_values().for_each(|handle| handle.abort());
            }
            Effect::ReplaceWorkers { generation } => {
                let fresh = pool(Rc::downgrade(self), &self.plan, generation);
                drop(self.pool.replace(fresh));
            }
            Effect::Changed => {
                self.changes.notify();
                self.show_soon();
            }
        }
    }

    fn spawn<F: Future<Output = ()> + 'static>(
        self: &Rc<Self>,
        task: impl FnOnce(Rc<OpenRun>) -> F + 'static,
    ) {
        browser::spawn(task(Rc::clone(self)));
    }

    fn fill_workers(&self) {
        let (careful, waiting) =
            self.with(|evaluation| (evaluation.is_careful(), evaluation.waiting_local()));
        self.pool()
            .fill(careful, LONGEST_EPISODE, waiting, &mut |most| {
                self.update(|evaluation| evaluation.begin_local(most))
            });
    }

    /// Schedules an update of the page.
    pub(super) fn show_soon(self: &Rc<Self>) {
        let due = if self.with(|evaluation| *evaluation.phase() == EvaluationPhase::Running) {
            Due::Soon
        } else {
            Due::Now
        };
        let Some(wait) = self.throttle.changed(timers::now(), due) else {
            return;
        };
        self.spawn(async move |run| {
            if wait > 0.0 {
                timers::sleep(Duration::try_from_secs_f64(wait).unwrap_or_default()).await;
            }
            if run.throttle.take(due) {
                let before = timers::now();
                let update = run.with(|evaluation| run.shown.update(before, evaluation, &run.plan));
                update.set();
                run.throttle.updated(before, timers::now());
                run.dispatch(Event::Shown);
            }
        });
    }

    fn handle(self: &Rc<Self>, generation: u32, event: PoolEvent) {
        self.dispatch(match event {
            PoolEvent::Played { results, texts } => {
                let mut texts = texts.into_iter();
                let done = results.into_iter().map(|result| {
                    let (row, text) = (texts.next(), texts.next());
                    let episode = row.zip(text).filter(|(row, _)| row.length() > 0);
                    let id = episode_id(&self.id, result.cell).to_string();
                    Done {
                        result,
                        episode: episode.map(|(row, text)| StoredEpisode { id, row, text }),
                        draft: None,
                    }
                });
                let done = done.collect();
                Event::Played { generation, done }
            }
            PoolEvent::Left(cells) => Event::NotStarted { generation, cells },
            PoolEvent::Lost { cells, message } => Event::WorkerLost {
                generation,
                cells: cells.into_iter().collect(),
                message: message.into(),
            },
        });
    }
}

/// Creates the pool of an evaluation. Its events are tagged with its generation.
fn pool(run: Weak<OpenRun>, plan: &Plan, generation: u32) -> Rc<Pool> {
    let is_remote = remote_environments::has_server_tasks(plan);
    Rc::new(Pool::new(is_remote, plan.length(), move |event| {
        if let Some(run) = run.upgrade() {
            run.handle(generation, event);
        }
    }))
}
