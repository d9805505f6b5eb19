//! Opens environments that do not run in this worker: in Python, or on a task dataset server.

use std::cell::RefCell;
use std::rc::Rc;

use futures_util::FutureExt;
use futures_util::future::LocalBoxFuture;
use volary_agent::RunnerError;
use volary_core::Clock;
use volary_core::json::Text;
use volary_episode::frames::FrameHistory;
use volary_episode::{Episode, Recipe};
use volary_protocol::environments::{ServerAccess, ServerEnvironment};
use volary_remote::task;

use super::live::{Announce, Elsewhere, LiveEnvironment, OpeningRefusal, ServerNotice};
use volary_connections::python;
use volary_connections::python::transport::PythonTransport;
use volary_connections::remote::opening::{self, RemoteLocation};

/// The metadata key of an episode for the value of the environment's own `get_id`.
const ENVIRONMENT_ID: &str = "environment_id";

/// An environment with its initial episode, or why it was not opened.
type Opened = Result<(Episode, LiveEnvironment), OpeningRefusal>;

/// Opens the environment of a recipe that names a server, one of `servers`, or a Python file.
pub(crate) fn open<'a>(
    recipe: Recipe,
    servers: &'a [ServerAccess],
    clock: Rc<dyn Clock>,
    announce: Announce<'a>,
) -> LocalBoxFuture<'a, Opened> {
    if task::python_file(&recipe.environment).is_some() {
        open_in_python(recipe, clock).boxed_local()
    } else {
        open_on_server(recipe, servers, clock, announce).boxed_local()
    }
}

async fn open_in_python(recipe: Recipe, clock: Rc<dyn Clock>) -> Opened {
    let opened = python::opening::open(&recipe, clock).await;
    let opened = opened.map_err(OpeningRefusal::of)?;
    let live = LiveEnvironment {
        runner: opened.runner,
        has_frames: true,
        elsewhere: Some(Box::new(InPython(opened.transport))),
    };
    let mut head = opened.opening.episode(recipe);
    if let Some(id) = opened.id {
        head.name = id.clone();
        head.metadata.insert(ENVIRONMENT_ID, id);
    }
    Ok((head, live))
}

async fn open_on_server(
    recipe: Recipe,
    servers: &[ServerAccess],
    clock: Rc<dyn Clock>,
    announce: Announce<'_>,
) -> Opened {
    let started = RefCell::new(None);
    let on_start = |url: &Text, env_id: &Text| {
        started.replace(Some(env_id.clone()));
        let (url, env_id) = (url.clone(), env_id.clone());
        announce(ServerNotice::Started(ServerEnvironment { url, env_id }));
    };
    let opened = match opening::open(&recipe, servers, clock, &on_start).await {
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
        elsewhere: Some(Box::new(OnServer(opened.place))),
    };
    Ok((head, live))
}

/// An environment in Python, with its connection.
struct InPython(Rc<PythonTransport>);

impl Elsewhere for InPython {
    fn is_gone(&self) -> bool {
        self.0.is_gone()
    }

    fn after_crash(&self, message: Text) -> LocalBoxFuture<'_, RunnerError> {
        async { RunnerError::Crashed { message } }.boxed_local()
    }

    fn server_id(&self) -> Option<Text> {
        None
    }
}

/// An environment on a server.
struct OnServer(RemoteLocation);

impl Elsewhere for OnServer {
    fn is_gone(&self) -> bool {
        false
    }

    fn after_crash(&self, message: Text) -> LocalBoxFuture<'_, RunnerError> {
        async move {
            let loss = self.0.after_a_loss(&message).await;
            RunnerError::Elsewhere {
                message: loss.reason,
                concerns_all: loss.server_is_lost,
            }
        }
        .boxed_local()
    }

    fn server_id(&self) -> Option<Text> {
        self.0.names().map(|(_, env_id)| env_id.clone())
    }
}
