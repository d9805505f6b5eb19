//! A trajectory as one compact text, for models and people: numbered messages, each after a marker with a nonce.
//!
//! Invariants:
//! - The nonce does not occur in any text of the trajectory, so no text can contain a valid marker. It is a digest of
//!   the texts: the same trajectory always becomes the same text, which caches rely on.
//! - Secrets are masked before a text is cut, so no part of a secret remains at a cut.
//! - What is cut is stated where it was, with its size.

mod writer;

use std::ops::Range;

use serde::{Deserialize, Serialize};
use volary_core::AnyMessage;
use volary_core::json::Text;
use volary_core::quantity::large_count_text;
use volary_episode::Episode;
use volary_episode::episode::{Ending, Outcome};
use volary_episode::passages::{TextPart, TextPosition, content};

use crate::position::PositionFields;
use writer::Writer;

/// What a rendered text contains.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct RenderOptions {
    /// The maximum number of characters of the answer of a tool, and of a call; longer ones are cut in the middle.
    pub longest_output: usize,
    /// The maximum number of characters of another message.
    pub longest_message: usize,
    /// Whether keys, tokens, passwords and e-mail addresses are masked.
    pub mask: bool,
    /// Whether the recorded reasoning of the agent is included.
    pub reasoning: bool,
    /// Whether the ending, the reward and the scores are included.
    pub outcome: bool,
}

impl Default for RenderOptions {
    fn default() -> Self {
        RenderOptions {
            longest_output: 4_000,
            longest_message: 20_000,
            mask: true,
            reasoning: true,
            outcome: true,
        }
    }
}

/// A rendered trajectory.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct Rendered {
    /// The nonce of all markers.
    pub nonce: Text,
    /// The text before the first message: the name of the trajectory and the form of the markers.
    pub head: String,
    /// The messages in order. A message is cited by its index.
    pub messages: Vec<RenderedMessage>,
    /// The ending and the scores; empty if they are not included.
    pub tail: String,
    /// The number of characters that were cut.
    pub cut: usize,
    /// The number of texts in which something was masked.
    pub masked: usize,
}

/// A message of a rendered trajectory.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct RenderedMessage {
    /// The role, or the tool that answered, on one line.
    pub speaker: String,
    /// The step: 0 is the start.
    pub step: usize,
    /// The marker, and the texts with the markers between them.
    pub text: String,
    /// The texts within `text` that come from the trajectory. Quotes are searched in these only.
    pub passages: Vec<RenderedPassage>,
}

/// A text of the trajectory within a rendered message.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct RenderedPassage {
    #[serde(with = "PositionFields")]
    pub position: TextPosition,
    /// The range in the message's text.
    pub range: Range<usize>,
}

impl Rendered {
    /// Renders an episode.
    pub fn of(episode: &Episode, options: &RenderOptions) -> Rendered {
        let mut writer = Writer::new(options);
        for (index, message) in episode.start.iter().enumerate() {
            writer.message(0, index, message, None);
        }
        for (index, record) in episode.steps.iter().enumerate() {
            let step = index + 1;
            let reasoning = record.details.reasoning.as_deref();
            writer.message(step, 0, &record.action, reasoning);
            for (index, message) in record.messages().iter().enumerate() {
                writer.message(step, index + 1, message, None);
            }
            let failure = match &record.outcome {
                Outcome::Failed { message } => Some(&**message),
                Outcome::Observed { .. } => None,
            };
            let errors = record.details.errors.iter().map(|error| &*error.message);
            for (index, error) in failure.into_iter().chain(errors).enumerate() {
                writer.error(step, index, error);
            }
        }
        for (index, error) in episode.errors.iter().enumerate() {
            writer.error(0, index, error);
        }
        writer.finish(&name(episode), &outcome(episode, options))
    }

