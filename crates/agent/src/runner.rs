//! Runs the environment of a recipe and records the result of each action.
//!
//! Invariants: a runner steps one environment, one action at a time. After a crash or
//! an interrupted step it refuses further actions, since the state is unknown; opening the recipe again
//! and replaying the actions restores the state.

use std::any::Any;
use std::panic::AssertUnwindSafe;
use std::rc::Rc;
use std::sync::Arc;

use futures_util::FutureExt;
use futures_util::future::LocalBoxFuture;
use volary_core::environment::Setting;
use volary_core::json::{Object, Text};
use volary_core::outside::{Closed, Outside};
use volary_core::registry::{Registry, RegistryError};
use volary_core::{AnyMessage, Clock, Environment, EnvironmentError, Frame, Tool};
use volary_episode::{Episode, FramePatch, Outcome, Recipe, StepRecord};

/// An environment that is being played.
pub struct Runner {
    environment: Box<dyn Environment>,
    clock: Rc<dyn Clock>,
    frame: Frame,
    state: State,
}

/// Whether the environment can be stepped.
#[derive(Clone, Debug, PartialEq)]
enum State {
    Ready,
    /// Within a step; the state stays `Stepping` if the step was interrupted.
    Stepping,
    Crashed {
        message: Text,
    },
    Closed,
}

/// The result of a reset.
#[derive(Clone, Debug, Default, PartialEq)]
pub struct Opening {
    /// The first observations.
    pub messages: Vec<AnyMessage>,
    pub tools: Vec<Arc<Tool>>,
    /// The frame after the reset.
    pub frame: Frame,
}

/// The result of a step.
#[derive(Clone, Debug, PartialEq)]
pub struct Stepped {
    /// The action and its result.
    pub record: StepRecord,
    /// The change of the frame.
    pub frame: FramePatch,
}

/// Why an environment could not be opened or stepped. A step that fails is not an error but
/// an outcome.
#[derive(Clone, Debug, PartialEq, thiserror::Error)]
#[non_exhaustive]
pub enum RunnerError {
    /// It could not be made.
    #[error(transparent)]
    Make(#[from] RegistryError),
    /// It could not be reset.
    #[error("The environment could not be reset: {error}")]
    Reset {
        /// Why.
        error: EnvironmentError,
    },
    /// It could not be closed.
    #[error("The environment could not be closed: {error}")]
    Close {
        /// Why.
        error: EnvironmentError,
    },
    /// It crashed, or its connection was lost.
    #[error(
        "The environment crashed: {message}. The steps so far are kept; reset it or go back to an \
         earlier step."
    )]
    Crashed {
        /// The message of the crash.
        message: Text,
    },
    /// A step was interrupted.
    #[error(
        "The last step was interrupted, so the environment's state is unknown; reset it or go back \
         to an earlier step."
    )]
    BrokenOff,
    /// It was closed.
    #[error("The environment is closed; reset it first.")]
    Closed,
    /// It is remote, and could not be opened or was lost.
    #[error("{message}")]
    Elsewhere {
        /// What failed, why, and what to do.
        message: Text,
        /// Whether other remote environments are affected too.
        concerns_all: bool,
    },
}

impl RunnerError {
    /// The message of the crash or loss; `None` for other errors.
    pub fn loss(&self) -> Option<&Text> {
        match self {
            RunnerError::Crashed { message } | RunnerError::Elsewhere { message, .. } => {
                Some(message)
            }
            _ => None,
        }
    }
}

/// An environment that can be stepped: a [`Runner`], or a proxy of a remote one.
pub trait Stage {
    /// Takes an action.
    fn step(&mut self, action: AnyMessage) -> LocalBoxFuture<'_, Result<Stepped, RunnerError>>;

    /// The input that the environment received from outside, as members of its configuration; see
    /// [`Environment::recorded`]. Empty by default.
    fn recorded(&self) -> Object {
        Object::new()
    }

    /// Frees its resources; it cannot be stepped afterwards. Errors on closing do not affect the
    /// recorded steps. The default does nothing, for stages that are freed on drop.
    fn close(&mut self) -> LocalBoxFuture<'_, ()> {
        Box::pin(std::future::ready(()))
    }
}

impl Opening {
    /// The episode that begins with this reset.
    pub fn episode(self, recipe: Recipe) -> Episode {
        Episode {
            recipe: Some(recipe),
            tools: self.tools.iter().map(|tool| Tool::clone(tool)).collect(),
            start: self.messages,
            frames: [self.frame].into_iter().collect(),
            ..Episode::default()
        }
    }
}

impl Runner {
    /// Makes the environment of a recipe and resets it, without access to anything outside.
    pub async fn open(
        registry: &Registry,
        recipe: &Recipe,
        clock: Rc<dyn Clock>,
    ) -> Result<(Runner, Opening), RunnerError> {
        Runner::open_with(registry, recipe, clock, Rc::new(Closed)).await
    }

