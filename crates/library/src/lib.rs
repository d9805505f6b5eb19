//! The library of trajectories, without a browser: importing, storing, opening, searching and exporting.
//!
//! - [`service`]: [`LibraryService`] handles the requests of `volary_protocol::library`. The page's worker hosts it.
//! - [`repository`]: the trait of stores of episodes, and a store in memory. [`source`]: files that are read in ranges and
//!   never held as a whole. [`file_server`]: the server of a list of files.
//! - [`lazy_code`]: code that a page loads when it is first needed. [`readers`], [`parquet`] and [`replay`] are such code.
//! - [`findings`]: full-text search in one episode. [`error`]: why an episode cannot be opened.
//!
//! Invariant: files, servers, stores, time and lazy code are passed in as traits, so all of this runs in a worker, in the
//! command and in tests.

pub mod error;
pub mod file_server;
pub mod findings;
pub mod lazy_code;
pub mod parquet;
pub mod readers;
pub mod replay;
pub mod repository;
pub mod service;
pub mod source;

pub use error::LibraryError;
pub use lazy_code::{LazyCode, StaticCode};
pub use service::{LibraryService, Output};
