//! A tool call: the tool's name and its arguments, readable, with a way to the answer.

use leptos::ev::Event;
use leptos::prelude::*;
use volary_core::{Json, ToolCall};

use super::reader::{Reader, TextPlace};
use crate::components::erased::words;
use crate::components::icon::{Glyph, named_icon};
use crate::components::json_text::{json_text, token_class};
use crate::components::markup::{button, el};
use crate::components::text::{folded_text, inert, inert_in};
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
    let class = match arguments.values().all(is_short) {
        true => "call short",
        false => "call",
    };
    let class = words(move || match reader.pointed.get() == Some((step, number)) {
        true => format!("{class} pointed"),
        false => class.to_owned(),
    });
    let arguments = arguments.iter().enumerate().map(|(place, (name, value))| {
        // Parts of the body come first; no body has so many.
        let part = 1_000_000 + number * 1_000 + place;
        let class = match is_short(value) {
            true => "argument short",
            false => "argument",
        };
        let value = argument_value(reader, (step, 0, part), value);
        el("div")
            .class(class)
            .child(inert_in("dt", "argument-name", name))
            .child(el("dd").child(value))
            .view()
    });
    let arguments = el("dl")
        .class("arguments")
        .child(arguments.collect::<Vec<_>>());
    let to_answer = answer.map(|message| {
        button("quiet small to-answer")
            .attr("title", "To the answer")
            .on_click(move || reader.go(step, message))
            .child(named_icon(Glyph::Down, "To the answer"))
    });
    el("div")
        .class(class)
        .on("pointerenter", move |_: Event| point(true))
        .on("pointerleave", move |_: Event| point(false))
        .on("focusin", move |_: Event| point(true))
        .on("focusout", move |_: Event| point(false))
        .child(inert_in("span", "tool-name", &call.function.name))
        .child(arguments)
        .child(to_answer)
        .view()
}

fn argument_value(reader: Reader, place: TextPlace, value: &Json) -> AnyView {
    match value {
        // A text of several lines reads best as what it is.
        Json::Text(text) if !is_short(value) => folded_text(text.clone(), reader.fold(place)),
        Json::List(_) | Json::Object(_) => json_text(value, reader.fold(place)),
        other => {
            let (kind, text) = scalar(other);
            el("span")
                .class(token_class(kind))
                .attr("dir", "auto")
                .child(inert(&text))
                .view()
        }
    }
}
