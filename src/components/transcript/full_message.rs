//! A message with all its features: reasoning, calls, values, images, links between calls and results, usage;
//! collapsed, as Markdown or as JSON in Review.

use leptos::prelude::*;
use volary_core::message::ToolRequestMessage;
use volary_core::tool::call::INVALID;
use volary_core::{AnyMessage, Json};
use volary_trajectory::passages::{Part as TextPart, Place};
use volary_trajectory::timeline::first_line;
use volary_trajectory::{Episode, StepRecord, native};

use super::call::{call_view, invalid_call_view};
use super::message::{copy_button, speaker};
use super::message_text::{manner, message_text};
use super::model_exchange::{model_exchange, thinking};
use super::reader::{CALL, GO, MESSAGE, Reader, icon_button};
use super::reading::{Kind, Reading, Spot};
use crate::browser;
use crate::components::erased::{dynamic, words};
use crate::components::icon::{Glyph, icon};
use crate::components::json_text::json_text;
use crate::components::markup::{El, all, button, el, nothing};
use crate::components::text::inert_in;
use crate::projection::content::{Content, Part, content, is_failure};
use crate::projection::highlight::holder_id;
use crate::projection::size_text;
use crate::projection::text::cut_at;
use crate::projection::transcript::{
    FAILURE_PLACE, failure_of, message as message_at, step_record, written_call,
};

/// The characters shown of a collapsed message.
const LINE: usize = 160;

/// The bytes shown of a URL, which may contain data.
const ADDRESS: usize = 200;

/// Renders a message; see [`super::message::Draw`].
pub(super) fn full_message(
    reader: Reader,
    (step, place): (usize, usize),
    message: &AnyMessage,
    record: Option<&StepRecord>,
    answered: &[Option<usize>],
) -> AnyView {
    let own_call = match place.checked_sub(1) {
        Some(observation) if step > 0 => answered.get(observation).copied().flatten(),
        _ => None,
    };
    let failed = matches!(message, AnyMessage::Response(response) if is_failure(&response.body));
    let role = message.role().as_str();
    let calls = match message {
        AnyMessage::Request(request) => request.tool_calls.len(),
        _ => 0,
    };
    let reads = reader
        .reading
        .map(|reading| ways_to_read(reader, reading, (step, place), calls));
    let tools = el("span")
        .class("message-tools")
        .child(own_call.map(|_| to_call()))
        .child(reads)
        .child(copy_button());
    let head = el("div")
        .class("message-head")
        .child(speaker(message))
        .child(failed.then(|| el("span").class("badge bad").child("failed")))
        .child(tools);
    // A failed step may still have results of its calls.
    let fails = record.is_some_and(|record| failure_of(record).is_some());
    let calls = match message {
        AnyMessage::Request(request) => call_views(reader, step, request, answered, fails),
        _ => Vec::new(),
    };
    let item = el("li")
        .class(format!("message {role}"))
        .attr(MESSAGE, place.to_string())
        .attr("tabindex", "-1")
        .attr(CALL, own_call.map(|call| call.to_string()))
        .child(head)
        .child(record.and_then(|record| thinking(reader, step, record)));
    let item = match reader.reading {
        None => item
            .child(body(reader, (step, place), message))
            .child(calls),
        Some(reading) => item.child(read_body(
            reader,
            reading,
            (step, place),
            kind_of(message),
            calls,
        )),
    };
    item.child(record.and_then(|record| model_exchange(reader, step, record)))
        .view()
}

fn kind_of(message: &AnyMessage) -> Kind {
    match message {
        AnyMessage::Response(_) => Kind::Tools,
        AnyMessage::Plain(_) | AnyMessage::Request(_) => Kind::Messages,
    }
}

/// Looks up a message that is no longer at hand.
fn look<T>(
    reader: Reader,
    (step, place): (usize, usize),
    look: impl FnOnce(&AnyMessage) -> T,
) -> Option<T> {
    reader
        .episode
        .with_untracked(|episode| message_at(episode, step, place).map(look))
}

