//! The value of the form of a question, and its schemas. Pure.

use volary_app::ask::asked::AskSetup;
use volary_ask::cache::Sampling as AnswerSampling;
use volary_ask::presets::QuestionPreset;
use volary_ask::{AnswerType, Question, RenderOptions};
use volary_connections::models::sampling::{self, Sampling};
use volary_core::json::{Json, Object, Text};
use volary_core::{json, object};

const CONCURRENCY: &str = "Concurrency";
const MAXIMUM_COST: &str = "Maximum cost";
const TOTAL_TOKENS: &str = "Total tokens";
const CONTEXT: &str = "Context";
const MASK: &str = "Mask secrets";
const OUTCOME: &str = "Show the outcome";

/// The usual number of tokens of a request.
const USUAL_CONTEXT: u64 = 120_000;
/// The usual maximum number of tokens of a reply.
const USUAL_REPLY: u32 = 2_000;
/// The usual number of requests at one time.
const USUAL_CONCURRENCY: usize = 4;

/// What may be answered, as the form names it.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum AnswerKind {
    YesNo,
    Label,
    Score,
    Text,
}

impl AnswerKind {
    /// All kinds, with their values in the form and their names.
    pub(super) const ALL: [(AnswerKind, &'static str, &'static str); 4] = [
        (AnswerKind::YesNo, "yes-no", "Yes or no"),
        (AnswerKind::Label, "label", "A label from a list"),
        (AnswerKind::Score, "score", "A score"),
        (AnswerKind::Text, "text", "Free text"),
    ];

    /// The kind with a value in the form.
    pub(super) fn named(value: &str) -> Option<AnswerKind> {
        let mut all = AnswerKind::ALL.into_iter();
        all.find(|(_, known, _)| *known == value)
            .map(|(kind, _, _)| kind)
    }

    /// The value in the form.
    pub(super) fn value(self) -> &'static str {
        let mut all = AnswerKind::ALL.into_iter();
        all.find(|(kind, _, _)| *kind == self)
            .map_or("", |(_, value, _)| value)
    }

    fn of(answer: &AnswerType) -> AnswerKind {
        match answer {
            AnswerType::YesNo => AnswerKind::YesNo,
            AnswerType::Label { .. } => AnswerKind::Label,
            AnswerType::Score { .. } => AnswerKind::Score,
            AnswerType::Text => AnswerKind::Text,
        }
    }
}

/// The fields of a question.
#[derive(Clone, Debug, PartialEq)]
pub(super) struct QuestionDraft {
    /// The name of its columns.
    pub(super) name: String,
    pub(super) text: String,
    pub(super) kind: AnswerKind,
    /// One label a line.
    pub(super) labels: String,
    pub(super) least: String,
    pub(super) most: String,
}

impl Default for QuestionDraft {
    fn default() -> Self {
        QuestionDraft {
            name: String::new(),
            text: String::new(),
            kind: AnswerKind::YesNo,
            labels: String::new(),
            least: "0".to_owned(),
            most: "10".to_owned(),
        }
    }
}

impl QuestionDraft {
    /// The fields of a preset.
    pub(super) fn of_preset(preset: &QuestionPreset) -> QuestionDraft {
        QuestionDraft {
            name: preset.title.to_owned(),
            ..QuestionDraft::of(&preset.question())
        }
    }

    /// The fields of a question.
    pub(super) fn of(question: &Question) -> QuestionDraft {
        let mut draft = QuestionDraft {
            text: question.text.to_string(),
            kind: AnswerKind::of(&question.answer),
            ..QuestionDraft::default()
        };
        match &question.answer {
            AnswerType::Label { labels } => draft.labels = labels.join("\n"),
            AnswerType::Score { least, most } => {
                draft.least = least.to_string();
                draft.most = most.to_string();
            }
            AnswerType::YesNo | AnswerType::Text => {}
        }
        draft
    }

    /// The question, which may be invalid: see [`Question::check`].
    pub(super) fn question(&self) -> Question {
        let number = |text: &str| text.trim().parse().unwrap_or(f64::NAN);
        Question {
            text: self.text.trim().into(),
            answer: match self.kind {
                AnswerKind::YesNo => AnswerType::YesNo,
                AnswerKind::Label => {
                    let labels = self.labels.lines().map(str::trim);
                    let labels = labels.filter(|label| !label.is_empty()).map(Text::from);
                    AnswerType::Label {
                        labels: labels.collect(),
                    }
                }
                AnswerKind::Score => AnswerType::Score {
                    least: number(&self.least),
                    most: number(&self.most),
                },
                AnswerKind::Text => AnswerType::Text,
            },
        }
    }
}

fn schema(properties: Json) -> Json {
    json!({"type": "object", "properties": (properties)})
}

pub(super) fn limits_schema() -> Json {
    schema(json!({
        MAXIMUM_COST: {
            "type": "number",
            "description": "In US dollars. No request is sent that could exceed it.",
            "exclusiveMinimum": 0
        },
        TOTAL_TOKENS: {
            "type": "integer",
            "description": "Input and output.",
            "minimum": 1
        },
        CONCURRENCY: {
            "type": "integer",
            "description": "Number of requests at the same time.",
            "default": (USUAL_CONCURRENCY as i64),
            "minimum": 1,
            "maximum": 32
        }
    }))
}

