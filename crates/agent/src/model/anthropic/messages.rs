//! History as Anthropic's messages: user and assistant take turns, and the answers to calls come first in
//! the user's turn.

use volary_core::json;
use volary_core::json::Json;

use super::NAME;
use super::answer::read_blocks;
use crate::model::ModelRequest;
use crate::model::history::{Echo, Part, PastCall, Turn, image_data, is_unedited};
use crate::model::lenient::text as text_at;

/// Ids there are letters, digits, `_` and `-`.
pub(super) fn well_formed(place: usize, id: &str) -> String {
    let fits = !id.is_empty()
        && id
            .bytes()
            .all(|byte| byte.is_ascii_alphanumeric() || b"_-".contains(&byte));
    if fits {
        id.to_owned()
    } else {
        format!("call_{place}")
    }
}

/// The instructions at the beginning, which stand outside of the conversation there, and the conversation.
/// Instructions that come later are said in their place by the user.
pub(super) fn conversation(turns: &[Turn], request: &ModelRequest) -> (String, Json) {
    let begin = turns
        .iter()
        .take_while(|turn| matches!(turn, Turn::System(_)))
        .count();
    let (system, turns) = turns.split_at(begin);
    let system: Vec<&str> = system
        .iter()
        .filter_map(|turn| match turn {
            Turn::System(text) => Some(text.as_str()),
            _ => None,
        })
        .collect();
    let mut messages = Messages::default();
    for turn in turns {
        match turn {
            Turn::System(text) => messages.add("user", vec![text_block(text)]),
            Turn::User(parts) => messages.add("user", parts.iter().filter_map(block).collect()),
            Turn::Assistant { text, calls, echo } => {
                let echoed = echo
                    .as_ref()
                    .and_then(|echo| unedited(echo, request, text, calls));
                messages.add("assistant", echoed.unwrap_or_else(|| said(text, calls)));
                messages.add("user", calls.iter().map(tool_result).collect());
            }
        }
    }
    (system.join("\n\n"), messages.finish())
}

/// The blocks as they came, if they still are what was said and called, under the same ids.
fn unedited(
    echo: &Echo,
    request: &ModelRequest,
    text: &str,
    calls: &[PastCall],
) -> Option<Vec<Json>> {
    let blocks = echo.parts_for(NAME, request)?;
    let answer = read_blocks(blocks);
    let same_ids = answer
        .calls
        .iter()
        .zip(calls)
        .all(|(given, past)| given.id == past.id);
    if !same_ids || !is_unedited(&answer, text, calls) {
        return None;
    }
    // Models give empty texts that they don't take back.
    let is_blank =
        |block: &Json| text_at(block, "type") == "text" && text_at(block, "text").trim().is_empty();
    Some(
        blocks
            .iter()
            .filter(|block| !is_blank(block))
            .cloned()
            .collect(),
    )
}

fn said(text: &str, calls: &[PastCall]) -> Vec<Json> {
    let mut blocks = Vec::new();
    // Text that is nothing but white space is refused.
    if !text.trim().is_empty() {
        blocks.push(text_block(text));
    }
    blocks.extend(calls.iter().map(tool_use));
    blocks
}

#[derive(Default)]
struct Messages(Vec<(&'static str, Vec<Json>)>);

impl Messages {
    fn add(&mut self, role: &'static str, blocks: Vec<Json>) {
        if blocks.is_empty() {
            return;
        }
        match self.0.last_mut() {
            Some((last, known)) if *last == role => known.extend(blocks),
            _ => self.0.push((role, blocks)),
        }
    }

    fn finish(self) -> Json {
        let messages = self.0.into_iter();
        let messages =
            messages.map(|(role, blocks)| json!({"role": role, "content": (Json::List(blocks))}));
        Json::List(messages.collect())
    }
}

fn text_block(text: &str) -> Json {
    json!({"type": "text", "text": text})
}

/// A part as a block; empty texts are refused there.
fn block(part: &Part) -> Option<Json> {
    match part {
        Part::Text(text) if text.trim().is_empty() => None,
        Part::Text(text) => Some(text_block(text)),
        Part::Image(url) => {
            let source = match image_data(url) {
                Some((kind, data)) => json!({"type": "base64", "media_type": kind, "data": data}),
                None => json!({"type": "url", "url": (url.as_str())}),
            };
            Some(json!({"type": "image", "source": source}))
        }
    }
}

fn tool_use(call: &PastCall) -> Json {
    json!({
        "type": "tool_use",
        "id": (call.id.as_str()),
        "name": (call.name.clone()),
        "input": (call.arguments.clone())
    })
}

fn tool_result(call: &PastCall) -> Json {
    let content: Vec<Json> = call.answer.iter().filter_map(block).collect();
    json!({"type": "tool_result", "tool_use_id": (call.id.as_str()), "content": content})
}
