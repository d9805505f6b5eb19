//! What is asked of a model, in words that all providers share.

use volary_core::json::Text;
use volary_core::{AnyMessage, Tool};

/// Whether the model must, may or must not call tools. Aviary's default is that it must.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub enum ToolChoice {
    /// It must call at least one.
    #[default]
    Required,
    /// It may.
    Auto,
    /// It must not.
    None,
    /// It must call this one.
    Tool(Text),
}

/// How much a model shall think, where it can be told.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Effort {
    /// As little as possible.
    Low,
    /// Some.
    Medium,
    /// Much.
    High,
}

impl Effort {
    /// The word on the wire.
    pub const fn as_str(self) -> &'static str {
        match self {
            Effort::Low => "low",
            Effort::Medium => "medium",
            Effort::High => "high",
        }
    }
}

/// One request to a model. `None` and empty mean: leave it to the provider.
#[derive(Clone, Debug, Default, PartialEq)]
pub struct ModelRequest {
    /// The model's name.
    pub model: Text,
    /// The conversation so far.
    pub messages: Vec<AnyMessage>,
    /// The tools on offer.
    pub tools: Vec<Tool>,
    /// What to do with the tools; not sent where there are none.
    pub tool_choice: Option<ToolChoice>,
    /// Randomness of the choice of words.
    pub temperature: Option<f64>,
    /// The most tokens to answer with, thinking included.
    pub max_tokens: Option<u32>,
    /// Texts at which to stop.
    pub stop: Vec<Text>,
    /// For repeatable answers, where the provider has that.
    pub seed: Option<i64>,
    /// How much to think.
    pub effort: Option<Effort>,
    /// Whether the answer shall come in pieces.
    pub stream: bool,
}
