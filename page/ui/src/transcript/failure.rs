//! The reason why a step failed, shown in place of the results of its calls.

use leptos::prelude::*;
use volary_core::AnyMessage;
use volary_episode::StepRecord;
use volary_episode::passages::{TextPart, TextPosition};
use volary_view::highlight::holder_id;
use volary_view::transcript::{FAILURE_PLACE, failure_of};

use super::context::{CopyMessage, ToCall, TranscriptContext};
use super::message_text::{Manner, message_text};
use super::speaker::MarkedSpeaker;
use crate::prose::plain;
use crate::text::inert;

/// Failures of up to this number of bytes are shown in full, including tracebacks.
const WHOLE_FAILURE: usize = 20_000;

/// Renders the failure of a step as a list item, like a result. Returns `None` if the step did not fail.
pub(super) fn failure(
    context: TranscriptContext,
    step: usize,
    record: &StepRecord,
) -> Option<AnyView> {
    let why = failure_of(record)?;
    let only_call = match &record.action {
        AnyMessage::Request(request) if request.tool_calls.len() == 1 => Some("0"),
        _ => None,
    };
    let text = match (why.len() <= WHOLE_FAILURE, context.reading) {
        (true, None) => view! { <div class="text" dir="auto">{inert(why)}</div> }.into_any(),
        (true, Some(_)) => view! { <div class="text" dir="auto">{plain(why, 0)}</div> }.into_any(),
        (false, _) => {
            let place = (step, FAILURE_PLACE, 0);
            message_text(context, place, why.clone(), 0, Manner::Plain)
        }
    };
    let id = context.reading.and_then(|_| {
        holder_id(TextPosition {
            step,
            message: 0,
            part: TextPart::Error(0),
        })
    });
    let item = view! {
        <li
            class="message failure"
            data-message=FAILURE_PLACE.to_string()
            tabindex="-1"
            data-call=only_call
        >
            <div class="message-head">
                <MarkedSpeaker class="speaker" before="This step " name="failed"/>
                <span class="message-tools">
                    {only_call.map(|_| view! { <ToCall/> })}
                    <CopyMessage/>
                </span>
            </div>
            <div class="message-body" id=id>{text}</div>
        </li>
    };
    Some(item.into_any())
}
