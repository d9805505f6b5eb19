//! The transport of a client's requests and their replies.

use futures_util::future::LocalBoxFuture;
use volary_core::json::Text;

/// The HTTP methods of the protocol.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Method {
    /// Without a body.
    Get,
    /// With a body.
    Post,
}

/// A request, ready to be sent.
#[derive(Clone, PartialEq)]
pub struct WireRequest {
    pub method: Method,
    /// The full URL.
    pub url: String,
    /// The key for the header [`KEY_HEADER`](crate::KEY_HEADER); no header without one.
    pub api_key: Option<Text>,
    /// JSON text.
    pub body: Option<String>,
    /// The timeout of the reply, in seconds; `None` for no timeout.
    pub timeout: Option<f64>,
}

impl std::fmt::Debug for WireRequest {
    fn fmt(&self, formatter: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        // Not derived: the key must not be printed.
        formatter
            .debug_struct("WireRequest")
            .field("method", &self.method)
            .field("url", &self.url)
            .field("body", &self.body)
            .finish_non_exhaustive()
    }
}

/// A reply of any status.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct WireReply {
    /// The HTTP status.
    pub status: u16,
    /// The body as text.
    pub body: String,
}

/// Why there was no reply.
#[derive(Clone, Debug, PartialEq, Eq, thiserror::Error)]
#[non_exhaustive]
pub enum TransportError {
    /// The request timed out.
    #[error("The server did not answer in time.")]
    Timeout,
    /// The connection failed or broke.
    #[error("The server cannot be reached: {reason}")]
    Unreachable {
        /// The cause, as far as it is known.
        reason: Text,
    },
    /// The reply cannot be read: it is incomplete or too large, or it is a redirect.
    #[error("The server's reply cannot be used: {reason}")]
    Unusable {
        /// The problem.
        reason: Text,
    },
}

/// Sends requests over a network.
pub trait Transport {
    /// Sends a request; any status is a response. After a timeout or a broken connection the connection must
    /// not be reused: late or repeated data is not a response to a later request.
    fn send(&self, request: WireRequest) -> LocalBoxFuture<'_, Result<WireReply, TransportError>>;

    /// Waits before a retry.
    fn pause(&self, seconds: f64) -> LocalBoxFuture<'_, ()>;
}
