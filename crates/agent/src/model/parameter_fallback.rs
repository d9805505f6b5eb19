//! Parameter fallback: learns from error replies which parameters a model rejects.
//!
//! Providers accept different subsets of the same parameters, and the subsets change from model to model and from month
//! to month: one model always thinks and cannot be forced to call tools, another has no temperature. A table of models
//! would soon be outdated, so there is none: when a request is rejected with a message that names a parameter it sent,
//! [`concede`] returns the concession to make, and the request is sent again. Each concession is made at most once, so
//! this terminates; the sender stores them for the connection and shows them to the user.

use volary_core::AnyMessage;

use super::history::echo_of;
use super::{ModelError, ModelRequest, ProviderKind};

/// A feature or parameter that is not used, because the model rejects it.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub enum Concession {
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

impl Concession {
    /// All concessions.
    pub const ALL: [Concession; 13] = [
        Concession::FreeChoice,
        Concession::NoToolChoice,
        Concession::NoTemperature,
        Concession::NoStop,
        Concession::NoSeed,
        Concession::NoEffort,
        Concession::NoSummary,
        Concession::NoEncryptedReasoning,
        Concession::NewLimitName,
        Concession::NoStreamUsage,
        Concession::NoEcho,
        Concession::EmptyReasoning,
        Concession::Bridge,
    ];

    /// An explanation for people: a sentence about the model.
    pub const fn explanation(self) -> &'static str {
        match self {
            Concession::FreeChoice => {
                "This model cannot be forced to call a tool, so tool choice is auto."
            }
            Concession::NoToolChoice => {
                "This model does not support tool choice, so it is not \
                 sent."
            }
            Concession::NoTemperature => {
                "This model does not support temperature, so it is not \
                 sent."
            }
            Concession::NoStop => {
                "This model does not support stop sequences, so they are not \
                 sent."
            }
            Concession::NoSeed => "This model does not support a seed, so it is not sent.",
            Concession::NoEffort => {
                "This model does not support reasoning effort in this request, so it is not sent."
            }
            Concession::NoSummary => "This model does not provide reasoning summaries.",
            Concession::NoEncryptedReasoning => {
                "This model does not provide reasoning to send \
                 back."
            }
            Concession::NewLimitName => {
                "This model requires the token limit as \
                 max_completion_tokens."
            }
            Concession::NoStreamUsage => "This model does not report tokens in streams.",
            Concession::NoEcho => "This model rejected its earlier reasoning, so it is not sent.",
            Concession::EmptyReasoning => {
                "This model requires reasoning with every call, so an empty one is added to calls \
                 without it."
            }
            Concession::Bridge => {
                "This model requires an assistant message after tool results, so one is inserted."
            }
        }
    }
}

/// A set of concessions.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Hash)]
pub struct Concessions(u16);

impl Concessions {
    /// Whether the set contains a concession.
    pub const fn has(self, concession: Concession) -> bool {
        self.0 & (1 << concession as u16) != 0
    }

    /// The set with one more concession.
    #[must_use]
    pub const fn with(self, concession: Concession) -> Self {
        Concessions(self.0 | (1 << concession as u16))
    }

    /// The concessions in the set.
    pub fn iter(self) -> impl Iterator<Item = Concession> {
        Concession::ALL
            .into_iter()
            .filter(move |concession| self.has(*concession))
    }
}

