//! Makes an environment and performs its operations, on the worker's thread or on one of its own.
//!
//! A panic in the code of an environment is caught here.

use std::any::Any;
use std::panic::AssertUnwindSafe;
use std::sync::Arc;
use std::time::Duration;

use futures_util::FutureExt;
use tokio::sync::OwnedSemaphorePermit;
use volary_core::dataset::{DatasetError, TaskDataset};
use volary_core::json::{Json, Text};
use volary_core::{AnyMessage, Environment};
use volary_remote::reply;
use volary_remote::request::Start;

use crate::error::ApiError;
use crate::isolated_thread::IsolatedThread;
use crate::opening::Opening;
use crate::shared::Shared;

/// An operation of an environment.
#[derive(Clone, Debug, PartialEq)]
pub enum Operation {
    /// Start a new episode.
    Reset,
    /// Take an action.
    Step(AnyMessage),
    /// Export the frame (an extension).
    Frame,
    /// Free all resources; the last operation.
    Close,
}

/// The outcome of an operation: the body of the reply or an error of the environment. The outer
/// error is the reason why the environment is lost.
pub type Performed = Result<Result<Json, ApiError>, Text>;

/// An environment on the thread that runs it.
pub enum Executor {
    /// On the worker's thread, together with others.
    Here(Box<dyn Environment>),
    /// On a thread of its own.
    Isolated(IsolatedThread),
}

impl Executor {
    /// Makes an environment on the calling thread.
    pub fn here(dataset: &dyn TaskDataset, opening: &Opening) -> Result<Self, ApiError> {
        make(dataset, opening).map(Executor::Here)
    }

    /// Makes an environment on a new thread, within the time limit of a step. The thread holds the
    /// permit too.
    pub async fn isolated(
        shared: &Arc<Shared>,
        opening: Opening,
        permit: Arc<OwnedSemaphorePermit>,
    ) -> Result<Self, ApiError> {
        let limit = shared.options.step_timeout.unwrap_or(Duration::MAX);
        let starting = IsolatedThread::start(Arc::clone(shared), opening, permit);
        match tokio::time::timeout(limit, starting).await {
            Ok(started) => started.map(Executor::Isolated),
            Err(_) => Err(ApiError::Failed(
                "The environment could not be made in time.".into(),
            )),
        }
    }

    /// Performs one operation.
    pub async fn perform(&mut self, operation: Operation) -> Performed {
        match self {
            Executor::Here(environment) => perform(environment.as_mut(), operation).await,
            Executor::Isolated(thread) => thread.perform(operation).await,
        }
    }
}

/// Performs one operation and catches a panic.
pub(crate) async fn perform(environment: &mut dyn Environment, operation: Operation) -> Performed {
    AssertUnwindSafe(perform_unguarded(environment, operation))
        .catch_unwind()
        .await
        .map_err(|panic| {
            let message = panic_message(&*panic);
            format!(
                "The environment panicked and was stopped; start a new one. The panic: {message}"
            )
            .into()
        })
}

async fn perform_unguarded(
    environment: &mut dyn Environment,
    operation: Operation,
) -> Result<Json, ApiError> {
    let done = match operation {
        Operation::Reset => environment
            .reset()
            .await
            .map(|reset| reply::reset_to_json(&reset)),
        Operation::Step(action) => environment
            .step(action)
            .await
            .map(|step| reply::step_to_json(&step)),
        Operation::Frame => Ok(Ok(Json::Object(environment.export_frame().dump()))),
        Operation::Close => environment.close().await.map(|()| Ok(Json::Null)),
    };
    match done {
        Ok(dumped) => dumped.map_err(failed),
        Err(error) => Err(failed(error)),
    }
}

/// Makes an environment of a dataset and catches a panic.
pub(crate) fn make(
    dataset: &dyn TaskDataset,
    opening: &Opening,
) -> Result<Box<dyn Environment>, ApiError> {
    let made = std::panic::catch_unwind(AssertUnwindSafe(|| match opening {
        Opening::Start(Start::Any) => dataset.environment(),
        Opening::Start(Start::Arguments(arguments)) => dataset.environment_with(arguments),
        Opening::Start(Start::Index(index)) => at_index(dataset, *index),
        Opening::Turn(turn) => match in_round(dataset, *turn) {
            Some(index) => dataset.environment_at(index),
            None => dataset.environment(),
        },
        Opening::Seeded { seed, arguments } => {
            match in_round(dataset, *seed).filter(|_| arguments.is_empty()) {
                Some(index) => dataset.environment_at(index),
                None => dataset.environment_seeded(*seed, arguments),
            }
        }
    }));
    match made {
        Ok(made) => made.map_err(failed),
        Err(panic) => {
            let message = panic_message(&*panic);
            Err(failed(format!(
                "Making the environment panicked: {message}"
            )))
        }
    }
}

/// The index of a number in an endless round through the tasks; `None` if they are not numbered.
fn in_round(dataset: &dyn TaskDataset, number: u64) -> Option<usize> {
    let length = u64::try_from(dataset.length()?).ok()?;
    usize::try_from(number.checked_rem(length)?).ok()
}

/// The environment of a task. A negative index counts from the end, as in Python.
fn at_index(dataset: &dyn TaskDataset, index: i64) -> Result<Box<dyn Environment>, DatasetError> {
    let length = dataset.length();
    let from_start = match length {
        Some(length) if index < 0 => i64::try_from(length)
            .ok()
            .and_then(|length| length.checked_add(index)),
        _ => Some(index),
    };
    match from_start.map(usize::try_from) {
        Some(Ok(index)) => dataset.environment_at(index),
        // An endless dataset has its own error for any index.
        _ if length.is_none() => dataset.environment_at(0),
        _ => Err(DatasetError::OutOfRange {
            index,
            length: length.unwrap_or(0),
        }),
    }
}

fn failed(error: impl ToString) -> ApiError {
    ApiError::Failed(error.to_string().into())
}

fn panic_message(panic: &(dyn Any + Send)) -> &str {
    if let Some(text) = panic.downcast_ref::<&str>() {
        text
    } else if let Some(text) = panic.downcast_ref::<String>() {
        text
    } else {
        "no message"
    }
}
