//! Mappings from the members of JSON records to the fields of an episode, for files that no reader recognises.
//!
//! A *record* is a line of JSON Lines, an element of a list, or one JSON value. Its *shape* is the set of its member
//! names: mappings are stored by shape. A *path* is a dotted sequence of member names and list indices (`row.messages`,
//! `choices.0.text`); a member whose own name contains dots is found as well.
//!
//! Invariants: a mapping that is written is read back unchanged. Looking up a path never panics, and takes time
//! proportional to its length.

use serde::{Deserialize, Serialize};
use volary_core::json::{Json, Object, Text};

use super::chat;
use super::members::{id, reward, unpacked};
use super::reader::Document;

/// A target field of a mapping.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Field {
    /// The prompt of the model: a text, or messages.
    Prompt,
    /// The messages of the whole conversation.
    Messages,
    /// The reply of the model: a text, messages, or a list of replies, each of which becomes an episode.
    Answer,
    /// A number or a boolean; or a list with one for each reply.
    Reward,
    /// The id of the task.
    Task,
    /// The group of trials.
    Group,
    /// The training step.
    Step,
    /// The model's name.
    Model,
}

impl Field {
    /// All fields, in display order.
    pub const ALL: [Field; 8] = [
        Field::Prompt,
        Field::Messages,
        Field::Answer,
        Field::Reward,
        Field::Task,
        Field::Group,
        Field::Step,
        Field::Model,
    ];

    /// The usual names of members with this field, the most common first.
    const fn usual_names(self) -> &'static [&'static str] {
        match self {
            Field::Prompt => &[
                "prompt",
                "question",
                "problem",
                "instruction",
                "query",
                "input",
                "user_prompt",
            ],
            Field::Messages => &[
                "messages",
                "conversation",
                "conversations",
                "dialogue",
                "dialog",
                "chat",
                "transcript",
                "turns",
            ],
            Field::Answer => &[
                "response",
                "responses",
                "completion",
                "completions",
                "output",
                "outputs",
                "generation",
                "generations",
                "model_output",
                "prediction",
                "model_answer",
                "answer",
            ],
            Field::Reward => &[
                "reward",
                "rewards",
                "score",
                "scores",
                "is_correct",
                "correct",
                "passed",
                "success",
                "accuracy",
            ],
            Field::Task => &[
                "task",
                "task_id",
                "problem_id",
                "question_id",
                "prompt_id",
                "instance_id",
                "example_id",
                "index",
            ],
            Field::Group => &["group", "group_id", "group_index", "uid"],
            Field::Step => &["step", "global_step", "training_step", "iteration", "epoch"],
            Field::Model => &["model", "model_name", "model_id", "policy", "checkpoint"],
        }
    }

    /// Whether a value is valid for this field.
    fn accepts(self, value: &Json) -> bool {
        let is_messages = |value: &Json| match value {
            Json::List(list) => !list.is_empty() && list.iter().all(is_said),
            _ => false,
        };
        match self {
            Field::Prompt => value.as_text().is_some() || is_messages(value),
            Field::Messages => match value {
                Json::Text(text) => text.starts_with('[') && text.contains("\"role\""),
                value => is_messages(value),
            },
            Field::Answer => match value {
                Json::List(list) => {
                    let mut texts = list.iter();
                    is_messages(value)
                        || !list.is_empty() && texts.all(|one| one.as_text().is_some())
                }
                value => value.as_text().is_some(),
            },
            Field::Reward => match value {
                Json::List(list) => {
                    !list.is_empty() && list.iter().all(|one| reward(one).is_some())
                }
                value => reward(value).is_some(),
            },
            Field::Task | Field::Group | Field::Step => id(value).is_some(),
            Field::Model => value.as_text().is_some(),
        }
    }
}

/// Whether a value is a message in a chat form.
fn is_said(value: &Json) -> bool {
    let is_text = |key| {
        value
            .get(key)
            .is_some_and(|value| value.as_text().is_some())
    };
    chat::is_message(value) || is_text("role") || is_text("from") && is_text("value")
}