    /// Makes the environment of a recipe and resets it. It may access pages, models and a person.
    pub async fn open_with(
        registry: &Registry,
        recipe: &Recipe,
        clock: Rc<dyn Clock>,
        outside: Rc<dyn Outside>,
    ) -> Result<(Runner, Opening), RunnerError> {
        let setting = Setting {
            seed: recipe.seed,
            clock: Rc::clone(&clock),
            outside,
        };
        let entry = registry.environment(&recipe.environment)?;
        let environment = entry.make(&recipe.configuration, &setting)?;
        let mut runner = Runner {
            environment,
            clock,
            frame: Frame::default(),
            state: State::Ready,
        };
        let reset = unwound(runner.environment.reset()).await;
        let reset = reset.map_err(|message| RunnerError::Crashed { message })?;
        let reset = reset.map_err(|error| RunnerError::Reset { error })?;
        runner.frame = runner.environment.export_frame();
        let opening = Opening {
            messages: reset.messages,
            tools: reset.tools,
            frame: runner.frame.clone(),
        };
        Ok((runner, opening))
    }

    /// Wraps an environment that was already made and reset, with its current frame.
    pub fn resume(environment: Box<dyn Environment>, frame: Frame, clock: Rc<dyn Clock>) -> Runner {
        Runner {
            environment,
            clock,
            frame,
            state: State::Ready,
        }
    }

    /// Takes an action. A failed step is recorded as such, and the environment continues.
    pub async fn step(&mut self, action: AnyMessage) -> Result<Stepped, RunnerError> {
        self.check()?;
        self.state = State::Stepping;
        let start = self.clock.now();
        let stepped = unwound(self.environment.step(action.clone())).await;
        let seconds = self.clock.since(start);
        let stepped = match stepped {
            Ok(Err(EnvironmentError::Lost { message })) | Err(message) => {
                self.state = State::Crashed {
                    message: message.clone(),
                };
                return Err(RunnerError::Crashed { message });
            }
            Ok(stepped) => stepped,
        };
        self.state = State::Ready;
        let outcome = match stepped {
            Ok(step) => Outcome::Observed {
                messages: step.messages,
                reward: step.reward,
                done: step.done,
                truncated: step.truncated,
            },
            Err(error) => Outcome::Failed {
                message: error.to_string().into(),
            },
        };
        let frame = self.environment.export_frame();
        let patch = FramePatch::between(&self.frame, &frame);
        self.frame = frame;
        Ok(Stepped {
            record: StepRecord {
                action,
                outcome,
                seconds: Some(seconds),
                details: Default::default(),
                extras: Object::new(),
            },
            frame: patch,
        })
    }

    /// The latest frame.
    pub fn frame(&self) -> &Frame {
        &self.frame
    }

    /// Frees the environment's resources. It cannot be stepped afterwards.
    pub async fn close(&mut self) -> Result<(), RunnerError> {
        if self.state == State::Closed {
            return Ok(());
        }
        self.state = State::Closed;
        match unwound(self.environment.close()).await {
            Ok(closed) => closed.map_err(|error| RunnerError::Close { error }),
            Err(message) => Err(RunnerError::Crashed { message }),
        }
    }

    fn check(&self) -> Result<(), RunnerError> {
        match &self.state {
            State::Ready => Ok(()),
            State::Stepping => Err(RunnerError::BrokenOff),
            State::Crashed { message } => Err(RunnerError::Crashed {
                message: message.clone(),
            }),
            State::Closed => Err(RunnerError::Closed),
        }
    }
}

impl Stage for Runner {
    fn step(&mut self, action: AnyMessage) -> LocalBoxFuture<'_, Result<Stepped, RunnerError>> {
        Box::pin(Runner::step(self, action))
    }

    fn recorded(&self) -> Object {
        self.environment.recorded()
    }

    fn close(&mut self) -> LocalBoxFuture<'_, ()> {
        Box::pin(async {
            // See `Stage::close`.
            let _ = Runner::close(self).await;
        })
    }
}

/// Converts a panic of an environment to its message. In the browser a panic terminates the worker
/// instead, and the page reports it.
async fn unwound<T>(future: LocalBoxFuture<'_, T>) -> Result<T, Text> {
    let result = AssertUnwindSafe(future).catch_unwind().await;
    result.map_err(|panic| message_of(&*panic))
}

fn message_of(panic: &(dyn Any + Send)) -> Text {
    let text = panic.downcast_ref::<&str>().copied();
    let owned = panic.downcast_ref::<String>().map(String::as_str);
    text.or(owned).unwrap_or("no reason given").into()
}
