//! Questions, and what may be answered.

use serde::{Deserialize, Serialize};
use volary_core::json::{Json, Text};
use volary_core::{json, object};

/// Labels that state an absence, for which there is nothing to quote.
const ABSENT: [&str; 7] = [
    "no",
    "none",
    "n/a",
    "not applicable",
    "unclear",
    "unknown",
    "neither",
];

/// A question about a trajectory.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
pub struct Question {
    pub text: Text,
    #[serde(flatten)]
    pub answer: AnswerType,
}

/// What may be answered.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
#[serde(tag = "type", rename_all = "snake_case")]
pub enum AnswerType {
    YesNo,
    /// One of these labels.
    Label {
        labels: Vec<Text>,
    },
    /// A number of a range.
    Score {
        least: f64,
        most: f64,
    },
    /// A text of any form, whose label is empty.
    Text,
}

/// Why a question cannot be asked.
#[derive(Clone, Debug, PartialEq, Eq, thiserror::Error)]
#[non_exhaustive]
pub enum QuestionError {
    #[error("The question is empty. Write what you want to know about each trajectory.")]
    Empty,
    #[error("A question with labels needs at least two of them.")]
    TooFewLabels,
    #[error("The label “{label}” occurs twice. Give each label once.")]
    LabelTwice { label: Text },
    #[error("The lowest score must be below the highest one.")]
    NoRange,
}

impl Question {
    /// Validates the question.
    pub fn check(&self) -> Result<(), QuestionError> {
        if self.text.trim().is_empty() {
            return Err(QuestionError::Empty);
        }
        match &self.answer {
            AnswerType::YesNo | AnswerType::Text => Ok(()),
            AnswerType::Label { labels } => {
                if labels
                    .iter()
                    .filter(|label| !label.trim().is_empty())
                    .count()
                    < 2
                {
                    return Err(QuestionError::TooFewLabels);
                }
                let earlier = |index: usize, label: &Text| {
                    let mut known = labels.iter().take(index);
                    known.any(|known| same_label(known, label))
                };
                let mut all = labels.iter().enumerate();
                match all.find(|(index, label)| earlier(*index, label)) {
                    Some((_, label)) => Err(QuestionError::LabelTwice {
                        label: label.clone(),
                    }),
                    None => Ok(()),
                }
            }
            AnswerType::Score { least, most } => {
                if least.is_finite() && most.is_finite() && least < most {
                    Ok(())
                } else {
                    Err(QuestionError::NoRange)
                }
            }
        }
    }
}

impl AnswerType {
    /// The type of a list of labels: yes and no, if it is these two.
    pub fn of_labels(labels: &[&str]) -> AnswerType {
        let mut words: Vec<String> = labels
            .iter()
            .map(|label| label.trim().to_lowercase())
            .collect();
        words.sort_unstable();
        if words == ["no", "yes"] {
            AnswerType::YesNo
        } else {
            AnswerType::Label {
                labels: labels.iter().map(|label| label.trim().into()).collect(),
            }
        }
    }

    /// The labels in order; empty if there are none.
    pub fn labels(&self) -> Vec<Text> {
        match self {
            AnswerType::YesNo => vec!["yes".into(), "no".into()],
            AnswerType::Label { labels } => labels.clone(),
            AnswerType::Score { .. } | AnswerType::Text => Vec::new(),
        }
    }

    /// The label that a model meant: the same apart from case and surrounding signs.
    pub fn label_of(&self, said: &str) -> Option<Text> {
        let labels = self.labels();
        let mut labels = labels.iter();
        labels.find(|label| same_label(label, said)).cloned()
    }

    /// Whether an answer with this label needs a quote: all that state something which is there.
    pub fn needs_evidence(&self, label: Option<&str>) -> bool {
        match self {
            AnswerType::YesNo | AnswerType::Label { .. } => {
                label.is_some_and(|label| !ABSENT.iter().any(|absent| same_label(absent, label)))
            }
            AnswerType::Score { .. } | AnswerType::Text => true,
        }
    }

    /// The schema for providers that enforce one: no other members, and no limits, which some providers refuse. The reply is
    /// checked against [`AnswerType::schema`] in any case.
    pub fn strict_schema(&self) -> Json {
        let mut schema = self.schema();
        make_strict(&mut schema);
        schema
    }

