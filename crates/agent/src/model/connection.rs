//! Connections to models: presets of providers, and the connections that a user names.
//!
//! A connection contains no key: keys are stored separately and passed with each request, so that connections can be
//! stored, exported and displayed.

mod preset;

pub use preset::{PRESETS, Preset};
pub use volary_connectivity::{Address, Space};

use serde::{Deserialize, Serialize};
use volary_core::json::Text;

use super::sglang::setup::GenerateSetup;
use super::{Provider, ProviderKind};

/// A named connection to a model of a provider. Stored as its fields.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct Connection {
    /// The user's name for it; unique among the user's connections.
    #[serde(default)]
    pub name: Text,
    /// The wire format.
    #[serde(rename = "provider")]
    pub kind: ProviderKind,
    /// The base URL of the API, without a trailing slash; empty without a server.
    #[serde(default)]
    pub base_url: Text,
    #[serde(default)]
    pub model: Text,
    /// How prompts are rendered; used by wire formats without messages.
    #[serde(default, skip_serializing_if = "GenerateSetup::is_default")]
    pub generate: GenerateSetup,
}

/// A validation error of a connection, worded for its form.
#[derive(Clone, Debug, PartialEq, Eq, thiserror::Error)]
#[non_exhaustive]
pub enum ConnectionError {
    /// The name is empty.
    #[error("A connection needs a name.")]
    NoName,
    /// The model is empty.
    #[error("Enter the name of a model, or pick one from the list.")]
    NoModel,
    /// The base URL is not a valid address.
    #[error("The base URL must begin with https:// or http:// and name a host.")]
    NotAnAddress,
    /// The base URL contains parts that belong in other fields.
    #[error(
        "The base URL must not contain a user name, a question mark or #. Enter the key in its own \
         field."
    )]
    TooMuchInAddress,
}

impl Connection {
    /// A connection from a preset, with the preset's first model.
    pub fn of(preset: &Preset) -> Self {
        Connection {
            name: preset.name.into(),
            kind: preset.kind,
            base_url: preset.base_url.into(),
            model: preset.models.first().copied().unwrap_or("").into(),
            generate: GenerateSetup::default(),
        }
    }

    /// The connection with trimmed fields and the base URL in the codec's form.
    #[must_use]
    pub fn tidied(&self) -> Self {
        Connection {
            name: self.name.trim().into(),
            kind: self.kind,
            base_url: tidy_base(&self.base_url, self.kind).into(),
            model: self.model.trim().into(),
            generate: self.generate.clone(),
        }
    }

    /// Validates the connection.
    pub fn check(&self) -> Result<(), ConnectionError> {
        if self.name.trim().is_empty() {
            return Err(ConnectionError::NoName);
        }
        if self.kind.has_server() {
            if self.base_url.contains(['?', '#', '@']) {
                return Err(ConnectionError::TooMuchInAddress);
            }
            if self.address().is_none() {
                return Err(ConnectionError::NotAnAddress);
            }
        }
        if self.model.trim().is_empty() {
            return Err(ConnectionError::NoModel);
        }
        Ok(())
    }

    /// The codec.
    pub fn provider(&self) -> &'static dyn Provider {
        self.kind.provider()
    }

    /// The parts of the base URL; `None` if it is invalid.
    pub fn address(&self) -> Option<Address> {
        Address::of(self.base_url.trim())
    }

    /// The preset with the same base URL, if there is one.
    pub fn preset(&self) -> Option<&'static Preset> {
        let base = tidy_base(&self.base_url, self.kind);
        let mut presets = PRESETS.iter();
        presets.find(|preset| preset.kind == self.kind && preset.base_url == base)
    }
}

/// The base URL without what people often paste with it: spaces, the path of an endpoint, trailing slashes, and the
/// version if the codec adds it.
fn tidy_base(base: &str, kind: ProviderKind) -> &str {
    let without = |base: &str, ends: &[&str]| {
        let found = ends.iter().find_map(|end| base.strip_suffix(end));
        found.unwrap_or(base).trim_end_matches('/').len()
    };
    let base = base.trim().trim_end_matches('/');
    let endpoint = without(
        base,
        &[
            "/chat/completions",
            "/responses",
            "/messages",
            "/models",
            "/generate",
        ],
    );
    let base = base.get(..endpoint).unwrap_or(base);
    let versions: &[&str] = match kind {
        ProviderKind::Anthropic | ProviderKind::Sglang => &["/v1"],
        ProviderKind::Gemini => &["/v1beta", "/v1"],
        ProviderKind::OpenAiChat
        | ProviderKind::OpenAiResponses
        | ProviderKind::Mistral
        | ProviderKind::PromptApi => &[],
    };
    base.get(..without(base, versions)).unwrap_or(base)
}

#[cfg(test)]
mod tests {
    use volary_core::json::{Json, from_json, to_json};

    use super::*;

    #[test]
    fn every_preset_is_a_connection_and_is_recognised() {
        for preset in &PRESETS {
            let connection = Connection::of(preset);
            if !preset.models.is_empty() {
                assert_eq!(connection.check(), Ok(()), "{}", preset.name);
            }
            assert_eq!(connection.tidied(), connection, "{}", preset.name);
            assert_eq!(connection.preset(), Some(preset));
            let stored = to_json(&connection).unwrap();
            let provider = stored.get("provider").and_then(Json::as_text);
            assert_eq!(
                provider.map(|name| &**name),
                Some(preset.kind.provider().name())
            );
            assert_eq!(from_json(&stored), Ok(connection));
        }
    }

    #[test]
    fn base_urls_are_tidied() {
        for (kind, given, tidy) in [
            (
                ProviderKind::OpenAiChat,
                " http://localhost:11434/v1/ ",
                "http://localhost:11434/v1",
            ),
            (
                ProviderKind::OpenAiChat,
                "https://x.example/v1/chat/completions",
                "https://x.example/v1",
            ),
            (
                ProviderKind::Anthropic,
                "https://api.anthropic.com/v1/messages",
                "https://api.anthropic.com",
            ),
            (
                ProviderKind::Anthropic,
                "https://api.anthropic.com/v1/",
                "https://api.anthropic.com",
            ),
            (
                ProviderKind::Gemini,
                "https://generativelanguage.googleapis.com/v1beta",
                "https://generativelanguage.googleapis.com",
            ),
            (
                ProviderKind::Mistral,
                "https://api.mistral.ai/v1",
                "https://api.mistral.ai/v1",
            ),
        ] {
            assert_eq!(tidy_base(given, kind), tidy);
        }
    }

    #[test]
    fn what_is_wrong_is_said() {
        let good = Connection::of(&PRESETS[0]);
        let with_base = |base: &str| Connection {
            base_url: base.into(),
            ..good.clone()
        };
        assert_eq!(good.check(), Ok(()));
        for base in [
            "",
            "api.openai.com/v1",
            "ftp://x",
            "https://",
            "https:// /v1",
        ] {
            assert_eq!(
                with_base(base).check(),
                Err(ConnectionError::NotAnAddress),
                "{base}"
            );
        }
        for base in [
            "https://x.example/v1?key=sk-1",
            "https://me:secret@x.example",
        ] {
            assert_eq!(
                with_base(base).check(),
                Err(ConnectionError::TooMuchInAddress)
            );
        }
        let nameless = Connection {
            name: " ".into(),
            ..good.clone()
        };
        assert_eq!(nameless.check(), Err(ConnectionError::NoName));
        let modelless = Connection {
            model: "".into(),
            ..good
        };
        assert_eq!(modelless.check(), Err(ConnectionError::NoModel));
    }
}
