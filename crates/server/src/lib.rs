//! A TaskDatasetServer: the environments of a task dataset over HTTP, as aviary's clients expect it, fit to
//! face a browser and fast.
//!
//! Environments are no `Send`, so each lives on one [`shard`]: a thread that serves connections and
//! runs the environments that were started through them. A request that comes in on another shard's connection
//! is handed over. There is no lock around environments anywhere.
//!
//! - [`app`]: the routes, as a router that needs no socket. [`endpoint`]: what they do.
//! - [`server`]: what all requests share. [`shard`], [`slot`]: environments, one after the other's work.
//! - [`dataset`]: which dataset is served. [`options`], [`cli`]: how.
//! - [`listen`]: sockets and threads. [`metrics`], [`page`]: what stands beside.

pub mod app;
pub mod cli;
pub mod dataset;
pub mod endpoint;
pub mod listen;
pub mod metrics;
pub mod options;
pub mod page;
pub mod refusal;
pub mod server;
pub mod shard;
pub mod slot;
pub mod time;
