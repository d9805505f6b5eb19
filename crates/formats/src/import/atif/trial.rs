//! Reads the result of a trial: the scores of its trajectories.
//!
//! A run may have several trajectories: subagents, and continuations after the context was summarised. It is scored
//! once as a whole, and the score belongs to the root trajectory. Trials of several steps are scored by step.

use volary_core::json::{Json, Object, Text};
use volary_core::object;
use volary_episode::episode::{Episode, Rewards, Score, TaskReference};

use super::VERSION_START;
use crate::import::files::Files;
use crate::import::members::{reward, text_at};
use crate::import::reader::Sink;
use crate::import::{ImportOutcome, NoteLevel, links};

/// The result of a trial, or of a step of it.
struct Verdict {
    rewards: Object,
    errors: Vec<Text>,
}

impl Verdict {
    fn read(result: &Json) -> Verdict {
        let verdict = result.get("verifier_result");
        let rewards = verdict.and_then(|verdict| verdict.get("rewards"));
        let error = result.get("exception_info").and_then(|it| {
            text_at(it, &["exception_message"]).or_else(|| text_at(it, &["exception_type"]))
        });
        Verdict {
            rewards: match (rewards, verdict.and_then(|verdict| verdict.get("reward"))) {
                (Some(Json::Object(rewards)), _) => rewards.clone(),
                // Older trials have a single reward.
                (_, Some(reward)) => object!({ "reward": (reward.clone()) }),
                _ => Object::new(),
            },
            errors: error.into_iter().collect(),
        }
    }

    fn judge(&self, episode: &mut Episode) {
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
    }
}

/// Reads the trajectories of a trial; `folder` contains its result.
pub(super) fn read(
    files: &mut Files<'_>,
    result_index: usize,
    folder: &str,
    result: &Json,
    outcome: &mut ImportOutcome,
) {
    let before = outcome.episodes.len();
    let mut found = false;
    for index in files.below(folder) {
        if !starts_as_atif(files, index) {
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
        super::read(read.document, &mut sink);
    }
    if found {
        let name = files.name(result_index).to_owned();
        files.take(result_index);
        let text = "The result of the trial. Its rewards are used for the trajectory.";
        outcome.note(NoteLevel::Read, &name, text);
    }
    judge(
        outcome.episodes.get_mut(before..).unwrap_or_default(),
        folder,
        result,
    );
}

fn starts_as_atif(files: &Files<'_>, index: usize) -> bool {
    let start = files.start(index);
    let mut windows = start.windows(VERSION_START.len());
    windows.any(|window| window == VERSION_START.as_bytes())
}

fn judge(episodes: &mut [Episode], folder: &str, result: &Json) {
    let task = text_at(result, &["task_name"]);
    let name = text_at(result, &["trial_name"]);
    let followers = links::followers(episodes);
    // If the trajectories form a cycle, the first one counts as the root.
    let all_follow = followers.len() == episodes.len();
    let whole = Verdict::read(result);
    for (index, episode) in episodes.iter_mut().enumerate() {
        episode.task = task.clone().map(|id| TaskReference {
            dataset: Text::default(),
            id,
        });
        if followers.contains(&index) && !(all_follow && index == 0) {
            continue;
        }
        let step = step_of(episode, folder);
        let own = step.as_deref().and_then(|step| result_of(result, step));
        if let Some(name) = &name {
            episode.name = match &step {
                Some(step) => format!("{name}, {step}").into(),
                None => name.clone(),
            };
        }
        own.as_ref().unwrap_or(&whole).judge(episode);
        episode.raw.insert("result.json", result.clone());
    }
}

/// The step of a trial to which an episode belongs: its output is in a folder of that name.
fn step_of(episode: &Episode, folder: &str) -> Option<Text> {
    let file = &episode.source.as_ref()?.file;
    let below = file.strip_prefix(folder)?.strip_prefix("steps/")?;
    let (step, _) = below.split_once('/')?;
    Some(step.into())
}

/// The result of a step of a trial.
fn result_of(result: &Json, step: &str) -> Option<Verdict> {
    let results = result.get("step_results")?.as_list()?.iter();
    let mut own =
        results.filter(|one| text_at(one, &["step_name"]).is_some_and(|name| &*name == step));
    own.next().map(Verdict::read)
}
