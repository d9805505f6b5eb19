//! The protocol of aviary's TaskDatasetServer, for both of its ends. Pure: the server and the page
//! bring the network.
//!
//! - [`body`]: what is wrong with a request's body, in the server's own words (422).
//! - [`request`]: the bodies of requests, read and written.
//! - [`reply`]: the bodies of replies, read and written.
//! - [`transport`]: how a client's requests leave; whoever has a network implements it.
//! - [`client`]: datasets and environments that live on a server, behind the same traits as local ones.

pub mod body;
pub mod client;
mod number;
pub mod reply;
pub mod request;
pub mod transport;

pub use client::{ClientError, ClientOptions, Frames, TaskDatasetClient, TaskEnvironmentClient};
pub use transport::{Method, Transport, TransportError, WireReply, WireRequest};

/// The header that carries the key.
pub const KEY_HEADER: &str = "X-API-Key";

/// The port of a server that is not told another.
pub const DEFAULT_PORT: u16 = 8041;
