//! A message of the transcript: who speaks, and what is said.

use leptos::prelude::*;
use volary_core::json::Text;
use volary_core::message::{Body, ToolResponseMessage};
use volary_core::{AnyMessage, Json};
use volary_trace::Episode;

use super::call::call_view;
use super::reader::{Reader, message_id};
use crate::components::copy_button::CopyButton;
use crate::components::erased::{self, flag, pressed};
use crate::components::icon::{Glyph, Icon};
use crate::components::json_text::JsonText;
use crate::components::text::{FoldedText, inert, inert_name};
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
    let pointed =
        flag(move || own_call.is_some_and(|call| reader.pointed.get() == Some((step, call))));
    let point = move |at: bool| {
        if let Some(call) = own_call {
            reader.pointed.set(at.then_some((step, call)));
        }
    };
    view! {
        <li
            class=format!("message {}", message.role().as_str())
            class:failed=failed
            class:pointed=pointed
            id=message_id(step, place)
            tabindex="-1"
            on:pointerenter=erased::pointed(move |_| point(true))
            on:pointerleave=erased::pointed(move |_| point(false))
            on:focusin=erased::focused(move |_| point(true))
            on:focusout=erased::focused(move |_| point(false))
        >
            <div class="message-head">
                {speaker(message)}
                {failed.then(|| view! { <span class="badge bad">"failed"</span> })}
                <span class="message-tools">
                    {own_call.map(|_| to_call(reader, step))}
                    <CopyButton text=copied(reader, step, place) label="Copy" icon_only=true />
                </span>
            </div>
            {body_view(reader, (step, place), message.body())}
            {match message {
                AnyMessage::Request(request) => Some(calls(reader, step, &request.tool_calls, answered)),
                _ => None,
            }}
        </li>
    }
    .into_any()
}

fn speaker(message: &AnyMessage) -> AnyView {
    match message {
        AnyMessage::Response(ToolResponseMessage { name, .. }) => view! {
            <span class="speaker tool-name">
                <span class="visually-hidden">"tool "</span>
                <bdi>{inert_name(name)}</bdi>
            </span>
        }
        .into_any(),
        other => view! { <span class="speaker">{other.role().as_str()}</span> }.into_any(),
    }
}

/// Leads from a response to its call.
fn to_call(reader: Reader, step: usize) -> AnyView {
    let go = pressed(move |_| reader.go(step, 0));
    view! {
        <button
            type="button"
            class="quiet small"
            title="To the call"
            on:click=go
        >
            <Icon glyph=Glyph::Up />
            <span class="visually-hidden">"To the call"</span>
        </button>
    }
    .into_any()
}

fn calls(
    reader: Reader,
    step: usize,
    calls: &[volary_core::ToolCall],
    answered: &[Option<usize>],
) -> AnyView {
    calls
        .iter()
        .enumerate()
        .map(|(number, call)| {
            let answer = answered.iter().position(|known| *known == Some(number));
            // Message 0 is the action itself.
            call_view(reader, (step, number), call, answer.map(|place| place + 1))
        })
        .collect_view()
        .into_any()
}

/// What is put into the clipboard: the content as it is, or the whole action as JSON.
fn copied(reader: Reader, step: usize, place: usize) -> Callback<(), String> {
    let text = move |episode: &Episode| match message_at(episode, step, place)? {
        AnyMessage::Request(request) if !request.tool_calls.is_empty() => {
            let message = AnyMessage::Request(request.clone());
            Some(volary_trace::native::message_to_json(&message).to_python_text_indented(2))
        }
        message => message.body().content.as_ref().map(|text| text.to_string()),
    };
    Callback::new(move |()| {
        reader
            .episode
            .with_untracked(|episode| text(episode))
            .unwrap_or_default()
    })
}

fn body_view(reader: Reader, (step, place): (usize, usize), body: &Body) -> AnyView {
    let text = |text: Text, part: usize| {
        let fold = reader.fold((step, place, part));
        view! { <FoldedText text fold /> }.into_any()
    };
    let json = |value: Json, part: usize| {
        let fold = reader.fold((step, place, part));
        view! { <JsonText value fold /> }.into_any()
    };
    let body = match content(body) {
        Content::Nothing => return ().into_any(),
        Content::Text(said) => text(said, 0),
        Content::Json(value) => json(value, 0),
        Content::Parts(parts) => parts
            .into_iter()
            .enumerate()
            .map(|(number, part)| match part {
                Part::Text(said) => text(said, number),
                Part::Image(address) => {
                    let words = format!("Image {} ({})", number + 1, size_text(address.len()));
                    view! { <img class="message-image" src=address.to_string() alt=words /> }
                        .into_any()
                }
                Part::ImageElsewhere(address) => view! {
                    <p class="text faint">"Image, not loaded: "<span dir="auto">{inert(&address)}</span></p>
                }
                .into_any(),
                Part::Other(value) => json(value, number),
            })
            .collect_view()
            .into_any(),
    };
    view! { <div class="message-body">{body}</div> }.into_any()
}
