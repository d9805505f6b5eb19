//! Settings: what the person connected, where keys are kept, what models cost.
//!
//! - [`page`]: the sections in their order; a new one is a file and a line there.
//! - [`model_connections`], [`servers`], [`keys`], [`prices`], [`storage`]: the sections.
//!
//! All of it is loaded when it is opened: the rest of the page reaches it through [`page::page`] alone.

pub mod keys;
pub mod model_connections;
pub mod page;
pub mod prices;
mod section;
mod server_list;
pub mod servers;
pub mod storage;
mod typed_keys;
