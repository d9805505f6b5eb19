//! The file format of annotations.
//!
//! ```text
//! {"format": "volary-annotations", "version": 1, "annotations": [
//!   {"id", "episode", "at", "text", "label"?, "verdict"?: "good" | "bad" | "unsure", "author",
//!    "changed", "revision", "deleted"?: true}]}
//! ```
//!
//! `at` is null for the whole episode, `{"step"}`, `{"step", "message", "part", "index", "start", "end",
//! "quote"}` for a passage, `{"frame", "root", "path": [key or index]}` for a part of the state. Unknown
//! members are preserved.

use volary_core::json::{Json, Key, Text};
use volary_core::object;
use volary_episode::diff::Segment;
use volary_episode::history::{Root, StatePath};
use volary_episode::native::Misfit;
use volary_episode::native::node::{Fault, Node};
use volary_episode::passages::{TextPart, TextPosition};

use super::{Annotation, Annotations, MOST_REVISIONS, Target, Verdict};

/// The value of `format`.
pub const FORMAT: &str = "volary-annotations";

/// The version that is written, and the newest one that can be read.
pub const VERSION: i64 = 1;

/// Error reading an annotations file.
#[derive(Clone, Debug, PartialEq, thiserror::Error)]
#[non_exhaustive]
pub enum SidecarError {
    /// The file is not JSON.
    #[error("This is not valid JSON: {error}.")]
    NotJson {
        /// The error and its position.
        error: volary_core::json::ReadError,
    },
    /// `format` has another value.
    #[error("This is not an annotation file: it lacks \"format\": \"{FORMAT}\".")]
    OtherFormat,
    /// The file was written by a later version of Volary.
    #[error(
        "These annotations have version {version}; the newest supported version is {VERSION}. A \
         newer Volary can open them."
    )]
    Newer {
        /// The version of the file.
        version: i64,
    },
    /// The file does not match the format.
    #[error(transparent)]
    Misfit(#[from] Box<Misfit>),
}

/// The result of reading a file.
#[derive(Clone, Debug, Default, PartialEq)]
pub struct SidecarReading {
    pub annotations: Annotations,
    /// The reasons for the annotations that could not be read.
    pub faults: Vec<Misfit>,
}

/// Serializes all annotations as the text of a file, including tombstones.
pub fn to_text(annotations: &Annotations) -> String {
    let all = annotations.by_id.values().map(annotation_to_json);
    let file = object!({
        "format": FORMAT,
        "version": VERSION,
        "annotations": (all.collect::<Vec<_>>())
    });
    Json::Object(file).to_python_text_indented(2)
}

/// Parses a file. Invalid annotations do not affect the others.
pub fn read(text: &str) -> Result<SidecarReading, SidecarError> {
    let text = text.strip_prefix('\u{feff}').unwrap_or(text);
    let value = Json::parse(text).map_err(|error| SidecarError::NotJson { error })?;
    let format = value.get("format").and_then(Json::as_text);
    if format.is_none_or(|format| &**format != FORMAT) {
        return Err(SidecarError::OtherFormat);
    }
    let node = Node::root(&value);
    let version = value.get("version").and_then(Json::as_i64);
    match version {
        Some(version) if version > VERSION => return Err(SidecarError::Newer { version }),
        Some(_) => {}
        None => return Err(node.refuse("lacks a whole number \"version\"").into()),
    }
    let read = node.member("annotations", |node| node.each(|node| Ok(annotation(node))))?;
    let mut reading = SidecarReading::default();
    let mut annotations = Vec::new();
    for result in read {
        match result {
            Ok(annotation) => annotations.push(annotation),
            Err(fault) => reading.faults.push(*fault),
        }
    }
    reading.annotations = annotations.into_iter().collect();
    Ok(reading)
}

/// Serializes all annotations as lines of JSON, including tombstones. Lines can be appended to others.
pub fn to_lines(annotations: &Annotations) -> String {
    let all = annotations.by_id.values();
    let lines = all.map(|annotation| annotation_to_json(annotation).to_compact_text() + "\n");
    lines.collect()
}

