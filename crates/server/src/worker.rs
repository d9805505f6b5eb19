//! A shard: the environments of one worker's thread, and the commands that come to them.
//!
//! Which shard an environment lives on stands in its id, so that no table is shared between threads.

use std::cell::RefCell;
use std::collections::HashMap;
use std::rc::Rc;
use std::sync::Arc;
use std::sync::atomic::Ordering;
use std::time::Duration;

use futures_util::future::join_all;
use tokio::sync::{mpsc, oneshot};
use uuid::Uuid;
use volary_core::dataset::{DatasetError, TaskDataset};
use volary_core::json::Json;
use volary_remote::request::Start;

use crate::error::ApiError;
use crate::executor::{self, Executor, Work};
use crate::isolated_thread::IsolatedThread;
use crate::mailbox::Mailbox;
use crate::server::{Place, Server};

/// Where an answer goes.
pub type Reply<T> = oneshot::Sender<Result<T, ApiError>>;

/// What a shard can be asked.
pub enum Command {
    /// Start an environment.
    Start(Start, Reply<Uuid>),
    /// Work for an environment.
    Work(Uuid, Work, Reply<Json>),
    /// Close environments that were not used for so many seconds; gives those that closed.
    CloseOld(f64, Reply<Vec<Started>>),
    /// The environments that run.
    Running(Reply<Vec<Started>>),
    /// How many tasks the dataset has.
    Size(Reply<Option<usize>>),
}

/// An environment that was started.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub struct Started {
    /// Its place in the order of all starts.
    pub order: u64,
    /// Its id.
    pub id: Uuid,
}

thread_local! {
    static HERE: RefCell<Option<Rc<Worker>>> = const { RefCell::new(None) };
}

/// The environments of one thread.
pub struct Worker {
    index: usize,
    server: Arc<Server>,
    dataset: Box<dyn TaskDataset>,
    slots: RefCell<HashMap<Uuid, Rc<Mailbox>>>,
}

impl Worker {
    /// Makes this thread a shard. Must run within a `LocalSet`.
    pub fn open(
        index: usize,
        server: Arc<Server>,
        mut commands: mpsc::Receiver<Command>,
    ) -> Result<Rc<Self>, DatasetError> {
        let dataset = server.make_dataset()?;
        let shard = Rc::new(Worker {
            index,
            server,
            dataset,
            slots: RefCell::default(),
        });
        HERE.set(Some(Rc::clone(&shard)));
        let handed_over = Rc::clone(&shard);
        tokio::task::spawn_local(async move {
            while let Some(command) = commands.recv().await {
                handed_over.handle(command);
            }
        });
        let beating = Rc::clone(&shard);
        tokio::task::spawn_local(async move {
            if let Some(pulse) = beating.server.pulse(index) {
                pulse.keep().await;
            }
        });
        Ok(shard)
    }

    /// Hands a command to the shard of this thread if that is the one; else gives it back.
    pub fn here(index: usize, command: Command) -> Option<Command> {
        let shard = HERE.with_borrow(|here| here.clone().filter(|shard| shard.index == index));
        match shard {
            Some(shard) => {
                shard.handle(command);
                None
            }
            None => Some(command),
        }
    }

    /// The shard of this thread, if it is one.
    pub fn index_here() -> Option<usize> {
        HERE.with_borrow(|here| here.as_ref().map(|shard| shard.index))
    }

    // An answer that nobody waits for any more is dropped.
    fn handle(self: &Rc<Self>, command: Command) {
        match command {
            Command::Start(start, reply) => self.start(start, reply),
            Command::Work(id, work, reply) => self.work(id, work, reply),
            Command::CloseOld(age, reply) => {
                let old = self.unused_for(age, |slot| slot.last_used.get());
                let shard = Rc::clone(self);
                tokio::task::spawn_local(async move {
                    let _ = reply.send(Ok(shard.close_all(old).await));
                });
            }
            Command::Running(reply) => {
                let _ = reply.send(Ok(self.running()));
            }
            Command::Size(reply) => {
                let _ = reply.send(Ok(self.dataset.length()));
            }
        }
    }

    fn start(self: &Rc<Self>, start: Start, reply: Reply<Uuid>) {
        let place = match self.server.place() {
            Ok(place) => place,
            Err(refusal) => {
                let _ = reply.send(Err(refusal));
                return;
            }
        };
        if self.server.options.isolate {
            let shard = Rc::clone(self);
            tokio::task::spawn_local(async move { shard.start_apart(start, place, reply).await });
            return;
        }
        match executor::make(&*self.dataset, &start) {
            Ok(environment) => self.settle(Executor::Here(environment), place, reply),
            Err(refusal) => {
                drop(place);
                let _ = reply.send(Err(refusal));
            }
        }
    }

