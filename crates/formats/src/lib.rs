//! The formats of other tools, in and out. Pure: bytes in, episodes out, and back.
//!
//! - [`import`]: reads files of any known format, with a report.
//! - [`export`]: writes the formats of other tools, and an HTML page.
//! - [`read_at`]: files that are read in ranges.
//! - [`archive`]: zip files.
//! - [`renderer_files`]: reads and writes aviary Renderer files, packed in one zip.
//! - [`messages_jsonl`]: writes OpenAI-style messages.
//! - [`markdown`]: writes an episode as Markdown.
//!
//! Volary's own format is in `volary_episode`, since page and workers exchange episodes in it.

pub mod archive;
pub mod export;
pub mod import;
pub mod markdown;
pub mod messages_jsonl;
pub mod read_at;
pub mod renderer_files;
