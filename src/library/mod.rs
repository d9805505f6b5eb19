//! The library of trajectories: the page's client, and the stores of episodes.
//!
//! - [`findings`]: full-text search in one episode. Pure.
//! - [`client`]: the signals of the page, and its requests to the worker (`crate::workers::library`).
//! - [`repository`]: the interface of stores, and a store in memory; [`indexed_db_store`]: in the browser's database.
//!   [`source`]: files that are read in ranges.

pub mod client;
pub mod findings;
pub mod indexed_db_store;
pub mod repository;
pub mod source;
