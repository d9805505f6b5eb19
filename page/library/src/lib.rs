//! The library of trajectories: the page's client, and the stores of episodes.
//!
//! - [`findings`]: full-text search in one episode. Pure.
//! - [`client`]: the signals of the page, and its requests to the worker (`volary_workers::library`).
//! - [`repository`]: where episodes are stored; [`indexed_db_store`]: in the browser's database. [`source`]: files that are never
//!   held as a whole.
//! - [`mappings`]: which members of records hold what, as the user said. `unfetched`: why a file could not be fetched.

pub mod client;
pub mod findings;
pub mod indexed_db_store;
pub mod mappings;
pub mod repository;
pub mod source;
mod unfetched;
