//! Task dataset servers: remote environments, played like those of this page.
//!
//! An episode's recipe names the server instead of an environment (`volary_remote::task`). The worker plays it like
//! any other and sends the same events, so the playground's session does not depend on servers.
//!
//! - [`servers`]: the servers to which the user connected. Pure. [`keeping`]: stores them.
//! - [`opening`]: opens the environment of a recipe on a server, in the worker.
//! - [`connection`]: connects to a server and diagnoses failures.
//! - [`transport`]: carries the protocol over the browser's `fetch`.
//!
//! Invariants: only servers to which the user connected are called, and a key is sent to its server alone.

pub mod connection;
pub mod keeping;
pub mod opening;
pub mod servers;
pub mod transport;
