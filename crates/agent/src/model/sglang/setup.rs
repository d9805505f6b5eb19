//! How prompts for `/generate` are made: part of a connection.

use serde::{Deserialize, Serialize};
use volary_core::json::Text;
use volary_rollout::SamplingParams;

/// How prompts are made of messages, and tokens of texts.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(default)]
pub struct GenerateSetup {
    /// The name of a built-in chat template, or the Jinja text of another.
    pub template: Text,
    /// How tokens and loss mask are found: `seed`, `fixed` or `token_in`.
    pub mask: Text,
    /// Whether tokens are those of the tokenizer that the user stored, instead of the toy tokenizer's bytes.
    pub stored_tokenizer: bool,
    /// Whether prompts are sent as tokens. The toy tokenizer's never are.
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
    /// Whether nothing was chosen.
    pub fn is_default(&self) -> bool {
        *self == GenerateSetup::default()
    }
}

/// slime's sampling parameters, with those that were set.
pub fn sampling_params(temperature: Option<f64>, max_tokens: Option<u32>) -> SamplingParams {
    let default = SamplingParams::default();
    SamplingParams {
        temperature: temperature.unwrap_or(default.temperature),
        max_new_tokens: max_tokens.map_or(default.max_new_tokens, i64::from),
        ..default
    }
}
