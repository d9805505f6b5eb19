//! The workers of an evaluation: they play cells whose policies need no model, in orders of a few cells, and hold
//! the environments of episodes that models play. The cells of a lost worker are reported.

pub mod idle_workers;
mod orders;
mod shutdown;

use std::cell::{Cell, RefCell};
use std::collections::{BTreeSet, VecDeque};
use std::rc::Rc;

use futures_util::StreamExt;
use volary_agent::evaluation::{CellResult, Job};
use volary_app::outside::Place;
use volary_core::json::Text;
use volary_protocol::environments::{self, EnvironmentId, Question, QuestionId, ServerEnvironment};
use volary_protocol::evaluation::{Event, Request};
use volary_remote::task;
use volary_trajectory::Recipe;

use orders::{AHEAD, Ordered, Share, watch};

use super::remote_environments;
use crate::browser::database::KeptText;
use crate::browser::transferable::Attachment;
use crate::browser::worker_client::{Replies, Reply, WorkerClient};
use crate::browser::{self, timers};
use crate::outside::Questions;
use crate::python;
use volary_protocol::WorkerLoss;

/// More workers do not help: the page, which stores the results, is the bottleneck.
const MOST_WORKERS: usize = 6;
/// The number of cells in an order on a server. They are played concurrently, and each may take long.
const ORDER_ABROAD: usize = 4;

/// What happened to the cells of an order.
pub enum News {
    /// Cells were played.
    Played {
        /// Their results.
        results: Vec<CellResult>,
        /// The row and the text of the episode of each result; empty where there is none.
        texts: Vec<KeptText>,
    },
    /// There was no time to begin these cells.
    Left(Vec<usize>),
    /// The worker was lost with these cells.
    Lost {
        cells: BTreeSet<usize>,
        /// The reason.
        message: String,
    },
}

type Hear = Rc<dyn Fn(News)>;

/// The workers. Dropping the pool ends them, after they closed their environments on servers.
pub struct Pool {
    workers: Vec<Rc<RefCell<WorkerSlot>>>,
    /// Whether environments are on servers.
    is_remote: bool,
    share: Share,
    hear: Hear,
    last: Cell<EnvironmentId>,
}

/// A place for a worker, which is started on demand and replaced when it is lost.
struct WorkerSlot {
    worker: Option<WorkerClient>,
    /// Counts the workers of this slot: events of earlier ones are ignored.
    generation: u32,
    /// The orders, the first one in progress.
    orders: VecDeque<Ordered>,
    /// How many environments of models the worker holds.
    environments: usize,
    /// The environments that the worker holds on servers.
    held: BTreeSet<Text>,
    /// Why the last worker of this slot was lost.
    loss: String,
    /// The questions of the worker.
    questions: Rc<Questions>,
}

/// An environment of a model's episode in a worker. Dropping the lease closes it.
pub struct Lease {
    slot: Rc<RefCell<WorkerSlot>>,
    hear: Hear,
    generation: u32,
    pub environment: EnvironmentId,
}

impl Pool {
    /// Workers for this many cells, with environments on servers or in the workers. They are started on
    /// demand. `hear` is called with news.
    pub fn new(is_remote: bool, cells: usize, hear: impl Fn(News) + 'static) -> Self {
        let slot = || {
            Rc::new(RefCell::new(WorkerSlot {
                worker: None,
                generation: 0,
                orders: VecDeque::new(),
                environments: 0,
                held: BTreeSet::new(),
                loss: String::new(),
                questions: Rc::new(Questions::of(Place::Evaluation)),
            }))
        };
        Pool {
            is_remote,
            share: Share::new(cells, worker_count()),
            workers: (0..worker_count()).map(|_| slot()).collect(),
            hear: Rc::new(hear),
            last: Cell::new(0),
        }
    }

    /// Gives orders to workers that have too few. `waiting` is the number of cells that wait, and `begin`
    /// begins some of them. While `careful`, an order has one cell, so that it is known which cell broke a
    /// worker.
    pub fn fill(
        &self,
        careful: bool,
        seconds: f64,
        mut waiting: usize,
        begin: &mut dyn FnMut(usize) -> Vec<Job>,
    ) {
        let ahead = match careful || self.is_remote {
            true => 1,
            false => AHEAD,
        };
        for round in 0..ahead {
            for worker in &self.workers {
                if worker.borrow().orders.len() > round {
                    continue;
                }
                let size = match (careful, self.is_remote) {
                    (true, _) => 1,
                    (_, true) => ORDER_ABROAD,
                    _ => self.share.of(waiting),
                };
                let jobs = begin(size);
                if jobs.is_empty() {
                    return;
                }
                waiting = waiting.saturating_sub(jobs.len());
                self.order(worker, jobs, seconds);
            }
        }
    }

