//! The model, the limits and the budget of a run.

use volary_agent::model::limits::{Budget, Spent};
use volary_agent::model::price::Price;
use volary_agent::model::retry::Backoff;
use volary_agent::model::{Effort, ModelRequest, ParameterFallbacks, ProviderKind, Usage};
use volary_core::json::Text;

use crate::cache::Sampling;
use crate::question::{Question, QuestionError};
use crate::render::estimated_tokens;

/// The settings of a run.
#[derive(Clone, Debug, PartialEq)]
pub struct AskSettings {
    pub question: Question,
    pub model: Text,
    pub kind: ProviderKind,
    /// `None` leaves it to the provider; some models accept none.
    pub temperature: Option<f64>,
    /// The maximum number of tokens of a reply, including reasoning.
    pub max_tokens: u32,
    pub effort: Option<Effort>,
    pub seed: Option<i64>,
    /// Whether the schema of the reply is sent as a parameter too, which makes prefixes of the request differ between questions.
    pub is_structured: bool,
    /// What the model rejected in an earlier request.
    pub fallbacks: ParameterFallbacks,
    /// The tokens of the model's context that may be used.
    pub context: u64,
    /// The number of requests at one time.
    pub concurrency: usize,
    pub budget: Budget,
    /// The price of the model, if known.
    pub price: Option<Price>,
    pub backoff: Backoff,
}

/// Why a run cannot start.
#[derive(Clone, Debug, PartialEq, thiserror::Error)]
#[non_exhaustive]
pub enum SettingsError {
    #[error(transparent)]
    Question(#[from] QuestionError),
    #[error("No model is chosen.")]
    NoModel,
    #[error("At least one request at a time is needed.")]
    NoConcurrency,
    #[error(
        "The price of {model} is unknown, so a limit of ${limit} cannot be enforced. Enter its price, or limit the tokens."
    )]
    PriceUnknown { model: Text, limit: f64 },
}

impl AskSettings {
    /// The usual settings for a question and a model.
    pub fn new(question: Question, kind: ProviderKind, model: impl Into<Text>) -> Self {
        AskSettings {
            question,
            model: model.into(),
            kind,
            temperature: None,
            max_tokens: 2_000,
            effort: None,
            seed: None,
            is_structured: false,
            fallbacks: ParameterFallbacks::default(),
            context: 120_000,
            concurrency: 4,
            budget: Budget::default(),
            price: None,
            backoff: Backoff::default(),
        }
    }

    pub(super) fn check(&self) -> Result<(), SettingsError> {
        self.question.check()?;
        if self.model.trim().is_empty() {
            return Err(SettingsError::NoModel);
        }
        if self.concurrency == 0 {
            return Err(SettingsError::NoConcurrency);
        }
        match (self.budget.cost, self.price) {
            (Some(limit), None) => Err(SettingsError::PriceUnknown {
                model: self.model.clone(),
                limit,
            }),
            _ => Ok(()),
        }
    }

    /// How answers are sampled, as far as they depend on it.
    pub fn sampling(&self) -> Sampling {
        Sampling {
            temperature: self.temperature,
            max_tokens: Some(self.max_tokens),
            seed: self.seed,
            effort: self.effort.map(|effort| effort.as_str().into()),
        }
    }

    /// The request for messages.
    pub(super) fn request(&self, messages: Vec<volary_core::AnyMessage>) -> ModelRequest {
        ModelRequest {
            model: self.model.clone(),
            messages,
            temperature: self.temperature,
            max_tokens: Some(self.max_tokens),
            effort: self.effort,
            seed: self.seed,
            schema: self
                .is_structured
                .then(|| self.question.answer.strict_schema()),
            fallbacks: self.fallbacks,
            ..ModelRequest::default()
        }
    }

    /// The most that a request may use: its input by estimate, its output at the maximum.
    pub(super) fn estimate(&self, request: &ModelRequest) -> Spent {
        let texts = request.messages.iter();
        let input = texts.map(|message| estimated_tokens(message.body().content_or_empty()) + 8);
        let usage = Usage {
            prompt: input.sum::<u64>() * 6 / 5,
            completion: u64::from(self.max_tokens),
            ..Usage::default()
        };
        let mut spent = Spent::default();
        spent.add_answer(Some(&usage), self.price.map(|price| price.cost(&usage)));
        spent
    }
}
