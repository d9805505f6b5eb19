//! Paid answers, by what they depend on, as lines of JSON.
//!
//! The key of an answer is the SHA-256 digest of the rendered text, the question, the schema of the reply, the model and the
//! sampling. If any of them changes, the question is asked again. Lines are only appended, so two people can merge their files
//! with `cat`; of two lines with one key, the later one counts. No API key is part of a line.

use std::collections::BTreeMap;
use std::fmt::Write;

use hmac_sha256::Hash;
use serde::{Deserialize, Serialize};
use volary_core::json::{Text, from_json, read, to_json};

use crate::answer::Answer;
use crate::prompt::INSTRUCTIONS;
use crate::question::Question;
use crate::quotes::QuoteState;

/// The format of a line.
pub const FORMAT: &str = "volary-answer-1";

/// How answers are sampled.
#[derive(Clone, Debug, Default, PartialEq, Serialize, Deserialize)]
pub struct Sampling {
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub temperature: Option<f64>,
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub max_tokens: Option<u32>,
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub seed: Option<i64>,
    /// The word of the effort.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub effort: Option<Text>,
}

/// A stored answer.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
pub struct AnswerRecord {
    pub format: Text,
    pub key: Text,
    /// The id of the episode. Only for display: equal texts share an answer.
    #[serde(default)]
    pub episode: Text,
    /// The name of the episode.
    #[serde(default)]
    pub name: Text,
    pub question: Question,
    pub model: Text,
    #[serde(default)]
    pub sampling: Sampling,
    /// When it was answered, in seconds since 1970.
    #[serde(default)]
    pub time: f64,
    pub answer: Answer,
    /// The states of the first reply's quotes, if it was asked for again.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub first: Option<Vec<QuoteState>>,
    #[serde(default)]
    pub input_tokens: u64,
    #[serde(default)]
    pub output_tokens: u64,
    /// In US dollars, if known.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub cost: Option<f64>,
}

/// A line that cannot be read.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct DamagedLine {
    /// From 1.
    pub line: usize,
    pub reason: String,
}

/// The answers of a file.
#[derive(Clone, Debug, Default, PartialEq)]
pub struct AnswerCache {
    records: BTreeMap<Text, AnswerRecord>,
}

/// The key of an answer. `parts` are the texts that are sent.
pub fn key(parts: &[String], question: &Question, model: &str, sampling: &Sampling) -> Text {
    let mut digest = Hash::new();
    let mut add = |text: &str| {
        digest.update((text.len() as u64).to_le_bytes());
        digest.update(text);
    };
    add(FORMAT);
    add(INSTRUCTIONS);
    add(&parts.len().to_string());
    parts.iter().for_each(|part| add(part));
    // Derived data always serializes.
    add(&to_json(question).unwrap_or_default().to_compact_text());
    add(&question.answer.schema().to_compact_text());
    add(model);
    add(&to_json(sampling).unwrap_or_default().to_compact_text());
    let digest = digest.finalize();
    let text = digest.iter().fold(String::new(), |mut text, byte| {
        // Writing to a text cannot fail.
        let _ = write!(text, "{byte:02x}");
        text
    });
    text.into()
}

impl AnswerRecord {
    /// The line, without its end.
    pub fn to_line(&self) -> String {
        // Derived data always serializes.
        to_json(self).unwrap_or_default().to_compact_text()
    }
}

impl AnswerCache {
    /// Reads lines. Those that cannot be read are skipped and returned.
    pub fn read(text: &str) -> (AnswerCache, Vec<DamagedLine>) {
        let mut cache = AnswerCache::default();
        let mut damaged = Vec::new();
        for (index, line) in text.lines().enumerate() {
            if line.trim().is_empty() {
                continue;
            }
            match record(line) {
                Ok(record) => cache.insert(record),
                Err(reason) => damaged.push(DamagedLine {
                    line: index + 1,
                    reason,
                }),
            }
        }
        (cache, damaged)
    }

    pub fn get(&self, key: &str) -> Option<&AnswerRecord> {
        self.records.get(key)
    }

