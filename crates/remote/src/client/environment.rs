//! A remote environment.

use std::rc::Rc;

use futures_util::future::LocalBoxFuture;
use volary_core::json::{Json, Text};
use volary_core::message::Body;
use volary_core::message::dump::DumpOptions;
use volary_core::{
    AnyMessage, Environment, EnvironmentError, Frame, Message, Reset, Step, ToolResponseMessage,
    json,
};

use super::ClientOptions;
use super::exchange::{ClientError, Exchange};
use crate::reply;
use crate::request::Start;
use crate::transport::Transport;

/// An environment on a server. Each reset starts a new one there.
pub struct TaskEnvironmentClient {
    exchange: Exchange,
    start: Start,
    env_id: Option<Text>,
    frame: Frame,
    frames_known: Frames,
}

/// Whether the server supports frames, an extension that the original lacks.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Frames {
    /// Not requested yet.
    Unknown,
    /// Supported.
    Shown,
    /// Not supported.
    NotShown,
}

impl TaskEnvironmentClient {
    /// An environment for a task, without a request about its dataset.
    pub fn of(options: ClientOptions, transport: Rc<dyn Transport>, start: Start) -> Self {
        let options = Rc::new(options);
        TaskEnvironmentClient::new(Exchange { options, transport }, start)
    }

    /// Sets whether the server supports frames, if that is known in advance.
    pub fn knowing(mut self, frames: Frames) -> Self {
        self.frames_known = frames;
        self
    }

    pub(super) fn new(exchange: Exchange, start: Start) -> Self {
        TaskEnvironmentClient {
            exchange,
            start,
            env_id: None,
            frame: Frame::default(),
            frames_known: Frames::Unknown,
        }
    }

    /// The id on the server; `None` before the start.
    pub fn env_id(&self) -> Option<&Text> {
        self.env_id.as_ref()
    }

    /// Whether the server supports frames.
    pub fn frames(&self) -> Frames {
        self.frames_known
    }

    /// Requests the frame, which [`export_frame`](Environment::export_frame) then returns; the frame
    /// is empty if that fails. A server without the extension is asked only once.
    pub async fn fetch_frame(&mut self) -> Result<(), ClientError> {
        if self.frames_known == Frames::NotShown {
            return Ok(());
        }
        self.frame = Frame::default();
        match self.exchange.post("/frame", &self.body()).await {
            Ok(frame) => {
                let part = |name| frame.get(name).cloned().unwrap_or_default();
                self.frame = Frame::new(part("state"), part("info"));
                self.frames_known = Frames::Shown;
                Ok(())
            }
            Err(error) if lacks_the_path(&error) => {
                self.frames_known = Frames::NotShown;
                Ok(())
            }
            Err(error) => Err(error),
        }
    }

    /// Starts a new environment on the server and resets it.
    pub async fn try_reset(&mut self) -> Result<Reset, ClientError> {
        self.try_start().await?;
        self.try_reset_started().await
    }

    /// Starts a new environment on the server, without the reset that must follow:
    /// [`TaskEnvironmentClient::try_reset_started`]. A caller that may be interrupted soon can record the id first.
    pub async fn try_start(&mut self) -> Result<(), ClientError> {
        if self.exchange.options.close_replaced && self.env_id.is_some() {
            // Best effort: the old environment may be gone already, and the new one does not depend on it.
            let _ = self.try_close().await;
        }
        let started = self.exchange.post("/start", &self.start.to_json()).await?;
        self.env_id = Some(reply::read_env_id(&started)?);
        Ok(())
    }

    /// Resets the environment started by [`TaskEnvironmentClient::try_start`].
    pub async fn try_reset_started(&mut self) -> Result<Reset, ClientError> {
        match self.exchange.post("/reset", &self.body()).await {
            Ok(body) => Ok(reply::read_reset(&body)?),
            Err(error) if self.exchange.options.catch_http_errors && error.is_caught() => {
                Ok(Reset {
                    messages: vec![
                        Message::user(format!("Environment.reset() failed: {error}")).into(),
                    ],
                    tools: Vec::new(),
                })
            }
            Err(error) => Err(error),
        }
    }

