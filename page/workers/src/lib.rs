//! The worker's side of the page: services that handle requests of `volary_protocol`.
//!
//! - [`host`]: loads the services of the worker's part: `environment_host`, `library_host` or `school_host`, each with its
//!   own lazy code. `services`: passes requests to them, and sends the replies.
//! - [`environments`]: plays environments, action by action; `live`: an open environment, in this worker or `elsewhere`.
//! - `all_environments`: the lazy code beyond small environments. `lazy_services`: the services of `evaluation_host`, which
//!   are in the same lazy part.
//! - [`evaluation`]: plays whole cells of an evaluation.
//! - `library_host`: hosts the library service, `volary_library`. `library`: what the service gets from the browser.
//! - `checkout`: reads and stores the user's checkout of tau-bench, and provides its data to environments.
//! - `school_host`: trains a small policy.
//! - `rollout`: makes prompts, reads replies and records tokens.
//! - `outside`: questions of environments to the page.
//! - `batches`: sends items in batches.
//!
//! Invariants: a panic or an endless loop here ends this worker, not the page. Services reply through the
//! function they are given, and reach the browser only through `volary_browser`.

mod all_environments;
mod batches;
mod checkout;
mod elsewhere;
mod environment_host;
pub mod environments;
pub mod evaluation;
mod evaluation_host;
pub mod host;
mod lazy_services;
mod library;
mod library_host;
mod live;
mod outside;
mod rollout;
mod school_host;
mod services;
