//! The token database of tinker-cookbook (`tokens/segments/*.parquet`): a row for each turn of a trajectory, `{run_id, run_attempt, split,
//! iteration, group_idx, traj_idx, step_idx, ob_tokens, ob_is_delta, ac_tokens, ac_logprobs, ob_text, ac_text, reward, total_reward,
//! final_reward, metrics, attrs, token_metrics, logs, extra, …}`, where `logs` and `extra` are JSON texts.
//!
//! The rows of a trajectory become a rollout summary, which `rollout_summaries` reads.

use std::collections::HashMap;

use volary_core::json::{Json, Object};

use super::rollout_summaries;
use crate::import::describe::counted;
use crate::import::members::{Members, unpacked};
use crate::import::reader::{Confidence, Document, Grouping, Line, Reader, Sink};

pub(in crate::import) struct TokenDb;

/// The members that all rows of a trajectory have.
const SHARED: [&str; 15] = [
    "run_id",
    "run_attempt",
    "writer_id",
    "split",
    "iteration",
    "sampling_client_step",
    "group_idx",
    "traj_idx",
    "tags",
    "env_row_id",
    "source",
    "total_reward",
    "final_reward",
    "attrs",
    "filtered_reason",
];

/// The members that identify a trajectory.
const KEY: [&str; 5] = ["run_attempt", "split", "iteration", "group_idx", "traj_idx"];

impl Reader for TokenDb {
    fn id(&self) -> &'static str {
        "tinker-cookbook-tokens"
    }

    fn name(&self) -> &'static str {
        "tinker-cookbook token database (a row for each turn)"
    }

    fn recognise(&self, document: &Document) -> Confidence {
        if document.samples().any(is_row) {
            Confidence::Likely
        } else {
            Confidence::No
        }
    }

    fn grouping(&self, _document: &Document) -> Grouping {
        Grouping::StartedBy(is_first)
    }

    fn read(&self, document: Document, sink: &mut Sink<'_>) {
        let before = sink.episodes();
        let mut trajectories: Vec<(usize, Vec<Object>)> = Vec::new();
        let mut open: HashMap<String, usize> = HashMap::new();
        for Line { number, value } in document.into_records() {
            let (is_row, is_first) = (is_row(&value), is_first(&value));
            match value {
                Json::Object(row) if is_row => {
                    let key = key(&row);
                    let known = open.get(&key).filter(|_| !is_first).copied();
                    match known.and_then(|index| trajectories.get_mut(index)) {
                        Some((_, rows)) => rows.push(row),
                        None => {
                            open.insert(key, trajectories.len());
                            trajectories.push((number, vec![row]));
                        }
                    }
                }
                _ => sink.lost(format!("Line {number} is not a turn.")),
            }
        }
        for (number, rows) in trajectories {
            rollout_summaries::summary(summary(rows), number, sink);
        }
        let count = counted(sink.episodes() - before, "episode");
        sink.understood(format!("tinker-cookbook token database: {count}."));
    }
}

fn is_row(value: &Json) -> bool {
    let has = |key| value.get(key).is_some();
    has("ob_tokens") && has("ac_tokens") && has("traj_idx") && has("step_idx")
}

fn is_first(value: &Json) -> bool {
    value.get("step_idx").and_then(Json::as_i64) == Some(0)
}

fn key(row: &Object) -> String {
    let parts = KEY.map(|key| row.get(key).map(Json::to_compact_text).unwrap_or_default());
    parts.join("\u{1f}")
}

/// The rollout summary of the rows of a trajectory.
fn summary(mut rows: Vec<Object>) -> Object {
    let mut summary = Object::new();
    if let Some(first) = rows.first() {
        for key in SHARED {
            if let Some(value) = first.get(key).filter(|value| !is_empty(value)) {
                summary.insert(key, value.clone());
            }
        }
    }
    if let Some(stop) = rows.last_mut().and_then(|last| last.take("stop_reason")) {
        summary.insert("stop_reason", stop);
    }
    let steps = rows.into_iter().map(|mut row| {
        row.retain(|key, _| !SHARED.contains(&key.as_ref()));
        for key in ["logs", "extra"] {
            if let Some(value) = row.remove(key) {
                row.insert(key, unpacked(value));
            }
        }
        row.retain(|key, value| !is_empty(value) || key.as_ref().ends_with("_tokens"));
        Json::Object(row)
    });
    let steps: Vec<Json> = steps.collect();
    summary.insert("steps", steps);
    summary
}

/// Whether a column says nothing.
fn is_empty(value: &Json) -> bool {
    match value {
        Json::Null | Json::Bool(false) => true,
        Json::Text(text) => text.is_empty(),
        Json::List(list) => list.is_empty(),
        Json::Object(object) => object.is_empty(),
        _ => false,
    }
}
