//! Episodes: the record of what happened, and everything that can be done with one apart from
//! showing it. Pure: bytes and values in, values and bytes out.
//!
//! - [`episode`]: what an episode is. Everything that is shown is one, wherever it came from.
//! - [`frames`]: the frames of an episode, kept as changes ([`patch`]), so that memory stays linear.
//! - [`diff`]: what changed between two JSON values. [`history`]: when a part of the state did.
//! - [`align`]: two episodes, or two texts, side by side.
//! - [`native`]: Volary's own format, which is also what page and worker say to each other.
//! - [`archive`]: zip files.
//! - [`renderer_files`]: aviary Renderer files, in and out, as one zip.
//! - [`messages_jsonl`]: OpenAI-style messages, out.
//! - [`export`]: what other tools read, a table, and a page for people, out.
//! - [`markdown`]: an episode to paste where people talk, out.
//! - [`passages`]: the texts of an episode, each with its place. [`search`]: in all of them.
//! - [`timeline`]: an episode at a glance. [`table`]: episodes as rows. [`statistics`]: what their rewards say.
//! - [`annotations`]: what people note about episodes.
//! - [`share`]: an episode's recipe as a link, and back.
//! - [`time`]: points in time, in and out.
//! - [`import`]: bytes of any known kind to episodes, with a report.

pub mod align;
pub mod annotations;
pub mod archive;
pub mod diff;
pub mod episode;
pub mod export;
pub mod frames;
pub mod history;
pub mod import;
pub mod markdown;
pub mod messages_jsonl;
pub mod native;
pub mod passages;
pub mod patch;
pub mod renderer_files;
pub mod search;
pub mod share;
pub mod statistics;
pub mod table;
pub mod time;
pub mod timeline;

pub use episode::{
    Ending, Episode, Link, Outcome, Recipe, Relation, Rewards, Score, Source, StepDetails,
    StepError, StepRecord, TaskReference, Usage, call_id,
};
pub use frames::{FrameHistory, FramePatch};
pub use patch::PatchError;
