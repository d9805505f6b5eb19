//! The two tools of the calculator, and their rewards.

use volary_core::ToolSet;
use volary_core::json::Json;
use volary_core::tool::ToolError;
use volary_macros::tool;

use super::config::CalculatorConfig;
use super::expression::{EvaluationError, evaluate};
use crate::cast::{to_float, type_name};

thread_local! {
    /// The tools of every calculator.
    pub static TOOLS: ToolSet<Tally> = ToolSet::new([calculator::tool(), submit_answer::tool()]);
}

/// The state of the tools: the answer, the rules, and the results of the current step's calls.
pub struct Tally {
    answer: f64,
    config: CalculatorConfig,
    /// The sum of the rewards of the step's calls.
    pub reward: f64,
    /// Whether one of them ended the episode.
    pub done: bool,
}

impl Tally {
    /// The state before the first step.
    pub fn new(answer: f64, config: CalculatorConfig) -> Self {
        Tally {
            answer,
            config,
            reward: 0.0,
            done: false,
        }
    }

    /// Starts a step.
    pub fn begin(&mut self) {
        self.reward = 0.0;
        self.done = false;
    }

    fn add(&mut self, reward: f64, done: bool) {
        self.reward += reward;
        self.done |= done;
    }

    /// Whether a number is close enough to the answer. As in aviary, the tolerance is also
    /// added to the scale, and a scale of zero is a division by zero.
    fn is_right(&self, number: f64) -> Result<bool, ToolError> {
        let tolerance = self.config.rel_tol;
        let scale = self.answer.abs() + tolerance;
        if scale == 0.0 {
            let text = "float division by zero";
            return Err(ToolError::new("ZeroDivisionError", text));
        }
        Ok((number - self.answer).abs() / scale < tolerance)
    }
}

/// Calculate a mathematical expression.
///
/// # Arguments
///
/// - `expr`: A valid Python expression.
#[tool]
fn calculator(#[tool(schema = String)] expr: &Json, state: &mut Tally) -> String {
    match compute(expr) {
        Ok(result) => {
            state.add(state.config.tool_success_reward, false);
            result
        }
        Err(shown) => {
            state.add(
                state.config.tool_failure_reward,
                state.config.done_on_failure,
            );
            format!("Error using calculator: {shown}.")
        }
    }
}

/// Submit the proposed answer and check if it is correct. This action is terminal.
///
/// # Arguments
///
/// - `answer`: Proposed answer.
#[tool]
fn submit_answer(
    #[tool(schema = String)] answer: &Json,
    state: &mut Tally,
) -> Result<&'static str, ToolError> {
    let config = state.config;
    let number = match to_float(answer) {
        Ok(number) => number,
        Err(error) if error.class == "ValueError" => {
            state.add(config.tool_failure_reward, true);
            return Ok("False");
        }
        Err(error) => return Err(error),
    };
    let right = state.is_right(number)?;
    state.add(
        if right {
            config.correct_reward
        } else {
            config.incorrect_reward
        },
        true,
    );
    Ok(if right { "True" } else { "False" })
}

/// The result as a text, or the error in the format of replies.
fn compute(expression: &Json) -> Result<String, String> {
    let result = match expression {
        Json::Text(text) => evaluate(text),
        other => Err(EvaluationError::NotText {
            type_name: type_name(other),
        }),
    };
    match result {
        Ok(outcome) => Ok(outcome.to_text()),
        Err(error) => Err(error.repr()),
    }
}
