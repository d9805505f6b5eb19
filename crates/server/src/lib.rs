//! A TaskDatasetServer: the environments of a task dataset over HTTP, as aviary's clients expect it, fit to
//! face a browser and fast.
//!
//! Environments are no `Send`, so each lives on one [`worker`]: the thread of a worker, which serves connections
//! and runs the environments that were started through them. A request that comes in on another worker's
//! connection is handed over. There is no lock around environments anywhere.
//!
//! - [`app`]: the routes, as a router that needs no socket. [`handlers`]: what they do. [`extract`],
//!   [`host`], [`origin`], [`error`], [`telemetry`]: what every request goes through.
//! - [`server`]: what all requests share. [`worker`], [`mailbox`]: environments, one after the other's work.
//!   [`executor`], [`isolated_thread`]: on which thread an environment lives. [`watchdog`]: workers that hang.
//! - [`listen`], [`connection`]: sockets and threads.
//! - [`dataset`]: which dataset is served. [`options`], [`cli`]: how.
//! - [`metrics`], [`page`]: what stands beside.

pub mod app;
pub mod cli;
pub mod connection;
pub mod dataset;
pub mod error;
pub mod executor;
pub mod extract;
pub mod handlers;
pub mod host;
pub mod isolated_thread;
pub mod listen;
pub mod mailbox;
pub mod metrics;
pub mod options;
pub mod origin;
pub mod page;
pub mod server;
pub mod telemetry;
pub mod time;
pub mod watchdog;
pub mod worker;
