//! Converts history to contents.

use volary_core::json::{Json, Text};

use super::answer::read_parts;
use super::wire::{
    FileData, FunctionResponse, InlineData, MadePart, ReplyPart, ResponseOutput, Role, SentCall,
    SentContent, SentPart, SignedCall,
};
use super::{NAME, is_before_3};
use crate::model::ModelRequest;
use crate::model::history::{ContentPart, Echo, PastCall, Turn, image_data, is_unedited, text_of};
use crate::model::lenient::read_or_default;

/// The placeholder signature of calls that the model did not make.
const UNSIGNED: &str = "skip_thought_signature_validator";

/// The turns as contents. Instructions after the beginning become user text at their position.
pub(super) fn contents(turns: &[Turn], request: &ModelRequest) -> Vec<SentContent> {
    let modern = !is_before_3(&request.model);
    let mut contents = Vec::new();
    for turn in turns {
        match turn {
            Turn::System(text) => {
                contents.push(said(Role::User, vec![SentPart::text(text)]));
            }
            Turn::User(parts) => {
                contents.push(said(Role::User, parts.iter().map(part).collect()));
            }
            Turn::Assistant { text, calls, echo } => {
                let echoed = echo
                    .as_ref()
                    .and_then(|echo| unedited(echo, request, text, calls));
                let ids = echoed.map(call_ids).unwrap_or_default();
                let parts = match echoed {
                    Some(parts) => parts.iter().cloned().map(SentPart::Echo).collect(),
                    None => model_parts(text, calls, modern),
                };
                contents.push(said(Role::Model, parts));
                answers(calls, &ids, modern, &mut contents);
            }
        }
    }
    contents
}

/// The echoed parts, if text and calls are still unedited.
fn unedited<'a>(
    echo: &'a Echo,
    request: &ModelRequest,
    text: &str,
    calls: &[PastCall],
) -> Option<&'a [Json]> {
    let parts = echo.parts_for(NAME, request)?;
    is_unedited(&read_parts(parts), text, calls).then_some(parts)
}

/// The ids that the provider assigned to its calls; they are optional.
fn call_ids(parts: &[Json]) -> Vec<Option<Text>> {
    let parts = parts.iter().map(read_or_default::<ReplyPart>);
    let calls = parts.filter_map(|part| part.function_call.0);
    calls.map(|call| call.id.not_empty().cloned()).collect()
}

fn said(role: Role, parts: Vec<SentPart>) -> SentContent {
    SentContent { role, parts }
}

fn model_parts(text: &str, calls: &[PastCall], modern: bool) -> Vec<SentPart> {
    let mut parts = Vec::new();
    if !text.trim().is_empty() {
        parts.push(SentPart::text(text));
    }
    for (index, call) in calls.iter().enumerate() {
        let function_call = SentCall {
            name: call.name.clone(),
            args: call.arguments.clone(),
        };
        // Of parallel calls, the first one carries the signature.
        parts.push(if modern && index == 0 {
            SentPart::SignedCall(SignedCall {
                function_call,
                thought_signature: UNSIGNED.into(),
            })
        } else {
            SentPart::Made(MadePart::FunctionCall(function_call))
        });
    }
    parts
}

fn part(part: &ContentPart) -> SentPart {
    SentPart::Made(match part {
        ContentPart::Text(text) => MadePart::Text(text.as_str().into()),
        ContentPart::Image(url) => match image_data(url) {
            Some((kind, data)) => MadePart::InlineData(InlineData {
                mime_type: kind.into(),
                data: data.into(),
            }),
            None => MadePart::FileData(FileData {
                file_uri: url.as_str().into(),
                mime_type: image_kind(url).map(Text::from),
            }),
        },
    })
}

/// The media type of an image by the extension of its address.
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

/// The results of calls in one content; images inside of them, or in a content after it.
fn answers(
    calls: &[PastCall],
    ids: &[Option<Text>],
    modern: bool,
    contents: &mut Vec<SentContent>,
) {
    if calls.is_empty() {
        return;
    }
    let mut images = Vec::new();
    let mut parts = Vec::with_capacity(calls.len());
    for (index, call) in calls.iter().enumerate() {
        let inside = call.answer.iter();
        let inside = inside.filter(|part| matches!(part, ContentPart::Image(_)));
        let mut inside: Vec<SentPart> = inside.map(part).collect();
        if !modern {
            images.append(&mut inside);
        }
        parts.push(SentPart::Made(MadePart::FunctionResponse(
            FunctionResponse {
                id: ids.get(index).cloned().flatten(),
                name: call.name.clone(),
                response: ResponseOutput {
                    output: text_of(call.answer.clone()).into(),
                },
                parts: inside,
            },
        )));
    }
    contents.push(said(Role::User, parts));
    if !images.is_empty() {
        contents.push(said(Role::User, images));
    }
}
