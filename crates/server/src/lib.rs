//! A TaskDatasetServer: the environments of a task dataset over HTTP, as aviary's clients expect it, fit to
//! face a browser and fast.
//!
//! Environments are no `Send`, so each lives on one [`shard`]: the thread of a worker, which serves connections
//! and runs the environments that were started through them. A request that comes in on another worker's
//! connection is handed over. There is no lock around environments anywhere.
//!
//! - [`app`]: the routes, as a router that needs no socket. [`endpoint`]: what they do. [`arrival`],
//!   [`host`], [`origin`], [`refusal`], [`observe`]: what every request goes through.
//! - [`server`]: what all requests share. [`shard`], [`slot`]: environments, one after the other's work.
//!   [`home`], [`apart`]: on which thread an environment lives. [`pulse`]: workers that hang.
//! - [`listen`], [`connection`]: sockets and threads.
//! - [`dataset`]: which dataset is served. [`options`], [`cli`]: how.
//! - [`metrics`], [`page`]: what stands beside.

pub mod apart;
pub mod app;
pub mod arrival;
pub mod cli;
pub mod connection;
pub mod dataset;
pub mod endpoint;
pub mod home;
pub mod host;
pub mod listen;
pub mod metrics;
pub mod observe;
pub mod options;
pub mod origin;
pub mod page;
pub mod pulse;
pub mod refusal;
pub mod server;
pub mod shard;
pub mod slot;
pub mod time;
