//! `read_answers`: the answers of `volary ask`, with their checked quotes.

use std::collections::BTreeMap;
use std::fmt::Write;

use schemars::JsonSchema;
use serde::{Deserialize, Serialize};
use tokio_util::sync::CancellationToken;
use volary_ask::cache::AnswerRecord;

use super::{Library, ToolReply, short};
use crate::ask::AnswersFile;
use crate::mcp::failure::ToolFailure;
use crate::mcp::selection::ListRest;

/// The number of answers, unless asked for, and its maximum.
const USUAL: usize = 20;
const MOST: usize = 100;
/// The number of questions and values of each that are counted.
const MOST_QUESTIONS: usize = 50;
const MOST_VALUES: usize = 20;
/// The maximum length of an explanation, in characters.
const LONGEST: usize = 1_000;

#[derive(Debug, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
pub struct AnswerArguments {
    /// Only questions that contain this text, in any case
    #[serde(default)]
    question: Option<String>,
    /// Only answers about the trajectory with this id
    #[serde(default)]
    id: Option<String>,
    /// Only answers with this label
    #[serde(default)]
    label: Option<String>,
    /// Only answers whose quotes hold (true), or do not hold (false)
    #[serde(default)]
    supported: Option<bool>,
    /// The number of answers to skip
    #[serde(default)]
    offset: usize,
    /// The maximum number of answers: 20 by default, 100 at most
    #[serde(default)]
    limit: Option<usize>,
}

#[derive(Debug, Serialize, JsonSchema)]
pub struct AnswerList {
    /// The questions that were asked, at most 50, with the numbers of their answers
    questions: Vec<AskedQuestion>,
    /// The number of answers that meet the conditions
    matching: usize,
    answers: Vec<StoredAnswer>,
    #[serde(skip_serializing_if = "Option::is_none")]
    more: Option<ListRest>,
}

#[derive(Debug, Serialize, JsonSchema)]
struct AskedQuestion {
    question: String,
    answers: usize,
    /// The number of answers with each label, at most 20 labels
    #[serde(skip_serializing_if = "BTreeMap::is_empty")]
    labels: BTreeMap<String, usize>,
}

#[derive(Debug, Serialize, JsonSchema)]
struct StoredAnswer {
    /// The id of the trajectory
    id: String,
    name: String,
    question: String,
    model: String,
    #[serde(skip_serializing_if = "Option::is_none")]
    label: Option<String>,
    #[serde(skip_serializing_if = "Option::is_none")]
    score: Option<f64>,
    explanation: String,
    /// Whether its quotes hold: supported, no quote needed, unsupported, unreadable
    support: String,
    quotes: Vec<StoredQuote>,
}

#[derive(Debug, Serialize, JsonSchema)]
struct StoredQuote {
    /// The number of the message that the model named, for read_trajectory
    #[serde(skip_serializing_if = "Option::is_none")]
    message: Option<usize>,
    quote: String,
    /// exact, close, elsewhere (in another message), or not found
    state: String,
    /// The message in which the words are, if it is another one
    #[serde(skip_serializing_if = "Option::is_none")]
    found_in: Option<usize>,
}

impl StoredAnswer {
    fn of(record: &AnswerRecord) -> StoredAnswer {
        let answer = &record.answer;
        StoredAnswer {
            id: record.episode.to_string(),
            name: short(&record.name),
            question: record.question.text.to_string(),
            model: record.model.to_string(),
            label: answer.label.as_ref().map(|label| label.to_string()),
            score: answer.score,
            explanation: answer.explanation.chars().take(LONGEST).collect(),
            support: answer.support.as_str().to_owned(),
            quotes: answer
                .evidence
                .iter()
                .map(|evidence| StoredQuote {
                    message: evidence.message,
                    quote: evidence.quote.to_string(),
                    state: evidence.state.as_str().to_owned(),
                    found_in: evidence.found_in,
                })
                .collect(),
        }
    }
}

pub fn answers(
    library: &Library,
    arguments: AnswerArguments,
    _cancelled: &CancellationToken,
) -> Result<ToolReply<AnswerList>, ToolFailure> {
    let file = AnswersFile::open(library.answers.as_deref(), library.catalog.paths());
    let file = file.map_err(|error| ToolFailure::Answers {
        reason: format!("{error:#}"),
    })?;
    let mut questions: BTreeMap<&str, AskedQuestion> = BTreeMap::new();
    for record in file.cache().records() {
        let question = questions
            .entry(&record.question.text)
            .or_insert_with(|| AskedQuestion {
                question: record.question.text.to_string(),
                answers: 0,
                labels: BTreeMap::new(),
            });
        question.answers += 1;
        if let Some(label) = &record.answer.label
            && (question.labels.len() < MOST_VALUES || question.labels.contains_key(&**label))
        {
            *question.labels.entry(label.to_string()).or_default() += 1;
        }
    }
    let part = arguments.question.as_ref().map(|part| part.to_lowercase());
    let matches = |record: &&AnswerRecord| {
        let has_part = part
            .as_ref()
            .is_none_or(|part| record.question.text.to_lowercase().contains(part));
        let has_id = arguments
            .id
            .as_ref()
            .is_none_or(|id| **id == *record.episode);
        let has_label = arguments
            .label
            .as_ref()
            .is_none_or(|label| record.answer.label.as_deref() == Some(label));
        let has_support = arguments
            .supported
            .is_none_or(|supported| supported == record.answer.support.holds());
        has_part && has_id && has_label && has_support
    };
    let mut records: Vec<&AnswerRecord> = file.cache().records().filter(matches).collect();
    records.sort_by(|one, other| {
        let question = one.question.text.cmp(&other.question.text);
        question
            .then_with(|| one.name.cmp(&other.name))
            .then_with(|| one.episode.cmp(&other.episode))
    });
    let limit = arguments.limit.unwrap_or(USUAL).clamp(1, MOST);
    let page = records.iter().skip(arguments.offset).take(limit);
    let answers: Vec<StoredAnswer> = page.map(|record| StoredAnswer::of(record)).collect();
    let more = ListRest::of(records.len(), arguments.offset, answers.len());
    let mut text = String::new();
    if questions.is_empty() {
        text.push_str(
            "There are no answers. The user can ask a question about all trajectories with `volary ask`.\n",
        );
    }
    for question in questions.values().take(MOST_QUESTIONS) {
        // Writing to a text cannot fail.
        let _ = writeln!(
            text,
            "Question: {} ({} answers)",
            question.question, question.answers
        );
    }
    for answer in &answers {
        let value = match (&answer.label, answer.score) {
            (Some(label), _) => label.clone(),
            (None, Some(score)) => score.to_string(),
            (None, None) => String::new(),
        };
        let _ = writeln!(
            text,
            "{}: {value} ({}) {}",
            answer.id, answer.support, answer.explanation
        );
        for quote in &answer.quotes {
            let message = quote
                .message
                .map(|message| format!(" in message {message}"));
            let _ = writeln!(
                text,
                "  {}{}: “{}”",
                quote.state,
                message.unwrap_or_default(),
                quote.quote
            );
        }
    }
    text.push_str(&ListRest::line(more));
    Ok(ToolReply {
        text,
        value: AnswerList {
            questions: questions.into_values().take(MOST_QUESTIONS).collect(),
            matching: records.len(),
            answers,
            more,
        },
    })
}
