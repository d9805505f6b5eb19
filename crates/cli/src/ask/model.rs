//! Which model is asked, at which address, and with which key.
//!
//! Invariant: the key of a provider is sent to the address of that provider only. An address of the user's own gets the key of
//! `VOLARY_API_KEY`, or none.

use anyhow::{Result, bail};
use clap::Args;
use volary_agent::model::connection::PRESETS;
use volary_agent::model::{ApiKey, Connection, Effort, ProviderKind};

use crate::keys::public_part;

/// The variable with the key for an address of the user's own.
const OWN_KEY: &str = "VOLARY_API_KEY";

/// The beginnings of the names of models, with their provider.
const PROVIDERS: [(&str, &str); 6] = [
    ("claude", "Anthropic"),
    ("gpt", "OpenAI"),
    ("gemini", "Google Gemini"),
    ("mistral", "Mistral"),
    ("magistral", "Mistral"),
    ("deepseek", "DeepSeek"),
];

/// The variables with the keys of providers.
const KEYS: [(&str, &str); 8] = [
    ("OpenAI", "OPENAI_API_KEY"),
    ("OpenAI (Chat Completions)", "OPENAI_API_KEY"),
    ("Anthropic", "ANTHROPIC_API_KEY"),
    ("Google Gemini", "GEMINI_API_KEY"),
    ("Mistral", "MISTRAL_API_KEY"),
    ("OpenRouter", "OPENROUTER_API_KEY"),
    ("DeepSeek", "DEEPSEEK_API_KEY"),
    ("Groq", "GROQ_API_KEY"),
];

/// The options that choose a model.
#[derive(Clone, Debug, Args)]
pub struct ModelChoice {
    /// The model
    #[arg(long, value_name = "NAME")]
    model: String,

    /// The provider, such as OpenRouter or Ollama; by default it follows from the name of the model
    #[arg(long, value_name = "NAME", conflicts_with = "base_url")]
    provider: Option<String>,

    /// The address of a server of your own
    #[arg(long, value_name = "URL")]
    base_url: Option<String>,

    /// The wire format of that server: openai-chat, openai-responses, anthropic, gemini or mistral
    #[arg(long, value_name = "FORMAT", default_value = "openai-chat", value_parser = wire_format)]
    format: ProviderKind,

    /// The reasoning effort: none, low, medium or high
    #[arg(long, value_name = "EFFORT", value_parser = effort)]
    effort: Option<Effort>,

    /// The sampling temperature, which some models do not accept
    #[arg(long, value_name = "NUMBER")]
    temperature: Option<f64>,
}

/// A model with its key.
pub struct Target {
    pub connection: Connection,
    pub key: ApiKey,
}

fn wire_format(name: &str) -> Result<ProviderKind, String> {
    let kind = ProviderKind::from_name(name).filter(|kind| *kind != ProviderKind::Sglang);
    kind.ok_or_else(|| {
        "choose openai-chat, openai-responses, anthropic, gemini or mistral".to_owned()
    })
}

fn effort(name: &str) -> Result<Effort, String> {
    let mut efforts = Effort::ALL.into_iter();
    let found = efforts.find(|effort| effort.as_str() == name);
    found.ok_or_else(|| "choose none, low, medium or high".to_owned())
}

impl ModelChoice {
    pub fn effort(&self) -> Option<Effort> {
        self.effort
    }

    pub fn temperature(&self) -> Option<f64> {
        self.temperature
    }

    /// The connection and its key, from the environment.
    pub fn target(&self) -> Result<Target> {
        self.target_with(|variable| std::env::var(variable).ok())
    }

    fn target_with(&self, variable: impl Fn(&str) -> Option<String>) -> Result<Target> {
        let read = |name: &str| ApiKey::new(&variable(name).unwrap_or_default());
        let (connection, key) = match &self.base_url {
            Some(base_url) => {
                let connection = Connection {
                    name: "own".into(),
                    kind: self.format,
                    base_url: base_url.as_str().into(),
                    model: self.model.as_str().into(),
                    generate: Default::default(),
                };
                (connection, read(OWN_KEY))
            }
            None => self.preset(read)?,
        };
        let connection = connection.tidied();
        connection.check()?;
        Ok(Target { connection, key })
    }

    fn preset(&self, read: impl Fn(&str) -> ApiKey) -> Result<(Connection, ApiKey)> {
        let model = self.model.to_lowercase();
        let by_name = PROVIDERS.iter().find(|(start, _)| model.starts_with(start));
        let name = self.provider.as_deref().or(by_name.map(|(_, name)| *name));
        let Some(name) = name else {
            bail!(
                "the provider of {} is not known; give --provider or --base-url",
                self.model
            );
        };
        let mut presets = PRESETS.iter().filter(|preset| preset.kind.has_server());
        let Some(preset) = presets.find(|preset| preset.name.eq_ignore_ascii_case(name)) else {
            let names = PRESETS.iter().filter(|preset| preset.kind.has_server());
            let names: Vec<&str> = names.map(|preset| preset.name).collect();
            bail!(
                "there is no provider {name}; there are {}",
                names.join(", ")
            );
        };
        let variable = KEYS.iter().find(|(known, _)| *known == preset.name);
        let key = match variable {
            Some((_, variable)) => {
                let key = read(variable);
                if key.is_empty() {
                    bail!("set {variable} to your key of {}", preset.name);
                }
                key
            }
            None => read(OWN_KEY),
        };
        let connection = Connection {
            model: self.model.as_str().into(),
            ..Connection::of(preset)
        };
        Ok((connection, key))
    }
}

impl Target {
    /// The model and its address, for a person.
    pub fn shown(&self) -> String {
        let connection = &self.connection;
        format!(
            "{} at {}",
            connection.model,
            public_part(&connection.base_url)
        )
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn choice(model: &str, base_url: Option<&str>) -> ModelChoice {
        ModelChoice {
            model: model.into(),
            provider: None,
            base_url: base_url.map(str::to_owned),
            format: ProviderKind::OpenAiChat,
            effort: None,
            temperature: None,
        }
    }

    #[test]
    fn the_key_of_a_provider_goes_to_its_address_only() {
        let keys = |name: &str| Some(format!("key of {name}"));
        let own = choice("gpt-6-luna", Some("http://127.0.0.1:1/v1/"))
            .target_with(keys)
            .unwrap();
        assert_eq!(own.key, ApiKey::new("key of VOLARY_API_KEY"));
        assert_eq!(&*own.connection.base_url, "http://127.0.0.1:1/v1");
        let known = choice("claude-haiku-5-5", None).target_with(keys).unwrap();
        assert_eq!(known.key, ApiKey::new("key of ANTHROPIC_API_KEY"));
        assert_eq!(
            known.shown(),
            "claude-haiku-5-5 at https://api.anthropic.com"
        );
    }

    #[test]
    fn what_is_missing_is_named() {
        let error = |choice: ModelChoice| {
            choice
                .target_with(|_| None)
                .err()
                .map(|error| error.to_string())
        };
        assert_eq!(
            error(choice("gpt-6-luna", None)).as_deref(),
            Some("set OPENAI_API_KEY to your key of OpenAI")
        );
        assert!(error(choice("llama", None)).unwrap().contains("--base-url"));
        assert!(
            error(choice("m", Some("localhost")))
                .unwrap()
                .contains("http")
        );
    }
}
