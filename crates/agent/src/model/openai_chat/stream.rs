//! Streamed chat completions.

use volary_core::json::{Json, Object, read};
use volary_core::{json, object};

use super::completion::{content, echoed, finish, in_band_error, malformed, not_one_choice};
use super::wire::{
    ChatUsage, Chunk as WireChunk, ChunkChoice, ContentChunk, ReplyCall, ReplyMessage,
};
use crate::model::draft::Draft;
use crate::model::lenient::read_or_default;
use crate::model::sse::SseEvent;
use crate::model::{Answer, Delta, ModelError, RawCall, StreamReader};

/// Reads `chat.completion.chunk`s.
#[derive(Default)]
pub(in crate::model) struct ChatStream {
    draft: Draft,
    /// Whether an end marker was received.
    finished: bool,
    /// The last finish reason received.
    finish_reason: Option<String>,
    /// The index of the only choice.
    choice: Option<i64>,
    /// The index of the call that the last piece belonged to.
    last_call: Option<usize>,
    /// The number of calls with a generated key.
    unnamed: usize,
    echo: EchoDraft,
}

impl StreamReader for ChatStream {
    fn event(&mut self, event: &SseEvent, deltas: &mut Vec<Delta>) -> Result<(), ModelError> {
        let data = event.data.trim();
        if data.is_empty() {
            return Ok(());
        }
        if data == "[DONE]" {
            self.finished = true;
            return Ok(());
        }
        let chunk = read(data).map_err(|error| {
            malformed(format!("a piece of the stream is not valid JSON: {error}."))
        })?;
        if let Some(error) = in_band_error(&chunk) {
            return Err(error);
        }
        let WireChunk {
            choices,
            usage,
            model,
        } = read_or_default(&chunk);
        if self.draft.answer.model.is_none() {
            self.draft.answer.model = model.not_empty().cloned();
        }
        if let Some(usage) = usage.and_then(ChatUsage::to_usage) {
            self.draft.usage(usage, deltas);
        }
        match &*choices {
            [] => Ok(()),
            [choice] => self.choice(choice, deltas),
            several => Err(not_one_choice(several.len())),
        }
    }

    fn partial(&self) -> Answer {
        let answer = self.draft.answer.clone();
        Answer {
            finish: finish(self.finish_reason.as_deref(), &answer.calls),
            echo: self.echo.parts(answer.thinking.as_deref()),
            ..answer
        }
    }

    fn finish(&mut self) -> Result<Answer, ModelError> {
        match (self.finished, self.choice) {
            (false, _) => Err(ModelError::Cut),
            (true, None) => Err(not_one_choice(0)),
            (true, Some(_)) => Ok(self.partial()),
        }
    }
}

impl ChatStream {
    fn choice(&mut self, choice: &ChunkChoice, deltas: &mut Vec<Delta>) -> Result<(), ModelError> {
        let index = choice.index.unwrap_or(0);
        if *self.choice.get_or_insert(index) != index {
            return Err(not_one_choice(2));
        }
        if let Some(delta) = choice.delta.as_ref() {
            self.delta(delta, deltas);
        }
        if let Some(reason) = choice.finish_reason.not_empty() {
            self.finish_reason = Some(reason.to_string());
            self.finished = true;
        }
        Ok(())
    }

    fn delta(&mut self, delta: &ReplyMessage, deltas: &mut Vec<Delta>) {
        let content = content(&delta.content);
        self.echo.take(delta, self.draft.answer.text.as_deref());
        if let Some(thought) = delta.thinking().or(content.thinking) {
            self.draft.thinking(&thought, deltas);
        }
        if let Some(text) = content.text {
            self.draft.text(&text, deltas);
        }
        self.draft.refusal(delta.refusal.or_empty(), deltas);
        for call in delta.tool_calls.iter() {
            self.call(call, deltas);
        }
    }

    fn call(&mut self, piece: &ReplyCall, deltas: &mut Vec<Delta>) {
        let call = piece.to_raw();
        let index = match *piece.index {
            Some(index) => self.indexed(index, &call),
            None => self.unindexed(&call),
        };
        self.last_call = Some(index);
        self.draft.name_call(index, &call.id, &call.name, deltas);
        self.draft.arguments(index, &call.arguments, deltas);
    }

    /// The call at an index. Some servers use the same index for every call; then a new id together with a
    /// name, or a name after complete arguments, starts another call.
    fn indexed(&mut self, index: i64, piece: &RawCall) -> usize {
        let mut known = self.draft.answer.calls.iter();
        if !piece.id.is_empty()
            && let Some(found) = known.position(|call| call.id == piece.id)
        {
            return found;
        }
        let prefix = format!("index {index} ");
        let Some(last) = self.draft.last_call(|key| key.starts_with(&prefix)) else {
            return self.draft.call(&prefix);
        };
        let is_other = !piece.name.is_empty()
            && self.draft.answer.calls.get(last).is_some_and(|known| {
                let other_id = !piece.id.is_empty() && !known.id.is_empty();
                (other_id && piece.id != known.id) || (!other_id && is_complete(known))
            });
        if !is_other {
            return last;
        }
        if piece.id.is_empty() {
            self.unnamed += 1;
            return self.draft.call(&format!("{prefix}new {}", self.unnamed));
        }
        // Pieces of calls that share an index may alternate by id.
        self.draft.call(&format!("{prefix}{}", piece.id))
    }

