//! A shard: the environments of one thread, and the commands that come to them.
//!
//! Which shard an environment lives on stands in its id, so that no table is shared between threads.

use std::cell::RefCell;
use std::collections::HashMap;
use std::rc::Rc;
use std::sync::Arc;
use std::sync::atomic::Ordering;

use tokio::sync::{mpsc, oneshot};
use uuid::Uuid;
use volary_core::dataset::{DatasetError, TaskDataset};
use volary_core::environment::Environment;
use volary_core::json;
use volary_core::json::{Json, Text};
use volary_remote::reply::env_id_to_json;
use volary_remote::request::Start;

use crate::refusal::Refusal;
use crate::server::Server;
use crate::slot::{Outcome, Slot, Work};

/// What a shard can be asked.
#[derive(Debug)]
pub enum Command {
    /// Start an environment.
    Start(Start),
    /// Work for an environment.
    Work(Uuid, Work),
    /// Close environments that were not used for so many seconds: gives `[order, id]` of each.
    CloseOld(f64),
    /// The environments that run: `[order, id]` of each, behind the dataset's size.
    Info,
}

/// A command with the place for its outcome.
pub struct Request {
    /// What to do.
    pub command: Command,
    /// Where the outcome goes.
    pub reply: oneshot::Sender<Outcome>,
}

thread_local! {
    static HERE: RefCell<Option<Rc<Shard>>> = const { RefCell::new(None) };
}

/// The environments of one thread.
pub struct Shard {
    index: usize,
    server: Arc<Server>,
    dataset: Box<dyn TaskDataset>,
    slots: RefCell<HashMap<Uuid, Rc<Slot>>>,
}

impl Shard {
    /// Makes this thread a shard. Must run within a `LocalSet`.
    pub fn open(
        index: usize,
        server: Arc<Server>,
        mut requests: mpsc::Receiver<Request>,
    ) -> Result<Rc<Self>, DatasetError> {
        let dataset = server.make_dataset()?;
        let shard = Rc::new(Shard {
            index,
            server,
            dataset,
            slots: RefCell::default(),
        });
        HERE.set(Some(Rc::clone(&shard)));
        let handed_over = Rc::clone(&shard);
        tokio::task::spawn_local(async move {
            while let Some(request) = requests.recv().await {
                handed_over.handle(request);
            }
        });
        Ok(shard)
    }

    /// Hands a request to the shard of this thread if that is the one; else gives it back.
    pub fn here(index: usize, request: Request) -> Option<Request> {
        HERE.with_borrow(|here| match here {
            Some(shard) if shard.index == index => {
                shard.handle(request);
                None
            }
            _ => Some(request),
        })
    }

    /// The shard of this thread, if it is one.
    pub fn index_here() -> Option<usize> {
        HERE.with_borrow(|here| here.as_ref().map(|shard| shard.index))
    }

    fn handle(self: &Rc<Self>, request: Request) {
        let Request { command, reply } = request;
        let outcome = match command {
            Command::Start(start) => self.start(&start),
            Command::Work(id, work) => return self.work(id, work, reply),
            Command::CloseOld(last_used) => return self.close_old(last_used, reply),
            Command::Info => Ok(self.info()),
        };
        let _ = reply.send(outcome);
    }

    fn start(&self, start: &Start) -> Outcome {
        let limit = self.server.options.max_envs;
        let running = &self.server.running;
        let room = running.fetch_update(Ordering::Relaxed, Ordering::Relaxed, |count| {
            (count < limit).then_some(count + 1)
        });
        if room.is_err() {
            return Err(Refusal::Busy(
                "As many environments run as this server takes; close some.",
            ));
        }
        // Making an environment is the dataset's code: a panic there must not end the thread.
        let made = std::panic::catch_unwind(std::panic::AssertUnwindSafe(|| self.make(start)));
        let environment = match made {
            Ok(Ok(environment)) => environment,
            Ok(Err(error)) => {
                running.fetch_sub(1, Ordering::Relaxed);
                return Err(Refusal::Failed(error.to_string()));
            }
            Err(_) => {
                running.fetch_sub(1, Ordering::Relaxed);
                return Err(Refusal::Failed("Making the environment panicked.".into()));
            }
        };
        let id = self.server.new_id(self.index);
        let order = self.server.started.fetch_add(1, Ordering::Relaxed);
        let slot = Slot::new(environment, order, (self.server.seconds)());
        self.slots.borrow_mut().insert(id, slot);
        Ok(env_id_to_json(&id.to_string()))
    }

