//! Evaluates a proposed answer against the correct one, like aviary's `eval_answer`.
//!
//! [`judge`] returns a score or a request for a model; [`ModelJudge::score`] parses the model's
//! reply.

use volary_core::json::text::strip;
use volary_core::json::{Json, Object, Text};
use volary_core::message::Role;
use volary_core::outside::ModelRequest;

use crate::cast::to_float;

/// The evaluation mode.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum EvalMode {
    /// The answer equals the correct one.
    Exact,
    /// The answer contains the correct one.
    Contains,
    /// A model decides whether the answer is correct.
    Llm,
    /// A model assigns points.
    LlmScore,
}

/// Why an answer cannot be evaluated.
#[derive(Clone, Debug, PartialEq, Eq, thiserror::Error)]
#[non_exhaustive]
pub enum EvalError {
    #[error("'{name}' is not a valid EvalAnswerMode; there are exact, contains, llm, llm-score")]
    UnknownMode { name: Text },
    /// The mode uses a model, which needs the question.
    #[error("Question must be provided for LLM evaluation mode.")]
    NoQuestion,
    /// A setting is invalid.
    #[error("{key}: {reason}")]
    Setting {
        /// The setting.
        key: &'static str,
        reason: String,
    },
}

/// A score, or a request for a model.
#[derive(Clone, Debug, PartialEq)]
pub enum Judgement {
    /// A score from 0 to 1.
    Score(f64),
    /// A model has to decide.
    Ask(ModelJudge),
}

/// A request for a model, and how to parse its reply.
#[derive(Clone, Debug, PartialEq)]
pub struct ModelJudge {
    pub request: ModelRequest,
    /// The number of points for a score of 1; `None` if the reply is yes or no.
    most: Option<f64>,
}

const MODEL: &str = "gpt-4o-mini";

const PROMPT: &str = "Here is a question, the correct answer to the question, and a proposed answer \
                      to the question. Please tell me if the proposed answer is correct, given the \
                      correct answer. ONLY SAY 'YES' OR 'NO'. No other output is permitted.\n\n\
                      Question: {question}\n\nCorrect answer: {correct_answer}\n\n\
                      Proposed answer: {proposed_answer}";

const SCORE_PROMPT: &str = "Here is a question, the correct answer to the question, and a rubric for \
                            evaluating the question. Judge the proposed answer based on the given \
                            rubric. Give a score from 0 to 10. No other output is permitted.\n\n\
                            Question: {question}\n\nRubric: {correct_answer}\n\n\
                            Proposed answer: {proposed_answer}";

/// The default maximum of points.
const MOST_POINTS: i64 = 10;

impl EvalMode {
    /// All modes.
    pub const ALL: [EvalMode; 4] = [
        EvalMode::Exact,
        EvalMode::Contains,
        EvalMode::Llm,
        EvalMode::LlmScore,
    ];

    /// The mode with this name.
    ///
    /// # Errors
    ///
    /// The name is unknown.
    pub fn from_name(name: &str) -> Result<Self, EvalError> {
        let found = EvalMode::ALL.into_iter().find(|mode| mode.name() == name);
        found.ok_or_else(|| EvalError::UnknownMode { name: name.into() })
    }

    pub const fn name(self) -> &'static str {
        match self {
            EvalMode::Exact => "exact",
            EvalMode::Contains => "contains",
            EvalMode::Llm => "llm",
            EvalMode::LlmScore => "llm-score",
        }
    }
}

/// Evaluates an answer. `settings` are `prompt`, `model`, `temperature` and `max_score`, each with its
/// default.
///
/// # Errors
///
/// The mode uses a model and the question is missing, or a setting is invalid.
pub fn judge(
    proposed: &str,
    correct: &str,
    question: Option<&str>,
    mode: EvalMode,
    settings: &Object,
) -> Result<Judgement, EvalError> {
    let prompt = match mode {
        EvalMode::Exact => {
            let same = case_folded(strip(proposed)) == case_folded(strip(correct));
            return Ok(Judgement::Score(f64::from(u8::from(same))));
        }
        EvalMode::Contains => {
            let holds = case_folded(strip(proposed)).contains(&case_folded(strip(correct)));
            return Ok(Judgement::Score(f64::from(u8::from(holds))));
        }
        EvalMode::Llm => PROMPT,
        EvalMode::LlmScore => SCORE_PROMPT,
    };
    let question = question.ok_or(EvalError::NoQuestion)?;
    let setting = |key: &str, default: Json| settings.get(key).cloned().unwrap_or(default);
    let prompt = match setting("prompt", prompt.into()) {
        Json::Text(prompt) => filled(&prompt, question, correct, proposed)?,
        _ => return Err(unusable("prompt", "must be a text")),
    };
    let most = (mode == EvalMode::LlmScore).then(|| {
        let most = to_float(&setting("max_score", MOST_POINTS.into()));
        let most = most.or_else(|error| match error.class.as_ref() {
            // A reply that is not a number is not a score.
            "ValueError" => Ok(f64::NAN),
            _ => Err(unusable("max_score", "must be a number")),
        })?;
        match most {
            0.0 => Err(unusable("max_score", "must not be 0")),
            most => Ok(most),
        }
    });
    Ok(Judgement::Ask(ModelJudge {
        request: ModelRequest {
            purpose: "judge",
            model: setting("model", MODEL.into()),
            temperature: setting("temperature", 0.into()),
            messages: vec![(Role::User, prompt.into())],
        },
        most: most.transpose()?,
    }))
}

