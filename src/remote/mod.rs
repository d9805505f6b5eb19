//! Task dataset servers: environments that live elsewhere, played as those of this page are.
//!
//! An episode's recipe names the server in the place of an environment (`volary_remote::task`). The
//! worker plays it as any other: what it says to the page is the same, so the playground's
//! session knows nothing of servers.
//!
//! - [`servers`]: which servers the person connected to. Pure. [`keeping`]: what the browser keeps of them.
//! - [`opening`]: a recipe becomes an environment on a server; in the worker.
//! - [`connection`]: what a server is like, or why it can't be used.
//! - [`transport`]: moves the protocol's bytes through the browser.
//!
//! What always holds: only servers that the person connected to are called, and a key goes to its server alone.

pub mod connection;
pub mod keeping;
pub mod opening;
pub mod servers;
pub mod transport;
