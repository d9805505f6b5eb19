//! GSM8K: word problems with worked answers that end in `#### n`, provided by the user as JSON lines.
//!
//! As in aviary, the splits `train_full`, `train` and `val` are parts of the source's training
//! set, and a problem's id contains its split and its index in the source.

use volary_core::dataset::{DatasetError, Task, TaskDataset};
use volary_core::environment::{Environment, Setting};
use volary_core::json;
use volary_core::json::number::float_from_text;
use volary_core::json::{Json, Object, Text};
use volary_core::registry::{DatasetEntry, RegistryError};

use super::opening;
use crate::calculator::{Calculator, CalculatorConfig, Problem};
use crate::jsonl;
use crate::settings::Settings;

/// The entry in the registry.
pub const ENTRY: DatasetEntry = DatasetEntry {
    name: "gsm8k",
    summary: "Grade school math problems from your own GSM8K file (JSON Lines).",
    configuration: schema,
    tasks: |arguments, _| Ok(Problems::read(arguments)?.tasks()),
    make: |arguments, setting| {
        Ok(Box::new(Gsm8k {
            problems: Problems::read(arguments)?,
            setting: setting.clone(),
        }))
    },
};

/// A split of the source.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Split {
    /// The whole training set.
    TrainFull,
    /// The training set without every fifth problem.
    Train,
    /// Every fifth problem of the training set, from the first.
    Val,
    /// The test set.
    Test,
}

/// A row of the source.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Row {
    pub question: Text,
    /// The worked answer, with `#### n` at its end.
    pub answer: Text,
}

/// The problems of one split.
struct Problems {
    problems: Vec<Problem>,
    config: CalculatorConfig,
    /// The given `config`, to make tasks again.
    given: Option<Json>,
}

/// The dataset of one split.
pub struct Gsm8k {
    problems: Problems,
    setting: Setting,
}

/// Why rows cannot be converted to a dataset.
#[derive(Clone, Debug, PartialEq, Eq, thiserror::Error)]
#[non_exhaustive]
pub enum Gsm8kError {
    #[error("'{name}' is not a valid GSM8kDatasetSplit; there are train_full, train, val, test")]
    UnknownSplit { name: Text },
    /// An answer has no number after `#### `.
    #[error("Failed to extract numerical answer from 'answer' column")]
    NoNumber,
}

impl Split {
    /// All splits.
    pub const ALL: [Split; 4] = [Split::TrainFull, Split::Train, Split::Val, Split::Test];

    /// The split with this name.
    pub fn from_name(name: &str) -> Result<Split, Gsm8kError> {
        Split::ALL
            .into_iter()
            .find(|split| split.name() == name)
            .ok_or_else(|| Gsm8kError::UnknownSplit { name: name.into() })
    }

    pub const fn name(self) -> &'static str {
        match self {
            Split::TrainFull => "train_full",
            Split::Train => "train",
            Split::Val => "val",
            Split::Test => "test",
        }
    }

    /// The split of the source that it is part of.
    pub const fn source(self) -> &'static str {
        match self {
            Split::Test => "test",
            Split::TrainFull | Split::Train | Split::Val => "train",
        }
    }

    /// Whether it contains the row at an index of the source.
    pub const fn holds(self, index: usize) -> bool {
        match self {
            Split::TrainFull | Split::Test => true,
            Split::Train => !index.is_multiple_of(5),
            Split::Val => index.is_multiple_of(5),
        }
    }
}

/// The number of a worked answer: the text between the first `#### ` and the next one, without
/// commas.
pub fn parse_answer(answer: &str) -> Result<f64, Gsm8kError> {
    answer
        .split("#### ")
        .nth(1)
        .and_then(|number| float_from_text(&number.replace(',', "")))
        .ok_or(Gsm8kError::NoNumber)
}

