//! An episode as blocks to scroll through, with an index that grows with it.
//!
//! A block is a step, or a part of a step with very many messages. The height of a block is bounded, and so is
//! that of a window of blocks, however long the episode is.

mod places;
mod results;

use std::ops::Range;

use volary_core::AnyMessage;
use volary_core::json::{Json, Text};
use volary_core::message::{Body, ToolRequestMessage};
use volary_core::tool::call::INVALID_CALLS_KEY;
use volary_episode::{Episode, Outcome, StepRecord};

pub use places::{FAILURE_PLACE, next_place, previous_place};
pub use results::{answer_of, copied_text};

/// Steps with more messages are split into several blocks.
const MOST_MESSAGES: usize = 20;

/// A block of the transcript.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Block {
    /// The step; 0 is the reset.
    pub step: usize,
    /// The messages in this block. Message 0 of a step is the action.
    pub messages: Range<usize>,
    /// Whether the step begins here.
    pub first: bool,
    /// Whether the step ends here.
    pub last: bool,
}

/// The blocks of an episode, in order.
#[derive(Clone, Debug, Default)]
pub struct TranscriptIndex {
    edition: Option<u32>,
    blocks: Vec<Block>,
    /// The first block of each step.
    first_blocks: Vec<usize>,
}

impl TranscriptIndex {
    /// Updates the index and returns how many blocks are unchanged. Only new steps are processed, unless the
    /// edition changed: then existing steps may differ.
    pub fn follow(&mut self, episode: &Episode, edition: u32) -> usize {
        let steps = episode.steps.len() + 1;
        if self.edition != Some(edition) || self.first_blocks.len() > steps {
            self.edition = Some(edition);
            self.blocks.clear();
            self.first_blocks.clear();
        }
        let kept = self.blocks.len();
        for step in self.first_blocks.len()..steps {
            self.first_blocks.push(self.blocks.len());
            self.push_step(step, message_count(episode, step));
        }
        kept
    }

    fn push_step(&mut self, step: usize, messages: usize) {
        let mut start = 0;
        loop {
            let end = messages.min(start + MOST_MESSAGES);
            self.blocks.push(Block {
                step,
                messages: start..end,
                first: start == 0,
                last: end == messages,
            });
            if end == messages {
                return;
            }
            start = end;
        }
    }

    /// The number of blocks.
    pub fn len(&self) -> usize {
        self.blocks.len()
    }

    /// Whether there are none.
    pub fn is_empty(&self) -> bool {
        self.blocks.is_empty()
    }

    pub fn block(&self, place: usize) -> Option<&Block> {
        self.blocks.get(place)
    }

    /// The first block of a step; for steps past the end, that of the last step.
    pub fn first_block(&self, step: usize) -> usize {
        let last = self.first_blocks.len().saturating_sub(1);
        self.first_blocks
            .get(step.min(last))
            .copied()
            .unwrap_or_default()
    }

    /// The block that contains a message of a step.
    pub fn block_of(&self, step: usize, message: usize) -> usize {
        self.first_block(step) + message / MOST_MESSAGES
    }
}

/// The record of a step, counted as displayed: 0 is the reset, then 1, 2, 3.
pub fn step_record(episode: &Episode, step: usize) -> Option<&StepRecord> {
    episode.steps.get(step.checked_sub(1)?)
}

/// The observations of a step.
pub fn observations(episode: &Episode, step: usize) -> &[AnyMessage] {
    match step_record(episode, step).map(|record| &record.outcome) {
        None if step == 0 => &episode.start,
        Some(Outcome::Observed { messages, .. }) => messages,
        None | Some(Outcome::Failed { .. }) => &[],
    }
}

/// The number of messages of a step, including its action.
pub fn message_count(episode: &Episode, step: usize) -> usize {
    observations(episode, step).len() + usize::from(step > 0)
}

/// Why a step failed, if it did.
pub fn failure_of(record: &StepRecord) -> Option<&Text> {
    match &record.outcome {
        Outcome::Failed { message } => Some(message),
        Outcome::Observed { .. } => None,
    }
}

/// Whether a call names a tool that the episode does not have. Unknown if the episode lists no tools.
pub fn is_unknown_tool(episode: &Episode, name: &str) -> bool {
    !episode.tools.is_empty() && episode.tools.iter().all(|tool| &*tool.info.name != name)
}

/// The raw call that the model wrote, if it could not be parsed: tool name and arguments.
pub fn written_call(request: &ToolRequestMessage, id: &str) -> Option<(Text, Text)> {
    let calls = request.body.info.as_ref()?.get(INVALID_CALLS_KEY)?;
    let call = calls.get(id)?;
    let text = |key| call.get(key).and_then(Json::as_text).cloned();
    Some((text("name")?, text("arguments")?))
}

/// A message of a step; message 0 is the action (for step 0, which has none, the first observation).
pub fn message(episode: &Episode, step: usize, place: usize) -> Option<&AnyMessage> {
    match (step, place) {
        (0, place) => episode.start.get(place),
        (step, 0) => step_record(episode, step).map(|record| &record.action),
        (step, place) => observations(episode, step).get(place - 1),
    }
}

/// The estimated height of a block in pixels, for a text column of the usual width. It is replaced by the
/// measured height once the block has been rendered.
///
/// Blocks of one-line messages match the style sheets exactly, so nothing moves after they are measured. Other
/// estimates are rather too small than too large: the window then contains too many blocks at first, not too
/// few.
pub fn estimated_height(episode: &Episode, block: &Block) -> f64 {
    const HEAD: f64 = 36.0;
    const PADDING: f64 = 8.0;
    const BADGES: f64 = 36.0;
    let messages: f64 = block
        .messages
        .clone()
        .filter_map(|place| message(episode, block.step, place))
        .map(estimated_message_height)
        .sum();
    let record = step_record(episode, block.step).filter(|_| block.last);
    let foot = match record.map(|record| &record.outcome) {
        Some(Outcome::Failed { message }) => estimated_failure_height(message),
        Some(Outcome::Observed {
            done, truncated, ..
        }) if *done || *truncated => BADGES,
        _ => 0.0,
    };
    PADDING + messages + foot + if block.first { HEAD } else { 0.0 }
}