/// The paths of the mapped fields.
#[derive(Clone, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
#[serde(default, deny_unknown_fields)]
pub struct FieldMapping {
    /// The path of the list of records, if the file is one JSON value.
    pub records: Option<String>,
    /// See [`Field::Prompt`].
    pub prompt: Option<String>,
    /// See [`Field::Messages`].
    pub messages: Option<String>,
    /// See [`Field::Answer`].
    pub answer: Option<String>,
    /// See [`Field::Reward`].
    pub reward: Option<String>,
    /// See [`Field::Task`].
    pub task: Option<String>,
    /// See [`Field::Group`].
    pub group: Option<String>,
    /// See [`Field::Step`].
    pub step: Option<String>,
    /// See [`Field::Model`].
    pub model: Option<String>,
}

impl FieldMapping {
    /// The path of a field; `None` if it is not mapped.
    pub fn get(&self, field: Field) -> Option<&str> {
        let path = match field {
            Field::Prompt => &self.prompt,
            Field::Messages => &self.messages,
            Field::Answer => &self.answer,
            Field::Reward => &self.reward,
            Field::Task => &self.task,
            Field::Group => &self.group,
            Field::Step => &self.step,
            Field::Model => &self.model,
        };
        path.as_deref()
    }

    /// Sets the path of a field; `None` removes it.
    pub fn set(&mut self, field: Field, path: Option<String>) {
        let slot = match field {
            Field::Prompt => &mut self.prompt,
            Field::Messages => &mut self.messages,
            Field::Answer => &mut self.answer,
            Field::Reward => &mut self.reward,
            Field::Task => &mut self.task,
            Field::Group => &mut self.group,
            Field::Step => &mut self.step,
            Field::Model => &mut self.model,
        };
        *slot = path.filter(|path| !path.trim().is_empty());
    }

    /// Whether it maps a field with messages, without which a record has no contents.
    pub fn is_usable(&self) -> bool {
        let said = [&self.prompt, &self.messages, &self.answer];
        said.into_iter().any(Option::is_some)
    }

    /// Suggests a mapping from the names and values of a file's first record.
    pub fn suggested(head: &Json) -> FieldMapping {
        let mut mapping = FieldMapping {
            records: list_of_records(head),
            ..FieldMapping::default()
        };
        let record = mapping.first_record(head);
        let found = paths(record);
        for field in Field::ALL {
            let named = |name: &&str| {
                let fits = found.iter().find(|found| {
                    let last = found.path.rsplit('.').next().unwrap_or_default();
                    last.eq_ignore_ascii_case(name)
                        && at_path(record, &found.path).is_some_and(|value| field.accepts(&value))
                });
                fits.map(|found| found.path.clone())
            };
            let path = field.usual_names().iter().find_map(named);
            mapping.set(field, path);
        }
        if mapping.messages.is_some() {
            // The messages contain both.
            (mapping.prompt, mapping.answer) = (None, None);
        }
        mapping
    }

    /// The first record of a file whose first value is `head`.
    pub fn first_record<'a>(&self, head: &'a Json) -> &'a Json {
        let list = self.records.as_deref().and_then(|path| find(head, path));
        let first = list.and_then(|list| list.as_list()?.first());
        first.unwrap_or(head)
    }
}

/// The sorted names of a record's members.
#[derive(Clone, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
pub struct Shape(Vec<String>);

impl Shape {
    /// The shape of a record; `None` if it is not an object with members.
    pub fn of(record: &Json) -> Option<Shape> {
        let object = record.as_object().filter(|object| !object.is_empty())?;
        let mut names: Vec<String> = object.keys().map(|name| name.to_string()).collect();
        names.sort_unstable();
        Some(Shape(names))
    }

    /// The sorted names.
    pub fn names(&self) -> &[String] {
        &self.0
    }
}

