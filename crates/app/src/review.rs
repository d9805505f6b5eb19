//! The state machines of Review.
//!
//! - [`opening`]: what the address names is opened, and renewed while it grows. [`time_axis`]: the time of samples, a part
//!   of which is shown. [`notes_sync`]: notes in the file of a server.

pub mod notes_sync;
pub mod opening;
pub mod time_axis;
