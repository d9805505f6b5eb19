//! The worker pool of an evaluation. Workers play cells whose policies need no model, in small batches, and host the
//! environments of episodes that models play. The cells of a lost worker are reported.
//! [`volary_app::evaluation::worker_slot`] keeps track of what each worker has.

pub mod idle_workers;
mod shutdown;

use std::cell::{Cell, RefCell};
use std::collections::BTreeSet;
use std::rc::Rc;
use std::time::Duration;

use futures_util::StreamExt;
use volary_agent::evaluation::{CellResult, Job};
use volary_app::evaluation::worker_slot::{Batches, Deadline, WorkerGeneration, WorkerSlot};
use volary_app::outside::PlayingPage;
use volary_core::json::Text;
use volary_episode::Recipe;
use volary_protocol::environments::{self, EnvironmentId, Question, QuestionId, ServerEnvironment};
use volary_protocol::evaluation::{Event, Request};
use volary_protocol::{WorkerLoss, WorkerPart};
use volary_remote::task;

use super::remote_environments;
use volary_browser::database::KeptText;
use volary_browser::transferable::Attachment;
use volary_browser::worker_client::{Replies, Reply, WorkerClient};
use volary_browser::{self as browser, timers};
use volary_connections::outside::Questions;
use volary_connections::python;

/// The maximum number of workers. More do not help: the page, which stores the results, is the bottleneck.
const MOST_WORKERS: usize = 6;

/// Events of the pool about the cells of a batch.
pub enum PoolEvent {
    /// Cells were played.
    Played {
        results: Vec<CellResult>,
        /// The row and the encoded episode of each result; empty if it has none.
        texts: Vec<KeptText>,
    },
    /// The worker had no time to begin these cells.
    Left(Vec<usize>),
    /// The worker was lost while it had these cells.
    Lost {
        cells: BTreeSet<usize>,
        message: String,
    },
}

type Handler = Rc<dyn Fn(PoolEvent)>;

/// The worker pool. Dropping it shuts the workers down, after they closed their environments on servers.
pub struct Pool {
    workers: Vec<SharedSlot>,
    /// Whether the environments are on servers.
    is_remote: bool,
    batches: Batches,
    handle: Handler,
    last: Cell<EnvironmentId>,
}

/// A slot for a worker, which is started on demand and replaced when it is lost.
struct PoolSlot {
    worker: Option<WorkerClient>,
    work: WorkerSlot,
    /// The unanswered questions of the worker's environments.
    questions: Rc<Questions>,
}

type SharedSlot = Rc<RefCell<PoolSlot>>;

/// A lease on an environment of a model's episode in a worker. Dropping it closes the environment.
pub struct Lease {
    slot: SharedSlot,
    handle: Handler,
    generation: WorkerGeneration,
    pub environment: EnvironmentId,
}

impl Pool {
    /// Creates a pool for this number of cells, with environments on servers or in the workers. Workers are started on
    /// demand. `handle` is called with the pool's events.
    pub fn new(is_remote: bool, cells: usize, handle: impl Fn(PoolEvent) + 'static) -> Self {
        let slot = || {
            Rc::new(RefCell::new(PoolSlot {
                worker: None,
                work: WorkerSlot::default(),
                questions: Rc::new(Questions::of(PlayingPage::Evaluation)),
            }))
        };
        Pool {
            is_remote,
            batches: Batches::new(is_remote, cells, worker_count()),
            workers: (0..worker_count()).map(|_| slot()).collect(),
            handle: Rc::new(handle),
            last: Cell::new(0),
        }
    }

    /// Sends batches to workers whose queue is short. `waiting` is the number of cells that wait, and `begin` starts
    /// some of them. If `careful`, a batch has one cell, so that it is known which cell crashes a worker.
    pub fn fill(
        &self,
        careful: bool,
        seconds: f64,
        mut waiting: usize,
        begin: &mut dyn FnMut(usize) -> Vec<Job>,
    ) {
        for round in 0..self.batches.ahead(careful) {
            for worker in &self.workers {
                if worker.borrow().work.queued() > round {
                    continue;
                }
                let size = self.batches.size(careful, waiting);
                let jobs = begin(size);
                if jobs.is_empty() {
                    return;
                }
                waiting = waiting.saturating_sub(jobs.len());
                self.send(worker, jobs, seconds);
            }
        }
    }

    fn send(&self, slot: &SharedSlot, jobs: Vec<Job>, seconds: f64) {
        let limit = (!self.is_remote).then_some(seconds);
        let cells = jobs.iter().map(|job| job.cell);
        let deadline = slot.borrow_mut().work.send(cells, limit);
        let servers = remote_environments::access(jobs.iter().map(|job| &job.recipe));
        let has_python = jobs.iter().any(|job| is_python(&job.recipe));
        let request = Request::Play { jobs, servers };
        if let Some(replies) = start(slot, &self.handle, |worker| {
            if has_python {
                worker.give_python_port(python::runtime::port);
            }
            worker.call(&request)
        }) {
            let generation = slot.borrow().work.generation();
            browser::spawn(follow(
                Rc::downgrade(slot),
                Rc::clone(&self.handle),
                generation,
                replies,
            ));
        }
        watch(slot, &self.handle, deadline);
    }

