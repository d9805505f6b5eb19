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

/// The format of a line: a name, and the version of the format.
pub const FORMAT: &str = "volary-answer-1";
/// What the formats of all versions begin with.
const NAME: &str = "volary-answer-";
/// The version of [`FORMAT`].
const VERSION: u64 = 1;
/// The name of the file with the answers.
pub const FILE: &str = "answers.jsonl";

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

/// A file was written by a newer version.
#[derive(Clone, Debug, PartialEq, Eq, thiserror::Error)]
#[error("it has answers of a newer version of Volary ({format}); update Volary to read them")]
pub struct NewerAnswers {
    pub format: Text,
}

/// The lines of a file of answers.
#[derive(Clone, Debug, Default, PartialEq)]
pub struct AnswerLines {
    /// In the order of the file. Several may have the same key.
    pub records: Vec<AnswerRecord>,
    /// Those that cannot be read.
    pub damaged: Vec<DamagedLine>,
}

/// The answers of a file, by key.
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
    ///
    /// # Errors
    /// If a newer version wrote one of them.
    pub fn read(text: &str) -> Result<(AnswerCache, Vec<DamagedLine>), NewerAnswers> {
        let AnswerLines { records, damaged } = AnswerLines::read(text)?;
        let mut cache = AnswerCache::default();
        records.into_iter().for_each(|record| cache.insert(record));
        Ok((cache, damaged))
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

impl AnswerLines {
    /// Whether a file has answers, by its name and its beginning.
    pub fn is_file(name: &str, beginning: &str) -> bool {
        let first = beginning.trim_start().strip_prefix(r#"{"format":""#);
        // The first line may be damaged.
        first.is_some_and(|rest| rest.starts_with(NAME))
            || name.rsplit(['/', '\\']).next() == Some(FILE) && beginning.contains(NAME)
    }

    /// # Errors
    /// If a newer version wrote one of the lines.
    pub fn read(text: &str) -> Result<AnswerLines, NewerAnswers> {
        let mut lines = AnswerLines::default();
        for (index, line) in text.lines().enumerate() {
            if line.trim().is_empty() {
                continue;
            }
            match record(line) {
                Ok(record) => lines.records.push(record),
                Err(Unread::Newer(newer)) => return Err(newer),
                Err(Unread::Damaged(reason)) => lines.damaged.push(DamagedLine {
                    line: index + 1,
                    reason,
                }),
            }
        }
        Ok(lines)
    }
}

/// Why a line cannot be read.
enum Unread {
    Newer(NewerAnswers),
    Damaged(String),
}

fn record(line: &str) -> Result<AnswerRecord, Unread> {
    let damaged = |reason: String| Err(Unread::Damaged(reason));
    let value = match read(line) {
        Ok(value) => value,
        Err(error) => return damaged(format!("it is not JSON: {error}")),
    };
    let format = value.get("format").and_then(|format| format.as_text());
    if let Some(format) = format.filter(|format| is_newer(format)) {
        let format = format.clone();
        return Err(Unread::Newer(NewerAnswers { format }));
    }
    if format.is_none_or(|format| &**format != FORMAT) {
        return damaged(format!("its format is not {FORMAT}"));
    }
    let record: AnswerRecord = match from_json(&value) {
        Ok(record) => record,
        Err(error) => return damaged(error.to_string()),
    };
    let is_key = record.key.len() == 64 && record.key.bytes().all(|byte| byte.is_ascii_hexdigit());
    if is_key {
        Ok(record)
    } else {
        damaged("its key is not a digest".to_owned())
    }
}

fn is_newer(format: &str) -> bool {
    let version = format.strip_prefix(NAME).map(str::parse::<u64>);
    matches!(version, Some(Ok(version)) if version > VERSION)
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
        let (cache, damaged) = AnswerCache::read(&text).unwrap();
        assert_eq!(cache.get(&one.key), Some(&later));
        assert_eq!(cache.records().len(), 1);
        let lines: Vec<usize> = damaged.iter().map(|line| line.line).collect();
        assert_eq!(lines, [3, 4]);
        let bad_key = AnswerRecord {
            key: "short".into(),
            ..one
        };
        let read = AnswerLines::read(&bad_key.to_line()).unwrap();
        assert_eq!(read.damaged.len(), 1);
    }

    #[test]
    fn lines_of_several_episodes_with_one_key_are_all_there() {
        let one = record();
        let other = AnswerRecord {
            episode: "e2".into(),
            ..one.clone()
        };
        let text = format!("{}\n{}\n", one.to_line(), other.to_line());
        let lines = AnswerLines::read(&text).unwrap();
        assert_eq!(lines.records, [one, other]);
        assert_eq!(AnswerCache::read(&text).unwrap().0.records().len(), 1);
    }

    #[test]
    fn a_file_of_a_newer_version_is_refused() {
        let line = record().to_line();
        let newer = line.replace("volary-answer-1", "volary-answer-2");
        let error = AnswerCache::read(&format!("{line}\n{newer}\n")).unwrap_err();
        let message = error.to_string();
        assert!(message.contains("newer version") && message.contains("volary-answer-2"));
        let other = line.replace("volary-answer-1", "volary-answer-x");
        assert_eq!(AnswerLines::read(&other).unwrap().damaged.len(), 1);
    }

    #[test]
    fn files_of_answers_are_recognised() {
        let line = record().to_line();
        assert!(AnswerLines::is_file("any.jsonl", &line));
        let half = format!("{{\"key\":\n{line}");
        assert!(AnswerLines::is_file("runs/.volary/answers.jsonl", &half));
        assert!(!AnswerLines::is_file("runs.jsonl", &half));
        assert!(!AnswerLines::is_file("answers.jsonl", "{\"messages\": []}"));
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
