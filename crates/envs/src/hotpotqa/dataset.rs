//! Questions: built-in ones, which the built-in encyclopedia answers, and those of a HotPotQA file provided by the
//! user.

use volary_core::dataset::{DatasetError, Task, TaskDataset};
use volary_core::environment::{Environment, Setting};
use volary_core::json::{Json, Object, Text};
use volary_core::random::Random;
use volary_core::registry::{DatasetEntry, RegistryError};
use volary_core::{fields, json};

use super::config::uuid_of;
use super::{Config, HotPotQa, pages};
use crate::datasets::{opening, out_of_range};
use crate::jsonl;
use crate::settings::Settings;

/// The built-in questions.
pub const TWO_HOP: DatasetEntry = DatasetEntry {
    name: "two_hop_questions",
    summary: "Questions that take two articles of a small encyclopedia, without a network.",
    configuration: || {
        json!({
            "type": "object",
            "properties": {"level": (level_schema())},
            "required": [],
            "additionalProperties": false,
        })
    },
    tasks: |arguments, _| Ok(Questions::of_our_own(arguments)?.tasks()),
    make: |arguments, setting| {
        Ok(Box::new(QuestionDataset {
            kind: "TwoHopDataset",
            questions: Questions::of_our_own(arguments)?,
            setting: setting.clone(),
        }))
    },
};

/// The questions of a file.
pub const HOTPOTQA: DatasetEntry = DatasetEntry {
    name: "hotpotqa",
    summary: "HotPotQA questions from a file of your own (JSON or JSON lines).",
    configuration: schema,
    tasks: |arguments, seed| Ok(from_file(arguments, seed)?.tasks()),
    make: |arguments, setting| {
        Ok(Box::new(QuestionDataset {
            kind: "HotPotQADataset",
            questions: from_file(arguments, setting.seed)?,
            setting: setting.clone(),
        }))
    },
};

/// A question.
#[derive(Clone, Debug, PartialEq)]
pub struct Row {
    /// Its id; a UUID for a question of a file.
    pub id: Text,
    pub question: Text,
    /// The correct answer: a text or a number.
    pub answer: Json,
    /// `easy`, `medium` or `hard`, if the file contains it.
    pub level: Option<Text>,
}

struct Questions {
    rows: Vec<Row>,
    /// The members of the configuration that all questions share.
    config: Object,
}

struct QuestionDataset {
    kind: &'static str,
    questions: Questions,
    setting: Setting,
}

/// The built-in questions, easy ones first. Tests check the file's format, so an error here
/// does not occur.
pub fn own_rows() -> Result<Vec<Row>, RegistryError> {
    let rows = jsonl::rows(include_str!("../../data/two_hop.jsonl"), |row| {
        Ok(Row {
            id: jsonl::text(row, "id")?,
            question: jsonl::text(row, "question")?,
            answer: jsonl::text(row, "answer")?.into(),
            level: Some(jsonl::text(row, "level")?),
        })
    });
    rows.map_err(|faults| RegistryError::Configuration {
        key: "two_hop_questions".into(),
        reason: faults.to_string().into(),
    })
}

impl Row {
    /// Reads a question of a HotPotQA file, in the format of its authors' site or of a data hub.
    fn read(row: &Object) -> Result<Row, Text> {
        let text = |key: &str| row.get(key).and_then(Json::as_text).cloned();
        let id = text("id")
            .or_else(|| text("_id"))
            .ok_or("'id' must be a text")?;
        let fits = id.len() == 24 && id.bytes().all(|byte| byte.is_ascii_hexdigit());
        if !fits {
            return Err("'id' must be 24 hexadecimal digits".into());
        }
        let answer = row.get("answer").cloned();
        let fits = |answer: &Json| matches!(answer, Json::Text(_) | Json::Float(_));
        Ok(Row {
            // Prefixed with four zero bytes to make a UUID.
            id: uuid_of(&format!("{:0>32}", id.to_ascii_lowercase())),
            question: text("question").ok_or("'question' must be a text")?,
            answer: answer
                .filter(fits)
                .ok_or("'answer' must be a text or a float")?,
            level: text("level"),
        })
    }
}

impl Questions {
    /// The built-in questions of the level in the arguments.
    fn of_our_own(arguments: &Object) -> Result<Self, RegistryError> {
        let settings = Settings::new(arguments, &["level"])?;
        let level = settings.text("level")?;
        let mut rows = own_rows()?;
        rows.retain(|row| level.is_none() || row.level == level);
        Ok(Questions {
            rows,
            config: Object::new(),
        })
    }

