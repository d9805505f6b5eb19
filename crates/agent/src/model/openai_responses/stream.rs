//! Parses streams of typed events.

use std::collections::BTreeMap;

use volary_core::json::{Json, read};

use super::output::{begin_call, close, malformed, read_items, read_response};
use super::wire::{OutputItem, Response, StreamEvent};
use crate::model::draft::Draft;
use crate::model::error_body::ErrorBody;
use crate::model::lenient::read_or_default;
use crate::model::openai_chat::completion::{in_band_error, is_transient};
use crate::model::sse::SseEvent;
use crate::model::{Answer, Delta, ModelError, StreamReader};

/// Reads typed events. The final response contains the complete answer and is authoritative, so duplicate or reordered
/// pieces are harmless. If it contains no items, the items that were completed before it are used.
#[derive(Default)]
pub(super) struct ResponseStream {
    draft: Draft,
    /// Completed items, by index.
    items: BTreeMap<i64, Json>,
    whole: Option<Answer>,
}

impl StreamReader for ResponseStream {
    fn event(&mut self, event: &SseEvent, deltas: &mut Vec<Delta>) -> Result<(), ModelError> {
        let data = event.data.trim();
        if data.is_empty() || data == "[DONE]" {
            return Ok(());
        }
        let value = read(data).map_err(|error| {
            malformed(format!("a piece of the stream is not valid JSON: {error}."))
        })?;
        self.take(&value, deltas)
    }

    fn partial(&self) -> Answer {
        match &self.whole {
            Some(answer) => answer.clone(),
            None => self.draft.answer.clone(),
        }
    }

    fn finish(&mut self) -> Result<Answer, ModelError> {
        self.whole.take().ok_or(ModelError::Cut)
    }
}

impl ResponseStream {
    fn take(&mut self, value: &Json, deltas: &mut Vec<Delta>) -> Result<(), ModelError> {
        let event: StreamEvent = read_or_default(value);
        let piece = event.delta.or_empty();
        match event.kind.or_empty() {
            "response.output_text.delta" => self.draft.text(piece, deltas),
            "response.refusal.delta" => self.draft.refusal(piece, deltas),
            "response.reasoning_summary_text.delta" | "response.reasoning_text.delta" => {
                self.draft.thinking(piece, deltas);
            }
            "response.output_item.added" => {
                let item: OutputItem = read_or_default(&event.item);
                if item.kind.or_empty() == "function_call" {
                    begin_call(&mut self.draft, &key(&event), &item, deltas);
                }
            }
            "response.function_call_arguments.delta" => {
                let index = self.draft.call(&key(&event));
                self.draft.arguments(index, piece, deltas);
            }
            "response.function_call_arguments.done" => {
                let index = self.draft.call(&key(&event));
                self.draft
                    .whole_arguments(index, event.arguments.or_empty(), deltas);
            }
            "response.output_item.done" => {
                let next = i64::try_from(self.items.len()).unwrap_or(i64::MAX);
                let index = event.output_index.as_i64().unwrap_or(next);
                self.items.insert(index, event.item);
            }
            "response.completed" | "response.incomplete" => self.close(&event.response, deltas)?,
            "response.failed" | "response.cancelled" => {
                return Err(
                    in_band_error(&event.response).unwrap_or(ModelError::Reported {
                        message: "the response failed without a reason.".into(),
                        code: None,
                        transient: true,
                    }),
                );
            }
            "error" => return Err(reported(value, event.code.or_empty())),
            // Some routers report errors without a type.
            _ => {
                if let Some(error) = in_band_error(value) {
                    return Err(error);
                }
            }
        }
        Ok(())
    }

    fn close(&mut self, body: &Json, deltas: &mut Vec<Delta>) -> Result<(), ModelError> {
        let response: Response = read_or_default(body);
        let mut answer = if response.output.is_empty() && !self.items.is_empty() {
            let items: Vec<Json> = self.items.values().cloned().collect();
            let mut answer = read_items(&items);
            close(&mut answer, &response);
            answer
        } else {
            read_response(body)?
        };
        self.draft.rest_of(&answer, deltas);
        if let Some(usage) = answer.usage {
            deltas.push(Delta::Usage(usage));
        }
        if answer.thinking.is_none() {
            answer.thinking = self.draft.answer.thinking.take();
        }
        self.whole = Some(answer);
        Ok(())
    }
}

/// The key that identifies the item of an event.
fn key(event: &StreamEvent) -> String {
    match &event.output_index {
        Json::Null => event.item_id.or_empty().to_owned(),
        index => index.to_compact_text(),
    }
}

fn reported(value: &Json, code: &str) -> ModelError {
    in_band_error(value).unwrap_or_else(|| {
        let error_body = ErrorBody::of(value).unwrap_or_default();
        ModelError::Reported {
            message: error_body.message,
            transient: is_transient(code),
            code: (!code.is_empty()).then(|| code.into()),
        }
    })
}
