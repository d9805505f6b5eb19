//! Episodes: the record of what happened, and everything that can be done with one apart from
//! showing it. Pure: bytes and values in, values and bytes out.
//!
//! - [`episode`]: what an episode is. Everything that is shown is one, wherever it came from.
//! - [`frames`]: the frames of an episode, kept as changes ([`patch`]), so that memory stays linear.
//! - [`diff`]: what changed between two JSON values.
//! - [`native`]: Volary's own format, which is also what page and worker say to each other.
//! - [`archive`]: zip files.
//! - [`renderer_files`]: aviary Renderer files, in and out, as one zip.
//! - [`messages_jsonl`]: OpenAI-style messages, out.
//! - [`share`]: an episode's recipe as a link, and back.
//! - [`import`]: bytes of any known kind to episodes, with a report.

pub mod archive;
pub mod diff;
pub mod episode;
pub mod frames;
pub mod import;
pub mod messages_jsonl;
pub mod native;
pub mod patch;
pub mod renderer_files;
pub mod share;

pub use episode::{Ending, Episode, Outcome, Recipe, StepRecord, TaskReference, call_id};
pub use frames::{FrameHistory, FramePatch};
pub use patch::PatchError;