    fn order(&self, slot: &Rc<RefCell<WorkerSlot>>, jobs: Vec<Job>, seconds: f64) {
        slot.borrow_mut().orders.push_back(Ordered {
            cells: jobs.iter().map(|job| job.cell).collect(),
            since: timers::now(),
            limit: (!self.is_remote).then_some(seconds),
        });
        let servers = remote_environments::access(jobs.iter().map(|job| &job.recipe));
        let has_python = jobs.iter().any(|job| is_python(&job.recipe));
        let request = Request::Play { jobs, servers };
        if let Some(replies) = start(slot, &self.hear, |worker| {
            if has_python {
                worker.give_python_port(python::runtime::port);
            }
            worker.call(&request)
        }) {
            let generation = slot.borrow().generation;
            browser::spawn(follow(
                Rc::downgrade(slot),
                Rc::clone(&self.hear),
                generation,
                replies,
            ));
        }
        if slot.borrow().orders.len() == 1 {
            watch(slot, &self.hear);
        }
    }

    /// Gives back idle workers; others are taken on demand. Workers that may hold environments of models, or
    /// on servers, stay.
    pub fn rest(&self) {
        if self.is_remote || self.last.get() > 0 {
            return;
        }
        for slot in &self.workers {
            let worker = slot.borrow_mut().spared();
            worker.into_iter().for_each(idle_workers::give);
        }
    }

    /// A new environment, in the worker that holds the fewest.
    pub fn lease(&self) -> Option<Lease> {
        let slot = self
            .workers
            .iter()
            .min_by_key(|slot| slot.borrow().environments)?;
        let environment = self.last.get().wrapping_add(1);
        self.last.set(environment);
        let generation = {
            let mut slot = slot.borrow_mut();
            slot.environments += 1;
            slot.generation
        };
        Some(Lease {
            slot: Rc::clone(slot),
            hear: Rc::clone(&self.hear),
            generation,
            environment,
        })
    }
}

impl WorkerSlot {
    /// Its worker, if it is idle.
    fn spared(&mut self) -> Option<WorkerClient> {
        let worker = self.worker.take_if(|_| self.orders.is_empty())?;
        // What it still reports is for its next user.
        self.generation = self.generation.wrapping_add(1);
        Some(worker)
    }

    /// Remembers the worker's environments on servers, so that they can be closed without it.
    fn note(&mut self, event: &Event) {
        match event {
            Event::Started(environment) => self.started(environment),
            Event::Stopped { env_id } => self.stopped(env_id),
            // These are about cells, not about servers.
            Event::Played { .. } | Event::NotBegun { .. } | Event::Question { .. } => {}
        }
    }

    fn started(&mut self, environment: &ServerEnvironment) {
        let ServerEnvironment { url, env_id } = environment;
        self.held.insert(env_id.clone());
        remote_environments::opened(url.clone(), env_id.clone());
    }

    fn stopped(&mut self, env_id: &Text) {
        self.held.remove(env_id);
        remote_environments::closed(env_id);
    }

    /// Ends the worker, if there is one, and closes its environments on servers.
    fn finish(&mut self, reason: &str) {
        self.questions = Rc::new(Questions::of(Place::Evaluation));
        if let Some(worker) = self.worker.take() {
            worker.end(reason);
        }
        remote_environments::close(&std::mem::take(&mut self.held));
    }
}

impl Lease {
    /// Sends a request to the environment's worker; returns why if that was lost.
    pub fn call(
        &self,
        request: &environments::Request,
    ) -> Result<Replies<environments::Event>, String> {
        {
            let slot = self.slot.borrow();
            if slot.generation != self.generation {
                return Err(slot.loss.clone());
            }
        }
        let has_python = match request {
            environments::Request::Open { recipe, .. } => is_python(recipe),
            _ => false,
        };
        let replies = start(&self.slot, &self.hear, |worker| {
            if has_python {
                worker.give_python_port(python::runtime::port);
            }
            worker.call(request)
        });
        replies.ok_or_else(|| "no worker could be started".to_owned())
    }