    /// Returns idle workers to the shared pool; new ones are taken on demand. Workers that may hold environments of
    /// models, or on servers, are kept.
    pub fn rest(&self) {
        if self.is_remote || self.last.get() > 0 {
            return;
        }
        for slot in &self.workers {
            let worker = slot.borrow_mut().spared();
            worker.into_iter().for_each(idle_workers::give);
        }
    }

    /// Leases a new environment in the worker that hosts the fewest.
    pub fn lease(&self) -> Option<Lease> {
        let slot = self
            .workers
            .iter()
            .min_by_key(|slot| slot.borrow().work.environments())?;
        let environment = self.last.get().wrapping_add(1);
        self.last.set(environment);
        let generation = slot.borrow_mut().work.lease();
        Some(Lease {
            slot: Rc::clone(slot),
            handle: Rc::clone(&self.handle),
            generation,
            environment,
        })
    }
}

impl PoolSlot {
    /// Takes the slot's worker if it is idle.
    fn spared(&mut self) -> Option<WorkerClient> {
        self.worker.take_if(|_| self.work.give_away())
    }

    /// Tracks the worker's environments on servers, so that they can be closed without it.
    fn note(&mut self, event: &Event) {
        match event {
            Event::Started(environment) => self.started(environment),
            Event::Stopped { env_id } => self.stopped(env_id),
            // These events are about cells, not about servers.
            Event::Played { .. } | Event::NotStarted { .. } | Event::Question { .. } => {}
        }
    }

    fn started(&mut self, environment: &ServerEnvironment) {
        let ServerEnvironment { url, env_id } = environment;
        self.work.opened(env_id.clone());
        remote_environments::opened(url.clone(), env_id.clone());
    }

    fn stopped(&mut self, env_id: &Text) {
        self.work.closed(env_id);
        remote_environments::closed(env_id);
    }

    /// Terminates the worker, if any, and closes its environments on servers.
    fn finish(&mut self, reason: &str, held: &BTreeSet<Text>) {
        self.questions = Rc::new(Questions::of(PlayingPage::Evaluation));
        if let Some(worker) = self.worker.take() {
            worker.end(reason);
        }
        remote_environments::close(held);
    }
}

impl Lease {
    /// Sends a request to the environment's worker. Returns the reason if that worker was lost.
    pub fn call(
        &self,
        request: &environments::Request,
    ) -> Result<Replies<environments::Event>, String> {
        let slot = self.slot.borrow();
        slot.work.check(self.generation).map_err(str::to_owned)?;
        drop(slot);
        let has_python = match request {
            environments::Request::Open { recipe, .. } => is_python(recipe),
            _ => false,
        };
        let replies = start(&self.slot, &self.handle, |worker| {
            if has_python {
                worker.give_python_port(python::runtime::port);
            }
            worker.call(request)
        });
        replies.ok_or_else(|| "no worker could be started".to_owned())
    }

    /// Waits for the next event of the environment. Returns the reason if there is none.
    pub async fn next(
        &self,
        replies: &mut Replies<environments::Event>,
    ) -> Result<environments::Event, String> {
        loop {
            let event = match replies.next().await {
                Some(Ok(reply)) => reply.event,
                Some(Err(loss)) => {
                    let generation = self.slot.borrow().work.generation();
                    if generation == self.generation {
                        lose(&self.slot, &self.handle, loss.to_string());
                    }
                    return Err(loss.to_string());
                }
                None => return Err("The worker ended.".to_owned()),
            };
            match &event {
                environments::Event::Started(environment) => {
                    self.slot.borrow_mut().started(environment);
                }
                environments::Event::Stopped { env_id } => {
                    self.slot.borrow_mut().stopped(env_id);
                }
                _ => return Ok(event),
            }
        }
    }
}

impl Drop for Lease {
    fn drop(&mut self) {
        let mut slot = self.slot.borrow_mut();
        if !slot.work.end_lease(self.generation) {
            return;
        }
        let close = environments::Request::Close {
            environment: self.environment,
        };
        let replies = slot.worker.as_ref().map(|worker| worker.call(&close));
        let Some(mut replies) = replies else { return };
        let slot = Rc::clone(&self.slot);
        browser::spawn(async move {
            while let Some(Ok(reply)) = replies.next().await {
                if let environments::Event::Stopped { env_id } = &reply.event {
                    slot.borrow_mut().stopped(env_id);
                }
            }
        });
    }
}

