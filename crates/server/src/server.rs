//! The environments of all workers, as the handlers use them.
//!
//! Environments are not `Send`: each stays on the thread of the worker it was started on, and the last
//! byte of its id names that worker. So there is no table of environments that threads share.

use std::ops::Range;
use std::rc::Rc;
use std::sync::Arc;
use std::sync::atomic::{AtomicU64, AtomicUsize, Ordering};

use futures_util::future::join_all;
use tokio::sync::{OnceCell, mpsc, oneshot};
use tokio_util::task::LocalPoolHandle;
use uuid::Uuid;
use volary_core::Tool;
use volary_core::dataset::{DatasetError, Task as ListedTask};
use volary_core::json::{Json, Text};
use volary_remote::reply::Info;

use crate::error::ApiError;
use crate::executor::Operation;
use crate::opening::Opening;
use crate::options::ServerOptions;
use crate::shared::{MakeDataset, Shared};
use crate::started::Started;
use crate::time::Seconds;
use crate::watchdog::{self, Watchdog};
use crate::worker::{Task, Worker};

/// The maximum number of workers: an id encodes its worker in one byte.
const MOST_WORKERS: usize = 256;

/// A server without its sockets.
pub struct Server {
    /// The state shared by handlers and workers.
    pub shared: Arc<Shared>,
    workers: Vec<Handle>,
    next_worker: AtomicUsize,
    turns: AtomicU64,
    /// The tools of the first task, once a client has asked for them.
    pub(crate) tools: OnceCell<Vec<Arc<Tool>>>,
    /// The threads of the workers, which end when it is dropped.
    _pool: LocalPoolHandle,
}

/// The server's side of a worker.
struct Handle {
    tasks: mpsc::UnboundedSender<Task>,
    watchdog: Arc<Watchdog>,
}

impl Server {
    /// Starts the workers, each with a dataset of its own. Must be called within a tokio runtime, on
    /// which the watchdog runs.
    pub async fn start(
        options: ServerOptions,
        make_dataset: MakeDataset,
        seconds: Seconds,
        workers: usize,
    ) -> Result<Arc<Self>, DatasetError> {
        let shared = Arc::new(Shared::new(options, make_dataset, seconds));
        let pool = LocalPoolHandle::new(workers.clamp(1, MOST_WORKERS));
        let mut workers = Vec::new();
        for index in 0..pool.num_threads() {
            let watchdog = Arc::<Watchdog>::default();
            let (tasks, received) = mpsc::unbounded_channel();
            workers.push(Handle {
                tasks,
                watchdog: Arc::clone(&watchdog),
            });
            let shared = Arc::clone(&shared);
            let open = move || async move { Worker::open(index, shared, watchdog, received) };
            let opened = pool.spawn_pinned_by_idx(open, index).await;
            opened.map_err(|error| DatasetError::Failed {
                message: format!("a worker thread failed: {error}").into(),
            })??;
        }
        let watchdogs = workers.iter().map(|worker| Arc::clone(&worker.watchdog));
        let stuck_after = shared.options.stuck_after;
        tokio::spawn(watchdog::monitor(watchdogs.collect(), stuck_after));
        Ok(Arc::new(Server {
            shared,
            workers,
            next_worker: AtomicUsize::new(0),
            turns: AtomicU64::new(0),
            tools: OnceCell::new(),
            _pool: pool,
        }))
    }

    /// The number of workers that are stuck in the code of an environment.
    pub fn stuck_workers(&self) -> usize {
        let workers = self.workers.iter();
        workers.filter(|worker| worker.watchdog.is_stuck()).count()
    }

    /// Performs an operation of an environment. Operations of one environment run one after the other, in
    /// order of arrival.
    pub async fn perform(&self, env_id: &Text, operation: Operation) -> Result<Json, ApiError> {
        let unknown = || ApiError::NoEnvironment(env_id.clone());
        let id = Uuid::try_parse(env_id).map_err(|_| unknown())?;
        let worker = usize::from(id.as_bytes()[15]);
        // Other spellings of the same number are not ids.
        let mut canonical = Uuid::encode_buffer();
        if worker >= self.workers.len() || *id.hyphenated().encode_lower(&mut canonical) != **env_id
        {
            return Err(unknown());
        }
        self.on_worker(worker, move |worker| async move {
            worker.perform(id, operation).await
        })
        .await
    }

    /// Starts an environment on the next worker that is not stuck; returns its id.
    pub async fn start_environment(&self, opening: Opening) -> Result<Uuid, ApiError> {
        let worker = self.next_worker();
        // The worker drops the environment if the client has disconnected by then, since nobody would know its id.
        let (reply, id) = oneshot::channel();
        let starting = self.on_worker(worker, move |worker| async move {
            worker.start(opening, reply).await
        });
        starting.await?;
        id.await.map_err(|_| stopped())
    }

