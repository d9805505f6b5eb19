//! Complete chat completions, and the parsing that chunks share.

use volary_core::json::{Json, Object, Text};

use super::wire::{ChatUsage, Completion, ContentChunk, ReplyCall, ReplyMessage};
use crate::model::error_body::ErrorBody;
use crate::model::lenient::{read_or_default, text};
use crate::model::{Answer, Finish, ModelError, RawCall};

const FORMAT: &str = "an OpenAI chat completion";

/// Reads a complete completion.
pub(in crate::model) fn read_completion(body: &Json) -> Result<Answer, ModelError> {
    if let Some(error) = in_band_error(body) {
        return Err(error);
    }
    let Completion {
        choices,
        usage,
        model,
    } = read_or_default(body);
    let Some(choices) = &choices.0 else {
        return Err(malformed("it has no `choices`."));
    };
    let [choice] = choices.as_slice() else {
        return Err(not_one_choice(choices.len()));
    };
    let Some(message) = choice.message.as_ref() else {
        return Err(malformed("its choice has no `message`."));
    };
    let calls: Vec<RawCall> = message.tool_calls.iter().map(ReplyCall::to_raw).collect();
    let content = content(&message.content);
    let finish_reason = choice.finish_reason.not_empty();
    Ok(Answer {
        text: content.text.filter(|text| !text.is_empty()),
        thinking: message.thinking().or(content.thinking),
        finish: finish(finish_reason.map(|reason| &**reason), &calls),
        calls,
        refusal: message.refusal.not_empty().map(|text| text.to_string()),
        usage: usage.and_then(ChatUsage::to_usage),
        model: model.not_empty().cloned(),
        echo: echo(message),
    })
}

/// The echo of a message: its reasoning, if the server accepts that.
fn echo(message: &ReplyMessage) -> Vec<Json> {
    let mut echo = Object::new();
    if !message.reasoning_details.is_empty() {
        echo.insert("reasoning_details", message.reasoning_details.to_vec());
    } else if let Some(reasoning) = message.reasoning_content.not_empty() {
        echo.insert("reasoning_content", reasoning.clone());
    }
    let chunks = ContentChunk::of(&message.content);
    if chunks.iter().any(ContentChunk::is_thinking) {
        echo.insert("content", message.content.clone());
    }
    echoed(echo)
}

/// An echo of these fields; empty if there are none.
pub(in crate::model) fn echoed(fields: Object) -> Vec<Json> {
    if fields.is_empty() {
        Vec::new()
    } else {
        vec![Json::Object(fields)]
    }
}

/// The parsed content: a text, or a list of chunks of text and thinking (Mistral).
#[derive(Default)]
pub(in crate::model) struct Content {
    pub text: Option<String>,
    pub thinking: Option<String>,
}

pub(in crate::model) fn content(value: &Json) -> Content {
    let mut content = Content::default();
    if let Json::Text(text) = value {
        content.text = Some(text.to_string());
    }
    for chunk in ContentChunk::of(value) {
        if let Some(text) = chunk.text.as_ref() {
            content.text.get_or_insert_default().push_str(text);
        }
        let thought = match &chunk.thinking {
            Json::Text(text) => Some(text.to_string()),
            inner @ Json::List(_) => self::content(inner).text,
            _ => None,
        };
        if let Some(thought) = thought {
            content.thinking.get_or_insert_default().push_str(&thought);
        }
    }
    content
}

/// The finish reason. Some servers omit it: then it follows from the calls.
pub(in crate::model) fn finish(reason: Option<&str>, calls: &[RawCall]) -> Finish {
    match reason {
        Some(reason) => Finish::from_reason(reason),
        None if calls.is_empty() => Finish::Stop,
        None => Finish::ToolCalls,
    }
}

/// An error in a reply of a success status: under `error`, or an object marked as one.
pub(in crate::model) fn in_band_error(body: &Json) -> Option<ModelError> {
    let under_error = body.get("error").filter(|error| !error.is_null());
    if under_error.is_none() && text(body, "object") != "error" {
        return None;
    }
    let error_body = ErrorBody::of(body).unwrap_or_else(|| ErrorBody {
        message: under_error.unwrap_or(body).to_compact_text().into(),
        ..ErrorBody::default()
    });
    let status = under_error.and_then(|error| error.get("code")?.as_i64());
    let code = error_body.code.as_deref().unwrap_or("");
    Some(ModelError::Reported {
        message: error_body.message,
        transient: matches!(status, Some(408 | 429 | 500..=599)) || is_transient(code),
        code: error_body.code,
    })
}

/// Whether an error code means that a retry may succeed.
pub(in crate::model) fn is_transient(code: &str) -> bool {
    let code = code.to_lowercase();
    let known_codes = [
        "rate_limit",
        "overloaded",
        "server_error",
        "timeout",
        "unavailable",
        "exhausted",
        "api_error",
    ];
    matches!(code.as_str(), "408" | "429" | "500" | "502" | "503" | "529")
        || known_codes.iter().any(|known| code.contains(known))
}

/// The same error message as aviary's.
pub(in crate::model) fn not_one_choice(choices: usize) -> ModelError {
    malformed(format!(
        "Expected one choice in model response, got {choices} choices."
    ))
}

pub(in crate::model) fn malformed(reason: impl Into<Text>) -> ModelError {
    ModelError::Malformed {
        format: FORMAT,
        reason: reason.into(),
    }
}