    /// The call of a piece without an index: the one with its id, a new one if it has a name, else the last.
    fn unindexed(&mut self, piece: &RawCall) -> usize {
        match self.last_call {
            _ if !piece.id.is_empty() => self.draft.call(&format!("id {}", piece.id)),
            Some(last) if piece.name.is_empty() => last,
            _ => {
                self.unnamed += 1;
                self.draft.call(&format!("new {}", self.unnamed))
            }
        }
    }
}

/// Whether a call's arguments are complete, so that a new name must start another call.
fn is_complete(call: &RawCall) -> bool {
    matches!(read(&call.arguments), Ok(Json::Object(_)))
}

/// Assembles the echo from its pieces.
#[derive(Default)]
struct EchoDraft {
    /// Whether the thinking arrived as `reasoning_content`, and is sent back under that name.
    is_reasoning_content: bool,
    /// `reasoning_details` (OpenRouter).
    details: Vec<Detail>,
    /// Content that includes thinking (Mistral).
    chunks: Vec<Chunk>,
}

enum Chunk {
    Thinking {
        text: String,
        signature: Option<Json>,
    },
    Text(String),
}

impl EchoDraft {
    /// Adds a delta; `said` is the text before it.
    fn take(&mut self, delta: &ReplyMessage, said: Option<&str>) {
        self.is_reasoning_content |= delta.reasoning_content.not_empty().is_some();
        for detail in delta.reasoning_details.iter().filter_map(Json::as_object) {
            self.detail(detail);
        }
        match &delta.content {
            content @ Json::List(_) => {
                let chunks = ContentChunk::of(content);
                let thinks = chunks.iter().any(ContentChunk::is_thinking);
                if thinks && self.chunks.is_empty() {
                    self.chunks
                        .extend(said.map(|said| Chunk::Text(said.to_owned())));
                }
                if thinks || !self.chunks.is_empty() {
                    chunks.iter().for_each(|chunk| self.chunk(chunk));
                }
            }
            Json::Text(text) if !self.chunks.is_empty() => self.text(text),
            _ => {}
        }
    }

    fn chunk(&mut self, chunk: &ContentChunk) {
        if !chunk.is_thinking() {
            self.text(chunk.text.or_empty());
            return;
        }
        let more = match &chunk.thinking {
            Json::Text(text) => text.to_string(),
            inner => content(inner).text.unwrap_or_default(),
        };
        let newer = Some(&chunk.signature).filter(|signature| !signature.is_null());
        match self.chunks.last_mut() {
            Some(Chunk::Thinking { text, signature }) => {
                text.push_str(&more);
                if let Some(newer) = newer {
                    *signature = Some(newer.clone());
                }
            }
            _ => self.chunks.push(Chunk::Thinking {
                text: more,
                signature: newer.cloned(),
            }),
        }
    }

    fn text(&mut self, more: &str) {
        match self.chunks.last_mut() {
            Some(Chunk::Text(text)) => text.push_str(more),
            _ if more.is_empty() => {}
            _ => self.chunks.push(Chunk::Text(more.to_owned())),
        }
    }

    /// Pieces of one detail have the same index and type; their texts are joined, other fields
    /// occur once.
    fn detail(&mut self, piece: &Object) {
        let continues = |known: &Detail| {
            let same = |key| known.fields.get(key) == piece.get(key);
            piece.contains_key("index") && same("index") && same("type")
        };
        if !self.details.last().is_some_and(continues) {
            self.details.push(Detail::default());
        }
        if let Some(detail) = self.details.last_mut() {
            detail.add(piece);
        }
    }

    fn parts(&self, thinking: Option<&str>) -> Vec<Json> {
        let mut echo = Object::new();
        if !self.details.is_empty() {
            let details = self.details.iter().map(Detail::to_json);
            echo.insert("reasoning_details", Json::List(details.collect()));
        } else if let Some(thinking) = thinking.filter(|_| self.is_reasoning_content) {
            echo.insert("reasoning_content", thinking);
        }
        if !self.chunks.is_empty() {
            let chunks = self.chunks.iter().map(Chunk::to_json);
            echo.insert("content", Json::List(chunks.collect()));
        }
        echoed(echo)
    }
}

/// An entry of `reasoning_details`.
#[derive(Default)]
struct Detail {
    fields: Object,
    /// Texts to join, by key.
    joined: Vec<(&'static str, String)>,
}

impl Detail {
    fn add(&mut self, piece: &Object) {
        for (key, value) in piece.iter() {
            let in_pieces = ["text", "summary", "data"]
                .into_iter()
                .find(|name| name == key);
            match (in_pieces, value) {
                (_, Json::Null) if self.fields.contains_key(key) => {}
                (Some(name), Json::Text(more)) => {
                    match self.joined.iter_mut().find(|(known, _)| *known == name) {
                        Some((_, text)) => text.push_str(more),
                        None => self.joined.push((name, more.to_string())),
                    }
                }
                _ => {
                    self.fields.insert(key.clone(), value.clone());
                }
            }
        }
    }

    fn to_json(&self) -> Json {
        let mut detail = self.fields.clone();
        for (key, text) in &self.joined {
            detail.insert(*key, text.as_str());
        }
        Json::Object(detail)
    }
}

impl Chunk {
    fn to_json(&self) -> Json {
        match self {
            Chunk::Text(text) => json!({"type": "text", "text": (text.as_str())}),
            Chunk::Thinking { text, signature } => {
                let mut chunk = object!({
                    "type": "thinking",
                    "thinking": [{"type": "text", "text": (text.as_str())}],
                });
                if let Some(signature) = signature {
                    chunk.insert("signature", signature.clone());
                }
                Json::Object(chunk)
            }
        }
    }
}
