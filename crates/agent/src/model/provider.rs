//! The codec of a provider: writes requests and parses replies.

use serde::{Deserialize, Serialize};
use volary_core::json::{Json, Text};

use super::sse::SseEvent;
use super::{Answer, ApiKey, Delta, HttpRequest, ModelError, ModelRequest};
use super::{anthropic, gemini, mistral, openai_chat, openai_responses, prompt_api, sglang};

/// The wire formats, stored by the names of their codecs.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash, Serialize, Deserialize)]
pub enum ProviderKind {
    /// OpenAI Chat Completions and compatible servers.
    #[serde(rename = "openai-chat")]
    OpenAiChat,
    /// OpenAI Responses.
    #[serde(rename = "openai-responses")]
    OpenAiResponses,
    /// Anthropic Messages.
    #[serde(rename = "anthropic")]
    Anthropic,
    /// Google Gemini, native.
    #[serde(rename = "gemini")]
    Gemini,
    /// Mistral Chat Completions.
    #[serde(rename = "mistral")]
    Mistral,
    /// SGLang's `/generate`: text and tokens instead of messages.
    #[serde(rename = "sglang")]
    Sglang,
    /// The model built into the browser: a call of the page instead of a request.
    #[serde(rename = "prompt-api")]
    PromptApi,
}

impl ProviderKind {
    /// The wire formats of servers, in display order.
    pub const ALL: [ProviderKind; 6] = [
        ProviderKind::OpenAiChat,
        ProviderKind::OpenAiResponses,
        ProviderKind::Anthropic,
        ProviderKind::Gemini,
        ProviderKind::Mistral,
        ProviderKind::Sglang,
    ];

    /// The server's wire format with this codec name.
    pub fn from_name(name: &str) -> Option<ProviderKind> {
        let mut kinds = ProviderKind::ALL.into_iter();
        kinds.find(|kind| kind.provider().name() == name)
    }

    /// Whether requests go to a server, which has an address, may want a key, and has models to choose from.
    pub const fn has_server(self) -> bool {
        !matches!(self, ProviderKind::PromptApi)
    }

    /// The display name.
    pub const fn title(self) -> &'static str {
        match self {
            ProviderKind::OpenAiChat => "OpenAI Chat Completions",
            ProviderKind::OpenAiResponses => "OpenAI Responses",
            ProviderKind::Anthropic => "Anthropic Messages",
            ProviderKind::Gemini => "Google Gemini",
            ProviderKind::Mistral => "Mistral",
            ProviderKind::Sglang => "SGLang /generate",
            ProviderKind::PromptApi => "Prompt API",
        }
    }

    /// The codec.
    pub fn provider(self) -> &'static dyn Provider {
        match self {
            ProviderKind::OpenAiChat => &openai_chat::OpenAiChat,
            ProviderKind::OpenAiResponses => &openai_responses::OpenAiResponses,
            ProviderKind::Anthropic => &anthropic::Anthropic,
            ProviderKind::Gemini => &gemini::Gemini,
            ProviderKind::Mistral => &mistral::Mistral,
            ProviderKind::Sglang => &sglang::Sglang,
            ProviderKind::PromptApi => &prompt_api::PromptApi,
        }
    }
}

/// Parses the events of a stream.
pub trait StreamReader {
    /// Parses an event and appends its deltas to `deltas`.
    fn event(&mut self, event: &SseEvent, deltas: &mut Vec<Delta>) -> Result<(), ModelError>;

    /// The answer so far.
    fn partial(&self) -> Answer;

    /// Ends the stream. Returns the answer if the provider marked it as complete, else
    /// [`ModelError::Cut`].
    fn finish(&mut self) -> Result<Answer, ModelError>;
}

/// A wire format.
pub trait Provider {
    /// Its name, which also identifies its echoes.
    fn name(&self) -> &'static str;

    /// The HTTP request. `base_url` has no trailing slash.
    fn request(&self, base_url: &str, key: &ApiKey, request: &ModelRequest) -> HttpRequest;

    /// Parses the complete body of a reply with a success status.
    fn read(&self, body: &Json) -> Result<Answer, ModelError>;

    /// A parser for a streamed reply.
    fn stream(&self) -> Box<dyn StreamReader>;

    /// The HTTP request for the list of models.
    fn models(&self, base_url: &str, key: &ApiKey) -> HttpRequest;

    /// The names in a list of models.
    fn read_models(&self, body: &Json) -> Vec<Text>;
}
