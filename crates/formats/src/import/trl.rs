//! Completions logged by TRL's trainers (`log_completions`), as JSON rows: `{step, prompt, completion, <rewards>,
//! advantage, …}`. Prompt and completion are texts, or lists of messages. Versions before June 2025 wrote no `advantage`.
//!
//! Each reward function has a column between `completion` and `advantage`, where the trainer puts other columns, too. Null
//! means that the function does not apply to a sample, so only all rows together tell which columns are rewards. The
//! trainer writes rewards as floats. A column of nulls has no type, so it is one of rewards by name only, as are whole
//! numbers, unless the file tells them from floats: tools that write `1.0` as `1` make whole numbers of rewards.
//!
//! A reward function may be called `reward`, as the reward of verifiers' results is. These do not begin with the columns
//! of this table.

use std::collections::{HashMap, HashSet};

use volary_core::json::{Json, Key, Object, Text};
use volary_episode::episode::{Ending, Episode, Rewards, Score, TaskReference};

use super::chat;
use super::describe::counted;
use super::members::{Members, keep_rest, number, unpacked};
use super::reader::{Confidence, Document, Grouping, Line, NOT_FINITE, Reader, Sink};
use super::slime;
use super::transcript::Transcript;

pub(super) struct Trl;

impl Reader for Trl {
    fn id(&self) -> &'static str {
        "trl"
    }

    fn name(&self) -> &'static str {
        "TRL completions (rows of JSON)"
    }

    fn recognise(&self, document: &Document) -> Confidence {
        if document.samples().any(is_row) {
            Confidence::Likely
        } else {
            Confidence::No
        }
    }

    /// A file has one batch of completions, and its columns are found in all of them.
    fn grouping(&self, _document: &Document) -> Grouping {
        Grouping::Whole
    }

    fn read(&self, document: Document, sink: &mut Sink<'_>) {
        let before = sink.episodes();
        let records = document.into_records();
        let columns = RewardColumns::of(&records, tells_floats(&records, sink));
        columns.report(sink);
        for Line { number, value } in records {
            let is_row = is_row(&value);
            match value {
                Json::Object(object) if is_row => row(object, number, &columns, sink),
                _ => sink.lost(format!("Line {number} is not a completion.")),
            }
        }
        let count = sink.episodes() - before;
        sink.understood(format!("TRL completions: {}.", counted(count, "episode")));
    }
}

/// The columns of the reward functions of a file.
struct RewardColumns {
    /// Their names, in the order of the file.
    names: Vec<Key>,
    /// Those in which a row has a value.
    with_values: HashSet<Key>,
}

impl RewardColumns {
    /// Finds the columns in all rows. `tells_floats`: whether whole numbers were no floats.
    fn of(rows: &[Line], tells_floats: bool) -> RewardColumns {
        let mut names = Vec::new();
        let mut kinds: HashMap<Key, ColumnKind> = HashMap::new();
        for (key, value) in rows.iter().flat_map(|row| between(&row.value)) {
            let kind = kinds.entry(key.clone()).or_insert_with(|| {
                names.push(key.clone());
                ColumnKind::Null
            });
            *kind = (*kind).max(ColumnKind::of(value));
        }
        let kind = |name: &Key| kinds.get(name).copied().unwrap_or(ColumnKind::Null);
        names.retain(|name| match kind(name) {
            ColumnKind::Integers if tells_floats => false,
            ColumnKind::Null | ColumnKind::Integers => is_reward_name(name),
            ColumnKind::Floats => true,
            ColumnKind::Other => false,
        });
        let with_values = names.iter().filter(|name| kind(name) > ColumnKind::Null);
        RewardColumns {
            with_values: with_values.cloned().collect(),
            names,
        }
    }

    fn report(&self, sink: &mut Sink<'_>) {
        let names = self.names.iter();
        for name in names.filter(|name| !self.with_values.contains(*name)) {
            sink.kept(format!(
                "The reward `{name}` is null in all rows: it is missing, not 0."
            ));
        }
    }

