//! Episodes as rows of a table: columns, filters, order and groups.
//!
//! - [`filter`]: filters of rows. [`order`]: their order. [`arrange`]: both, incrementally. [`groups`]: by task, by
//!   run, by any column. [`view`]: all settings as a part of an address. [`variation`]: columns with the same value in
//!   all rows. [`cross`]: cross table of two columns. [`forks`]: rows with a common beginning. [`token_column`]: figures of
//!   recorded tokens. [`diagnostic_column`]: what is wrong in the behaviour. [`answers`]: answers of models.
//!   [`narrowing`]: rows of similar behaviour.
//!
//! Invariants: an unknown cell is [`Cell::Empty`], never zero; it passes only the filter for empty cells, and
//! comes last in either direction.

pub mod answers;
pub mod arrange;
pub mod chart;
pub mod cross;
pub mod diagnostic_column;
pub mod filter;
pub mod forks;
pub mod groups;
pub mod narrowing;
pub mod order;
mod stored;
pub mod token_column;
pub mod variation;
pub mod view;

use std::borrow::Cow;
use std::collections::BTreeMap;

use volary_core::json::{Json, Object, Text};
use volary_episode::episode::{EndingKind, Episode, Score, TaskReference};
use volary_episode::token_record::{TokenCounts, TokenRecord};

use crate::behaviour::diagnostics::{DiagnosticCounts, DiagnosticKind, diagnostics};
use crate::repetition::repeated_calls;
use crate::result::TaskOutcome;
use crate::spans::{SpanBars, spans};
use crate::timeline;
use crate::tokens::TokenFigures;
use token_column::TokenColumn;

/// The table row of an episode. Small: texts are shared with the episode.
#[derive(Clone, Debug, Default, PartialEq)]
pub struct Row {
    /// The id of the episode.
    pub id: Text,
    pub name: Text,
    pub environment: Option<Text>,
    /// The model that acted, if known.
    pub model: Option<Text>,
    /// The agent or policy that used it.
    pub agent: Option<Text>,
    pub task: Option<TaskReference>,
    /// The run: from the metadata, otherwise the file of the import.
    pub run: Option<Text>,
    /// The reward of the whole episode.
    pub reward: Option<f64>,
    /// The number of steps.
    pub steps: usize,
    /// The number of tool calls.
    pub calls: usize,
    /// The number of steps with an error, plus errors of the whole episode. `None` in rows of older versions.
    pub errors: Option<u64>,
    /// The number of calls that repeat an earlier one. `None` in rows of older versions.
    pub repeated_calls: Option<u64>,
    /// Input and output tokens.
    pub tokens: Option<u64>,
    /// The number of tokens that are recorded with the messages.
    pub recorded_tokens: Option<u64>,
    /// The number of trained tokens among them.
    pub trained_tokens: Option<u64>,
    /// Figures of the recorded tokens. `None` in rows of older versions.
    pub token_figures: Option<Box<TokenFigures>>,
    /// The number of diagnostics of each kind. `None` in rows of older versions.
    pub diagnostics: Option<Box<DiagnosticCounts>>,
    /// The number of steps beyond the shortest success of its task. It depends on other rows, so it is filled in for display
    /// ([`diagnostic_column::fill_extra_steps`]) and never stored.
    pub extra_steps: Option<u64>,
    /// The cluster of similar behaviour that it is in. Filled in for display and never stored.
    pub cluster: Option<Text>,
    /// The cost in US dollars.
    pub cost: Option<f64>,
    /// The duration in seconds.
    pub seconds: Option<f64>,
    /// The start time, in seconds since 1970 (UTC).
    pub started: Option<f64>,
    /// When generation, tools and the reward took place. `None` also in rows of older versions.
    pub spans: Option<Box<SpanBars>>,
    /// The ending, in the source's term or as "done", "truncated", "crashed", "open".
    pub outcome: Text,
    /// The ending in common terms. `None` in rows of older versions.
    pub ending: Option<EndingKind>,
    /// The tags that the user assigned.
    pub tags: Vec<Text>,
    /// Texts and labels of its notes. Notes are stored elsewhere, so notes, labels and the verdict are filled in for
    /// display and never stored.
    pub notes: Vec<Text>,
    /// The distinct labels among them.
    pub labels: Vec<Text>,
    /// The verdict of the last of these notes that has one.
    pub verdict: Option<Text>,
    /// Answers of models. Like notes, they are filled in for display and never stored.
    pub answers: Vec<answers::RowAnswer>,
    pub scores: Vec<Score>,
    /// Metadata of the source, as far as it fits into a cell.
    pub metadata: Object,
    /// How it was added to the library: "imported", "played", "evaluated".
    pub origin: Option<Text>,
    /// The time when it was added, in seconds since 1970.
    pub added: Option<f64>,
    /// The stored size in bytes.
    pub bytes: Option<u64>,
    /// The episode that it was forked from, and the last step that both share, if known.
    pub fork_of: Option<(Text, Option<u64>)>,
}

