//! Parameter fallback: learns from error replies which parameters a model rejects.
//!
//! Providers accept different subsets of the same parameters, and the subsets change from model to model and from month
//! to month: one model always thinks and cannot be forced to call tools, another has no temperature. A table of models
//! would soon be outdated, so there is none: when a request is rejected with a message that names a parameter it sent,
//! [`fallback_for`] returns the fallback to make, and the request is sent again. Each fallback is made at most once, so
//! this terminates; the sender stores them for the connection and shows them to the user.

use volary_core::AnyMessage;

use super::history::echo_of;
use super::{ModelError, ModelRequest, ProviderKind};

/// A feature or parameter that is not used, because the model rejects it.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub enum ParameterFallback {
    /// A call cannot be forced; the choice is left to the model.
    FreeChoice,
    /// No tool choice parameter.
    NoToolChoice,
    NoTemperature,
    /// No stop sequences.
    NoStop,
    NoSeed,
    /// No reasoning effort.
    NoEffort,
    /// No schema of the answer.
    NoSchema,
    /// No summaries of the reasoning.
    NoSummary,
    /// No encrypted reasoning in answers.
    NoEncryptedReasoning,
    /// The token limit is sent under OpenAI's newer name.
    NewLimitName,
    /// No token counts in streams.
    NoStreamUsage,
    /// Earlier reasoning is not sent back.
    NoEcho,
    /// Every call in the history needs reasoning, if only an empty text.
    EmptyReasoning,
    /// Tool results must be followed by a message of the model, so one is inserted.
    Bridge,
}

impl ParameterFallback {
    /// All fallbacks.
    pub const ALL: [ParameterFallback; 14] = [
        ParameterFallback::FreeChoice,
        ParameterFallback::NoToolChoice,
        ParameterFallback::NoTemperature,
        ParameterFallback::NoStop,
        ParameterFallback::NoSeed,
        ParameterFallback::NoEffort,
        ParameterFallback::NoSchema,
        ParameterFallback::NoSummary,
        ParameterFallback::NoEncryptedReasoning,
        ParameterFallback::NewLimitName,
        ParameterFallback::NoStreamUsage,
        ParameterFallback::NoEcho,
        ParameterFallback::EmptyReasoning,
        ParameterFallback::Bridge,
    ];

    /// An explanation for people: a sentence about the model.
    pub const fn explanation(self) -> &'static str {
        match self {
            ParameterFallback::FreeChoice => {
                "This model cannot be forced to call a tool, so tool choice is auto."
            }
            ParameterFallback::NoToolChoice => {
                "This model does not support tool choice, so it is not \
                 sent."
            }
            ParameterFallback::NoTemperature => {
                "This model does not support temperature, so it is not \
                 sent."
            }
            ParameterFallback::NoStop => {
                "This model does not support stop sequences, so they are not \
                 sent."
            }
            ParameterFallback::NoSeed => "This model does not support a seed, so it is not sent.",
            ParameterFallback::NoEffort => {
                "This model does not support reasoning effort in this request, so it is not sent."
            }
            ParameterFallback::NoSchema => {
                "This model does not support a schema for its answer, so it is not sent."
            }
            ParameterFallback::NoSummary => "This model does not provide reasoning summaries.",
            ParameterFallback::NoEncryptedReasoning => {
                "This model does not provide reasoning to send \
                 back."
            }
            ParameterFallback::NewLimitName => {
                "This model requires the token limit as \
                 max_completion_tokens."
            }
            ParameterFallback::NoStreamUsage => "This model does not report tokens in streams.",
            ParameterFallback::NoEcho => {
                "This model rejected its earlier reasoning, so it is not sent."
            }
            ParameterFallback::EmptyReasoning => {
                "This model requires reasoning with every call, so an empty one is added to calls \
                 without it."
            }
            ParameterFallback::Bridge => {
                "This model requires an assistant message after tool results, so one is inserted."
            }
        }
    }
}

/// A set of fallbacks.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Hash)]
pub struct ParameterFallbacks(u16);

impl ParameterFallbacks {
    /// Whether the set contains a fallback.
    pub const fn has(self, fallback: ParameterFallback) -> bool {
        self.0 & (1 << fallback as u16) != 0
    }

    /// The set with one more fallback.
    #[must_use]
    pub const fn with(self, fallback: ParameterFallback) -> Self {
        ParameterFallbacks(self.0 | (1 << fallback as u16))
    }

    /// The fallbacks in the set.
    pub fn iter(self) -> impl Iterator<Item = ParameterFallback> {
        ParameterFallback::ALL
            .into_iter()
            .filter(move |fallback| self.has(*fallback))
    }
}

