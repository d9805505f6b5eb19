//! A tool call: the tool's name and its arguments, readable, with a way to the answer.

use leptos::prelude::*;
use volary_core::{Json, ToolCall};

use super::reader::Reader;
use crate::components::erased::{flag, focused, pointed, pressed};
use crate::components::icon::{Glyph, Icon};
use crate::components::json_text::{JsonText, token_class};
use crate::components::text::{FoldedText, inert};
use crate::projection::content::is_short;
use crate::projection::pretty::scalar;

/// Draws a call of a step; `answer` is the message that answers it.
pub(super) fn call_view(
    reader: Reader,
    (step, number): (usize, usize),
    call: &ToolCall,
    answer: Option<usize>,
) -> AnyView {
    let point = move |at: bool| reader.pointed.set(at.then_some((step, number)));
    let arguments = &call.function.arguments;
    let short = arguments.values().all(is_short);
    let arguments = arguments
        .iter()
        .enumerate()
        .map(|(place, (name, value))| {
            // Parts of the body come first; no body has so many.
            let part = 1_000_000 + number * 1_000 + place;
            view! {
                <div class="argument" class:short=is_short(value)>
                    <dt dir="auto">{inert(name)}</dt>
                    <dd>{argument_value(reader, (step, 0, part), value)}</dd>
                </div>
            }
        })
        .collect_view();
    let to_answer = answer.map(|message| {
        let go = pressed(move |_| reader.go(step, message));
        view! {
            <button
                type="button"
                class="quiet small to-answer"
                title="To the answer"
                on:click=go
            >
                <Icon glyph=Glyph::Down />
                <span class="visually-hidden">"To the answer"</span>
            </button>
        }
    });
    view! {
        <div
            class="call"
            class:short=short
            class:pointed=flag(move || reader.pointed.get() == Some((step, number)))
            on:pointerenter=pointed(move |_| point(true))
            on:pointerleave=pointed(move |_| point(false))
            on:focusin=focused(move |_| point(true))
            on:focusout=focused(move |_| point(false))
        >
            <span class="tool-name" dir="auto">{inert(&call.function.name)}</span>
            <dl class="arguments">{arguments}</dl>
            {to_answer}
        </div>
    }
    .into_any()
}

fn argument_value(reader: Reader, place: super::reader::TextPlace, value: &Json) -> AnyView {
    match value {
        // A text of several lines reads best as what it is.
        Json::Text(text) if !is_short(value) => {
            let fold = reader.fold(place);
            view! { <FoldedText text=text.clone() fold /> }.into_any()
        }
        Json::List(_) | Json::Object(_) => {
            let fold = reader.fold(place);
            view! { <JsonText value=value.clone() fold /> }.into_any()
        }
        other => {
            let (kind, text) = scalar(other);
            view! { <span class=token_class(kind) dir="auto">{inert(&text)}</span> }.into_any()
        }
    }
}
