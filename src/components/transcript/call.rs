//! A tool call: the tool's name and arguments, with a link to its result.

use leptos::prelude::*;
use volary_core::json::{Object, Text};
use volary_core::{Json, ToolCall};
use volary_trajectory::passages::{Part, Place};

use super::reader::{CALL, GO, Reader, TextPlace, icon_button};
use super::reading::{Kind, Reading, Spot};
use crate::components::erased::{dynamic, words};
use crate::components::json_text::{json_text, token_class};
use crate::components::markup::{El, all, button, el};
use crate::components::text::{folded_text, inert_in};
use crate::projection::content::is_short;
use crate::projection::highlight::holder_id;
use crate::projection::pretty::{one_line, scalar};
use crate::projection::transcript::is_unknown_tool;

/// The characters shown of a collapsed call.
const LINE: usize = 120;

/// Renders a call of a step; `answer` is the message with its result.
pub(super) fn call_view(
    reader: Reader,
    (step, number): (usize, usize),
    call: &ToolCall,
    answer: Option<usize>,
) -> AnyView {
    let is_short = call.function.arguments.values().all(is_short);
    let element = el("div").attr(CALL, number.to_string());
    let element = match reader.reading {
        None => element
            .class(if is_short { "call short" } else { "call" })
            .child(inert_in("span", "tool-name", &call.function.name))
            .child(unknown_tool(reader, call))
            .child(arguments(reader, (step, number), call, is_short)),
        Some(reading) => read_call(reader, reading, (step, number), call, is_short, element),
    };
    let to_answer = answer.map(|message| {
        icon_button("quiet small to-answer icon-down", "Go to result").attr(GO, message.to_string())
    });
    element.child(to_answer).view()
}

/// The badge of a call whose tool the episode does not have.
fn unknown_tool(reader: Reader, call: &ToolCall) -> Option<AnyView> {
    let name = &call.function.name;
    let is_unknown = reader
        .episode
        .with_untracked(|episode| is_unknown_tool(episode, name));
    is_unknown.then(|| {
        all(vec![
            " ".into_any(),
            el("span").class("badge bad").child("unknown tool").view(),
        ])
    })
}

/// A call that aviary names `INVALID`: the reason, with the raw text that the model wrote if it is known.
pub(super) fn invalid_call_view(
    reader: Reader,
    (step, number): (usize, usize),
    written: Option<(Text, Text)>,
    answer: Option<usize>,
) -> AnyView {
    let (name, arguments) = written.unzip();
    let reason = match &name {
        Some(name) if name.is_empty() => "the call has no tool name",
        _ => "arguments are not valid JSON",
    };
    let place = (step, 0, part_of(number, 0));
    let raw = arguments.filter(|text| !text.is_empty()).map(|text| {
        el("div")
            .class("invalid-arguments")
            .child(folded_text(text, reader.fold(place)))
    });
    let to_answer = answer.map(|message| {
        icon_button("quiet small to-answer icon-down", "Go to result").attr(GO, message.to_string())
    });
    el("div")
        .attr(CALL, number.to_string())
        .class("call")
        .child(inert_in(
            "span",
            "tool-name",
            name.as_deref()
                .filter(|name| !name.is_empty())
                .unwrap_or("Tool call"),
        ))
        .child(" ")
        .child(el("span").class("badge bad").child(reason))
        .child(raw)
        .child(to_answer)
        .view()
}

/// A call in Review: collapsed to a line, as JSON, or in full.
fn read_call(
    reader: Reader,
    reading: Reading,
    (step, number): (usize, usize),
    call: &ToolCall,
    is_short: bool,
    element: El,
) -> El {
    let own = reading.own(step, Spot::Call(number));
    let state = Memo::new(move |_| {
        let own = own.get();
        (own.raw, reading.is_folded(Kind::Tools, own))
    });
    let class = words(move || match state.get() {
        (false, true) => "call folded".to_owned(),
        (false, false) if is_short => "call short".to_owned(),
        _ => "call".to_owned(),
    });
    let kept = call.clone();
    let arguments = dynamic(move || match state.get() {
        (true, _) => {
            let fold = reader.fold((step, 0, part_of(number, 999)));
            el("div")
                .class("call-json")
                .child(json_text(&call_json(&kept), fold))
                .view()
        }
        (false, true) => {
            let line = one_line(&Json::from(kept.function.arguments.clone()), LINE);
            inert_in("span", "call-line", &line).view()
        }
        (false, false) => arguments(reader, (step, number), &kept, is_short).view(),
    });
    let id = holder_id(Place {
        step,
        message: 0,
        part: Part::Call(number),
    });
    element
        .class(class)
        .attr("id", id)
        .child(inert_in("span", "tool-name", &call.function.name))
        .child(unknown_tool(reader, call))
        .child(arguments)
        .child(
            button("quiet small json-toggle")
                .attr("title", "Show as JSON")
                .attr("aria-label", "JSON of the call")
                .attr("aria-pressed", words(move || own.get().raw.to_string()))
                .on_click(move || own.update(|own| own.raw = !own.raw))
                .child("{}"),
        )
}

/// The part number of an argument of a call. Smaller numbers are parts of the body, which never has this many.
pub(super) fn part_of(call: usize, argument: usize) -> usize {
    1_000_000 + call * 1_000 + argument
}

fn call_json(call: &ToolCall) -> Json {
    let mut object = Object::default();
    object.insert("id", Json::from(call.id.clone()));
    object.insert("name", Json::from(call.function.name.clone()));
    object.insert("arguments", Json::from(call.function.arguments.clone()));
    Json::from(object)
}

/// The arguments, below the tool's name or on the same line.
fn arguments(reader: Reader, (step, number): (usize, usize), call: &ToolCall, in_line: bool) -> El {
    let list = el("dl").class("arguments");
    let arguments = call.function.arguments.iter().enumerate();
    arguments.fold(list, |list, (place, (name, value))| {
        let class = match is_short(value) {
            true => "argument short",
            false => "argument",
        };
        let name = inert_in("dt", "argument-name", name);
        let value = argument_value(reader, (step, 0, part_of(number, place)), value);
        match in_line {
            // A line break is allowed before each argument.
            true => list.child(" ").child(name).child(value),
            false => list.child(el("div").class(class).child(name).child(value)),
        }
    })
}

fn argument_value(reader: Reader, place: TextPlace, value: &Json) -> El {
    match value {
        // Multi-line strings are shown unescaped.
        Json::Text(text) if !is_short(value) => {
            el("dd").child(folded_text(text.clone(), reader.fold(place)))
        }
        Json::List(_) | Json::Object(_) => el("dd").child(json_text(value, reader.fold(place))),
        other => {
            let (kind, text) = scalar(other);
            inert_in("dd", token_class(kind), &text)
        }
    }
}
