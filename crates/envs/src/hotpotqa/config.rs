//! The question, the rewards, and the source of pages.

use volary_core::json::{Object, Text};
use volary_core::registry::RegistryError;
use volary_core::{Json, json, object};

use super::page::Page;
use super::text::normalized;
use crate::answers::EvalMode;
use crate::settings::Settings;

const KNOWN: [&str; 9] = [
    "question_id",
    "question",
    "correct_answer",
    "correct_reward",
    "incorrect_reward",
    "tool_failure_reward",
    "evaluation_mode",
    "wiki",
    "pages",
];

/// A question with its settings.
#[derive(Clone, Debug, PartialEq)]
pub struct Config {
    /// The id of the question: a UUID.
    pub question_id: Option<Text>,
    pub question: Text,
    /// The correct answer, normalized.
    pub correct_answer: String,
    /// The reward of a correct answer.
    pub correct_reward: f64,
    /// The reward of a wrong answer.
    pub incorrect_reward: f64,
    /// The reward of a step without a call.
    pub tool_failure_reward: f64,
    /// The evaluation mode of answers.
    pub evaluation_mode: EvalMode,
    /// The API of a MediaWiki; `None` for the built-in encyclopedia.
    pub wiki: Option<Text>,
    /// Recorded pages, by search term.
    pub pages: Vec<(Text, Page)>,
}

impl Config {
    /// Reads a configuration.
    ///
    /// # Errors
    ///
    /// A key is unknown or its value invalid.
    pub fn read(configuration: &Object) -> Result<Self, RegistryError> {
        let settings = Settings::new(configuration, &KNOWN)?;
        let mode = settings
            .text("evaluation_mode")?
            .unwrap_or_else(|| "contains".into());
        let mode = EvalMode::from_name(&mode)
            .map_err(|error| settings.fault("evaluation_mode", &error.to_string()))?;
        if mode == EvalMode::LlmScore {
            let reason = "HotPotQAEnv does not support \"llm-score\", which is not right or wrong";
            return Err(settings.fault("evaluation_mode", reason));
        }
        let id = settings.text("question_id")?;
        let wiki = settings.text("wiki")?.filter(|address| !address.is_empty());
        if let Some(address) = &wiki
            && !is_api(address)
        {
            let reason = "must be the address of a MediaWiki's api.php, such as \
                          https://en.wikipedia.org/w/api.php";
            return Err(settings.fault("wiki", reason));
        }
        let pages = configuration.get("pages").and_then(Json::as_object);
        let pages = pages
            .into_iter()
            .flat_map(Object::iter)
            .map(|(entity, page)| {
                let malformed =
                    || settings.fault("pages", "must be pages that an episode recorded");
                let page = Page::from_json(page).ok_or_else(malformed)?;
                Ok((Text::from(&**entity), page))
            });
        Ok(Config {
            question_id: id
                .map(|id| uuid(&id).ok_or_else(|| settings.fault("question_id", "must be a UUID")))
                .transpose()?,
            question: settings.required_text("question")?,
            correct_answer: match configuration.get("correct_answer") {
                Some(Json::Null) | None => {
                    return Err(settings.fault("correct_answer", "is missing; give a text"));
                }
                Some(answer) => normalized(answer),
            },
            correct_reward: settings.number("correct_reward", 1.0)?,
            incorrect_reward: settings.number("incorrect_reward", 0.0)?,
            tool_failure_reward: settings.number("tool_failure_reward", 0.0)?,
            evaluation_mode: mode,
            wiki,
            pages: pages.collect::<Result<_, RegistryError>>()?,
        })
    }
}

/// Whether an address is valid for an API.
fn is_api(address: &str) -> bool {
    (address.starts_with("https://") || address.starts_with("http://"))
        && address.ends_with("/api.php")
}

/// A UUID in Python's format.
fn uuid(text: &str) -> Option<Text> {
    let digits: String = text
        .chars()
        .filter(|one| !matches!(one, '-' | '{' | '}'))
        .collect();
    let digits = digits.to_ascii_lowercase();
    let fits = digits.len() == 32 && digits.bytes().all(|byte| byte.is_ascii_hexdigit());
    fits.then(|| uuid_of(&digits))
}

/// 32 hexadecimal digits with dashes between them.
pub(super) fn uuid_of(digits: &str) -> Text {
    let part = |from: usize, to: usize| digits.get(from..to).unwrap_or_default();
    let parts = [
        part(0, 8),
        part(8, 12),
        part(12, 16),
        part(16, 20),
        part(20, 32),
    ];
    parts.join("-").into()
}

/// The configuration of a question with an unknown answer.
pub fn from_task(task: &str) -> Object {
    object!({"question": task, "correct_answer": 0.0})
}

/// The JSON Schema of the configuration.
pub fn schema() -> Json {
    json!({
        "type": "object",
        "properties": {
            "question": {
                "type": "string",
                "title": "Question",
                "description": "What is asked.",
                "default": "In which country is the city where the composer of the Brandenburg \
                            Concertos died?",
            },
            "correct_answer": {
                "anyOf": [{"type": "string"}, {"type": "number"}],
                "title": "Correct answer",
                "description": "What is right.",
                "writeOnly": true,
                "default": "Germany",
            },
            "question_id": {
                "anyOf": [{"type": "string"}, {"type": "null"}],
                "title": "Question id",
                "description": "A UUID.",
                "default": null,
            },
            "evaluation_mode": {
                "type": "string",
                "enum": ["exact", "contains", "llm"],
                "title": "Evaluation",
                "description": "Whether the answer has to be the right one, to contain it, or to \
                                convince a model.",
                "default": "contains",
            },
            "correct_reward": (number("Correct reward", "For a right answer.", 1.0)),
            "incorrect_reward": (number("Incorrect reward", "For a wrong answer.", 0.0)),
            "tool_failure_reward": (number("Tool failure reward", "For a step without a call.", 0.0)),
            "wiki": {
                "anyOf": [{"type": "string"}, {"type": "null"}],
                "title": "Wiki",
                "description": "The api.php of a MediaWiki, such as \
                                https://en.wikipedia.org/w/api.php. Without one, a small \
                                encyclopedia that needs no network.",
                "default": null,
            },
            "pages": {
                "type": "object",
                "title": "Recorded pages",
                "description": "Pages that were read from the wiki, by what was searched: these are \
                                not fetched again.",
                "additionalProperties": (Page::schema()),
                "default": {},
            },
        },
        "required": ["question", "correct_answer"],
        "additionalProperties": false,
    })
}

fn number(title: &str, description: &str, default: f64) -> Json {
    json!({"type": "number", "title": title, "description": description, "default": default})
}
