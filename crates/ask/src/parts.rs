//! A trajectory in parts that fit into a model's context.
//!
//! Invariants: every message is in at least one part; messages keep their numbers; neighbouring parts share the last messages
//! of the first one, so that no pair of neighbours is separated. A message that alone is too long is divided, with a shared
//! passage too.

use std::ops::Range;

use volary_core::json::Text;

use crate::cache::{self, Sampling};
use crate::question::Question;
use crate::render::{Rendered, estimated_tokens};
use crate::run::AskSettings;

/// The share of a part that is repeated in the next one: one in this number of tokens.
const OVERLAP: u64 = 10;
/// The smallest number of tokens of a part. Smaller ones would consist of markers.
pub const SMALLEST_PART: u64 = 500;

/// The key of the answer about a trajectory: of the texts that are sent, the question and the model.
pub fn answer_key(rendered: &Rendered, room: u64, settings: &AskSettings) -> Text {
    answer_key_of(
        rendered,
        room,
        &settings.question,
        &settings.model,
        &settings.sampling(),
    )
}

/// Like [`answer_key`], without the settings that a key does not depend on.
pub fn answer_key_of(
    rendered: &Rendered,
    room: u64,
    question: &Question,
    model: &str,
    sampling: &Sampling,
) -> Text {
    let parts = part_texts(rendered, room);
    key_of(rendered, &parts, question, model, sampling)
}

/// The key of the answer about a trajectory that is divided into these parts.
pub(crate) fn key_of(
    rendered: &Rendered,
    parts: &[String],
    question: &Question,
    model: &str,
    sampling: &Sampling,
) -> Text {
    let mut all = vec![rendered.head.clone(), rendered.tail.clone()];
    all.extend(parts.iter().cloned());
    cache::key(&all, question, model, sampling)
}

/// The texts of the parts, without head and tail. One part if all fits into `most` tokens.
pub fn part_texts(rendered: &Rendered, most: u64) -> Vec<String> {
    let fixed = estimated_tokens(&rendered.head) + estimated_tokens(&rendered.tail);
    let room = most.saturating_sub(fixed).max(SMALLEST_PART);
    let mut parts = Vec::new();
    let mut current: Vec<(u64, &str)> = Vec::new();
    let mut size = 0;
    let mut continued = String::new();
    for (index, message) in rendered.messages.iter().enumerate() {
        let tokens = estimated_tokens(&message.text);
        if tokens > room {
            close(&mut parts, &mut current, &mut size, room);
            current.clear();
            size = 0;
            let marker = format!(
                "[M{index} {} {}, continued]\n",
                rendered.nonce, message.speaker
            );
            let pieces = pieces(&message.text, room);
            for (number, piece) in pieces.into_iter().enumerate() {
                continued.clear();
                if number > 0 {
                    continued.push_str(&marker);
                }
                continued.push_str(message.text.get(piece).unwrap_or_default());
                parts.push(continued.clone());
            }
            continue;
        }
        if size + tokens > room {
            close(&mut parts, &mut current, &mut size, room);
            // The repeated messages must leave room for this one.
            while size + tokens > room && !current.is_empty() {
                size -= current.remove(0).0;
            }
        }
        current.push((tokens, &message.text));
        size += tokens;
    }
    if !current.is_empty() || parts.is_empty() {
        parts.push(current.iter().map(|(_, text)| *text).collect());
    }
    parts
}

/// Ends a part, and keeps its last messages for the next one.
fn close(parts: &mut Vec<String>, current: &mut Vec<(u64, &str)>, size: &mut u64, room: u64) {
    if current.is_empty() {
        return;
    }
    parts.push(current.iter().map(|(_, text)| *text).collect());
    let mut kept = 0;
    let mut shared = 0;
    for (tokens, _) in current.iter().rev() {
        if shared + tokens > room / OVERLAP {
            break;
        }
        shared += tokens;
        kept += 1;
    }
    current.drain(..current.len() - kept);
    *size = shared;
}

/// Overlapping ranges of a text, each of at most about `room` tokens.
fn pieces(text: &str, room: u64) -> Vec<Range<usize>> {
    // One token is at least two bytes in the estimate, so this is never too much.
    let length = usize::try_from(room.saturating_mul(2))
        .unwrap_or(usize::MAX)
        .max(64);
    let overlap = length / 10;
    let mut ranges = Vec::new();
    let mut start = 0_usize;
    loop {
        let end = text.floor_char_boundary(start.saturating_add(length));
        ranges.push(start..end);
        if end >= text.len() {
            return ranges;
        }
        start = text.floor_char_boundary(end - overlap);
    }
}

#[cfg(test)]
mod tests {
    use proptest::prelude::*;
    use volary_core::Message;
    use volary_episode::Episode;

    use super::*;
    use crate::render::RenderOptions;

    proptest! {
        #[test]
        fn every_message_is_in_a_part_and_every_part_fits(
            lengths in prop::collection::vec(1_usize..6_000, 1..20),
            most in 600_u64..3_000,
        ) {
            let episode = Episode {
                start: lengths.iter().enumerate().map(|(index, length)| {
                    Message::user(format!("<{index}>{}", "word ".repeat(*length / 5))).into()
                }).collect(),
                ..Episode::default()
            };
            let rendered = Rendered::of(&episode, &RenderOptions::default());
            let parts = part_texts(&rendered, most);
            for (index, message) in rendered.messages.iter().enumerate() {
                let marker = format!("[M{index} {}", rendered.nonce);
                prop_assert!(parts.iter().any(|part| part.contains(&marker)));
                if estimated_tokens(&message.text) < 500 {
                    prop_assert!(parts.iter().any(|part| part.contains(&message.text)));
                }
            }
            for part in &parts {
                prop_assert!(estimated_tokens(part) <= most.max(SMALLEST_PART) + 40);
            }
        }
    }

    #[test]
    fn what_fits_is_one_part() {
        let rendered = Rendered::of(&Episode::default(), &RenderOptions::default());
        assert_eq!(part_texts(&rendered, 10_000), [""]);
    }
}
