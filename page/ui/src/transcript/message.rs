//! A message: its speaker, reasoning, texts, values, images and calls, links between calls and results, and usage.
//! [`super::read_message`] draws what only Review has: collapsing, and other ways to show it.

use leptos::prelude::*;
use volary_core::message::ToolRequestMessage;
use volary_core::quantity::size_text;
use volary_core::tool::call::INVALID;
use volary_core::{AnyMessage, Json};
use volary_episode::StepRecord;
use volary_episode::passages::{TextPart, TextPosition};
use volary_view::asking::reasoning;
use volary_view::content::{Content, ContentPart, is_failure, message_content, redacted_reasoning};
use volary_view::highlight::holder_id;
use volary_view::plain_words::plain_result;
use volary_view::text::cut_at;
use volary_view::transcript::{answer_of, failure_of, written_call};

use super::call::{call_view, invalid_call_view};
use super::context::{CopyMessage, ToCall, TranscriptContext};
use super::message_text::{manner, message_text};
use super::model_exchange::{inline_thinking, model_exchange, thinking};
use super::speaker::speaker;
use crate::json_text::json_text;
use crate::text::inert;

/// Maximum number of bytes shown of a URL, which may be a `data:` URL.
const ADDRESS: usize = 200;

/// Renders a message. Arguments: step and index of the message, the message, the step's record if the message is its
/// action, and the call that each observation answers.
pub(super) fn message_item(
    context: TranscriptContext,
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
    // A failed step may still have results of some calls.
    let fails = record.is_some_and(|record| failure_of(record).is_some());
    let call_views = match message {
        AnyMessage::Request(request) => call_views(context, step, request, answered, fails),
        _ => Vec::new(),
    };
    let at = (step, place);
    let (ways, body) = match context.reading {
        None => {
            let body = body(context, at, message);
            (None, view! { {body} {call_views} }.into_any())
        }
        Some(reading) => (
            Some((reading.views.tools)(context, reading, at, calls)),
            (reading.views.body)(context, reading, at, call_views),
        ),
    };
    view! {
        <li
            class=format!("message {role}")
            data-message=place.to_string()
            tabindex="-1"
            data-call=own_call.map(|call| call.to_string())
        >
            <div class="message-head">
                {speaker(context, step, message)}
                {failed.then(|| view! { <span class="badge bad">"failed"</span> })}
                <span class="message-tools">
                    {own_call.map(|_| view! { <ToCall/> })}
                    {ways}
                    <CopyMessage/>
                </span>
            </div>
            {redacted(message)}
            {record.and_then(|record| thinking(context, step, record))}
            {body}
            {meaning(context, message)}
            {is_bare(message, record).then(|| no_text(message))}
            {record.and_then(|record| model_exchange(context, step, record))}
            {context.reading.map(|reading| (reading.views.token_strip)(reading, at))}
        </li>
    }
    .into_any()
}

/// What the result of a tool means, in plain words.
fn meaning(context: TranscriptContext, message: &AnyMessage) -> Option<AnyView> {
    let AnyMessage::Response(response) = message else {
        return None;
    };
    let Content::Text(result) = message_content(message) else {
        return None;
    };
    let plain = context.episode.with_untracked(|episode| {
        let environment = episode.recipe.as_ref().map(|recipe| &*recipe.environment);
        plain_result(environment, &response.name, &result)
    });
    Some(view! { <p class="help" data-skip="">{plain?}</p> }.into_any())
}

/// Whether there is nothing to show of a message: no content, calls, reasoning or failure.
fn is_bare(message: &AnyMessage, record: Option<&StepRecord>) -> bool {
    let has_calls =
        matches!(message, AnyMessage::Request(request) if !request.tool_calls.is_empty());
    let has_more = record.is_some_and(|record| {
        let errors = &record.details.errors;
        reasoning(record).is_some() || failure_of(record).is_some() || !errors.is_empty()
    });
    let is_redacted = !redacted_reasoning(message.body()).is_empty();
    !has_calls && !has_more && !is_redacted && message_content(message) == Content::Nothing
}

/// The encrypted reasoning next to the content of a message.
fn redacted(message: &AnyMessage) -> Vec<AnyView> {
    let sizes = redacted_reasoning(message.body()).into_iter();
    sizes.map(redacted_view).collect()
}

