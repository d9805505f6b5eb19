//! What came of a call: the answer, or why there is none.

use serde::{Deserialize, Serialize};
use volary_core::json::{Json, Text};

use super::Availability;
use super::constraint::{Decoded, decode};
use crate::model::lenient::read_or_default;
use crate::model::{Answer, Finish, ModelError, Usage};

/// The result of a call, as it is recorded.
#[derive(Clone, Debug, Default, PartialEq, Serialize, Deserialize)]
#[serde(rename_all = "camelCase", default)]
pub struct PromptReply {
    /// The answer; `None` if the call failed.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub response: Option<String>,
    /// Whether the call had a `responseConstraint`, so that the answer is JSON.
    pub constrained: bool,
    /// The tokens of the session and the prompt, and of the answer, as far as the browser counts them.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub prompt_tokens: Option<f64>,
    #[serde(skip_serializing_if = "Option::is_none")]
    pub response_tokens: Option<f64>,
    #[serde(skip_serializing_if = "Option::is_none")]
    pub error: Option<Fault>,
}

/// An exception of the API, as data.
#[derive(Clone, Debug, Default, PartialEq, Serialize, Deserialize)]
#[serde(default)]
pub struct Fault {
    /// The name of the exception, or the [`Availability`] that forbids the call.
    pub name: String,
    pub message: String,
    /// The tokens that were needed, and those that there are (`QuotaExceededError`).
    #[serde(skip_serializing_if = "Option::is_none")]
    pub requested: Option<f64>,
    #[serde(skip_serializing_if = "Option::is_none")]
    pub quota: Option<f64>,
}

/// Why the built-in model did not answer.
#[derive(Clone, Debug, PartialEq, Eq, thiserror::Error)]
#[non_exhaustive]
pub enum BuiltInError {
    /// It cannot be used now.
    #[error("{}", .0.what())]
    NotReady(Availability),
    /// The conversation is longer than the model's context window.
    #[error(
        "The conversation is too long for it{}.",
        .tokens.map_or_else(String::new, |(needed, room)| format!(": it needs {needed} tokens of {room}"))
    )]
    ContextFull {
        /// The tokens that were needed, and those that there are.
        tokens: Option<(u64, u64)>,
    },
    /// A language, an option or the JSON Schema is not supported.
    #[error("It does not support this request. {message}")]
    Unsupported { message: Text },
    /// The user, a policy of the browser or of the page's host forbids it, or a download was not started by a click.
    #[error("The browser does not allow it. {message}")]
    NotAllowed { message: Text },
    /// The browser filtered the answer.
    #[error("The browser withheld the answer. {message}")]
    Filtered { message: Text },
    /// The call or the download was cancelled.
    #[error("It was cancelled.")]
    Aborted,
    #[error("The download of the model failed. {message}")]
    DownloadFailed { message: Text },
    /// Any other exception.
    #[error("{name}: {message}")]
    Failed { name: Text, message: Text },
}

impl Fault {
    /// The call was not made: the model cannot be used now.
    pub fn not_ready(availability: Availability) -> Self {
        Fault {
            name: availability.as_str().to_owned(),
            ..Fault::default()
        }
    }

    /// Sorts it by what the user can do about it.
    pub fn error(&self) -> BuiltInError {
        let message = || Text::from(self.message.trim());
        match &*self.name {
            "QuotaExceededError" => BuiltInError::ContextFull {
                tokens: count(self.requested).zip(count(self.quota)),
            },
            "NotSupportedError" => BuiltInError::Unsupported { message: message() },
            "NotAllowedError" | "SecurityError" => BuiltInError::NotAllowed { message: message() },
            "NotReadableError" => BuiltInError::Filtered { message: message() },
            "AbortError" => BuiltInError::Aborted,
            "NetworkError" => BuiltInError::DownloadFailed { message: message() },
            name => match Availability::from_name(name) {
                Some(availability) => BuiltInError::NotReady(availability),
                None => BuiltInError::Failed {
                    name: name.into(),
                    message: message(),
                },
            },
        }
    }
}

impl BuiltInError {
    /// Whether the same call may succeed later, without anybody's doing.
    pub fn is_transient(&self) -> bool {
        matches!(self, BuiltInError::Failed { name, .. } if matches!(&**name, "UnknownError" | "OperationError"))
    }

    /// What to do.
    pub fn remedy(&self) -> &'static str {
        match self {
            BuiltInError::NotReady(availability) => availability.remedy(),
            BuiltInError::ContextFull { .. } => {
                "Play a task with shorter texts or fewer steps, or use another connection. Steps so far \
                 are kept."
            }
            BuiltInError::Unsupported { .. } => {
                "Play a task in English, or use another connection."
            }
            BuiltInError::NotAllowed { .. } => {
                "Check Chrome's settings (System, On-device AI), and press Download in this page's \
                 settings. A frame in another site has no access to the model."
            }
            BuiltInError::Filtered { .. } => "Try again, or take the step manually.",
            BuiltInError::Aborted => "Start it again.",
            BuiltInError::DownloadFailed { .. } => {
                "Check the network and the free space, then press Download again."
            }
            BuiltInError::Failed { .. } => {
                "Try again. If it fails each time, restart the browser or use another connection."
            }
        }
    }
}