/// The fallback with which a rejected request may succeed. `None` if the error names no parameter that can be
/// omitted, or only an invalid value (the user has to fix a temperature out of range).
pub fn fallback_for(
    kind: ProviderKind,
    request: &ModelRequest,
    error: &ModelError,
) -> Option<ParameterFallback> {
    if kind == ProviderKind::Sglang {
        // The sender renders its body, which contains none of these parameters.
        return None;
    }
    let text = error_text(error)?;
    let says = |word: &str| text.contains(word);
    let made = |fallback| request.fallbacks.has(fallback);
    let chat = matches!(kind, ProviderKind::OpenAiChat | ProviderKind::Mistral);

    let found = if request.sent_schema().is_some() && names_schema(&text) {
        ParameterFallback::NoSchema
    } else if says("encrypted content is not supported") || says("param:include") {
        ParameterFallback::NoEncryptedReasoning
    } else if says("reasoning_content") && (says("passed back") || says("missing")) {
        ParameterFallback::EmptyReasoning
    } else if sends_echo(request) && names_echo(&text) {
        ParameterFallback::NoEcho
    } else if chat && says("after role") {
        ParameterFallback::Bridge
    } else if request.choice().is_some() && (says("tool_choice") || says("tool choice")) {
        match request.choice() {
            Some(choice) if choice.is_forced() => ParameterFallback::FreeChoice,
            _ => ParameterFallback::NoToolChoice,
        }
    } else if request.max_tokens.is_some() && says("max_completion_tokens") {
        ParameterFallback::NewLimitName
    } else if request.stream && says("stream_options") {
        ParameterFallback::NoStreamUsage
    } else if request.sent_temperature().is_some() && says("temperature") && !names_range(&text) {
        ParameterFallback::NoTemperature
    } else if request.sent_effort().is_some() && says("summar") {
        ParameterFallback::NoSummary
    } else if request.sent_effort().is_some()
        && (says("effort") || says("thinking") || says("reasoning"))
    {
        ParameterFallback::NoEffort
    } else if request.sent_seed().is_some() && (says("seed") || says("random_seed")) {
        ParameterFallback::NoSeed
    } else if request.sent_stop().is_some()
        && (says("'stop'") || says("stop_sequences") || says("param:stop"))
    {
        ParameterFallback::NoStop
    } else {
        return None;
    };
    (!made(found)).then_some(found)
}

/// The error message in lower case, with the parameter that it names.
fn error_text(error: &ModelError) -> Option<String> {
    match error {
        ModelError::Status {
            status: 400 | 404 | 422,
            message,
            parameter,
            ..
        } => {
            let parameter = parameter.as_deref().unwrap_or("");
            Some(format!("{message} param:{parameter}").to_lowercase())
        }
        ModelError::Reported {
            message,
            transient: false,
            ..
        } => Some(message.to_lowercase()),
        _ => None,
    }
}

fn names_schema(text: &str) -> bool {
    [
        "response_format",
        "response format",
        "json_schema",
        "json schema",
        "text.format",
        "output_config.format",
        "output_format",
        "structured output",
        "response_json_schema",
        "responsejsonschema",
        "response_mime_type",
        "responsemimetype",
    ]
    .iter()
    .any(|name| text.contains(name))
}

fn sends_echo(request: &ModelRequest) -> bool {
    request.messages.iter().any(
        |message| matches!(message, AnyMessage::Request(request) if echo_of(request).is_some()),
    )
}

fn names_echo(text: &str) -> bool {
    [
        "signature",
        "thinking block",
        "`thinking`",
        "encrypted",
        "reasoning_details",
    ]
    .iter()
    .any(|name| text.contains(name))
        || text.contains("reasoning")
            && ["item", "unsupported", "not permitted", "not found"]
                .iter()
                .any(|name| text.contains(name))
}

fn names_range(text: &str) -> bool {
    [
        "between",
        "range",
        "less than",
        "greater than",
        "maximum",
        "minimum",
        "at most",
    ]
    .iter()
    .any(|name| text.contains(name))
}

#[cfg(test)]
mod tests {
    use volary_core::json::read::read;
    use volary_core::{Tool, ToolRequestMessage};

    use super::*;
    use crate::model::{Effort, ToolChoice};

