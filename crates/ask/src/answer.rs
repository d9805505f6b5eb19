//! The checked answer of a model.

use serde::{Deserialize, Serialize};
use volary_core::json::Text;

use crate::prompt::Retry;
use crate::question::{AnswerType, Question};
use crate::quotes::{QuoteIndex, QuotePosition, QuoteState};
use crate::render::Rendered;
use crate::reply::{self, ParsedReply};

/// Whether the quotes of an answer hold.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Hash, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum Support {
    /// All quotes are exact or close, and there is one if one is needed.
    Supported,
    /// The answer states an absence, without a quote.
    NotNeeded,
    /// A quote is in no message or another one, or a needed one is missing.
    Unsupported,
    /// The reply could not be read as an answer.
    Unreadable,
}

impl Support {
    /// The name for display.
    pub const fn as_str(self) -> &'static str {
        match self {
            Support::Supported => "supported",
            Support::NotNeeded => "no quote needed",
            Support::Unsupported => "unsupported",
            Support::Unreadable => "unreadable",
        }
    }

    /// Whether the answer can be used: it was read, and its quotes hold or none is needed.
    pub const fn holds(self) -> bool {
        matches!(self, Support::Supported | Support::NotNeeded)
    }
}

/// A quote with the result of its check.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
pub struct Evidence {
    /// The number of the message that the model named.
    pub message: Option<usize>,
    pub quote: Text,
    pub state: QuoteState,
    /// The message in which the words are, if it is another one.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub found_in: Option<usize>,
    /// The words of the transcript, if they differ.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub words: Option<Text>,
    /// Where the words are in the episode. `None` also in answers of versions that did not store it.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub at: Option<QuotePosition>,
    /// The words are only in the question.
    #[serde(default, skip_serializing_if = "is_false")]
    pub from_question: bool,
}

/// A checked answer.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
pub struct Answer {
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub label: Option<Text>,
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub score: Option<f64>,
    pub explanation: Text,
    pub evidence: Vec<Evidence>,
    pub support: Support,
    /// The number of parts in which a long trajectory was read; 1 if it was read as a whole.
    pub parts: usize,
    /// What should be known about the answer: dropped quotes, contradicting parts.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub notes: Vec<Text>,
}

fn is_false(value: &bool) -> bool {
    !*value
}

impl Evidence {
    /// The number of the message as the model gave it.
    pub fn message_text(&self) -> String {
        self.message
            .map_or_else(|| "(none)".to_owned(), |message| message.to_string())
    }
}

impl Answer {
    /// Reads and checks what a model said about a trajectory, and says what to ask for again.
    pub fn of_reply(
        question: &Question,
        rendered: &Rendered,
        said: &str,
    ) -> (Answer, Option<Retry>) {
        Answer::check(
            question,
            &QuoteIndex::of(rendered),
            reply::parse(said),
            said,
        )
    }

    /// Checks a reply, and says what to ask for again. `None` in the reply means that it has no JSON; `said` is its text.
    pub fn check(
        question: &Question,
        index: &QuoteIndex<'_>,
        reply: Option<ParsedReply>,
        said: &str,
    ) -> (Answer, Option<Retry>) {
        let Some(reply) = reply else {
            return (Answer::unreadable(said), Some(Retry::NoJson));
        };
        let evidence = evidence(question, index, &reply);
        let label = reply.label.as_deref();
        let label = label.and_then(|said| question.answer.label_of(said));
        let score = match question.answer {
            AnswerType::Score { least, most } => {
                reply.score.filter(|score| (least..=most).contains(score))
            }
            _ => None,
        };
        let wrong = wrong_value(question, &reply, label.as_deref(), score);
        let failed: Vec<Evidence> = evidence
            .iter()
            .filter(|evidence| !evidence.state.holds())
            .cloned()
            .collect();
        let is_needed = question.answer.needs_evidence(label.as_deref());
        let support = match (&wrong, failed.is_empty(), evidence.is_empty()) {
            (Some(_), _, _) => Support::Unreadable,
            (None, false, _) => Support::Unsupported,
            (None, true, false) => Support::Supported,
            (None, true, true) if is_needed => Support::Unsupported,
            (None, true, true) => Support::NotNeeded,
        };
        let retry = match support {
            Support::Supported | Support::NotNeeded => None,
            Support::Unreadable => wrong,
            Support::Unsupported if failed.is_empty() => Some(Retry::NoQuote),
            Support::Unsupported => Some(Retry::Quotes(failed)),
        };
        let mut notes = Vec::new();
        if reply.dropped > 0 {
            notes.push(format!("{} more quotes were dropped.", reply.dropped).into());
        }
        let answer = Answer {
            label,
            score,
            explanation: reply.explanation.into(),
            evidence,
            support,
            parts: 1,
            notes,
        };
        (answer, retry)
    }

    /// An answer that could not be read; its explanation is what the model said.
    pub fn unreadable(said: &str) -> Answer {
        Answer {
            label: None,
            score: None,
            explanation: said.chars().take(2_000).collect::<String>().into(),
            evidence: Vec::new(),
            support: Support::Unreadable,
            parts: 1,
            notes: Vec::new(),
        }
    }

    /// The value as a text: the label, the score, or the explanation.
    pub fn value_text(&self) -> String {
        match (&self.label, self.score) {
            (Some(label), _) => label.to_string(),
            (None, Some(score)) => score.to_string(),
            (None, None) => self.explanation.to_string(),
        }
    }
}

/// What is wrong with the value of a reply.
fn wrong_value(
    question: &Question,
    reply: &ParsedReply,
    label: Option<&str>,
    score: Option<f64>,
) -> Option<Retry> {
    match &question.answer {
        AnswerType::YesNo | AnswerType::Label { .. } if label.is_none() => {
            let labels = question.answer.labels();
            let labels: Vec<&str> = labels.iter().map(|label| &**label).collect();
            Some(Retry::Label {
                said: reply.label.clone().unwrap_or_else(|| "no label".to_owned()),
                allowed: labels.join(", "),
            })
        }
        AnswerType::Score { least, most } if score.is_none() => Some(Retry::Label {
            said: reply
                .score
                .map_or_else(|| "no score".to_owned(), |score| score.to_string()),
            allowed: format!("numbers from {least} to {most}"),
        }),
        AnswerType::Text if reply.explanation.trim().is_empty() => Some(Retry::Label {
            said: "An empty explanation".to_owned(),
            allowed: "a text".to_owned(),
        }),
        _ => None,
    }
}

fn evidence(question: &Question, index: &QuoteIndex<'_>, reply: &ParsedReply) -> Vec<Evidence> {
    let quotes = reply.quotes.iter();
    let checked = quotes.map(|(message, quote)| {
        let check = index.check(*message, quote);
        let is_elsewhere = check.state == QuoteState::Elsewhere;
        let from_question = check.state == QuoteState::NotFound
            && !quote.trim().is_empty()
            && question
                .text
                .to_lowercase()
                .contains(&quote.trim().to_lowercase());
        Evidence {
            message: *message,
            quote: quote.as_str().into(),
            state: check.state,
            found_in: check
                .found
                .as_ref()
                .filter(|_| is_elsewhere)
                .map(|found| found.message),
            at: check.found.as_ref().map(|found| found.at),
            words: check.found.and_then(|found| found.words).map(Text::from),
            from_question,
        }
    });
    checked.collect()
}

#[cfg(test)]
mod tests;
