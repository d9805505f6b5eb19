//! The state machines of Review.
//!
//! - [`opening`]: what the address names is opened, and renewed while it grows.

pub mod opening;
