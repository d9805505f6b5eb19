//! History as input items.

use volary_core::json;
use volary_core::json::Json;

use super::NAME;
use super::output::read_items;
use crate::model::ModelRequest;
use crate::model::history::{Echo, Part, PastCall, Turn, is_unedited};

/// The turns as input items.
pub(super) fn input(turns: &[Turn], request: &ModelRequest) -> Json {
    let mut items = Vec::new();
    for turn in turns {
        match turn {
            Turn::System(text) => items.push(json!({"role": "system", "content": (text.as_str())})),
            Turn::User(parts) => items.push(json!({"role": "user", "content": (content(parts))})),
            Turn::Assistant { text, calls, echo } => {
                let echoed = echo
                    .as_ref()
                    .and_then(|echo| unedited(echo, request, text, calls));
                match echoed {
                    Some(echoed) => items.extend_from_slice(echoed),
                    None => {
                        if !text.trim().is_empty() {
                            let text = text.as_str();
                            items.push(json!({"role": "assistant", "content": text}));
                        }
                        items.extend(calls.iter().map(call));
                    }
                }
                items.extend(calls.iter().map(output));
            }
        }
    }
    Json::List(items)
}

/// The items as they came, if they still are what was said and called, under the same ids.
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

fn content(parts: &[Part]) -> Json {
    let parts = parts.iter().map(|part| match part {
        Part::Text(text) => json!({"type": "input_text", "text": (text.as_str())}),
        Part::Image(url) => {
            json!({"type": "input_image", "image_url": (url.as_str()), "detail": "auto"})
        }
    });
    Json::List(parts.collect())
}

fn call(call: &PastCall) -> Json {
    json!({
        "type": "function_call",
        "call_id": (call.id.as_str()),
        "name": (call.name.clone()),
        "arguments": (call.arguments.to_python_text())
    })
}

fn output(call: &PastCall) -> Json {
    let output = match call.answer.as_slice() {
        [Part::Text(text)] => Json::from(text.as_str()),
        parts => content(parts),
    };
    json!({"type": "function_call_output", "call_id": (call.id.as_str()), "output": output})
}
