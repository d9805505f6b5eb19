//! Remote datasets and environments.
//!
//! They behave like aviary's TaskDatasetClient and TaskEnvironmentClient, except that an address may end in a
//! slash, tasks may be started by arguments, and, optionally, a reset closes the environment
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

#[derive(Clone)]
pub struct ClientOptions {
    /// The server's base URL.
    pub server_url: Text,
    /// The timeout of one request, in seconds; `None` for no timeout.
    pub request_timeout: Option<f64>,
    /// The key; sent only if not empty, and only to this server.
    pub api_key: Option<Text>,
    /// Whether timeouts, error statuses and invalid JSON become messages that end the episode instead of errors.
    pub catch_http_errors: bool,
    /// Whether a reset closes the environment that it replaces. The original does not.
    pub close_replaced: bool,
    /// The number of retries of a request that reached no server or a busy one. Steps are never retried:
    /// they might be taken twice. The original has no retries.
    pub retries: u32,
}

impl ClientOptions {
    /// The original's defaults for a server.
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
        // Not derived: the key must not be printed.
        formatter
            .debug_struct("ClientOptions")
            .field("server_url", &self.server_url)
            .field("request_timeout", &self.request_timeout)
            .field("catch_http_errors", &self.catch_http_errors)
            .finish_non_exhaustive()
    }
}
