//! Aviary Renderer files: writes an episode as one zip, and parses the names of such files. [`crate::import`]
//! reads them.
//!
//! Besides aviary's files, Volary's zip contains the whole episode in the native format, since frames contain no
//! actions and rewards; aviary's own readers ignore it.

pub mod names;
pub mod write;

pub use write::{RendererFilesError, to_zip};

/// The name of the native episode within Volary's zip.
pub const NATIVE_NAME: &str = "volary.json";
