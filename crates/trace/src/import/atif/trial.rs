//! The result of a trial, which says what its trajectories were worth.

use volary_core::json::{Json, Object, Text};
use volary_core::object;

use super::VERSION_START;
use crate::episode::{Episode, Rewards, Score, TaskReference};
use crate::import::files::Files;
use crate::import::members::reward;
use crate::import::reader::Sink;
use crate::import::{ImportOutcome, NoteLevel};

/// What the result of a trial says of its trajectories.
pub(super) struct Trial {
    task: Option<Text>,
    name: Option<Text>,
    rewards: Object,
    errors: Vec<Text>,
    result: Json,
}

pub(super) fn read(
    files: &mut Files<'_>,
    result_index: usize,
    folder: &str,
    result: &Json,
    outcome: &mut ImportOutcome,
) {
    let text = |value: &Json, key: &str| value.get(key).and_then(Json::as_text).cloned();
    let verdict = result.get("verifier_result");
    let rewards = verdict.and_then(|verdict| verdict.get("rewards"));
    let error = result
        .get("exception_info")
        .and_then(|it| text(it, "exception_message").or_else(|| text(it, "exception_type")));
    let trial = Trial {
        task: text(result, "task_name"),
        name: text(result, "trial_name"),
        rewards: match (rewards, verdict.and_then(|verdict| verdict.get("reward"))) {
            (Some(Json::Object(rewards)), _) => rewards.clone(),
            // Older ones have a single one.
            (_, Some(reward)) => object!({ "reward": (reward.clone()) }),
            _ => Object::new(),
        },
        errors: error.into_iter().collect(),
        result: result.clone(),
    };
    let mut found = false;
    for index in files.open() {
        if !files.name(index).starts_with(folder) || !starts_as_atif(files, index) {
            continue;
        }
        let Ok(read) = files.read_document(index) else {
            continue;
        };
        files.take(index);
        found = true;
        let name = files.name(index).to_owned();
        for loss in read.losses {
            outcome.note(NoteLevel::Unreadable, &name, loss);
        }
        let mut sink = Sink::new(outcome, "atif", &name);
        super::read(read.document, Some(&trial), &mut sink);
    }
    if found {
        let name = files.name(result_index).to_owned();
        files.take(result_index);
        let text = "The result of the trial; its rewards are those of the trajectory.";
        outcome.note(NoteLevel::Read, &name, text);
    }
}

fn starts_as_atif(files: &Files<'_>, index: usize) -> bool {
    let start = files.start(index);
    let mut windows = start.windows(VERSION_START.len());
    windows.any(|window| window == VERSION_START.as_bytes())
}

impl Trial {
    pub fn judge(&self, episode: &mut Episode) {
        episode.task = self.task.clone().map(|id| TaskReference {
            dataset: Text::default(),
            id,
        });
        if let Some(name) = &self.name {
            episode.name = name.clone();
        }
        let main = self.rewards.get("reward");
        let only = self
            .rewards
            .values()
            .next()
            .filter(|_| self.rewards.len() == 1);
        if let Some(reward) = main.or(only).and_then(reward) {
            episode.rewards = Rewards::Whole(reward);
        }
        let scores = self.rewards.iter().map(|(name, value)| Score {
            name: name.as_ref().into(),
            value: value.clone(),
            ..Score::default()
        });
        episode.scores.extend(scores);
        episode.errors.extend(self.errors.iter().cloned());
        episode.raw.insert("result.json", self.result.clone());
    }
}
