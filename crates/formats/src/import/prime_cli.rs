//! Evaluations of Prime Intellect's command-line tool: the file that `prime eval push` accepts,
//! `{model_name, results: [rollout]}`, and the reply of `prime eval samples --output json`, `{samples: [rollout]}`.
//! Rollouts are those of verifiers, or have the members `input`, `output` and `score`. What `prime eval export` writes is
//! read by the readers of Inspect and verifiers.

use volary_core::json::{Json, Object, Text};
use volary_episode::episode::Episode;

use super::describe::counted;
use super::members::Members;
use super::reader::{Confidence, Document, Reader, Sink};
use super::verifiers;

pub(super) struct PrimeCli;

/// The members with the rollouts.
const LISTS: [&str; 2] = ["results", "samples"];

/// Members of the platform's rollouts, with the names that verifiers uses.
const NAMES: [(&str, &str); 3] = [
    ("input", "prompt"),
    ("output", "completion"),
    ("score", "reward"),
];

impl Reader for PrimeCli {
    fn id(&self) -> &'static str {
        "prime-cli"
    }

    fn name(&self) -> &'static str {
        "Evaluations of prime (JSON)"
    }

    fn recognise(&self, document: &Document) -> Confidence {
        let Document::Value(value) = document else {
            return Confidence::No;
        };
        let is_run = ["model_name", "eval_name", "total", "page"]
            .iter()
            .any(|key| value.get(key).is_some());
        let is_rollout = |row: &Json| {
            let has = |key| row.get(key).is_some();
            has("example_id")
                && (has("prompt") && has("completion") || has("input") && has("output"))
        };
        let rows = LISTS.iter().find_map(|key| value.get(key)?.as_list());
        match rows.and_then(<[Json]>::first) {
            Some(row) if is_run && is_rollout(row) => Confidence::Certain,
            _ => Confidence::No,
        }
    }

    fn read(&self, document: Document, sink: &mut Sink<'_>) {
        let Document::Value(Json::Object(mut about)) = document else {
            return;
        };
        let Some(rows) = LISTS.iter().find_map(|key| about.take_list(key)) else {
            return;
        };
        let mut total = 0;
        for (number, row) in (1..).zip(rows) {
            let Json::Object(row) = row else {
                sink.lost(format!("Result {number} is not an object."));
                continue;
            };
            for mut episode in verifiers::rollout(as_verifiers(row), number, sink) {
                total += 1;
                add_run(&mut episode, &about);
                sink.episode(episode);
            }
        }
        sink.understood(format!("prime evaluation: {}.", counted(total, "episode")));
    }
}

/// Renames members; those of verifiers take precedence.
fn as_verifiers(mut row: Object) -> Object {
    for (theirs, ours) in NAMES {
        if !row.contains_key(ours)
            && let Some(value) = row.remove(theirs)
        {
            row.insert(ours, value);
        }
    }
    row
}

fn add_run(episode: &mut Episode, about: &Object) {
    let text = |key: &str| -> Option<Text> { about.get(key).and_then(Json::as_text).cloned() };
    let environment = text("env").or_else(|| text("dataset"));
    episode.model = text("model_name").or(episode.model.take());
    if let (Some(task), Some(environment)) = (&mut episode.task, &environment) {
        task.dataset = environment.clone();
    }
    episode.environment = environment.or(episode.environment.take());
    episode.metadata.insert("run_info", about.clone());
}
