//! A question that is asked about trajectories, with all that is needed to go on asking it in a later visit.

use std::fmt::Write;

use hmac_sha256::Hash;
use serde::{Deserialize, Serialize};
use volary_agent::model::limits::Budget;
use volary_agent::model::price::Price;
use volary_agent::model::{Effort, ProviderKind};
use volary_ask::cache::{AnswerRecord, Sampling};
use volary_ask::run::AskSettings;
use volary_ask::{Question, RenderOptions};
use volary_core::json::{Text, to_json};
use volary_protocol::asking::AskTerms;

/// The number of digits of an id: 64 bits.
const DIGITS: usize = 16;

/// What is asked of which model, and how.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
pub struct AskSetup {
    pub question: Question,
    /// The id of the connection.
    pub connection: Text,
    pub model: Text,
    pub sampling: Sampling,
    /// The tokens of the model's context that may be used.
    pub context: u64,
    /// The number of requests at one time.
    pub concurrency: usize,
    /// The maximum cost in US dollars.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub most_cost: Option<f64>,
    /// The maximum number of tokens.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub most_tokens: Option<u64>,
    pub options: RenderOptions,
}

/// What the connection and the table of prices say about a model.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct ModelFacts {
    pub kind: ProviderKind,
    pub price: Option<Price>,
}

/// A question that was planned, and may have been asked.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
pub struct AskedQuestion {
    /// A digest of the question, the model and what the model sees.
    pub id: Text,
    /// The name of its columns, unique among all questions.
    pub name: Text,
    pub setup: AskSetup,
    /// The ids of the episodes that it is asked about, in order.
    pub rows: Vec<Text>,
    /// Those among them that a person labels first.
    #[serde(default)]
    pub calibration: Vec<Text>,
    /// The id of the person's labels, which a changed question keeps.
    pub labels: Text,
    /// When it was asked last, in seconds since 1970.
    pub time: f64,
}

impl AskSetup {
    /// What was asked for an answer of a file. Its connection is not known, so the question cannot be asked further with it.
    pub fn of_record(record: &AnswerRecord) -> AskSetup {
        // The kind of the provider is no part of it.
        let kind = ProviderKind::OpenAiChat;
        let usual = AskSettings::new(record.question.clone(), kind, record.model.clone());
        AskSetup {
            question: usual.question,
            connection: Text::default(),
            model: usual.model,
            sampling: record.sampling.clone(),
            context: usual.context,
            concurrency: usual.concurrency,
            most_cost: None,
            most_tokens: None,
            options: RenderOptions::default(),
        }
    }

    /// The id of the question.
    pub fn id(&self) -> Text {
        let mut digest = Hash::new();
        // Derived data always serializes.
        let question = to_json(&self.question).unwrap_or_default();
        let options = to_json(&self.options).unwrap_or_default();
        for part in [
            &*question.to_compact_text(),
            &*self.model,
            &*options.to_compact_text(),
        ] {
            digest.update((part.len() as u64).to_le_bytes());
            digest.update(part);
        }
        let mut text = digest
            .finalize()
            .iter()
            .fold(String::new(), |mut text, byte| {
                // Writing to a text cannot fail.
                let _ = write!(text, "{byte:02x}");
                text
            });
        text.truncate(DIGITS);
        text.into()
    }

    pub fn budget(&self) -> Budget {
        Budget {
            tokens: self.most_tokens,
            cost: self.most_cost,
            ..Budget::default()
        }
    }

    /// The settings of a run.
    pub fn settings(&self, facts: ModelFacts) -> AskSettings {
        let usual = AskSettings::new(self.question.clone(), facts.kind, self.model.clone());
        let word = self.sampling.effort.as_deref();
        AskSettings {
            temperature: self.sampling.temperature,
            max_tokens: self.sampling.max_tokens.unwrap_or(usual.max_tokens),
            effort: Effort::ALL
                .into_iter()
                .find(|effort| Some(effort.as_str()) == word),
            seed: self.sampling.seed,
            context: self.context,
            concurrency: self.concurrency,
            budget: self.budget(),
            price: facts.price,
            ..usual
        }
    }

    /// What the key of an answer depends on.
    pub fn terms(&self, facts: ModelFacts) -> AskTerms {
        let settings = self.settings(facts);
        AskTerms {
            question: self.question.clone(),
            model: self.model.clone(),
            sampling: settings.sampling(),
            context: self.context,
            options: self.options.clone(),
        }
    }
}
