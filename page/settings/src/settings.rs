//! Settings: connections, key storage and prices.
//!
//! - [`page`]: the sections in order; a new section is a file and a line there.
//! - [`model_connections`], [`servers`], [`keys`], [`prices`], [`python`], [`storage`]: the sections.
//!
//! Invariant: the code is loaded when the page is opened, so other parts reach it only through [`page::page`].

pub mod keys;
pub mod model_connections;
pub mod page;
pub mod prices;
pub mod python;
mod section;
mod server_list;
pub mod servers;
pub mod storage;
mod typed_keys;
