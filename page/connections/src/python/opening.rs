//! Opens the environment of a recipe in Python, in a worker of the page.

use std::rc::Rc;

use volary_agent::{Opening, Runner};
use volary_app::environment_start::{self, StartError};
use volary_core::Clock;
use volary_core::json::Text;
use volary_episode::Recipe;
use volary_remote::client::ClientError;
use volary_remote::{ClientOptions, Frames, TaskEnvironmentClient, Transport, TransportError};

use super::transport::PythonTransport;
use volary_app::python::files;

/// An environment that was started and reset.
pub struct OpenedInPython {
    pub runner: Runner,
    /// The result of the reset.
    pub opening: Opening,
    /// The value of its `get_id`, if it has an id.
    pub id: Option<Text>,
    /// Its connection.
    pub transport: Rc<PythonTransport>,
}

/// Starts and resets the environment of a recipe. The error says what failed, why, and what to do.
pub async fn open(recipe: &Recipe, clock: Rc<dyn Clock>) -> Result<OpenedInPython, Text> {
    let (source, start) = files::parts(recipe)?;
    let transport = Rc::new(PythonTransport::new(source, recipe.seed));
    let options = ClientOptions::new(&*transport.environment);
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
        transport,
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
    // A message of Python ends without a full stop.
    let end = if why.ends_with(['.', '!', '?']) {
        ""
    } else {
        "."
    };
    let is_not_awaitable = why.contains("can't be awaited") || why.contains("'await' expression");
    let hint = if is_not_awaitable {
        " A method that Volary awaits is not asynchronous: write `async def` for reset and step."
    } else {
        ""
    };
    format!(
        "The Python environment could not be {what}. {why}{end}{hint} Edit its file under Environments, then reset."
    )
    .into()
}

#[cfg(test)]
mod tests {
    use super::*;

    fn status(detail: &str) -> ClientError {
        ClientError::Status {
            endpoint: "/start",
            status: 500,
            detail: detail.into(),
        }
    }

    #[test]
    fn a_failure_says_what_failed_why_and_what_to_do() {
        let words = explain(&StartError::Start(status(
            "NameError: name 'x' is not defined",
        )));
        assert_eq!(
            &*words,
            "The Python environment could not be made. NameError: name 'x' is not defined. Edit its \
             file under Environments, then reset."
        );
        let stopped = "Python did not respond within 30 s and was stopped.";
        let words = explain(&StartError::Reset(ClientError::Transport(
            TransportError::Unreachable {
                reason: stopped.into(),
            },
        )));
        assert!(words.contains("could not be reset."), "{words}");
        assert!(words.contains("was stopped. Edit"), "{words}");
    }

    #[test]
    fn a_method_that_is_not_asynchronous_is_explained() {
        for error in [
            "TypeError: object tuple can't be used in 'await' expression",
            "TypeError: 'list' object can't be awaited",
        ] {
            let words = explain(&StartError::Reset(status(error)));
            assert!(words.contains("write `async def`"), "{words}");
        }
        let words = explain(&StartError::Reset(status("ValueError: no")));
        assert!(!words.contains("async"), "{words}");
    }
}