/// The space above and below a message.
const MESSAGE_PADDING: f64 = 14.0;
/// The height of a line of text.
const LINE: f64 = 24.15;
/// The height of the speaker's line.
const LEAST: f64 = 28.0;

fn estimated_message_height(message: &AnyMessage) -> f64 {
    const CALL: f64 = 37.5;
    let calls = match message {
        AnyMessage::Request(request) => request.tool_calls.len(),
        AnyMessage::Response(_) | AnyMessage::Plain(_) => 0,
    };
    let lines = estimated_lines(message.body());
    MESSAGE_PADDING + (LINE * lines as f64 + CALL * calls as f64).max(LEAST)
}

fn estimated_failure_height(message: &str) -> f64 {
    const FRAME: f64 = 8.0;
    MESSAGE_PADDING + (FRAME + LINE * estimated_text_lines(message) as f64).max(LEAST)
}

/// The estimated number of lines of a folded content.
fn estimated_lines(body: &Body) -> usize {
    body.content.as_deref().map_or(0, estimated_text_lines)
}

fn estimated_text_lines(text: &str) -> usize {
    const CHARACTERS_A_LINE: usize = 80;
    const LOOKED_AT: usize = 1_600;
    const MOST: usize = 26;
    if text.is_empty() {
        return 0;
    }
    let start = text.as_bytes().get(..LOOKED_AT).unwrap_or(text.as_bytes());
    let breaks = start.iter().filter(|byte| **byte == b'\n').count();
    (start.len() / CHARACTERS_A_LINE + breaks + 1).min(MOST)
}

#[cfg(test)]
pub(super) mod tests {
    use proptest::prelude::*;
    use volary_core::message::Message;

    use super::*;

    /// A step with this many observations.
    pub(crate) fn step(messages: usize) -> StepRecord {
        StepRecord::new(
            Message::user("act").into(),
            Outcome::Observed {
                messages: vec![Message::user("seen").into(); messages],
                reward: 0.0,
                done: false,
                truncated: false,
            },
        )
    }

    fn failed() -> StepRecord {
        StepRecord {
            outcome: Outcome::Failed {
                message: "broken".into(),
            },
            ..step(0)
        }
    }

    #[test]
    fn an_episode_without_anything_has_one_block() {
        let mut index = TranscriptIndex::default();
        assert_eq!(index.follow(&Episode::default(), 0), 0);
        assert_eq!(index.len(), 1);
        assert_eq!(
            index.block(0).map(|block| block.messages.clone()),
            Some(0..0)
        );
    }

    #[test]
    fn a_failed_step_shows_its_action() {
        let episode = Episode {
            steps: vec![failed()],
            ..Episode::default()
        };
        assert_eq!(message_count(&episode, 1), 1);
        assert!(message(&episode, 1, 0).is_some());
        assert!(message(&episode, 1, 1).is_none());
    }

    #[test]
    fn a_tool_that_the_episode_lists_is_known() {
        let tool = r#"{"format": "volary-episode", "version": 1, "tools": [
            {"name": "look", "description": "", "parameters": null}]}"#;
        let reading = volary_episode::native::read(tool).unwrap();
        let episode = &reading.episodes[0];
        assert!(!is_unknown_tool(episode, "look"));
        assert!(is_unknown_tool(episode, "fly_away"));
        assert!(!is_unknown_tool(&Episode::default(), "fly_away"));
    }

    #[test]
    fn only_new_steps_are_looked_at() {
        let mut episode = Episode {
            steps: vec![step(2), step(70)],
            ..Episode::default()
        };
        let mut index = TranscriptIndex::default();
        index.follow(&episode, 0);
        assert_eq!(index.len(), 1 + 1 + 4);
        episode.steps.push(step(1));
        assert_eq!(index.follow(&episode, 0), 6);
        assert_eq!(index.len(), 7);
        // After a change of the edition all blocks are made again, even if the number of steps is the same.
        episode.steps[1] = step(1);
        assert_eq!(index.follow(&episode, 1), 0);
        assert_eq!(index.len(), 4);
        episode.steps.truncate(1);
        index.follow(&episode, 1);
        assert_eq!(index.len(), 2);
    }

    proptest! {
        #[test]
        fn blocks_hold_every_message_once(counts in prop::collection::vec(0usize..90, 0..20)) {
            let mut episode = Episode::default();
            let mut index = TranscriptIndex::default();
            index.follow(&episode, 7);
            for count in counts {
                episode.steps.push(step(count));
                index.follow(&episode, 7);
            }
            for step in 0..=episode.steps.len() {
                let mut next = 0;
                let mut place = index.first_block(step);
                loop {
                    let block = index.block(place).unwrap().clone();
                    prop_assert_eq!(block.step, step);
                    prop_assert_eq!(block.first, next == 0);
                    prop_assert_eq!(block.messages.start, next);
                    prop_assert!(block.messages.len() <= MOST_MESSAGES);
                    for message in block.messages.clone() {
                        prop_assert_eq!(index.block_of(step, message), place);
                    }
                    next = block.messages.end;
                    place += 1;
                    if block.last {
                        break;
                    }
                }
                prop_assert_eq!(next, message_count(&episode, step));
            }
        }
    }
}
