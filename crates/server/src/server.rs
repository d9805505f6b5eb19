//! What all requests share: the options, the ways to the workers, the counts.

use std::sync::Arc;
use std::sync::atomic::{AtomicU64, AtomicUsize, Ordering};

use futures_util::future::join_all;
use tokio::sync::{mpsc, oneshot};
use uuid::Uuid;
use volary_core::dataset::{DatasetError, TaskDataset};
use volary_core::json::Text;
use volary_remote::reply::Info;
use volary_remote::request::Start;

use crate::error::ApiError;
use crate::executor::{Outcome, Work};
use crate::metrics::Metrics;
use crate::options::ServerOptions;
use crate::time::Seconds;
use crate::watchdog::Watchdog;
use crate::worker::{Command, Reply, Started, Worker};

/// Makes the dataset, once on each thread that has environments.
pub type MakeDataset = Arc<dyn Fn() -> Result<Box<dyn TaskDataset>, DatasetError> + Send + Sync>;

/// How many commands may be on their way to a worker before others wait to send theirs.
const ON_THEIR_WAY: usize = 1024;

/// A server, apart from its sockets and threads.
pub struct Server {
    /// Limits and rules.
    pub options: ServerOptions,
    /// How old environments are counted.
    pub seconds: Seconds,
    /// What is counted.
    pub metrics: Metrics,
    /// How many environments hold a place.
    pub running: AtomicUsize,
    /// How many were ever started; the order of starts.
    pub started: AtomicU64,
    /// Bytes of large bodies that are held at the moment.
    pub(crate) held: AtomicUsize,
    make_dataset: MakeDataset,
    workers: Vec<Way>,
    next_start: AtomicUsize,
}

/// The way to a worker.
struct Way {
    commands: mpsc::Sender<Command>,
    pulse: Watchdog,
}

/// A place among the environments that a server takes; free again when dropped.
pub struct Place(Arc<Server>);

impl Drop for Place {
    fn drop(&mut self) {
        self.0.running.fetch_sub(1, Ordering::Relaxed);
    }
}

impl Server {
    /// A server of so many workers, and what each of them listens to.
    pub fn new(
        options: ServerOptions,
        make_dataset: MakeDataset,
        seconds: Seconds,
        workers: usize,
    ) -> (Arc<Self>, Vec<mpsc::Receiver<Command>>) {
        // An id names its worker in one byte.
        let (ways, commands) = (0..workers.clamp(1, 256))
            .map(|_| {
                let (commands, received) = mpsc::channel(ON_THEIR_WAY);
                let pulse = Watchdog::default();
                (Way { commands, pulse }, received)
            })
            .unzip();
        let server = Server {
            options,
            seconds,
            metrics: Metrics::default(),
            running: AtomicUsize::new(0),
            started: AtomicU64::new(0),
            held: AtomicUsize::new(0),
            make_dataset,
            workers: ways,
            next_start: AtomicUsize::new(0),
        };
        (Arc::new(server), commands)
    }

    pub(crate) fn make_dataset(&self) -> Result<Box<dyn TaskDataset>, DatasetError> {
        (self.make_dataset)()
    }

    /// The pulses of the workers, in order.
    pub fn pulses(&self) -> impl Iterator<Item = &Watchdog> {
        self.workers.iter().map(|way| &way.pulse)
    }

    /// The pulse of a worker.
    pub(crate) fn pulse(&self, worker: usize) -> Option<&Watchdog> {
        self.workers.get(worker).map(|way| &way.pulse)
    }

    /// A place for one more environment.
    pub(crate) fn place(self: &Arc<Self>) -> Result<Arc<Place>, ApiError> {
        let limit = self.options.max_envs;
        self.running
            .fetch_update(Ordering::Relaxed, Ordering::Relaxed, |count| {
                (count < limit).then_some(count + 1)
            })
            .map(|_| Arc::new(Place(Arc::clone(self))))
            .map_err(|_| {
                let reason = format!(
                    "{limit} environments run, the most that this server takes; close some."
                );
                ApiError::Busy(reason.into())
            })
    }

