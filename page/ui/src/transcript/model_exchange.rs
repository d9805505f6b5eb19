//! Details of a model's step: reasoning, usage, and requests.

use leptos::prelude::*;
use volary_core::json::Text;
use volary_episode::StepRecord;
use volary_episode::passages::{TextPart, TextPosition};
use volary_view::asking::{exchanges, facts, notes, reasoning};
use volary_view::highlight::holder_id;

use super::context::TranscriptContext;
use super::message_text::{Manner, message_text};
use super::reading::{ContentKind, Spot};
use crate::icon::{Glyph, Icon};
use crate::text::inert;
use crate::transient_memo::transient_memo;

/// The part number of reasoning. Text is part 0, and no message has this many parts.
pub(super) const THOUGHT: usize = usize::MAX;

/// The model's reasoning, collapsed by default.
pub(super) fn thinking(
    context: TranscriptContext,
    step: usize,
    record: &StepRecord,
) -> Option<AnyView> {
    let thought = reasoning(record)?;
    let place = (step, 0, THOUGHT);
    let id = context.reading.and_then(|_| {
        holder_id(TextPosition {
            step,
            message: 0,
            part: TextPart::Reasoning,
        })
    });
    let draw = move || {
        let text = message_text(context, place, thought.clone(), 0, Manner::Prose);
        view! { <div class="thinking" id=id.clone()>{text}</div> }.into_any()
    };
    Some(thought_view(context, step, Spot::Thought, draw))
}

/// Reasoning within the text of a message, which begins at an offset of the text. `number` is its index among the parts.
pub(super) fn inline_thinking(
    context: TranscriptContext,
    (step, message, number): (usize, usize, usize),
    text: Text,
    at: usize,
) -> AnyView {
    let draw = move || {
        let place = (step, message, number);
        let text = message_text(context, place, text.clone(), at, Manner::Prose);
        view! { <div class="thinking">{text}</div> }.into_any()
    };
    thought_view(context, step, Spot::InlineThought(message), draw)
}

/// A button that shows reasoning. The texts of messages do not contain its label.
fn thought_view(
    context: TranscriptContext,
    step: usize,
    spot: Spot,
    draw: impl Fn() -> AnyView + Send + Sync + 'static,
) -> AnyView {
    let shut = RwSignal::new(true);
    let own = context
        .reading
        .map(|reading| (reading, reading.own(step, spot)));
    let is_open = transient_memo(move |_| match own {
        Some((reading, own)) => !reading.is_folded(ContentKind::Reasoning, own.get()),
        None => !shut.get(),
    });
    let change = move |_| match own {
        Some((_, own)) => {
            let fold = is_open.get_untracked();
            own.update(|own| own.folded = Some(fold));
        }
        None => shut.update(|shut| *shut = !*shut),
    };
    view! {
        <div class="thought">
            <button
                type="button"
                class="quiet small thinking-toggle"
                data-skip=""
                aria-expanded=move || is_open.get().to_string()
                on:click=change
            >
                <Icon glyph=Glyph::Chevron/>
                {"Thinking"}
            </button>
            {move || is_open.get().then(&draw)}
        </div>
    }
    .into_any()
}

/// The usage of the step, with a button that shows its requests.
pub(super) fn model_exchange(
    context: TranscriptContext,
    step: usize,
    record: &StepRecord,
) -> Option<AnyView> {
    let facts = facts(record);
    let errors = &record.details.errors;
    if facts.is_empty() && errors.is_empty() {
        return None;
    }
    let errors = errors.iter().map(|error| {
        view! {
            <p class="step-error">
                <Icon glyph=Glyph::Warning/>
                <span class="failure" dir="auto">
                    {inert(&error.message)}
                </span>
            </p>
        }
    });
    let facts = facts
        .iter()
        .map(|fact| view! { <span>{inert(fact)}</span> });
    let sent = !exchanges(&record.extras).is_empty();
    let inspect = context.on_inspect.filter(|_| sent).map(|inspect| {
        view! {
            <button
                type="button"
                class="quiet small"
                aria-haspopup="dialog"
                on:click=move |_| inspect.run(step)
            >
                {"Request"}
            </button>
        }
    });
    let notes = notes(&record.extras).into_iter();
    let notes = notes.map(|note| {
        view! { <p class="turn-note" dir="auto">{inert(&note)}</p> }
    });
    let view = view! {
        <div class="asked">
            <p class="asked-facts">{facts.collect_view()} {inspect}</p>
            {notes.collect_view()}
            {errors.collect_view()}
        </div>
    };
    Some(view.into_any())
}
