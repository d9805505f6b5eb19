//! The state shared by handlers and workers.

use std::sync::Arc;
use std::sync::atomic::{AtomicU64, Ordering};

use tokio::sync::{OwnedSemaphorePermit, Semaphore};
use tokio_util::sync::CancellationToken;
use tokio_util::task::TaskTracker;
use uuid::Uuid;
use volary_core::dataset::{DatasetError, TaskDataset};

use crate::error::ApiError;
use crate::metrics::Metrics;
use crate::options::ServerOptions;
use crate::started::Started;
use crate::time::Seconds;

/// The number of bodies of the maximum size that may be in memory at once.
const LARGEST_BODIES: usize = 16;

/// Makes the dataset, once on each thread that runs environments.
pub type MakeDataset = Arc<dyn Fn() -> Result<Box<dyn TaskDataset>, DatasetError> + Send + Sync>;

/// The state shared by handlers and workers.
pub struct Shared {
    /// Limits and rules.
    pub options: ServerOptions,
    /// The clock for the age of environments.
    pub seconds: Seconds,
    /// Counters and gauges for Prometheus.
    pub metrics: Metrics,
    /// One permit for each byte of a large body that may be in memory.
    pub body_memory: Arc<Semaphore>,
    /// Cancelled when the server stops: sockets then close.
    pub stopping: CancellationToken,
    /// The sockets that are open.
    pub sockets: TaskTracker,
    make_dataset: MakeDataset,
    /// One permit for each environment that may run.
    capacity: Arc<Semaphore>,
    started: AtomicU64,
}

impl Shared {
    /// The state of a server that has started no environment.
    pub(crate) fn new(options: ServerOptions, make_dataset: MakeDataset, seconds: Seconds) -> Self {
        let body_memory = options.max_body.saturating_mul(LARGEST_BODIES);
        Shared {
            seconds,
            metrics: Metrics::default(),
            body_memory: Arc::new(Semaphore::new(most_permits(body_memory))),
            stopping: CancellationToken::new(),
            sockets: TaskTracker::new(),
            make_dataset,
            capacity: Arc::new(Semaphore::new(most_permits(options.max_envs))),
            started: AtomicU64::new(0),
            options,
        }
    }

    /// Makes a dataset for the calling thread.
    pub fn make_dataset(&self) -> Result<Box<dyn TaskDataset>, DatasetError> {
        (self.make_dataset)()
    }

    /// The number of environments that run, or still occupy a thread.
    pub fn running(&self) -> usize {
        most_permits(self.options.max_envs) - self.capacity.available_permits()
    }

    /// The number of environments started so far.
    pub fn started(&self) -> u64 {
        self.started.load(Ordering::Relaxed)
    }

    /// Acquires the permit for one more environment.
    pub(crate) fn reserve(&self) -> Result<OwnedSemaphorePermit, ApiError> {
        let capacity = Arc::clone(&self.capacity);
        capacity.try_acquire_owned().map_err(|_| {
            let limit = self.options.max_envs;
            let reason = format!("All {limit} environments of this server are in use; close some.");
            ApiError::Busy(reason.into())
        })
    }

    /// A new id on a worker, and its position in the order of starts.
    pub(crate) fn next_id(&self, worker: usize) -> Started {
        let mut bytes = *Uuid::new_v4().as_bytes();
        bytes[14] = self.options.server_number;
        bytes[15] = u8::try_from(worker).unwrap_or(u8::MAX);
        Started {
            order: self.started.fetch_add(1, Ordering::Relaxed),
            id: Uuid::from_bytes(bytes),
        }
    }
}

/// `wanted` permits, or the maximum of a semaphore.
fn most_permits(wanted: usize) -> usize {
    wanted.min(Semaphore::MAX_PERMITS)
}