/// The result of reading lines.
#[derive(Clone, Debug, Default, PartialEq)]
pub struct LinesReading {
    pub annotations: Annotations,
    /// The number of lines that could not be read.
    pub damaged: usize,
}

/// Parses lines. Of several versions of an annotation the latest wins, and damaged lines do not affect the others.
pub fn read_lines(text: &str) -> LinesReading {
    let mut reading = LinesReading::default();
    let mut annotations = Vec::new();
    for line in text.lines().filter(|line| !line.trim().is_empty()) {
        let value = Json::parse(line).ok();
        match value.and_then(|value| annotation(Node::root(&value)).ok()) {
            Some(annotation) => annotations.push(annotation),
            None => reading.damaged += 1,
        }
    }
    reading.annotations = annotations.into_iter().collect();
    reading
}

/// Orders two versions of an annotation: the greater one wins. Includes the whole contents, so that different versions
/// never compare equal.
pub(super) fn rank(annotation: &Annotation) -> (u64, u64, String) {
    // Times are positive, and the bits of positive floats sort like their values.
    let changed = annotation.changed.max(0.0).to_bits();
    let text = annotation_to_json(annotation).to_compact_text();
    (annotation.revision, changed, text)
}

fn annotation_to_json(annotation: &Annotation) -> Json {
    let mut object = object!({
        "id": (annotation.id.clone()),
        "episode": (annotation.episode.clone()),
        "at": (target_to_json(&annotation.target)),
        "text": (annotation.text.clone())
    });
    if let Some(label) = &annotation.label {
        object.insert("label", label.clone());
    }
    if let Some(verdict) = annotation.verdict {
        object.insert("verdict", verdict.as_str());
    }
    object.insert("author", annotation.author.clone());
    object.insert("changed", annotation.changed);
    object.insert("revision", count(annotation.revision));
    if annotation.deleted {
        object.insert("deleted", true);
    }
    for (key, value) in annotation.extras.iter() {
        if !object.contains_key(key) {
            object.insert(key.clone(), value.clone());
        }
    }
    object.into()
}

fn annotation(node: Node<'_>) -> Result<Annotation, Fault> {
    const KNOWN: [&str; 10] = [
        "id", "episode", "at", "text", "label", "verdict", "author", "changed", "revision",
        "deleted",
    ];
    let text = |key| node.optional(key, |node| node.text());
    Ok(Annotation {
        id: node.member("id", |node| node.text())?,
        episode: node.member("episode", |node| node.text())?,
        target: node.optional("at", target)?.unwrap_or_default(),
        text: text("text")?.unwrap_or_default(),
        label: text("label")?,
        verdict: node.optional("verdict", verdict)?,
        author: text("author")?.unwrap_or_default(),
        changed: node.optional("changed", moment)?.unwrap_or_default(),
        revision: node.optional("revision", revision)?.unwrap_or_default(),
        deleted: node
            .optional("deleted", |node| node.boolean())?
            .unwrap_or_default(),
        extras: node.unknown(&KNOWN)?.into_iter().collect(),
    })
}

/// A non-negative integer. Values above the maximum are clamped to it.
fn revision(node: Node<'_>) -> Result<u64, Fault> {
    match node.value() {
        Json::Integer(count) => match count.to_i64() {
            Some(count) => u64::try_from(count)
                .map(|count| count.min(MOST_REVISIONS))
                .map_err(|_| node.refuse("must be a whole number, not negative")),
            None => Ok(MOST_REVISIONS),
        },
        _ => Err(node.refuse("must be a whole number, not negative")),
    }
}

fn moment(node: Node<'_>) -> Result<f64, Fault> {
    let seconds = node.number()?;
    if seconds.is_finite() && seconds >= 0.0 {
        Ok(seconds)
    } else {
        Err(node.refuse("must be a number of seconds since 1970"))
    }
}

