//! The texts of an episode with their positions, as used by search and annotations.
//!
//! Invariants: the text at a position depends only on the episode, so a character range means the same wherever the
//! episode is opened.

use std::borrow::Cow;

use volary_core::AnyMessage;
use volary_core::json::{Json, Text};
use volary_core::message::Body;
use volary_core::tool::ToolCall;

use crate::episode::{Episode, Outcome, StepRecord};

/// The member of a message's info with the blocks of reasoning that its provider encrypted. They are no texts.
pub const REDACTED_REASONING: &str = "redacted_reasoning";

/// The position of a text in an episode.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub struct TextPosition {
    /// 0 is the reset (and texts of the whole episode), `i` is step `i`.
    pub step: usize,
    /// The index of the message: within the start, or within a step, where 0 is the action and 1 the first observation.
    pub message: usize,
    /// The text within the message.
    pub part: TextPart,
}

/// A text of a message.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub enum TextPart {
    /// The name of the episode. Its position is step 0, message 0.
    Name,
    /// The reasoning of the model.
    Reasoning,
    /// The content of a message; several text blocks are joined by line breaks.
    #[default]
    Content,
    /// The `n`-th call: its name and its arguments as JSON.
    Call(usize),
    /// Errors: of the step as a whole, then each error recorded with it; at step 0 those of the whole episode.
    Error(usize),
    /// The explanation of the `n`-th score. Its position is step 0, message 0.
    Score(usize),
}

/// All non-empty texts of an episode, in order.
pub fn passages(episode: &Episode) -> impl Iterator<Item = (TextPosition, Cow<'_, str>)> {
    let steps = episode.steps.iter().enumerate();
    about(episode)
        .chain(start(episode))
        .chain(steps.flat_map(|(index, step)| of_step(index + 1, step)))
        .filter(|(_, text)| !text.is_empty())
}

/// The text at a position; `None` if the episode has no such position.
pub fn passage(episode: &Episode, position: TextPosition) -> Option<Cow<'_, str>> {
    let found = |(known, text): (TextPosition, _)| (known == position).then_some(text);
    match position.step.checked_sub(1) {
        None => about(episode).chain(start(episode)).find_map(found),
        Some(index) => of_step(position.step, episode.steps.get(index)?).find_map(found),
    }
}

/// The displayed content of a message: the texts of JSON blocks, one per line; otherwise the stored text.
pub fn content(body: &Body) -> Cow<'_, str> {
    let stored = body.content_or_empty();
    if !body.content_is_json_str || !stored.trim_start().starts_with('[') {
        return Cow::Borrowed(stored);
    }
    match Json::parse(stored) {
        Ok(Json::List(blocks)) if is_blocks(&blocks) => {
            let texts = blocks.iter().filter_map(block_text);
            let texts: Vec<&str> = texts.map(AsRef::as_ref).collect();
            Cow::Owned(texts.join("\n"))
        }
        _ => Cow::Borrowed(stored),
    }
}

/// Whether a list consists of content blocks. Readers keep blocks that they do not know among those that they know.
fn is_blocks(list: &[Json]) -> bool {
    let is_typed = |block: &Json| {
        block
            .get("type")
            .is_some_and(|kind| kind.as_text().is_some())
    };
    list.iter().any(is_content_block) || list.iter().all(is_typed)
}

/// Whether a value is a block of content as models accept it: a text, an image, or encrypted reasoning.
pub fn is_content_block(value: &Json) -> bool {
    const KINDS: [&str; 3] = ["text", "image_url", "redacted_thinking"];
    let kind = value.get("type").and_then(Json::as_text);
    kind.is_some_and(|kind| KINDS.contains(&&**kind))
}

/// The text of a block: its own, or the block itself.
pub fn block_text(block: &Json) -> Option<&Text> {
    block.as_text().or_else(|| block.get("text")?.as_text())
}

/// A call as text: its name and its arguments.
pub fn call_text(call: &ToolCall) -> String {
    format!(
        "{} {}",
        call.function.name,
        call.function.arguments.to_compact_text()
    )
}

fn about(episode: &Episode) -> impl Iterator<Item = (TextPosition, Cow<'_, str>)> {
    let whole = |part| TextPosition {
        part,
        ..TextPosition::default()
    };
    let name = (whole(TextPart::Name), Cow::Borrowed(&*episode.name));
    let errors = episode.errors.iter().enumerate();
    let errors =
        errors.map(move |(index, text)| (whole(TextPart::Error(index)), Cow::Borrowed(&**text)));
    let scores = episode.scores.iter().enumerate();
    let why = scores.filter_map(move |(index, score)| {
        let text = score.explanation.as_deref()?;
        Some((whole(TextPart::Score(index)), Cow::Borrowed(text)))
    });
    std::iter::once(name).chain(errors).chain(why)
}

fn start(episode: &Episode) -> impl Iterator<Item = (TextPosition, Cow<'_, str>)> {
    let messages = episode.start.iter().enumerate();
    messages.flat_map(|(index, message)| of_message(0, index, message))
}

fn of_step(step: usize, record: &StepRecord) -> impl Iterator<Item = (TextPosition, Cow<'_, str>)> {
    let at = move |part| TextPosition {
        step,
        message: 0,
        part,
    };
    let reasoning = record.details.reasoning.as_deref();
    let reasoning = reasoning.map(|text| (at(TextPart::Reasoning), Cow::Borrowed(text)));
    let observations = record.messages().iter().enumerate();
    let observed =
        observations.flat_map(move |(index, message)| of_message(step, index + 1, message));
    let failure = match &record.outcome {
        Outcome::Failed { message } => Some(&**message),
        Outcome::Observed { .. } => None,
    };
    let errors = record.details.errors.iter().map(|error| &*error.message);
    let errors = failure.into_iter().chain(errors).enumerate();
    let errors = errors.map(move |(index, text)| (at(TextPart::Error(index)), Cow::Borrowed(text)));
    reasoning
        .into_iter()
        .chain(of_message(step, 0, &record.action))
        .chain(observed)
        .chain(errors)
}

fn of_message(
    step: usize,
    message: usize,
    said: &AnyMessage,
) -> impl Iterator<Item = (TextPosition, Cow<'_, str>)> {
    let at = move |part| TextPosition {
        step,
        message,
        part,
    };
    let calls: &[ToolCall] = match said {
        AnyMessage::Request(request) => &request.tool_calls,
        _ => &[],
    };
    let calls = calls.iter().enumerate();
    let calls = calls.map(move |(index, call)| (at(TextPart::Call(index)), call_text(call).into()));
    std::iter::once((at(TextPart::Content), content(said.body()))).chain(calls)
}