    fn request() -> ModelRequest {
        let tool =
            r#"{"type":"function","function":{"name":"f","description":"d","parameters":null}}"#;
        let message = r#"{"role":"assistant","tool_calls":[],"content":"x"}"#;
        let mut message = ToolRequestMessage::read(&read(message).unwrap()).unwrap();
        message.body.info = Some(volary_core::object!({
            "echo": {"provider": "anthropic", "model": "m", "parts": [{"type": "thinking"}]}
        }));
        ModelRequest {
            model: "m".into(),
            messages: vec![message.into()],
            tools: vec![Tool::read(&read(tool).unwrap()).unwrap()],
            tool_choice: Some(ToolChoice::Required),
            temperature: Some(0.2),
            max_tokens: Some(10),
            stop: vec!["x".into()],
            seed: Some(1),
            effort: Some(Effort::Low),
            schema: Some(volary_core::json!({"type": "object"})),
            stream: true,
            ..ModelRequest::default()
        }
    }

    fn refusal(message: &str, parameter: Option<&str>) -> ModelError {
        ModelError::Status {
            status: 400,
            message: message.into(),
            code: None,
            parameter: parameter.map(Into::into),
            retry_after: None,
        }
    }

    #[test]
    fn words_of_providers_are_understood() {
        for (message, parameter, expected) in [
            (
                "Thinking may not be enabled when tool_choice forces tool use.",
                None,
                Some(ParameterFallback::FreeChoice),
            ),
            (
                "tool_choice.type: any is not supported for this model",
                None,
                Some(ParameterFallback::FreeChoice),
            ),
            (
                "Unsupported value: 'temperature' does not support 0.2 with this model. Only the default (1) value is supported.",
                Some("temperature"),
                Some(ParameterFallback::NoTemperature),
            ),
            (
                "Unsupported parameter: 'max_tokens' is not supported with this model. Use 'max_completion_tokens' instead.",
                Some("max_tokens"),
                Some(ParameterFallback::NewLimitName),
            ),
            (
                "Function tools with reasoning_effort are not supported for gpt-5.6-luna in /v1/chat/completions. To use function tools, use /v1/responses or set reasoning_effort to 'none'.",
                Some("reasoning_effort"),
                Some(ParameterFallback::NoEffort),
            ),
            (
                "Encrypted content is not supported with this model.",
                Some("include"),
                Some(ParameterFallback::NoEncryptedReasoning),
            ),
            (
                "Your organization must be verified to generate reasoning summaries.",
                Some("reasoning.summary"),
                Some(ParameterFallback::NoSummary),
            ),
            (
                "The reasoning_content in the thinking mode must be passed back to the API.",
                None,
                Some(ParameterFallback::EmptyReasoning),
            ),
            (
                "messages.1.content.0: Invalid `signature` in `thinking` block",
                None,
                Some(ParameterFallback::NoEcho),
            ),
            (
                "Unexpected role 'user' after role 'tool'",
                None,
                Some(ParameterFallback::Bridge),
            ),
            (
                "This model does not support the effort parameter.",
                None,
                Some(ParameterFallback::NoEffort),
            ),
            (
                "Invalid parameter: 'response_format' of type 'json_schema' is not supported with this model.",
                Some("response_format"),
                Some(ParameterFallback::NoSchema),
            ),
            (
                "This model does not support structured outputs.",
                None,
                Some(ParameterFallback::NoSchema),
            ),
            ("temperature: must be between 0 and 1", None, None),
            ("The model `x` does not exist", None, None),
        ] {
            assert_eq!(
                fallback_for(
                    ProviderKind::OpenAiChat,
                    &request(),
                    &refusal(message, parameter)
                ),
                expected,
                "{message}"
            );
        }
    }

    #[test]
    fn each_is_made_once_and_choices_end() {
        let refusal = refusal("tool_choice is not supported", None);
        let mut request = request();
        let mut made = Vec::new();
        while let Some(next) = fallback_for(ProviderKind::OpenAiChat, &request, &refusal) {
            request.fallbacks = request.fallbacks.with(next);
            made.push(next);
        }
        assert_eq!(
            made,
            [
                ParameterFallback::FreeChoice,
                ParameterFallback::NoToolChoice
            ]
        );
        assert_eq!(request.choice(), None);
        assert_eq!(request.fallbacks.iter().collect::<Vec<_>>(), made);
    }

    #[test]
    fn other_failures_are_none() {
        let error = ModelError::Status {
            status: 500,
            message: "tool_choice".into(),
            code: None,
            parameter: None,
            retry_after: None,
        };
        assert_eq!(
            fallback_for(ProviderKind::OpenAiChat, &request(), &error),
            None
        );
        assert_eq!(
            fallback_for(ProviderKind::OpenAiChat, &request(), &ModelError::Cut),
            None
        );
    }
}