    /// Takes an action on the server. It is never retried, since it might step twice. Fails without a request before
    /// the first start.
    pub async fn try_step(&mut self, action: &AnyMessage) -> Result<Step, ClientError> {
        if self.env_id.is_none() {
            return Err(ClientError::NotStarted);
        }
        let dump =
            action
                .dump(&DumpOptions::default())
                .map_err(|error| reply::ReplyError::Message {
                    endpoint: "/step",
                    error,
                })?;
        let mut body = self.body();
        if let Json::Object(fields) = &mut body {
            fields.insert("action", dump);
        }
        match self.exchange.post_once("/step", &body).await {
            Ok(body) => Ok(reply::read_step(&body)?),
            Err(error) if self.exchange.options.catch_http_errors && error.is_caught() => {
                Ok(ended_by(&error, action))
            }
            Err(error) => Err(error),
        }
    }

    /// Closes it on the server. Returns the reply, or null if it was never started.
    pub async fn try_close(&mut self) -> Result<Json, ClientError> {
        if self.env_id.is_none() {
            return Ok(Json::Null);
        }
        self.exchange.post("/close", &self.body()).await
    }

    fn body(&self) -> Json {
        json!({"env_id": (self.env_id.clone())})
    }
}

/// The end of an episode after a server error: each call is answered with the error.
fn ended_by(error: &ClientError, action: &AnyMessage) -> Step {
    let text = Text::from(error.to_string());
    let messages = match action {
        AnyMessage::Request(request) => request
            .tool_calls
            .iter()
            .map(|call| ToolResponseMessage::from_call(call, Body::text(text.clone())).into())
            .collect(),
        _ => vec![Message::user(text).into()],
    };
    Step {
        messages,
        reward: 0.0,
        done: true,
        truncated: false,
    }
}

/// Whether the path is unknown to the server, rather than the environment.
fn lacks_the_path(error: &ClientError) -> bool {
    match error {
        ClientError::Status { status: 405, .. } => true,
        ClientError::Status {
            status: 404,
            detail,
            ..
        } => !detail.starts_with("Environment "),
        _ => false,
    }
}

fn failed(error: ClientError) -> EnvironmentError {
    EnvironmentError::Failed {
        message: error.to_string().into(),
    }
}

/// After a step that may have been taken, the state of the environment is unknown.
fn not_stepped(error: ClientError) -> EnvironmentError {
    if error == ClientError::NotStarted {
        return EnvironmentError::NotReset;
    }
    let advice = match () {
        () if error.is_uncertain() => {
            "It is unknown whether the step was taken; reset to continue."
        }
        () if error.is_gone() => "It was closed, or the server was restarted; reset to continue.",
        () => return failed(error),
    };
    EnvironmentError::Lost {
        message: format!("{error} {advice}").into(),
    }
}

impl Environment for TaskEnvironmentClient {
    fn kind(&self) -> &'static str {
        "TaskEnvironmentClient"
    }

    fn reset(&mut self) -> LocalBoxFuture<'_, Result<Reset, EnvironmentError>> {
        Box::pin(async {
            let reset = self.try_reset().await.map_err(failed)?;
            // A missing frame is no reason to discard the episode.
            let _ = self.fetch_frame().await;
            Ok(reset)
        })
    }

    fn step(&mut self, action: AnyMessage) -> LocalBoxFuture<'_, Result<Step, EnvironmentError>> {
        Box::pin(async move {
            let step = self.try_step(&action).await.map_err(not_stepped)?;
            let _ = self.fetch_frame().await;
            Ok(step)
        })
    }

    fn export_frame(&self) -> Frame {
        self.frame.clone()
    }

    fn close(&mut self) -> LocalBoxFuture<'_, Result<(), EnvironmentError>> {
        Box::pin(async { self.try_close().await.map(|_| ()).map_err(failed) })
    }
}