#[derive(Clone, Debug, PartialEq, Eq, Hash)]
pub enum Column {
    /// The name of the episode.
    Name,
    Environment,
    Model,
    /// The agent or policy.
    Agent,
    /// The id of the task.
    Task,
    Run,
    Reward,
    /// The number of steps.
    Steps,
    /// The number of calls.
    Calls,
    /// The number of errors.
    Errors,
    /// The number of calls that repeat an earlier one.
    RepeatedCalls,
    /// Input and output tokens.
    Tokens,
    /// The number of tokens recorded with the messages.
    RecordedTokens,
    /// The number of trained tokens among them.
    TrainedTokens,
    /// A figure of the recorded tokens.
    TokenFigure(TokenColumn),
    /// The number of diagnostics of a kind.
    Diagnostic(DiagnosticKind),
    /// The cluster of similar behaviour.
    Cluster,
    /// The cost in US dollars.
    Cost,
    /// The duration in seconds.
    Time,
    /// The start time, in seconds since 1970.
    Started,
    /// The ending.
    Outcome,
    /// The tags that the user assigned.
    Tags,
    /// The texts and labels of its notes.
    Notes,
    /// The labels of its notes.
    Labels,
    /// The verdict of its notes.
    Verdict,
    /// How it was added to the library.
    Origin,
    /// The time when it was added, in seconds since 1970.
    Added,
    /// The stored size in bytes.
    Size,
    /// A score with this name.
    Score(Text),
    /// The answers to the question with this name.
    Answer(Text),
    /// Whether the quotes of these answers hold.
    AnswerQuotes(Text),
    /// A value of the metadata, by its path of keys.
    Metadata(Vec<Text>),
}

/// The value of a row in a column.
#[derive(Clone, Debug, PartialEq)]
pub enum Cell<'a> {
    /// Unknown.
    Empty,
    Number(f64),
    /// A text; also a boolean, and lists and objects as JSON.
    Text(std::borrow::Cow<'a, str>),
    /// Several texts, each of which matches separately.
    Texts(&'a [Text]),
}

/// What precedes the number of a branch in the id of its episode.
pub const BRANCH: &str = "-branch-";

/// The metadata with the rollout that an episode was cut from, unique within its step. Its siblings have the same. The name
/// is one that no file has for something else.
pub const ROLLOUT: &str = "slime_rollout_id";

/// Which rollout an episode is of.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct RolloutOf<'a> {
    pub id: Cow<'a, str>,
    /// The number of its branch, from 1; `None` if the file names the rollout only.
    pub branch: Option<u64>,
}

