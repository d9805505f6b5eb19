//! How a server behaves, apart from where it listens.

use std::time::Duration;

use crate::host::AllowedHosts;

/// The limits and rules of a server.
#[derive(Clone, Debug)]
pub struct ServerOptions {
    /// The key that every request must carry; `None` or empty for an open server.
    pub api_key: Option<String>,
    /// Origins whose pages may call; `*` is any.
    pub cors_origins: Vec<String>,
    /// The host names that requests may carry.
    pub hosts: AllowedHosts,
    /// Which of several servers this is; the environments' ids tell it.
    pub server_number: u8,
    /// Whether each environment gets a thread of its own.
    pub isolate: bool,
    /// The most environments at once.
    pub max_envs: usize,
    /// Environments unused for so long are closed; `None` keeps them.
    pub idle_timeout: Option<Duration>,
    /// The limit for a reset, a step, a frame or a close; `None` waits for ever.
    pub step_timeout: Option<Duration>,
    /// The largest body of a request, in bytes.
    pub max_body: usize,
    /// The limit for a request's head, and for its body, to arrive, and for a reply to get on.
    pub read_timeout: Duration,
    /// The most requests that wait for one environment.
    pub queue: usize,
    /// The most connections at once.
    pub connections: usize,
    /// A worker that was silent for so long counts as hanging.
    pub stuck_after: Duration,
    /// How long requests may finish, and then environments may close, when the server stops.
    pub grace_period: Duration,
}

impl Default for ServerOptions {
    fn default() -> Self {
        ServerOptions {
            api_key: None,
            cors_origins: Vec::new(),
            hosts: AllowedHosts::default(),
            server_number: 0,
            isolate: false,
            max_envs: 100_000,
            idle_timeout: None,
            step_timeout: Some(Duration::from_secs(300)),
            max_body: 16 << 20,
            read_timeout: Duration::from_secs(30),
            queue: 64,
            connections: 8192,
            stuck_after: Duration::from_secs(10),
            grace_period: Duration::from_secs(10),
        }
    }
}

impl ServerOptions {
    /// The key, if there is one.
    pub fn key(&self) -> Option<&str> {
        self.api_key.as_deref().filter(|key| !key.is_empty())
    }
}
