//! Datasets and environments that live on a server.
//!
//! They behave as aviary's TaskDatasetClient and TaskEnvironmentClient, but an address may end in a
//! slash, tasks may be started by arguments, and, if asked for, a reset closes the environment
//! that it replaces (the original leaves it running).

mod dataset;
mod environment;
mod exchange;

pub use dataset::TaskDatasetClient;
pub use environment::{Frames, TaskEnvironmentClient};
pub use exchange::ClientError;

use volary_core::json::Text;

/// The default timeout of a request, in seconds.
pub const DEFAULT_TIMEOUT: f64 = 300.0;

/// How a client talks to its server.
#[derive(Clone)]
pub struct ClientOptions {
    /// The server's address, without a path of the protocol.
    pub server_url: Text,
    /// The limit for one request, in seconds; `None` waits for ever.
    pub request_timeout: Option<f64>,
    /// The key; sent only if not empty, and only to this server.
    pub api_key: Option<Text>,
    /// Whether timeouts, error statuses and invalid JSON become messages that end the episode, instead of errors.
    pub catch_http_errors: bool,
    /// Whether a reset closes the environment that it replaces. The original does not.
    pub close_replaced: bool,
    /// How often a request is sent once more that found no server or a busy one. Steps never are:
    /// they might be taken twice. The original tries once.
    pub retries: u32,
}

impl ClientOptions {
    /// For a server, with the original's defaults.
    pub fn new(server_url: impl Into<Text>) -> Self {
        ClientOptions {
            server_url: server_url.into(),
            request_timeout: Some(DEFAULT_TIMEOUT),
            api_key: None,
            catch_http_errors: false,
            close_replaced: false,
            retries: 0,
        }
    }
}

impl std::fmt::Debug for ClientOptions {
    fn fmt(&self, formatter: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        // Not derived: the key must not show.
        formatter
            .debug_struct("ClientOptions")
            .field("server_url", &self.server_url)
            .field("request_timeout", &self.request_timeout)
            .field("catch_http_errors", &self.catch_http_errors)
            .finish_non_exhaustive()
    }
}
