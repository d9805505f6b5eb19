//! One running environment.
//!
//! At most one operation runs at a time, in order of arrival: the state is behind tokio's mutex, which is
//! fair. A panic or a timeout affects only this environment.

use std::cell::Cell;
use std::sync::Arc;

use tokio::sync::{Mutex, OwnedSemaphorePermit};
use volary_core::json::{Json, Text};

use crate::error::ApiError;
use crate::executor::{Executor, Operation};
use crate::shared::Shared;
use crate::started::Started;

enum State {
    Running(Executor),
    /// Panicked or timed out, for this reason.
    Lost(Text),
    Closed,
}

/// An environment with its queue of operations.
pub struct Instance {
    /// Its id and when it was started.
    pub started: Started,
    shared: Arc<Shared>,
    state: Mutex<State>,
    /// Held until the environment is closed.
    permit: Cell<Option<Arc<OwnedSemaphorePermit>>>,
    /// The number of operations that run or wait.
    queued: Cell<usize>,
    last_used: Cell<f64>,
    last_done: Cell<f64>,
}

impl Instance {
    /// A new environment.
    pub fn new(
        shared: Arc<Shared>,
        executor: Executor,
        permit: Arc<OwnedSemaphorePermit>,
        started: Started,
    ) -> Self {
        let now = (shared.seconds)();
        Instance {
            started,
            shared,
            state: Mutex::new(State::Running(executor)),
            permit: Cell::new(Some(permit)),
            queued: Cell::new(0),
            last_used: Cell::new(now),
            last_done: Cell::new(now),
        }
    }

    /// Records that the environment is used now.
    pub fn touch(&self) {
        self.last_used.set((self.shared.seconds)());
    }

    /// The time of the latest request, in seconds.
    pub fn last_used(&self) -> f64 {
        self.last_used.get()
    }

    /// The time of the latest request or completion of an operation, in seconds; infinite while one runs.
    pub fn last_active(&self) -> f64 {
        match self.queued.get() {
            0 => self.last_used.get().max(self.last_done.get()),
            _ => f64::INFINITY,
        }
    }

    /// Performs an operation after those in the queue. If the queue is full it is rejected, except
    /// `Close`: otherwise nothing could be freed.
    pub async fn perform(&self, operation: Operation) -> Result<Json, ApiError> {
        let is_last = operation == Operation::Close;
        if self.queued.get() > self.shared.options.queue && !is_last {
            let reason = "Too many requests wait for this environment; try again.";
            return Err(ApiError::Busy(reason.into()));
        }
        self.queued.update(|queued| queued + 1);
        self.shared.metrics.operations.inc();
        let mut state = self.state.lock().await;
        let result = self.perform_in(&mut state, operation).await;
        if is_last {
            // Before the reply: the client may start another environment at once.
            *state = State::Closed;
            self.permit.take();
        }
        self.shared.metrics.operations.dec();
        self.queued.update(|queued| queued - 1);
        result
    }

    async fn perform_in(&self, state: &mut State, operation: Operation) -> Result<Json, ApiError> {
        match state {
            State::Running(executor) => {
                let performed = self.in_time(executor.perform(operation)).await;
                self.last_done.set((self.shared.seconds)());
                performed.unwrap_or_else(|reason| {
                    tracing::error!(id = %self.started.id, %reason, "environment lost");
                    self.shared.metrics.lost.inc();
                    *state = State::Lost(Text::clone(&reason));
                    Err(ApiError::Failed(reason))
                })
            }
            State::Lost(_) if operation == Operation::Close => Ok(Json::Null),
            State::Lost(reason) => Err(ApiError::Failed(Text::clone(reason))),
            State::Closed => Err(ApiError::NoEnvironment(self.started.id.to_string().into())),
        }
    }

    /// The outer error is the reason why the environment is lost.
    async fn in_time<T>(&self, work: impl Future<Output = Result<T, Text>>) -> Result<T, Text> {
        let Some(limit) = self.shared.options.step_timeout else {
            return work.await;
        };
        tokio::time::timeout(limit, work).await.unwrap_or_else(|_| {
            let seconds = limit.as_secs_f64();
            let reason = format!(
                "The environment did not answer within {seconds} seconds and was stopped; start a new one."
            );
            Err(reason.into())
        })
    }
}
