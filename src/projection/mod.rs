//! Pure projections: what the page shows, computed from episodes, values and schemas without any
//! front end. Everything here runs and is tested natively; nothing here knows leptos.
//!
//! - [`transcript`]: an episode as blocks of messages to scroll through; [`heights`]: of blocks.
//! - [`scroll`]: where a reader is in it, and what has to stand on the page.
//! - [`link`]: which response answers which call.
//! - [`text`]: foreign text made safe to look at: folded, cut into parts, invisible marks shown.
//! - [`content`]: what a message holds, taken apart for reading.
//! - [`pretty`]: JSON values as coloured, indented text.
//! - [`tree`]: frames as rows of a tree with marks of change.
//! - [`form`]: JSON Schema as a form, what is typed as JSON, with errors.
//! - [`curve`]: rewards as geometry. [`summary`]: an episode in words.
//! - [`notice`]: what went wrong, why, and what to do.

pub mod content;
pub mod curve;
pub mod form;
pub mod heights;
pub mod link;
pub mod notice;
pub mod pretty;
pub mod scroll;
pub mod summary;
pub mod text;
pub mod transcript;
pub mod tree;

pub use text::size_text;
