//! An environment on a thread of its own (`--isolate`): even code that neither ends nor yields then
//! keeps only itself. The thread makes its own dataset, since datasets and environments never
//! leave the thread that made them.

use std::sync::Arc;

use tokio::sync::{mpsc, oneshot};
use tokio::task::LocalSet;
use volary_core::Environment;
use volary_core::json::Text;
use volary_remote::request::Start;

use crate::error::ApiError;
use crate::executor::{self, Outcome, Work};
use crate::server::{Place, Server};

struct Job {
    work: Work,
    reply: oneshot::Sender<Result<Outcome, Text>>,
}

/// The way to an environment that has a thread of its own. The thread ends when this is dropped, as
/// soon as the environment's code lets it.
pub struct IsolatedThread {
    jobs: mpsc::Sender<Job>,
}

impl IsolatedThread {
    /// Starts the thread and the environment on it. `place` is held until the thread ends, so that
    /// threads that never end count against the limit.
    pub async fn start(
        server: Arc<Server>,
        start: Start,
        place: Arc<Place>,
    ) -> Result<Self, ApiError> {
        // One piece of work at a time: the slot sees to that.
        let (give, jobs) = mpsc::channel(1);
        let (reply, made) = oneshot::channel();
        let thread = std::thread::Builder::new().name("environment".into());
        let spawned = thread.spawn(move || live(&server, &start, place, reply, jobs));
        if let Err(error) = spawned {
            let reason = format!("There is no thread left for the environment: {error}");
            return Err(ApiError::Busy(reason.into()));
        }
        let ended = || Err(ApiError::Failed("The environment's thread ended.".into()));
        made.await.unwrap_or_else(|_| ended())?;
        Ok(IsolatedThread { jobs: give })
    }

    /// Does one piece of work. The outer error is why the environment is lost.
    pub async fn perform(&mut self, work: Work) -> Result<Outcome, Text> {
        let (reply, outcome) = oneshot::channel();
        let _ = self.jobs.send(Job { work, reply }).await;
        outcome
            .await
            .unwrap_or_else(|_| Err("The environment's thread ended.".into()))
    }
}

/// The life of the thread.
fn live(
    server: &Server,
    start: &Start,
    place: Arc<Place>,
    reply: oneshot::Sender<Result<(), ApiError>>,
    jobs: mpsc::Receiver<Job>,
) {
    let runtime = match tokio::runtime::Builder::new_current_thread()
        .enable_time()
        .build()
    {
        Ok(runtime) => runtime,
        Err(error) => {
            let _ = reply.send(Err(ApiError::Busy(error.to_string().into())));
            return;
        }
    };
    LocalSet::new().block_on(&runtime, async {
        match make(server, start) {
            // Nobody waits any more if starting took too long.
            Ok(environment) => match reply.send(Ok(())) {
                Ok(()) => work(environment, place, jobs).await,
                Err(_) => tracing::warn!("an environment was made too late for whoever asked"),
            },
            Err(refusal) => {
                drop(place);
                let _ = reply.send(Err(refusal));
            }
        }
    });
}

fn make(server: &Server, start: &Start) -> Result<Box<dyn Environment>, ApiError> {
    let dataset = server
        .make_dataset()
        .map_err(|error| ApiError::Failed(error.to_string().into()))?;
    executor::make(&*dataset, start)
}

async fn work(
    mut environment: Box<dyn Environment>,
    place: Arc<Place>,
    mut jobs: mpsc::Receiver<Job>,
) {
    while let Some(Job { work, reply }) = jobs.recv().await {
        let last = work == Work::Close;
        let outcome = executor::guarded(environment.as_mut(), work).await;
        if last || outcome.is_err() {
            // Whoever hears that it is closed finds its place free.
            drop(environment);
            drop(place);
            let _ = reply.send(outcome);
            return;
        }
        let _ = reply.send(outcome);
    }
}
