//! Why a page cannot reach a server. Pure: observations in, messages out.
//!
//! If a request fails before its response, the page learns only that it failed. It can also find out whether
//! the same address answers a request whose response it may not read, whether the browser would ask for a
//! permission, whether it is online, and what kind of address it is. [`Cause::of`] combines these observations.
//! It applies to servers of every kind, models and environments; the advice for the server is added by the
//! callers.
//!
//! - [`address`]: parsed addresses and their address space.
//! - [`cause`]: the cause of a missing response.
//! - [`linked_file`]: a file that an address refers to, and whether it may be fetched.

pub mod address;
pub mod cause;
pub mod linked_file;

pub use address::{Address, Space};
pub use cause::{Cause, Permission, RequestingPage, Silence};
