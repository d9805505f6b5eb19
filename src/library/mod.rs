//! The library of trajectories: what the page shows of it, and where it is stored.
//!
//! - [`origin`]: where episodes come from. Pure.
//! - [`findings`]: where words stand in one episode. Pure.
//! - [`client`]: the signals of the page, and its requests to the worker (`crate::workers::library`).
//! - [`stock`]: where episodes are kept; [`kept`]: in the browser's database. [`source`]: files that are never
//!   held as a whole.

pub mod client;
pub mod findings;
pub mod kept;
pub mod origin;
pub mod source;
pub mod stock;