    pub fn insert(&mut self, record: AnswerRecord) {
        self.records.insert(record.key.clone(), record);
    }

    /// All records, by key.
    pub fn records(&self) -> impl ExactSizeIterator<Item = &AnswerRecord> {
        self.records.values()
    }
}

fn record(line: &str) -> Result<AnswerRecord, String> {
    let value = read(line).map_err(|error| format!("it is not JSON: {error}"))?;
    let format = value.get("format").and_then(|format| format.as_text());
    if format.is_none_or(|format| &**format != FORMAT) {
        return Err(format!("its format is not {FORMAT}"));
    }
    let record: AnswerRecord = from_json(&value).map_err(|error| error.to_string())?;
    let is_key = record.key.len() == 64 && record.key.bytes().all(|byte| byte.is_ascii_hexdigit());
    if is_key {
        Ok(record)
    } else {
        Err("its key is not a digest".to_owned())
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::answer::{Evidence, Support};
    use crate::question::AnswerType;
    use crate::quotes::QuotePosition;

    fn record() -> AnswerRecord {
        let question = Question {
            text: "Did it?".into(),
            answer: AnswerType::of_labels(&["a", "b"]),
        };
        AnswerRecord {
            format: FORMAT.into(),
            key: key(&["text".into()], &question, "m", &Sampling::default()),
            episode: "e1".into(),
            name: "one".into(),
            question,
            model: "m".into(),
            sampling: Sampling {
                temperature: Some(0.0),
                ..Sampling::default()
            },
            time: 1.5,
            answer: Answer {
                label: Some("a".into()),
                score: None,
                explanation: "Because\nof \u{1b}.".into(),
                evidence: vec![Evidence {
                    message: Some(2),
                    quote: "x".into(),
                    state: QuoteState::Elsewhere,
                    found_in: Some(3),
                    words: None,
                    at: Some(QuotePosition::default()),
                    from_question: false,
                }],
                support: Support::Unsupported,
                parts: 1,
                notes: vec!["n".into()],
            },
            first: Some(vec![QuoteState::NotFound]),
            input_tokens: 10,
            output_tokens: 2,
            cost: Some(0.25),
        }
    }

    #[test]
    fn lines_come_back_and_damaged_ones_are_reported() {
        let one = record();
        let line = one.to_line();
        assert!(!line.contains('\n'));
        let later = AnswerRecord {
            time: 9.0,
            ..one.clone()
        };
        let half = &line[..line.len() / 2];
        let text = format!(
            "{line}\n\n{half}\n{{\"format\":\"x\"}}\n{}\n",
            later.to_line()
        );
        let (cache, damaged) = AnswerCache::read(&text);
        assert_eq!(cache.get(&one.key), Some(&later));
        assert_eq!(cache.records().len(), 1);
        let lines: Vec<usize> = damaged.iter().map(|line| line.line).collect();
        assert_eq!(lines, [3, 4]);
        let bad_key = AnswerRecord {
            key: "short".into(),
            ..one
        };
        assert_eq!(AnswerCache::read(&bad_key.to_line()).1.len(), 1);
    }

    #[test]
    fn a_key_depends_on_all_that_an_answer_depends_on() {
        let question = record().question;
        let other = Question {
            text: "Else?".into(),
            ..question.clone()
        };
        let typed = Question {
            answer: AnswerType::YesNo,
            ..question.clone()
        };
        let cold = Sampling {
            temperature: Some(0.0),
            ..Sampling::default()
        };
        let plain = Sampling::default();
        let keys = [
            key(&["ab".into()], &question, "m", &plain),
            key(&["a".into(), "b".into()], &question, "m", &plain),
            key(&["abc".into()], &question, "m", &plain),
            key(&["ab".into()], &other, "m", &plain),
            key(&["ab".into()], &typed, "m", &plain),
            key(&["ab".into()], &question, "n", &plain),
            key(&["ab".into()], &question, "m", &cold),
        ];
        let distinct: std::collections::BTreeSet<_> = keys.iter().collect();
        assert_eq!(distinct.len(), keys.len());
        assert_eq!(keys[0], key(&["ab".into()], &question, "m", &plain));
    }
}