/// Parses a file of JSON lines. Every answer must contain its number.
pub fn read_rows(text: &str) -> Result<Vec<Row>, jsonl::LineFaults> {
    jsonl::rows(text, |row| {
        let answer = jsonl::text(row, "answer")?;
        if parse_answer(&answer).is_err() {
            return Err("'answer' must end in '#### ' and a number".into());
        }
        Ok(Row {
            question: jsonl::text(row, "question")?,
            answer,
        })
    })
}

impl Gsm8k {
    /// The problems of a split, from all rows of its source.
    pub fn new(
        split: Split,
        rows: &[Row],
        config: CalculatorConfig,
        setting: &Setting,
    ) -> Result<Self, Gsm8kError> {
        Ok(Gsm8k {
            problems: Problems::of(split, rows, config)?,
            setting: setting.clone(),
        })
    }
}

impl Problems {
    fn of(split: Split, rows: &[Row], config: CalculatorConfig) -> Result<Self, Gsm8kError> {
        let problems = rows
            .iter()
            .enumerate()
            .filter(|(index, _)| split.holds(*index))
            .map(|(index, row)| {
                Ok(Problem {
                    id: Some(format!("{}_{index}", split.name()).into()),
                    text: row.question.clone(),
                    answer: parse_answer(&row.answer)?,
                })
            })
            .collect::<Result<_, Gsm8kError>>()?;
        Ok(Problems {
            problems,
            config,
            given: None,
        })
    }

    fn read(arguments: &Object) -> Result<Self, RegistryError> {
        let settings = Settings::new(arguments, &["split", "config", "jsonl"])?;
        let fault =
            |key: &str, reason: &dyn std::fmt::Display| settings.fault(key, &reason.to_string());
        let split = Split::from_name(&settings.required_text("split")?)
            .map_err(|error| fault("split", &error))?;
        let config = CalculatorConfig::read(&settings)?;
        let rows =
            read_rows(&settings.required_text("jsonl")?).map_err(|error| fault("jsonl", &error))?;
        if rows.is_empty() {
            return Err(settings.fault(
                "jsonl",
                "contains no problems; expected one JSON object per \
                 line",
            ));
        }
        let mut problems =
            Problems::of(split, &rows, config).map_err(|error| fault("jsonl", &error))?;
        problems.given = arguments.get("config").cloned();
        Ok(problems)
    }

    fn tasks(&self) -> Vec<Task> {
        self.problems
            .iter()
            .map(|problem| self.task(problem))
            .collect()
    }

    fn task(&self, problem: &Problem) -> Task {
        let mut configuration = problem.configuration();
        if let Some(config) = &self.given {
            configuration.insert("config", config.clone());
        }
        Task {
            id: problem.id.clone().unwrap_or_default(),
            title: opening(&problem.text),
            environment: "calculator",
            configuration,
        }
    }
}

impl TaskDataset for Gsm8k {
    fn kind(&self) -> &'static str {
        "GSM8kDataset"
    }

    fn length(&self) -> Option<usize> {
        Some(self.problems.problems.len())
    }

    fn task(&self, index: usize) -> Option<Task> {
        let problem = self.problems.problems.get(index)?;
        Some(self.problems.task(problem))
    }

    fn environment_at(&self, index: usize) -> Result<Box<dyn Environment>, DatasetError> {
        let Problems {
            problems, config, ..
        } = &self.problems;
        let problem = problems
            .get(index)
            .ok_or_else(|| super::out_of_range(index, problems.len()))?;
        Ok(Box::new(Calculator::new(
            problem.clone(),
            *config,
            &self.setting,
        )))
    }
}

fn schema() -> Json {
    json!({
        "type": "object",
        "properties": {
            "split": {
                "type": "string",
                "enum": (Split::ALL.map(Split::name).to_vec()),
                "title": "Split",
                "description": "train_full, train (all but every fifth problem) and val (every \
                     fifth) use the training file; test uses the test file.",
                "default": (Split::TrainFull.name()),
            },
            "jsonl": {
                "type": "string",
                "title": "Problems",
                "description": "JSON Lines, each with a question and an answer that ends in '#### \
                     ' and a number.",
                "contentMediaType": "application/jsonl",
            },
            "config": (CalculatorConfig::schema()),
        },
        "required": ["split", "jsonl"],
        "additionalProperties": false,
    })
}

