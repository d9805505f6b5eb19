//! Navigation to passages: expands the texts that contain them and scrolls them into view. Also reports the mounted
//! steps, so that highlights can be applied.

use leptos::prelude::*;
use volary_core::json::Text;
use volary_core::{AnyMessage, Json};
use volary_episode::passages::{TextPart, TextPosition};
use volary_view::content::message_content;
use volary_view::highlight::{Spot as Words, character_of, holder_id};
use volary_view::text::part_of_character;
use volary_view::transcript::{
    FAILURE_PLACE, failure_of, message, message_count, next_place, previous_place, step_record,
};

use super::call::part_of;
use super::context::{FoldKey, MESSAGE, STEP, TranscriptContext};
use super::model_exchange::THOUGHT;
use super::reading::{ContentKind, ReadingOptions, Spot};
use crate::text::Fold;
use volary_browser as browser;

/// The maximum number of frames to wait for the words to be rendered: content above them is laid out first.
const MOST_FRAMES: usize = 12;

/// Scrolls to a passage. Its step must already be selected.
pub fn go_to_words(context: TranscriptContext, words: Words) {
    let Some(id) = holder_id(words.place) else {
        return;
    };
    unfold(context, &words);
    let TextPosition { step, message, .. } = words.place;
    let scroll = context.place.scroll;
    scroll.update_value(|scroll| scroll.reveal_message(step, message));
    context.place.go();
    bring(context, id, words, MOST_FRAMES);
}

fn bring(context: TranscriptContext, id: String, words: Words, frames: usize) {
    browser::timers::next_frame(move || {
        let log = context.place.log.try_get_untracked().flatten();
        let seen =
            log.is_some_and(|log| browser::text_selection::bring_into_sight(&id, &words, &log));
        // Repeat a few times after it is found: layout of the content above may still move it.
        let left = if seen { frames.min(4) } else { frames };
        if left > 1 {
            bring(context, id, words, left - 1);
        }
    });
}

/// The mounted steps. Tracks changes of the range, and expansions within it.
pub fn steps_on_page(context: TranscriptContext) -> std::ops::RangeInclusive<usize> {
    let window = context.place.window.get();
    let step = |block: usize| {
        context.place.scroll.with_value(|scroll| {
            let block = scroll.index().block(block);
            block.map(|block| block.step)
        })
    };
    match (step(window.start), step(window.end.saturating_sub(1))) {
        (Some(first), Some(last)) => first..=last,
        #[allow(clippy::reversed_empty_ranges, reason = "there is no step on the page")]
        _ => 1..=0,
    }
}

/// Calls back when the size of the rendered content changes.
pub fn on_layout(context: TranscriptContext, changed: impl Fn() + Clone + 'static) {
    let sizes = StoredValue::new_local(None);
    Effect::new(move |_| {
        if let Some(list) = context.place.list.get() {
            sizes.set_value(browser::element::watch_size(&[&list], changed.clone()));
        }
    });
}

/// Collapses or expands a whole step.
pub fn fold_step(context: TranscriptContext, step: usize, fold: bool) {
    let Some(reading) = context.reading else {
        return;
    };
    let (messages, calls) = context.episode.with_untracked(|episode| {
        let calls = match step_record(episode, step).map(|record| &record.action) {
            Some(AnyMessage::Request(request)) => request.tool_calls.len(),
            _ => 0,
        };
        (message_count(episode, step), calls)
    });
    reading.fold_step(step, messages, calls, fold);
}

/// Focuses the next or previous message, starting from the selected step.
pub fn go_to_message(context: TranscriptContext, forward: bool) {
    let step = context.selected.get_untracked();
    let around = |attribute| {
        let log = context.place.log.get_untracked()?;
        let number = browser::element::attribute_around_focus(&log, attribute)?;
        number.parse::<usize>().ok()
    };
    let focused = around(STEP).zip(around(MESSAGE));
    let at = focused
        .filter(|(at, _)| *at == step)
        .map(|(_, message)| message);
    let to = context.episode.with_untracked(|episode| {
        if forward {
            next_place(episode, step, at)
        } else {
            previous_place(episode, step, at)
        }
    });
    if let Some((step, message)) = to {
        context.choose(step);
        context.go(step, message);
    }
}

/// Expands everything that contains a passage.
fn unfold(context: TranscriptContext, words: &Words) {
    let Some(reading) = context.reading else {
        return;
    };
    let TextPosition {
        step,
        message: number,
        part,
    } = words.place;
    let found = context
        .episode
        .with_untracked(|episode| message(episode, step, number).cloned());
    let Some(found) = found else {
        return;
    };
    match part {
        TextPart::Content => {
            reading.open(step, Spot::Message(number));
            let content = message_content(&found);
            for part in content.texts() {
                if let Some(character) = part.place_of(words.range.start) {
                    if content.is_reasoning(part.number) {
                        reading.open(step, Spot::InlineThought(number));
                    }
                    unfold_text(context, (step, number, part.number), &part.text, character);
                }
            }
        }
        TextPart::Call(call) => {
            reading.open(step, Spot::Call(call));
            if let AnyMessage::Request(request) = &found
                && let Some(call_) = request.tool_calls.get(call)
            {
                let values = call_.function.arguments.values().enumerate();
                for (place, value) in values {
                    unfold_value(
                        context,
                        (step, 0, part_of(call, place)),
                        value,
                        &words.quote,
                    );
                }
            }
        }
        TextPart::Reasoning => unfold_thought(context, reading, words),
        TextPart::Error(_) => unfold_failure(context, words),
        TextPart::Name | TextPart::Score(_) => {}
    }
}

fn unfold_thought(context: TranscriptContext, reading: ReadingOptions, words: &Words) {
    let step = words.place.step;
    if reading.is_folded(
        ContentKind::Reasoning,
        reading.own(step, Spot::Thought).get_untracked(),
    ) {
        reading.open(step, Spot::Thought);
    }
    let thought = context.episode.with_untracked(|episode| {
        step_record(episode, step).and_then(|record| record.details.reasoning.clone())
    });
    if let Some(text) = thought {
        unfold_text(context, (step, 0, THOUGHT), &text, words.range.start);
    }
}

fn unfold_failure(context: TranscriptContext, words: &Words) {
    let step = words.place.step;
    let why = context.episode.with_untracked(|episode| {
        step_record(episode, step).and_then(|record| failure_of(record).cloned())
    });
    if let Some(why) = why.filter(|_| words.place.part == TextPart::Error(0)) {
        unfold_text(context, (step, FAILURE_PLACE, 0), &why, words.range.start);
    }
}

/// Expands a long text so that a character is visible.
fn unfold_text(context: TranscriptContext, place: FoldKey, text: &Text, character: usize) {
    if let Some(part) = part_of_character(text, character) {
        context.fold(place).set(Fold::Open(part));
    }
}

/// Expands an argument of a call if the passage is beyond its preview.
fn unfold_value(context: TranscriptContext, place: FoldKey, value: &Json, words: &str) {
    let fold = context.fold(place);
    match value {
        Json::Text(text) => {
            let at = character_of(text, words);
            if let Some(part) = at.and_then(|at| part_of_character(text, at)) {
                fold.set(Fold::Open(part));
            }
        }
        Json::List(_) | Json::Object(_) if fold.get_untracked() == Fold::Preview => {
            fold.set(Fold::Open(0));
        }
        _ => {}
    }
}
