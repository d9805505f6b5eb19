//! What is asked of a model, in words that all providers share.

use serde::Serialize;
use volary_core::json::{Json, Text};
use volary_core::{AnyMessage, Tool};

use super::parameter_fallback::Concessions;

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
    /// A word of the provider's own, such as `any`; no choice where providers take no words.
    Word(Text),
}

impl ToolChoice {
    /// Whether a call must come.
    pub const fn is_forced(&self) -> bool {
        matches!(self, ToolChoice::Required | ToolChoice::Tool(_))
    }
}

/// How much a model shall think, where it can be told.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash, Serialize)]
#[cfg_attr(test, derive(serde::Deserialize))]
#[serde(rename_all = "lowercase")]
pub enum Effort {
    /// Not at all, or as little as it can.
    None,
    /// Little.
    Low,
    /// Some.
    Medium,
    /// Much.
    High,
}

impl Effort {
    /// All of them, in rising order.
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
    /// What this model was found not to take, which is therefore left out or said another way.
    pub concessions: Concessions,
    /// The body for [`sglang`](super::sglang), whose prompts are rendered by the sender.
    pub generate: Option<Json>,
}

impl ModelRequest {
    /// The choice to send: none where there are no tools.
    pub(super) fn choice(&self) -> Option<ToolChoice> {
        use super::parameter_fallback::Concession::{FreeChoice, NoToolChoice};
        let choice = self.tool_choice.clone()?;
        if self.tools.is_empty() || self.concessions.has(NoToolChoice) {
            None
        } else if choice.is_forced() && self.concessions.has(FreeChoice) {
            Some(ToolChoice::Auto)
        } else {
            Some(choice)
        }
    }

    /// The temperature to send.
    pub(super) fn sent_temperature(&self) -> Option<f64> {
        use super::parameter_fallback::Concession::NoTemperature;
        self.temperature
            .filter(|_| !self.concessions.has(NoTemperature))
    }

    /// The texts to stop at, if any are sent.
    pub(super) fn sent_stop(&self) -> Option<Vec<Text>> {
        use super::parameter_fallback::Concession::NoStop;
        let sent = !self.stop.is_empty() && !self.concessions.has(NoStop);
        sent.then(|| self.stop.clone())
    }

    /// The seed to send.
    pub(super) fn sent_seed(&self) -> Option<i64> {
        use super::parameter_fallback::Concession::NoSeed;
        self.seed.filter(|_| !self.concessions.has(NoSeed))
    }

    /// The effort to send.
    pub(super) fn sent_effort(&self) -> Option<Effort> {
        use super::parameter_fallback::Concession::NoEffort;
        self.effort.filter(|_| !self.concessions.has(NoEffort))
    }
}
