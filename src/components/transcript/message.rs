//! A message of the transcript as the first load shows it: speaker and text. The code for everything else is in
//! [`super::whole`] and loaded later.

use leptos::prelude::*;
use volary_core::AnyMessage;
use volary_core::message::ToolResponseMessage;
use volary_trajectory::{Episode, StepRecord};

use super::reader::{COPY, MESSAGE, Reader, icon_button};
use crate::components::icon::hidden_name;
use crate::components::markup::{El, el};
use crate::components::text::{folded_text, inert_name};
use crate::later::Later;
use crate::projection::content::{Content, content};

/// Renders a message: the step and the index of the message in it, the message, the step's record if the
/// message is its action, and which call each observation answers.
pub(super) type Draw =
    fn(Reader, (usize, usize), &AnyMessage, Option<&StepRecord>, &[Option<usize>]) -> AnyView;

pub(super) static WHOLE: Later<Draw> = Later::new();

/// Renders the failure of a step in place of its results, if it failed.
type Failure = fn(Reader, usize, &StepRecord) -> Option<AnyView>;

pub(super) static FAILURE: Later<Failure> = Later::new();

/// The text of a message for the clipboard.
type Copied = fn(&Episode, usize, usize) -> Option<String>;

pub(super) static COPIED: Later<Copied> = Later::new();

/// Renders a message; see [`Draw`].
pub(super) fn message_item(
    reader: Reader,
    (step, place): (usize, usize),
    message: &AnyMessage,
    record: Option<&StepRecord>,
    answered: &[Option<usize>],
) -> AnyView {
    if let Some(draw) = WHOLE.get() {
        return draw(reader, (step, place), message, record, answered);
    }
    let body = match content(message.body()) {
        Content::Text(said) => Some(folded_text(said, reader.fold((step, place, 0)))),
        _ => None,
    };
    el("li")
        .class(format!("message {}", message.role().as_str()))
        .attr(MESSAGE, place.to_string())
        .attr("tabindex", "-1")
        .child(
            el("div")
                .class("message-head")
                .child(speaker(message))
                .child(el("span").class("message-tools").child(copy_button())),
        )
        .child(body.map(|body| el("div").class("message-body").child(body)))
        .view()
}

/// Copies the message that contains it.
pub(super) fn copy_button() -> El {
    icon_button("quiet small icon-copy", "Copy").attr(COPY, true)
}

/// The clipboard text of a message; none until its code is loaded.
pub(super) fn copied(reader: Reader, (step, place): (usize, usize)) -> Option<String> {
    let episode = reader.episode;
    episode.with_untracked(|episode| COPIED.get()?(episode, step, place))
}

pub(super) fn speaker(message: &AnyMessage) -> El {
    match message {
        AnyMessage::Response(ToolResponseMessage { name, .. }) => {
            marked_speaker("speaker tool-name", "tool ", name)
        }
        other => el("span").class("speaker").child(other.role().as_str()),
    }
}

/// A speaker, prefixed with a word for readers who cannot see the styling.
pub(super) fn marked_speaker(class: &'static str, before: &'static str, name: &str) -> El {
    el("span")
        .class(class)
        .child(hidden_name(before))
        .child(el("bdi").child(inert_name(name)))
}