    /// The next event of the environment, or why there is none.
    pub async fn next(
        &self,
        replies: &mut Replies<environments::Event>,
    ) -> Result<environments::Event, String> {
        loop {
            let event = match replies.next().await {
                Some(Ok(reply)) => reply.event,
                Some(Err(loss)) => {
                    let generation = self.slot.borrow().generation;
                    if generation == self.generation {
                        lose(&self.slot, &self.hear, loss.to_string());
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
        slot.environments = slot.environments.saturating_sub(1);
        if slot.generation != self.generation {
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

/// Whether a task is played in Python.
fn is_python(recipe: &Recipe) -> bool {
    task::python_file(&recipe.environment).is_some()
}

/// The number of workers of an evaluation.
fn worker_count() -> usize {
    browser::processors().clamp(1, MOST_WORKERS)
}

/// Sends something to a slot's worker, which is started if necessary.
fn start<T>(
    slot: &Rc<RefCell<WorkerSlot>>,
    hear: &Hear,
    send: impl FnOnce(&WorkerClient) -> T,
) -> Option<T> {
    if slot.borrow().worker.is_none() {
        let started = idle_workers::take().map_or_else(WorkerClient::start, Ok);
        match started {
            Ok(worker) => slot.borrow_mut().worker = Some(worker),
            Err(reason) => {
                // Reported later: the caller does not expect news at once.
                let (slot, hear) = (Rc::clone(slot), Rc::clone(hear));
                browser::spawn(async move { lose(&slot, &hear, reason) });
                return None;
            }
        }
    }
    slot.borrow().worker.as_ref().map(send)
}

/// Handles the replies to an order.
async fn follow(
    slot: std::rc::Weak<RefCell<WorkerSlot>>,
    hear: Hear,
    generation: u32,
    mut replies: Replies<Event>,
) {
    while let Some(reply) = replies.next().await {
        // Without the slot the evaluation is gone.
        let Some(slot) = slot.upgrade() else { return };
        if let Ok(reply) = &reply {
            slot.borrow_mut().note(&reply.event);
        }
        if slot.borrow().generation == generation {
            take(&slot, &hear, reply);
        }
    }
}

fn take(slot: &Rc<RefCell<WorkerSlot>>, hear: &Hear, reply: Result<Reply<Event>, WorkerLoss>) {
    let Reply { event, attachments } = match reply {
        Ok(reply) => reply,
        Err(loss) => return lose(slot, hear, loss.to_string()),
    };
    let news = match event {
        Event::Started(_) | Event::Stopped { .. } => return,
        Event::Question { id, question } => return ask(slot, id, question),
        Event::NotBegun { cells } => News::Left(cells),
        Event::Played { results } => match attachments.into_iter().next() {
            Some(Attachment::Texts(texts)) if texts.len() == 2 * results.len() => {
                News::Played { results, texts }
            }
            _ => {
                return lose(
                    slot,
                    hear,
                    "Its results came without their episodes.".to_owned(),
                );
            }
        },
    };
    let is_ended = {
        let mut slot = slot.borrow_mut();
        match &news {
            News::Played { results, .. } => slot.tick_off(results.iter().map(|result| result.cell)),
            News::Left(cells) => slot.tick_off(cells.iter().copied()),
            News::Lost { .. } => false,
        }
    };
    if is_ended {
        watch(slot, hear);
    }
    hear(news);
}

/// Answers a question of an environment in a worker.
fn ask(slot: &Rc<RefCell<WorkerSlot>>, id: QuestionId, question: Question) {
    let answered = Rc::downgrade(slot);
    let reply = move |answer| {
        let Some(slot) = answered.upgrade() else {
            return;
        };
        if let Some(worker) = &slot.borrow().worker {
            let question = id;
            // Nothing is replied to an answer.
            drop(worker.call(&Request::Answer { question, answer }));
        }
    };
    let questions = {
        let mut slot = slot.borrow_mut();
        // Its orders wait for a person or a model now, which may take long.
        slot.orders.iter_mut().for_each(|order| order.limit = None);
        Rc::clone(&slot.questions)
    };
    questions.ask(question, reply);
}

/// A worker was lost; the next order starts another one.
fn lose(slot: &Rc<RefCell<WorkerSlot>>, hear: &Hear, message: String) {
    let cells = {
        let mut slot = slot.borrow_mut();
        slot.finish(&message);
        slot.loss.clone_from(&message);
        slot.generation = slot.generation.wrapping_add(1);
        let orders = std::mem::take(&mut slot.orders);
        orders.into_iter().flat_map(|order| order.cells).collect()
    };
    // Also without cells: it may have held environments of models.
    hear(News::Lost { cells, message });
}
