//! Anthropic's messages and their events to answers. Whole messages go through the reader of events, block
//! by block.

use volary_core::json::{Json, Object, Text, read};

use crate::model::draft::Draft;
use crate::model::lenient::{count, some_text, text};
use crate::model::openai_chat::completion::in_band_error;
use crate::model::sse::SseEvent;
use crate::model::{Answer, Delta, Finish, ModelError, StreamReader, Usage};

const FORMAT: &str = "an Anthropic message";

/// Reads a whole message.
pub(super) fn read_message(body: &Json) -> Result<Answer, ModelError> {
    if let Some(error) = in_band_error(body) {
        return Err(error);
    }
    let Some(blocks) = body.get("content").and_then(Json::as_list) else {
        return Err(malformed("it has no `content`."));
    };
    let mut reader = MessageStream::default();
    let mut unused = Vec::new();
    reader.start(body, &mut unused);
    reader.blocks_of(blocks);
    reader.stop(body);
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
    /// Tokens of the request that were neither put into a cache nor taken from one.
    fresh: u64,
    finished: bool,
}

/// A block, kept whole since it may have to go back.
struct Block {
    index: String,
    fields: Object,
    /// Text, thinking or input that came in pieces.
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
        let part = |key: &str| value.get(key).unwrap_or(&Json::Null);
        let index = || part("index").to_compact_text();
        match text(&value, "type") {
            "message_start" => self.start(part("message"), deltas),
            "content_block_start" => self.begin(index(), part("content_block"), deltas),
            "content_block_delta" => self.piece(&index(), part("delta"), deltas),
            "message_delta" => {
                self.stop(part("delta"));
                self.count(part("usage"), deltas);
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
    fn start(&mut self, message: &Json, deltas: &mut Vec<Delta>) {
        self.draft.answer.model = some_text(message, "model");
        self.count(message.get("usage").unwrap_or(&Json::Null), deltas);
    }

    fn blocks_of(&mut self, blocks: &[Json]) {
        let mut unused = Vec::new();
        for (index, block) in blocks.iter().enumerate() {
            self.begin(index.to_string(), block, &mut unused);
        }
    }

    fn begin(&mut self, index: String, block: &Json, deltas: &mut Vec<Delta>) {
        if self.blocks.iter().any(|known| known.index == index) {
            // Said twice.
            return;
        }
        match text(block, "type") {
            "text" => self.draft.text(text(block, "text"), deltas),
            "thinking" => self.draft.thinking(text(block, "thinking"), deltas),
            "tool_use" => {
                let place = self.draft.call(&index);
                let (id, name) = (text(block, "id"), text(block, "name"));
                self.draft.name_call(place, id, name, deltas);
                // Streams begin with an empty input and send it in pieces.
                let input = block.get("input").and_then(Json::as_object);
                if let Some(input) = input.filter(|input| !input.is_empty()) {
                    self.draft.arguments(place, &input.to_python_text(), deltas);
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

    fn piece(&mut self, index: &str, delta: &Json, deltas: &mut Vec<Delta>) {
        let more = match text(delta, "type") {
            "text_delta" => {
                self.draft.text(text(delta, "text"), deltas);
                text(delta, "text")
            }
            "thinking_delta" => {
                self.draft.thinking(text(delta, "thinking"), deltas);
                text(delta, "thinking")
            }
            "input_json_delta" => {
                let place = self.draft.call(index);
                self.draft
                    .arguments(place, text(delta, "partial_json"), deltas);
                text(delta, "partial_json")
            }
            _ => "",
        };
        let mut blocks = self.blocks.iter_mut().rev();
        if let Some(block) = blocks.find(|block| block.index == index) {
            block.more.push_str(more);
            block.signature.push_str(text(delta, "signature"));
        }
    }

    /// Why it stopped, if that is said: it is said when all else was.
    fn stop(&mut self, message: &Json) {
        let Some(reason) = some_text(message, "stop_reason") else {
            return;
        };
        self.finished = true;
        let answer = &mut self.draft.answer;
        answer.finish = match &*reason {
            "end_turn" | "stop_sequence" => Finish::Stop,
            "tool_use" => Finish::ToolCalls,
            "max_tokens" | "model_context_window_exceeded" => Finish::Length,
            "refusal" => {
                let details = message.get("stop_details").unwrap_or(&Json::Null);
                let why =
                    some_text(details, "explanation").or_else(|| some_text(details, "category"));
                answer.refusal = why.map(|why| why.to_string());
                Finish::ContentFilter
            }
            other => Finish::Other(other.into()),
        };
    }

    fn count(&mut self, usage: &Json, deltas: &mut Vec<Delta>) {
        let at = |key: &str| count(usage, &[key]);
        if usage.is_null() {
            return;
        }
        self.fresh = at("input_tokens").unwrap_or(self.fresh);
        let known = self.usage;
        let cached = at("cache_read_input_tokens").unwrap_or(known.cached);
        let cache_written = at("cache_creation_input_tokens").unwrap_or(known.cache_written);
        self.usage = Usage {
            prompt: self.fresh + cached + cache_written,
            completion: at("output_tokens").unwrap_or(known.completion),
            cached,
            cache_written,
            reasoning: count(usage, &["output_tokens_details", "thinking_tokens"])
                .unwrap_or(known.reasoning),
            charged: None,
        };
        self.draft.usage(self.usage, deltas);
    }

    /// The blocks as they are to go back; none if there was no thinking, or if a call's input is no JSON.
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
