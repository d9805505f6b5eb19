//! An environment on its own thread (`--isolate`), so that code that never ends and never yields
//! blocks no other environment.
//!
//! The thread makes its own dataset, because datasets and environments are not `Send`.

use std::sync::Arc;

use tokio::runtime::Builder;
use tokio::sync::{OwnedSemaphorePermit, mpsc, oneshot};
use tokio::task::LocalSet;
use volary_core::Environment;

use crate::error::ApiError;
use crate::executor::{self, Operation, Performed};
use crate::opening::Opening;
use crate::shared::Shared;

struct Job {
    operation: Operation,
    reply: oneshot::Sender<Performed>,
}

/// A handle to the thread. When it is dropped, the thread ends as soon as the code of the environment
/// returns.
pub struct IsolatedThread {
    jobs: mpsc::Sender<Job>,
}

impl IsolatedThread {
    /// Starts the thread and makes the environment there. The thread holds `permit` until it ends, so
    /// that threads that never end count against the limit.
    pub async fn start(
        shared: Arc<Shared>,
        opening: Opening,
        permit: Arc<OwnedSemaphorePermit>,
    ) -> Result<Self, ApiError> {
        // The caller waits for each operation.
        let (sender, jobs) = mpsc::channel(1);
        let (reply, made) = oneshot::channel();
        let thread = std::thread::Builder::new().name("environment".into());
        let spawned = thread.spawn(move || run(&shared, &opening, permit, reply, jobs));
        if let Err(error) = spawned {
            let reason = format!("No thread is left for the environment: {error}");
            return Err(ApiError::Busy(reason.into()));
        }
        let ended = || Err(ApiError::Failed("The environment's thread ended.".into()));
        made.await.unwrap_or_else(|_| ended())?;
        Ok(IsolatedThread { jobs: sender })
    }

    /// Performs one operation.
    pub async fn perform(&mut self, operation: Operation) -> Performed {
        let (reply, performed) = oneshot::channel();
        let _ = self.jobs.send(Job { operation, reply }).await;
        performed
            .await
            .unwrap_or_else(|_| Err("The environment's thread ended.".into()))
    }
}

/// The thread's main function.
fn run(
    shared: &Shared,
    opening: &Opening,
    permit: Arc<OwnedSemaphorePermit>,
    reply: oneshot::Sender<Result<(), ApiError>>,
    jobs: mpsc::Receiver<Job>,
) {
    let runtime = match Builder::new_current_thread().enable_time().build() {
        Ok(runtime) => runtime,
        Err(error) => {
            let _ = reply.send(Err(ApiError::Busy(error.to_string().into())));
            return;
        }
    };
    LocalSet::new().block_on(&runtime, async {
        match make(shared, opening) {
            Ok(environment) => match reply.send(Ok(())) {
                Ok(()) => perform_all(environment, permit, jobs).await,
                Err(_) => tracing::warn!("an environment was made too late and is dropped"),
            },
            Err(error) => {
                drop(permit);
                let _ = reply.send(Err(error));
            }
        }
    });
}

fn make(shared: &Shared, opening: &Opening) -> Result<Box<dyn Environment>, ApiError> {
    let dataset = shared
        .make_dataset()
        .map_err(|error| ApiError::Failed(error.to_string().into()))?;
    executor::make(&*dataset, opening)
}

async fn perform_all(
    mut environment: Box<dyn Environment>,
    permit: Arc<OwnedSemaphorePermit>,
    mut jobs: mpsc::Receiver<Job>,
) {
    while let Some(Job { operation, reply }) = jobs.recv().await {
        let is_last = operation == Operation::Close;
        let performed = executor::perform(environment.as_mut(), operation).await;
        if is_last || performed.is_err() {
            // Before the reply: the client may start another environment at once.
            drop(environment);
            drop(permit);
            let _ = reply.send(performed);
            return;
        }
        let _ = reply.send(performed);
    }
}
