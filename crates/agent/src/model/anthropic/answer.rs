//! Parses Anthropic's messages and stream events into answers. Complete messages go through the parser of events,
//! block by block.

use volary_core::json::{Json, Object, Text, read};

use super::wire::{ReplyBlock, ReplyMessage, StopDetails, StreamEvent, WireDelta, WireUsage};
use crate::model::draft::Draft;
use crate::model::lenient::{Lenient, read_or_default};
use crate::model::openai_chat::completion::in_band_error;
use crate::model::sse::SseEvent;
use crate::model::{Answer, Delta, Finish, ModelError, StreamReader, Usage};

const FORMAT: &str = "an Anthropic message";

/// Reads a complete message.
pub(super) fn read_message(body: &Json) -> Result<Answer, ModelError> {
    if let Some(error) = in_band_error(body) {
        return Err(error);
    }
    let message: ReplyMessage = read_or_default(body);
    if message.content.0.is_none() {
        return Err(malformed("it has no `content`."));
    }
    let mut reader = MessageStream::default();
    let mut unused = Vec::new();
    reader.start(&message, &mut unused);
    reader.blocks_of(&message.content);
    reader.stop(&message.stop_reason, message.stop_details.as_ref());
    Ok(reader.partial())
}

/// Reads the blocks of a message.
pub(super) fn read_blocks(blocks: &[Json]) -> Answer {
    let mut reader = MessageStream::default();
    reader.blocks_of(blocks);
    reader.partial()
}

fn malformed(reason: impl Into<Text>) -> ModelError {
    ModelError::Malformed {
        format: FORMAT,
        reason: reason.into(),
    }
}

/// Reads message events.
#[derive(Default)]
pub(super) struct MessageStream {
    draft: Draft,
    blocks: Vec<Block>,
    usage: Usage,
    /// Tokens of the request neither written to a cache nor read from one.
    fresh: u64,
    finished: bool,
}

/// A block, stored unchanged since it may have to be sent back.
struct Block {
    index: String,
    fields: Object,
    /// Streamed text, thinking or input.
    more: String,
    signature: String,
}

impl StreamReader for MessageStream {
    fn event(&mut self, event: &SseEvent, deltas: &mut Vec<Delta>) -> Result<(), ModelError> {
        if event.data.trim().is_empty() {
            return Ok(());
        }
        let value = read(&event.data).map_err(|error| {
            malformed(format!("a piece of the stream is not valid JSON: {error}."))
        })?;
        let event: StreamEvent = read_or_default(&value);
        let index = || event.index.to_compact_text();
        match event.kind.or_empty() {
            "message_start" => {
                let message = event.message.0.unwrap_or_default();
                self.start(&message, deltas);
            }
            "content_block_start" => self.begin(index(), &event.content_block, deltas),
            "content_block_delta" => {
                if let Some(delta) = event.delta.as_ref() {
                    self.piece(&index(), delta, deltas);
                }
            }
            "message_delta" => {
                if let Some(delta) = event.delta.as_ref() {
                    self.stop(&delta.stop_reason, delta.stop_details.as_ref());
                }
                self.count(event.usage.as_ref(), deltas);
            }
            "message_stop" => self.finished = true,
            "error" => {
                return Err(in_band_error(&value)
                    .unwrap_or_else(|| malformed("an error without a message.")));
            }
            _ => {}
        }
        Ok(())
    }

    fn partial(&self) -> Answer {
        Answer {
            echo: self.echo().unwrap_or_default(),
            ..self.draft.answer.clone()
        }
    }

    fn finish(&mut self) -> Result<Answer, ModelError> {
        if self.finished {
            Ok(self.partial())
        } else {
            Err(ModelError::Cut)
        }
    }
}

impl MessageStream {
    fn start(&mut self, message: &ReplyMessage, deltas: &mut Vec<Delta>) {
        self.draft.answer.model = message.model.not_empty().cloned();
        self.count(message.usage.as_ref(), deltas);
    }

    fn blocks_of(&mut self, blocks: &[Json]) {
        let mut unused = Vec::new();
        for (index, block) in blocks.iter().enumerate() {
            self.begin(index.to_string(), block, &mut unused);
        }
    }

    fn begin(&mut self, index: String, block: &Json, deltas: &mut Vec<Delta>) {
        if self.blocks.iter().any(|known| known.index == index) {
            // A repeated start is ignored.
            return;
        }
        let known: ReplyBlock = read_or_default(block);
        match known.kind.or_empty() {
            "text" => self.draft.text(known.text.or_empty(), deltas),
            "thinking" => self.draft.thinking(known.thinking.or_empty(), deltas),
            "tool_use" => {
                let call = self.draft.call(&index);
                let (id, name) = (known.id.or_empty(), known.name.or_empty());
                self.draft.name_call(call, id, name, deltas);
                // Streams start with an empty input and send the input in pieces.
                let input = known.input.as_object();
                if let Some(input) = input.filter(|input| !input.is_empty()) {
                    self.draft.arguments(call, &input.to_python_text(), deltas);
                }
            }
            _ => {}
        }
        self.blocks.push(Block {
            index,
            fields: block.as_object().cloned().unwrap_or_default(),
            more: String::new(),
            signature: String::new(),
        });
    }

