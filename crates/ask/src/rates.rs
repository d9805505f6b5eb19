//! How often the quotes of each model hold.

use std::collections::BTreeMap;

use volary_core::json::Text;

use crate::answer::{Answer, Support};
use crate::quotes::QuoteState;

/// The numbers of quotes by state, in the order of [`QuoteState::ALL`].
pub type StateCounts = [u64; 4];

/// The counts of one model.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct ModelRates {
    pub answers: u64,
    /// Answers that were asked for again.
    pub retried: u64,
    pub unsupported: u64,
    pub unreadable: u64,
    /// The quotes of the first replies.
    pub first: StateCounts,
    /// The quotes of the answers, after retries.
    pub last: StateCounts,
}

/// The counts by model.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct QuoteRates {
    pub models: BTreeMap<Text, ModelRates>,
}

impl QuoteRates {
    /// Counts an answer. `first` are the states of the first reply's quotes, if it was asked for again.
    pub fn add(&mut self, model: &Text, answer: &Answer, first: Option<&[QuoteState]>) {
        let rates = self.models.entry(model.clone()).or_default();
        rates.answers += 1;
        rates.retried += u64::from(first.is_some());
        rates.unsupported += u64::from(answer.support == Support::Unsupported);
        rates.unreadable += u64::from(answer.support == Support::Unreadable);
        let last: Vec<QuoteState> = answer
            .evidence
            .iter()
            .map(|evidence| evidence.state)
            .collect();
        for state in first.unwrap_or(&last) {
            count(&mut rates.first, *state);
        }
        for state in &last {
            count(&mut rates.last, *state);
        }
    }
}

impl ModelRates {
    /// The shares of the states among the quotes of the answers; `None` without quotes.
    pub fn shares(&self) -> Option<[f64; 4]> {
        let total: u64 = self.last.iter().sum();
        (total > 0).then(|| self.last.map(|count| count as f64 / total as f64))
    }
}

fn count(counts: &mut StateCounts, state: QuoteState) {
    for (known, count) in QuoteState::ALL.iter().zip(counts) {
        *count += u64::from(*known == state);
    }
}
