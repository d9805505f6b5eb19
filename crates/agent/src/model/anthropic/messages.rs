//! Converts history to Anthropic's messages: user and assistant alternate, and results of calls come first in
//! the user's turn.

use volary_core::json::Json;

use super::NAME;
use super::answer::read_blocks;
use super::wire::{CacheControl, ImageSource, MadeBlock, ReplyBlock, Role, SentBlock, SentMessage};
use crate::model::ModelRequest;
use crate::model::history::{ContentPart, Echo, PastCall, Turn, image_data, is_unedited};
use crate::model::lenient::read_or_default;

/// Makes an id of letters, digits, `_` and `-`, as the API requires.
pub(super) fn well_formed(index: usize, id: &str) -> String {
    let fits = !id.is_empty()
        && id
            .bytes()
            .all(|byte| byte.is_ascii_alphanumeric() || b"_-".contains(&byte));
    if fits {
        id.to_owned()
    } else {
        format!("call_{index}")
    }
}

/// The leading instructions, which the API takes separately, and the conversation. Later instructions become user text
/// at their position.
pub(super) fn conversation(turns: &[Turn], request: &ModelRequest) -> (String, Vec<SentMessage>) {
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
            Turn::System(text) => messages.add(Role::User, vec![text_block(text).into()]),
            Turn::User(parts) => {
                let blocks = parts.iter().filter_map(block);
                messages.add(Role::User, blocks.map(SentBlock::from).collect());
            }
            Turn::Assistant { text, calls, echo } => {
                let echoed = echo
                    .as_ref()
                    .and_then(|echo| unedited(echo, request, text, calls));
                messages.add(Role::Assistant, echoed.unwrap_or_else(|| said(text, calls)));
                messages.add(Role::User, calls.iter().map(tool_result).collect());
            }
        }
    }
    mark_cached(&mut messages.0, request);
    (system.join("\n\n"), messages.0)
}

/// Marks the block of the last message whose text should be cached up to its end.
fn mark_cached(messages: &mut [SentMessage], request: &ModelRequest) {
    let mut marked = request.messages.iter().rev().map(|message| message.body());
    let body = marked.find(|body| body.cache_breakpoint && !body.content_is_json_str);
    let Some(cached) = body.and_then(|body| body.content.as_deref()) else {
        return;
    };
    let blocks = messages
        .iter_mut()
        .rev()
        .flat_map(|message| message.content.iter_mut().rev());
    for block in blocks {
        if let SentBlock::Made(MadeBlock::Text {
            text,
            cache_control,
        }) = block
            && **text == *cached
        {
            *cache_control = Some(CacheControl::Ephemeral);
            return;
        }
    }
}

/// The echoed blocks, if text and calls are still unedited, with the same ids.
fn unedited(
    echo: &Echo,
    request: &ModelRequest,
    text: &str,
    calls: &[PastCall],
) -> Option<Vec<SentBlock>> {
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
    // Models return empty texts that the API rejects in requests.
    let is_blank = |block: &Json| {
        let block: ReplyBlock = read_or_default(block);
        block.kind.or_empty() == "text" && block.text.or_empty().trim().is_empty()
    };
    let blocks = blocks.iter().filter(|block| !is_blank(block)).cloned();
    Some(blocks.map(SentBlock::Echo).collect())
}

fn said(text: &str, calls: &[PastCall]) -> Vec<SentBlock> {
    let mut blocks = Vec::new();
    // The API rejects text that is only white space.
    if !text.trim().is_empty() {
        blocks.push(text_block(text).into());
    }
    blocks.extend(calls.iter().map(tool_use));
    blocks
}

#[derive(Default)]
struct Messages(Vec<SentMessage>);

impl Messages {
    /// Appends blocks, to the last message if it has the same role.
    fn add(&mut self, role: Role, blocks: Vec<SentBlock>) {
        if blocks.is_empty() {
            return;
        }
        match self.0.last_mut() {
            Some(last) if last.role == role => last.content.extend(blocks),
            _ => self.0.push(SentMessage {
                role,
                content: blocks,
            }),
        }
    }
}

impl From<MadeBlock> for SentBlock {
    fn from(block: MadeBlock) -> Self {
        SentBlock::Made(block)
    }
}

fn text_block(text: &str) -> MadeBlock {
    MadeBlock::Text {
        text: text.into(),
        cache_control: None,
    }
}

/// A part as a block; `None` for empty texts, which the API rejects.
fn block(part: &ContentPart) -> Option<MadeBlock> {
    match part {
        ContentPart::Text(text) if text.trim().is_empty() => None,
        ContentPart::Text(text) => Some(text_block(text)),
        ContentPart::Image(url) => {
            let source = match image_data(url) {
                Some((kind, data)) => ImageSource::Base64 {
                    media_type: kind.into(),
                    data: data.into(),
                },
                None => ImageSource::Url {
                    url: url.as_str().into(),
                },
            };
            Some(MadeBlock::Image { source })
        }
    }
}

fn tool_use(call: &PastCall) -> SentBlock {
    SentBlock::Made(MadeBlock::ToolUse {
        id: call.id.as_str().into(),
        name: call.name.clone(),
        input: call.arguments.clone(),
    })
}

fn tool_result(call: &PastCall) -> SentBlock {
    SentBlock::Made(MadeBlock::ToolResult {
        tool_use_id: call.id.as_str().into(),
        content: call.answer.iter().filter_map(block).collect(),
    })
}
