//! Serialization of positions in an episode, which `volary_episode` leaves to its users.

use serde::{Deserialize, Serialize};
use volary_episode::passages::{TextPart, TextPosition};

/// [`TextPosition`] for serde.
#[derive(Serialize, Deserialize)]
#[serde(remote = "TextPosition")]
pub(crate) struct PositionFields {
    step: usize,
    message: usize,
    #[serde(with = "PartFields")]
    part: TextPart,
}

/// [`TextPart`] for serde.
#[derive(Serialize, Deserialize)]
#[serde(remote = "TextPart", rename_all = "snake_case")]
enum PartFields {
    Name,
    Reasoning,
    Content,
    Call(usize),
    Error(usize),
    Score(usize),
}
