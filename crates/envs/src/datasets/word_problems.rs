//! Word problems written for Volary in the style of GSM8K, on three levels.

use std::ops::RangeInclusive;

use volary_core::dataset::{DatasetError, Task, TaskDataset};
use volary_core::environment::{Environment, Setting};
use volary_core::json;
use volary_core::json::{Json, Object, Text};
use volary_core::message::{Body, ToolRequestMessage};
use volary_core::registry::{DatasetEntry, RegistryError};
use volary_core::tool::{ToolCall, ToolCallFunction};

use super::gsm8k::parse_answer;
use crate::calculator::{Calculator, CalculatorConfig, Problem, plain};
use crate::jsonl;
use crate::settings::Settings;

/// The entry in the registry.
pub const ENTRY: DatasetEntry = DatasetEntry {
    name: "word_problems",
    summary: "Built-in word problems on three levels, solved with the calculator.",
    configuration: schema,
    tasks: |arguments, _| Ok(chosen(arguments)?.iter().map(WordProblem::task).collect()),
    make: |arguments, setting| {
        Ok(Box::new(WordProblems {
            problems: chosen(arguments)?,
            setting: setting.clone(),
        }))
    },
};

const LEVELS: RangeInclusive<i64> = 1..=3;

/// A row of the file of word problems.
#[derive(Clone, Debug, PartialEq)]
pub struct WordProblem {
    pub id: Text,
    /// 1 for one or two steps, 3 for many.
    pub level: i64,
    /// A short name, for lists.
    pub name: Text,
    pub question: Text,
    /// The correct answer.
    pub number: f64,
    /// The calculation that solves it.
    pub expression: Text,
}

struct WordProblems {
    problems: Vec<WordProblem>,
    setting: Setting,
}

/// All problems, easy ones first. Tests check the file's format, so an error here
/// does not occur.
pub fn problems() -> Result<Vec<WordProblem>, RegistryError> {
    let mut problems = jsonl::rows(include_str!("../../data/word_problems.jsonl"), |row| {
        Ok(WordProblem {
            id: jsonl::text(row, "id")?,
            level: row
                .get("level")
                .and_then(Json::as_i64)
                .filter(|level| LEVELS.contains(level))
                .ok_or("'level' must be 1, 2 or 3")?,
            name: jsonl::text(row, "name")?,
            question: jsonl::text(row, "question")?,
            expression: jsonl::text(row, "expression")?,
            number: parse_answer(&jsonl::text(row, "answer")?)
                .map_err(|error| Text::from(error.to_string()))?,
        })
    })
    .map_err(|faults| RegistryError::Configuration {
        key: "word_problems".into(),
        reason: faults.to_string().into(),
    })?;
    problems.sort_by_key(|problem| problem.level);
    Ok(problems)
}

/// How an agent solves a problem, one action a step: it computes, then it submits the result. `None` for an id that no
/// problem has.
pub fn worked(id: &str) -> Option<[ToolRequestMessage; 2]> {
    let problem = problems()
        .ok()?
        .into_iter()
        .find(|problem| &*problem.id == id)?;
    let action = |said: &str, tool: &str, argument: (&'static str, Text)| {
        let (key, value) = argument;
        ToolRequestMessage {
            body: Body::text(said),
            tool_calls: vec![ToolCall {
                function: ToolCallFunction {
                    name: tool.into(),
                    arguments: Object::from_distinct(vec![(key.into(), value.into())]),
                },
                ..ToolCall::default()
            }],
        }
    };
    let number = plain(problem.number);
    let answer = format!("The result is {number}. That answers the question, so I submit it.");
    Some([
        action(
            "I can work this out in one calculation.",
            "calculator",
            ("expr", problem.expression),
        ),
        action(&answer, "submit_answer", ("answer", number.into())),
    ])
}

/// The problems of the level in the arguments.
fn chosen(arguments: &Object) -> Result<Vec<WordProblem>, RegistryError> {
    let level = Settings::new(arguments, &["level"])?.whole("level", LEVELS)?;
    let mut problems = problems()?;
    problems.retain(|problem| level.is_none_or(|level| problem.level == level));
    Ok(problems)
}

impl WordProblem {
    fn task(&self) -> Task {
        Task {
            id: self.id.clone(),
            title: format!("Level {}: {}", self.level, self.name).into(),
            environment: "calculator",
            configuration: self.problem().configuration(),
        }
    }

    fn problem(&self) -> Problem {
        Problem {
            id: Some(self.id.clone()),
            text: self.question.clone(),
            answer: self.number,
        }
    }
}

impl TaskDataset for WordProblems {
    fn kind(&self) -> &'static str {
        "WordProblemsDataset"
    }

    fn length(&self) -> Option<usize> {
        Some(self.problems.len())
    }

    fn task(&self, index: usize) -> Option<Task> {
        self.problems.get(index).map(WordProblem::task)
    }

    fn environment_at(&self, index: usize) -> Result<Box<dyn Environment>, DatasetError> {
        let problem = self
            .problems
            .get(index)
            .ok_or_else(|| super::out_of_range(index, self.problems.len()))?
            .problem();
        let config = CalculatorConfig::default();
        Ok(Box::new(Calculator::new(problem, config, &self.setting)))
    }
}

fn schema() -> Json {
    json!({
        "type": "object",
        "properties": {
            "level": {
                "anyOf": [{"type": "integer", "minimum": 1, "maximum": 3}, {"type": "null"}],
                "title": "Level",
                "description": "Level 1 takes one or two steps, level 3 takes many. Without a \
                     level, all are used.",
                "default": null,
            },
        },
        "required": [],
        "additionalProperties": false,
    })
}

#[cfg(test)]
mod tests {
    use std::collections::HashSet;

    use super::*;
    use crate::calculator::expression::evaluate;

    #[test]
    fn names_are_short_and_differ() {
        let problems = problems().unwrap();
        let names: HashSet<&Text> = problems.iter().map(|problem| &problem.name).collect();
        assert_eq!(names.len(), problems.len());
        for name in names {
            assert!((3..=24).contains(&name.chars().count()), "{name}");
        }
    }

    #[test]
    fn the_worked_solution_computes_and_submits_the_answer() {
        for problem in problems().unwrap() {
            let computed = evaluate(&problem.expression).unwrap().to_text();
            let computed: f64 = computed.parse().unwrap();
            assert!((computed - problem.number).abs() < 1e-6, "{}", problem.id);
            let [first, last] = worked(&problem.id).unwrap();
            let argument = |action: &ToolRequestMessage, key| {
                let arguments = &action.tool_calls[0].function.arguments;
                arguments.get(key).and_then(Json::as_text).cloned()
            };
            assert_eq!(argument(&first, "expr"), Some(problem.expression));
            let submitted: f64 = argument(&last, "answer").unwrap().parse().unwrap();
            assert_eq!(submitted, problem.number);
        }
        assert!(worked("easy-99").is_none());
    }
}