    fn make(&self, start: &Start) -> Result<Box<dyn Environment>, DatasetError> {
        match start {
            Start::Any => self.dataset.environment(),
            Start::Arguments(arguments) => self.dataset.environment_with(arguments),
            Start::Index(index) => {
                let length = self.dataset.length().unwrap_or(0);
                let place = if *index < 0 {
                    i64::try_from(length)
                        .unwrap_or(i64::MAX)
                        .checked_add(*index)
                } else {
                    Some(*index)
                };
                match place.map(usize::try_from) {
                    Some(Ok(place)) => self.dataset.environment_at(place),
                    _ => Err(DatasetError::OutOfRange {
                        index: *index,
                        length,
                    }),
                }
            }
        }
    }

    fn work(&self, id: Uuid, work: Work, reply: oneshot::Sender<Outcome>) {
        let slot = if matches!(work, Work::Close) {
            self.forget(id)
        } else {
            self.slots.borrow().get(&id).cloned()
        };
        let Some(slot) = slot else {
            let _ = reply.send(Err(Refusal::NoEnvironment(id.to_string())));
            return;
        };
        if !matches!(work, Work::Frame) {
            slot.last_used.set((self.server.seconds)());
        }
        let options = &self.server.options;
        slot.submit(work, reply, options.queue, options.step_timeout);
    }

    /// An environment is forgotten before it is closed: closing may fail.
    fn forget(&self, id: Uuid) -> Option<Rc<Slot>> {
        let slot = self.slots.borrow_mut().remove(&id)?;
        self.server.running.fetch_sub(1, Ordering::Relaxed);
        Some(slot)
    }

    fn close_old(self: &Rc<Self>, last_used: f64, reply: oneshot::Sender<Outcome>) {
        let old = self.older_than(last_used);
        let shard = Rc::clone(self);
        tokio::task::spawn_local(async move {
            let _ = reply.send(Ok(Json::List(shard.close_all(old).await)));
        });
    }

    /// Closes what was not used for more than so many seconds; gives how many closed.
    pub async fn close_older_than(&self, last_used: f64) -> usize {
        self.close_all(self.older_than(last_used)).await.len()
    }

    fn older_than(&self, last_used: f64) -> Vec<(u64, Uuid)> {
        let now = (self.server.seconds)();
        let mut old: Vec<(u64, Uuid)> = self
            .slots
            .borrow()
            .iter()
            .filter(|(_, slot)| now - slot.last_used.get() > last_used)
            .map(|(id, slot)| (slot.order, *id))
            .collect();
        old.sort_unstable();
        old
    }

    /// Closes environments; gives `[order, id]` of those that closed.
    async fn close_all(&self, old: Vec<(u64, Uuid)>) -> Vec<Json> {
        let options = &self.server.options;
        let mut outcomes = Vec::with_capacity(old.len());
        for (order, id) in old {
            // Gone meanwhile: somebody else closed it.
            let Some(slot) = self.forget(id) else {
                continue;
            };
            let (reply, outcome) = oneshot::channel();
            slot.submit(Work::Close, reply, options.queue, options.step_timeout);
            outcomes.push((order, id, outcome));
        }
        let mut closed = Vec::with_capacity(outcomes.len());
        for (order, id, outcome) in outcomes {
            match outcome.await {
                Ok(Ok(_)) => closed.push(ordered(order, id)),
                Ok(Err(refusal)) => {
                    tracing::warn!(%id, ?refusal, "an old environment did not close")
                }
                Err(_) => tracing::warn!(%id, "an old environment never answered its close"),
            }
        }
        closed
    }

    /// Closes everything, for a server that stops.
    pub async fn close_everything(&self) {
        let all = self
            .slots
            .borrow()
            .iter()
            .map(|(id, slot)| (slot.order, *id))
            .collect();
        self.close_all(all).await;
    }

    fn info(&self) -> Json {
        let size = self
            .dataset
            .length()
            .map(|size| i64::try_from(size).unwrap_or(i64::MAX));
        let ids = self.slots.borrow();
        let ids = ids.iter().map(|(id, slot)| ordered(slot.order, *id));
        json!([(size), (Json::List(ids.collect()))])
    }
}

fn ordered(order: u64, id: Uuid) -> Json {
    let order = i64::try_from(order).unwrap_or(i64::MAX);
    json!([(order), (Text::from(id.to_string()))])
}
