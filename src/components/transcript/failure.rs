//! Why a step failed, in place of the results of its calls.

use leptos::prelude::*;
use volary_core::AnyMessage;
use volary_trajectory::StepRecord;
use volary_trajectory::passages::{Part, Place};

use super::full_message::to_call;
use super::message::{copy_button, marked_speaker};
use super::message_text::{Manner, message_text};
use super::reader::{CALL, MESSAGE, Reader};
use crate::components::markup::el;
use crate::components::prose::plain;
use crate::components::text::inert_in;
use crate::projection::highlight::holder_id;
use crate::projection::transcript::{FAILURE_PLACE, failure_of};

/// Failures up to this size in bytes are shown in full, including tracebacks.
const WHOLE_FAILURE: usize = 20_000;

/// Renders the failure of a step as a list item like a result; see [`super::message::Failure`].
pub(super) fn failure(reader: Reader, step: usize, record: &StepRecord) -> Option<AnyView> {
    let why = failure_of(record)?;
    let only_call = match &record.action {
        AnyMessage::Request(request) if request.tool_calls.len() == 1 => Some("0"),
        _ => None,
    };
    let tools = el("span")
        .class("message-tools")
        .child(only_call.map(|_| to_call()))
        .child(copy_button());
    let head = el("div")
        .class("message-head")
        .child(marked_speaker("speaker", "This step ", "failed"))
        .child(tools);
    let text = match (why.len() <= WHOLE_FAILURE, reader.reading) {
        (true, None) => inert_in("div", "text", why).view(),
        (true, Some(_)) => el("div")
            .class("text")
            .attr("dir", "auto")
            .child(plain(why, 0))
            .view(),
        (false, _) => {
            let place = (step, FAILURE_PLACE, 0);
            message_text(reader, place, why.clone(), 0, Manner::Plain)
        }
    };
    let id = reader.reading.and_then(|_| {
        holder_id(Place {
            step,
            message: 0,
            part: Part::Error(0),
        })
    });
    let body = el("div").class("message-body").attr("id", id).child(text);
    let item = el("li")
        .class("message failure")
        .attr(MESSAGE, FAILURE_PLACE.to_string())
        .attr("tabindex", "-1")
        .attr(CALL, only_call)
        .child(head)
        .child(body);
    Some(item.view())
}