fn redacted_view(size: usize) -> AnyView {
    view! {
        <p class="text faint" data-skip="">
            {redacted_text(size)}
        </p>
    }
    .into_any()
}

/// What is shown of a message without anything, so that it is no empty box.
fn no_text(message: &AnyMessage) -> impl IntoView + use<> {
    let text = match message {
        AnyMessage::Response(_) => "The result is empty.",
        _ => "The message is empty.",
    };
    view! {
        <p class="text faint" data-skip="">
            {text}
        </p>
    }
}

fn redacted_text(size: usize) -> String {
    match size {
        0 => "Reasoning, encrypted by the provider.".to_owned(),
        size => format!(
            "Reasoning, encrypted by the provider ({}).",
            size_text(size as u64)
        ),
    }
}

fn call_views(
    context: TranscriptContext,
    step: usize,
    request: &ToolRequestMessage,
    answered: &[Option<usize>],
    fails: bool,
) -> Vec<AnyView> {
    let calls = request.tool_calls.iter().enumerate();
    calls
        .map(|(number, call)| {
            let answer = answer_of(number, answered, fails);
            if &*call.function.name == INVALID {
                let written = written_call(request, &call.id);
                return invalid_call_view(context, (step, number), written, answer);
            }
            call_view(context, (step, number), call, answer)
        })
        .collect()
}

/// The content of a message in full; `None` without any.
pub(super) fn body(
    context: TranscriptContext,
    (step, place): (usize, usize),
    message: &AnyMessage,
) -> Option<AnyView> {
    let content = message_content(message);
    if content == Content::Nothing {
        return None;
    }
    let id = context.reading.and_then(|_| {
        holder_id(TextPosition {
            step,
            message: place,
            part: TextPart::Content,
        })
    });
    let content = content_view(context, (step, place), message, content);
    Some(view! { <div class="message-body" id=id>{content}</div> }.into_any())
}

fn content_view(
    context: TranscriptContext,
    (step, place): (usize, usize),
    message: &AnyMessage,
    content: Content,
) -> AnyView {
    let manner = |text: &str| manner(message, text);
    let json = |value: &Json, part: usize| json_text(value, context.fold((step, place, part)));
    match content {
        Content::Nothing => ().into_any(),
        Content::Text(text) => {
            let manner = manner(&text);
            message_text(context, (step, place, 0), text, 0, manner)
        }
        Content::Json(value) => json(&value, 0),
        divided @ Content::Divided(..) => {
            let parts = divided.texts().into_iter().map(|part| {
                let place = (step, place, part.number);
                if divided.is_reasoning(part.number) {
                    inline_thinking(context, place, part.text, part.start)
                } else {
                    let manner = manner(&part.text);
                    message_text(context, place, part.text, part.start, manner)
                }
            });
            parts.collect_view().into_any()
        }
        Content::Parts(parts) => {
            // For passages, the texts of all parts form one text, separated by line breaks.
            let mut at = 0;
            let parts = parts
                .into_iter()
                .enumerate()
                .map(|(number, part)| match part {
                    ContentPart::Text(text) => {
                        let manner = manner(&text);
                        let from = at;
                        at += text.chars().count() + 1;
                        if text.trim().is_empty() {
                            return ().into_any();
                        }
                        message_text(context, (step, place, number), text, from, manner)
                    }
                    ContentPart::Image(address) => {
                        let size = size_text(address.len() as u64);
                        let words = format!("Image {} ({size})", number + 1);
                        view! { <img class="message-image" src=address.to_string() alt=words/> }
                            .into_any()
                    }
                    ContentPart::ImageElsewhere(address) => {
                        let address = address.get(..cut_at(&address, ADDRESS));
                        view! {
                            <p class="text faint" data-skip="">
                                {"Image not loaded: "}
                                <span class="image-address" dir="auto">
                                    {inert(address.unwrap_or_default())}
                                </span>
                            </p>
                        }
                        .into_any()
                    }
                    ContentPart::Redacted(size) => redacted_view(size),
                    ContentPart::Other(value) => {
                        view! { <div data-skip="">{json(&value, number)}</div> }.into_any()
                    }
                });
            parts.collect_view().into_any()
        }
    }
}
