//! Episodes as rows of a data set: one object for each, with messages, reward, task, metadata, and the recorded tokens
//! with mask and streams. The same rows are written as JSON Lines and as Parquet.
//!
//! - A stream is a list with a value for each token. Its column has the name of the stream, after [`STREAM`] if a row
//!   has another member of that name.
//! - `steps` has the positions of the actions among the messages, `token_parts` the range of the tokens of each message,
//!   `rewards` those of the steps if each step has one.
//! - Objects without a common shape (`metadata`, `scores`, `tools`, content in blocks) are JSON texts.
//!
//! Invariants: the member [`MARK`] identifies a row; [`RowShape::columns`] lists every member of the rows whose episodes
//! were added to the shape; a gap in a stream is null, NaN stays NaN.

use std::collections::BTreeMap;

use volary_analysis::training::step_of_metadata;
use volary_core::json::{Json, Key, Object, Text};
use volary_core::tool::wire::ToolDumpOptions;
use volary_core::{TokenStream, object};
use volary_episode::episode::{Ending, EndingKind, Episode, Rewards, StepRecord};
use volary_episode::token_record::{TokenPart, TokenRecord};

use super::parts::count;
use crate::messages_jsonl;

/// The member that identifies a row. Its value is the version of the format.
pub const MARK: &str = "volary_rows";
/// What precedes the name of a stream if a row has another member of that name.
pub const STREAM: &str = "stream/";
/// Flags of token records in `token_flags`.
pub const UNDIVIDED: &str = "undivided";
/// See [`UNDIVIDED`].
pub const RECONSTRUCTED: &str = "reconstructed";

const VERSION: i64 = 1;

/// A column of a table of rows.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct RowColumn {
    pub name: Text,
    /// The type in Arrow's notation, such as `list<int32>`.
    pub kind: &'static str,
}

/// The members that every row has, with their types, as far as they do not depend on the episodes.
const COLUMNS: [(&str, &str); 27] = [
    (MARK, "int32"),
    ("id", "string"),
    ("name", "string"),
    ("dataset", "string"),
    ("task", "string"),
    ("environment", "string"),
    ("model", "string"),
    ("agent", "string"),
    ("step", "int64"),
    ("group", "string"),
    ("sample", "string"),
    ("reward", "double"),
    ("rewards", "list<double>"),
    ("scores", "string"),
    ("ending", "string"),
    ("ending_reason", "string"),
    ("outcome", "string"),
    ("errors", "list<string>"),
    ("messages", MESSAGES),
    ("steps", "list<int32>"),
    ("tools", "string"),
    ("input_tokens", "int64"),
    ("output_tokens", "int64"),
    ("cost", "double"),
    ("started", "double"),
    ("seconds", "double"),
    ("metadata", "string"),
];

/// The members of rows with tokens.
const TOKEN_COLUMNS: [(&str, &str); 5] = [
    ("tokens", "list<int64>"),
    ("loss_mask", "list<int8>"),
    ("prompt_length", "int32"),
    (
        "token_parts",
        "list<struct<message: int32, start: int32, end: int32>>",
    ),
    ("token_flags", "list<string>"),
];

const MESSAGES: &str = "list<struct<role: string, content: string, reasoning_content: string, \
    tool_calls: list<struct<id: string, type: string, function: struct<name: string, arguments: string>>>, \
    tool_call_id: string, name: string>>";
/// With content in blocks.
const MESSAGES_IN_BLOCKS: &str = "list<struct<role: string, content: string, content_json: string, reasoning_content: string, \
    tool_calls: list<struct<id: string, type: string, function: struct<name: string, arguments: string>>>, \
    tool_call_id: string, name: string>>";

/// What a table needs to know of its episodes before their rows can be written.
#[derive(Clone, Debug, Default)]
pub struct RowShape {
    has_tokens: bool,
    has_blocks: bool,
    has_large_ids: bool,
    /// The names of the streams, and whether 32 bits lose digits of their values.
    streams: BTreeMap<Text, bool>,
}

impl RowShape {
    /// Adds an episode that will have a row.
    pub fn add(&mut self, episode: &Episode) {
        let is_block = |message: &volary_core::AnyMessage| message.body().content_is_json_str;
        self.has_blocks = self.has_blocks || episode.messages().any(is_block);
        let Some(Ok(record)) = TokenRecord::of(episode) else {
            return;
        };
        self.has_tokens = true;
        let is_large = |id: &u32| i32::try_from(*id).is_err();
        self.has_large_ids = self.has_large_ids || record.strip.ids().iter().any(is_large);
        for (name, stream) in record.strip.streams() {
            let is_double = self.streams.entry(name.clone()).or_default();
            *is_double = *is_double || !fits_32_bits(stream);
        }
    }

