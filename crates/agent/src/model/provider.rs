//! What a provider is to us: a way to say a request, and a way to read its reply.

use serde::{Deserialize, Serialize};
use volary_core::json::{Json, Text};

use super::sse::SseEvent;
use super::{Answer, ApiKey, Delta, HttpRequest, ModelError, ModelRequest};
use super::{anthropic, gemini, mistral, openai_chat, openai_responses, sglang};

/// The wire formats, stored by the names of their codecs.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash, Serialize, Deserialize)]
pub enum ProviderKind {
    /// OpenAI Chat Completions, and all that is compatible with it.
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
}

impl ProviderKind {
    /// All of them, in the order of display.
    pub const ALL: [ProviderKind; 6] = [
        ProviderKind::OpenAiChat,
        ProviderKind::OpenAiResponses,
        ProviderKind::Anthropic,
        ProviderKind::Gemini,
        ProviderKind::Mistral,
        ProviderKind::Sglang,
    ];

    /// By the name of its codec.
    pub fn from_name(name: &str) -> Option<ProviderKind> {
        let mut kinds = ProviderKind::ALL.into_iter();
        kinds.find(|kind| kind.provider().name() == name)
    }

    /// What it is called, for people.
    pub const fn title(self) -> &'static str {
        match self {
            ProviderKind::OpenAiChat => "OpenAI Chat Completions",
            ProviderKind::OpenAiResponses => "OpenAI Responses",
            ProviderKind::Anthropic => "Anthropic Messages",
            ProviderKind::Gemini => "Google Gemini",
            ProviderKind::Mistral => "Mistral",
            ProviderKind::Sglang => "SGLang /generate",
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
        }
    }
}

/// Reads the events of a stream.
pub trait StreamReader {
    /// Takes an event; what it brings is added to `deltas`.
    fn event(&mut self, event: &SseEvent, deltas: &mut Vec<Delta>) -> Result<(), ModelError>;

    /// The answer as far as it came.
    fn partial(&self) -> Answer;

    /// The stream is over: the answer, if the provider said that it is whole, else
    /// [`ModelError::Cut`].
    fn finish(&mut self) -> Result<Answer, ModelError>;
}

/// A wire format.
pub trait Provider {
    /// Its name, under which answers keep what it wants back.
    fn name(&self) -> &'static str;

    /// A request as it goes over the wire. `base_url` has no slash at its end.
    fn request(&self, base_url: &str, key: &ApiKey, request: &ModelRequest) -> HttpRequest;

    /// The answer in a whole reply of a success status.
    fn read(&self, body: &Json) -> Result<Answer, ModelError>;

    /// A reader for a streamed reply.
    fn stream(&self) -> Box<dyn StreamReader>;

    /// Where the list of models is found, with the headers for it.
    fn models(&self, base_url: &str, key: &ApiKey) -> HttpRequest;

    /// The names in the list of models.
    fn read_models(&self, body: &Json) -> Vec<Text>;
}
