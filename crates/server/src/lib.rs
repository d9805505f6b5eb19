//! A TaskDatasetServer: the environments of a task dataset over HTTP, for aviary's clients and for browsers.
//!
//! HTTP is served by axum and hyper on tokio's threads. Environments are not `Send`, so they run on a pool of
//! local threads, the workers: a request is sent to the worker that has its environment. There is no lock around
//! environments that threads share.
//!
//! - [`app`]: the routes. [`handlers`]: one for each path. [`extract`]: their extractors. [`error`]: error replies;
//!   [`response`]: JSON.
//! - [`bridge`]: what pages need to reach another server.
//! - [`class`]: the hand-ins of a class, in a SQLite file.
//! - [`openenv`]: OpenEnv's socket and paths. [`seat`]: the environment of a client that names no ids. [`opening`]: which
//!   environment is started.
//! - [`mcp`]: the environments as a server of MCP.
//! - [`host`], [`origin`], [`telemetry`]: the middleware of every request.
//! - [`server`]: the environments of all threads; [`shared`]: the state that they share. [`worker`]: those of one thread. [`instance`]: one environment.
//!   [`executor`], [`isolated_thread`]: run its code. [`watchdog`]: detects stuck workers.
//! - [`serve`]: sockets. [`dataset`]: the served dataset. [`options`]: limits and rules. [`metrics`], [`time`]:
//!   counters,
//!   clocks.

pub mod app;
pub mod bridge;
pub mod class;
pub mod dataset;
pub mod error;
pub mod executor;
pub mod extract;
pub mod handlers;
pub mod host;
pub mod instance;
pub mod isolated_thread;
pub mod mcp;
pub mod metrics;
pub mod openenv;
pub mod opening;
pub mod options;
pub mod origin;
pub mod response;
pub mod seat;
pub mod serve;
pub mod server;
pub mod shared;
pub mod started;
pub mod telemetry;
pub mod time;
pub mod unread_body;
pub mod watchdog;
pub mod worker;
