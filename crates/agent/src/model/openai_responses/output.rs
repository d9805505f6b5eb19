//! Parses responses into answers.

use volary_core::json::{Json, Text};

use super::wire::{OutputItem, Response, ResponseUsage};
use crate::model::draft::Draft;
use crate::model::lenient::read_or_default;
use crate::model::openai_chat::completion::in_band_error;
use crate::model::openai_chat::wire::arguments;
use crate::model::{Answer, Delta, Finish, ModelError};

const FORMAT: &str = "an OpenAI response";

/// Reads a complete response.
pub(super) fn read_response(body: &Json) -> Result<Answer, ModelError> {
    if let Some(error) = in_band_error(body) {
        return Err(error);
    }
    let response: Response = read_or_default(body);
    if response.output.0.is_none() {
        return Err(malformed("it has no `output`."));
    }
    let mut answer = read_items(&response.output);
    close(&mut answer, &response);
    Ok(answer)
}

/// Reads output items.
pub(super) fn read_items(items: &[Json]) -> Answer {
    let mut draft = Draft::default();
    let mut unused = Vec::new();
    let known: Vec<OutputItem> = items.iter().map(read_or_default).collect();
    for (index, item) in known.iter().enumerate() {
        whole_item(&mut draft, &index.to_string(), item, &mut unused);
    }
    Answer {
        echo: if goes_back(&known) {
            items.to_vec()
        } else {
            Vec::new()
        },
        ..draft.answer
    }
}

/// Whether the items are sent back: if they contain reasoning or are marked with a phase, and all reasoning is
/// encrypted.
fn goes_back(items: &[OutputItem]) -> bool {
    let mut reasoning = items
        .iter()
        .filter(|item| item.kind.or_empty() == "reasoning")
        .peekable();
    let is_marked = items.iter().any(|item| item.phase.not_empty().is_some());
    (reasoning.peek().is_some() || is_marked)
        && reasoning.all(|item| item.encrypted_content.not_empty().is_some())
}

/// Adds a complete item. Pieces already received from a stream are completed, not doubled.
fn whole_item(draft: &mut Draft, key: &str, item: &OutputItem, deltas: &mut Vec<Delta>) {
    match item.kind.or_empty() {
        "message" => {
            for part in item.content.iter() {
                draft.text(part.text.or_empty(), deltas);
                draft.refusal(part.refusal.or_empty(), deltas);
            }
        }
        "reasoning" => {
            let parts = if item.summary.is_empty() {
                &item.content
            } else {
                &item.summary
            };
            for part in parts.iter() {
                draft.thinking(part.text.or_empty(), deltas);
            }
        }
        "function_call" => {
            let index = begin_call(draft, key, item, deltas);
            draft.whole_arguments(index, &arguments(&item.arguments), deltas);
        }
        _ => {}
    }
}

/// The index of a call; its id and name are set as far as the item has them.
pub(super) fn begin_call(
    draft: &mut Draft,
    key: &str,
    item: &OutputItem,
    deltas: &mut Vec<Delta>,
) -> usize {
    let index = draft.call(key);
    let (id, name) = (item.call_id.or_empty(), item.name.or_empty());
    draft.name_call(index, id, name, deltas);
    index
}

/// Adds status, usage and model.
pub(super) fn close(answer: &mut Answer, response: &Response) {
    let details = response.incomplete_details.as_ref();
    answer.finish = match details.map_or("", |details| details.reason.or_empty()) {
        "max_output_tokens" => Finish::Length,
        "content_filter" => Finish::ContentFilter,
        "" if answer.calls.is_empty() => Finish::Stop,
        "" => Finish::ToolCalls,
        other => Finish::Other(other.into()),
    };
    answer.model = response.model.not_empty().cloned();
    if let Some(usage) = response.usage.and_then(ResponseUsage::to_usage) {
        answer.usage = Some(usage);
    }
}

pub(super) fn malformed(reason: impl Into<Text>) -> ModelError {
    ModelError::Malformed {
        format: FORMAT,
        reason: reason.into(),
    }
}