#[derive(Clone, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
pub struct ShapeMapping {
    pub shape: Shape,
    /// The mapping of these members.
    pub fields: FieldMapping,
}

/// The mappings that the user made.
#[derive(Clone, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
pub struct Mappings {
    /// One mapping per shape, the most recent last.
    list: Vec<ShapeMapping>,
    /// The mapping for every shape.
    #[serde(default)]
    all: Option<FieldMapping>,
}

impl Mappings {
    /// The maximum number of stored mappings; the oldest are dropped.
    pub const MOST: usize = 100;

    /// One mapping for records of every shape.
    pub fn for_all(fields: FieldMapping) -> Mappings {
        Mappings {
            list: Vec::new(),
            all: Some(fields),
        }
    }

    /// The stored mappings.
    pub fn list(&self) -> &[ShapeMapping] {
        &self.list
    }

    /// The mapping of a shape, otherwise the mapping for every shape.
    pub fn get(&self, shape: &Shape) -> Option<&FieldMapping> {
        let known = self.list.iter().find(|known| known.shape == *shape);
        known.map(|known| &known.fields).or(self.all.as_ref())
    }

    /// Stores a mapping, replacing that of the same shape.
    pub fn remember(&mut self, shape: Shape, fields: FieldMapping) {
        self.forget(&shape);
        self.list.push(ShapeMapping { shape, fields });
        let old = self.list.len().saturating_sub(Mappings::MOST);
        self.list.drain(..old);
    }

    /// Forgets the mapping of a shape.
    pub fn forget(&mut self, shape: &Shape) {
        self.list.retain(|known| known.shape != *shape);
    }

    /// The usable mapping of a document; `None` if there is none.
    pub(super) fn of(&self, document: &Document) -> Option<&FieldMapping> {
        if self.list.is_empty() && self.all.is_none() {
            return None;
        }
        let shape = Shape::of(head_of(document)?)?;
        self.get(&shape).filter(|fields| fields.is_usable())
    }
}

/// A file that no reader recognises, but whose members can be mapped.
#[derive(Clone, Debug, PartialEq)]
pub struct Unmapped {
    pub file: Text,
    /// The shape of its records.
    pub shape: Shape,
    /// The first record; long texts are shortened.
    pub head: Json,
}

impl Unmapped {
    /// Describes a document; `None` if it has no records with members.
    pub(super) fn of(file: &str, document: &Document) -> Option<Unmapped> {
        let head = head_of(document)?;
        Some(Unmapped {
            file: file.into(),
            shape: Shape::of(head)?,
            head: shortened(head, &mut { MOST_OF_HEAD }),
        })
    }
}

/// The first record of a document, or the value that contains the records.
fn head_of(document: &Document) -> Option<&Json> {
    let mut samples = document.samples();
    samples.find(|value| value.as_object().is_some())
}

/// The maximum size of a record in a preview, in bytes.
const MOST_OF_HEAD: usize = 1 << 16;

/// Shortens a value to at most `left` bytes of text, and long lists to a few elements.
fn shortened(value: &Json, left: &mut usize) -> Json {
    const LONGEST_TEXT: usize = 4000;
    const MOST_ELEMENTS: usize = 40;
    match value {
        Json::Text(text) => {
            let length = text.len().min(LONGEST_TEXT).min(*left);
            let end = (0..=length).rev().find(|end| text.is_char_boundary(*end));
            let end = end.unwrap_or_default();
            *left -= end;
            // Shortened JSON text would no longer be JSON.
            let is_json = || text.starts_with(['[', '{']) && text.len() <= MOST_OF_HEAD;
            if end == text.len() || is_json() {
                value.clone()
            } else {
                Json::Text(format!("{}…", &text[..end]).into())
            }
        }
        Json::List(list) => {
            let kept = list.iter().take(MOST_ELEMENTS);
            Json::List(kept.map(|one| shortened(one, left)).collect())
        }
        Json::Object(object) => {
            let pairs = object.iter();
            let pairs = pairs.map(|(key, value)| (key.clone(), shortened(value, left)));
            Json::Object(Object::from_distinct(pairs.collect()))
        }
        other => {
            *left = left.saturating_sub(8);
            other.clone()
        }
    }
}

