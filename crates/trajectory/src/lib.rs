//! Episodes: their data model, and all operations on it except rendering. Pure: bytes and values in, values and bytes
//! out.
//!
//! - [`episode`]: the common type. Files of every format are converted to episodes.
//! - [`frames`]: the frames of an episode, stored as deltas ([`patch`]), so that memory stays linear.
//! - [`diff`]: the difference between two JSON values. [`history`]: the changes of a part of the state.
//! - [`align`]: alignment of two episodes, or of two texts.
//! - [`native`]: Volary's own format, also used between page and worker.
//! - [`archive`]: zip files.
//! - [`renderer_files`]: reads and writes aviary Renderer files, packed in one zip.
//! - [`messages_jsonl`]: writes OpenAI-style messages.
//! - [`export`]: writes the formats of other tools, CSV, and an HTML page.
//! - [`markdown`]: writes an episode as Markdown.
//! - [`passages`]: the texts of an episode, each with its position. [`search`]: full-text search in them.
//! - [`timeline`]: the overview of an episode. [`table`]: episodes as rows. [`statistics`]: statistics of rewards.
//! - [`result`]: the ending of an episode and its cause. [`repetition`]: repeated calls of an agent.
//! - [`spans`]: when generation, tools and the reward of an episode took place.
//! - [`token_record`]: the tokens and the loss mask of an episode, divided among its messages.
//! - [`training`]: training runs, from rows with steps: groups, steps and runs.
//! - [`sensitive`]: keys, tokens and addresses in an episode, found and masked before it is shared.
//! - [`annotations`]: notes about episodes.
//! - [`share`]: encodes an episode's recipe as a link and decodes it.
//! - [`time`]: parses and formats times.
//! - `chat_templates`: the marks by which tokens and texts are divided into messages.
//! - [`import`]: reads files of any known format, with a report.

pub mod align;
pub mod annotations;
pub mod archive;
mod chat_templates;
pub mod diff;
pub mod episode;
pub mod export;
pub mod frames;
pub mod history;
pub mod import;
pub mod lanes;
pub mod markdown;
pub mod messages_jsonl;
pub mod native;
pub mod passages;
pub mod patch;
pub mod renderer_files;
pub mod repetition;
pub mod result;
pub mod search;
pub mod sensitive;
pub mod share;
pub mod spans;
pub mod statistics;
pub mod table;
pub mod time;
pub mod timeline;
pub mod token_record;
pub mod training;

pub use episode::{
    Ending, EndingKind, Episode, Link, Outcome, Recipe, Relation, Rewards, Score, Source,
    StepDetails, StepError, StepRecord, TaskReference, Usage, call_id,
};
pub use frames::{FrameHistory, FramePatch};
pub use patch::PatchError;
