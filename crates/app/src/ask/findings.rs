//! Findings over the answers to a question: what is sent, and the claims that come back.

use std::sync::Arc;

use serde::{Deserialize, Serialize};
use volary_ask::cache::AnswerRecord;
use volary_ask::render::estimated_tokens;
use volary_ask::synthesis::{self, CitedAnswer, Claim};
use volary_core::AnyMessage;
use volary_core::json::Text;

use super::history::AskHistory;

/// What a model wrote about answers.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
pub struct AskFindings {
    pub text: Text,
    pub model: Text,
    /// When it was written, in seconds since 1970.
    pub time: f64,
    /// The ids of the episodes whose answers were sent; the first is `[A1]`.
    pub episodes: Vec<Text>,
    /// The number of answers that were left out because they did not fit.
    #[serde(default)]
    pub left_out: usize,
    /// In US dollars, if known.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub cost: Option<f64>,
}

/// The request for findings.
#[derive(Clone, Debug, PartialEq)]
pub struct FindingsRequest {
    pub messages: Vec<AnyMessage>,
    pub episodes: Vec<Text>,
    pub left_out: usize,
    /// The estimated tokens of the messages.
    pub tokens: u64,
}

impl AskFindings {
    /// The claims, with the answers that each cites.
    pub fn claims(&self) -> Vec<Claim> {
        let count = self.episodes.len();
        synthesis::parse(&self.text, |number| (1..=count).contains(&number))
    }
}

impl FindingsRequest {
    /// The request about all answers to a question, as far as they fit into the context; `None` without answers.
    pub fn of(history: &AskHistory, id: &str) -> Option<FindingsRequest> {
        let question = history.question(id)?;
        let answers: Vec<(&Text, &Arc<AnswerRecord>)> = history.answers(id).collect();
        let mut count = answers.len();
        // Estimates may be a fifth too low.
        let room = question.setup.context * 4 / 5;
        while count > 0 {
            let cited = answers.iter().take(count).zip(1..);
            let cited: Vec<CitedAnswer<'_>> = cited
                .map(|((_, record), number)| CitedAnswer {
                    number,
                    name: &record.name,
                    answer: &record.answer,
                })
                .collect();
            let messages = synthesis::messages(&question.setup.question, &cited);
            let texts = messages.iter();
            let tokens = texts
                .map(|message| estimated_tokens(message.body().content_or_empty()))
                .sum();
            if tokens <= room || count == 1 {
                let episodes = answers.iter().take(count).map(|(id, _)| (*id).clone());
                return Some(FindingsRequest {
                    messages,
                    episodes: episodes.collect(),
                    left_out: answers.len() - count,
                    tokens,
                });
            }
            count = count * 3 / 4;
        }
        None
    }
}
