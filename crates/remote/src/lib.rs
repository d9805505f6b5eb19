//! The protocol of aviary's TaskDatasetServer, for client and server. Pure: both use their own network code.
//!
//! - [`body`]: errors in the body of a request, in the server's wording (422).
//! - [`request`]: request bodies, read and written.
//! - [`reply`]: response bodies, read and written.
//! - [`transport`]: the trait through which a client sends requests.
//! - [`client`]: remote datasets and environments, behind the same traits as local ones.
//! - [`task`]: the recipe of a task on a server.
//! - [`description`]: the server's description of its paths; [`diagnosis`]: explains why a server cannot be used, with
//!   a remedy.

pub mod body;
pub mod client;
pub mod description;
pub mod diagnosis;
mod number;
pub mod reply;
pub mod request;
pub mod task;
pub mod transport;

pub use client::{ClientError, ClientOptions, Frames, TaskDatasetClient, TaskEnvironmentClient};
pub use description::Description;
pub use transport::{Method, Transport, TransportError, WireReply, WireRequest};

/// The header that carries the key.
pub const KEY_HEADER: &str = "X-API-Key";

/// The default port of a server.
pub const DEFAULT_PORT: u16 = 8041;