    /// The number of tasks; `None` if they are not numbered.
    pub async fn task_count(&self) -> Result<Option<usize>, ApiError> {
        let worker = self.next_worker();
        self.on_worker(worker, |worker| async move { Ok(worker.dataset_size()) })
            .await
    }

    /// The tasks at these places, as the dataset describes them.
    pub async fn tasks(&self, places: Range<usize>) -> Result<Vec<Option<ListedTask>>, ApiError> {
        let worker = self.next_worker();
        self.on_worker(worker, |worker| async move { Ok(worker.tasks(places)) })
            .await
    }

    /// The number of the next environment that a client takes without naming a task.
    pub fn next_turn(&self) -> u64 {
        self.turns.fetch_add(1, Ordering::Relaxed)
    }

    /// Selects workers round-robin. Stuck workers are skipped, unless all are stuck.
    fn next_worker(&self) -> usize {
        let count = self.workers.len();
        let turn = self.next_worker.fetch_add(1, Ordering::Relaxed) % count;
        let is_free = |index: &usize| {
            let worker = self.workers.get(*index);
            worker.is_some_and(|worker| !worker.watchdog.is_stuck())
        };
        (turn..count).chain(0..turn).find(is_free).unwrap_or(turn)
    }

    /// Closes the environments that were unused for more than `age` seconds; returns the ids of
    /// those that closed, in order of start.
    pub async fn close_unused(&self, age: f64) -> Vec<Text> {
        let closed = self.on_all(move |worker| async move { worker.close_unused(age).await });
        in_order_of_start(closed.await)
    }

    /// The reply to `/info`. Stuck workers are skipped.
    pub async fn info(&self) -> Info {
        let replies =
            self.on_all(|worker| async move { (worker.dataset_size(), worker.running()) });
        let (sizes, running): (Vec<_>, Vec<_>) = replies.await.into_iter().unzip();
        let size = sizes.into_iter().next().flatten();
        Info {
            dataset_size: size.and_then(|size| u64::try_from(size).ok()),
            running_env_ids: in_order_of_start(running),
        }
    }

    /// Closes all environments, within the grace period.
    pub async fn close_everything(&self) {
        let running = self.shared.running();
        let closing = self.on_all(|worker| async move { worker.close_all().await.len() });
        match tokio::time::timeout(self.shared.options.grace_period, closing).await {
            Ok(closed) => {
                let closed: usize = closed.into_iter().sum();
                tracing::info!(closed, of = running, "environments closed");
            }
            Err(_) => tracing::warn!(of = running, "some environments did not close in time"),
        }
    }

    /// Runs a task on every worker concurrently; returns the results of those that are not stuck.
    async fn on_all<T, F>(&self, task: impl Fn(Rc<Worker>) -> F + Clone + Send + 'static) -> Vec<T>
    where
        T: Send + 'static,
        F: Future<Output = T> + 'static,
    {
        let results = join_all((0..self.workers.len()).map(|index| {
            let task = task.clone();
            self.on_worker(index, move |worker| async move { Ok(task(worker).await) })
        }));
        results.await.into_iter().flatten().collect()
    }

    /// Runs a task on the thread of a worker. The task continues if the caller stops waiting.
    async fn on_worker<T, F>(
        &self,
        index: usize,
        task: impl FnOnce(Rc<Worker>) -> F + Send + 'static,
    ) -> Result<T, ApiError>
    where
        T: Send + 'static,
        F: Future<Output = Result<T, ApiError>> + 'static,
    {
        let Some(Handle { tasks, watchdog }) = self.workers.get(index) else {
            return Err(stopped());
        };
        let (reply, result) = oneshot::channel();
        let spawn: Task = Box::new(move |worker| {
            let running = task(Rc::clone(worker));
            tokio::task::spawn_local(async move { reply.send(running.await) });
        });
        tasks.send(spawn).map_err(|_| stopped())?;
        tokio::select! {
            biased;
            result = result => result.unwrap_or_else(|_| Err(stopped())),
            () = watchdog.stuck() => Err(ApiError::Busy(
                "The thread of this environment is stuck in the code of one of its environments.".into(),
            )),
        }
    }
}

fn stopped() -> ApiError {
    ApiError::Failed("The server stopped before the environment answered.".into())
}

fn in_order_of_start(lists: Vec<Vec<Started>>) -> Vec<Text> {
    let mut all: Vec<Started> = lists.into_iter().flatten().collect();
    all.sort_unstable();
    all.into_iter()
        .map(|started| started.id.to_string().into())
        .collect()
}