impl Row {
    /// Its rollout. Branches of a rollout are episodes of their own, each with the reward of the whole.
    pub fn rollout(&self) -> RolloutOf<'_> {
        let named = self.metadata.get(ROLLOUT).filter(|named| !named.is_null());
        if let Some(named) = named {
            let step = self.metadata.get("step").map(Json::to_display);
            let (step, named) = (step.unwrap_or_default(), named.to_display());
            return RolloutOf {
                id: format!("{step}/{named}").into(),
                branch: None,
            };
        }
        let branch = self.id.rsplit_once(BRANCH).and_then(|(rollout, number)| {
            let number = number.parse().ok().filter(|number| *number > 1)?;
            Some((rollout, number))
        });
        let (id, branch) = branch.unwrap_or((&self.id, 1));
        RolloutOf {
            id: id.into(),
            branch: Some(branch),
        }
    }

    /// The row of an episode; its tags are stored separately.
    pub fn of(episode: &Episode, tags: Vec<Text>) -> Row {
        let usage = episode.usage();
        let steps = episode.steps.iter();
        let times: Option<f64> = steps.map(|step| step.seconds).sum();
        let recorded = TokenCounts::of(episode);
        let run = episode.metadata.get("run").and_then(Json::as_text).cloned();
        let file = episode.source.as_ref().map(|source| source.file.clone());
        Row {
            id: episode.id.clone(),
            name: episode.name.clone(),
            environment: episode.environment().cloned(),
            model: episode.model.clone(),
            agent: episode.policy.clone(),
            task: episode.task().cloned(),
            run: run.or(file).filter(|run| !run.is_empty()),
            reward: episode.reward(),
            steps: episode.steps.len(),
            calls: episode.calls(),
            errors: Some(timeline::errors(episode) as u64),
            repeated_calls: Some(repeated_calls(episode) as u64),
            tokens: match (usage.input, usage.output) {
                (None, None) => None,
                (input, output) => Some(input.unwrap_or(0).saturating_add(output.unwrap_or(0))),
            },
            recorded_tokens: recorded.map(|counts| counts.tokens as u64),
            trained_tokens: recorded.and_then(|counts| Some(counts.trained? as u64)),
            token_figures: recorded.and_then(|_| {
                let record = TokenRecord::of(episode)?.ok()?;
                Some(Box::new(TokenFigures::of(&record)))
            }),
            diagnostics: Some(Box::new(DiagnosticCounts::of(&diagnostics(episode)))),
            cost: usage.cost,
            seconds: episode
                .seconds
                .or(times.filter(|_| !episode.steps.is_empty())),
            started: episode.started,
            spans: episode
                .started
                .and_then(|started| SpanBars::of(&spans(episode), started))
                .map(Box::new),
            outcome: episode
                .outcome
                .clone()
                .unwrap_or_else(|| EndingKind::of(&episode.ending).as_str().into()),
            ending: Some(EndingKind::of(&episode.ending)),
            tags,
            scores: episode.scores.clone(),
            metadata: short(&episode.metadata),
            fork_of: forks::origin(episode),
            ..Row::default()
        }
    }

    /// Whether it is known not to have succeeded.
    pub fn failed(&self) -> bool {
        self.succeeded() == Some(false)
    }

    /// Whether it succeeded; `None` if that is unknown. A part of a success is none.
    pub fn succeeded(&self) -> Option<bool> {
        let outcome = TaskOutcome::of(self.reward, Some(&self.outcome), &self.scores)?;
        Some(outcome == TaskOutcome::Succeeded)
    }

    /// The value of a column.
    pub fn cell(&self, column: &Column) -> Cell<'_> {
        match column {
            Column::Name => text(&self.name),
            Column::Environment => known(self.environment.as_ref()),
            Column::Model => known(self.model.as_ref()),
            Column::Agent => known(self.agent.as_ref()),
            Column::Task => known(self.task.as_ref().map(|task| &task.id)),
            Column::Run => known(self.run.as_ref()),
            Column::Reward => number(self.reward),
            Column::Steps => number(Some(self.steps as f64)),
            Column::Calls => number(Some(self.calls as f64)),
            Column::Errors => number(self.errors.map(|errors| errors as f64)),
            Column::RepeatedCalls => number(self.repeated_calls.map(|calls| calls as f64)),
            Column::Tokens => number(self.tokens.map(|tokens| tokens as f64)),
            Column::RecordedTokens => number(self.recorded_tokens.map(|tokens| tokens as f64)),
            Column::TrainedTokens => number(self.trained_tokens.map(|tokens| tokens as f64)),
            Column::TokenFigure(column) => number(column.value(self)),
            Column::Diagnostic(kind) => number(diagnostic_column::value(*kind, self)),
            Column::Cluster => known(self.cluster.as_ref()),
            Column::Cost => number(self.cost),
            Column::Time => number(self.seconds),
            Column::Started => number(self.started),
            Column::Outcome => text(&self.outcome),
            Column::Tags if self.tags.is_empty() => Cell::Empty,
            Column::Tags => Cell::Texts(&self.tags),
            Column::Notes if self.notes.is_empty() => Cell::Empty,
            Column::Notes => Cell::Texts(&self.notes),
            Column::Labels if self.labels.is_empty() => Cell::Empty,
            Column::Labels => Cell::Texts(&self.labels),
            Column::Verdict => known(self.verdict.as_ref()),
            Column::Origin => known(self.origin.as_ref()),
            Column::Added => number(self.added),
            Column::Size => number(self.bytes.map(|bytes| bytes as f64)),
            Column::Score(name) => {
                let score = self.scores.iter().find(|score| score.name == *name);
                score.map_or(Cell::Empty, |score| json(&score.value))
            }
            Column::Answer(question) => self.answer_cell(question),
            Column::AnswerQuotes(question) => self.quotes_cell(question),
            Column::Metadata(path) => at(&self.metadata, path).map_or(Cell::Empty, json),
        }
    }
}

impl Cell<'_> {
    /// The cell as text, for files and choices.
    pub fn to_text(&self) -> String {
        match self {
            Cell::Empty => String::new(),
            Cell::Number(number) => number.to_string(),
            Cell::Text(text) => text.to_string(),
            Cell::Texts(texts) => texts.join(", "),
        }
    }
}

