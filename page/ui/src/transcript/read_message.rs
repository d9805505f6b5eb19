//! What only Review shows of a message: its content collapsed to one line, as Markdown, as terminal output or as JSON, the
//! buttons for that, and its token strip.
//!
//! Invariant: other modules of the transcript reach these functions only through [`ReadingViews`], so that a page without
//! reading options does not contain them.

use leptos::prelude::*;
use volary_analysis::timeline::first_line;
use volary_core::quantity::size_text;
use volary_core::{AnyMessage, Json};
use volary_episode::native;
use volary_view::transcript::message as message_at;

use super::context::TranscriptContext;
use super::message::body;
use super::read_call::read_call;
use super::read_text::read_text;
use super::reading::{ContentKind, ReadingOptions, ReadingViews, Spot};
use crate::icon::{Glyph, Icon};
use crate::json_text::json_text;
use crate::text::inert;
use crate::transient_memo::transient_memo;
use volary_browser as browser;

/// Maximum number of characters shown of a collapsed message.
const LINE: usize = 160;

/// New display options, for a page that reads episodes.
pub fn reading_options() -> ReadingOptions {
    ReadingOptions::new(&READING_VIEWS)
}

static READING_VIEWS: ReadingViews = ReadingViews {
    body: read_body,
    tools: ways_to_read,
    text: read_text,
    call: read_call,
    token_strip: strip,
};

/// The token strip of a message, if strips are shown.
fn strip(reading: ReadingOptions, (step, place): (usize, usize)) -> AnyView {
    (move || reading.strips.get().and_then(|draw| draw(step, place))).into_any()
}

fn kind_of(message: &AnyMessage) -> ContentKind {
    match message {
        AnyMessage::Response(_) => ContentKind::Tools,
        AnyMessage::Plain(_) | AnyMessage::Request(_) => ContentKind::Messages,
    }
}

/// Looks up a message by its step and index and applies a function to it.
fn look<T>(
    context: TranscriptContext,
    (step, place): (usize, usize),
    look: impl FnOnce(&AnyMessage) -> T,
) -> Option<T> {
    context
        .episode
        .with_untracked(|episode| message_at(episode, step, place).map(look))
}

/// The content of a message in Review: collapsed to one line, as JSON, or in full.
fn read_body(
    context: TranscriptContext,
    reading: ReadingOptions,
    at: (usize, usize),
    calls: Vec<AnyView>,
) -> AnyView {
    let kind = look(context, at, kind_of).unwrap_or(ContentKind::Messages);
    let own = reading.own(at.0, Spot::Message(at.1));
    let state = transient_memo(move |_| {
        let own = own.get();
        (own.raw, reading.is_folded(kind, own))
    });
    let body = move || match state.get() {
        (true, _) => {
            let json = look(context, at, native::message_to_json).unwrap_or(Json::Null);
            let fold = context.fold((at.0, at.1, usize::MAX - 1));
            Some(view! { <div class="message-body">{json_text(&json, fold)}</div> }.into_any())
        }
        (false, true) => {
            let (line, size) = look(context, at, |message| {
                (
                    first_line(message, LINE),
                    message.body().content_or_empty().len(),
                )
            })?;
            (size > 0).then(|| view! { <FoldLine context reading at line size/> }.into_any())
        }
        (false, false) => look(context, at, |message| body(context, at, message)).flatten(),
    };
    // The JSON of a message includes its calls.
    let class = move || {
        if state.get().0 {
            "calls as-json"
        } else {
            "calls"
        }
    };
    let calls = (!calls.is_empty()).then(|| view! { <div class=class>{calls}</div> });
    view! {
        {body}
        {calls}
    }
    .into_any()
}

/// A collapsed message: its first line, as a button that expands it.
#[component]
fn FoldLine(
    context: TranscriptContext,
    reading: ReadingOptions,
    /// The step and the index of the message.
    at: (usize, usize),
    line: String,
    size: usize,
) -> impl IntoView {
    let (step, place) = at;
    let unfold = move |_| {
        reading.open(step, Spot::Message(place));
        // The button is unmounted by then; the focus moves to the expanded content.
        browser::timers::next_frame(move || {
            context.focus(step, place);
        });
    };
    view! {
        <button type="button" class="fold-line" aria-expanded="false" on:click=unfold>
            <Icon glyph=Glyph::Chevron/>
            <span class="fold-words" dir="auto">
                {inert(&line)}
            </span>
            <span class="faint">{size_text(size as u64)}</span>
        </button>
    }
}

/// Buttons that collapse a message and its calls, and that show it as JSON. Arguments: step and index of the message,
/// and the number of its calls.
fn ways_to_read(
    context: TranscriptContext,
    reading: ReadingOptions,
    at: (usize, usize),
    calls: usize,
) -> AnyView {
    let (step, place) = at;
    let own = reading.own(step, Spot::Message(place));
    let kind = look(context, at, kind_of).unwrap_or(ContentKind::Messages);
    let is_folded = transient_memo(move |_| {
        let message = reading.is_folded(kind, own.get());
        let calls = if place == 0 { calls } else { 0 };
        let folded = |call| {
            reading.is_folded(
                ContentKind::Tools,
                reading.own(step, Spot::Call(call)).get(),
            )
        };
        message && (0..calls).all(folded)
    });
    let is_raw = transient_memo(move |_| own.get().raw);
    let fold = move |_| {
        let fold = Some(!is_folded.get_untracked());
        own.update(|own| own.folded = fold);
        for call in 0..calls {
            reading
                .own(step, Spot::Call(call))
                .update(|own| own.folded = fold);
        }
    };
    let name = move || {
        if is_folded.get() {
            "Expand"
        } else {
            "Collapse"
        }
    };
    let class = move || {
        if is_folded.get() {
            "quiet small icon-button"
        } else {
            "quiet small icon-button turned"
        }
    };
    view! {
        <button type="button" class=class title=name aria-label=name on:click=fold>
            <Icon glyph=Glyph::Chevron/>
        </button>
        <button
            type="button"
            class="quiet small json-toggle"
            title="Show as JSON"
            aria-label="JSON"
            aria-pressed=move || is_raw.get().to_string()
            on:click=move |_| own.update(|own| own.raw = !own.raw)
        >
            {"{}"}
        </button>
    }
    .into_any()
}