    fn tasks(&self) -> Vec<Task> {
        self.rows.iter().map(|row| self.task(row)).collect()
    }

    fn task(&self, row: &Row) -> Task {
        let opening = opening(&row.question);
        Task {
            id: row.id.clone(),
            title: match &row.level {
                Some(level) => format!("{level}: {opening}").into(),
                None => opening,
            },
            environment: super::ENTRY.name,
            configuration: self.configuration(row),
        }
    }

    fn configuration(&self, row: &Row) -> Object {
        let mut configuration = self.config.clone();
        configuration.insert("question", row.question.clone());
        configuration.insert("correct_answer", row.answer.clone());
        if row.id.len() == 36 {
            configuration.insert("question_id", row.id.clone());
        }
        configuration
    }
}

impl TaskDataset for QuestionDataset {
    fn kind(&self) -> &'static str {
        self.kind
    }

    fn length(&self) -> Option<usize> {
        Some(self.questions.rows.len())
    }

    fn task(&self, index: usize) -> Option<Task> {
        let row = self.questions.rows.get(index)?;
        Some(self.questions.task(row))
    }

    fn environment_at(&self, index: usize) -> Result<Box<dyn Environment>, DatasetError> {
        let Questions { rows, .. } = &self.questions;
        let row = rows.get(index);
        let row = row.ok_or_else(|| out_of_range(index, rows.len()))?;
        let config = Config::read(&self.questions.configuration(row))?;
        let pages = pages::of(&config, &self.setting);
        Ok(Box::new(HotPotQa::new(config, pages, &self.setting)))
    }
}

/// The settings of the dataset itself; the others are those of the environment.
const OF_DATASET: [&str; 4] = ["split", "json", "config", "level"];

/// The settings under `config`.
const CONFIG: [&str; 9] = [
    "shuffle_data",
    "data_fraction",
    "difficulty_level",
    "correct_reward",
    "incorrect_reward",
    "tool_failure_reward",
    "evaluation_mode",
    "wiki",
    "proxy",
];

fn from_file(arguments: &Object, seed: u64) -> Result<Questions, RegistryError> {
    let settings = Settings::new(arguments, &OF_DATASET)?;
    split(&settings)?;
    let config = settings.group("config", &CONFIG)?;
    let text = settings.required_text("json")?;
    let mut rows = read_rows(&text).map_err(|reason| settings.fault("json", &reason))?;
    if let Some(levels) =
        levels(arguments).map_err(|reason| config.fault("difficulty_level", &reason))?
    {
        if rows.iter().any(|row| row.level.is_none()) {
            let reason = "can't be chosen: this file does not say how difficult its questions are";
            return Err(config.fault("difficulty_level", reason));
        }
        rows.retain(|row| {
            row.level
                .as_ref()
                .is_some_and(|level| levels.contains(level))
        });
    }
    if config.boolean("shuffle_data", false)? {
        Random::new(seed).fork("hotpotqa").shuffle(&mut rows);
    }
    let fraction = config.number("data_fraction", 1.0)?;
    if !(fraction > 0.0 && fraction <= 1.0) {
        return Err(config.fault("data_fraction", "must be above 0 and at most 1"));
    }
    if fraction < 1.0 {
        rows.truncate((fraction * rows.len() as f64) as usize);
    }
    let mut shared = Object::new();
    let given = arguments.get("config").and_then(Json::as_object);
    for (key, value) in given.into_iter().flat_map(Object::iter) {
        if CONFIG[3..8].contains(&&**key) {
            shared.insert(key.clone(), value.clone());
        }
    }
    Ok(Questions {
        rows,
        config: shared,
    })
}

/// The names of the splits, including synonyms.
const SPLITS: [&str; 6] = ["train", "validation", "test", "dev", "eval", "val"];

fn split(settings: &Settings<'_>) -> Result<(), RegistryError> {
    let split = settings.required_text("split")?;
    if SPLITS.contains(&&*split) {
        return Ok(());
    }
    let reason = format!(
        "Split '{split}' was invalid; there are {} (dev, eval and val mean validation)",
        SPLITS[..3].join(", ")
    );
    Err(settings.fault("split", &reason))
}

