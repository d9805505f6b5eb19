//! An episode in chunks: a head, then steps and frames, then an end.
//!
//! Sending a long episode in chunks keeps both sides responsive: neither encodes or decodes all of it at once.

use serde::{Deserialize, Serialize};
use volary_core::json::Text;
use volary_episode::frames::{FrameHistory, FramePatch};
use volary_episode::patch::PatchError;
use volary_episode::{Episode, StepRecord};

use crate::coded;

/// The maximum number of steps or frames in a chunk.
pub const CHUNK_STEPS: usize = 250;

/// The maximum number of bytes copied when the reader makes the frames of a chunk, except the last, from their
/// changes.
const CHUNK_COPIED_BYTES: u64 = 64 << 20;

/// A part of an episode.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
pub enum EpisodeChunk {
    /// The episode without its later steps and frames. Always the first chunk.
    Head(#[serde(with = "coded")] Box<Episode>),
    /// Steps and frames that follow those sent so far.
    Steps(Steps),
    /// The episode is complete. Always the last chunk.
    End {
        /// Notes on how the episode was read, for the user.
        notes: Vec<Text>,
    },
}

/// Steps, and the frames that follow, as changes. There may be more or fewer frames than steps.
#[derive(Clone, Debug, Default, PartialEq, Serialize, Deserialize)]
pub struct Steps {
    /// The steps in order.
    #[serde(with = "coded")]
    pub records: Vec<StepRecord>,
    /// The frames as changes, each relative to the previous frame.
    #[serde(with = "coded")]
    pub patches: Vec<FramePatch>,
}

impl Steps {
    /// Appends the steps and frames to an episode. The ending stays as it is. On an error nothing changes.
    pub fn append_to(self, episode: &mut Episode) -> Result<(), PatchError> {
        let frames = episode.frames.len();
        for patch in self.patches {
            if let Err(error) = episode.frames.push_patch(patch) {
                episode.frames.truncate(frames);
                return Err(error);
            }
        }
        episode.steps.extend(self.records);
        Ok(())
    }
}

/// Splits an episode into chunks.
pub fn chunks(mut episode: Episode, notes: Vec<Text>) -> impl Iterator<Item = EpisodeChunk> {
    let steps = std::mem::take(&mut episode.steps);
    let frames = std::mem::take(&mut episode.frames);
    let length = frames.len().max(steps.len());
    let mut steps = steps.into_iter();
    let mut start = 0;
    let middle = std::iter::from_fn(move || {
        if start == length {
            return None;
        }
        let end = chunk_end(&frames, start, length);
        let patches = (start..end).filter_map(|index| frames.patch(index).cloned());
        let chunk = EpisodeChunk::Steps(Steps {
            records: steps.by_ref().take(end - start).collect(),
            patches: patches.collect(),
        });
        start = end;
        Some(chunk)
    });
    std::iter::once(EpisodeChunk::Head(Box::new(episode)))
        .chain(middle)
        .chain(std::iter::once(EpisodeChunk::End { notes }))
}

/// The end of the chunk that starts at a step.
fn chunk_end(frames: &FrameHistory, start: usize, length: usize) -> usize {
    let most = length.min(start + CHUNK_STEPS);
    let mut copied = 0;
    let full = (start..most).find(|&step| {
        copied += frames.copied_at(step);
        copied > CHUNK_COPIED_BYTES
    });
    full.map_or(most, |step| step + 1)
}

/// The reason why chunks do not form an episode.
#[derive(Clone, Debug, PartialEq, thiserror::Error)]
#[non_exhaustive]
pub enum AssemblyError {
    /// Steps or the end came before the head.
    #[error("The episode arrived without its beginning.")]
    NoHead,
    /// A frame does not follow from the previous one.
    #[error(transparent)]
    Frame(#[from] PatchError),
}

/// Assembles the chunks of one episode.
#[derive(Clone, Debug, Default)]
pub struct EpisodeAssembler {
    episode: Option<Episode>,
}

/// A complete episode.
#[derive(Clone, Debug, PartialEq)]
pub struct Assembled {
    pub episode: Episode,
    /// Notes on how it was read, for the user.
    pub notes: Vec<Text>,
}

impl EpisodeAssembler {
    /// Adds the next chunk. Returns the episode once it is complete; the assembler is then empty.
    pub fn push(&mut self, chunk: EpisodeChunk) -> Result<Option<Assembled>, AssemblyError> {
        match chunk {
            EpisodeChunk::Head(head) => {
                self.episode = Some(*head);
                Ok(None)
            }
            EpisodeChunk::Steps(steps) => {
                let episode = self.episode.as_mut().ok_or(AssemblyError::NoHead)?;
                steps.append_to(episode)?;
                Ok(None)
            }
            EpisodeChunk::End { notes } => {
                let episode = self.episode.take().ok_or(AssemblyError::NoHead)?;
                Ok(Some(Assembled { episode, notes }))
            }
        }
    }

    /// The number of steps received so far.
    pub fn steps(&self) -> usize {
        self.episode
            .as_ref()
            .map_or(0, |episode| episode.steps.len())
    }

    /// The partial episode; `None` before the head.
    pub fn into_partial(self) -> Option<Episode> {
        self.episode
    }
}

#[cfg(test)]
mod tests;
