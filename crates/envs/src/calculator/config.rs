//! The configuration of a calculator environment: the problem, its answer, rewards and tolerance.

use volary_core::json;
use volary_core::json::{Json, Object, Text};
use volary_core::registry::RegistryError;

use crate::datasets::word_problems;
use crate::settings::Settings;

/// Rewards, tolerance and ending of a calculator environment.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct CalculatorConfig {
    /// The reward of a correct answer.
    pub correct_reward: f64,
    /// The reward of a wrong answer.
    pub incorrect_reward: f64,
    /// The reward of an expression that cannot be computed, or of a malformed action.
    pub tool_failure_reward: f64,
    /// The reward of each expression that is computed.
    pub tool_success_reward: f64,
    /// The relative tolerance: |x − a| / (|a| + rel_tol) must be smaller.
    pub rel_tol: f64,
    /// Whether a failure ends the episode.
    pub done_on_failure: bool,
}

impl Default for CalculatorConfig {
    fn default() -> Self {
        CalculatorConfig {
            correct_reward: 1.0,
            incorrect_reward: 0.0,
            tool_failure_reward: -1.0,
            tool_success_reward: 0.0,
            rel_tol: 1e-4,
            done_on_failure: true,
        }
    }
}

/// A problem with its answer.
#[derive(Clone, Debug, PartialEq)]
pub struct Problem {
    /// Its id, if it has one.
    pub id: Option<Text>,
    /// The question.
    pub text: Text,
    /// The correct answer.
    pub answer: f64,
}

impl CalculatorConfig {
    /// Reads the member `config`; missing keys keep their defaults.
    pub fn read(settings: &Settings<'_>) -> Result<Self, RegistryError> {
        let known = [
            "correct_reward",
            "incorrect_reward",
            "tool_failure_reward",
            "tool_success_reward",
            "rel_tol",
            "done_on_failure",
        ];
        let group = settings.group("config", &known)?;
        let default = CalculatorConfig::default();
        Ok(CalculatorConfig {
            correct_reward: group.number("correct_reward", default.correct_reward)?,
            incorrect_reward: group.number("incorrect_reward", default.incorrect_reward)?,
            tool_failure_reward: group
                .number("tool_failure_reward", default.tool_failure_reward)?,
            tool_success_reward: group
                .number("tool_success_reward", default.tool_success_reward)?,
            rel_tol: group.number("rel_tol", default.rel_tol)?,
            done_on_failure: group.boolean("done_on_failure", default.done_on_failure)?,
        })
    }

    /// The JSON Schema of the member `config`.
    pub fn schema() -> Json {
        let default = CalculatorConfig::default();
        json!({
            "type": "object",
            "title": "Rewards and tolerance",
            "description": "How answers are judged and rewarded.",
            "properties": {
                "correct_reward": (number(
                    "Reward for the right answer", "Given when the submitted answer is right.",
                    default.correct_reward,
                )),
                "incorrect_reward": (number(
                    "Reward for a wrong answer", "Given when the submitted answer is wrong.",
                    default.incorrect_reward,
                )),
                "tool_failure_reward": (number(
                    "Reward for a failure",
                    "Given for an expression that cannot be computed, an answer that is not a number, \
                     or an action without a valid call.",
                    default.tool_failure_reward,
                )),
                "tool_success_reward": (number(
                    "Reward for a computation",
                    "Given for each expression that can be computed.",
                    default.tool_success_reward,
                )),
                "rel_tol": (number(
                    "Relative tolerance",
                    "How far an answer may be from the correct one, relative to it. With 0, every \
                     answer is wrong.",
                    default.rel_tol,
                )),
                "done_on_failure": {
                    "type": "boolean",
                    "title": "A failure ends the episode",
                    "description": "Whether a failure ends the episode.",
                    "default": (default.done_on_failure),
                },
            },
            "required": [],
            "additionalProperties": false,
            "default": {},
        })
    }
}

/// Reads a whole configuration.
pub fn read(configuration: &Object) -> Result<(Problem, CalculatorConfig), RegistryError> {
    let settings = Settings::new(
        configuration,
        &["problem_id", "problem", "answer", "config"],
    )?;
    let problem = Problem {
        id: settings.text("problem_id")?,
        text: settings.required_text("problem")?,
        answer: settings.required_number("answer")?,
    };
    Ok((problem, CalculatorConfig::read(&settings)?))
}

/// The JSON Schema of a whole configuration. A problem has an example, but no default.
pub fn schema() -> Json {
    let (problems, answers): (Vec<Text>, Vec<f64>) = word_problems::problems()
        .unwrap_or_default()
        .into_iter()
        .take(1)
        .map(|problem| (problem.question, problem.number))
        .unzip();
    json!({
        "type": "object",
        "properties": {
            "problem_id": {
                "anyOf": [{"type": "string"}, {"type": "null"}],
                "title": "Problem ID",
                "description": "A name for the problem, if it has one.",
                "default": null,
            },
            "problem": {
                "type": "string",
                "title": "Problem",
                "description": "The question. The episode begins with this text.",
                "examples": problems,
            },
            "answer": {
                "type": "number",
                "title": "Answer",
                "description": "The correct answer that submitted answers are compared with.",
                "writeOnly": true,
                "examples": answers,
            },
            "config": (CalculatorConfig::schema()),
        },
        "required": ["problem", "answer"],
        "additionalProperties": false,
    })
}

/// The configuration of a task text: a problem with an unknown answer.
pub fn from_task(task: &str) -> Object {
    volary_core::object!({"problem_id": null, "problem": task, "answer": 0.0})
}

fn number(title: &str, description: &str, default: f64) -> Json {
    json!({"type": "number", "title": title, "description": description, "default": default})
}