impl ModelJudge {
    /// The score of a reply.
    pub fn score(&self, reply: &str) -> f64 {
        match self.most {
            None => f64::from(u8::from(case_folded(strip(reply)) == "yes")),
            Some(most) if most.is_nan() => 0.0,
            Some(most) => to_float(&Json::from(reply)).map_or(0.0, |points| points / most),
        }
    }
}

fn unusable(key: &'static str, reason: impl Into<String>) -> EvalError {
    EvalError::Setting {
        key,
        reason: reason.into(),
    }
}

/// A prompt with its placeholders replaced, like Python's `str.format`.
fn filled(
    prompt: &str,
    question: &str,
    correct: &str,
    proposed: &str,
) -> Result<String, EvalError> {
    let mut filled = String::new();
    let mut rest = prompt;
    while let Some(at) = rest.find(['{', '}']) {
        filled.push_str(&rest[..at]);
        let from = &rest[at..];
        if let Some(after) = from.strip_prefix("{{") {
            filled.push('{');
            rest = after;
            continue;
        }
        if let Some(after) = from.strip_prefix("}}") {
            filled.push('}');
            rest = after;
            continue;
        }
        let placeholder = from
            .strip_prefix('{')
            .and_then(|inside| inside.split_once('}'));
        let Some((name, after)) = placeholder else {
            return Err(unusable("prompt", "has a single bracket; write it twice"));
        };
        filled.push_str(match name {
            "question" => question,
            "correct_answer" => correct,
            "proposed_answer" => proposed,
            unknown => {
                let reason = format!(
                    "{{{unknown}}} is not known; there are question, correct_answer, proposed_answer"
                );
                return Err(unusable("prompt", reason));
            }
        });
        rest = after;
    }
    filled.push_str(rest);
    Ok(filled)
}

/// The text with full case folding, like Python's `str.casefold`.
pub fn case_folded(text: &str) -> String {
    let mut folded = String::with_capacity(text.len());
    for character in text.chars() {
        match character {
            'ı' => folded.push('ı'),
            'ẞ' => folded.push_str("ss"),
            // Cherokee folds to its capitals, which were encoded first.
            '\u{13a0}'..='\u{13fd}' | '\u{ab70}'..='\u{abbf}' => {
                folded.extend(character.to_uppercase());
            }
            other => folded.extend(other.to_uppercase().flat_map(char::to_lowercase)),
        }
    }
    folded
}

#[cfg(test)]
mod tests {
    use volary_core::object;

    use super::*;

    #[test]
    fn case_folds_fully() {
        for (text, folded) in [
            ("Straße", "strasse"),
            ("ẞıİς", "ssıi\u{307}σ"),
            ("Ꭰꭰᏸ", "ᎠᎠᏰ"),
            ("ﬀŉ", "ffʼn"),
        ] {
            assert_eq!(case_folded(text), folded);
        }
    }

    #[test]
    fn prompts_are_filled_once() {
        let with = |prompt: &str| -> Result<String, EvalError> {
            let settings = object!({"prompt": prompt});
            let judgement = judge("{question}", "c", Some("q"), EvalMode::Llm, &settings)?;
            match judgement {
                Judgement::Ask(judge) => Ok(judge.request.messages[0].1.to_string()),
                Judgement::Score(_) => unreachable!("a model is asked"),
            }
        };
        let filled = with("{{{question}}} {proposed_answer}");
        assert_eq!(filled, Ok("{q} {question}".to_owned()));
        let error = |prompt| with(prompt).map_err(|error| error.to_string());
        assert_eq!(
            error("}"),
            Err("prompt: has a single bracket; write it twice".into())
        );
        assert!(error("{x}").is_err_and(|error| error.starts_with("prompt: {x} is not known")));
    }

    #[test]
    fn points_are_a_share_of_the_most() {
        let score = |most: Json, reply: &str| {
            let settings = object!({"max_score": most});
            let judgement = judge("p", "c", Some("q"), EvalMode::LlmScore, &settings);
            match judgement {
                Ok(Judgement::Ask(judge)) => Ok(judge.score(reply)),
                other => Err(format!("{other:?}")),
            }
        };
        assert_eq!(score(4.into(), " 1 "), Ok(0.25));
        assert_eq!(score(4.into(), "one"), Ok(0.0));
        assert_eq!(score("x".into(), "1"), Ok(0.0));
        assert!(score(0.into(), "1").is_err());
    }
}
