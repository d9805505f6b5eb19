//! Why a page can't reach a server. Pure: what was found out comes in, words go out.
//!
//! A page is told little when a request fails before its reply: only that it failed. What it can find out
//! besides is whether the same address answers a request whose reply it may not read, whether the browser
//! would ask for a permission, whether it is online, and what the address looks like. [`Cause::of`] makes
//! the most of it. It holds for servers of every kind, models and environments alike; what to do at
//! the server differs, and is said by those who know it.
//!
//! - [`address`]: addresses, as far as browsers treat them differently.
//! - [`cause`]: what it means that there was no reply.

pub mod address;
pub mod cause;

pub use address::{Address, Space};
pub use cause::{Cause, Page, Permission, Silence};
