//! What the library worker does for questions to models: it renders trajectories as texts, measures them for a plan, and
//! checks the quotes of replies. The page only sends the texts.

use serde::{Deserialize, Serialize};
use volary_ask::cache::Sampling;
use volary_ask::run::CheckedReply;
use volary_ask::{Question, RenderOptions};
use volary_core::json::Text;

use crate::coded;

/// A question to one model, as far as the key of its answers depends on it.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
pub struct AskTerms {
    #[serde(with = "coded")]
    pub question: Question,
    pub model: Text,
    #[serde(with = "coded")]
    pub sampling: Sampling,
    /// The tokens of the model's context that may be used.
    pub context: u64,
    pub options: RenderOptions,
}

/// The text of a trajectory, as far as a plan needs it.
#[derive(Clone, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
pub struct MeasuredText {
    /// The id of the episode.
    pub id: Text,
    /// The estimated tokens.
    pub tokens: u64,
    /// The key of its answer.
    pub key: Text,
    /// The number of characters that were cut.
    pub cut: u64,
}

/// A trajectory that cannot be rendered.
#[derive(Clone, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
pub struct UnrenderedText {
    /// The id of the episode.
    pub id: Text,
    /// Why, for the user.
    pub reason: Text,
}

/// The texts of all trajectories of a plan.
#[derive(Clone, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
pub struct MeasuredTexts {
    pub texts: Vec<MeasuredText>,
    pub missing: Vec<UnrenderedText>,
    /// What is masked in them, for the user; empty if it is nothing.
    pub masked: Text,
}

/// What a model said about a trajectory.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
pub struct SaidReply {
    /// The id of the episode.
    pub id: Text,
    /// The text that the model saw was rendered with these.
    pub options: RenderOptions,
    #[serde(with = "coded")]
    pub question: Question,
    pub said: Text,
}

/// A checked reply, in the form of a message.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
pub struct CheckedMessage(#[serde(with = "coded")] pub CheckedReply);