/// The schema of what the model sees and how it samples.
pub(super) fn details_schema() -> Json {
    let mut properties = object!({
        MASK: {
            "type": "boolean",
            "description": "API keys, tokens, passwords and e-mail addresses are replaced before anything is sent.",
            "default": true
        },
        OUTCOME: {
            "type": "boolean",
            "description": "The ending, the reward and the scores, which may influence the answer.",
            "default": true
        },
        CONTEXT: {
            "type": "integer",
            "description": "Tokens of a request. Longer trajectories are read in overlapping parts.",
            "default": (USUAL_CONTEXT as i64),
            "minimum": 2000,
            "maximum": 10000000
        }
    });
    for (name, property) in sampling::properties().iter() {
        properties.insert(name.clone(), property.clone());
    }
    schema(Json::Object(properties))
}

/// The values of both forms for a question that was asked before.
pub(super) fn values(setup: &AskSetup) -> (Json, Json) {
    let whole = |count: u64| Json::from(i64::try_from(count).unwrap_or(i64::MAX));
    let mut limits = Object::new();
    limits.insert(CONCURRENCY, whole(setup.concurrency as u64));
    if let Some(cost) = setup.most_cost {
        limits.insert(MAXIMUM_COST, cost);
    }
    if let Some(tokens) = setup.most_tokens {
        limits.insert(TOTAL_TOKENS, whole(tokens));
    }
    let mut details = object!({
        MASK: (setup.options.mask),
        OUTCOME: (setup.options.outcome),
        CONTEXT: (whole(setup.context))
    });
    let kept = [
        ("Temperature", setup.sampling.temperature.map(Json::from)),
        (
            "Maximum tokens",
            setup.sampling.max_tokens.map(|most| whole(most.into())),
        ),
        ("Effort", setup.sampling.effort.clone().map(Json::from)),
        ("Seed", setup.sampling.seed.map(Json::from)),
    ];
    for (key, value) in kept {
        if let Some(value) = value {
            details.insert(key, value);
        }
    }
    (Json::Object(limits), Json::Object(details))
}

/// What is asked, from the values of the forms.
pub(super) fn setup(
    question: Question,
    connection: Text,
    model: Text,
    limits: &Json,
    details: &Json,
) -> AskSetup {
    let count = |form: &Json, key: &str| u64::try_from(form.get(key)?.as_i64()?).ok();
    let flag = |key: &str| details.get(key) != Some(&Json::Bool(false));
    let Sampling {
        temperature,
        max_tokens,
        effort,
        seed,
    } = Sampling::read(details);
    AskSetup {
        question,
        connection,
        model,
        sampling: AnswerSampling {
            temperature,
            max_tokens: Some(max_tokens.unwrap_or(USUAL_REPLY)),
            seed,
            effort: effort.map(|effort| effort.as_str().into()),
        },
        context: count(details, CONTEXT).unwrap_or(USUAL_CONTEXT),
        concurrency: count(limits, CONCURRENCY)
            .and_then(|count| usize::try_from(count).ok())
            .unwrap_or(USUAL_CONCURRENCY),
        most_cost: limits.get(MAXIMUM_COST).and_then(Json::as_f64),
        most_tokens: count(limits, TOTAL_TOKENS),
        options: RenderOptions {
            mask: flag(MASK),
            outcome: flag(OUTCOME),
            ..RenderOptions::default()
        },
    }
}

#[cfg(test)]
mod tests {
    use volary_ask::presets::QUESTION_PRESETS;
    use volary_view::form::Form;

    use super::*;

    #[test]
    fn questions_come_back_from_their_fields() {
        for preset in &QUESTION_PRESETS {
            let question = preset.question();
            assert_eq!(QuestionDraft::of_preset(preset).question(), question);
        }
        let score = Question {
            text: "How polite?".into(),
            answer: AnswerType::Score {
                least: -1.0,
                most: 2.5,
            },
        };
        assert_eq!(QuestionDraft::of(&score).question(), score);
        let no_number = QuestionDraft {
            kind: AnswerKind::Score,
            text: "x".to_owned(),
            most: "many".to_owned(),
            ..QuestionDraft::default()
        };
        assert!(no_number.question().check().is_err());
        for (kind, value, _) in AnswerKind::ALL {
            assert_eq!(AnswerKind::named(value), Some(kind));
        }
    }

    #[test]
    fn settings_come_back_from_their_forms() {
        let question = QUESTION_PRESETS[1].question();
        let full = AskSetup {
            question: question.clone(),
            connection: "1".into(),
            model: "m".into(),
            sampling: AnswerSampling {
                temperature: Some(0.5),
                max_tokens: Some(700),
                seed: Some(3),
                effort: Some("low".into()),
            },
            context: 9_000,
            concurrency: 2,
            most_cost: Some(2.5),
            most_tokens: Some(1_000),
            options: RenderOptions {
                mask: false,
                outcome: false,
                ..RenderOptions::default()
            },
        };
        let (limits, details) = values(&full);
        let filled = |schema, value: &Json| Form::with_value(schema, value).value().unwrap();
        let (limits, details) = (
            filled(limits_schema(), &limits),
            filled(details_schema(), &details),
        );
        let read = setup(question, "1".into(), "m".into(), &limits, &details);
        assert_eq!(read, full);
    }
}