#[cfg(test)]
mod tests {
    use volary_core::clock::Standstill;
    use volary_core::object;

    use super::*;

    fn setting() -> Setting {
        Setting {
            seed: 0,
            clock: std::rc::Rc::new(Standstill),
            outside: std::rc::Rc::new(volary_core::outside::Closed),
        }
    }

    fn jsonl(rows: usize) -> String {
        (0..rows)
            .map(|row| format!("{{\"question\": \"q {row}\", \"answer\": \"#### {row}\"}}\n"))
            .collect()
    }

    fn made(arguments: &Object) -> Result<Vec<Task>, String> {
        let dataset = (ENTRY.make)(arguments, &setting()).map_err(|error| error.to_string())?;
        Ok((0..).map_while(|index| dataset.task(index)).collect())
    }

    #[test]
    fn splits_share_out_the_training_set() {
        let ids = |split: &str| -> Vec<String> {
            let arguments = object!({"split": split, "jsonl": (jsonl(7))});
            let tasks = made(&arguments).unwrap_or_default();
            tasks.iter().map(|task| task.id.to_string()).collect()
        };
        assert_eq!(
            ids("train"),
            ["train_1", "train_2", "train_3", "train_4", "train_6"]
        );
        assert_eq!(ids("val"), ["val_0", "val_5"]);
        assert_eq!(ids("train_full").len(), 7);
        assert_eq!(ids("test").last().map(String::as_str), Some("test_6"));
    }

    #[test]
    fn a_task_makes_its_environment_again() {
        let arguments = object!({
            "split": "test", "jsonl": (jsonl(2)), "config": {"rel_tol": 0.5},
        });
        let tasks = made(&arguments).unwrap_or_default();
        assert_eq!(
            tasks.last().map(|task| task.configuration.clone()),
            Some(object!({
                "problem_id": "test_1", "problem": "q 1", "answer": 1.0, "config": {"rel_tol": 0.5},
            }))
        );
    }

    #[test]
    fn faults_have_a_path_and_a_reason() {
        for (arguments, said) in [
            (
                object!({"split": "dev", "jsonl": "{}"}),
                "split: 'dev' is not a valid GSM8kDatasetSplit; there are train_full, train, val, \
                 test",
            ),
            (
                object!({"split": "test", "jsonl": "\n"}),
                "jsonl: contains no problems; expected one JSON object per line",
            ),
            (
                object!({"split": "test", "jsonl": "{\"question\": \"\", \"answer\": \"5\"}"}),
                "jsonl: line 1: 'answer' must end in '#### ' and a number",
            ),
            (
                object!({"split": "test", "jsonl": (jsonl(1)), "config": {"x": 1}}),
                "config.x: is unknown; known are correct_reward, incorrect_reward, \
                 tool_failure_reward, tool_success_reward, rel_tol, done_on_failure",
            ),
        ] {
            assert_eq!(made(&arguments), Err(said.into()));
        }
    }

    #[test]
    fn past_the_end_is_an_error() {
        let arguments = object!({"split": "test", "jsonl": (jsonl(2))});
        let dataset = (ENTRY.make)(&arguments, &setting());
        let error = dataset.map(|dataset| dataset.environment_at(2).err());
        assert_eq!(
            error,
            Ok(Some(DatasetError::OutOfRange {
                index: 2,
                length: 2
            }))
        );
    }

    #[test]
    fn numbers_of_worked_answers() {
        for (answer, number) in [
            ("48 / 2 = 24\n#### 72", Ok(72.0)),
            ("#### 1,234,567", Ok(1_234_567.0)),
            ("#### 1\n#### 2", Ok(1.0)),
            ("####72", Err(Gsm8kError::NoNumber)),
            ("#### $5", Err(Gsm8kError::NoNumber)),
            ("", Err(Gsm8kError::NoNumber)),
        ] {
            assert_eq!(parse_answer(answer), number, "{answer}");
        }
    }
}
