//! Episodes of rLLM, a file each: of training (`episodes/train_step_N_epoch_E/….json`, without tokens), of the evaluations
//! during it (`val_step_N_epoch_E`), and of `rllm eval` (with tokens). Each step repeats the whole conversation and its prompt; the last one has everything. Steps of agents
//! that keep no conversation have an input and an output.

use volary_core::json::{Json, Object, Text};
use volary_core::{Message, Role};

use super::call_credit;
use super::chat;
use super::members::{Members, keep_rest, number, text_at};
use super::reader::{Confidence, Sink};
use super::records::Records;
use super::slime;
use super::token_lists::{CallTokens, attach, ids, joined, not_ids, stream};
use super::transcript::Transcript;
use crate::episode::{Ending, Episode, Rewards, Score, TaskReference};

pub(super) const RLLM: Records = Records {
    id: "rllm",
    name: "rLLM episodes (JSON)",
    title: "rLLM episode",
    record: "an episode",
    confidence: Confidence::Likely,
    is: is_episode,
    read: episode,
};

fn is_episode(value: &Json) -> bool {
    let has = |key: &str| value.get(key).is_some();
    let first = value
        .get("trajectories")
        .and_then(|list| list.as_list()?.first());
    has("termination_reason")
        && (has("episode_id") || has("id"))
        && first.is_none_or(|first| first.get("steps").is_some())
}

fn episode(mut rest: Object, _line: usize, sink: &mut Sink<'_>) {
    let id = rest
        .take_id("episode_id")
        .or_else(|| rest.take_id("id"))
        .unwrap_or_else(|| sink.stem());
    let group = id.split_once(':').map(|(group, _)| Text::from(group));
    let ending = rest.take_text("termination_reason");
    let step = rest.take("training_step");
    let metrics = rest.take_object("metrics").unwrap_or_default();
    let seconds = |rest: &Object| {
        let timing = rest
            .get("timing")
            .or_else(|| rest.get("metadata")?.get("timing"))?;
        number(timing.get("total")?)
    };
    let seconds = seconds(&rest);
    let mut trajectories = rest.take_list("trajectories").unwrap_or_default();
    if trajectories.is_empty() {
        let reason = ending.as_deref().unwrap_or("unknown");
        sink.lost(format!(
            "Episode {id} has no trajectories. Why it ended: {reason}."
        ));
        // It counts among the samples of its group.
        trajectories.push(Json::Object(Object::new()));
    }
    let is_correct = rest.take("is_correct");
    // Only the folder says what the episodes are of.
    let is_evaluation = sink.folder().starts_with("val_step_");
    let split = is_evaluation.then(|| Json::from("eval"));
    let several = trajectories.len() > 1;
    for trajectory in trajectories {
        let Json::Object(mut trajectory) = trajectory else {
            sink.lost("A trajectory is not an object.");
            continue;
        };
        let uid = trajectory.take_id("uid");
        let name = trajectory.take_text("name");
        let mut one = Episode {
            id: uid.clone().unwrap_or_else(|| id.clone()),
            name: match (&name, several) {
                (Some(name), true) => format!("{id}, {name}").into(),
                _ => id.clone(),
            },
            policy: name,
            task: group.clone().map(|id| TaskReference {
                dataset: "rllm".into(),
                id,
            }),
            rewards: trajectory
                .take_reward("reward")
                .map_or(Rewards::Unknown, Rewards::Whole),
            ending: self::ending(ending.as_deref()),
            outcome: ending.clone(),
            seconds,
            ..Episode::default()
        };
        let signals = trajectory.take_object("signals").unwrap_or_default();
        let is_correct = is_correct.clone().map(|value| ("is_correct".into(), value));
        let metrics = metrics
            .iter()
            .map(|(name, value)| (Text::from(name.as_ref()), value.clone()));
        let signals = signals
            .into_iter()
            .map(|(name, value)| (Text::from(name.as_ref()), value));
        let scores = is_correct.into_iter().chain(metrics).chain(signals);
        let scores = scores.map(|(name, value)| Score {
            name,
            value,
            ..Score::default()
        });
        one.scores = scores.collect();
        let place = [
            ("step", step.clone()),
            ("group", group.clone().map(Json::from)),
            ("sample", Some(id.clone().into())),
            ("split", split.clone()),
        ];
        for (key, value) in place {
            if let Some(value) = value {
                one.metadata.insert(key, value);
            }
        }
        let steps = trajectory.take_list("steps").unwrap_or_default();
        let mut versions: Vec<Json> = steps
            .iter()
            .filter_map(|step| step.get("weight_version").cloned())
            .filter(|version| !version.is_null())
            .collect();
        versions.dedup();
        if !versions.is_empty() {
            one.metadata.insert("weight_versions", versions);
        }
        read_steps(steps, &mut one, &mut trajectory, sink);
        for (key, value) in rest.iter().filter(|(_, value)| !value.is_null()) {
            one.metadata.insert(key.clone(), value.clone());
        }
        keep_rest(&mut one, trajectory, sink);
        sink.episode(one);
    }
}