/// The content of a message in Review: collapsed to a line, as JSON, or in full.
fn read_body(
    reader: Reader,
    reading: Reading,
    at: (usize, usize),
    kind: Kind,
    calls: Vec<AnyView>,
) -> AnyView {
    let own = reading.own(at.0, Spot::Message(at.1));
    let state = Memo::new(move |_| {
        let own = own.get();
        (own.raw, reading.is_folded(kind, own))
    });
    let body = dynamic(move || match state.get() {
        (true, _) => {
            let json = look(reader, at, native::message_to_json).unwrap_or(Json::Null);
            let fold = reader.fold((at.0, at.1, usize::MAX - 1));
            el("div")
                .class("message-body")
                .child(json_text(&json, fold))
                .view()
        }
        (false, true) => {
            let line = look(reader, at, |message| {
                (
                    first_line(message, LINE),
                    message.body().content_or_empty().len(),
                )
            });
            match line {
                Some((line, size)) if size > 0 => {
                    fold_line(reader, reading, at, &line, size).view()
                }
                _ => nothing(),
            }
        }
        (false, false) => look(reader, at, |message| body(reader, at, message))
            .flatten()
            .map_or_else(nothing, El::view),
    });
    // The JSON of a message includes its calls.
    let class = words(move || {
        if state.get().0 {
            "calls as-json"
        } else {
            "calls"
        }
        .to_owned()
    });
    let calls = (!calls.is_empty()).then(|| el("div").class(class).child(calls));
    all(vec![body, calls.map_or_else(nothing, El::view)])
}

/// A collapsed message: its first line, which expands it.
fn fold_line(
    reader: Reader,
    reading: Reading,
    (step, place): (usize, usize),
    line: &str,
    size: usize,
) -> El {
    let unfold = move || {
        reading.open(step, Spot::Message(place));
        // The button is gone by then; the focus goes to what it opened.
        browser::timers::next_frame(move || {
            reader.focus(step, place);
        });
    };
    button("fold-line")
        .attr("aria-expanded", "false")
        .on_click(unfold)
        .child(icon(Glyph::Chevron))
        .child(inert_in("span", "fold-words", line))
        .child(el("span").class("faint").child(size_text(size)))
}

/// Buttons that collapse a message with its calls, and show it as JSON.
fn ways_to_read(
    reader: Reader,
    reading: Reading,
    (step, place): (usize, usize),
    calls: usize,
) -> AnyView {
    let own = reading.own(step, Spot::Message(place));
    let kind = look(reader, (step, place), kind_of).unwrap_or(Kind::Messages);
    let is_folded = Memo::new(move |_| {
        let message = reading.is_folded(kind, own.get());
        let calls = if place == 0 { calls } else { 0 };
        let folded =
            |call| reading.is_folded(Kind::Tools, reading.own(step, Spot::Call(call)).get());
        message && (0..calls).all(folded)
    });
    let fold = move || {
        let fold = Some(!is_folded.get_untracked());
        own.update(|own| own.folded = fold);
        for call in 0..calls {
            reading
                .own(step, Spot::Call(call))
                .update(|own| own.folded = fold);
        }
    };
    let name = words(move || {
        if is_folded.get() {
            "Expand"
        } else {
            "Collapse"
        }
        .to_owned()
    });
    let class = words(move || {
        let turned = if is_folded.get() { "" } else { " turned" };
        format!("quiet small icon-button{turned}")
    });
    all(vec![
        el("button")
            .attr("type", "button")
            .class(class)
            .attr("title", name)
            .attr("aria-label", name)
            .on_click(fold)
            .child(icon(Glyph::Chevron))
            .view(),
        button("quiet small json-toggle")
            .attr("title", "Show as JSON")
            .attr("aria-label", "JSON")
            .attr("aria-pressed", words(move || own.get().raw.to_string()))
            .on_click(move || own.update(|own| own.raw = !own.raw))
            .child("{}")
            .view(),
    ])
}

