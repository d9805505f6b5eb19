//! How a server behaves, apart from where it listens.

use std::time::Duration;

/// The limits and rules of a server.
#[derive(Clone, Debug)]
pub struct ServerOptions {
    /// The key that every request must carry; `None` or empty for an open server.
    pub api_key: Option<String>,
    /// Origins whose pages may call; `*` is any.
    pub cors_origins: Vec<String>,
    /// The most environments at once.
    pub max_envs: usize,
    /// Environments unused for so long are closed; `None` keeps them.
    pub idle_timeout: Option<Duration>,
    /// The limit for a reset, a step or a close.
    pub step_timeout: Duration,
    /// The largest body of a request, in bytes.
    pub max_body: usize,
    /// The limit for a request's head, and for its body, to arrive.
    pub read_timeout: Duration,
    /// The most requests that wait for one environment.
    pub queue: usize,
    /// The most connections that one shard holds.
    pub connections: usize,
}

impl Default for ServerOptions {
    fn default() -> Self {
        ServerOptions {
            api_key: None,
            cors_origins: Vec::new(),
            max_envs: 100_000,
            idle_timeout: None,
            step_timeout: Duration::from_secs(300),
            max_body: 16 << 20,
            read_timeout: Duration::from_secs(30),
            queue: 64,
            connections: 4096,
        }
    }
}