    /// The columns of the table, in order.
    pub fn columns(&self) -> Vec<RowColumn> {
        let column = |(name, kind): (&str, &'static str)| RowColumn {
            name: name.into(),
            kind: match name {
                "messages" if self.has_blocks => MESSAGES_IN_BLOCKS,
                "tokens" if !self.has_large_ids => "list<int32>",
                _ => kind,
            },
        };
        let fixed = COLUMNS.into_iter().map(column);
        let tokens = TOKEN_COLUMNS.into_iter().map(column);
        let streams = self.streams.iter().map(|(name, is_double)| RowColumn {
            name: column_of(name),
            kind: if *is_double {
                "list<double>"
            } else {
                "list<float>"
            },
        });
        let tokens = tokens.chain(streams).filter(|_| self.has_tokens);
        fixed.chain(tokens).collect()
    }
}

/// Whether 32-bit numbers hold the values: exactly, or in the decimal digits that identify them.
fn fits_32_bits(stream: &TokenStream) -> bool {
    stream.iter().flatten().all(|value| {
        #[allow(
            clippy::cast_possible_truncation,
            reason = "the loss is what is checked"
        )]
        let short = value as f32;
        !value.is_finite() || f64::from(short) == value || short.to_string().parse() == Ok(value)
    })
}

/// The member of a stream.
fn column_of(stream: &str) -> Text {
    let is_taken = COLUMNS
        .iter()
        .chain(&TOKEN_COLUMNS)
        .any(|(name, _)| *name == stream);
    if is_taken || stream.is_empty() || stream.starts_with(STREAM) {
        format!("{STREAM}{stream}").into()
    } else {
        stream.into()
    }
}

/// The lines of the episodes, each with a trailing line break. NaN and infinities are written as Python does.
pub fn to_text<'a>(episodes: impl IntoIterator<Item = &'a Episode>) -> String {
    let mut text = String::new();
    for episode in episodes {
        let mut row = row(episode);
        row.retain(|_, value| !value.is_null());
        Json::Object(row).write_python_text(&mut text);
        text.push('\n');
    }
    text
}

/// The row of an episode.
pub fn row(episode: &Episode) -> Object {
    let usage = episode.usage();
    let text = |text: Option<&Text>| text.cloned().map_or(Json::Null, Json::from);
    let number = |number: Option<f64>| number.map_or(Json::Null, Json::from);
    let noted = |key: &str| match episode.metadata.get(key) {
        None | Some(Json::Null) => Json::Null,
        Some(value) => value.to_display().into(),
    };
    let task = episode.task();
    let (messages, steps) = messages(episode);
    let mut row = object!({
        MARK: VERSION,
        "id": (episode.id.clone()),
        "name": (episode.name.clone()),
        "dataset": (text(task.map(|task| &task.dataset))),
        "task": (text(task.map(|task| &task.id))),
        "environment": (text(episode.environment())),
        "model": (text(episode.model.as_ref())),
        "agent": (text(episode.policy.as_ref())),
        "step": (step_of_metadata(&episode.metadata).map_or(Json::Null, Json::from)),
        "group": (noted("group")),
        "sample": (noted("sample")),
        "reward": (number(episode.reward())),
        "rewards": (rewards(episode)),
        "scores": (scores(episode)),
        "ending": (EndingKind::of(&episode.ending).as_str()),
        "ending_reason": (reason(&episode.ending)),
        "outcome": (text(episode.outcome.as_ref())),
        "errors": (list(episode.errors.iter().cloned())),
        "messages": messages,
        "steps": steps,
        "tools": (tools(episode)),
        "input_tokens": (usage.input.map_or(Json::Null, count)),
        "output_tokens": (usage.output.map_or(Json::Null, count)),
        "cost": (number(usage.cost)),
        "started": (number(episode.started)),
        "seconds": (number(episode.seconds)),
        "metadata": (packed(Json::Object(episode.metadata.clone()), episode.metadata.is_empty()))
    });
    if let Some(Ok(record)) = TokenRecord::of(episode) {
        put_tokens(&mut row, &record, episode);
    }
    row
}

/// The messages, and the positions of the actions among them.
fn messages(episode: &Episode) -> (Vec<Json>, Vec<i64>) {
    let mut messages: Vec<Json> = Vec::new();
    let mut steps = Vec::new();
    let start = episode.start.iter().map(messages_jsonl::message);
    messages.extend(start.map(|message| shaped(message, None)));
    for step in &episode.steps {
        steps.push(i64::try_from(messages.len()).unwrap_or(i64::MAX));
        let action = messages_jsonl::message(&step.action);
        messages.push(shaped(action, step.details.reasoning.as_ref()));
        let observed = messages_jsonl::observed(step).into_iter();
        messages.extend(observed.map(|message| shaped(message, None)));
    }
    (messages, steps)
}