/// A link from a result to its call.
pub(super) fn to_call() -> El {
    icon_button("quiet small icon-up", "Go to call").attr(GO, "0")
}

fn call_views(
    reader: Reader,
    step: usize,
    request: &ToolRequestMessage,
    answered: &[Option<usize>],
    fails: bool,
) -> Vec<AnyView> {
    let calls = request.tool_calls.iter().enumerate();
    calls
        .map(|(number, call)| {
            let answer = answered.iter().position(|known| *known == Some(number));
            // Message 0 is the action itself.
            let answer = answer
                .map(|place| place + 1)
                .or(fails.then_some(FAILURE_PLACE));
            if &*call.function.name == INVALID {
                let written = written_call(request, &call.id);
                return invalid_call_view(reader, (step, number), written, answer);
            }
            call_view(reader, (step, number), call, answer)
        })
        .collect()
}

/// The clipboard text: the content, or the whole action as JSON, or the failure.
pub(super) fn copied(episode: &Episode, step: usize, place: usize) -> Option<String> {
    let Some(message) = message_at(episode, step, place) else {
        return Some(failure_of(step_record(episode, step)?)?.to_string());
    };
    match message {
        AnyMessage::Request(request) if !request.tool_calls.is_empty() => {
            let message = AnyMessage::Request(request.clone());
            Some(native::message_to_json(&message).to_python_text_indented(2))
        }
        message => message.body().content.as_ref().map(|text| text.to_string()),
    }
}

fn body(reader: Reader, (step, place): (usize, usize), message: &AnyMessage) -> Option<El> {
    let content = content(message.body());
    if content == Content::Nothing {
        return None;
    }
    let id = reader.reading.and_then(|_| {
        holder_id(Place {
            step,
            message: place,
            part: TextPart::Content,
        })
    });
    let holder = el("div").class("message-body").attr("id", id);
    Some(holder.child(content_view(reader, (step, place), message, content)))
}

fn content_view(
    reader: Reader,
    (step, place): (usize, usize),
    message: &AnyMessage,
    content: Content,
) -> AnyView {
    let manner = |text: &str| manner(message, text);
    let json = |value: &Json, part: usize| json_text(value, reader.fold((step, place, part)));
    match content {
        Content::Nothing => nothing(),
        Content::Text(text) => {
            let manner = manner(&text);
            message_text(reader, (step, place, 0), text, 0, manner)
        }
        Content::Json(value) => json(&value, 0),
        Content::Parts(parts) => {
            // The texts of all parts, one per line, form one text for passages.
            let mut at = 0;
            let parts = parts
                .into_iter()
                .enumerate()
                .map(|(number, part)| match part {
                    Part::Text(text) => {
                        let manner = manner(&text);
                        let from = at;
                        at += text.chars().count() + 1;
                        message_text(reader, (step, place, number), text, from, manner)
                    }
                    Part::Image(address) => image(number, &address).view(),
                    Part::ImageElsewhere(address) => el("p")
                        .class("text faint")
                        .attr("data-skip", "")
                        .child("Image not loaded: ")
                        .child(inert_in(
                            "span",
                            "image-address",
                            address.get(..cut_at(&address, ADDRESS)).unwrap_or_default(),
                        ))
                        .view(),
                    Part::Other(value) => el("div")
                        .attr("data-skip", "")
                        .child(json(&value, number))
                        .view(),
                });
            all(parts.collect())
        }
    }
}

fn image(number: usize, address: &str) -> El {
    let words = format!("Image {} ({})", number + 1, size_text(address.len()));
    el("img")
        .class("message-image")
        .attr("src", address.to_owned())
        .attr("alt", words)
}