/// Decodes a reply.
pub(super) fn read(body: &Json) -> Result<Answer, ModelError> {
    let reply: PromptReply = read_or_default(body);
    if let Some(error) = &reply.error {
        return Err(ModelError::BuiltIn(error.error()));
    }
    let Some(response) = reply.response else {
        return Err(ModelError::Malformed {
            format: "a reply of the Prompt API",
            reason: "it has no `response`.".into(),
        });
    };
    let usage = Usage {
        prompt: count(reply.prompt_tokens).unwrap_or(0),
        completion: count(reply.response_tokens).unwrap_or(0),
        // Nobody charges for it.
        charged: Some(0.0),
        ..Usage::default()
    };
    let answer = Answer {
        usage: Some(usage),
        ..Answer::default()
    };
    let decoded = if reply.constrained {
        decode(&response)
    } else {
        Decoded::Text(response)
    };
    Ok(match decoded {
        Decoded::Call(call) => Answer {
            calls: vec![call],
            finish: Finish::ToolCalls,
            ..answer
        },
        Decoded::Text(text) => Answer {
            text: Some(text),
            ..answer
        },
    })
}

/// A number of tokens; the API counts in floats.
fn count(tokens: Option<f64>) -> Option<u64> {
    let tokens = tokens.filter(|tokens| tokens.is_finite() && *tokens >= 0.0)?;
    Some(tokens.round() as u64)
}

#[cfg(test)]
mod tests {
    use volary_core::json::{from_json, read as parse, to_json};

    use super::*;

    fn reply(text: &str) -> Result<Answer, ModelError> {
        read(&parse(text).unwrap())
    }

    fn error(fault: &str) -> BuiltInError {
        match reply(&format!(r#"{{"error":{fault}}}"#)) {
            Err(ModelError::BuiltIn(error)) => error,
            other => panic!("{other:?}"),
        }
    }

    #[test]
    fn a_constrained_answer_is_a_call_without_a_price() {
        let answer = reply(
            r#"{"response":"{\"tool\":\"add\",\"arguments\":{\"x\":2}}","constrained":true,"promptTokens":120.0,"responseTokens":12.4}"#,
        )
        .unwrap();
        assert_eq!(answer.calls[0].name, "add");
        assert_eq!(answer.finish, Finish::ToolCalls);
        let usage = answer.usage.unwrap();
        assert_eq!(
            (usage.prompt, usage.completion, usage.charged),
            (120, 12, Some(0.0))
        );
    }

    #[test]
    fn any_other_answer_is_text() {
        let text = r#"{"response":"{\"tool\":\"add\"}","constrained":false}"#;
        let answer = reply(text).unwrap();
        assert_eq!(answer.text.as_deref(), Some(r#"{"tool":"add"}"#));
        assert!(answer.calls.is_empty());
    }

    #[test]
    fn a_malformed_reply_is_an_error() {
        for body in ["null", "{}", r#"{"response":3}"#, "[]"] {
            assert!(
                matches!(reply(body), Err(ModelError::Malformed { .. })),
                "{body}"
            );
        }
    }

    #[test]
    fn exceptions_are_typed() {
        let full =
            error(r#"{"name":"QuotaExceededError","message":"m","requested":9000,"quota":6144}"#);
        assert_eq!(
            full,
            BuiltInError::ContextFull {
                tokens: Some((9000, 6144))
            }
        );
        assert_eq!(
            full.to_string(),
            "The conversation is too long for it: it needs 9000 tokens of 6144."
        );
        // Before the exception had fields.
        let bare = error(r#"{"name":"QuotaExceededError"}"#);
        assert_eq!(bare.to_string(), "The conversation is too long for it.");
        assert_eq!(error(r#"{"name":"AbortError"}"#), BuiltInError::Aborted);
        assert_eq!(
            error(r#"{"name":"downloadable"}"#),
            BuiltInError::NotReady(Availability::Downloadable)
        );
        let unknown = error(r#"{"name":"UnknownError","message":"It broke."}"#);
        assert!(unknown.is_transient() && !full.is_transient());
        for name in [
            "NotSupportedError",
            "NotAllowedError",
            "NotReadableError",
            "NetworkError",
        ] {
            let error = error(&format!(r#"{{"name":"{name}","message":" Because. "}}"#));
            assert!(error.to_string().ends_with(" Because."), "{error}");
            assert!(!error.remedy().is_empty() && !error.is_transient());
        }
    }

    #[test]
    fn replies_come_back() {
        let reply = PromptReply {
            response: Some("Hi".into()),
            prompt_tokens: Some(3.0),
            error: Some(Fault::not_ready(Availability::Missing)),
            ..PromptReply::default()
        };
        let stored = to_json(&reply).unwrap();
        assert_eq!(
            stored.to_compact_text(),
            r#"{"response":"Hi","constrained":false,"promptTokens":3.0,"error":{"name":"missing","message":""}}"#
        );
        assert_eq!(from_json(&stored), Ok(reply));
    }
}