    async fn start_apart(&self, start: Start, place: Arc<Place>, reply: Reply<Uuid>) {
        let starting = IsolatedThread::start(Arc::clone(&self.server), start, Arc::clone(&place));
        let limit = self.server.options.step_timeout.unwrap_or(Duration::MAX);
        let started = tokio::time::timeout(limit, starting)
            .await
            .unwrap_or_else(|_| {
                let reason = "The environment could not be made in time.";
                Err(ApiError::Failed(reason.into()))
            });
        match started {
            Ok(apart) => self.settle(Executor::IsolatedThread(apart), place, reply),
            Err(refusal) => {
                drop(place);
                let _ = reply.send(Err(refusal));
            }
        }
    }

    fn settle(&self, executor: Executor, place: Arc<Place>, reply: Reply<Uuid>) {
        let id = self.server.new_id(self.index);
        let order = self.server.started.fetch_add(1, Ordering::Relaxed);
        let started = Started { order, id };
        let slot = Mailbox::new(Arc::clone(&self.server), executor, place, started);
        // Whoever asked may be gone, and then nobody would know the id.
        if !reply.is_closed() && reply.send(Ok(id)).is_ok() {
            self.slots.borrow_mut().insert(id, slot);
        }
    }

    fn work(&self, id: Uuid, work: Work, reply: Reply<Json>) {
        let slot = if work == Work::Close {
            self.forget(id)
        } else {
            self.slots.borrow().get(&id).cloned()
        };
        let Some(slot) = slot else {
            let _ = reply.send(Err(ApiError::NoEnvironment(id.to_string().into())));
            return;
        };
        // Looking at it is no use of it.
        if work != Work::Frame {
            slot.last_used.set((self.server.seconds)());
        }
        slot.submit(work, reply);
    }

    /// An environment is forgotten before it is closed: closing may fail.
    fn forget(&self, id: Uuid) -> Option<Rc<Mailbox>> {
        self.slots.borrow_mut().remove(&id)
    }

    /// Closes what nobody used for a while, again and again. What is at work is in use.
    pub async fn close_idle(self: Rc<Self>, age: Duration) {
        let pause = (age / 4).clamp(Duration::from_millis(100), Duration::from_secs(60));
        loop {
            tokio::time::sleep(pause).await;
            let used = |slot: &Mailbox| {
                let busy = slot.is_busy();
                if busy {
                    f64::INFINITY
                } else {
                    slot.last_used.get().max(slot.last_done.get())
                }
            };
            let old = self.unused_for(age.as_secs_f64(), used);
            if old.is_empty() {
                continue;
            }
            tracing::info!(count = old.len(), "closing environments that nobody used");
            let shard = Rc::clone(&self);
            tokio::task::spawn_local(async move { shard.close_all(old).await });
        }
    }

    /// Those that were last used more than so many seconds ago, in order of start.
    fn unused_for(&self, age: f64, used: impl Fn(&Mailbox) -> f64) -> Vec<Started> {
        let now = (self.server.seconds)();
        let slots = self.slots.borrow();
        let old = slots.values().filter(|slot| now - used(slot) > age);
        let mut old: Vec<Started> = old.map(|slot| slot.started).collect();
        old.sort_unstable();
        old
    }

    /// Closes environments; gives those that closed.
    async fn close_all(&self, all: Vec<Started>) -> Vec<Started> {
        let closing = all.into_iter().filter_map(|started| {
            // Gone meanwhile: somebody else closed it.
            let slot = self.forget(started.id)?;
            let (reply, outcome) = oneshot::channel();
            slot.submit(Work::Close, reply);
            Some(async move {
                match outcome.await {
                    Ok(Ok(_)) => Some(started),
                    Ok(Err(refusal)) => {
                        tracing::warn!(id = %started.id, ?refusal, "an environment did not close");
                        None
                    }
                    Err(_) => None,
                }
            })
        });
        // All begin to close before the first is waited for.
        let closing: Vec<_> = closing.collect();
        join_all(closing).await.into_iter().flatten().collect()
    }

    /// Closes everything, for a server that stops; gives how many closed.
    pub async fn close_everything(&self) -> usize {
        self.close_all(self.running()).await.len()
    }

    /// The environments that run.
    pub fn running(&self) -> Vec<Started> {
        let slots = self.slots.borrow();
        slots.values().map(|slot| slot.started).collect()
    }
}
