//! Shared helpers of several formats: strict JSON, content in parts, results of steps.

use std::borrow::Cow;

use volary_core::json::{Json, Object, Text};
use volary_core::message::{Body, DumpOptions};
use volary_core::{AnyMessage, ToolResponseMessage};
use volary_episode::episode::{Outcome, StepRecord};

/// Replaces numbers that JSON cannot represent by null.
pub(super) fn strict(value: Json) -> Json {
    match value {
        Json::Float(number) if !number.is_finite() => Json::Null,
        Json::List(list) => Json::List(list.into_iter().map(strict).collect()),
        Json::Object(mut object) => {
            for value in object.values_mut() {
                *value = strict(std::mem::take(value));
            }
            Json::Object(object)
        }
        other => other,
    }
}

/// Dumps a message as aviary does, without some members. Content that is declared as JSON but is not is written as
/// text; `None` if the message cannot be dumped at all.
pub(crate) fn dumped(message: &AnyMessage, exclude: &[&str]) -> Option<Object> {
    let options = DumpOptions {
        exclude,
        ..DumpOptions::default()
    };
    let as_it_stands = DumpOptions {
        deserialize_content: false,
        ..options
    };
    let dump = message
        .dump(&options)
        .or_else(|_| message.dump(&as_it_stands));
    dump.ok()
}

/// A part of a message's content.
pub(super) enum ContentPart {
    Text(Text),
    /// An image: its URL, usually a data URL.
    Image(Text),
    /// A block of another kind.
    Other(Json),
}

/// The parts of a content: one text, or the blocks that its JSON text lists.
pub(super) fn parts(body: &Body) -> Vec<ContentPart> {
    let text = body.content.clone().unwrap_or_default();
    let list = match body.content_is_json_str.then(|| Json::parse(&text)) {
        Some(Ok(Json::List(list))) if list.iter().all(has_type) && !list.is_empty() => list,
        _ if text.is_empty() => return Vec::new(),
        _ => return vec![ContentPart::Text(text)],
    };
    list.into_iter().map(part).collect()
}

fn has_type(block: &Json) -> bool {
    block
        .get("type")
        .is_some_and(|kind| kind.as_text().is_some())
}

fn part(block: Json) -> ContentPart {
    let text = |value: Option<&Json>| value.and_then(Json::as_text).cloned();
    let found = match text(block.get("type")).as_deref() {
        Some("text") => text(block.get("text")).map(ContentPart::Text),
        Some("image_url") => {
            let url = block.get("image_url");
            let url = text(url.and_then(|url| url.get("url"))).or_else(|| text(url));
            url.map(ContentPart::Image)
        }
        _ => None,
    };
    found.unwrap_or(ContentPart::Other(block))
}

/// The result of a step. If it failed, each of its calls is answered by the failure, because most tools reject calls
/// without a response.
pub(super) fn observed(step: &StepRecord) -> Cow<'_, [AnyMessage]> {
    match (&step.outcome, &step.action) {
        (Outcome::Observed { messages, .. }, _) => Cow::Borrowed(messages),
        (Outcome::Failed { message }, AnyMessage::Request(request)) => {
            let calls = request.tool_calls.iter();
            let answer = |call| ToolResponseMessage::from_call(call, Body::text(message.clone()));
            Cow::Owned(calls.map(answer).map(AnyMessage::Response).collect())
        }
        (Outcome::Failed { .. }, _) => Cow::Borrowed(&[]),
    }
}

/// Inserts a value if it is `Some`.
pub(super) fn put(object: &mut Object, key: &'static str, value: Option<impl Into<Json>>) {
    if let Some(value) = value {
        object.insert(key, value);
    }
}

/// Converts a count to JSON.
pub(super) fn count(count: u64) -> Json {
    Json::from(i64::try_from(count).unwrap_or(i64::MAX))
}
