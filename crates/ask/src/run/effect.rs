//! What the caller does for a run.

use volary_agent::model::ModelRequest;
use volary_core::json::Text;

use super::RequestId;
use crate::cache::AnswerRecord;

/// What the page, or the command, does for a run.
#[derive(Clone, Debug, PartialEq)]
pub enum AskEffect {
    /// Load and render a trajectory, then report [`Loaded`](super::AskEvent::Loaded).
    Load { row: usize },
    /// Send a request, then report [`Replied`](super::AskEvent::Replied).
    Send {
        id: RequestId,
        request: Box<ModelRequest>,
    },
    /// Check what the model said about the trajectory of the request
    /// ([`CheckedReply::of`](super::CheckedReply::of)), then report [`Checked`](super::AskEvent::Checked).
    Check { request: RequestId, said: Text },
    /// Stop these requests. Later reports about them are ignored.
    Abort(Vec<RequestId>),
    /// Report [`Tick`](super::AskEvent::Tick) at this time, in seconds.
    WakeAt(f64),
    /// Append an answer to the cache. The caller adds the id and the name of the episode.
    Store {
        row: usize,
        record: Box<AnswerRecord>,
    },
    /// A row has an answer or failed.
    Finished { row: usize },
    /// Something that is displayed changed.
    Changed,
}