/// The columns that some rows have, with the number of such rows: answers, figures of tokens, diagnostics, then scores and metadata by
/// decreasing number, at most `limit` of each. Of metadata, only numbers, short texts and booleans count.
pub fn found_columns<'a>(
    rows: impl IntoIterator<Item = &'a Row, IntoIter: Clone>,
    limit: usize,
) -> Vec<(Column, usize)> {
    let rows = rows.into_iter();
    let answers = answers::found(rows.clone());
    let figures = token_column::found(rows.clone(), limit);
    let diagnostics = diagnostic_column::found(rows.clone());
    let mut counts: BTreeMap<(bool, Vec<Text>), usize> = BTreeMap::new();
    for row in rows {
        for score in &row.scores {
            *counts.entry((false, vec![score.name.clone()])).or_default() += 1;
        }
        leaves(&row.metadata, &mut Vec::new(), &mut |path| {
            *counts.entry((true, path.to_vec())).or_default() += 1;
        });
    }
    let mut found: Vec<_> = counts.into_iter().collect();
    found.sort_by_key(|(_, count)| std::cmp::Reverse(*count));
    let columns = found.into_iter().take(limit);
    let column = |((metadata, mut path), count): ((bool, Vec<Text>), usize)| match path.pop() {
        Some(name) if !metadata => (Column::Score(name), count),
        last => (
            Column::Metadata(path.into_iter().chain(last).collect()),
            count,
        ),
    };
    let found = figures.into_iter().chain(diagnostics);
    answers.chain(found).chain(columns.map(column)).collect()
}

/// The texts of a column with the number of rows that have them, the most frequent first; at most `limit`.
pub fn choices<'a>(
    rows: impl IntoIterator<Item = &'a Row>,
    column: &Column,
    limit: usize,
) -> Vec<(String, usize)> {
    let mut counts: BTreeMap<String, usize> = BTreeMap::new();
    for row in rows {
        match row.cell(column) {
            Cell::Empty => {}
            Cell::Texts(texts) => {
                texts
                    .iter()
                    .for_each(|text| *counts.entry(text.to_string()).or_default() += 1);
            }
            cell => *counts.entry(cell.to_text()).or_default() += 1,
        }
    }
    let mut found: Vec<_> = counts.into_iter().collect();
    found.sort_by_key(|(_, count)| std::cmp::Reverse(*count));
    found.truncate(limit);
    found
}

fn text(text: &str) -> Cell<'_> {
    if text.is_empty() {
        Cell::Empty
    } else {
        Cell::Text(text.into())
    }
}

fn known(value: Option<&Text>) -> Cell<'_> {
    value.map_or(Cell::Empty, |value| text(value))
}

fn number(value: Option<f64>) -> Cell<'static> {
    value
        .filter(|value| !value.is_nan())
        .map_or(Cell::Empty, Cell::Number)
}

fn json(value: &Json) -> Cell<'_> {
    match value {
        Json::Null => Cell::Empty,
        Json::Text(value) => text(value),
        Json::Integer(_) | Json::Float(_) => number(value.as_f64()),
        other => Cell::Text(other.to_compact_text().into()),
    }
}

fn at<'a>(metadata: &'a Object, path: &[Text]) -> Option<&'a Json> {
    let (first, rest) = path.split_first()?;
    rest.iter()
        .try_fold(metadata.get(first)?, |value, key| value.get(key))
}

/// The maximum depth of metadata in cells. Deeper values are only in the episode.
const DEEPEST: usize = 4;
/// The maximum length of texts and lists in cells.
const LONGEST: usize = 200;

/// The metadata that fits into cells: a hundred thousand rows are in memory at once, and metadata may contain whole
/// files.
fn short(metadata: &Object) -> Object {
    fn within(object: &Object, depth: usize) -> Object {
        const MOST: usize = 64;
        let kept = object.iter().filter_map(|(key, value)| {
            let value = match value {
                Json::Object(inner) if depth < DEEPEST => match within(inner, depth + 1) {
                    empty if empty.is_empty() => return None,
                    inner => Json::Object(inner),
                },
                Json::Null | Json::Object(_) => return None,
                Json::Text(text) if text.len() > LONGEST => return None,
                Json::List(list) if list.len() > 16 => return None,
                Json::List(_) if value.to_compact_text().len() > LONGEST => return None,
                value => value.clone(),
            };
            Some((key.clone(), value))
        });
        Object::from_pairs(kept.take(MOST).collect())
    }
    within(metadata, 1)
}

fn leaves(object: &Object, path: &mut Vec<Text>, found: &mut impl FnMut(&[Text])) {
    for (key, value) in object.iter() {
        path.push(key.as_ref().into());
        match value {
            Json::Object(inner) if path.len() < DEEPEST => leaves(inner, path, found),
            Json::Text(text) if text.len() > LONGEST => {}
            Json::Null | Json::Object(_) | Json::List(_) => {}
            _ => found(path),
        }
        path.pop();
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn agent_and_model_are_separate_columns() {
        let episode = Episode {
            policy: Some("terminus-2".into()),
            ..Episode::default()
        };
        let row = Row::of(&episode, Vec::new());
        assert_eq!(row.cell(&Column::Model), Cell::Empty);
        assert_eq!(row.cell(&Column::Agent), Cell::Text("terminus-2".into()));
    }
}
