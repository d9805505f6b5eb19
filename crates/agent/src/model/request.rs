//! The provider-independent request to a model.

use serde::Serialize;
use volary_core::json::{Json, Object, Text};
use volary_core::{AnyMessage, Tool, object};

use super::parameter_fallback::ParameterFallbacks;

/// Whether the model must, may or must not call tools. Aviary's default is `Required`.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub enum ToolChoice {
    /// The model must call at least one tool.
    #[default]
    Required,
    /// The model may call tools.
    Auto,
    /// The model must not call tools.
    None,
    /// The model must call this tool.
    Tool(Text),
    /// A provider-specific word, such as `any`; ignored for providers that accept no words.
    Word(Text),
}

impl ToolChoice {
    /// Whether a call is required.
    pub const fn is_forced(&self) -> bool {
        matches!(self, ToolChoice::Required | ToolChoice::Tool(_))
    }
}

/// The reasoning effort, for models that support it.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash, Serialize)]
#[cfg_attr(test, derive(serde::Deserialize))]
#[serde(rename_all = "lowercase")]
pub enum Effort {
    /// None, or the minimum that the model supports.
    None,
    Low,
    Medium,
    High,
}

impl Effort {
    /// All efforts, in ascending order.
    pub const ALL: [Effort; 4] = [Effort::None, Effort::Low, Effort::Medium, Effort::High];

    /// The word that most providers share.
    pub const fn as_str(self) -> &'static str {
        match self {
            Effort::None => "none",
            Effort::Low => "low",
            Effort::Medium => "medium",
            Effort::High => "high",
        }
    }
}

/// A request to a model. `None` and empty values leave the choice to the provider.
#[derive(Clone, Debug, Default, PartialEq)]
pub struct ModelRequest {
    /// The model's name.
    pub model: Text,
    /// The conversation so far.
    pub messages: Vec<AnyMessage>,
    /// The tool definitions.
    pub tools: Vec<Tool>,
    /// The tool choice; not sent without tools.
    pub tool_choice: Option<ToolChoice>,
    /// The sampling temperature.
    pub temperature: Option<f64>,
    /// The maximum number of tokens in the answer, including reasoning.
    pub max_tokens: Option<u32>,
    /// Stop sequences.
    pub stop: Vec<Text>,
    /// The sampling seed, for providers that support it.
    pub seed: Option<i64>,
    /// The reasoning effort.
    pub effort: Option<Effort>,
    /// The JSON Schema that the answer must follow: an object without other members, all of which are required.
    pub schema: Option<Json>,
    /// Whether to stream the answer.
    pub stream: bool,
    /// The fallbacks of this model: features to omit or to express differently.
    pub fallbacks: ParameterFallbacks,
    /// The body for [`sglang`](super::sglang), whose prompts are rendered by the sender.
    pub generate: Option<Json>,
}

impl ModelRequest {
    /// The tool choice to send; `None` without tools.
    pub(super) fn choice(&self) -> Option<ToolChoice> {
        use super::parameter_fallback::ParameterFallback::{FreeChoice, NoToolChoice};
        let choice = self.tool_choice.clone()?;
        if self.tools.is_empty() || self.fallbacks.has(NoToolChoice) {
            None
        } else if choice.is_forced() && self.fallbacks.has(FreeChoice) {
            Some(ToolChoice::Auto)
        } else {
            Some(choice)
        }
    }

    /// The temperature to send.
    pub(super) fn sent_temperature(&self) -> Option<f64> {
        use super::parameter_fallback::ParameterFallback::NoTemperature;
        self.temperature
            .filter(|_| !self.fallbacks.has(NoTemperature))
    }

    /// The stop sequences to send.
    pub(super) fn sent_stop(&self) -> Option<Vec<Text>> {
        use super::parameter_fallback::ParameterFallback::NoStop;
        let sent = !self.stop.is_empty() && !self.fallbacks.has(NoStop);
        sent.then(|| self.stop.clone())
    }

    /// The seed to send.
    pub(super) fn sent_seed(&self) -> Option<i64> {
        use super::parameter_fallback::ParameterFallback::NoSeed;
        self.seed.filter(|_| !self.fallbacks.has(NoSeed))
    }

    /// The effort to send.
    pub(super) fn sent_effort(&self) -> Option<Effort> {
        use super::parameter_fallback::ParameterFallback::NoEffort;
        self.effort.filter(|_| !self.fallbacks.has(NoEffort))
    }

    /// The schema of the answer to send.
    pub(super) fn sent_schema(&self) -> Option<&Json> {
        use super::parameter_fallback::ParameterFallback::NoSchema;
        self.schema
            .as_ref()
            .filter(|_| !self.fallbacks.has(NoSchema))
    }

    /// The schema as OpenAI takes it, which requires a name.
    pub(super) fn named_schema(&self) -> Option<Object> {
        let schema = self.sent_schema()?;
        Some(object!({"name": "answer", "strict": true, "schema": (schema.clone())}))
    }
}