    /// The rewards of a row.
    fn scores(&self, row: &Object) -> Vec<Score> {
        let score = |name: &Key| {
            Some(Score {
                name: name.as_ref().into(),
                value: row.get(name)?.clone(),
                ..Score::default()
            })
        };
        self.names.iter().filter_map(score).collect()
    }

    /// The reward that counts. The trainer adds up the rewards of all functions that apply, with weights that are not in
    /// the file.
    fn counting(&self, scores: &[Score], sink: &mut Sink<'_>) -> Rewards {
        let known = scores.iter().filter_map(|score| number(&score.value));
        let known: Vec<f64> = known.collect();
        match known.as_slice() {
            [only] if self.with_values.len() == 1 => Rewards::Whole(*only),
            several => {
                let unknown = several.iter().filter(|reward| !reward.is_finite());
                unknown.for_each(|_| sink.lost(NOT_FINITE));
                Rewards::Unknown
            }
        }
    }
}

/// Whether a file tells whole numbers from floats: Parquet has types, and other files do if they have a float such as `1.0`.
fn tells_floats(rows: &[Line], sink: &Sink<'_>) -> bool {
    let is_whole = |value: &Json| matches!(value, Json::Float(float) if float.fract() == 0.0);
    let has_whole = |row: &Line| {
        let row = row.value.as_object();
        row.is_some_and(|row| row.values().any(is_whole))
    };
    sink.file().ends_with(".parquet") || rows.iter().any(has_whole)
}

/// What the values of a column are. A column is of the greatest kind of its values: `1` and `0.5` are floats.
#[derive(Clone, Copy, PartialEq, Eq, PartialOrd, Ord)]
enum ColumnKind {
    Null,
    Integers,
    Floats,
    Other,
}

impl ColumnKind {
    fn of(value: &Json) -> ColumnKind {
        match value {
            Json::Null => ColumnKind::Null,
            Json::Integer(_) => ColumnKind::Integers,
            Json::Float(_) => ColumnKind::Floats,
            _ => ColumnKind::Other,
        }
    }
}

/// Whether a column has the name of a reward function, such as `accuracy_reward`. A reward model is named after its
/// directory.
fn is_reward_name(name: &str) -> bool {
    const ENDINGS: [&str; 10] = [
        "reward",
        "rewards",
        "reward_func",
        "reward_fn",
        "reward_function",
        "reward_model",
        "score",
        "accuracy",
        "penalty",
        "punishment",
    ];
    let name = name.to_ascii_lowercase();
    ENDINGS.iter().any(|ending| name.ends_with(ending))
}

/// The columns of a row between the completion and the advantage.
fn between(row: &Json) -> impl Iterator<Item = (&Key, &Json)> {
    let columns = row.as_object().into_iter().flat_map(Object::iter);
    let after = columns.skip_while(|(key, _)| key.as_ref() != "completion");
    after
        .skip(1)
        .take_while(|(key, _)| key.as_ref() != "advantage")
}

fn is_row(value: &Json) -> bool {
    let Some(row) = value.as_object() else {
        return false;
    };
    let has = |key: &str, is: fn(&Json) -> bool| row.get(key).is_some_and(is);
    let is_said = |key| has(key, |it| it.as_text().is_some() || it.as_list().is_some());
    // Tables write NaN as null.
    let has_advantage = has("advantage", |it| it.is_null() || number(it).is_some());
    // Verifiers' results may have a step and an advantage, too.
    let is_result = || row.contains_key("reward") || row.contains_key("example_id");
    is_said("prompt")
        && is_said("completion")
        && has("step", |it| number(it).is_some())
        && if begins_as_table(row) {
            has_advantage || has_rewards_only(row)
        } else {
            row.len() == 3 || has_advantage && !is_result()
        }
}

/// Whether the columns that all tables of the trainers have are in their order.
fn begins_as_table(row: &Object) -> bool {
    const FIRST: [&str; 3] = ["step", "prompt", "completion"];
    let keys = row.keys().map(AsRef::as_ref);
    keys.filter(|key| FIRST.contains(key)).eq(FIRST)
}

