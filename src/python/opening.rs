//! Opens the environment of a recipe in Python, in a worker of the page.

use std::rc::Rc;

use volary_agent::{Opening, Runner};
use volary_core::json::Text;
use volary_core::{Clock, Environment};
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
    let mut environment = environment.knowing(Frames::Unknown);
    environment
        .try_start()
        .await
        .map_err(|error| explain("made", &error))?;
    let reset = match environment.try_reset_started().await {
        Ok(reset) => reset,
        Err(error) => {
            let reason = explain("reset", &error);
            // A failed environment is closed.
            let _ = environment.try_close().await;
            return Err(reason);
        }
    };
    // The base class has frames, so a missing frame is an error of the environment's own code.
    let _ = environment.fetch_frame().await;
    let frame = environment.export_frame();
    let id = match environment.env_id() {
        Some(env_id) => transport.environment_id(env_id).await,
        None => None,
    };
    let opening = Opening {
        messages: reset.messages,
        tools: reset.tools,
        frame: frame.clone(),
    };
    Ok(OpenedInPython {
        runner: Runner::resume(Box::new(environment), frame, clock),
        opening,
        id,
    })
}

fn explain(what: &str, error: &ClientError) -> Text {
    let why = match error {
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
