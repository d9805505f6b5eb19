//! Opens the environment of a recipe in Python, in a worker of the page.

use std::rc::Rc;

use volary_agent::{Opening, Runner};
use volary_app::environment_start::{self, StartError};
use volary_core::Clock;
use volary_core::json::Text;
use volary_remote::client::ClientError;
use volary_remote::{ClientOptions, Frames, TaskEnvironmentClient, Transport, TransportError};
use volary_trajectory::Recipe;

use super::files;
use super::transport::PythonTransport;

/// An environment that was started and reset.
pub struct OpenedInPython {
    pub runner: Runner,
    /// The result of the reset.
    pub opening: Opening,
    /// The value of its `get_id`, if it has an id.
    pub id: Option<Text>,
}

/// Starts and resets the environment of a recipe. The error says what failed, why, and what to do.
pub async fn open(recipe: &Recipe, clock: Rc<dyn Clock>) -> Result<OpenedInPython, Text> {
    let (source, start) = files::parts(recipe)?;
    let transport = Rc::new(PythonTransport {
        environment: recipe.environment.clone(),
        source,
        seed: recipe.seed,
    });
    let options = ClientOptions::new(&*recipe.environment);
    let environment =
        TaskEnvironmentClient::of(options, Rc::clone(&transport) as Rc<dyn Transport>, start);
    let environment = environment.knowing(Frames::Unknown);
    let started = environment_start::start(environment, clock, |_| ()).await;
    let started = started.map_err(|error| explain(&error))?;
    let id = match &started.env_id {
        Some(env_id) => transport.environment_id(env_id).await,
        None => None,
    };
    Ok(OpenedInPython {
        runner: started.runner,
        opening: started.opening,
        id,
    })
}

fn explain(error: &StartError) -> Text {
    let what = match error {
        StartError::Start(_) => "made",
        StartError::Reset(_) => "reset",
    };
    let why = match error.cause() {
        ClientError::Status { detail, .. } => detail.to_string(),
        ClientError::Transport(TransportError::Unreachable { reason }) => reason.to_string(),
        error => error.to_string(),
    };
    let hint = if why.contains("can't be awaited") || why.contains("'await' expression") {
        " A method that Volary awaits is not asynchronous: write `async def` for reset and step."
    } else {
        ""
    };
    format!("The Python environment could not be {what}. {why}{hint} Edit its file under Environments, then reset.").into()
}
