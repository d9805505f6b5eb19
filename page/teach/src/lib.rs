//! Teaching.
//!
//! [`learn`]: lessons. [`class`]: assignments and hand-ins. [`embed`]: the view for frames in other pages, which shows the
//! player of lessons.

pub mod class;
pub mod embed;
pub mod learn;
