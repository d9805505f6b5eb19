//! The worker's side of the page: services that carry out requests of `volary_protocol`.
//!
//! - [`host`]: decodes each request once and passes it to its service; sends the replies.
//! - [`environments`]: plays environments, action by action; `live` is one of them.
//! - [`evaluation`]: plays whole cells of an evaluation.
//! - [`library`]: reads, stores, opens and searches trajectories.
//! - `checkout`: reads and stores the user's checkout of tau-bench, and gives environments its data.
//! - `rollout`: makes prompts, reads replies and records tokens.
//! - `outside`: questions of environments to the page.
//! - `in_flight`: waiting for what other requests do.
//!
//! What always holds: a panic or an endless loop in here costs this worker, not the page. Services reply through the
//! function they are given, and reach the browser only through `crate::browser`.

mod checkout;
pub mod environments;
pub mod evaluation;
pub mod host;
pub(crate) mod in_flight;
pub mod library;
mod live;
mod outside;
mod rollout;
