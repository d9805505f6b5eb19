//! The state machines of Review.
//!
//! - [`opening`]: what the address names is opened, and renewed while it grows. [`time_axis`]: the time of samples, a part
//!   of which is shown.

pub mod opening;
pub mod time_axis;
