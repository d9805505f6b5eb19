//! Presets of providers: base URL, key page, and notes on use from a page.
//!
//! The models are suggestions as of November 2026; where the provider has a list of models, that list is authoritative.

use crate::model::{ProviderKind, prompt_api};

/// A preset of a provider.
#[derive(Debug, PartialEq, Eq)]
pub struct Preset {
    /// The display name.
    pub name: &'static str,
    /// Its wire format.
    pub kind: ProviderKind,
    /// The base URL; empty without a server.
    pub base_url: &'static str,
    /// The page where keys are created; `None` if the provider has no keys.
    pub key_url: Option<&'static str>,
    /// Some of its models, the first being the default; empty if they depend on the installation.
    pub models: &'static [&'static str],
    /// A note about use from a page; may be empty.
    pub note: &'static str,
    /// How to allow this page's origin on a self-hosted server; may be empty.
    pub allow: &'static str,
}

/// In the order of display.
pub static PRESETS: [Preset; 17] = [
    Preset {
        name: "OpenAI",
        kind: ProviderKind::OpenAiResponses,
        base_url: "https://api.openai.com/v1",
        key_url: Some("https://platform.openai.com/api-keys"),
        models: &["gpt-6.1-terra", "gpt-6.1-sol", "gpt-6-luna", "gpt-6-astra"],
        note: "",
        allow: "",
    },
    Preset {
        name: "OpenAI (Chat Completions)",
        kind: ProviderKind::OpenAiChat,
        base_url: "https://api.openai.com/v1",
        key_url: Some("https://platform.openai.com/api-keys"),
        models: &["gpt-6-luna"],
        note: "Current models reject tools together with reasoning here; use OpenAI for those.",
        allow: "",
    },
    Preset {
        name: "Anthropic",
        kind: ProviderKind::Anthropic,
        base_url: "https://api.anthropic.com",
        key_url: Some("https://platform.claude.com/settings/keys"),
        models: &[
            "claude-haiku-5-5",
            "claude-sonnet-5-5",
            "claude-opus-5-5",
            "claude-fable-5-1",
        ],
        note: "",
        allow: "",
    },
    Preset {
        name: "Google Gemini",
        kind: ProviderKind::Gemini,
        base_url: "https://generativelanguage.googleapis.com",
        key_url: Some("https://aistudio.google.com/apikey"),
        models: &["gemini-3.8-flash", "gemini-4-argon"],
        note: "",
        allow: "",
    },
    Preset {
        name: "Mistral",
        kind: ProviderKind::Mistral,
        base_url: "https://api.mistral.ai/v1",
        key_url: Some("https://console.mistral.ai/api-keys"),
        models: &[
            "mistral-small-latest",
            "mistral-medium-latest",
            "mistral-large-latest",
        ],
        note: "",
        allow: "",
    },
    Preset {
        name: "OpenRouter",
        kind: ProviderKind::OpenAiChat,
        base_url: "https://openrouter.ai/api/v1",
        key_url: Some("https://openrouter.ai/settings/keys"),
        models: &["openai/gpt-6-luna", "anthropic/claude-haiku-5.5"],
        note: "Reports the cost of each response.",
        allow: "",
    },
    Preset {
        name: "DeepSeek",
        kind: ProviderKind::OpenAiChat,
        base_url: "https://api.deepseek.com",
        key_url: Some("https://platform.deepseek.com/api_keys"),
        models: &["deepseek-flash"],
        note: "",
        allow: "",
    },
    Preset {
        name: "Groq",
        kind: ProviderKind::OpenAiChat,
        base_url: "https://api.groq.com/openai/v1",
        key_url: Some("https://console.groq.com/keys"),
        models: &["openai/gpt-oss-120b", "openai/gpt-oss-20b"],
        note: "",
        allow: "",
    },
    Preset {
        name: "Together",
        kind: ProviderKind::OpenAiChat,
        base_url: "https://api.together.ai/v1",
        key_url: Some("https://api.together.ai/settings/projects/~current/api-keys"),
        models: &["deepseek-ai/DeepSeek-V4.1-Flash", "openai/gpt-oss-20b"],
        note: "",
        allow: "",
    },
    Preset {
        name: "Ollama",
        kind: ProviderKind::OpenAiChat,
        base_url: "http://localhost:11434/v1",
        key_url: None,
        models: &[],
        note: "Use a model that supports tools, with enough context for the conversation (num_ctx).",
        allow: "Start it with OLLAMA_ORIGINS set to this page's origin, for example \
                OLLAMA_ORIGINS=https://example.org ollama serve.",
    },
    Preset {
        name: "LM Studio",
        kind: ProviderKind::OpenAiChat,
        base_url: "http://localhost:1234/v1",
        key_url: None,
        models: &[],
        note: "",
        allow: "Enable CORS in its server settings, or start it with lms server start --cors.",
    },
    Preset {
        name: "llama.cpp",
        kind: ProviderKind::OpenAiChat,
        base_url: "http://localhost:8080/v1",
        key_url: None,
        models: &[],
        note: "Start llama-server with --jinja to enable tools.",
        allow: "",
    },
    Preset {
        name: "vLLM",
        kind: ProviderKind::OpenAiChat,
        base_url: "http://localhost:8000/v1",
        key_url: None,
        models: &[],
        note: "Start it with --enable-auto-tool-choice and the --tool-call-parser of the model.",
        allow: "Start it with --allowed-origins '[\"*\"]', or with this page's origin in the list.",
    },
    Preset {
        name: "SGLang",
        kind: ProviderKind::OpenAiChat,
        base_url: "http://localhost:30000/v1",
        key_url: None,
        models: &[],
        note: "Start it with the --tool-call-parser of the model.",
        allow: "",
    },
    Preset {
        name: "SGLang /generate",
        kind: ProviderKind::Sglang,
        base_url: "http://localhost:30000",
        key_url: None,
        models: &[],
        note: "Rollouts with recorded tokens, as in training. The chat template and the tokenizer must be \
               the model's.",
        allow: "",
    },
    Preset {
        name: "LiteLLM",
        kind: ProviderKind::OpenAiChat,
        base_url: "http://localhost:4000/v1",
        key_url: None,
        models: &[],
        note: "",
        allow: "",
    },
    Preset {
        name: "Built into the browser (Chrome)",
        kind: ProviderKind::PromptApi,
        base_url: "",
        key_url: None,
        models: &[prompt_api::MODEL],
        note: "",
        allow: "",
    },
];
