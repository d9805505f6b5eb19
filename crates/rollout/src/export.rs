//! Exports records for slime and tau-bench.

use volary_core::{Json, Object, json, object};

use crate::result::{InteractionResult, Status};

/// The position of a record in its run.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct TrialIndex {
    pub task_index: i64,
    /// The number of the trial of the task, from 0.
    pub trial: i64,
}

/// The name of the stream with the log probabilities of sampled tokens.
pub const LOG_PROBS: &str = "rollout_log_probs";

/// A `Sample` of slime.
pub fn slime_sample(result: &InteractionResult, trial: TrialIndex) -> Json {
    let strip = result.response_strip();
    let (tokens, mask) = result.tokens_and_mask();
    let length = i64::try_from(mask.len()).unwrap_or(i64::MAX);
    let mut sample = object!({
        "group_index": (trial.task_index),
        "index": (trial.task_index),
        "prompt": (result.prompt.clone()),
        "tokens": tokens,
        "response": (result.response()),
        "response_length": length,
        "reward": (result.reward),
        "loss_mask": (mask.into_iter().map(i64::from).collect::<Vec<_>>()),
        "status": (result.status().name()),
        "metadata": (result.info.clone())
    });
    if let Some(stream) = strip.streams().get(LOG_PROBS) {
        // slime writes zeros for tokens of the environment.
        let values = stream.iter().map(|value| value.unwrap_or(0.0));
        sample.insert(LOG_PROBS, values.collect::<Vec<f64>>());
    }
    if !result.weight_versions.is_empty() {
        sample.insert("weight_versions", result.weight_versions.clone());
    }
    Json::Object(sample)
}

/// An entry of tau-bench's results array. As there, a failed episode has no reward and no messages.
pub fn tau_result(result: &InteractionResult, trial: TrialIndex) -> Json {
    let (reward, info, messages) = match (result.status(), &result.stop_reason) {
        (Status::Failed, Some(reason)) => {
            let info = object!({"error": (reason.to_string()), "traceback": ""});
            (0.0, info, Vec::new())
        }
        _ => (result.reward, result.info.clone(), result.messages_json()),
    };
    let info: Object = info;
    json!({
        "task_id": (trial.task_index),
        "reward": reward,
        "info": info,
        "traj": messages,
        "trial": (trial.trial)
    })
}

/// Records, one per line.
pub fn json_lines(records: &[Json]) -> String {
    let mut out = String::new();
    for record in records {
        record.write_python_text(&mut out);
        out.push('\n');
    }
    out
}

/// Records as one array.
pub fn json_array(records: Vec<Json>) -> String {
    Json::List(records).to_python_text_indented(2)
}
