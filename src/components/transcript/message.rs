//! A message of the transcript: who speaks, and what is said.

use leptos::ev::Event;
use leptos::prelude::*;
use volary_core::json::Text;
use volary_core::message::{Body, ToolResponseMessage};
use volary_core::{AnyMessage, Json};
use volary_trace::Episode;

use super::call::call_view;
use super::reader::{Reader, message_id};
use crate::components::copy_button::copy_button;
use crate::components::erased::words;
use crate::components::icon::{Glyph, hidden_name, named_icon};
use crate::components::json_text::json_text;
use crate::components::markup::{El, all, button, el};
use crate::components::text::{folded_text, inert_in, inert_name};
use crate::projection::content::{Content, Part, content, is_failure};
use crate::projection::size_text;
use crate::projection::transcript::message as message_at;

/// Draws a message of a step. `answered` tells which call each observation of the step answers.
pub(super) fn message_item(
    reader: Reader,
    (step, place): (usize, usize),
    message: &AnyMessage,
    answered: &[Option<usize>],
) -> AnyView {
    let own_call = match place.checked_sub(1) {
        Some(observation) if step > 0 => answered.get(observation).copied().flatten(),
        _ => None,
    };
    let failed = matches!(message, AnyMessage::Response(response) if is_failure(&response.body));
    let role = message.role().as_str();
    let class = words(move || {
        let pointed = own_call.is_some_and(|call| reader.pointed.get() == Some((step, call)));
        match pointed {
            true => format!("message {role} pointed"),
            false => format!("message {role}"),
        }
    });
    let point = move |at: bool| {
        if let Some(call) = own_call {
            reader.pointed.set(at.then_some((step, call)));
        }
    };
    let tools = el("span")
        .class("message-tools")
        .child(own_call.map(|_| to_call(reader, step)))
        .child(copy_button(copied(reader, step, place), "Copy", true));
    let head = el("div")
        .class("message-head")
        .child(speaker(message))
        .child(failed.then(|| el("span").class("badge bad").child("failed")))
        .child(tools);
    let calls = match message {
        AnyMessage::Request(request) => calls(reader, step, &request.tool_calls, answered),
        _ => Vec::new(),
    };
    el("li")
        .class(class)
        .attr("id", message_id(step, place))
        .attr("tabindex", "-1")
        .on("pointerenter", move |_: Event| point(true))
        .on("pointerleave", move |_: Event| point(false))
        .on("focusin", move |_: Event| point(true))
        .on("focusout", move |_: Event| point(false))
        .child(head)
        .child(body_view(reader, (step, place), message.body()))
        .child(all(calls))
        .view()
}

fn speaker(message: &AnyMessage) -> El {
    match message {
        AnyMessage::Response(ToolResponseMessage { name, .. }) => el("span")
            .class("speaker tool-name")
            .child(hidden_name("tool "))
            .child(el("bdi").child(inert_name(name))),
        other => el("span").class("speaker").child(other.role().as_str()),
    }
}

/// Leads from a response to its call.
fn to_call(reader: Reader, step: usize) -> El {
    button("quiet small")
        .attr("title", "To the call")
        .on_click(move || reader.go(step, 0))
        .child(named_icon(Glyph::Up, "To the call"))
}

fn calls(
    reader: Reader,
    step: usize,
    calls: &[volary_core::ToolCall],
    answered: &[Option<usize>],
) -> Vec<AnyView> {
    let calls = calls.iter().enumerate();
    calls
        .map(|(number, call)| {
            let answer = answered.iter().position(|known| *known == Some(number));
            // Message 0 is the action itself.
            call_view(reader, (step, number), call, answer.map(|place| place + 1))
        })
        .collect()
}

/// What is put into the clipboard: the content as it is, or the whole action as JSON.
fn copied(reader: Reader, step: usize, place: usize) -> Callback<(), String> {
    Callback::new(move |()| {
        let text = |episode: &Episode| match message_at(episode, step, place)? {
            AnyMessage::Request(request) if !request.tool_calls.is_empty() => {
                let message = AnyMessage::Request(request.clone());
                let message = volary_trace::native::message_to_json(&message);
                Some(message.to_python_text_indented(2))
            }
            message => message.body().content.as_ref().map(Text::to_string),
        };
        let text = reader.episode.with_untracked(|episode| text(episode));
        text.unwrap_or_default()
    })
}

fn body_view(reader: Reader, (step, place): (usize, usize), body: &Body) -> Option<El> {
    let text = |text: Text, part: usize| folded_text(text, reader.fold((step, place, part)));
    let json = |value: &Json, part: usize| json_text(value, reader.fold((step, place, part)));
    let body = match content(body) {
        Content::Nothing => return None,
        Content::Text(said) => text(said, 0),
        Content::Json(value) => json(&value, 0),
        Content::Parts(parts) => {
            let parts = parts.into_iter().enumerate();
            all(parts
                .map(|(number, part)| match part {
                    Part::Text(said) => text(said, number),
                    Part::Image(address) => image(number, &address).view(),
                    Part::ImageElsewhere(address) => el("p")
                        .class("text faint")
                        .child("Image, not loaded: ")
                        .child(inert_in("span", "image-address", &address))
                        .view(),
                    Part::Other(value) => json(&value, number),
                })
                .collect())
        }
    };
    Some(el("div").class("message-body").child(body))
}

fn image(number: usize, address: &Text) -> El {
    let words = format!("Image {} ({})", number + 1, size_text(address.len()));
    el("img")
        .class("message-image")
        .attr("src", address.to_string())
        .attr("alt", words)
}
