//! The protocol of aviary's TaskDatasetServer, for both of its ends. Pure: the server and the page
//! bring the network.
//!
//! - [`body`]: what is wrong with a request's body, in the server's own words (422).
//! - [`request`]: the bodies of requests, read and written.
//! - [`reply`]: the bodies of replies, read and written.
//! - [`transport`]: how a client's requests leave; whoever has a network implements it.
//! - [`client`]: datasets and environments that live on a server, behind the same traits as local ones.
//! - [`task`]: how a recipe names a task on a server.
//! - [`description`]: what a server says of itself; [`diagnosis`]: why one can't be used, and what to do.

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