/// Returns whether a task is played in Python.
fn is_python(recipe: &Recipe) -> bool {
    task::python_file(&recipe.environment).is_some()
}

/// The number of workers of an evaluation.
fn worker_count() -> usize {
    browser::processors().clamp(1, MOST_WORKERS)
}

/// Sends a request to a slot's worker, which is started if necessary.
fn start<T>(
    slot: &SharedSlot,
    handle: &Handler,
    send: impl FnOnce(&WorkerClient) -> T,
) -> Option<T> {
    if slot.borrow().worker.is_none() {
        let started =
            idle_workers::take().map_or_else(|| WorkerClient::start(WorkerPart::Environments), Ok);
        match started {
            Ok(worker) => slot.borrow_mut().worker = Some(worker),
            Err(reason) => {
                // Reported asynchronously, because the caller does not expect events during the call.
                let (slot, handle) = (Rc::clone(slot), Rc::clone(handle));
                browser::spawn(async move { lose(&slot, &handle, reason) });
                return None;
            }
        }
    }
    slot.borrow().worker.as_ref().map(send)
}

/// Handles the replies to a batch.
async fn follow(
    slot: std::rc::Weak<RefCell<PoolSlot>>,
    handle: Handler,
    generation: WorkerGeneration,
    mut replies: Replies<Event>,
) {
    while let Some(reply) = replies.next().await {
        // If the slot is gone, the evaluation was dropped.
        let Some(slot) = slot.upgrade() else { return };
        if let Ok(reply) = &reply {
            slot.borrow_mut().note(&reply.event);
        }
        if slot.borrow().work.generation() == generation {
            take(&slot, &handle, reply);
        }
    }
}

fn take(slot: &SharedSlot, handle: &Handler, reply: Result<Reply<Event>, WorkerLoss>) {
    let Reply { event, attachments } = match reply {
        Ok(reply) => reply,
        Err(loss) => return lose(slot, handle, loss.to_string()),
    };
    let event = match event {
        Event::Started(_) | Event::Stopped { .. } => return,
        Event::Question { id, question } => return ask(slot, id, question),
        Event::NotStarted { cells } => PoolEvent::Left(cells),
        Event::Played { results } => match attachments.into_iter().next() {
            Some(Attachment::Texts(texts)) if texts.len() == 2 * results.len() => {
                PoolEvent::Played { results, texts }
            }
            _ => {
                return lose(
                    slot,
                    handle,
                    "Its results came without their episodes.".to_owned(),
                );
            }
        },
    };
    let cells: Vec<usize> = match &event {
        PoolEvent::Played { results, .. } => results.iter().map(|result| result.cell).collect(),
        PoolEvent::Left(cells) => cells.clone(),
        PoolEvent::Lost { .. } => Vec::new(),
    };
    let deadline = slot.borrow_mut().work.tick_off(cells);
    watch(slot, handle, deadline);
    handle(event);
}

/// Answers a question of an environment in a worker.
fn ask(slot: &SharedSlot, id: QuestionId, question: Question) {
    let answered = Rc::downgrade(slot);
    let generation = slot.borrow().work.generation();
    let reply = move |answer| {
        let Some(slot) = answered.upgrade() else {
            return;
        };
        let slot = slot.borrow();
        // A worker that replaced this one numbers its own questions from the start.
        let is_same = slot.work.generation() == generation;
        if let Some(worker) = slot.worker.as_ref().filter(|_| is_same) {
            let question = id;
            // An answer has no reply.
            drop(worker.call(&Request::Answer { question, answer }));
        }
    };
    let questions = {
        let mut slot = slot.borrow_mut();
        // Its batches now wait for a person or a model, which may take long, so lift their time limit.
        slot.work.lift_limits();
        Rc::clone(&slot.questions)
    };
    questions.ask(question, reply);
}

/// Handles the loss of a worker. The next batch starts another one.
fn lose(slot: &SharedSlot, handle: &Handler, message: String) {
    let cells = {
        let mut slot = slot.borrow_mut();
        let lost = slot.work.lose(&message);
        slot.finish(&message, &lost.held);
        lost.cells
    };
    // Report it even without cells: the worker may have hosted environments of models.
    handle(PoolEvent::Lost { cells, message });
}

/// Watchdog: terminates a worker whose batch exceeds its time limit.
fn watch(slot: &SharedSlot, handle: &Handler, deadline: Option<Deadline>) {
    let Some(deadline) = deadline else { return };
    let (slot, handle) = (Rc::downgrade(slot), Rc::clone(handle));
    browser::spawn(async move {
        let seconds = deadline.seconds;
        timers::sleep(Duration::try_from_secs_f64(seconds).unwrap_or_default()).await;
        let Some(slot) = slot.upgrade() else { return };
        if slot.borrow().work.is_overdue(&deadline) {
            let message = format!("It exceeded the time limit of {seconds} s.");
            lose(&slot, &handle, message);
        }
    });
}
