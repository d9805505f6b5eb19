//! Stored questions to models with their answers, the labels of a person, and findings.
//!
//! Keys begin with the kind of the record: `question/`, `answer/`, `labels/` and `findings/`, followed by the id of the question
//! (or of the labels), and for answers a slash and the id of the episode.
//!
//! Invariant: no record contains an API key. The types that are stored have none.

use std::sync::Arc;

use serde::Serialize;
use serde::de::DeserializeOwned;
use volary_app::ask::asked::AskedQuestion;
use volary_app::ask::findings::AskFindings;
use volary_app::ask::history::{AskHistory, GivenAnswers, PersonLabels};
use volary_ask::cache::AnswerRecord;
use volary_core::json::{Json, Text, from_json, to_json};

use super::{all, record, unreadable, write};
use volary_browser::database::{Damage, DatabaseChange, DatabaseError, KeptText, Store};

const QUESTION: &str = "question/";
const ANSWER: &str = "answer/";
const LABELS: &str = "labels/";
const FINDINGS: &str = "findings/";

/// Whether a question is stored.
pub async fn is_any() -> bool {
    let stored = all(Store::Answers, QUESTION).await;
    stored.is_ok_and(|stored| !stored.is_empty())
}

/// Reads everything. Records that cannot be read are noted and skipped.
pub async fn history() -> Result<AskHistory, DatabaseError> {
    let records = all(Store::Answers, "").await?;
    unreadable::clear(Store::Answers);
    let mut history = AskHistory::default();
    for (key, text) in &records {
        let read = put(&mut history, key, text);
        let _ = unreadable::noted(Store::Answers, key, read);
    }
    Ok(history)
}

fn put(history: &mut AskHistory, key: &str, text: &KeptText) -> Result<(), Damage> {
    let text = text.to_text();
    if key.starts_with(QUESTION) {
        history.put_question(read(&text)?);
    } else if let Some(rest) = key.strip_prefix(ANSWER) {
        let (id, _) = rest.split_once('/').ok_or(Damage::Keys)?;
        let record: AnswerRecord = read(&text)?;
        history.put_answer(&id.into(), Arc::new(record));
    } else if let Some(id) = key.strip_prefix(LABELS) {
        history.put_labels(&id.into(), read(&text)?);
    } else if let Some(id) = key.strip_prefix(FINDINGS) {
        history.put_findings(&id.into(), read(&text)?);
    } else {
        return Err(Damage::Keys);
    }
    Ok(())
}

/// Stores a question.
pub async fn keep_question(question: &AskedQuestion) -> Result<(), DatabaseError> {
    keep(format!("{QUESTION}{}", question.id), question).await
}

/// Stores an answer to the question with an id.
pub async fn keep_answer(id: &str, answer: &AnswerRecord) -> Result<(), DatabaseError> {
    keep(format!("{ANSWER}{id}/{}", answer.episode), answer).await
}

/// Stores the answers of a file, with their questions.
pub async fn keep_given(given: &GivenAnswers) -> Result<(), DatabaseError> {
    let put = |key, text: String| DatabaseChange::Put(Store::Answers, key, text.into());
    let questions = given.questions.iter();
    let questions =
        questions.map(|question| put(format!("{QUESTION}{}", question.id), text(question)));
    let answers = given.answers.iter();
    let answers = answers.map(|(id, record)| {
        let key = format!("{ANSWER}{id}/{}", record.episode);
        put(key, text(&**record))
    });
    write(questions.chain(answers).collect()).await
}

/// Stores the labels of a person.
pub async fn keep_labels(id: &str, labels: &PersonLabels) -> Result<(), DatabaseError> {
    keep(format!("{LABELS}{id}"), labels).await
}

/// Stores findings over the answers to a question.
pub async fn keep_findings(id: &str, findings: &AskFindings) -> Result<(), DatabaseError> {
    keep(format!("{FINDINGS}{id}"), findings).await
}

/// Deletes a question with its answers and findings, and labels.
pub async fn forget(id: &str, labels: Option<&Text>) -> Result<(), DatabaseError> {
    let mut changes = vec![
        DatabaseChange::Delete(Store::Answers, format!("{QUESTION}{id}")),
        DatabaseChange::DeletePrefix(Store::Answers, format!("{ANSWER}{id}/")),
        DatabaseChange::Delete(Store::Answers, format!("{FINDINGS}{id}")),
    ];
    let labels = labels.map(|labels| format!("{LABELS}{labels}"));
    changes.extend(labels.map(|key| DatabaseChange::Delete(Store::Answers, key)));
    write(changes).await
}

async fn keep(key: String, value: &impl Serialize) -> Result<(), DatabaseError> {
    write(vec![DatabaseChange::Put(
        Store::Answers,
        key,
        text(value).into(),
    )])
    .await
}

/// The text of a record. An answer has the name of its own format in `format`, so the value is wrapped.
fn text(value: &impl Serialize) -> String {
    let mut object = volary_core::json::Object::new();
    // Derived data always serializes.
    object.insert("value", to_json(value).unwrap_or_default());
    record::write_json(Json::Object(object))
}

fn read<Record: DeserializeOwned>(text: &str) -> Result<Record, Damage> {
    let value = record::read_json(text)?;
    let value = value.get("value").ok_or(Damage::Texts)?;
    from_json(value).map_err(|_| Damage::Texts)
}

#[cfg(test)]
mod tests {
    use volary_app::ask::asked::AskSetup;
    use volary_ask::cache::Sampling;
    use volary_ask::{AnswerType, Question, RenderOptions};

    use super::super::record::check_golden;
    use super::*;

    fn question() -> AskedQuestion {
        AskedQuestion {
            id: "0123456789abcdef".into(),
            name: "Why".into(),
            setup: AskSetup {
                question: Question {
                    text: "Why did it fail?".into(),
                    answer: AnswerType::of_labels(&["loop", "none"]),
                },
                connection: "1".into(),
                model: "m".into(),
                sampling: Sampling::default(),
                context: 120_000,
                concurrency: 4,
                most_cost: Some(2.5),
                most_tokens: None,
                options: RenderOptions::default(),
            },
            rows: vec!["a".into(), "b".into()],
            calibration: vec!["b".into()],
            labels: "0123456789abcdef".into(),
            time: 1.5,
        }
    }

    #[test]
    fn questions_match_the_golden_file_in_both_directions() {
        let question = question();
        let golden = check_golden("asked_question", &text(&question));
        assert_eq!(read::<AskedQuestion>(&golden), Ok(question));
    }

    #[test]
    fn findings_and_labels_come_back() {
        let findings = AskFindings {
            text: "- It loops. [A1]".into(),
            model: "m".into(),
            time: 2.0,
            episodes: vec!["a".into()],
            left_out: 3,
            cost: None,
        };
        assert_eq!(read::<AskFindings>(&text(&findings)), Ok(findings));
        let labels = PersonLabels::from([("a".into(), "loop".into())]);
        assert_eq!(read::<PersonLabels>(&text(&labels)), Ok(labels));
        assert_eq!(read::<AskFindings>("{}"), Err(Damage::Texts));
        let newer = r#"{"value": {}, "format": 9}"#;
        assert!(matches!(
            read::<PersonLabels>(newer),
            Err(Damage::Format(_))
        ));
    }
}
