//! One request and its reply or error.

use std::rc::Rc;

use volary_core::json::{Json, Text};

use super::ClientOptions;
use crate::reply::ReplyError;
use crate::transport::{Method, Transport, TransportError, WireRequest};

/// Why a request failed.
#[derive(Clone, Debug, PartialEq, thiserror::Error)]
#[non_exhaustive]
pub enum ClientError {
    /// There was no reply.
    #[error(transparent)]
    Transport(#[from] TransportError),
    /// An error status.
    #[error("The server answered {status} to {endpoint}: {detail}")]
    Status {
        endpoint: &'static str,
        /// The HTTP status.
        status: u16,
        /// The server's message.
        detail: Text,
    },
    /// A response that is not valid JSON.
    #[error(
        "The server's reply to {endpoint} is not valid JSON. It may not be a TaskDatasetServer."
    )]
    NotJson { endpoint: &'static str },
    /// A response with an unexpected structure.
    #[error(transparent)]
    Reply(#[from] ReplyError),
    /// No request was sent: the environment was not started.
    #[error("The environment was never started; reset it first.")]
    NotStarted,
}

impl ClientError {
    /// Whether the server may have processed the request nevertheless.
    pub fn is_uncertain(&self) -> bool {
        match self {
            ClientError::Transport(_) | ClientError::NotJson { .. } | ClientError::Reply(_) => true,
            // The status of a proxy whose upstream server did not answer.
            ClientError::Status { status, .. } => matches!(status, 502 | 504),
            ClientError::NotStarted => false,
        }
    }

    /// The endpoint of the reply, if there was one.
    pub fn endpoint(&self) -> Option<&'static str> {
        match self {
            ClientError::Transport(_) | ClientError::NotStarted => None,
            ClientError::Status { endpoint, .. } | ClientError::NotJson { endpoint } => {
                Some(endpoint)
            }
            ClientError::Reply(error) => error.endpoint(),
        }
    }

    /// Whether the environment is unknown to the server.
    pub fn is_gone(&self) -> bool {
        matches!(self, ClientError::Status { status: 404, .. })
    }

    /// Whether the error is transient, so that a retry may succeed.
    fn is_passing(&self) -> bool {
        matches!(
            self,
            ClientError::Transport(TransportError::Unreachable { .. })
                | ClientError::Status { status: 503, .. }
        )
    }

    /// Whether `catch_http_errors` catches it: timeouts, error statuses, invalid JSON.
    pub(super) fn is_caught(&self) -> bool {
        matches!(
            self,
            ClientError::Transport(TransportError::Timeout)
                | ClientError::Status { .. }
                | ClientError::NotJson { .. }
        )
    }
}

/// The pause before the first retry, in seconds; it doubles with each further one.
const FIRST_PAUSE: f64 = 0.25;

/// The connection of a client to its server.
#[derive(Clone)]
pub(super) struct Exchange {
    pub options: Rc<ClientOptions>,
    pub transport: Rc<dyn Transport>,
}

impl Exchange {
    pub async fn get(&self, endpoint: &'static str) -> Result<Json, ClientError> {
        self.send_again(Method::Get, endpoint, None).await
    }

    /// Sends an idempotent request, with retries.
    pub async fn post(&self, endpoint: &'static str, body: &Json) -> Result<Json, ClientError> {
        let body = Some(body.to_python_text());
        self.send_again(Method::Post, endpoint, body).await
    }

    /// Sends a request that must not be repeated.
    pub async fn post_once(
        &self,
        endpoint: &'static str,
        body: &Json,
    ) -> Result<Json, ClientError> {
        let body = Some(body.to_python_text());
        self.send(Method::Post, endpoint, body).await
    }

    async fn send_again(
        &self,
        method: Method,
        endpoint: &'static str,
        body: Option<String>,
    ) -> Result<Json, ClientError> {
        let mut pause = FIRST_PAUSE;
        for _ in 0..self.options.retries {
            match self.send(method, endpoint, body.clone()).await {
                Err(error) if error.is_passing() => self.transport.pause(pause).await,
                answered => return answered,
            }
            pause *= 2.0;
        }
        self.send(method, endpoint, body).await
    }

    async fn send(
        &self,
        method: Method,
        endpoint: &'static str,
        body: Option<String>,
    ) -> Result<Json, ClientError> {
        let reply = self
            .transport
            .send(WireRequest {
                method,
                url: format!(
                    "{}{endpoint}",
                    self.options.server_url.trim_end_matches('/')
                ),
                api_key: self.options.api_key.clone().filter(|key| !key.is_empty()),
                body,
                timeout: self.options.request_timeout,
            })
            .await?;
        if !(200..300).contains(&reply.status) {
            return Err(ClientError::Status {
                endpoint,
                status: reply.status,
                detail: detail(&reply.body),
            });
        }
        volary_core::json::read(&reply.body).map_err(|_| ClientError::NotJson { endpoint })
    }
}

/// The message in an error's body: the `detail` of the protocol, else the beginning of the body.
fn detail(body: &str) -> Text {
    const SHOWN: usize = 500;
    let known = volary_core::json::read(body).ok();
    let detail = known.as_ref().and_then(|body| body.get("detail"));
    let text = match detail {
        Some(Json::Text(text)) => text.to_string(),
        Some(other) => other.to_compact_text(),
        None => body.to_owned(),
    };
    match text.char_indices().nth(SHOWN) {
        Some((end, _)) => format!("{}…", &text[..end]).into(),
        None => text.into(),
    }
}