/// A mappable member of a record.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct PathSample {
    pub path: String,
    /// A short preview of the value.
    pub sample: String,
}

/// The mappable members of a record, in order: nested ones follow their parent.
pub fn paths(record: &Json) -> Vec<PathSample> {
    let mut found = Vec::new();
    collect(record, "", 0, &mut found);
    found
}

fn collect(value: &Json, before: &str, depth: usize, found: &mut Vec<PathSample>) {
    const DEEPEST: usize = 4;
    const MOST: usize = 200;
    const LONGEST: usize = 60;
    let members: Vec<(String, &Json)> = match value {
        Json::Object(object) => {
            let pairs = object.iter();
            pairs.map(|(key, value)| (key.to_string(), value)).collect()
        }
        // Elements that are objects without roles, such as the choices of a reply.
        Json::List(list) if depth > 0 => match list.first() {
            Some(first @ Json::Object(_)) if !is_said(first) => vec![("0".to_owned(), first)],
            _ => Vec::new(),
        },
        _ => Vec::new(),
    };
    for (name, value) in members {
        if found.len() >= MOST || name.is_empty() {
            return;
        }
        let path = format!("{before}{name}");
        let text = match value {
            Json::Text(text) => text.to_string(),
            Json::List(list) => format!("list of {}", list.len()),
            Json::Object(object) => format!("{} members", object.len()),
            other => other.to_compact_text(),
        };
        let mut sample: String = text.chars().take(LONGEST).collect();
        if sample.len() < text.len() {
            sample.push('…');
        }
        let before = format!("{path}.");
        found.push(PathSample { path, sample });
        if depth < DEEPEST {
            collect(value, &before, depth + 1, found);
        }
    }
}

/// The path of the list that appears to contain the records of a value, if there is one.
fn list_of_records(head: &Json) -> Option<String> {
    const HOLDS: [&str; 9] = [
        "records", "rows", "data", "results", "samples", "examples", "items", "rollouts",
        "episodes",
    ];
    let list = |name: &&&str| match head.get(name) {
        Some(Json::List(list)) => list
            .first()
            .is_some_and(|first| first.as_object().is_some() && !is_said(first)),
        _ => false,
    };
    HOLDS.iter().find(list).map(|name| (*name).to_owned())
}

/// The value at a path; JSON text is parsed.
pub(super) fn at_path(value: &Json, path: &str) -> Option<Json> {
    let found = match find(value, path) {
        Some(found) => found.clone(),
        None => find_unpacked(value, path)?,
    };
    (!found.is_null()).then_some(found)
}

/// The value at a path.
fn find<'a>(value: &'a Json, path: &str) -> Option<&'a Json> {
    let mut value = value;
    let mut rest = path;
    loop {
        if let Some(found) = value.get(rest) {
            return Some(found);
        }
        let (first, after) = match rest.split_once('.') {
            Some((first, after)) => (first, Some(after)),
            None => (rest, None),
        };
        value = match value {
            Json::List(list) => list.get(first.parse::<usize>().ok()?)?,
            value => value.get(first)?,
        };
        match after {
            Some(after) => rest = after,
            None => return Some(value),
        }
    }
}

/// The value at a path that leads through JSON text.
fn find_unpacked(value: &Json, path: &str) -> Option<Json> {
    const MOST: usize = 8;
    let ends = path.match_indices('.').map(|(end, _)| end).take(MOST);
    for end in ends {
        let Some(text @ Json::Text(_)) = find(value, &path[..end]) else {
            continue;
        };
        let inner = unpacked(text.clone());
        return find(&inner, &path[end + 1..]).cloned();
    }
    None
}

