//! What a model answers, whichever provider it came through.

use volary_core::json::{Json, Text};
use volary_core::{json, object};

use super::ApiKey;

/// A call as the provider gave it: the arguments are text that may be no JSON.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct RawCall {
    /// The provider's id; empty where it gave none.
    pub id: String,
    /// The tool's name; empty where it gave none.
    pub name: String,
    /// JSON text, if all is well.
    pub arguments: String,
}

/// Why the model stopped, in OpenAI's words, which are those of aviary.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub enum Finish {
    /// It was done.
    #[default]
    Stop,
    /// It wants its calls answered.
    ToolCalls,
    /// It ran out of tokens.
    Length,
    /// It was kept from answering.
    ContentFilter,
    /// Anything else, in the provider's words.
    Other(Text),
}

impl Finish {
    /// From OpenAI's word, or from those that compatible servers use for the same.
    pub fn from_word(word: &str) -> Self {
        match word {
            "stop" | "eos" | "eos_token" | "stop_sequence" | "end_turn" => Finish::Stop,
            "tool_calls" | "function_call" | "tool_call" | "tool_use" => Finish::ToolCalls,
            "length" | "model_length" | "max_tokens" => Finish::Length,
            "content_filter" => Finish::ContentFilter,
            other => Finish::Other(other.into()),
        }
    }

    /// OpenAI's word, or the provider's own.
    pub fn as_str(&self) -> &str {
        match self {
            Finish::Stop => "stop",
            Finish::ToolCalls => "tool_calls",
            Finish::Length => "length",
            Finish::ContentFilter => "content_filter",
            Finish::Other(word) => word,
        }
    }
}

/// Tokens that were counted.
#[derive(Clone, Copy, Debug, Default, PartialEq)]
pub struct Usage {
    /// Tokens of the request, cached ones included.
    pub prompt: u64,
    /// Tokens of the answer, thinking included.
    pub completion: u64,
    /// Tokens of the request that came from a cache.
    pub cached: u64,
    /// Tokens of the request that were put into a cache.
    pub cache_written: u64,
    /// Tokens of the answer that were thinking, where said.
    pub reasoning: u64,
    /// What the provider charged, in US dollars, where it says so (OpenRouter).
    pub charged: Option<f64>,
}

/// A piece of an answer, as it arrives.
#[derive(Clone, Debug, PartialEq)]
pub enum Delta {
    /// More text.
    Text(String),
    /// More thinking.
    Thinking(String),
    /// A call begins. `call` is its place among the calls of the answer.
    CallStarted {
        /// The place of the call.
        call: usize,
        /// Its name as far as known.
        name: String,
    },
    /// More of a call's arguments; no JSON until all are there.
    Arguments {
        /// The place of the call.
        call: usize,
        /// The piece.
        text: String,
    },
    /// The tokens so far.
    Usage(Usage),
}

/// A whole answer.
#[derive(Clone, Debug, Default, PartialEq)]
pub struct Answer {
    /// What it says.
    pub text: Option<String>,
    /// What it thought, where shown.
    pub thinking: Option<String>,
    /// What it calls.
    pub calls: Vec<RawCall>,
    /// Why it stopped.
    pub finish: Finish,
    /// Why it refused, if it did.
    pub refusal: Option<String>,
    /// The tokens, where counted.
    pub usage: Option<Usage>,
    /// The model that answered, as the provider names it.
    pub model: Option<Text>,
    /// Parts of the answer that the provider wants back with the next request, as they came
    /// (signed thinking, encrypted reasoning).
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

    /// The same answer without the key: a server that says it back gets it neither onto the page nor into an episode.
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
                Finish::Other(word) => Finish::Other(key.redact(word).into()),
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

/// The same value, unless it contains the key.
fn redacted_json(value: &Json, key: &ApiKey) -> Json {
    let text = value.to_compact_text();
    let without = key.redact(&text);
    if without == text {
        return value.clone();
    }
    // What can't be read without the key is better lost.
    Json::parse(&without).unwrap_or_default()
}

/// A count as JSON; counts beyond 2^63 do not occur and are cut there.
pub(super) fn tokens(count: u64) -> i64 {
    i64::try_from(count).unwrap_or(i64::MAX)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn an_answer_that_says_the_key_back_loses_it_everywhere() {
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
