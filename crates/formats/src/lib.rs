//! The formats of other tools, in. Pure: bytes in, episodes out. `volary_export` writes them.
//!
//! - [`import`]: reads files of any known format, with a report.
//! - [`read_at`]: files that are read in ranges.
//! - [`archive`]: zip files.
//! - [`renderer_files`]: reads and writes aviary Renderer files, packed in one zip.
//!
//! Volary's own format is in `volary_episode`, since page and workers exchange episodes in it.

pub mod archive;
pub mod import;
pub mod read_at;
pub mod renderer_files;
