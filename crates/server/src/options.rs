//! Options of a server, except for its address.

use std::time::Duration;

use crate::host::AllowedHosts;

/// The limits and rules of a server.
#[derive(Clone, Debug)]
pub struct ServerOptions {
    /// The name under which OpenEnv and MCP list the environments.
    pub name: String,
    /// What the environments are, in one line.
    pub description: String,
    /// The key that every request must send; `None` or empty for an open server.
    pub api_key: Option<String>,
    /// Origins whose pages are allowed; `*` allows all.
    pub cors_origins: Vec<String>,
    /// The host names that requests may carry.
    pub hosts: AllowedHosts,
    /// The number of this server among several; part of its environments' ids.
    pub server_number: u8,
    /// Whether each environment runs on its own thread.
    pub isolate: bool,
    /// The maximum number of environments.
    pub max_envs: usize,
    /// The time after which an unused environment is closed; `None` keeps it.
    pub idle_timeout: Option<Duration>,
    /// The time limit of one operation of an environment; `None` for no limit.
    pub step_timeout: Option<Duration>,
    /// The maximum size of a request's body, in bytes.
    pub max_body: usize,
    /// The time limit for receiving a request's head and its body, and for the client to read more of
    /// a reply.
    pub read_timeout: Duration,
    /// The maximum number of requests that wait for one environment.
    pub queue: usize,
    /// The maximum number of connections.
    pub connections: usize,
    /// The time without a heartbeat after which a worker counts as stuck.
    pub stuck_after: Duration,
    /// The time that requests may still run when the server stops, and after that the time that environments may
    /// take to close.
    pub grace_period: Duration,
}

impl Default for ServerOptions {
    fn default() -> Self {
        ServerOptions {
            name: "environment".to_owned(),
            description: String::new(),
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
    /// The key, unless it is empty.
    pub fn key(&self) -> Option<&str> {
        self.api_key.as_deref().filter(|key| !key.is_empty())
    }
}
