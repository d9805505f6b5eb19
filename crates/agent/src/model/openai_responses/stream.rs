//! Typed events.

use std::collections::BTreeMap;

use volary_core::json::{Json, read};

use super::output::{begin_call, close, malformed, read_items, read_response};
use crate::model::draft::Draft;
use crate::model::error_body::Complaint;
use crate::model::lenient::{list, text};
use crate::model::openai_chat::completion::{in_band_error, is_transient};
use crate::model::sse::SseEvent;
use crate::model::{Answer, Delta, ModelError, StreamReader};

/// Reads typed events. The response that closes the stream holds the answer whole, and is what
/// counts: pieces that came twice or in another order then do no harm. Should it hold no items, those that were
/// done before it count.
#[derive(Default)]
pub(super) struct ResponseStream {
    draft: Draft,
    /// Items that are done, by their place.
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
        let part = |key: &str| value.get(key).unwrap_or(&Json::Null);
        let piece = text(value, "delta");
        match text(value, "type") {
            "response.output_text.delta" => self.draft.text(piece, deltas),
            "response.refusal.delta" => self.draft.refusal(piece, deltas),
            "response.reasoning_summary_text.delta" | "response.reasoning_text.delta" => {
                self.draft.thinking(piece, deltas);
            }
            "response.output_item.added" => {
                if text(part("item"), "type") == "function_call" {
                    begin_call(&mut self.draft, &key(value), part("item"), deltas);
                }
            }
            "response.function_call_arguments.delta" => {
                let place = self.draft.call(&key(value));
                self.draft.arguments(place, piece, deltas);
            }
            "response.function_call_arguments.done" => {
                let place = self.draft.call(&key(value));
                self.draft
                    .whole_arguments(place, text(value, "arguments"), deltas);
            }
            "response.output_item.done" => {
                let next = i64::try_from(self.items.len()).unwrap_or(i64::MAX);
                let place = part("output_index").as_i64().unwrap_or(next);
                self.items.insert(place, part("item").clone());
            }
            "response.completed" | "response.incomplete" => self.close(part("response"), deltas)?,
            "response.failed" | "response.cancelled" => {
                return Err(
                    in_band_error(part("response")).unwrap_or(ModelError::Reported {
                        message: "the response failed without a reason.".into(),
                        code: None,
                        transient: true,
                    }),
                );
            }
            "error" => return Err(reported(value)),
            // Some routers report errors without a type.
            _ => {
                if let Some(error) = in_band_error(value) {
                    return Err(error);
                }
            }
        }
        Ok(())
    }

    fn close(&mut self, response: &Json, deltas: &mut Vec<Delta>) -> Result<(), ModelError> {
        let mut answer = if list(response, "output").is_empty() && !self.items.is_empty() {
            let items: Vec<Json> = self.items.values().cloned().collect();
            let mut answer = read_items(&items);
            close(&mut answer, response);
            answer
        } else {
            read_response(response)?
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

/// What tells the pieces of one item from those of another.
fn key(value: &Json) -> String {
    match value.get("output_index") {
        Some(index) => index.to_compact_text(),
        None => text(value, "item_id").to_owned(),
    }
}

fn reported(value: &Json) -> ModelError {
    in_band_error(value).unwrap_or_else(|| {
        let complaint = Complaint::of(value).unwrap_or_default();
        let code = text(value, "code");
        ModelError::Reported {
            message: complaint.message,
            transient: is_transient(code),
            code: (!code.is_empty()).then(|| code.into()),
        }
    })
}