fn verdict(node: Node<'_>) -> Result<Verdict, Fault> {
    let name = node.text()?;
    let found = Verdict::ALL
        .into_iter()
        .find(|verdict| verdict.as_str() == &*name);
    found.ok_or_else(|| node.refuse("must be \"good\", \"bad\" or \"unsure\""))
}

/// Revisions are far below 2^63.
fn count(count: u64) -> i64 {
    i64::try_from(count).unwrap_or(i64::MAX)
}

fn target_to_json(target: &Target) -> Json {
    let number = |number: usize| count(number as u64);
    let object = match target {
        Target::Episode => return Json::Null,
        Target::Step { step } => object!({ "step": (number(*step)) }),
        Target::Passage {
            position,
            start,
            end,
            quote,
        } => {
            let (part, index) = part_name(position.part);
            object!({
                "step": (number(position.step)),
                "message": (number(position.message)),
                "part": part,
                "index": (number(index)),
                "start": (number(*start)),
                "end": (number(*end)),
                "quote": (quote.clone())
            })
        }
        Target::State { frame, part } => {
            let path = part.path.iter().map(|segment| match segment {
                Segment::Key(key) => Json::from(key.as_ref()),
                Segment::Index(index) => Json::from(number(*index)),
            });
            let root = match part.root {
                Root::State => "state",
                Root::Info => "info",
            };
            object!({ "frame": (number(*frame)), "root": root, "path": (path.collect::<Vec<_>>()) })
        }
    };
    object.into()
}

fn target(node: Node<'_>) -> Result<Target, Fault> {
    let object = node.object()?;
    let number = |key| node.member(key, |node| node.count());
    if object.contains_key("path") {
        return Ok(Target::State {
            frame: number("frame")?,
            part: StatePath {
                root: node.optional("root", root)?.unwrap_or_default(),
                path: node.member("path", |node| node.each(segment))?,
            },
        });
    }
    let step = number("step")?;
    if !object.contains_key("part") {
        return Ok(Target::Step { step });
    }
    let index = node
        .optional("index", |node| node.count())?
        .unwrap_or_default();
    let position = TextPosition {
        step,
        message: number("message")?,
        part: node.member("part", |node| part(node, index))?,
    };
    let (start, end) = (number("start")?, number("end")?);
    if end < start {
        return Err(node.refuse("ends before it starts"));
    }
    let quote = node
        .optional("quote", |node| node.text())?
        .unwrap_or_default();
    Ok(Target::Passage {
        position,
        start,
        end,
        quote,
    })
}

fn root(node: Node<'_>) -> Result<Root, Fault> {
    match &*node.text()? {
        "state" => Ok(Root::State),
        "info" => Ok(Root::Info),
        _ => Err(node.refuse("must be \"state\" or \"info\"")),
    }
}

fn segment(node: Node<'_>) -> Result<Segment, Fault> {
    match node.value() {
        Json::Text(key) => Ok(Segment::Key(Key::Owned(Text::to_string(key)))),
        _ => Ok(Segment::Index(node.count()?)),
    }
}

fn part_name(part: TextPart) -> (&'static str, usize) {
    match part {
        TextPart::Name => ("name", 0),
        TextPart::Reasoning => ("reasoning", 0),
        TextPart::Content => ("content", 0),
        TextPart::Call(index) => ("call", index),
        TextPart::Error(index) => ("error", index),
        TextPart::Score(index) => ("score", index),
    }
}

fn part(node: Node<'_>, index: usize) -> Result<TextPart, Fault> {
    Ok(match &*node.text()? {
        "name" => TextPart::Name,
        "reasoning" => TextPart::Reasoning,
        "content" => TextPart::Content,
        "call" => TextPart::Call(index),
        "error" => TextPart::Error(index),
        "score" => TextPart::Score(index),
        _ => return Err(node.refuse("is not one of name, reasoning, content, call, error, score")),
    })
}
