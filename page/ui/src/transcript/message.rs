//! A message of the transcript as the first load shows it: speaker and text. The code for all other features is in
//! [`super::full_message`] and lazily loaded.

use leptos::prelude::*;
use volary_core::AnyMessage;
use volary_core::message::ToolResponseMessage;
use volary_episode::{Episode, StepRecord};
use volary_view::content::{Content, content};
use volary_view::plain_words::plain_speaker;

use super::context::{CopyMessage, TranscriptContext};
use crate::later::Later;
use crate::text::{folded_text, inert_name};

/// Renders a message. Arguments: step and index of the message, the message, the step's record if the message is its
/// action, and the call that each observation answers.
pub(super) type Draw = fn(
    TranscriptContext,
    (usize, usize),
    &AnyMessage,
    Option<&StepRecord>,
    &[Option<usize>],
) -> AnyView;

pub(super) static WHOLE: Later<Draw> = Later::new();

/// Renders the failure of a step in place of its results. Returns `None` if the step did not fail.
type Failure = fn(TranscriptContext, usize, &StepRecord) -> Option<AnyView>;

pub(super) static FAILURE: Later<Failure> = Later::new();

/// The text of a message for the clipboard.
type Copied = fn(&Episode, usize, usize) -> Option<String>;

pub(super) static COPIED: Later<Copied> = Later::new();

/// Renders a message; see [`Draw`].
pub(super) fn message_item(
    context: TranscriptContext,
    (step, place): (usize, usize),
    message: &AnyMessage,
    record: Option<&StepRecord>,
    answered: &[Option<usize>],
) -> AnyView {
    if let Some(draw) = WHOLE.get() {
        return draw(context, (step, place), message, record, answered);
    }
    let body = match content(message.body()) {
        Content::Text(said) => Some(folded_text(said, context.fold((step, place, 0)))),
        _ => None,
    };
    view! {
        <li
            class=format!("message {}", message.role().as_str())
            data-message=place.to_string()
            tabindex="-1"
        >
            <div class="message-head">
                {speaker(context, step, message)}
                <span class="message-tools">
                    <CopyMessage/>
                </span>
            </div>
            {body.map(|body| view! { <div class="message-body">{body}</div> })}
        </li>
    }
    .into_any()
}

/// The clipboard text of a message; `None` until its code is loaded.
pub(super) fn copied(context: TranscriptContext, (step, place): (usize, usize)) -> Option<String> {
    let episode = context.episode;
    episode.with_untracked(|episode| COPIED.get()?(episode, step, place))
}

/// The speaker of a message: its role, or the name of the tool. The task of an environment is called that.
pub(super) fn speaker(context: TranscriptContext, step: usize, message: &AnyMessage) -> AnyView {
    let plain = context
        .episode
        .with_untracked(|episode| plain_speaker(episode, step, message));
    match message {
        AnyMessage::Response(ToolResponseMessage { name, .. }) => view! {
            <MarkedSpeaker class="speaker tool-name" before="tool " name=name.to_string()/>
        }
        .into_any(),
        other => {
            let role = other.role().as_str();
            let term = plain.map(|plain| view! { {plain} " " });
            let class = if plain.is_some() { "term" } else { "" };
            view! {
                <span class="speaker">
                    {term} <span class=class>{role}</span>
                </span>
            }
            .into_any()
        }
    }
}

/// A speaker with a prefix for users who cannot see the styling.
#[component]
pub(super) fn MarkedSpeaker(
    /// The CSS classes.
    class: &'static str,
    /// The prefix.
    before: &'static str,
    #[prop(into)] name: String,
) -> impl IntoView {
    view! {
        <span class=class>
            <span class="visually-hidden">{before}</span>
            <bdi>{inert_name(&name)}</bdi>
        </span>
    }
}
