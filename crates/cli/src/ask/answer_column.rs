//! The stored answers to one question, as a column of the table.
//!
//! An answer belongs to the trajectory with its id. Of several, the latest counts.

use std::collections::BTreeMap;
use std::path::{Path, PathBuf};

use anyhow::{Result, bail};
use volary_analysis::table::Column;
use volary_analysis::table::groups::GroupBy;
use volary_ask::cache::{AnswerCache, AnswerRecord};
use volary_ask::presets::QuestionPreset;
use volary_core::json::{Json, Text};
use volary_episode::episode::Score;

use super::AnswersFile;
use crate::output::plain;

/// The name of the column. A question follows after a slash, if there are several.
const NAME: &str = "answer";

/// The answers to a question, by the id of the trajectory.
pub struct AnswerColumn {
    /// The name of the column, as it was given.
    name: Text,
    answers: BTreeMap<Text, AnswerRecord>,
}

impl AnswerColumn {
    /// Whether this is the name of such a column.
    pub fn is_name(name: &str) -> bool {
        name == NAME || name.split_once('/').is_some_and(|(first, _)| first == NAME)
    }

    /// The column that rows are grouped by; `None` if that is another one.
    ///
    /// # Errors
    /// If the answers cannot be read, or the question is not one of them.
    pub fn chosen(
        by: Option<&GroupBy>,
        file: Option<&Path>,
        paths: &[PathBuf],
    ) -> Result<Option<AnswerColumn>> {
        match by {
            Some(GroupBy::Column(Column::Score(name))) if AnswerColumn::is_name(name) => {
                let file = AnswersFile::open(file, paths)?;
                for damaged in file.damaged() {
                    eprintln!("{}", plain(damaged));
                }
                AnswerColumn::of(name.clone(), file.cache()).map(Some)
            }
            _ => Ok(None),
        }
    }

    fn of(name: Text, cache: &AnswerCache) -> Result<AnswerColumn> {
        let wanted = name.split_once('/').map(|(_, question)| question);
        let question = question(wanted, cache)?;
        let mut answers: BTreeMap<Text, AnswerRecord> = BTreeMap::new();
        for record in cache
            .records()
            .filter(|record| *record.question.text == *question)
        {
            let is_later = answers
                .get(&record.episode)
                .is_none_or(|known| record.time >= known.time);
            if is_later {
                answers.insert(record.episode.clone(), record.clone());
            }
        }
        Ok(AnswerColumn { name, answers })
    }

    /// The answer about a trajectory, as a score; `None` if there is none. Answers whose quotes do not hold are marked.
    pub fn cell(&self, id: &str) -> Option<Score> {
        let answer = &self.answers.get(id)?.answer;
        let mut value = answer.value_text();
        if !answer.support.holds() {
            value.push_str(&format!(" ({})", answer.support.as_str()));
        }
        Some(Score {
            name: self.name.clone(),
            value: Json::from(value),
            explanation: Some(answer.explanation.clone()),
            extras: Default::default(),
        })
    }
}

/// The text of the only question that is meant.
fn question(wanted: Option<&str>, cache: &AnswerCache) -> Result<String> {
    let mut known: Vec<&str> = cache
        .records()
        .map(|record| &*record.question.text)
        .collect();
    known.sort_unstable();
    known.dedup();
    if known.is_empty() {
        bail!(
            "there are no answers; ask a question with `volary ask` first, or name their file with --answers"
        );
    }
    let preset = wanted.and_then(|wanted| QuestionPreset::named(wanted.strip_prefix('@')?));
    let wanted = match (wanted, preset) {
        (_, Some(preset)) => preset.question().text.to_lowercase(),
        (wanted, None) => wanted.unwrap_or_default().to_lowercase(),
    };
    let found: Vec<&str> = known
        .iter()
        .copied()
        .filter(|text| text.to_lowercase().contains(&wanted))
        .collect();
    match found.as_slice() {
        [one] => Ok((*one).to_owned()),
        [] => bail!(
            "no such question was asked; there are: {}",
            known.join("; ")
        ),
        several => bail!(
            "several questions were asked; give a part of one as answer/TEXT: {}",
            several.join("; ")
        ),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn cache(records: &[(&str, &str, &str, f64)]) -> AnswerCache {
        let lines = records.iter().enumerate().map(|(index, (question, id, label, time))| {
            format!(
                r#"{{"format":"volary-answer-1","key":"{index:064x}","episode":"{id}","model":"m","time":{time},"question":{{"text":"{question}","type":"yes_no"}},"answer":{{"label":"{label}","explanation":"e","evidence":[],"support":"supported","parts":1}}}}"#
            ) + "\n"
        });
        let (cache, damaged) = AnswerCache::read(&lines.collect::<String>()).unwrap();
        assert_eq!(damaged, []);
        cache
    }

    #[test]
    fn the_latest_answer_to_the_question_counts() {
        let cache = cache(&[
            ("Why?", "a", "yes", 1.0),
            ("Why?", "a", "no", 2.0),
            ("How?", "a", "yes", 3.0),
        ]);
        let column = AnswerColumn::of("answer/why".into(), &cache).unwrap();
        assert_eq!(column.cell("a").unwrap().value, Json::from("no"));
        assert!(column.cell("b").is_none());
    }

    #[test]
    fn the_question_must_be_clear() {
        let cache = cache(&[("Why?", "a", "yes", 1.0), ("How?", "a", "yes", 1.0)]);
        let error = |name: &str| {
            let column = AnswerColumn::of(name.into(), &cache);
            column
                .err()
                .map(|error| error.to_string())
                .unwrap_or_default()
        };
        assert!(error("answer").contains("How?; Why?"));
        assert!(error("answer/when").contains("no such question"));
        assert_eq!(error("answer/how"), "");
        let none = AnswerColumn::of("answer".into(), &AnswerCache::default());
        assert!(none.err().unwrap().to_string().contains("volary ask"));
        assert!(AnswerColumn::is_name("answer/x") && !AnswerColumn::is_name("answers"));
    }
}
