//! The environment of one client that names no ids: of a socket, or of a session.
//!
//! Invariant: an environment that was started here and not left is closed, also when the client disconnects in the middle
//! of a step.

use std::fmt::Display;
use std::sync::Arc;

use volary_core::json::{Json, Object, Text};
use volary_core::{AnyMessage, Frame, Reset, Step, Tool};
use volary_openenv::reset_request::{ResetRequest, Which};
use volary_openenv::task_api;
use volary_remote::reply;
use volary_remote::request::Start;

use crate::error::ApiError;
use crate::executor::Operation;
use crate::opening::Opening;
use crate::server::Server;

/// A place for one environment at a time.
pub struct Seat {
    server: Arc<Server>,
    environment: Option<Text>,
}

impl Seat {
    /// An empty seat.
    pub fn new(server: Arc<Server>) -> Seat {
        Seat {
            server,
            environment: None,
        }
    }

    /// The seat of an environment that was left.
    pub fn taken(server: Arc<Server>, environment: impl Into<Text>) -> Seat {
        Seat {
            server,
            environment: Some(environment.into()),
        }
    }

    /// Keeps the environment running, and returns the id by which another request finds it.
    pub fn leave(&mut self) -> Option<Text> {
        self.environment.take()
    }

    /// Closes the environment, if there is one, starts another and resets it.
    pub async fn begin(&mut self, request: ResetRequest) -> Result<Reset, ApiError> {
        self.close().await;
        let opening = self.opening(request)?;
        self.open(opening).await
    }

    /// Takes an action.
    pub async fn step(&self, action: AnyMessage) -> Result<Step, ApiError> {
        let step = self.perform(Operation::Step(action)).await?;
        reply::read_step(&step).map_err(unreadable)
    }

    /// The frame of the environment.
    pub async fn frame(&self) -> Result<Frame, ApiError> {
        let frame = self.perform(Operation::Frame).await?;
        Frame::read(&frame).map_err(unreadable)
    }

    /// Closes the environment, if there is one.
    pub async fn close(&mut self) {
        if let Some(id) = self.environment.take() {
            close(&self.server, &id).await;
        }
    }

    fn opening(&self, request: ResetRequest) -> Result<Opening, ApiError> {
        if let Some(split) = &request.split {
            check_split(split)?;
        }
        Ok(match (request.which, request.seed) {
            (Which::Index(index), _) => Start::Index(index).into(),
            (Which::Arguments(arguments), None) => Start::Arguments(arguments).into(),
            (Which::Arguments(arguments), Some(seed)) => Opening::Seeded { seed, arguments },
            (Which::Next, Some(seed)) => Opening::Seeded {
                seed,
                arguments: Object::new(),
            },
            (Which::Next, None) => Opening::Turn(self.server.next_turn()),
        })
    }

    async fn open(&mut self, opening: Opening) -> Result<Reset, ApiError> {
        let id = self.server.start_environment(opening).await?;
        self.environment = Some(id.to_string().into());
        let reset = self.perform(Operation::Reset).await?;
        reply::read_reset(&reset).map_err(unreadable)
    }

    async fn perform(&self, operation: Operation) -> Result<Json, ApiError> {
        let id = self.environment.as_ref();
        let id = id.ok_or_else(|| ApiError::Failed("There is no episode; reset first.".into()))?;
        self.server.perform(id, operation).await
    }
}

impl Drop for Seat {
    fn drop(&mut self) {
        let Some(id) = self.environment.take() else {
            return;
        };
        // Without a runtime the server has stopped, and its environments are gone.
        if let Ok(runtime) = tokio::runtime::Handle::try_current() {
            let server = Arc::clone(&self.server);
            runtime.spawn(async move { close(&server, &id).await });
        }
    }
}

async fn close(server: &Server, id: &Text) {
    match server.perform(id, Operation::Close).await {
        // Closed before, because it was not used.
        Ok(_) | Err(ApiError::NoEnvironment(_)) => {}
        Err(error) => tracing::warn!(%id, ?error, "an environment failed to close"),
    }
}

/// The tools of the first task, for clients that ask before any episode.
pub async fn first_tools(server: &Arc<Server>) -> Result<Vec<Arc<Tool>>, ApiError> {
    let found = server.tools.get_or_try_init(|| async {
        let mut seat = Seat::new(Arc::clone(server));
        let first = Opening::Seeded {
            seed: 0,
            arguments: Object::new(),
        };
        let reset = seat.open(first).await;
        seat.close().await;
        reset.map(|reset| reset.tools)
    });
    found.await.cloned()
}

/// Fails for a split that the dataset does not have.
pub fn check_split(split: &str) -> Result<(), ApiError> {
    if split == task_api::SPLIT {
        return Ok(());
    }
    let reason = format!(
        "There is no split {split:?}; there is {:?}.",
        task_api::SPLIT
    );
    Err(ApiError::Unknown(reason.into()))
}

fn unreadable(error: impl Display) -> ApiError {
    ApiError::Failed(format!("The environment's reply cannot be read: {error}").into())
}
