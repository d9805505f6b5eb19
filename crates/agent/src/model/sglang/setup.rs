//! Settings for rendering `/generate` prompts; part of a connection.

use serde::{Deserialize, Serialize};
use volary_core::json::Text;
use volary_rollout::SamplingParams;

/// How messages are rendered as prompts, and texts converted to tokens.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(default)]
pub struct GenerateSetup {
    /// The name of a built-in chat template, or the Jinja source of a custom one.
    pub template: Text,
    /// The method for tokens and loss mask: `seed`, `fixed` or `token_in`.
    pub mask: Text,
    /// Whether to use the tokenizer that the user stored instead of the toy tokenizer's bytes.
    pub stored_tokenizer: bool,
    /// Whether prompts are sent as tokens; never with the toy tokenizer.
    pub send_tokens: bool,
}

impl Default for GenerateSetup {
    fn default() -> Self {
        GenerateSetup {
            template: "qwen2.5".into(),
            mask: "fixed".into(),
            stored_tokenizer: true,
            send_tokens: false,
        }
    }
}

impl GenerateSetup {
    /// Whether all settings have their defaults.
    pub fn is_default(&self) -> bool {
        *self == GenerateSetup::default()
    }
}

/// slime's sampling parameters, with the given values.
pub fn sampling_params(temperature: Option<f64>, max_tokens: Option<u32>) -> SamplingParams {
    let default = SamplingParams::default();
    SamplingParams {
        temperature: temperature.unwrap_or(default.temperature),
        max_new_tokens: max_tokens.map_or(default.max_new_tokens, i64::from),
        ..default
    }
}
