//! History as contents.

use volary_core::json::{Json, Object};
use volary_core::{json, object};

use super::answer::read_parts;
use super::{NAME, is_before_3};
use crate::model::ModelRequest;
use crate::model::history::{Echo, Part, PastCall, Turn, image_data, is_unedited, text_of};
use crate::model::lenient::some_text;

/// What stands for the signature of calls that the model did not make.
const UNSIGNED: &str = "skip_thought_signature_validator";

/// The turns as contents. Instructions that come later than at the beginning are said in their place by the
/// user.
pub(super) fn contents(turns: &[Turn], request: &ModelRequest) -> Json {
    let modern = !is_before_3(&request.model);
    let mut contents = Vec::new();
    for turn in turns {
        match turn {
            Turn::System(text) => {
                contents.push(said("user", vec![json!({"text": (text.as_str())})]));
            }
            Turn::User(parts) => contents.push(said("user", parts.iter().map(part).collect())),
            Turn::Assistant { text, calls, echo } => {
                let echoed = echo
                    .as_ref()
                    .and_then(|echo| unedited(echo, request, text, calls));
                let ids = echoed.map(call_ids).unwrap_or_default();
                let parts = match echoed {
                    Some(parts) => parts.to_vec(),
                    None => model_parts(text, calls, modern),
                };
                contents.push(said("model", parts));
                answers(calls, &ids, modern, &mut contents);
            }
        }
    }
    Json::List(contents)
}

/// The parts as they came, if they still are what was said and called.
fn unedited<'a>(
    echo: &'a Echo,
    request: &ModelRequest,
    text: &str,
    calls: &[PastCall],
) -> Option<&'a [Json]> {
    let parts = echo.parts_for(NAME, request)?;
    is_unedited(&read_parts(parts), text, calls).then_some(parts)
}

/// The ids that the provider gave to its calls; it need not give any.
fn call_ids(parts: &[Json]) -> Vec<Option<Json>> {
    let calls = parts.iter().filter_map(|part| part.get("functionCall"));
    calls
        .map(|call| some_text(call, "id").map(Json::Text))
        .collect()
}

fn said(role: &str, parts: Vec<Json>) -> Json {
    json!({"role": role, "parts": (Json::List(parts))})
}

fn model_parts(text: &str, calls: &[PastCall], modern: bool) -> Vec<Json> {
    let mut parts = Vec::new();
    if !text.trim().is_empty() {
        parts.push(json!({"text": text}));
    }
    for (place, call) in calls.iter().enumerate() {
        let mut part = object!({
            "functionCall": {"name": (call.name.clone()), "args": (call.arguments.clone())}
        });
        // Of several calls at once, the first one bears the signature.
        if modern && place == 0 {
            part.insert("thoughtSignature", UNSIGNED);
        }
        parts.push(Json::Object(part));
    }
    parts
}

fn part(part: &Part) -> Json {
    match part {
        Part::Text(text) => json!({"text": (text.as_str())}),
        Part::Image(url) => match image_data(url) {
            Some((kind, data)) => json!({"inlineData": {"mimeType": kind, "data": data}}),
            None => {
                let mut file = object!({"fileUri": (url.as_str())});
                if let Some(kind) = image_kind(url) {
                    file.insert("mimeType", kind);
                }
                json!({"fileData": file})
            }
        },
    }
}

/// The type of an image by the end of its address.
fn image_kind(url: &str) -> Option<&'static str> {
    let path = url.split(['?', '#']).next()?.to_ascii_lowercase();
    let (_, extension) = path.rsplit_once('.')?;
    match extension {
        "png" => Some("image/png"),
        "jpg" | "jpeg" => Some("image/jpeg"),
        "webp" => Some("image/webp"),
        "gif" => Some("image/gif"),
        _ => None,
    }
}

/// The answers to calls, in one content; their images inside of them, or in a content after it.
fn answers(calls: &[PastCall], ids: &[Option<Json>], modern: bool, contents: &mut Vec<Json>) {
    if calls.is_empty() {
        return;
    }
    let mut images = Vec::new();
    let mut parts = Vec::with_capacity(calls.len());
    for (place, call) in calls.iter().enumerate() {
        let mut response = Object::new();
        if let Some(Some(id)) = ids.get(place) {
            response.insert("id", id.clone());
        }
        response.insert("name", call.name.clone());
        response.insert(
            "response",
            object!({"output": (text_of(call.answer.clone()))}),
        );
        let inside = call.answer.iter();
        let inside = inside.filter(|part| matches!(part, Part::Image(_)));
        let inside: Vec<Json> = inside.map(part).collect();
        if modern && !inside.is_empty() {
            response.insert("parts", inside);
        } else {
            images.extend(inside);
        }
        parts.push(json!({"functionResponse": response}));
    }
    contents.push(said("user", parts));
    if !images.is_empty() {
        contents.push(said("user", images));
    }
}
