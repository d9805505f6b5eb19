//! The state machines of the user's environments in Python.
//!
//! - [`hub`]: the questions to Python, and how far it is. [`console`]: the printed text.
//! - [`files`]: files, versions and recipes; [`wheels`]: packages that they import.

pub mod console;
pub mod files;
pub mod hub;
pub mod wheels;