    /// The JSON Schema of a reply.
    pub fn schema(&self) -> Json {
        let mut members = object!({});
        let mut required = Vec::new();
        match self {
            AnswerType::YesNo | AnswerType::Label { .. } => {
                let labels = self.labels().into_iter().map(Json::Text);
                members.insert("label", json!({"enum": (Json::List(labels.collect()))}));
                required.push("label");
            }
            AnswerType::Score { least, most } => {
                members.insert(
                    "score",
                    json!({"type": "number", "minimum": (*least), "maximum": (*most)}),
                );
                required.push("score");
            }
            AnswerType::Text => {}
        }
        members.insert("explanation", json!({"type": "string"}));
        members.insert(
            "evidence",
            json!({
                "type": "array",
                "maxItems": 8,
                "items": {
                    "type": "object",
                    "properties": {
                        "message": {"type": "integer"},
                        "quote": {"type": "string", "maxLength": 200}
                    },
                    "required": ["message", "quote"]
                }
            }),
        );
        required.extend(["explanation", "evidence"]);
        let required: Vec<Json> = required.into_iter().map(Json::from).collect();
        json!({
            "type": "object",
            "properties": (members),
            "required": (Json::List(required))
        })
    }
}

/// Closes all objects of a schema, and removes limits.
fn make_strict(schema: &mut Json) {
    let Json::Object(members) = schema else {
        return;
    };
    for limit in ["minimum", "maximum", "maxItems", "maxLength"] {
        members.remove(limit);
    }
    if members.get("properties").is_some() {
        members.insert("additionalProperties", false);
    }
    // OpenAI requires a type next to an enumeration.
    if members.get("enum").is_some() {
        members.insert("type", "string");
    }
    if let Some(Json::Object(properties)) = members.get_mut("properties") {
        properties.values_mut().for_each(make_strict);
    }
    if let Some(items) = members.get_mut("items") {
        make_strict(items);
    }
}

fn same_label(one: &str, other: &str) -> bool {
    let plain = |label: &str| {
        let label = label
            .trim_matches(|letter: char| !letter.is_alphanumeric() && !"+-/%".contains(letter));
        label.to_lowercase()
    };
    let (one, other) = (plain(one), plain(other));
    one == other && !one.is_empty()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn questions_are_validated() {
        let question = |text: &str, answer| Question {
            text: text.into(),
            answer,
        };
        assert_eq!(question("Why?", AnswerType::Text).check(), Ok(()));
        assert_eq!(
            question(" ", AnswerType::Text).check(),
            Err(QuestionError::Empty)
        );
        let label = |labels: &[&str]| AnswerType::of_labels(labels);
        assert_eq!(label(&["No", "yes"]), AnswerType::YesNo);
        assert_eq!(
            question("?", label(&["a", ""])).check(),
            Err(QuestionError::TooFewLabels)
        );
        assert_eq!(
            question("?", label(&["a", "b", "A"])).check(),
            Err(QuestionError::LabelTwice { label: "A".into() })
        );
        let range = AnswerType::Score {
            least: 1.0,
            most: 1.0,
        };
        assert_eq!(question("?", range).check(), Err(QuestionError::NoRange));
    }

    #[test]
    fn labels_are_recognised() {
        let answer = AnswerType::of_labels(&["wrong tool", "none"]);
        assert_eq!(
            answer.label_of(" \"Wrong Tool\"."),
            Some("wrong tool".into())
        );
        assert_eq!(answer.label_of("wrong"), None);
        assert!(answer.needs_evidence(Some("wrong tool")));
        assert!(!answer.needs_evidence(Some("None")));
        assert!(!AnswerType::YesNo.needs_evidence(Some("no")));
        assert!(!AnswerType::YesNo.needs_evidence(None));
    }

    #[test]
    fn a_strict_schema_is_closed_and_has_no_limits() {
        let score = AnswerType::Score {
            least: 0.0,
            most: 10.0,
        };
        for answer in [AnswerType::YesNo, score] {
            let text = answer.strict_schema().to_compact_text();
            assert_eq!(
                text.matches(r#""additionalProperties":false"#).count(),
                2,
                "{text}"
            );
            assert!(!text.contains("max") && !text.contains("min"), "{text}");
        }
        let text = AnswerType::YesNo.strict_schema().to_compact_text();
        assert!(
            text.contains(r#""enum":["yes","no"],"type":"string""#),
            "{text}"
        );
    }

    #[test]
    fn a_schema_names_what_is_required() {
        let schema = AnswerType::YesNo.schema().to_compact_text();
        assert!(
            schema.contains(r#""label":{"enum":["yes","no"]}"#),
            "{schema}"
        );
        let schema = AnswerType::Score {
            least: 0.0,
            most: 10.0,
        }
        .schema();
        assert_eq!(
            schema.get("required").map(Json::to_compact_text).as_deref(),
            Some(r#"["score","explanation","evidence"]"#)
        );
    }
}
