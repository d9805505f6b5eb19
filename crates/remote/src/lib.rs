//! The protocol of aviary's TaskDatasetServer, for client and server. Pure: both bring their own network.
//!
//! - [`body`]: errors in the body of a request, in the server's wording (422).
//! - [`request`]: request bodies, read and written.
//! - [`reply`]: response bodies, read and written.
//! - [`transport`]: the trait through which a client sends requests.
//! - [`client`]: remote datasets and environments, behind the same traits as local ones.
//! - [`task`]: how a recipe names a task on a server.
//! - [`description`]: the server's description of itself; [`diagnosis`]: why a server cannot be used, and what
//!   to do.

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

/// The port of a server that is not told another.
pub const DEFAULT_PORT: u16 = 8041;
