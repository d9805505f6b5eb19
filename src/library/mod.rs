//! The library of trajectories: what the page shows of it, and where it is stored.
//!
//! - [`findings`]: where words stand in one episode. Pure.
//! - [`client`]: the signals of the page, and its requests to the worker (`crate::workers::library`).
//! - [`repository`]: where episodes are stored; [`indexed_db_store`]: in the browser's database. [`source`]: files that are never
//!   held as a whole.

pub mod client;
pub mod findings;
pub mod indexed_db_store;
pub mod repository;
pub mod source;
