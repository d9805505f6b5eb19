//! The state machines of the user's environments in Python.
//!
//! - [`hub`]: the questions to Python, and how far it is. [`console`]: the printed text.

pub mod console;
pub mod hub;
