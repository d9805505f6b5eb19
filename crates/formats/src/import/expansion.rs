//! Bounds how much data a reader may create from a file.
//!
//! Formats store values once and refer to them (attachments, messages of a pool, the messages before a branch), and a
//! reader copies them to each reference. A few kilobytes can become gigabytes that way. Invariants: the data created
//! from a file stays within [`FREE`] bytes plus [`FACTOR`] times the size of the file; the rest is dropped, and the
//! import report mentions it.

use volary_core::AnyMessage;
use volary_core::json::{Json, Object, Text};
use volary_episode::episode::{Episode, StepRecord};

use super::memory::Memory;

/// The number of bytes that any file may expand to, however small it is.
pub(super) const FREE: usize = 32 << 20;
/// The additional allowance, as a multiple of the file's size.
pub(super) const FACTOR: usize = 4;

/// The approximate memory of a value without its texts, in bytes.
const VALUE: usize = 32;
/// The approximate memory of a message without its texts, in bytes.
const MESSAGE: usize = 256;

/// The remaining budget of bytes to create from a file.
#[derive(Clone, Debug)]
pub(super) struct Expansion {
    left: usize,
    /// The bytes that may still move from the file into the result: they take no additional memory.
    moved: usize,
    /// The memory of the import, from which additional bytes are taken.
    memory: Memory,
}

impl Expansion {
    /// The budget of a file, or a part of one, of this many bytes.
    pub fn of(bytes: usize) -> Expansion {
        Expansion {
            left: FREE.saturating_add(bytes.saturating_mul(FACTOR)),
            moved: bytes,
            memory: Memory::default(),
        }
    }

    /// Takes what exceeds the size of the file from the memory of an import.
    pub fn within(mut self, memory: Memory) -> Expansion {
        self.memory = memory;
        self
    }

    /// Takes this many bytes from the budget. Returns false if they do not fit; smaller values may still fit.
    pub fn take(&mut self, bytes: usize) -> bool {
        let moved = bytes.min(self.moved);
        match self.left.checked_sub(bytes) {
            Some(left) if self.memory.take(bytes - moved) => {
                self.left = left;
                self.moved -= moved;
                true
            }
            _ => false,
        }
    }

    /// Whether the budget is used up.
    pub fn is_over(&self) -> bool {
        self.left == 0
    }

    /// Uses up the budget, so that nothing more is created.
    pub fn end(&mut self) {
        self.left = 0;
    }
}

/// The size of a value in bytes. Shared texts count at every occurrence, since each is written out.
pub(super) fn size(value: &Json) -> usize {
    VALUE
        + match value {
            Json::Text(text) => text.len(),
            Json::List(list) => list.iter().map(size).sum(),
            Json::Object(object) => size_of_object(object),
            _ => 0,
        }
}

pub(super) fn size_of_object(object: &Object) -> usize {
    let members = object.iter();
    members
        .map(|(key, value)| VALUE + key.len() + size(value))
        .sum()
}

/// The approximate size of an episode in bytes, without its frames, which have separate limits.
pub(super) fn size_of_episode(episode: &Episode) -> usize {
    let start: usize = episode.start.iter().map(size_of_message).sum();
    let steps: usize = episode.steps.iter().map(size_of_step).sum();
    let tools = episode.tools.iter().map(|tool| {
        let parameters = tool.info.parameters.as_ref();
        let parameters = parameters.map(|parameters| size_of_object(&parameters.properties));
        tool.info.description.len() + parameters.unwrap_or_default() + MESSAGE
    });
    let scores = episode.scores.iter().map(|score| {
        let explanation = score.explanation.as_ref().map_or(0, |text| text.len());
        size(&score.value) + explanation + size_of_object(&score.extras)
    });
    start
        + steps
        + tools.sum::<usize>()
        + scores.sum::<usize>()
        + size_of_object(&episode.metadata)
        + size_of_object(&episode.raw)
        + episode.tokens.as_ref().map_or(0, |record| record.size())
        + size_of::<Episode>()
}

fn size_of_step(step: &StepRecord) -> usize {
    let observed: usize = step.messages().iter().map(size_of_message).sum();
    let details = &step.details;
    let reasoning = details.reasoning.as_ref().map_or(0, |text| text.len());
    let errors = details.errors.iter().map(|error| error.message.len());
    size_of::<StepRecord>()
        + size_of_message(&step.action)
        + observed
        + reasoning
        + errors.sum::<usize>()
        + size_of_object(&step.extras)
}

fn size_of_message(message: &AnyMessage) -> usize {
    let body = message.body();
    let content = body.content.as_ref().map_or(0, |text: &Text| text.len());
    let info = body.info.as_ref().map_or(0, size_of_object);
    let calls = match message {
        AnyMessage::Request(request) => {
            let calls = request.tool_calls.iter();
            let call = calls.map(|call| MESSAGE + size_of_object(&call.function.arguments));
            call.sum()
        }
        _ => 0,
    };
    MESSAGE + content + info + calls
}

#[cfg(test)]
mod tests {
    use volary_core::json;

    use super::*;

    #[test]
    fn no_more_is_taken_than_a_file_may_become() {
        let mut expansion = Expansion::of(1_000);
        assert!(expansion.take(FREE + 3_000));
        assert!(!expansion.take(1_001));
        assert!(expansion.take(1_000));
        assert!(!expansion.take(1));
    }

    #[test]
    fn texts_count_at_any_depth() {
        let text: Text = "x".repeat(1_000).into();
        let value = json!([(text.clone()), {"a": (text)}]);
        assert!((2_000..2_300).contains(&size(&value)));
    }
}
