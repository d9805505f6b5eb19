//! Aviary Renderer files: an episode as one zip, and what the names of such files say. The way in
//! is [`crate::import`].
//!
//! Beside the files that aviary knows, our zip holds the whole episode in the native format, since
//! frames alone say nothing of actions and rewards; aviary's own readers pass over it.

pub mod names;
pub mod write;

pub use write::{RendererFilesError, to_zip};

/// The name of the native episode within our zip.
pub const NATIVE_NAME: &str = "volary.json";
