//! Trajectories of ldp, one per file: a line with the id, then one transition per line.

use volary_core::json::{Json, Object};
use volary_core::random::Random;
use volary_core::{AnyMessage, json, object};
use volary_episode::episode::{Episode, Outcome, Rewards, StepRecord};

use super::parts::{dumped, observed, strict};

/// The text of a file.
pub fn to_text(episode: &Episode) -> String {
    let mut text = Json::from(episode.id.clone()).to_python_text();
    text.push('\n');
    let mut before: Vec<Json> = episode.start.iter().map(message).collect();
    let mut frames = episode.frames.cursor();
    let mut state = frames.advance().map(|frame| frame.state.clone());
    let mut run = Random::new(0).fork(&episode.id);
    let run_id = uuid(&mut run);
    for (index, step) in episode.steps.iter().enumerate() {
        let after: Vec<Json> = observed(step).iter().map(message).collect();
        let next = frames.advance().map(|frame| frame.state.clone());
        let call = json!({"run_id": (run_id.clone()), "fwd_id": (uuid(&mut run))});
        let mut transition = object!({
            "timestep": (i64::try_from(index).unwrap_or_default()),
            "agent_state": (state.take()),
            "next_agent_state": (next.clone()),
            "observation": (std::mem::replace(&mut before, after.clone())),
            "next_observation": after,
            "action": (action(step, call))
        });
        let (reward, done, truncated) = match step.outcome {
            Outcome::Observed {
                reward,
                done,
                truncated,
                ..
            } => (reward, done, truncated),
            Outcome::Failed { .. } => (0.0, false, false),
        };
        // ldp supports only rewards by step: the reward of the whole episode is put on the last step, so that the sum
        // is right.
        let reward = match episode.rewards {
            Rewards::Steps => reward,
            Rewards::Whole(whole) if index + 1 == episode.steps.len() => whole,
            Rewards::Whole(_) | Rewards::Unknown => 0.0,
        };
        transition.insert("reward", reward);
        transition.insert("truncated", truncated);
        transition.insert("done", done);
        let value = step.extras.get("value").and_then(Json::as_f64);
        transition.insert("value", value.unwrap_or_default());
        transition.insert("metadata", metadata(step));
        state = next;
        strict(transition.into()).write_python_text(&mut text);
        text.push('\n');
    }
    text
}

/// The action as the result of an operation: the source's operation, if it had one.
fn action(step: &StepRecord, call: Json) -> Json {
    let source = step.extras.get("action");
    let text = |key: &str, otherwise: &str| {
        let known = source.and_then(|source| source.get(key)?.as_text().cloned());
        known.unwrap_or_else(|| otherwise.into())
    };
    let known = source.and_then(|source| source.get("call_id")).cloned();
    json!({
        "call_id": (known.unwrap_or(call)),
        "op_name": (text("op_name", "policy")),
        "op_class_name": (text("op_class_name", "Policy")),
        "value": (message(&step.action)),
        "logprob": (source.and_then(|source| source.get("logprob")).cloned())
    })
}

fn metadata(step: &StepRecord) -> Object {
    let mut metadata = match step.extras.get("metadata") {
        Some(Json::Object(metadata)) => metadata.clone(),
        _ => Object::new(),
    };
    if let Outcome::Failed { message } = &step.outcome {
        metadata.insert("exception", message.clone());
    }
    metadata
}

fn message(message: &AnyMessage) -> Json {
    dumped(message, &[]).unwrap_or_default().into()
}

/// An id in the format that ldp requires: pseudorandom, but deterministic for an episode.
fn uuid(random: &mut Random) -> String {
    let mut part = |digits: u32| {
        format!(
            "{:0width$x}",
            random.below(1 << (4 * digits)),
            width = digits as usize
        )
    };
    format!(
        "{}-{}-4{}-8{}-{}",
        part(8),
        part(4),
        part(3),
        part(3),
        part(12)
    )
}
