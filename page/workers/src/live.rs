//! An open environment: in this worker, or elsewhere, in Python or on a task dataset server.
//!
//! Invariant: this module reaches neither the client of servers nor Python. Their code is in [`crate::elsewhere`], which is
//! loaded when an environment needs it, so that a first step does not wait for it.

use std::pin::pin;
use std::rc::Rc;
use std::time::Duration;

use futures_util::FutureExt;
use futures_util::future::{LocalBoxFuture, select};
use volary_agent::{Runner, RunnerError, Stage, Stepped};
use volary_core::json::{Object, Text};
use volary_core::outside::Outside;
use volary_core::registry::{Registry, RegistryError};
use volary_core::{AnyMessage, Clock};
use volary_episode::{Episode, Recipe};
use volary_protocol::environments::{ServerAccess, ServerEnvironment};
use volary_remote::task;

use super::all_environments;
use volary_browser::lazy::Unloaded;
use volary_browser::timers;

/// The timeout of closing an environment.
const CLOSING: Duration = Duration::from_secs(10);

/// An open environment.
pub(crate) struct LiveEnvironment {
    pub runner: Runner,
    /// Environments on servers may have none.
    pub has_frames: bool,
    /// Where it runs, unless it is in this worker.
    pub elsewhere: Option<Box<dyn Elsewhere>>,
}

/// The place of an environment that does not run in this worker.
pub(crate) trait Elsewhere {
    /// Whether the process that ran the environment ended before the last step was taken.
    fn is_gone(&self) -> bool;

    /// The error of a step that failed with this message, with what is known of the place now.
    fn after_crash(&self, message: Text) -> LocalBoxFuture<'_, RunnerError>;

    /// The environment's id on its server; `None` if it has none.
    fn server_id(&self) -> Option<Text>;
}

/// The reason why an environment could not be opened.
pub(crate) struct OpeningRefusal {
    pub reason: Text,
    pub key: Option<Text>,
    /// Whether no other environment can be opened there either.
    pub concerns_all: bool,
}

impl OpeningRefusal {
    /// A refusal that concerns only this request.
    pub fn of(reason: impl Into<Text>) -> Self {
        OpeningRefusal {
            reason: reason.into(),
            key: None,
            concerns_all: false,
        }
    }
}

impl From<RunnerError> for OpeningRefusal {
    fn from(error: RunnerError) -> Self {
        let key = match &error {
            RunnerError::Make(RegistryError::Configuration { key, .. }) => Some(key.clone()),
            _ => None,
        };
        OpeningRefusal {
            reason: error.to_string().into(),
            key,
            concerns_all: false,
        }
    }
}

impl From<Unloaded> for OpeningRefusal {
    fn from(error: Unloaded) -> Self {
        OpeningRefusal::of(format!("{error} {}", Unloaded::ADVICE))
    }
}

impl From<OpeningRefusal> for RunnerError {
    fn from(refusal: OpeningRefusal) -> Self {
        RunnerError::Elsewhere {
            message: refusal.reason,
            concerns_all: refusal.concerns_all,
        }
    }
}

/// A fact about an environment on a server that the page needs in order to close it without this worker.
pub(crate) enum ServerNotice {
    /// It was started.
    Started(ServerEnvironment),
    /// It was closed.
    Stopped {
        /// Its id on its server.
        env_id: Text,
    },
}

/// Where notices go.
pub(crate) type Announce<'a> = &'a dyn Fn(ServerNotice);

impl LiveEnvironment {
    /// Opens the environment of a recipe and resets it: one of the registry in this worker, any other with code that is
    /// loaded now, here or on one of these servers. Returns it with the initial episode.
    pub async fn open(
        recipe: Recipe,
        registry: &Registry,
        servers: &[ServerAccess],
        clock: Rc<dyn Clock>,
        outside: Rc<dyn Outside>,
        announce: Announce<'_>,
    ) -> Result<(Episode, LiveEnvironment), OpeningRefusal> {
        let is_elsewhere = task::is_server(&recipe.environment);
        if !is_elsewhere && registry.environment(&recipe.environment).is_ok() {
            return LiveEnvironment::open_here(recipe, registry, clock, outside).await;
        }
        let all = all_environments::load().await?;
        if is_elsewhere {
            return (all.open_elsewhere)(recipe, servers, clock, announce).await;
        }
        LiveEnvironment::open_here(recipe, &all.registry, clock, outside).await
    }

    async fn open_here(
        recipe: Recipe,
        registry: &Registry,
        clock: Rc<dyn Clock>,
        outside: Rc<dyn Outside>,
    ) -> Result<(Episode, LiveEnvironment), OpeningRefusal> {
        let (runner, opening) = Runner::open_with(registry, &recipe, clock, outside).await?;
        let live = LiveEnvironment {
            runner,
            has_frames: true,
            elsewhere: None,
        };
        Ok((opening.episode(recipe), live))
    }

    /// Whether its last step failed because its Python worker had ended, so that the step was not taken.
    pub fn is_gone(&self) -> bool {
        let elsewhere = self.elsewhere.as_ref();
        elsewhere.is_some_and(|elsewhere| elsewhere.is_gone())
    }

    /// Closes the environment.
    pub async fn leave(mut self, announce: Announce<'_>) {
        self.close_and_announce(announce).await;
    }

    async fn close_and_announce(&mut self, announce: Announce<'_>) {
        Stage::close(self).await;
        let elsewhere = self.elsewhere.as_ref();
        if let Some(env_id) = elsewhere.and_then(|elsewhere| elsewhere.server_id()) {
            announce(ServerNotice::Stopped { env_id });
        }
    }
}

/// An environment whose closing is announced.
pub(crate) struct Announced<'a> {
    pub live: LiveEnvironment,
    /// Where notices go.
    pub announce: Announce<'a>,
}

impl Stage for Announced<'_> {
    fn step(&mut self, action: AnyMessage) -> LocalBoxFuture<'_, Result<Stepped, RunnerError>> {
        self.live.step(action)
    }

    fn recorded(&self) -> Object {
        self.live.recorded()
    }

    fn close(&mut self) -> LocalBoxFuture<'_, ()> {
        Box::pin(self.live.close_and_announce(self.announce))
    }
}

impl Stage for LiveEnvironment {
    fn step(&mut self, action: AnyMessage) -> LocalBoxFuture<'_, Result<Stepped, RunnerError>> {
        Box::pin(async move {
            match (self.runner.step(action).await, &self.elsewhere) {
                (Err(RunnerError::Crashed { message }), Some(elsewhere)) => {
                    Err(elsewhere.after_crash(message).await)
                }
                (stepped, _) => stepped,
            }
        })
    }

    fn recorded(&self) -> Object {
        self.runner.recorded()
    }

    fn close(&mut self) -> LocalBoxFuture<'_, ()> {
        Box::pin(async {
            let mut closing = pin!(self.runner.close());
            // Most environments close at once, without a timer.
            if (&mut closing).now_or_never().is_none() {
                // The result of closing is ignored.
                select(closing, pin!(timers::sleep(CLOSING))).await;
            }
        })
    }
}