    /// A new id that names its server and worker.
    pub(crate) fn new_id(&self, worker: usize) -> Uuid {
        let mut bytes = *Uuid::new_v4().as_bytes();
        bytes[14] = self.options.server_number;
        bytes[15] = u8::try_from(worker).unwrap_or(u8::MAX);
        Uuid::from_bytes(bytes)
    }

    /// Has an environment do something, on the worker that has it.
    pub async fn work(&self, env_id: &Text, work: Work) -> Outcome {
        let unknown = || ApiError::NoEnvironment(env_id.clone());
        let id = Uuid::try_parse(env_id).map_err(|_| unknown())?;
        let worker = usize::from(id.as_bytes()[15]);
        // Only the form in which ids are given out is an id.
        let mut written = Uuid::encode_buffer();
        if worker >= self.workers.len() || *id.hyphenated().encode_lower(&mut written) != **env_id {
            return Err(unknown());
        }
        self.ask(worker, |reply| Command::Work(id, work, reply))
            .await
    }

    /// Starts an environment: on this thread if it is a worker's, so that the environments of a
    /// connection are near it.
    pub async fn start(&self, start: Start) -> Result<Uuid, ApiError> {
        let worker = Worker::index_here().unwrap_or_else(|| {
            self.next_start.fetch_add(1, Ordering::Relaxed) % self.workers.len()
        });
        self.ask(worker, |reply| Command::Start(start, reply)).await
    }

    /// Closes old environments everywhere; gives their ids in order of start.
    pub async fn close_old(&self, last_used: f64) -> Vec<Text> {
        let closed = self
            .ask_all(|reply| Command::CloseOld(last_used, reply))
            .await;
        in_order(closed)
    }

    /// What `/info` says.
    pub async fn info(&self) -> Info {
        let running = self.ask_all(Command::Running).await;
        let size = self.ask_all(Command::Size).await;
        Info {
            dataset_size: size
                .into_iter()
                .next()
                .flatten()
                .and_then(|size| u64::try_from(size).ok()),
            running_env_ids: in_order(running),
        }
    }

    /// Asks every worker. One that hangs has nothing to say, and that keeps nobody.
    async fn ask_all<T>(&self, command: impl Fn(Reply<T>) -> Command) -> Vec<T> {
        let asked = (0..self.workers.len()).map(|worker| self.ask(worker, &command));
        join_all(asked).await.into_iter().flatten().collect()
    }

    async fn ask<T>(
        &self,
        worker: usize,
        command: impl FnOnce(Reply<T>) -> Command,
    ) -> Result<T, ApiError> {
        let (reply, outcome) = oneshot::channel();
        let Some(command) = Worker::here(worker, command(reply)) else {
            return outcome.await.unwrap_or_else(|_| Err(dropped()));
        };
        let Some(way) = self.workers.get(worker) else {
            return Err(dropped());
        };
        let answered = async {
            if way.commands.send(command).await.is_err() {
                return Err(ApiError::Busy("The server stops.".into()));
            }
            outcome.await.unwrap_or_else(|_| Err(dropped()))
        };
        tokio::select! {
            biased;
            answered = answered => answered,
            () = way.pulse.stuck() => Err(ApiError::Busy(
                "The worker of this environment hangs in the code of one of its environments.".into(),
            )),
        }
    }
}

fn dropped() -> ApiError {
    ApiError::Failed("The server stopped before the environment answered.".into())
}

/// The ids in order of start.
fn in_order(lists: Vec<Vec<Started>>) -> Vec<Text> {
    let mut all: Vec<Started> = lists.into_iter().flatten().collect();
    all.sort_unstable();
    all.into_iter()
        .map(|started| started.id.to_string().into())
        .collect()
}
