//! The library of trajectories: what the page shows of it, and the worker that reads files, opens
//! episodes and searches in them.
//!
//! - [`protocol`]: what page and librarian say to each other; [`origin`]: where episodes come from. Pure.
//! - [`findings`]: where words stand in one episode. Pure.
//! - [`shelf`]: the signals of the page, and what it asks for.
//! - [`repository`]: where episodes are stored; [`indexed_db_store`]: in the browser's database. [`source`]: files that are never
//!   held as a whole.
//! - [`librarian`]: the worker's side. It holds no signals and touches no browser but through what it
//!   is given.

pub mod findings;
pub mod indexed_db_store;
pub mod librarian;
pub mod origin;
pub mod protocol;
pub mod repository;
pub mod shelf;
pub mod source;
