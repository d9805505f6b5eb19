//! Parses complete and streamed answers; a complete answer is a stream of one chunk.

use volary_core::json::{Json, Text, read};

use super::wire::{Candidate, GenerateResponse, ReplyPart, UsageMetadata};
use crate::model::draft::Draft;
use crate::model::lenient::read_or_default;
use crate::model::openai_chat::completion::{in_band_error, not_one_choice};
use crate::model::openai_chat::wire::arguments;
use crate::model::sse::SseEvent;
use crate::model::{Answer, Delta, Finish, ModelError, StreamReader};

const FORMAT: &str = "a Gemini answer";

/// Reads a complete answer, or the list of chunks that replaces a stream without events.
pub(super) fn read_answer(body: &Json) -> Result<Answer, ModelError> {
    let mut reader = ContentStream::default();
    match body {
        Json::List(pieces) => {
            for piece in pieces {
                reader.chunk(piece, &mut Vec::new())?;
            }
        }
        Json::Object(_) => reader.chunk(body, &mut Vec::new())?,
        _ => return Err(malformed("it is not an object.")),
    }
    if !reader.answered {
        return Err(not_one_choice(0));
    }
    Ok(reader.partial())
}

/// Reads the parts of an answer.
pub(super) fn read_parts(parts: &[Json]) -> Answer {
    let mut reader = ContentStream::default();
    for part in parts {
        reader.part(part, &mut Vec::new());
    }
    reader.draft.answer
}

fn malformed(reason: impl Into<Text>) -> ModelError {
    ModelError::Malformed {
        format: FORMAT,
        reason: reason.into(),
    }
}

/// Reads streamed chunks.
#[derive(Default)]
pub(super) struct ContentStream {
    draft: Draft,
    /// Whether a chunk arrived, and whether any had a candidate.
    begun: bool,
    answered: bool,
    finish_reason: Option<String>,
    /// The parts as received, with plain texts joined: sent back if any is signed.
    parts: Vec<Piece>,
}

enum Piece {
    Text(String),
    Whole(Json),
}

impl StreamReader for ContentStream {
    fn event(&mut self, event: &SseEvent, deltas: &mut Vec<Delta>) -> Result<(), ModelError> {
        let data = event.data.trim();
        if data.is_empty() || data == "[DONE]" {
            return Ok(());
        }
        let chunk = read(data).map_err(|error| {
            malformed(format!("a piece of the stream is not valid JSON: {error}."))
        })?;
        self.chunk(&chunk, deltas)
    }

    fn partial(&self) -> Answer {
        let mut answer = self.draft.answer.clone();
        answer.finish = finish(self.finish_reason.as_deref(), &answer);
        let signed = |piece: &Piece| matches!(piece, Piece::Whole(part) if part.get("thoughtSignature").is_some());
        if self.parts.iter().any(signed) {
            answer.echo = self.parts.iter().map(Piece::to_json).collect();
        }
        answer
    }

    fn finish(&mut self) -> Result<Answer, ModelError> {
        match self.finish_reason {
            Some(_) => Ok(self.partial()),
            None if self.begun && !self.answered => Err(not_one_choice(0)),
            None => Err(ModelError::Cut),
        }
    }
}

impl ContentStream {
    fn chunk(&mut self, chunk: &Json, deltas: &mut Vec<Delta>) -> Result<(), ModelError> {
        if let Some(error) = in_band_error(chunk) {
            return Err(error);
        }
        let response: GenerateResponse = read_or_default(chunk);
        let feedback = response.prompt_feedback.as_ref();
        if let Some(reason) = feedback.and_then(|feedback| feedback.block_reason.not_empty()) {
            return Err(ModelError::Refused {
                reason: format!("the request was blocked ({reason}).").into(),
            });
        }
        self.begun = true;
        if let Some(model) = response.model_version.not_empty() {
            self.draft.answer.model = Some(model.clone());
        }
        if let Some(usage) = response.usage_metadata.and_then(UsageMetadata::to_usage) {
            self.draft.usage(usage, deltas);
        }
        match &*response.candidates {
            [] => Ok(()),
            [candidate] => {
                self.candidate(candidate, deltas);
                Ok(())
            }
            several => Err(not_one_choice(several.len())),
        }
    }

    fn candidate(&mut self, candidate: &Candidate, deltas: &mut Vec<Delta>) {
        self.answered = true;
        let content = candidate.content.as_ref();
        for part in content.map_or(&[][..], |content| &*content.parts) {
            self.part(part, deltas);
        }
        if let Some(reason) = candidate.finish_reason.not_empty() {
            if finish(Some(reason), &self.draft.answer) == Finish::ContentFilter {
                let message = candidate.finish_message.not_empty();
                let why = message.unwrap_or(reason);
                self.draft.answer.refusal = Some(why.to_string());
            }
            self.finish_reason = Some(reason.to_string());
        }
    }

    fn part(&mut self, part: &Json, deltas: &mut Vec<Delta>) {
        let known: ReplyPart = read_or_default(part);
        if *known.thought == Some(true) {
            // Thoughts themselves are not sent back, only signatures and text.
            self.draft.thinking(known.text.or_empty(), deltas);
            return;
        }
        self.draft.text(known.text.or_empty(), deltas);
        if let Some(call) = known.function_call.as_ref() {
            let key = format!("part {}", self.draft.answer.calls.len());
            let index = self.draft.call(&key);
            let (id, name) = (call.id.or_empty(), call.name.or_empty());
            self.draft.name_call(index, id, name, deltas);
            let arguments = arguments(&call.args);
            self.draft.arguments(index, &arguments, deltas);
        }
        let plain = part.as_object().is_some_and(|fields| fields.len() == 1);
        match (self.parts.last_mut(), known.text.not_empty()) {
            (_, None) if plain && part.get("text").is_some() => {}
            (Some(Piece::Text(said)), Some(more)) if plain => said.push_str(more),
            (_, Some(more)) if plain => self.parts.push(Piece::Text(more.to_string())),
            _ => self.parts.push(Piece::Whole(part.clone())),
        }
    }
}

impl Piece {
    fn to_json(&self) -> Json {
        match self {
            Piece::Text(text) => volary_core::json!({"text": (text.as_str())}),
            Piece::Whole(part) => part.clone(),
        }
    }
}

fn finish(reason: Option<&str>, answer: &Answer) -> Finish {
    match reason {
        None | Some("STOP") if answer.calls.is_empty() => Finish::Stop,
        // `FUNCTION_CALL` is sent by servers that use Google's format, not by Google.
        None | Some("STOP" | "FUNCTION_CALL") => Finish::ToolCalls,
        Some("MAX_TOKENS" | "CONTINUATION") => Finish::Length,
        Some(
            "SAFETY"
            | "RECITATION"
            | "BLOCKLIST"
            | "PROHIBITED_CONTENT"
            | "SPII"
            | "LANGUAGE"
            | "ESCALATION"
            | "MODEL_ARMOR"
            | "PUP_LIMITED_DISABLED",
        ) => Finish::ContentFilter,
        Some(other) => Finish::Other(other.into()),
    }
}
