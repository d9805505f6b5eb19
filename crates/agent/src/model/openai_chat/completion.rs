//! Whole chat completions, and what they share with chunks.

use volary_core::json::{Json, Object, Text};

use crate::model::error_body::Complaint;
use crate::model::lenient::{count, list, some_text, text};
use crate::model::{Answer, Finish, ModelError, RawCall, Usage};

const FORMAT: &str = "an OpenAI chat completion";

/// Reads a whole completion.
pub(in crate::model) fn read_completion(body: &Json) -> Result<Answer, ModelError> {
    if let Some(error) = in_band_error(body) {
        return Err(error);
    }
    let Some(choices) = body.get("choices").and_then(Json::as_list) else {
        return Err(malformed("it has no `choices`."));
    };
    let [choice] = choices else {
        return Err(not_one_choice(choices.len()));
    };
    let Some(message) = choice
        .get("message")
        .filter(|message| message.as_object().is_some())
    else {
        return Err(malformed("its choice has no `message`."));
    };
    let calls: Vec<RawCall> = list(message, "tool_calls").iter().map(raw_call).collect();
    let content = content(message.get("content"));
    Ok(Answer {
        text: content.text.filter(|text| !text.is_empty()),
        thinking: thinking(message).or(content.thinking),
        finish: finish(some_text(choice, "finish_reason").as_deref(), &calls),
        calls,
        refusal: some_text(message, "refusal").map(|text| text.to_string()),
        usage: body.get("usage").and_then(usage),
        model: some_text(body, "model"),
        echo: echo(message),
    })
}

/// What the model wants back with the message: its reasoning, where the server takes that.
fn echo(message: &Json) -> Vec<Json> {
    let mut echo = Object::new();
    let details = list(message, "reasoning_details");
    if !details.is_empty() {
        echo.insert("reasoning_details", details.to_vec());
    } else if let Some(reasoning) = some_text(message, "reasoning_content") {
        echo.insert("reasoning_content", reasoning);
    }
    let chunks = list(message, "content");
    if chunks.iter().any(is_thinking) {
        echo.insert("content", chunks.to_vec());
    }
    echoed(echo)
}

/// An echo of these fields; none of none.
pub(in crate::model) fn echoed(fields: Object) -> Vec<Json> {
    if fields.is_empty() {
        Vec::new()
    } else {
        vec![Json::Object(fields)]
    }
}

/// Whether a chunk of content is one of thinking (Mistral).
pub(in crate::model) fn is_thinking(chunk: &Json) -> bool {
    text(chunk, "type") == "thinking"
}

/// What a content holds: a text, or a list of chunks of text and thinking (Mistral).
#[derive(Default)]
pub(in crate::model) struct Content {
    pub text: Option<String>,
    pub thinking: Option<String>,
}

pub(in crate::model) fn content(value: Option<&Json>) -> Content {
    let mut content = Content::default();
    match value {
        Some(Json::Text(text)) => content.text = Some(text.to_string()),
        Some(Json::List(chunks)) => {
            for chunk in chunks {
                if let Some(text) = chunk.get("text").and_then(Json::as_text) {
                    content.text.get_or_insert_default().push_str(text);
                }
                let thought = match chunk.get("thinking") {
                    Some(Json::Text(text)) => Some(text.to_string()),
                    Some(inner @ Json::List(_)) => self::content(Some(inner)).text,
                    _ => None,
                };
                if let Some(thought) = thought {
                    content.thinking.get_or_insert_default().push_str(&thought);
                }
            }
        }
        _ => {}
    }
    content
}

pub(in crate::model) fn raw_call(call: &Json) -> RawCall {
    let function = call.get("function").unwrap_or(&Json::Null);
    RawCall {
        id: text(call, "id").to_owned(),
        name: text(function, "name").to_owned(),
        arguments: arguments(function.get("arguments")),
    }
}

/// Arguments as text, whether they came as text or as an object.
pub(in crate::model) fn arguments(value: Option<&Json>) -> String {
    match value {
        Some(Json::Text(text)) => text.to_string(),
        None | Some(Json::Null) => String::new(),
        Some(value) => value.to_python_text(),
    }
}

/// Thinking goes by one of these names; who sends two of them says the same under both.
pub(in crate::model) fn thinking(message: &Json) -> Option<String> {
    ["reasoning_content", "reasoning"]
        .iter()
        .find_map(|key| some_text(message, key))
        .map(|text| text.to_string())
}

/// The reason to stop. Some servers leave it out: then the calls speak.
pub(in crate::model) fn finish(word: Option<&str>, calls: &[RawCall]) -> Finish {
    match word {
        Some(word) => Finish::from_word(word),
        None if calls.is_empty() => Finish::Stop,
        None => Finish::ToolCalls,
    }
}

pub(in crate::model) fn usage(value: &Json) -> Option<Usage> {
    let detail = |key: &str| count(value, &["prompt_tokens_details", key]);
    Some(Usage {
        prompt: count(value, &["prompt_tokens"])?,
        completion: count(value, &["completion_tokens"]).unwrap_or(0),
        cached: detail("cached_tokens")
            .or_else(|| count(value, &["prompt_cache_hit_tokens"]))
            .unwrap_or(0),
        cache_written: detail("cache_write_tokens").unwrap_or(0),
        reasoning: count(value, &["completion_tokens_details", "reasoning_tokens"]).unwrap_or(0),
        charged: value.get("cost").and_then(Json::as_f64),
    })
}

/// An error that came with a success status: under `error`, or as an object that says it is one.
pub(in crate::model) fn in_band_error(body: &Json) -> Option<ModelError> {
    let under_error = body.get("error").filter(|error| !error.is_null());
    if under_error.is_none() && text(body, "object") != "error" {
        return None;
    }
    let complaint = Complaint::of(body).unwrap_or_else(|| Complaint {
        message: under_error.unwrap_or(body).to_compact_text().into(),
        ..Complaint::default()
    });
    let status = under_error.and_then(|error| error.get("code")?.as_i64());
    let word = complaint.code.as_deref().unwrap_or("");
    Some(ModelError::Reported {
        message: complaint.message,
        transient: matches!(status, Some(408 | 429 | 500..=599)) || is_transient(word),
        code: complaint.code,
    })
}

/// Whether a provider's word for an error means that another try may help.
pub(in crate::model) fn is_transient(word: &str) -> bool {
    let word = word.to_lowercase();
    let words = [
        "rate_limit",
        "overloaded",
        "server_error",
        "timeout",
        "unavailable",
        "exhausted",
        "api_error",
    ];
    matches!(word.as_str(), "408" | "429" | "500" | "502" | "503" | "529")
        || words.iter().any(|known| word.contains(known))
}

/// As aviary says it.
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
