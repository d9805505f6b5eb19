//! Episodes: their data model, and how they are stored, compared and shared. Pure: values and texts in, values and texts
//! out.
//!
//! - [`episode`]: the common type. Files of every format are converted to episodes.
//! - [`frames`]: the frames of an episode, stored as deltas ([`patch`]), so that memory stays linear.
//! - [`diff`]: the difference between two JSON values. [`history`]: the changes of a part of the state.
//! - [`native`]: Volary's own format, also used between page and worker.
//! - [`share`]: encodes an episode's recipe as a link and decodes it.
//! - [`passages`]: the texts of an episode, each with its position. [`inline_reasoning`]: reasoning within such a text.
//! - [`token_record`]: the tokens and the loss mask of an episode, divided among its messages.
//! - [`time`]: parses and formats times.

pub mod diff;
pub mod episode;
pub mod frames;
pub mod history;
pub mod inline_reasoning;
pub mod native;
pub mod passages;
pub mod patch;
pub mod share;
pub mod time;
pub mod token_record;

pub use episode::{
    Ending, EndingKind, Episode, Link, Outcome, Recipe, Relation, Rewards, Score, Source,
    StepDetails, StepError, StepRecord, TaskReference, Usage, call_id,
};
pub use frames::{FrameHistory, FramePatch};
pub use patch::PatchError;