/// Removes the value at a path from a record. A value within a list or within JSON text stays.
pub(super) fn take_path(record: &mut Object, path: &str) {
    if record.remove(path).is_some() {
        return;
    }
    if let Some((first, after)) = path.split_once('.')
        && let Some(Json::Object(inner)) = record.get_mut(first)
    {
        take_path(inner, after);
        if inner.is_empty() {
            record.remove(first);
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn json(text: &str) -> Json {
        Json::parse(text).unwrap()
    }

    #[test]
    fn paths_lead_through_members_lists_dots_and_json_texts() {
        let record = json(
            r#"{"a": {"b": [{"c": 1}]}, "x.y": 2, "t": "{\"u\": {\"v\": 3}}", "n": null,
                "list": ["p", "q"]}"#,
        );
        let number = |path| at_path(&record, path).and_then(|value| value.as_i64());
        assert_eq!(number("a.b.0.c"), Some(1));
        assert_eq!(number("x.y"), Some(2));
        assert_eq!(number("t.u.v"), Some(3));
        assert_eq!(at_path(&record, "list.1"), Some("q".into()));
        for none in ["", "a.b.1.c", "a.b.c", "n", "x", "t.u.w", "a..b", "list.-1"] {
            assert_eq!(at_path(&record, none), None, "{none}");
        }
        let Json::Object(mut record) = record else {
            panic!("an object");
        };
        for path in ["a.b", "x.y", "t.u.v", "list.0", "gone"] {
            take_path(&mut record, path);
        }
        let left: Vec<&str> = record.keys().map(AsRef::as_ref).collect();
        assert_eq!(left, ["t", "n", "list"]);
    }

    #[test]
    fn names_and_values_suggest_a_mapping() {
        let record = json(
            r#"{"data": {"problem": "2 + 2?", "extra": {"problem_id": 7}}, "completions": ["4", "5"],
                "rewards": [1.0, 0.0], "step": 3, "model": {"name": "m"}}"#,
        );
        let found = FieldMapping::suggested(&record);
        let expected = FieldMapping {
            prompt: Some("data.problem".to_owned()),
            answer: Some("completions".to_owned()),
            reward: Some("rewards".to_owned()),
            task: Some("data.extra.problem_id".to_owned()),
            step: Some("step".to_owned()),
            ..FieldMapping::default()
        };
        assert_eq!(found, expected);
        let rows = json(
            r#"{"features": [], "rows": [{"row": {"chat": [{"role": "user", "content": "hi"}], "prompt": "hi"}}]}"#,
        );
        let found = FieldMapping::suggested(&rows);
        assert_eq!(found.records.as_deref(), Some("rows"));
        assert_eq!(found.messages.as_deref(), Some("row.chat"));
        assert_eq!(found.prompt, None, "the messages hold it");
        assert!(!FieldMapping::suggested(&json("[1, {}]")).is_usable());
    }

    #[test]
    fn mappings_are_remembered_by_shape() {
        let shape = |text: &str| Shape::of(&json(text)).unwrap();
        let fields = |path: &str| FieldMapping {
            prompt: Some(path.to_owned()),
            ..FieldMapping::default()
        };
        let mut mappings = Mappings::default();
        mappings.remember(shape(r#"{"a": 1, "b": 2}"#), fields("a"));
        mappings.remember(shape(r#"{"b": 3, "a": "x"}"#), fields("b"));
        assert_eq!(mappings.list().len(), 1, "the same members");
        assert_eq!(
            mappings.get(&shape(r#"{"a": 0, "b": 0}"#)),
            Some(&fields("b"))
        );
        assert_eq!(mappings.get(&shape(r#"{"a": 1}"#)), None);
        for number in 0..200 {
            mappings.remember(shape(&format!(r#"{{"m{number}": 1}}"#)), fields("m"));
        }
        assert_eq!(mappings.list().len(), Mappings::MOST);
        mappings.forget(&shape(r#"{"m199": 1}"#));
        assert_eq!(mappings.get(&shape(r#"{"m199": 1}"#)), None);
    }
}
