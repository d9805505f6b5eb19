//! Responses to answers.

use volary_core::json::{Json, Text};

use crate::model::draft::Draft;
use crate::model::lenient::{count, list, some_text, text};
use crate::model::openai_chat::completion::in_band_error;
use crate::model::openai_chat::wire::arguments;
use crate::model::{Answer, Delta, Finish, ModelError, Usage};

const FORMAT: &str = "an OpenAI response";

/// Reads a whole response.
pub(super) fn read_response(body: &Json) -> Result<Answer, ModelError> {
    if let Some(error) = in_band_error(body) {
        return Err(error);
    }
    if body.get("output").and_then(Json::as_list).is_none() {
        return Err(malformed("it has no `output`."));
    }
    let mut answer = read_items(list(body, "output"));
    close(&mut answer, body);
    Ok(answer)
}

/// Reads output items.
pub(super) fn read_items(items: &[Json]) -> Answer {
    let mut draft = Draft::default();
    let mut unused = Vec::new();
    for (place, item) in items.iter().enumerate() {
        whole_item(&mut draft, &place.to_string(), item, &mut unused);
    }
    Answer {
        echo: echo(items),
        ..draft.answer
    }
}

/// What goes back: all items, if they hold reasoning that can be read again, or are marked by what they
/// are for.
fn echo(items: &[Json]) -> Vec<Json> {
    let is_reasoning = |item: &&Json| text(item, "type") == "reasoning";
    let is_readable = |item: &Json| some_text(item, "encrypted_content").is_some();
    let mut reasoning = items.iter().filter(is_reasoning).peekable();
    let marked = items.iter().any(|item| some_text(item, "phase").is_some());
    let wanted = reasoning.peek().is_some() || marked;
    if wanted && reasoning.all(is_readable) {
        items.to_vec()
    } else {
        Vec::new()
    }
}

/// Takes in an item that is complete. What is known of it from a stream is completed, not doubled.
pub(super) fn whole_item(draft: &mut Draft, key: &str, item: &Json, deltas: &mut Vec<Delta>) {
    match text(item, "type") {
        "message" => {
            for part in list(item, "content") {
                draft.text(text(part, "text"), deltas);
                draft.refusal(text(part, "refusal"), deltas);
            }
        }
        "reasoning" => {
            let summary = list(item, "summary");
            let parts = if summary.is_empty() {
                list(item, "content")
            } else {
                summary
            };
            for part in parts {
                draft.thinking(text(part, "text"), deltas);
            }
        }
        "function_call" => {
            let place = begin_call(draft, key, item, deltas);
            draft.whole_arguments(
                place,
                &arguments(item.get("arguments").unwrap_or(&Json::Null)),
                deltas,
            );
        }
        _ => {}
    }
}

/// The place of a call, named as far as the item names it.
pub(super) fn begin_call(
    draft: &mut Draft,
    key: &str,
    item: &Json,
    deltas: &mut Vec<Delta>,
) -> usize {
    let place = draft.call(key);
    let (id, name) = (text(item, "call_id"), text(item, "name"));
    draft.name_call(place, id, name, deltas);
    place
}

/// Takes in status, usage and model.
pub(super) fn close(answer: &mut Answer, response: &Json) {
    let details = response.get("incomplete_details").unwrap_or(&Json::Null);
    answer.finish = match text(details, "reason") {
        "max_output_tokens" => Finish::Length,
        "content_filter" => Finish::ContentFilter,
        "" if answer.calls.is_empty() => Finish::Stop,
        "" => Finish::ToolCalls,
        other => Finish::Other(other.into()),
    };
    answer.model = some_text(response, "model");
    if let Some(usage) = response.get("usage").and_then(usage) {
        answer.usage = Some(usage);
    }
}

fn usage(value: &Json) -> Option<Usage> {
    let input = |key: &str| count(value, &["input_tokens_details", key]).unwrap_or(0);
    Some(Usage {
        prompt: count(value, &["input_tokens"])?,
        completion: count(value, &["output_tokens"]).unwrap_or(0),
        cached: input("cached_tokens"),
        cache_written: input("cache_write_tokens"),
        reasoning: count(value, &["output_tokens_details", "reasoning_tokens"]).unwrap_or(0),
        charged: value.get("cost").and_then(Json::as_f64),
    })
}

pub(super) fn malformed(reason: impl Into<Text>) -> ModelError {
    ModelError::Malformed {
        format: FORMAT,
        reason: reason.into(),
    }
}
