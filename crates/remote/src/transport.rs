//! How a client's requests leave, and what comes back.

use futures_util::future::LocalBoxFuture;
use volary_core::json::Text;

/// The methods that the protocol has.
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
    /// The method.
    pub method: Method,
    /// The whole address.
    pub url: String,
    /// The key for the header [`KEY_HEADER`](crate::KEY_HEADER); no header without one.
    pub api_key: Option<Text>,
    /// JSON text.
    pub body: Option<String>,
    /// How long to wait for the reply, in seconds; `None` waits for ever.
    pub timeout: Option<f64>,
}

impl std::fmt::Debug for WireRequest {
    fn fmt(&self, formatter: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        // Not derived: the key must not show.
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
    /// It took too long.
    #[error("The server did not answer in time.")]
    Timeout,
    /// No connection, or it broke.
    #[error("The server cannot be reached: {reason}")]
    Unreachable {
        /// What is known of it.
        reason: Text,
    },
    /// There was a reply, but not one that can be taken in: it broke off, is too large, leads elsewhere.
    #[error("The server's reply cannot be used: {reason}")]
    Unusable {
        /// What is wrong with it.
        reason: Text,
    },
}

/// Moves a request's bytes.
pub trait Transport {
    /// Sends a request; any status is a response. After a timeout or a broken connection the connection must
    /// not be reused: late or repeated data is not a response to a later request.
    fn send(&self, request: WireRequest) -> LocalBoxFuture<'_, Result<WireReply, TransportError>>;

    /// Waits before another attempt.
    fn pause(&self, seconds: f64) -> LocalBoxFuture<'_, ()>;
}
