//! Starts an environment that answers requests, on a server or in Python in a worker of the page, and resets it.
//!
//! Invariant: an environment that was started but could not be reset is closed again.

use std::rc::Rc;

use volary_agent::{Opening, Runner};
use volary_core::json::Text;
use volary_core::{Clock, Environment};
use volary_remote::{ClientError, Frames, TaskEnvironmentClient};

/// An environment after its reset.
pub struct StartedEnvironment {
    /// The runner that steps it.
    pub runner: Runner,
    /// The result of the reset.
    pub opening: Opening,
    pub has_frames: bool,
    /// The id that its server gave it.
    pub env_id: Option<Text>,
}

/// The request that failed.
#[derive(Debug)]
pub enum StartError {
    Start(ClientError),
    Reset(ClientError),
}

impl StartError {
    /// Why the request failed.
    pub fn cause(&self) -> &ClientError {
        match self {
            StartError::Start(error) | StartError::Reset(error) => error,
        }
    }
}

/// Starts and resets an environment. `started` receives its id before the reset, for a caller that may be interrupted.
pub async fn start(
    mut environment: TaskEnvironmentClient,
    clock: Rc<dyn Clock>,
    started: impl FnOnce(&Text),
) -> Result<StartedEnvironment, StartError> {
    environment.try_start().await.map_err(StartError::Start)?;
    if let Some(env_id) = environment.env_id() {
        started(env_id);
    }
    let reset = match environment.try_reset_started().await {
        Ok(reset) => reset,
        Err(error) => {
            // An environment that could not be reset is useless, and the first error says more than that of closing it.
            let _ = environment.try_close().await;
            return Err(StartError::Reset(error));
        }
    };
    // An episode without frames is better than none.
    let _ = environment.fetch_frame().await;
    let frame = environment.export_frame();
    let opening = Opening {
        messages: reset.messages,
        tools: reset.tools,
        frame: frame.clone(),
    };
    Ok(StartedEnvironment {
        opening,
        has_frames: environment.frames() == Frames::Shown,
        env_id: environment.env_id().cloned(),
        runner: Runner::resume(Box::new(environment), frame, clock),
    })
}

#[cfg(test)]
mod tests {
    use std::cell::RefCell;
    use std::pin::Pin;

    use volary_core::virtual_clock::VirtualClock;
    use volary_remote::request::Start;
    use volary_remote::{ClientOptions, Transport, TransportError, WireReply, WireRequest};

    use super::*;

    /// A server that refuses requests to one path.
    struct Refusing {
        path: &'static str,
        paths: RefCell<Vec<String>>,
    }

    impl Transport for Refusing {
        fn send(
            &self,
            request: WireRequest,
        ) -> Pin<Box<dyn Future<Output = Result<WireReply, TransportError>> + '_>> {
            let path = request.url.rsplit_once('/').map_or("", |(_, path)| path);
            self.paths.borrow_mut().push(path.to_owned());
            let (status, body) = match path {
                path if path == self.path => (500, "{}"),
                "start" => (200, r#"{"env_id": "e1"}"#),
                "reset" => (200, "[[], []]"),
                "frame" => (200, r#"{"state": {}, "info": null}"#),
                _ => (200, "{}"),
            };
            let body = body.to_owned();
            Box::pin(async move { Ok(WireReply { status, body }) })
        }

        fn pause(&self, _seconds: f64) -> Pin<Box<dyn Future<Output = ()> + '_>> {
            Box::pin(async {})
        }
    }

    /// The result, the requested paths, and the id that was announced.
    fn started(
        path: &'static str,
    ) -> (
        Result<StartedEnvironment, StartError>,
        Vec<String>,
        Option<Text>,
    ) {
        let server = Rc::new(Refusing {
            path,
            paths: RefCell::default(),
        });
        let transport = Rc::clone(&server) as Rc<dyn Transport>;
        let options = ClientOptions::new("https://a.example");
        let environment = TaskEnvironmentClient::of(options, transport, Start::default());
        let mut announced = None;
        let clock = VirtualClock::new();
        let future = start(environment, Rc::new(clock.clone()), |id| {
            announced = Some(id.clone());
        });
        let result = clock.run(future).expect("the server answers at once");
        let paths = server.paths.borrow().clone();
        (result, paths, announced)
    }

    #[test]
    fn an_environment_is_started_reset_and_shown() {
        let (result, paths, announced) = started("");
        let Ok(environment) = result else {
            panic!("no environment");
        };
        assert_eq!(paths, ["start", "reset", "frame"]);
        assert_eq!(announced.as_deref(), Some("e1"));
        assert_eq!(environment.env_id, announced);
        assert!(environment.has_frames);
    }

    #[test]
    fn an_environment_that_cannot_be_reset_is_closed() {
        let (result, paths, announced) = started("reset");
        assert!(matches!(result, Err(StartError::Reset(_))));
        assert_eq!(paths.last().map(String::as_str), Some("close"));
        assert!(announced.is_some());
    }

    #[test]
    fn nothing_is_closed_that_was_not_started() {
        let (result, paths, announced) = started("start");
        assert!(matches!(result, Err(StartError::Start(_))));
        assert!(paths.iter().all(|path| path == "start"));
        assert_eq!(announced, None);
    }
}