/// The levels to keep; `None` for all.
fn levels(arguments: &Object) -> Result<Option<Vec<Text>>, String> {
    let config = arguments.get("config");
    let Some(levels) = config.and_then(|config| config.get("difficulty_level")) else {
        return Ok(None);
    };
    if levels.is_null() {
        return Ok(None);
    }
    let list = fields::list("difficulty_level", levels).map_err(|error| error.to_string())?;
    let levels = list.iter().map(|level| {
        let level = level.as_text().filter(|level| LEVELS.contains(&&***level));
        level
            .cloned()
            .ok_or_else(|| format!("there are {}", LEVELS.join(", ")))
    });
    levels.collect::<Result<_, _>>().map(Some)
}

const LEVELS: [&str; 3] = ["easy", "medium", "hard"];

/// Parses the questions of a file: a JSON list, or one object per line.
pub fn read_rows(text: &str) -> Result<Vec<Row>, String> {
    let text = text.trim_start_matches('\u{feff}').trim_start();
    let rows = if text.starts_with('[') {
        let list = Json::parse(text).map_err(|error| error.to_string())?;
        let list = list.as_list().unwrap_or_default().iter().enumerate();
        list.map(|(index, row)| {
            let row = row
                .as_object()
                .ok_or_else(|| Text::from("must be an object"));
            let row = row.and_then(Row::read);
            row.map_err(|reason| format!("question {}: {reason}", index + 1))
        })
        .collect::<Result<Vec<_>, _>>()?
    } else {
        jsonl::rows(text, Row::read).map_err(|faults| faults.to_string())?
    };
    if rows.is_empty() {
        Err("holds no question".to_owned())
    } else {
        Ok(rows)
    }
}

fn level_schema() -> Json {
    json!({
        "anyOf": [
            {"type": "string", "enum": ["easy", "medium", "hard"]},
            {"type": "null"},
        ],
        "title": "Level",
        "description": "How difficult the questions are. Without a level, all.",
        "default": null,
    })
}

fn schema() -> Json {
    let number = |title: &str, description: &str, default: f64| json!({"type": "number", "title": title, "description": description, "default": default});
    json!({
        "type": "object",
        "properties": {
            "split": {
                "type": "string",
                "enum": (SPLITS.to_vec()),
                "title": "Split",
                "description": "Which part of HotPotQA the file is; dev, eval and val mean \
                                validation.",
                "default": "validation",
            },
            "json": {
                "type": "string",
                "title": "Questions",
                "description": "A HotPotQA file: a JSON list or JSON lines, each question with id, \
                                question and answer.",
                "contentMediaType": "application/json",
            },
            "config": {
                "type": "object",
                "title": "Settings",
                "description": "Which questions, and how they are played.",
                "properties": {
                    "shuffle_data": {
                        "type": "boolean",
                        "title": "Shuffle",
                        "description": "Whether the questions are shuffled, by the seed.",
                        "default": false,
                    },
                    "data_fraction": {
                        "type": "number",
                        "title": "Fraction",
                        "description": "Which part of the questions to use, after shuffling.",
                        "exclusiveMinimum": 0,
                        "maximum": 1,
                        "default": 1.0,
                    },
                    "difficulty_level": {
                        "anyOf": [
                            {
                                "type": "array",
                                "items": {"type": "string", "enum": ["easy", "medium", "hard"]},
                            },
                            {"type": "null"},
                        ],
                        "title": "Difficulty",
                        "description": "Which levels to keep. Without any, all.",
                        "default": null,
                    },
                    "correct_reward": (number("Correct reward", "For a right answer.", 1.0)),
                    "incorrect_reward": (number("Incorrect reward", "For a wrong answer.", 0.0)),
                    "tool_failure_reward": (number("Tool failure reward", "For a step without a call.", 0.0)),
                    "evaluation_mode": {
                        "type": "string",
                        "enum": ["exact", "contains", "llm"],
                        "title": "Evaluation",
                        "description": "Whether an answer has to be the right one, to contain it, \
                                        or to convince a model.",
                        "default": "contains",
                    },
                    "wiki": {
                        "anyOf": [{"type": "string"}, {"type": "null"}],
                        "title": "Wiki",
                        "description": "The api.php of a MediaWiki. Without one, our own small \
                                        encyclopedia.",
                        "default": "https://en.wikipedia.org/w/api.php",
                    },
                },
                "additionalProperties": false,
                "default": {},
            },
        },
        "required": ["split", "json"],
        "additionalProperties": false,
    })
}

