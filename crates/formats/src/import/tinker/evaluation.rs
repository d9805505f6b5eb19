//! Evaluations of tinker-cookbook (`<benchmark>/trajectories.jsonl`): lines of `{idx, benchmark, example_id, turns:
//! [{role, content, token_count, metadata}], reward, metrics, logs, error, time_seconds}`.
//!
//! An observation is the decoded prompt of a call, so its count is that of all tokens before the reply. An example that
//! failed has a reward of 0, which nobody gave.
//!
//! In the first version the turns are steps without texts, with numbers of tokens and rewards (`steps`), and the reward is
//! `total_reward`.

use volary_core::json::{Json, Object, Text};
use volary_core::{Message, Role};
use volary_episode::episode::{Ending, Episode, Rewards, Score, TaskReference, Usage};

use super::steps;
use crate::import::members::{Members, count, keep_rest};
use crate::import::reader::{Confidence, Sink};
use crate::import::records::Records;
use crate::import::slime;
use crate::import::transcript::{ImportedMessage, Transcript};

pub(in crate::import) const EVALUATION: Records = Records {
    id: "tinker-cookbook-evaluation",
    name: "tinker-cookbook evaluation (one per line)",
    title: "tinker-cookbook evaluation",
    record: "a trajectory of an evaluation",
    confidence: Confidence::Likely,
    is: is_trajectory,
    read: trajectory,
};

/// The metrics that say that a limit ended the trajectory, and what the limit was.
const LIMITS: [(&str, &str); 2] = [
    ("max_tokens_reached", "The limit of tokens was reached."),
    ("context_overflow", "The context of the model was full."),
];

fn is_trajectory(value: &Json) -> bool {
    let has = |key| value.get(key).is_some();
    let turns = value.get("turns").and_then(Json::as_list);
    has("idx") && has("benchmark") && (has("reward") || has("total_reward")) && turns.is_some()
}

fn trajectory(mut rest: Object, line: usize, sink: &mut Sink<'_>) {
    let benchmark = rest.take_id("benchmark").unwrap_or_default();
    let index = rest.take_id("idx").unwrap_or_default();
    let example = rest.take_id("example_id").filter(|id| !id.is_empty());
    let error = rest.take_text("error");
    // A failed trajectory has the reward 0, which counts in the score of the benchmark.
    let reward = rest.take_reward("reward");
    let reward = reward.or_else(|| rest.take_reward("total_reward"));
    let mut episode = Episode {
        id: format!("{}-{line}", sink.stem()).into(),
        name: format!("{benchmark} {index}").into(),
        task: Some(TaskReference {
            dataset: benchmark,
            id: example.unwrap_or(index),
        }),
        rewards: reward.map_or(Rewards::Unknown, Rewards::Whole),
        ending: Ending::Done,
        started: rest.take_time("timestamp"),
        seconds: rest.take_number("time_seconds"),
        ..Episode::default()
    };
    for (name, value) in rest.take_object("metrics").unwrap_or_default() {
        let is_set = value.as_f64().is_some_and(|value| value > 0.0);
        let limit = LIMITS.iter().find(|(limit, _)| *limit == &*name);
        if let Some((_, reason)) = limit.filter(|_| is_set) {
            episode.ending = Ending::Truncated {
                reason: (*reason).into(),
            };
        }
        episode.scores.push(Score {
            name: name.as_ref().into(),
            value,
            ..Score::default()
        });
    }
    if let Some(error) = error {
        episode.errors.push(error.clone());
        episode.ending = Ending::Crashed { message: error };
    }
    if let Some(logs) = rest.take_object("logs").filter(|logs| !logs.is_empty()) {
        episode.metadata.insert("logs", logs);
    }
    let mut transcript = Transcript::default();
    let mut prompt = None;
    let mut turns = rest.take_list("turns").unwrap_or_default();
    let mut read = Vec::new();
    if turns
        .first()
        .is_some_and(|turn| turn.get("ac_len").is_some())
    {
        rest.remove("num_turns");
        read = steps::read(std::mem::take(&mut turns), sink);
        if read.iter().all(|step| step.said.is_none()) {
            sink.lost("The trajectories have no texts: the turns have rewards and lengths alone.");
        }
        steps::push(&mut read, &mut transcript);
    }
    for turn in turns {
        let Json::Object(mut turn) = turn else {
            sink.lost("A turn of a trajectory is not an object.");
            continue;
        };
        let role = turn.take_text("role").unwrap_or_default();
        let content = turn.take_text("content").unwrap_or_default();
        let tokens = turn.take("token_count").as_ref().and_then(count);
        turn.retain(|_, value| !value.as_object().is_some_and(Object::is_empty));
        match &*role {
            "assistant" => transcript.push(reply(content, prompt.take(), tokens, turn)),
            "grader" => episode.scores.push(judgement(content, turn)),
            _ => {
                prompt = tokens;
                let mut observation = ImportedMessage::from(Message::user(&*content));
                observation.extras = turn;
                transcript.observe(observation);
            }
        }
    }
    transcript.finish(&mut episode);
    steps::add(read, &mut episode, sink);
    keep_rest(&mut episode, rest, sink);
    sink.episode(episode);
}

/// A reply of the model, with the numbers of its tokens and of those before it.
fn reply(
    content: Text,
    input: Option<u64>,
    output: Option<u64>,
    extras: Object,
) -> ImportedMessage {
    let usage = Usage {
        input,
        output,
        ..Usage::default()
    };
    let mut reply = slime::with_calls(Message::new(Role::Assistant, &*content).into());
    reply.details.usage = (!usage.is_empty()).then_some(usage);
    reply.extras = extras;
    reply
}

/// What the judge wrote.
fn judgement(content: Text, mut extras: Object) -> Score {
    let metadata = extras.take_object("metadata").unwrap_or_default();
    Score {
        name: "grader".into(),
        value: Json::Null,
        explanation: Some(content),
        extras: metadata,
    }
}