/// A message with content as a text.
fn shaped(message: Json, reasoning: Option<&Text>) -> Json {
    let Json::Object(mut message) = message else {
        return message;
    };
    let content = message.remove("content").unwrap_or_default();
    let (content, blocks) = match content {
        content @ (Json::Null | Json::Text(_)) => (content, None),
        blocks => (Json::Null, Some(blocks.to_compact_text())),
    };
    message.insert("content", content);
    if let Some(blocks) = blocks {
        message.insert("content_json", blocks);
    }
    if let Some(reasoning) = reasoning {
        message.insert("reasoning_content", reasoning.clone());
    }
    message.into()
}

/// The rewards of the steps; null if they have none, and for a step that failed.
fn rewards(episode: &Episode) -> Json {
    match episode.rewards {
        Rewards::Steps => {
            let rewards = episode.steps.iter().map(StepRecord::reward);
            list(rewards.map(|reward| reward.map_or(Json::Null, Json::from)))
        }
        Rewards::Whole(_) | Rewards::Unknown => Json::Null,
    }
}

fn scores(episode: &Episode) -> Json {
    let scores = episode.scores.iter().map(|score| {
        let mut written = object!({"name": (score.name.clone()), "value": (score.value.clone())});
        if let Some(explanation) = &score.explanation {
            written.insert("explanation", explanation.clone());
        }
        written
    });
    packed(list(scores), episode.scores.is_empty())
}

fn tools(episode: &Episode) -> Json {
    let tools = episode.tools.iter();
    let tools = tools.map(|tool| tool.dump(ToolDumpOptions::WIRE));
    packed(list(tools), episode.tools.is_empty())
}

fn reason(ending: &Ending) -> Json {
    match ending {
        Ending::Open | Ending::Done => Json::Null,
        Ending::Truncated { reason } => reason.clone().into(),
        Ending::Crashed { message } => message.clone().into(),
    }
}

fn list(values: impl Iterator<Item = impl Into<Json>>) -> Json {
    Json::List(values.map(Into::into).collect())
}

/// A value as JSON text; null for an empty one.
fn packed(value: Json, is_empty: bool) -> Json {
    if is_empty {
        Json::Null
    } else {
        value.to_python_text().into()
    }
}

fn put_tokens(row: &mut Object, record: &TokenRecord, episode: &Episode) {
    let size = |size: usize| Json::from(i64::try_from(size).unwrap_or(i64::MAX));
    let strip = &record.strip;
    row.insert("tokens", list(strip.ids().iter().map(|id| i64::from(*id))));
    let mask = strip.mask().iter().map(|is_trained| i64::from(*is_trained));
    let mask = if record.is_mask_known {
        list(mask)
    } else {
        Json::Null
    };
    row.insert("loss_mask", mask);
    row.insert("prompt_length", size(record.prompt));
    // The position of the first message of the start and of each step.
    let mut first = vec![0, episode.start.len()];
    for step in &episode.steps {
        let last = first.last().copied().unwrap_or_default();
        first.push(last + 1 + messages_jsonl::observed(step).len());
    }
    let part = |part: &TokenPart| {
        let message = first.get(part.step).copied().unwrap_or_default() + part.message;
        object!({
            "message": (size(message)),
            "start": (size(part.range.start)),
            "end": (size(part.range.end))
        })
    };
    row.insert("token_parts", list(record.parts.iter().map(part)));
    let flags = [
        (UNDIVIDED, !record.is_divided),
        (RECONSTRUCTED, record.is_reconstructed),
    ];
    let flags = flags.into_iter().filter(|(_, is_on)| *is_on);
    row.insert("token_flags", list(flags.map(|(flag, _)| flag)));
    for (name, stream) in strip.streams() {
        let values = stream.iter();
        let values = list(values.map(|value| value.map_or(Json::Null, Json::Float)));
        row.insert(Key::from(column_of(name).to_string()), values);
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_stream_never_takes_the_place_of_a_member() {
        for (name, column) in [
            ("entropy", "entropy"),
            ("tokens", "stream/tokens"),
            ("stream/tokens", "stream/stream/tokens"),
            ("", "stream/"),
        ] {
            assert_eq!(&*column_of(name), column);
        }
    }

    #[test]
    fn streams_have_32_bits_unless_digits_would_be_lost() {
        let fits = |values: &[f64]| fits_32_bits(&values.iter().copied().collect());
        assert!(fits(&[0.1, -1.5, f64::NAN, f64::from(0.3_f32)]));
        assert!(!fits(&[0.1, 0.123_456_789_012]));
        assert!(!fits(&[1e300]));
    }
}