#[cfg(test)]
mod tests {
    use volary_core::outside::Closed;
    use volary_core::{clock::Standstill, object};

    use super::super::encyclopedia::articles;
    use super::*;

    fn setting() -> Setting {
        Setting {
            seed: 1,
            clock: std::rc::Rc::new(Standstill),
            outside: std::rc::Rc::new(Closed),
        }
    }

    fn tasks(entry: &DatasetEntry, arguments: Object) -> Result<Vec<Task>, String> {
        let dataset = (entry.make)(&arguments, &setting()).map_err(|error| error.to_string())?;
        Ok((0..).map_while(|index| dataset.task(index)).collect())
    }

    #[test]
    fn our_articles_answer_our_questions() {
        let rows = own_rows().unwrap();
        assert!(rows.len() >= 40);
        let file = include_str!("../../data/two_hop.jsonl").lines();
        for (row, line) in rows.iter().zip(file) {
            let pages = Json::parse(line).unwrap();
            let pages = pages.get("pages").and_then(Json::as_list).unwrap();
            assert_eq!(pages.len(), 2);
            let article = |title: &Json| {
                let title = title.as_text().unwrap();
                let found = articles()
                    .iter()
                    .find(|article| article.names[0] == &**title);
                found.unwrap_or_else(|| unreachable!("{title} is missing"))
            };
            let last = article(&pages[1]);
            article(&pages[0]);
            let text = format!("{} {}", last.names[0], last.paragraphs.join(" ")).to_lowercase();
            let answer = row.answer.as_text().unwrap().to_lowercase();
            assert!(text.contains(&answer), "{}", row.id);
        }
        let easy = tasks(&TWO_HOP, object!({"level": "easy"})).unwrap();
        assert!(easy.len() < rows.len() && easy[0].title.starts_with("easy: "));
    }

    const FILE: &str = r#"[
        {"_id": "5a8d7341554299441c6b9fe5", "question": "q", "answer": "a", "level": "hard"},
        {"id": "000000000000000000000001", "question": "r", "answer": "yes", "level": "easy"}
    ]"#;

    #[test]
    fn questions_of_a_file() {
        let config = object!({"difficulty_level": ["hard"], "correct_reward": 2.0});
        let arguments = object!({"split": "dev", "json": FILE, "config": config});
        assert_eq!(
            tasks(&HOTPOTQA, arguments).map(|tasks| tasks[0].configuration.clone()),
            Ok(object!({
                "correct_reward": 2.0, "question": "q", "correct_answer": "a",
                "question_id": "00000000-5a8d-7341-5542-99441c6b9fe5",
            }))
        );
        let half = object!({"data_fraction": 0.5, "shuffle_data": true});
        let arguments = object!({"split": "train", "json": FILE, "config": half});
        assert_eq!(tasks(&HOTPOTQA, arguments).map(|tasks| tasks.len()), Ok(1));
        let lines = r#"{"id": "000000000000000000000001", "question": "r", "answer": 0.5}"#;
        assert_eq!(
            read_rows(lines).map(|rows| rows[0].answer.clone()),
            Ok(json!(0.5))
        );
    }

    #[test]
    fn errors_name_the_argument_and_the_reason() {
        let lines = r#"{"id": "000000000000000000000001", "question": "r", "answer": "x"}"#;
        for (arguments, said) in [
            (
                object!({"split": "x", "json": FILE}),
                "split: Split 'x' was invalid",
            ),
            (
                object!({"split": "dev", "json": "[]"}),
                "json: holds no question",
            ),
            (
                object!({"split": "dev", "json": "[1]"}),
                "json: question 1: must be an object",
            ),
            (
                object!({"split": "dev", "json": lines, "config": {"difficulty_level": ["easy"]}}),
                "config.difficulty_level: can't be chosen",
            ),
            (
                object!({"split": "dev", "json": FILE, "config": {"data_fraction": 0}}),
                "config.data_fraction: must be above 0",
            ),
            (
                object!({"split": "dev", "json": FILE, "config": {"difficulty_level": ["x"]}}),
                "config.difficulty_level: there are easy, medium, hard",
            ),
        ] {
            let error = tasks(&HOTPOTQA, arguments).err().unwrap_or_default();
            assert!(error.starts_with(said), "{error}");
        }
    }
}
