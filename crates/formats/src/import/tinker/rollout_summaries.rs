//! Rollout summaries of tinker-cookbook (`iteration_N/{train,eval_NAME}_rollout_summaries.jsonl`): lines of `{schema_version,
//! split, iteration, group_idx, traj_idx, total_reward, final_reward, trajectory_metrics, steps}`. Newer versions add `{conversation,
//! model_name, status, error_type, error_message, stop_reason}`.
//!
//! Older ones have no messages. The model's output is available only if the environment logs it under a known name; other texts
//! of the logs are about the step, such as the expected answer or why it ended.

use volary_core::json::{Json, Object, Text};
use volary_episode::episode::{Ending, Episode, Rewards, Score, TaskReference};

use super::steps;
use crate::import::chat;
use crate::import::members::{Members, keep_rest};
use crate::import::reader::{Confidence, NOT_FINITE, Sink};
use crate::import::records::Records;
use crate::import::transcript::Transcript;

pub(in crate::import) const ROLLOUT_SUMMARIES: Records = Records {
    id: "tinker-cookbook",
    name: "tinker-cookbook rollout summaries (one per line)",
    title: "tinker-cookbook rollout summaries",
    record: "a rollout summary",
    confidence: Confidence::Likely,
    is: is_summary,
    read: summary,
};

fn is_summary(value: &Json) -> bool {
    let has = |key| value.get(key).is_some();
    let steps = value.get("steps").and_then(Json::as_list);
    has("group_idx") && has("traj_idx") && has("total_reward") && steps.is_some()
}

/// Reads a summary.
pub(super) fn summary(mut rest: Object, line: usize, sink: &mut Sink<'_>) {
    let text = |rest: &mut Object, key| rest.take_id(key).unwrap_or_default();
    sink.set_version(rest.take_id("schema_version"));
    let split = text(&mut rest, "split");
    let iteration = text(&mut rest, "iteration");
    let group = text(&mut rest, "group_idx");
    let member = text(&mut rest, "traj_idx");
    let tags = rest.take_list("tags").unwrap_or_default();
    let mut names: Vec<&str> = tags
        .iter()
        .filter_map(|tag| Some(&**tag.as_text()?))
        .collect();
    names.dedup();
    let mut recorded = rest.take_list("steps").unwrap_or_default();
    let of_steps = steps::take_conversation(&mut recorded);
    let conversation = match rest.take_list("conversation") {
        Some(conversation) => {
            // Usually it has the same messages.
            if !of_steps.is_empty() && of_steps != conversation {
                rest.insert("step_conversations", of_steps);
            }
            conversation
        }
        None => of_steps,
    };
    let mut transcript = Transcript::default();
    let has_texts = !conversation.is_empty();
    chat::read_all(conversation).for_each(|said| transcript.push(said));
    // The messages may be those of several agents.
    let is_apart = has_texts && transcript.len() != recorded.len();
    let mut read = Vec::new();
    if is_apart {
        rest.insert("steps", recorded);
    } else {
        read = steps::read(recorded, sink);
    }
    if !has_texts {
        if read.iter().all(|step| step.said.is_none()) {
            sink.lost("The summaries have no texts: the steps have rewards and lengths alone.");
        }
        steps::push(&mut read, &mut transcript);
    }
    let last = rest.take_number("final_reward");
    let finite = last.filter(|reward| reward.is_finite());
    if finite != last {
        sink.lost(NOT_FINITE);
    }
    let is_rewarded = finite.is_some() || read.iter().any(|step| step.reward.is_some());
    let last = finite.unwrap_or_default();
    let sum: f64 = read.iter().filter_map(|step| step.reward).sum();
    let total = rest.take_reward("total_reward");
    let mut episode = Episode {
        id: format!("{}-{line}", sink.stem()).into(),
        name: format!("Iteration {iteration}, group {group}, trial {member}").into(),
        model: rest.take_text("model_name"),
        task: Some(TaskReference {
            dataset: if names.is_empty() {
                "tinker".into()
            } else {
                names.join(", ").into()
            },
            id: format!("{split} {iteration}, group {group}").into(),
        }),
        rewards: match total {
            Some(total) if (sum + last - total).abs() > 1e-6 || transcript.len() == 0 => {
                Rewards::Whole(total)
            }
            Some(total) if is_apart || !total.is_finite() => Rewards::Whole(total),
            None if is_apart || !is_rewarded => Rewards::Unknown,
            _ => Rewards::Steps,
        },
        ending: if read.last().is_some_and(|step| step.is_done) {
            Ending::Done
        } else {
            Ending::Open
        },
        ..Episode::default()
    };
    end(&mut rest, &mut episode);
    for (name, value) in rest.take_object("trajectory_metrics").unwrap_or_default() {
        episode.scores.push(Score {
            name: name.as_ref().into(),
            value,
            ..Score::default()
        });
    }
    if let Ok(step) = iteration.parse::<i64>() {
        // The name that other trainers give it.
        episode.metadata.insert("step", step);
    }
    let told = [("split", split), ("iteration", iteration), ("group", group)];
    for (key, value) in told {
        episode.metadata.insert(key, value);
    }
    // The last ones are those of the token database.
    const ABOUT: [&str; 9] = [
        "sampling_client_step",
        "final_ob_len",
        "run_id",
        "run_attempt",
        "writer_id",
        "env_row_id",
        "source",
        "attrs",
        "filtered_reason",
    ];
    for key in ABOUT {
        if let Some(value) = rest.take(key) {
            episode.metadata.insert(key, value);
        }
    }
    transcript.finish(&mut episode);
    steps::add(read, &mut episode, sink);
    if let Some(step) = episode.steps.last_mut().filter(|_| !is_apart) {
        steps::gain(step, last);
    }
    keep_rest(&mut episode, rest, sink);
    sink.episode(episode);
}

/// How a rollout ended, as newer versions say: `status` is `ok`, `error` or `timeout`.
fn end(rest: &mut Object, episode: &mut Episode) {
    let status = rest.take_text("status");
    let stop = rest.take_text("stop_reason");
    let kind = rest.take_text("error_type");
    let message = rest.take_text("error_message");
    let parts: Vec<Text> = [kind, message].into_iter().flatten().collect();
    let is_cut = stop.as_deref() == Some("length") || status.as_deref() == Some("timeout");
    if status.as_deref() == Some("error") || !parts.is_empty() {
        let message: Text = match parts.as_slice() {
            [] => "The rollout failed.".into(),
            parts => parts.join(": ").into(),
        };
        episode.errors.push(message.clone());
        episode.ending = Ending::Crashed { message };
    } else if is_cut {
        episode.ending = Ending::Truncated {
            reason: "The limit of tokens was reached.".into(),
        };
    } else if status.as_deref() == Some("ok") {
        episode.ending = Ending::Done;
    }
    episode.outcome = stop.or(status);
}