    /// The whole text.
    pub fn text(&self) -> String {
        let length = self.messages.iter().map(|message| message.text.len());
        let mut text =
            String::with_capacity(self.head.len() + length.sum::<usize>() + self.tail.len());
        text.push_str(&self.head);
        for message in &self.messages {
            text.push_str(&message.text);
        }
        text.push_str(&self.tail);
        text
    }

    /// The text of a range of messages, from a character of the first one on, and at most `most` characters. Messages stay
    /// whole; only one that is longer by itself is divided. With where the rest begins: a message, and a character of it.
    pub fn piece(
        &self,
        messages: Range<usize>,
        offset: usize,
        most: usize,
    ) -> (String, Option<(usize, usize)>) {
        let mut text = String::new();
        let mut left = most;
        let first = messages.start;
        for index in messages {
            let Some(message) = self.messages.get(index) else {
                break;
            };
            let skipped = if index == first { offset } else { 0 };
            let rest = match message.text.char_indices().nth(skipped) {
                Some((start, _)) => message.text.get(start..).unwrap_or_default(),
                None => "",
            };
            let count = rest.chars().count();
            if count <= left {
                text.push_str(rest);
                left -= count;
            } else if index > first {
                return (text, Some((index, 0)));
            } else {
                text.extend(rest.chars().take(left));
                return (text, Some((index, skipped + left)));
            }
        }
        (text, None)
    }

    /// The estimated number of tokens of the whole text.
    pub fn tokens(&self) -> u64 {
        let messages = self.messages.iter();
        estimated_tokens(&self.head)
            + estimated_tokens(&self.tail)
            + messages
                .map(|message| estimated_tokens(&message.text))
                .sum::<u64>()
    }
}

/// An estimate of the number of tokens, which differs between models: about 3.6 bytes of ASCII a token, as in logs and
/// code, and one token for two bytes of other scripts.
pub fn estimated_tokens(text: &str) -> u64 {
    let ascii = text.bytes().filter(u8::is_ascii).count();
    let others = text.len() - ascii;
    // Lengths in memory fit.
    (ascii as u64 * 10).div_ceil(36) + (others as u64).div_ceil(2)
}

fn name(episode: &Episode) -> String {
    let mut parts = vec![episode.name.to_string()];
    if let Some(task) = episode.task() {
        parts.push(format!("task {} {}", task.dataset, task.id));
    }
    if let Some(model) = &episode.model {
        parts.push(format!("model {model}"));
    }
    parts.retain(|part| !part.trim().is_empty());
    parts.join(", ")
}

/// The ending, the reward and the scores, one per line.
fn outcome(episode: &Episode, options: &RenderOptions) -> Vec<String> {
    if !options.outcome {
        return Vec::new();
    }
    let ending = match &episode.ending {
        Ending::Open => "open".to_owned(),
        Ending::Done => "done".to_owned(),
        Ending::Truncated { reason } => format!("truncated: {reason}"),
        Ending::Crashed { message } => format!("crashed: {message}"),
    };
    let mut lines = vec![format!("ending: {ending}")];
    lines.extend(
        episode
            .outcome
            .iter()
            .map(|text| format!("outcome: {text}")),
    );
    lines.extend(episode.reward().map(|reward| format!("reward: {reward}")));
    for score in &episode.scores {
        let value = score.value.to_compact_text();
        let why = score.explanation.as_deref().unwrap_or_default();
        lines.push(format!("score {}: {value} {why}", score.name));
    }
    lines
}

/// Who speaks in a message.
fn speaker(message: &AnyMessage) -> String {
    match message {
        AnyMessage::Response(response) => format!("tool {}", response.name),
        other => other.role().as_str().to_owned(),
    }
}

/// A text on one line.
pub(crate) fn one_line(text: &str, most: usize) -> String {
    let letters = text.chars().take(most);
    letters
        .map(|letter| if letter.is_control() { ' ' } else { letter })
        .collect()
}

#[cfg(test)]
mod tests;
