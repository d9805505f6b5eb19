//! Where an environment lives, and how it is made and worked with there.
//!
//! What always holds: a panic of an environment's code ends here.

use std::any::Any;
use std::panic::AssertUnwindSafe;

use futures_util::FutureExt;
use volary_core::dataset::{DatasetError, TaskDataset};
use volary_core::json::{Json, Text};
use volary_core::{AnyMessage, Environment};
use volary_remote::reply;
use volary_remote::request::Start;

use crate::error::ApiError;
use crate::isolated_thread::IsolatedThread;

/// What an environment shall do.
#[derive(Clone, Debug, PartialEq)]
pub enum Work {
    /// Start a new episode.
    Reset,
    /// Take an action.
    Step(AnyMessage),
    /// Show its frame (an extension).
    Frame,
    /// Free what it holds; nothing comes after.
    Close,
}

/// The body of the reply, or why there is none.
pub type Outcome = Result<Json, ApiError>;

/// Where an environment lives.
pub enum Executor {
    /// On the worker's thread, beside others.
    Here(Box<dyn Environment>),
    /// On a thread of its own.
    IsolatedThread(IsolatedThread),
}

impl Executor {
    /// Does one piece of work. The outer error is why the environment is lost.
    pub async fn perform(&mut self, work: Work) -> Result<Outcome, Text> {
        match self {
            Executor::Here(environment) => guarded(environment.as_mut(), work).await,
            Executor::IsolatedThread(apart) => apart.perform(work).await,
        }
    }
}

/// Does one piece of work, and turns a panic into the reason why the environment is lost.
pub(crate) async fn guarded(
    environment: &mut dyn Environment,
    work: Work,
) -> Result<Outcome, Text> {
    AssertUnwindSafe(perform(environment, work))
        .catch_unwind()
        .await
        .map_err(|panic| {
            let said = said(&*panic);
            format!("The environment panicked and is lost; start a new one. It said: {said}").into()
        })
}

async fn perform(environment: &mut dyn Environment, work: Work) -> Outcome {
    let done = match work {
        Work::Reset => environment
            .reset()
            .await
            .map(|reset| reply::reset_to_json(&reset)),
        Work::Step(action) => environment
            .step(action)
            .await
            .map(|step| reply::step_to_json(&step)),
        Work::Frame => Ok(Ok(Json::Object(environment.export_frame().dump()))),
        Work::Close => environment.close().await.map(|()| Ok(Json::Null)),
    };
    match done {
        Ok(dumped) => dumped.map_err(failed),
        Err(error) => Err(failed(error)),
    }
}

/// Makes an environment of a dataset.
pub(crate) fn make(
    dataset: &dyn TaskDataset,
    start: &Start,
) -> Result<Box<dyn Environment>, ApiError> {
    let made = std::panic::catch_unwind(AssertUnwindSafe(|| match start {
        Start::Any => dataset.environment(),
        Start::Arguments(arguments) => dataset.environment_with(arguments),
        Start::Index(index) => at(dataset, *index),
    }));
    match made {
        Ok(made) => made.map_err(failed),
        Err(panic) => {
            let said = said(&*panic);
            Err(failed(format!(
                "Making the environment panicked. It said: {said}"
            )))
        }
    }
}

/// The environment of a task; negative places count from the end.
fn at(dataset: &dyn TaskDataset, index: i64) -> Result<Box<dyn Environment>, DatasetError> {
    let length = dataset.length();
    let place = match length {
        Some(length) if index < 0 => i64::try_from(length)
            .ok()
            .and_then(|length| length.checked_add(index)),
        _ => Some(index),
    };
    match place.map(usize::try_from) {
        Some(Ok(place)) => dataset.environment_at(place),
        // An endless dataset says itself what it lacks.
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

/// What a panic said.
fn said(panic: &(dyn Any + Send)) -> &str {
    if let Some(text) = panic.downcast_ref::<&str>() {
        text
    } else if let Some(text) = panic.downcast_ref::<String>() {
        text
    } else {
        "nothing"
    }
}
