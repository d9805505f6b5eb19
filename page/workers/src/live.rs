//! An open environment, in this worker or on a task dataset server.

use std::cell::RefCell;
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
use volary_episode::frames::FrameHistory;
use volary_episode::{Episode, Recipe};
use volary_protocol::environments::{ServerAccess, ServerEnvironment};
use volary_remote::task;

use volary_browser::timers;
use volary_connections::python;
use volary_connections::python::transport::PythonTransport;
use volary_connections::remote::opening;

/// The metadata key of an episode for the value of the environment's own `get_id`.
const ENVIRONMENT_ID: &str = "environment_id";

/// The timeout of closing an environment.
const CLOSING: Duration = Duration::from_secs(10);

/// An open environment.
pub(crate) struct LiveEnvironment {
    pub runner: Runner,
    /// Environments on servers may have none.
    pub has_frames: bool,
    /// Its place, unless it is in this worker.
    place: Option<opening::RemoteLocation>,
    /// Its connection to Python, if it runs there.
    python: Option<Rc<PythonTransport>>,
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
    /// Opens the environment of a recipe, here or on one of these servers, and resets it. Returns it with the initial
    /// episode.
    pub async fn open(
        recipe: Recipe,
        registry: &Registry,
        servers: &[ServerAccess],
        clock: Rc<dyn Clock>,
        outside: Rc<dyn Outside>,
        announce: Announce<'_>,
    ) -> Result<(Episode, LiveEnvironment), OpeningRefusal> {
        if !task::is_server(&recipe.environment) {
            let (runner, opening) = Runner::open_with(registry, &recipe, clock, outside).await?;
            let live = LiveEnvironment {
                runner,
                has_frames: true,
                place: None,
                python: None,
            };
            return Ok((opening.episode(recipe), live));
        }
        if task::python_file(&recipe.environment).is_some() {
            let opened = python::opening::open(&recipe, clock).await;
            let opened = opened.map_err(OpeningRefusal::of)?;
            let live = LiveEnvironment {
                runner: opened.runner,
                has_frames: true,
                place: None,
                python: Some(opened.transport),
            };
            let mut head = opened.opening.episode(recipe);
            if let Some(id) = opened.id {
                head.name = id.clone();
                head.metadata.insert(ENVIRONMENT_ID, id);
            }
            return Ok((head, live));
        }
        let started = RefCell::new(None);
        let begun = |url: &Text, env_id: &Text| {
            started.replace(Some(env_id.clone()));
            let (url, env_id) = (url.clone(), env_id.clone());
            announce(ServerNotice::Started(ServerEnvironment { url, env_id }));
        };
        let opened = match opening::open(&recipe, servers, clock, &begun).await {
            Ok(opened) => opened,
            Err(refused) => {
                // An environment that was started but could not be reset is closed already.
                if let Some(env_id) = started.take() {
                    announce(ServerNotice::Stopped { env_id });
                }
                return Err(OpeningRefusal {
                    reason: refused.reason,
                    key: refused.key,
                    concerns_all: refused.concerns_all,
                });
            }
        };
        let mut head = opened.opening.episode(recipe);
        head.metadata.insert(opening::NOTE, opened.place.note());
        if !opened.has_frames {
            head.frames = FrameHistory::default();
        }
        let live = LiveEnvironment {
            runner: opened.runner,
            has_frames: opened.has_frames,
            place: Some(opened.place),
            python: None,
        };
        Ok((head, live))
    }

    /// Whether its last step failed because its Python worker had ended, so that the step was not taken.
    pub fn is_gone(&self) -> bool {
        self.python.as_ref().is_some_and(|python| python.is_gone())
    }

    /// Closes the environment.
    pub async fn leave(mut self, announce: Announce<'_>) {
        self.close_and_announce(announce).await;
    }

    async fn close_and_announce(&mut self, announce: Announce<'_>) {
        Stage::close(self).await;
        let names = self.place.as_ref().and_then(opening::RemoteLocation::names);
        if let Some((_, env_id)) = names {
            let env_id = env_id.clone();
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
            match (self.runner.step(action).await, &self.place) {
                (Err(RunnerError::Crashed { message }), Some(place)) => {
                    let loss = place.after_a_loss(&message).await;
                    Err(RunnerError::Elsewhere {
                        message: loss.reason,
                        concerns_all: loss.server_is_lost,
                    })
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
