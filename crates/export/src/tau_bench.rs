//! tau-bench's array of results: `{task_id, reward, info, traj, trial}`, as its own scripts read it.

use std::collections::BTreeMap;

use volary_core::json::Json;
use volary_core::{Object, object};
use volary_episode::episode::{Ending, Episode};

use crate::messages_jsonl;

const TRIAL: &str = "trial";

/// The results of episodes. Episodes of the same task are numbered as its trials, in order.
pub fn to_text(episodes: &[&Episode]) -> String {
    let mut rows: Vec<Json> = Vec::with_capacity(episodes.len());
    let mut trials = BTreeMap::<String, i64>::new();
    for (index, episode) in episodes.iter().enumerate() {
        let task = task_id(episode, index);
        let trial = trials.entry(task.to_compact_text()).or_default();
        let own = trial_of(episode);
        rows.push(row(episode, task, own.unwrap_or(*trial)));
        *trial += 1;
    }
    let mut text = Json::List(rows).to_python_text_indented(2);
    text.push('\n');
    text
}

/// As in tau-bench, an episode that failed has no reward and no messages.
fn row(episode: &Episode, task: Json, trial: i64) -> Json {
    let (reward, info, messages) = match &episode.ending {
        Ending::Crashed { message } if episode.steps.is_empty() => {
            let info = object!({ "error": (message.clone()), "traceback": "" });
            (0.0, info, Json::List(Vec::new()))
        }
        _ => {
            let line = messages_jsonl::line(episode);
            let messages = line.get("messages").cloned().unwrap_or_default();
            (episode.total_reward(), info(episode), messages)
        }
    };
    object!({
        "task_id": task,
        "reward": reward,
        "info": info,
        "traj": messages,
        "trial": trial
    })
    .into()
}

fn info(episode: &Episode) -> Object {
    let mut info = episode.metadata.clone();
    info.remove(TRIAL);
    info
}

/// The number of the trial, which the reader of results stores as text.
fn trial_of(episode: &Episode) -> Option<i64> {
    let trial = episode.metadata.get(TRIAL)?;
    let text = trial.as_text().and_then(|text| text.parse().ok());
    text.or_else(|| trial.as_i64())
}

/// The number of the task, which tau-bench's scripts compare as a number.
fn task_id(episode: &Episode, index: usize) -> Json {
    let id = episode.task().and_then(|task| task.id.parse::<i64>().ok());
    id.unwrap_or_else(|| i64::try_from(index).unwrap_or(i64::MAX))
        .into()
}