    fn piece(&mut self, index: &str, delta: &WireDelta, deltas: &mut Vec<Delta>) {
        let more = match delta.kind.or_empty() {
            "text_delta" => {
                self.draft.text(delta.text.or_empty(), deltas);
                delta.text.or_empty()
            }
            "thinking_delta" => {
                self.draft.thinking(delta.thinking.or_empty(), deltas);
                delta.thinking.or_empty()
            }
            "input_json_delta" => {
                let (call, more) = (self.draft.call(index), delta.partial_json.or_empty());
                self.draft.arguments(call, more, deltas);
                more
            }
            _ => "",
        };
        let mut blocks = self.blocks.iter_mut().rev();
        if let Some(block) = blocks.find(|block| block.index == index) {
            block.more.push_str(more);
            block.signature.push_str(delta.signature.or_empty());
        }
    }

    /// Records the stop reason, if present: it arrives last.
    fn stop(&mut self, reason: &Lenient<Text>, details: Option<&StopDetails>) {
        let Some(reason) = reason.not_empty() else {
            return;
        };
        self.finished = true;
        let answer = &mut self.draft.answer;
        answer.finish = match &**reason {
            "end_turn" | "stop_sequence" => Finish::Stop,
            "tool_use" => Finish::ToolCalls,
            "max_tokens" | "model_context_window_exceeded" => Finish::Length,
            "refusal" => {
                let why = details.and_then(|details| {
                    let category = details.category.not_empty();
                    details.explanation.not_empty().or(category)
                });
                answer.refusal = why.map(|why| why.to_string());
                Finish::ContentFilter
            }
            other => Finish::Other(other.into()),
        };
    }

    fn count(&mut self, usage: Option<&WireUsage>, deltas: &mut Vec<Delta>) {
        let Some(usage) = usage else {
            return;
        };
        let known = self.usage;
        let details = usage.output_tokens_details.unwrap_or_default();
        let cached = usage.cache_read_input_tokens.unwrap_or(known.cached);
        let cache_written = usage
            .cache_creation_input_tokens
            .unwrap_or(known.cache_written);
        self.fresh = usage.input_tokens.unwrap_or(self.fresh);
        self.usage = Usage {
            prompt: self
                .fresh
                .saturating_add(cached)
                .saturating_add(cache_written),
            completion: usage.output_tokens.unwrap_or(known.completion),
            cached,
            cache_written,
            reasoning: details.thinking_tokens.unwrap_or(known.reasoning),
            charged: None,
        };
        self.draft.usage(self.usage, deltas);
    }

    /// The blocks to send back; `None` without thinking, or if a call's input is not valid JSON.
    fn echo(&self) -> Option<Vec<Json>> {
        let thinks = |block: &Block| {
            let kind = block.fields.get("type").and_then(Json::as_text);
            kind.is_some_and(|kind| matches!(&**kind, "thinking" | "redacted_thinking"))
        };
        if !self.blocks.iter().any(thinks) {
            return None;
        }
        self.blocks.iter().map(Block::to_json).collect()
    }
}

impl Block {
    fn to_json(&self) -> Option<Json> {
        let mut fields = self.fields.clone();
        let kind = fields.get("type").and_then(Json::as_text).cloned();
        let longer = |fields: &Object, key: &str, more: &str| {
            let known = fields.get(key).and_then(Json::as_text);
            format!("{}{more}", known.map_or("", |known| known))
        };
        match kind.as_deref() {
            Some("text") => {
                fields.insert("text", longer(&self.fields, "text", &self.more));
            }
            Some("thinking") => {
                fields.insert("thinking", longer(&self.fields, "thinking", &self.more));
                let signature = longer(&self.fields, "signature", &self.signature);
                fields.insert("signature", signature);
            }
            Some("tool_use") if !self.more.is_empty() => {
                fields.insert("input", read(&self.more).ok()?);
            }
            _ => {}
        }
        Some(Json::Object(fields))
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::model::lenient::list;

    #[test]
    fn blocks_that_came_in_pieces_go_back_whole() {
        let mut reader = MessageStream::default();
        for data in [
            r#"{"type":"content_block_start","index":0,"content_block":{"type":"thinking","thinking":"","signature":""}}"#,
            r#"{"type":"content_block_delta","index":0,"delta":{"type":"thinking_delta","thinking":"Let me "}}"#,
            r#"{"type":"content_block_delta","index":0,"delta":{"type":"thinking_delta","thinking":"see."}}"#,
            r#"{"type":"content_block_delta","index":0,"delta":{"type":"signature_delta","signature":"c2ln"}}"#,
            r#"{"type":"content_block_start","index":1,"content_block":{"type":"tool_use","id":"toolu_1","name":"f","input":{}}}"#,
            r#"{"type":"content_block_delta","index":1,"delta":{"type":"input_json_delta","partial_json":"{\"x\":"}}"#,
            r#"{"type":"content_block_delta","index":1,"delta":{"type":"input_json_delta","partial_json":"1}"}}"#,
        ] {
            let event = SseEvent {
                event: String::new(),
                data: data.into(),
            };
            reader.event(&event, &mut Vec::new()).unwrap();
        }
        let body = Json::Object(volary_core::object!({"content": (reader.partial().echo)}));
        assert_eq!(
            list(&body, "content"),
            list(
                &read(
                    r#"{"content":[{"type":"thinking","thinking":"Let me see.","signature":"c2ln"},
                        {"type":"tool_use","id":"toolu_1","name":"f","input":{"x":1}}]}"#
                )
                .unwrap(),
                "content"
            )
        );
    }
}