fn read_steps(steps: Vec<Json>, episode: &mut Episode, rest: &mut Object, sink: &mut Sink<'_>) {
    let mut transcript = Transcript::default();
    // The conversation of the last step has all messages.
    let talk = steps
        .iter()
        .rev()
        .find_map(|step| step.get("chat_completions")?.as_list())
        .filter(|talk| !talk.is_empty());
    match talk {
        Some(talk) => {
            for said in talk.iter().flat_map(chat::read) {
                transcript.push(slime::with_calls(said));
            }
        }
        None => steps
            .iter()
            .for_each(|step| push_step(step, &mut transcript)),
    }
    transcript.finish(episode);
    call_credit::assign(&steps, episode, rest, sink);
    for (number, step) in steps.iter().enumerate() {
        for key in ["prompt_ids", "response_ids"] {
            let value = step.get(key).filter(|value| !value.is_null());
            if let Some(value) = value.filter(|value| ids(value).is_none()) {
                sink.lost(not_ids(key, value, &format!("step {number}")));
            }
        }
    }
    let call = |step: &Json| {
        let prompt = ids(step.get("prompt_ids")?)?;
        let completion = ids(step.get("response_ids")?)?;
        let mut streams = Vec::new();
        for key in ["logprobs", "advantage"] {
            // One advantage may be that of all tokens.
            let value = step.get(key);
            let whole = value.and_then(Json::as_f64);
            let whole =
                whole.map(|value| std::iter::repeat_n(Some(value), completion.len()).collect());
            let values = value
                .and_then(stream)
                .filter(|values| !values.is_empty())
                .or(whole);
            streams.extend(values.map(|values| (Text::from(key), values)));
        }
        Some(CallTokens {
            prompt,
            completion,
            mask: None,
            streams,
        })
    };
    let calls: Vec<CallTokens> = steps
        .iter()
        .filter_map(call)
        .filter(|call| !call.completion.is_empty())
        .collect();
    if let Some((builder, apart)) = joined(calls) {
        if apart > 0 {
            sink.lost("The tokens of a step are not part of the last one, so they are left out.");
        }
        attach(builder.divided(episode), episode, sink);
    }
    if let Some(model) = steps
        .iter()
        .find_map(|step| text_at(step, &["model_output", "model"]))
    {
        episode.model = Some(model);
    }
}

/// Adds the messages of a step without a conversation: what the agent saw and what it answered.
fn push_step(step: &Json, transcript: &mut Transcript) {
    let text = |key: &str| match step.get(key)? {
        Json::Null => None,
        Json::Text(text) => (!text.is_empty()).then(|| text.clone()),
        other => Some(other.to_python_text().into()),
    };
    let first = |keys: &[&str]| keys.iter().find_map(|key| text(key));
    if let Some(seen) = first(&["observation", "input"]) {
        transcript.observe(Message::user(seen).into());
    }
    if let Some(said) = first(&["model_response", "action", "output"]) {
        let message = Message::new(Role::Assistant, said);
        let mut said = slime::with_calls(message.into());
        said.details.reasoning = said.details.reasoning.or_else(|| text("thought"));
        transcript.push(said);
    }
}

fn ending(reason: Option<&str>) -> Ending {
    match reason {
        Some("env_done") => Ending::Done,
        Some(reason) if reason.starts_with("max_") || reason == "timeout" => Ending::Truncated {
            reason: format!("It was cut off by {reason}.").into(),
        },
        Some("error") => Ending::Crashed {
            message: "The rollout failed.".into(),
        },
        _ => Ending::Open,
    }
}