/// Whether all columns after the completion are rewards, as in older tables. The trainer of distillation has none.
fn has_rewards_only(row: &Object) -> bool {
    let after = row.iter().skip_while(|(key, _)| **key != *"completion");
    let is_reward = |(key, value): (&Key, &Json)| match ColumnKind::of(value) {
        ColumnKind::Null | ColumnKind::Floats => true,
        // The index of a table is no reward.
        ColumnKind::Integers => is_reward_name(key) || key.starts_with("__index"),
        ColumnKind::Other => false,
    };
    after.skip(1).all(is_reward)
}

fn row(mut rest: Object, line: usize, columns: &RewardColumns, sink: &mut Sink<'_>) {
    let step = rest.take_step("step").unwrap_or_default();
    let scores = columns.scores(&rest);
    for score in &scores {
        rest.remove(&score.name);
    }
    let prompt = rest.take("prompt").map(unpacked).unwrap_or_default();
    let completion = rest.take("completion").map(unpacked).unwrap_or_default();
    let mut transcript = Transcript::default();
    let task = said(prompt, completion, &mut transcript);
    let mut episode = Episode {
        id: format!("{}-{line}", sink.stem()).into(),
        name: format!("Step {step}, sample {line}").into(),
        task: task.map(|id| TaskReference {
            dataset: "trl".into(),
            id,
        }),
        rewards: columns.counting(&scores, sink),
        scores,
        ending: Ending::Done,
        ..Episode::default()
    };
    episode.metadata.insert("step", step);
    for (key, value) in std::mem::take(&mut rest) {
        match value {
            Json::Null => {}
            Json::List(_) | Json::Object(_) => drop(rest.insert(key, value)),
            value => drop(episode.metadata.insert(key, value)),
        }
    }
    transcript.finish(&mut episode);
    keep_rest(&mut episode, rest, sink);
    sink.episode(episode);
}

/// Adds the messages of a prompt and of its completion, and returns the name of the task.
fn said(prompt: Json, completion: Json, transcript: &mut Transcript) -> Option<Text> {
    let (task, completion) = match (prompt, completion) {
        (Json::List(prompt), completion) => {
            (asked(without_padding(prompt), transcript), completion)
        }
        (prompt, completion @ Json::List(_)) => {
            (slime::push_prompt(transcript, &text(&prompt)), completion)
        }
        (prompt, completion) => {
            return slime::push_rollout(transcript, &text(&prompt), &text(&completion));
        }
    };
    match completion {
        Json::List(messages) => {
            let messages = chat::read_all(without_padding(messages));
            messages.for_each(|said| transcript.push(slime::with_calls(said)));
        }
        completion => slime::push_response(transcript, &text(&completion)),
    }
    task
}

/// Messages without what a table adds to the arguments of their calls: all calls of a column have the members of all of
/// them, and those that a call does not have are null.
fn without_padding(mut messages: Vec<Json>) -> Vec<Json> {
    for message in &mut messages {
        let Some(Json::List(calls)) = member(message, "tool_calls") else {
            continue;
        };
        for call in calls {
            let call = match call.get("function").and_then(Json::as_object) {
                Some(_) => member(call, "function"),
                None => Some(call),
            };
            if let Some(arguments) = call.and_then(|call| member(call, "arguments")) {
                drop_nulls(arguments);
            }
        }
    }
    messages
}

fn member<'a>(value: &'a mut Json, key: &str) -> Option<&'a mut Json> {
    match value {
        Json::Object(object) => object.get_mut(key),
        _ => None,
    }
}

/// Removes the members that are null, at any depth.
fn drop_nulls(value: &mut Json) {
    match value {
        Json::Object(object) => {
            object.retain(|_, value| !value.is_null());
            object.values_mut().for_each(drop_nulls);
        }
        Json::List(list) => list.iter_mut().for_each(drop_nulls),
        _ => {}
    }
}

fn text(value: &Json) -> Text {
    match value {
        Json::Text(text) => text.clone(),
        other => other.to_compact_text().into(),
    }
}

/// Adds the messages of a prompt, and returns the name of its task.
fn asked(messages: Vec<Json>, transcript: &mut Transcript) -> Option<Text> {
    let mut prompt = Vec::new();
    for said in chat::read_all(messages) {
        prompt.push(slime::plain(&said.message));
        transcript.observe(said);
    }
    slime::task_of(&prompt)
}
