//! Converts history to input items.

use volary_core::json::Json;

use super::NAME;
use super::output::read_items;
use super::wire::{
    CallType, FunctionCall, FunctionCallOutput, ImageDetail, InputContent, InputItem, InputMessage,
    InputPart, InputRole, OutputType,
};
use crate::model::ModelRequest;
use crate::model::history::{ContentPart, Echo, PastCall, Turn, is_unedited};

/// The turns as input items.
pub(super) fn input(turns: &[Turn], request: &ModelRequest) -> Vec<InputItem> {
    let mut items = Vec::new();
    for turn in turns {
        match turn {
            Turn::System(text) => items.push(said(InputRole::System, text)),
            Turn::User(parts) => items.push(InputItem::Message(InputMessage {
                role: InputRole::User,
                content: content(parts),
            })),
            Turn::Assistant { text, calls, echo } => {
                let echoed = echo
                    .as_ref()
                    .and_then(|echo| unedited(echo, request, text, calls));
                match echoed {
                    Some(echoed) => items.extend(echoed.iter().cloned().map(InputItem::Echo)),
                    None => {
                        if !text.trim().is_empty() {
                            items.push(said(InputRole::Assistant, text));
                        }
                        items.extend(calls.iter().map(call));
                    }
                }
                items.extend(calls.iter().map(output));
            }
        }
    }
    items
}

fn said(role: InputRole, text: &str) -> InputItem {
    InputItem::Message(InputMessage {
        role,
        content: InputContent::Text(text.into()),
    })
}

/// The echoed items, if text and calls are still unedited, with the same ids.
fn unedited<'a>(
    echo: &'a Echo,
    request: &ModelRequest,
    text: &str,
    calls: &[PastCall],
) -> Option<&'a [Json]> {
    let items = echo.parts_for(NAME, request)?;
    let answer = read_items(items);
    let same_ids = answer
        .calls
        .iter()
        .zip(calls)
        .all(|(given, past)| given.id == past.id);
    (same_ids && is_unedited(&answer, text, calls)).then_some(items)
}

fn content(parts: &[ContentPart]) -> InputContent {
    let parts = parts.iter().map(|part| match part {
        ContentPart::Text(text) => InputPart::InputText {
            text: text.as_str().into(),
        },
        ContentPart::Image(url) => InputPart::InputImage {
            image_url: url.as_str().into(),
            detail: ImageDetail::Auto,
        },
    });
    InputContent::Parts(parts.collect())
}

fn call(call: &PastCall) -> InputItem {
    InputItem::Call(FunctionCall {
        kind: CallType::FunctionCall,
        call_id: call.id.as_str().into(),
        name: call.name.clone(),
        arguments: call.arguments.to_python_text().into(),
    })
}

fn output(call: &PastCall) -> InputItem {
    InputItem::Output(FunctionCallOutput {
        kind: OutputType::FunctionCallOutput,
        call_id: call.id.as_str().into(),
        output: match call.answer.as_slice() {
            [ContentPart::Text(text)] => InputContent::Text(text.as_str().into()),
            parts => content(parts),
        },
    })
}