/// The concession with which a rejected request may succeed. `None` if the error names no parameter that can be
/// omitted, or only an invalid value (the user has to fix a temperature out of range).
pub fn concede(
    kind: ProviderKind,
    request: &ModelRequest,
    error: &ModelError,
) -> Option<Concession> {
    if kind == ProviderKind::Sglang {
        // The sender renders its body, which contains none of these parameters.
        return None;
    }
    let words = words(error)?;
    let says = |word: &str| words.contains(word);
    let made = |concession| request.concessions.has(concession);
    let chat = matches!(kind, ProviderKind::OpenAiChat | ProviderKind::Mistral);

    let found = if says("encrypted content is not supported") || says("param:include") {
        Concession::NoEncryptedReasoning
    } else if says("reasoning_content") && (says("passed back") || says("missing")) {
        Concession::EmptyReasoning
    } else if sends_echo(request) && names_echo(&words) {
        Concession::NoEcho
    } else if chat && says("after role") {
        Concession::Bridge
    } else if request.choice().is_some() && (says("tool_choice") || says("tool choice")) {
        match request.choice() {
            Some(choice) if choice.is_forced() => Concession::FreeChoice,
            _ => Concession::NoToolChoice,
        }
    } else if request.max_tokens.is_some() && says("max_completion_tokens") {
        Concession::NewLimitName
    } else if request.stream && says("stream_options") {
        Concession::NoStreamUsage
    } else if request.sent_temperature().is_some() && says("temperature") && !names_range(&words) {
        Concession::NoTemperature
    } else if request.sent_effort().is_some() && says("summar") {
        Concession::NoSummary
    } else if request.sent_effort().is_some()
        && (says("effort") || says("thinking") || says("reasoning"))
    {
        Concession::NoEffort
    } else if request.sent_seed().is_some() && (says("seed") || says("random_seed")) {
        Concession::NoSeed
    } else if request.sent_stop().is_some()
        && (says("'stop'") || says("stop_sequences") || says("param:stop"))
    {
        Concession::NoStop
    } else {
        return None;
    };
    (!made(found)).then_some(found)
}

/// The error message in lower case, with the parameter that it names.
fn words(error: &ModelError) -> Option<String> {
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

fn sends_echo(request: &ModelRequest) -> bool {
    request.messages.iter().any(
        |message| matches!(message, AnyMessage::Request(request) if echo_of(request).is_some()),
    )
}

fn names_echo(words: &str) -> bool {
    [
        "signature",
        "thinking block",
        "`thinking`",
        "encrypted",
        "reasoning_details",
    ]
    .iter()
    .any(|name| words.contains(name))
        || words.contains("reasoning")
            && ["item", "unsupported", "not permitted", "not found"]
                .iter()
                .any(|name| words.contains(name))
}

fn names_range(words: &str) -> bool {
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
    .any(|name| words.contains(name))
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
                Some(Concession::FreeChoice),
            ),
            (
                "tool_choice.type: any is not supported for this model",
                None,
                Some(Concession::FreeChoice),
            ),
            (
                "Unsupported value: 'temperature' does not support 0.2 with this model. Only the default (1) value is supported.",
                Some("temperature"),
                Some(Concession::NoTemperature),
            ),
            (
                "Unsupported parameter: 'max_tokens' is not supported with this model. Use 'max_completion_tokens' instead.",
                Some("max_tokens"),
                Some(Concession::NewLimitName),
            ),
            (
                "Function tools with reasoning_effort are not supported for gpt-5.6-luna in /v1/chat/completions. To use function tools, use /v1/responses or set reasoning_effort to 'none'.",
                Some("reasoning_effort"),
                Some(Concession::NoEffort),
            ),
            (
                "Encrypted content is not supported with this model.",
                Some("include"),
                Some(Concession::NoEncryptedReasoning),
            ),
            (
                "Your organization must be verified to generate reasoning summaries.",
                Some("reasoning.summary"),
                Some(Concession::NoSummary),
            ),
            (
                "The reasoning_content in the thinking mode must be passed back to the API.",
                None,
                Some(Concession::EmptyReasoning),
            ),
            (
                "messages.1.content.0: Invalid `signature` in `thinking` block",
                None,
                Some(Concession::NoEcho),
            ),
            (
                "Unexpected role 'user' after role 'tool'",
                None,
                Some(Concession::Bridge),
            ),
            (
                "This model does not support the effort parameter.",
                None,
                Some(Concession::NoEffort),
            ),
            ("temperature: must be between 0 and 1", None, None),
            ("The model `x` does not exist", None, None),
        ] {
            assert_eq!(
                concede(
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
        while let Some(next) = concede(ProviderKind::OpenAiChat, &request, &refusal) {
            request.concessions = request.concessions.with(next);
            made.push(next);
        }
        assert_eq!(made, [Concession::FreeChoice, Concession::NoToolChoice]);
        assert_eq!(request.choice(), None);
        assert_eq!(request.concessions.iter().collect::<Vec<_>>(), made);
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
        assert_eq!(concede(ProviderKind::OpenAiChat, &request(), &error), None);
        assert_eq!(
            concede(ProviderKind::OpenAiChat, &request(), &ModelError::Cut),
            None
        );
    }
}
