//! Episodes of rLLM, a file each: of training (`episodes/train_step_N_epoch_E/….json`, without tokens), of the evaluations
//! during it (`val_step_N_epoch_E`), and of `rllm eval` (with tokens).
//!
//! - `conversation`: joins the conversations of the steps.
//!
//! Most steps repeat the tokens of the one before them and continue them, or its messages if the file has no tokens. Others
//! start a branch, which is an episode of its own, as a sequence of tokens is: what the model did not see is not in it.

mod conversation;

use volary_core::TokenId;
use volary_core::json::{Json, Object, Text};
use volary_episode::episode::{Ending, Episode, Rewards, Score, TaskReference};

use super::branch::tell_branch;
use super::call_credit;
use super::members::{Members, keep_rest, number, text_at};
use super::reader::{Confidence, Sink};
use super::records::Records;
use super::token_lists::{CallTokens, attach, ids, joined, not_ids, stream};
use conversation::{JoinedConversation, Talk};

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
        let members = [
            ("step", step.clone()),
            ("group", group.clone().map(Json::from)),
            ("sample", Some(id.clone().into())),
            ("split", split.clone()),
        ];
        for (key, value) in members {
            if let Some(value) = value {
                one.metadata.insert(key, value);
            }
        }
        let steps = trajectory.take_list("steps").unwrap_or_default();
        let branches = branches(steps, sink);
        if branches.len() > 1 {
            sink.understood(
                "The prompt of a step does not continue earlier steps, so it starts a branch.",
            );
        }
        for (number, branch) in branches.into_iter().enumerate() {
            if sink.is_full() {
                break;
            }
            let mut episode = one.clone();
            let mut trajectory = trajectory.clone();
            if number > 0 {
                let sample = format!("{id}, branch {}", number + 1);
                episode.metadata.insert("sample", sample);
            }
            tell_branch(&mut episode, number);
            branch.read(number > 0, &mut episode, &mut trajectory, sink);
            for (key, value) in rest.iter().filter(|(_, value)| !value.is_null()) {
                episode.metadata.insert(key.clone(), value.clone());
            }
            keep_rest(&mut episode, trajectory, sink);
            sink.episode(episode);
        }
    }
}

/// Steps whose tokens are one sequence, or whose messages are one conversation.
#[derive(Default)]
struct Branch {
    steps: Vec<Json>,
    calls: Vec<CallTokens>,
    talk: Talk,
}

/// Divides steps into branches: a prompt that continues no earlier call starts one, because templates drop the reasoning
/// of earlier turns, and agents shorten their histories. If some steps have tokens, those without belong to the branch
/// before them.
fn branches(steps: Vec<Json>, sink: &mut Sink<'_>) -> Vec<Branch> {
    let tokens: Vec<Option<CallTokens>> = steps
        .iter()
        .enumerate()
        .map(|(number, step)| {
            report_unknown_ids(step, number, sink);
            tokens(step).filter(|call| !call.completion.is_empty())
        })
        .collect();
    let has_tokens = tokens.iter().any(Option::is_some);
    let mut branches = vec![Branch::default()];
    for (step, tokens) in steps.into_iter().zip(tokens) {
        let continued = match &tokens {
            Some(tokens) => last_of(&branches, |branch| branch.is_continued_by(&tokens.prompt)),
            None if has_tokens => branches.len().checked_sub(1),
            None => last_of(&branches, |branch| {
                branch.talk.is_continued_by(&step, branch.steps.len())
            }),
        };
        let index = continued.unwrap_or(branches.len());
        if index == branches.len() {
            branches.push(Branch::default());
        }
        let branch = &mut branches[index];
        branch.talk.add(&step);
        branch.steps.push(step);
        branch.calls.extend(tokens);
    }
    branches
}

/// The last branch that satisfies a predicate.
fn last_of(branches: &[Branch], is_continued: impl Fn(&Branch) -> bool) -> Option<usize> {
    /// The number of last branches that a prompt may continue.
    const MOST: usize = 64;
    let first = branches.len().saturating_sub(MOST);
    let index = branches[first..].iter().rposition(is_continued)?;
    Some(first + index)
}

fn report_unknown_ids(step: &Json, number: usize, sink: &mut Sink<'_>) {
    for key in ["prompt_ids", "response_ids"] {
        let value = step.get(key).filter(|value| !value.is_null());
        if let Some(value) = value.filter(|value| ids(value).is_none()) {
            sink.lost(not_ids(key, value, &format!("step {number}")));
        }
    }
}

fn tokens(step: &Json) -> Option<CallTokens> {
    let prompt = ids(step.get("prompt_ids")?)?;
    let completion = ids(step.get("response_ids")?)?;
    let mut streams = Vec::new();
    for key in ["logprobs", "advantage"] {
        // One advantage may be that of all tokens.
        let value = step.get(key);
        let whole = value.and_then(Json::as_f64);
        let whole = whole.map(|value| std::iter::repeat_n(Some(value), completion.len()).collect());
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
}

impl Branch {
    fn is_continued_by(&self, prompt: &[TokenId]) -> bool {
        let last = self.calls.last();
        last.is_none_or(|last| last.is_continued_by(prompt))
    }

    /// Adds the messages, credits and tokens of the steps to an episode. What was said before the first step of a branch
    /// other than the first is its prompt.
    fn read(self, has_prompt: bool, episode: &mut Episode, rest: &mut Object, sink: &mut Sink<'_>) {
        let Branch { steps, calls, .. } = self;
        let mut versions: Vec<Json> = steps
            .iter()
            .filter_map(|step| step.get("weight_version").cloned())
            .filter(|version| !version.is_null())
            .collect();
        versions.dedup();
        if !versions.is_empty() {
            episode.metadata.insert("weight_versions", versions);
        }
        let mut conversation = JoinedConversation::new(has_prompt);
        steps.iter().for_each(|step| conversation.add(step));
        conversation.finish(&steps, episode);
        call_credit::assign(&steps, episode, rest, sink);
        keep_step_rewards(&steps, episode, sink);
        if let Some((builder, _)) = joined(calls) {
            attach(builder.divided(episode), episode, sink);
        }
        if let Some(model) = steps
            .iter()
            .find_map(|step| text_at(step, &["model_output", "model"]))
        {
            episode.model = Some(model);
        }
    }
}

/// Keeps the rewards of steps that do not add up to that of the trajectory, such as discounted returns.
fn keep_step_rewards(steps: &[Json], episode: &mut Episode, sink: &mut Sink<'_>) {
    let rewards = steps.iter().map(|step| step.get("reward").cloned());
    let rewards: Vec<Json> = rewards.map(Option::unwrap_or_default).collect();
    let is_known = |reward: &Json| number(reward).is_some_and(|reward| reward != 0.0);
    if episode.rewards == Rewards::Steps || !rewards.iter().any(is_known) {
        return;
    }
    sink.kept(
        "The rewards of steps do not add up to that of their trajectory, and are kept as `step_rewards`.",
    );
    episode.metadata.insert("step_rewards", rewards);
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
