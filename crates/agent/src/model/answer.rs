//! The provider-independent answer of a model.

use volary_core::json::{Json, Text};
use volary_core::{json, object};

use super::ApiKey;

/// A call as the provider sent it: the arguments are text that may not be valid JSON.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct RawCall {
    /// The provider's id; empty if missing.
    pub id: String,
    /// The tool's name; empty if missing.
    pub name: String,
    /// Usually JSON text.
    pub arguments: String,
}

/// The finish reason, in OpenAI's terms, which aviary uses too.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub enum Finish {
    /// The answer is complete.
    #[default]
    Stop,
    /// The answer contains calls.
    ToolCalls,
    /// The token limit was reached.
    Length,
    /// A content filter blocked the answer.
    ContentFilter,
    /// Any other reason, in the provider's terms.
    Other(Text),
}

impl Finish {
    /// Parses OpenAI's term, or the synonyms of compatible servers.
    pub fn from_reason(reason: &str) -> Self {
        match reason {
            "stop" | "eos" | "eos_token" | "stop_sequence" | "end_turn" => Finish::Stop,
            "tool_calls" | "function_call" | "tool_call" | "tool_use" => Finish::ToolCalls,
            "length" | "model_length" | "max_tokens" => Finish::Length,
            "content_filter" => Finish::ContentFilter,
            other => Finish::Other(other.into()),
        }
    }

    /// OpenAI's term, or the provider's own.
    pub fn as_str(&self) -> &str {
        match self {
            Finish::Stop => "stop",
            Finish::ToolCalls => "tool_calls",
            Finish::Length => "length",
            Finish::ContentFilter => "content_filter",
            Finish::Other(reason) => reason,
        }
    }
}

/// Token counts.
#[derive(Clone, Copy, Debug, Default, PartialEq)]
pub struct Usage {
    /// Tokens of the request, including cached ones.
    pub prompt: u64,
    /// Tokens of the answer, including reasoning.
    pub completion: u64,
    /// Tokens of the request read from a cache.
    pub cached: u64,
    /// Tokens of the request written to a cache.
    pub cache_written: u64,
    /// Tokens of the answer spent on reasoning, if reported.
    pub reasoning: u64,
    /// The provider's charge in US dollars, if reported (OpenRouter).
    pub charged: Option<f64>,
}

/// A piece of a streamed answer.
#[derive(Clone, Debug, PartialEq)]
pub enum Delta {
    /// More text.
    Text(String),
    /// More thinking.
    Thinking(String),
    /// A call begins. `call` is its index among the calls of the answer.
    CallStarted {
        /// The index of the call.
        call: usize,
        /// Its name as far as it is known.
        name: String,
    },
    /// More of a call's arguments; not valid JSON until complete.
    Arguments {
        /// The index of the call.
        call: usize,
        /// The piece.
        text: String,
    },
    /// The token counts so far.
    Usage(Usage),
}

/// A whole answer.
#[derive(Clone, Debug, Default, PartialEq)]
pub struct Answer {
    pub text: Option<String>,
    /// The reasoning, if visible.
    pub thinking: Option<String>,
    pub calls: Vec<RawCall>,
    /// The finish reason.
    pub finish: Finish,
    /// The reason for a refusal, if the model refused.
    pub refusal: Option<String>,
    /// The token counts, if reported.
    pub usage: Option<Usage>,
    /// The model that answered, by the provider's name for it.
    pub model: Option<Text>,
    /// Parts of the answer that the provider requires unchanged in the next request (signed thinking, encrypted
    /// reasoning).
    pub echo: Vec<Json>,
}

impl Answer {
    /// The answer as a completion in OpenAI's form, which is what aviary's ToolSelector reads.
    pub fn to_completion(&self) -> Json {
        let mut message = object!({
            "role": "assistant",
            "content": (self.text.clone().or_else(|| self.refusal.clone())),
        });
        if !self.calls.is_empty() {
            let calls = self.calls.iter().map(|call| {
                json!({
                    "id": (call.id.clone()),
                    "type": "function",
                    "function": {
                        "name": (call.name.clone()),
                        "arguments": (call.arguments.clone())
                    }
                })
            });
            message.insert("tool_calls", Json::List(calls.collect()));
        }
        let mut completion = object!({
            "choices": [{"finish_reason": (self.finish.as_str()), "message": (message)}],
        });
        if let Some(model) = &self.model {
            completion.insert("model", model.clone());
        }
        if let Some(usage) = self.usage {
            completion.insert(
                "usage",
                object!({
                    "prompt_tokens": (tokens(usage.prompt)),
                    "completion_tokens": (tokens(usage.completion)),
                }),
            );
        }
        Json::Object(completion)
    }

    /// The answer with the key redacted: a server that echoes it exposes it neither on the page nor in an episode.
    pub fn redacted(&self, key: &ApiKey) -> Answer {
        let redact = |text: &Option<String>| text.as_deref().map(|text| key.redact(text));
        let calls = self.calls.iter().map(|call| RawCall {
            id: key.redact(&call.id),
            name: key.redact(&call.name),
            arguments: key.redact_json(&call.arguments),
        });
        let model = self.model.as_deref();
        Answer {
            text: redact(&self.text),
            thinking: redact(&self.thinking),
            refusal: redact(&self.refusal),
            calls: calls.collect(),
            finish: match &self.finish {
                Finish::Other(reason) => Finish::Other(key.redact(reason).into()),
                known => known.clone(),
            },
            model: model.map(|model| key.redact(model).into()),
            echo: self
                .echo
                .iter()
                .map(|part| redacted_json(part, key))
                .collect(),
            usage: self.usage,
        }
    }
}

/// The value with the key redacted.
fn redacted_json(value: &Json, key: &ApiKey) -> Json {
    let text = value.to_compact_text();
    let without = key.redact(&text);
    if without == text {
        return value.clone();
    }
    // A value that is not valid JSON after redaction is dropped.
    Json::parse(&without).unwrap_or_default()
}

/// A count as JSON; counts beyond 2^63 do not occur and are clamped.
pub(super) fn tokens(count: u64) -> i64 {
    i64::try_from(count).unwrap_or(i64::MAX)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn an_echoed_key_is_redacted_everywhere() {
        let key = ApiKey::new("sk-secret-0123456789");
        let said = || key.expose().to_owned();
        let answer = Answer {
            text: Some(said()),
            thinking: Some(said()),
            refusal: Some(said()),
            calls: vec![RawCall {
                id: said(),
                name: said(),
                arguments: said(),
            }],
            finish: Finish::Other(said().into()),
            model: Some(said().into()),
            echo: vec![json!({"reasoning": [(said())]}), json!({"kept": 1})],
            ..Answer::default()
        };
        let redacted = answer.redacted(&key);
        assert!(!format!("{redacted:?}").contains(key.expose()));
        assert_eq!(redacted.echo[1], answer.echo[1]);
        assert_eq!(redacted.echo[0], json!({"reasoning": ["YOUR_API_KEY"]}));
    }
}
