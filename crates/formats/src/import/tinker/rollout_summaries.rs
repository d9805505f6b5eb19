//! Rollout summaries of tinker-cookbook (`iteration_N/train_rollout_summaries.jsonl`): lines of `{schema_version,
//! split, iteration, group_idx, traj_idx, total_reward, final_reward, trajectory_metrics, steps: [{ob_len, ac_len,
//! reward, metrics, logs}]}`.
//!
//! They have no messages. The model's output is available only if the environment logs it under a known name; other texts
//! of the logs are about the step, such as the expected answer or why it ended.

use volary_core::json::{Json, Object};
use volary_core::message::Body;
use volary_core::{Message, Role};
use volary_episode::episode::{Ending, Episode, Outcome, Rewards, Score, TaskReference, Usage};

use crate::import::members::{Members, count, keep_rest};
use crate::import::reader::{Confidence, NOT_FINITE, Sink};
use crate::import::records::Records;
use crate::import::slime;
use crate::import::transcript::{ImportedMessage, Transcript};

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

fn summary(mut rest: Object, line: usize, sink: &mut Sink<'_>) {
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
    let mut transcript = Transcript::default();
    let (mut sum, mut is_done, mut said) = (0.0, false, false);
    // Rewards may be missing.
    let mut is_rewarded = false;
    for step in rest.take_list("steps").unwrap_or_default() {
        let Json::Object(mut step) = step else {
            sink.lost("A step of a rollout is not an object.");
            continue;
        };
        let gained = finite(step.take_number("reward"), sink);
        is_rewarded |= gained.is_some();
        let gained = gained.unwrap_or_default();
        sum += gained;
        is_done = step.take_flag("episode_done") == Some(true);
        let mut action = action(&mut step);
        said |= action.message.body().content.is_some();
        step.remove("step_idx");
        action.extras = step;
        transcript.push(action);
        gain(&mut transcript, gained);
    }
    if !said {
        sink.lost("The summaries have no texts: the steps have rewards and lengths alone.");
    }
    let last = finite(rest.take_number("final_reward"), sink);
    is_rewarded |= last.is_some();
    let last = last.unwrap_or_default();
    let total = rest.take_reward("total_reward");
    gain(&mut transcript, last);
    let mut episode = Episode {
        id: format!("{}-{line}", sink.stem()).into(),
        name: format!("Iteration {iteration}, group {group}, trial {member}").into(),
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
            Some(total) if !total.is_finite() => Rewards::Whole(total),
            None if !is_rewarded => Rewards::Unknown,
            _ => Rewards::Steps,
        },
        ending: if is_done { Ending::Done } else { Ending::Open },
        ..Episode::default()
    };
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
    for key in ["sampling_client_step", "final_ob_len"] {
        if let Some(value) = rest.take(key) {
            episode.metadata.insert(key, value);
        }
    }
    transcript.finish(&mut episode);
    keep_rest(&mut episode, rest, sink);
    sink.episode(episode);
}

/// A reward of a step, which is reported if it is not finite.
fn finite(reward: Option<f64>, sink: &mut Sink<'_>) -> Option<f64> {
    let known = reward.filter(|reward| reward.is_finite());
    if known != reward {
        sink.lost(NOT_FINITE);
    }
    known
}

/// Adds to the reward of the last step.
fn gain(transcript: &mut Transcript, gained: f64) {
    if let Some(Outcome::Observed { reward, .. }) =
        transcript.last_mut().map(|step| &mut step.outcome)
    {
        *reward += gained;
    }
}

/// The action of a step: the text with a known name among its logs. Those of the cookbook's recipes are `guess`
/// (guess_number) and `transcript` (audio).
fn action(step: &mut Object) -> ImportedMessage {
    const NAMES: [&str; 9] = [
        "said",
        "response",
        "action",
        "assistant",
        "completion",
        "content",
        "output",
        "guess",
        "transcript",
    ];
    let usage = Usage {
        input: step.take("ob_len").as_ref().and_then(count),
        output: step.take("ac_len").as_ref().and_then(count),
        ..Usage::default()
    };
    let mut logs = step.take_object("logs").unwrap_or_default();
    let said = NAMES.iter().find_map(|name| logs.take_text(name));
    let message = Message {
        role: Role::Assistant,
        body: said.map_or_else(Body::default, Body::text),
    };
    if !logs.is_empty() {
        step.insert("logs", logs);
    }
    let mut action = slime::with_calls(message.into());
    action.details.usage = (!usage.is_empty()).then_some(usage);
    action
}
