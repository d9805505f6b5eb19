//! A worker: one thread of the pool, with the environments that were started on it.

use std::cell::RefCell;
use std::collections::HashMap;
use std::ops::Range;
use std::rc::Rc;
use std::sync::Arc;
use std::time::Duration;

use futures_util::future::join_all;
use tokio::sync::{mpsc, oneshot};
use uuid::Uuid;
use volary_core::dataset::{DatasetError, Task as ListedTask, TaskDataset};
use volary_core::json::Json;

use crate::error::ApiError;
use crate::executor::{Executor, Operation};
use crate::instance::Instance;
use crate::opening::Opening;
use crate::shared::Shared;
use crate::started::Started;
use crate::watchdog::Watchdog;

/// The minimum and maximum pause between two searches for idle environments.
const IDLE_CHECK: (Duration, Duration) = (Duration::from_millis(100), Duration::from_secs(60));

/// Work for a worker: called on its thread, where it may spawn local tasks.
pub type Task = Box<dyn FnOnce(&Rc<Worker>) + Send>;

/// The environments of one thread.
pub struct Worker {
    index: usize,
    shared: Arc<Shared>,
    dataset: Box<dyn TaskDataset>,
    instances: RefCell<HashMap<Uuid, Rc<Instance>>>,
}

impl Worker {
    /// Makes the calling thread of the pool a worker and starts its background tasks.
    pub fn open(
        index: usize,
        shared: Arc<Shared>,
        watchdog: Arc<Watchdog>,
        mut tasks: mpsc::UnboundedReceiver<Task>,
    ) -> Result<(), DatasetError> {
        let dataset = shared.make_dataset()?;
        let worker = Rc::new(Worker {
            index,
            shared,
            dataset,
            instances: RefCell::default(),
        });
        tokio::task::spawn_local(async move { watchdog.keep_alive().await });
        if let Some(age) = worker.shared.options.idle_timeout {
            tokio::task::spawn_local(Rc::clone(&worker).close_idle(age));
        }
        tokio::task::spawn_local(async move {
            while let Some(task) = tasks.recv().await {
                task(&worker);
            }
        });
        Ok(())
    }

    /// The number of tasks in the dataset; `None` if it is endless.
    pub fn dataset_size(&self) -> Option<usize> {
        self.dataset.length()
    }

    /// The tasks of the dataset at these places; `None` for those that it does not describe.
    pub fn tasks(&self, places: Range<usize>) -> Vec<Option<ListedTask>> {
        places.map(|index| self.dataset.task(index)).collect()
    }

    /// The running environments, unordered.
    pub fn running(&self) -> Vec<Started> {
        let instances = self.instances.borrow();
        instances
            .values()
            .map(|instance| instance.started)
            .collect()
    }

    /// Starts an environment and sends its id. If nobody receives the id, the environment is dropped.
    pub async fn start(
        &self,
        opening: Opening,
        reply: oneshot::Sender<Uuid>,
    ) -> Result<(), ApiError> {
        let permit = Arc::new(self.shared.reserve()?);
        let executor = if self.shared.options.isolate {
            Executor::isolated(&self.shared, opening, Arc::clone(&permit)).await?
        } else {
            Executor::here(&*self.dataset, &opening)?
        };
        let started = self.shared.next_id(self.index);
        let instance = Instance::new(Arc::clone(&self.shared), executor, permit, started);
        if reply.send(started.id).is_ok() {
            let mut instances = self.instances.borrow_mut();
            instances.insert(started.id, Rc::new(instance));
        }
        Ok(())
    }

    /// Performs an operation of an environment, after those requested before.
    pub async fn perform(&self, id: Uuid, operation: Operation) -> Result<Json, ApiError> {
        let instance = if operation == Operation::Close {
            // Removed before it is closed: closing may fail.
            self.instances.borrow_mut().remove(&id)
        } else {
            self.instances.borrow().get(&id).cloned()
        };
        let instance = instance.ok_or_else(|| ApiError::NoEnvironment(id.to_string().into()))?;
        // Exporting a frame does not count as a use of the environment.
        if operation != Operation::Frame {
            instance.touch();
        }
        instance.perform(operation).await
    }

    /// Closes the environments that were unused for more than `age` seconds; returns those that
    /// closed.
    pub async fn close_unused(&self, age: f64) -> Vec<Started> {
        self.close(self.older_than(age, Instance::last_used)).await
    }

    /// Closes all environments; returns those that closed.
    pub async fn close_all(&self) -> Vec<Started> {
        self.close(self.running()).await
    }

    /// Closes environments that were idle for longer than `age`, until the thread ends.
    async fn close_idle(self: Rc<Self>, age: Duration) {
        let pause = (age / 4).clamp(IDLE_CHECK.0, IDLE_CHECK.1);
        loop {
            tokio::time::sleep(pause).await;
            let idle = self.older_than(age.as_secs_f64(), Instance::last_active);
            if !idle.is_empty() {
                tracing::info!(count = idle.len(), "closing idle environments");
                let worker = Rc::clone(&self);
                tokio::task::spawn_local(async move { worker.close(idle).await });
            }
        }
    }

    /// The environments whose `time` was more than `age` seconds ago.
    fn older_than(&self, age: f64, time: impl Fn(&Instance) -> f64) -> Vec<Started> {
        let now = (self.shared.seconds)();
        let instances = self.instances.borrow();
        let old = instances
            .values()
            .filter(|instance| now - time(instance) > age);
        old.map(|instance| instance.started).collect()
    }

    /// Closes environments at once; returns those that closed.
    async fn close(&self, all: Vec<Started>) -> Vec<Started> {
        let closing = all.into_iter().map(|started| async move {
            match self.perform(started.id, Operation::Close).await {
                Ok(_) => Some(started),
                // Another request closed it meanwhile.
                Err(ApiError::NoEnvironment(_)) => None,
                Err(error) => {
                    tracing::warn!(id = %started.id, ?error, "an environment failed to close");
                    None
                }
            }
        });
        join_all(closing).await.into_iter().flatten().collect()
    }
}
