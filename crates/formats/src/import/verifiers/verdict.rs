//! The ending, reward and cost of a trace; and runs that crashed before they had a trace.

use volary_core::json::{Json, Object};
use volary_episode::episode::{Ending, Episode, Rewards, Score, Usage};

use super::error_text;
use crate::import::chat;
use crate::import::members::{self, Members, id, text_at};
use crate::import::reader::Sink;

/// Whether a line is a run that crashed before it had a trace.
pub(super) fn is_without_traces(value: &Json) -> bool {
    let traces = value.get("traces").and_then(Json::as_list);
    let has = |key| value.get(key).is_some();
    traces.is_some_and(<[Json]>::is_empty) && has("env") && has("task") && has("ok")
}

/// The episode of such a line: no steps, but the error.
pub(super) fn without_traces(mut around: Object, number: usize, sink: &mut Sink<'_>) -> Episode {
    let task = around.take("task").unwrap_or_default();
    let mut episode = Episode {
        id: around
            .take_id("id")
            .unwrap_or_else(|| format!("{}-{number}", sink.stem()).into()),
        task: super::traces::task_reference(&task),
        rewards: Rewards::Unknown,
        ..Episode::default()
    };
    if let Some(task) = &episode.task {
        episode.name = task.id.clone();
    }
    environment(&around, &mut episode);
    let errors = around.take_list("errors").unwrap_or_default();
    let ok = around.take_flag("ok");
    episode.errors = errors.iter().map(error_text).collect();
    let timed_out = around.take_flag("is_timeout") == Some(true);
    episode.ending = match (errors.last(), ok) {
        (Some(error), _) => Ending::Crashed {
            message: error_text(error),
        },
        (None, Some(true)) => Ending::Done,
        (None, _) if timed_out => Ending::Truncated {
            reason: "It timed out before the trace began.".into(),
        },
        (None, _) => Ending::Crashed {
            message: "It ended before the trace began.".into(),
        },
    };
    if matches!(task, Json::Object(_)) {
        episode.metadata.insert("task", task);
    }
    // It counts among the samples of its group.
    super::traces::add_run_position(&around, sink, &mut episode);
    around.remove("env");
    members::keep_rest(&mut episode, around, sink);
    episode
}

/// Notes the environment of a line: the name that its run gives it, otherwise its id. An id that is not the name is
/// metadata.
pub(super) fn environment(around: &Object, episode: &mut Episode) {
    let Some(env) = around.get("env") else {
        return;
    };
    let id = id(env).or_else(|| text_at(env, &["id"]).filter(|id| !id.is_empty()));
    let name = text_at(env, &["name"]).filter(|name| !name.is_empty());
    if let (Some(id), Some(name)) = (&id, &name)
        && id != name
    {
        episode.metadata.insert("environment_id", id.clone());
    }
    episode.environment = name.or(id);
}

/// Reads the run around a trace: errors that the trace lacks, and the run's metadata.
pub(super) fn around(around: &Object, episode: &mut Episode) {
    let errors = around.get("errors").and_then(Json::as_list);
    for error in errors.unwrap_or_default().iter().map(error_text) {
        if !episode.errors.contains(&error) {
            episode.errors.push(error);
        }
    }
    for key in ["group", "run"] {
        if let Some(value) = around.get(key).filter(|value| !value.is_null()) {
            episode.metadata.insert(key, value.clone());
        }
    }
}

/// Sets the reward: the weighted sum of all rewards.
pub(super) fn reward(episode: &mut Episode, rewards: Object) {
    let mut sum = None;
    for (name, value) in rewards {
        let score = members::reward(&value).or_else(|| members::reward(value.get("score")?));
        let weight = value.get("weight").and_then(members::number).unwrap_or(1.0);
        if let Some(score) = score {
            sum = Some(sum.unwrap_or(0.0) + score * weight);
        }
        let mut extras = Object::new();
        extras.insert("weight", weight);
        episode.scores.push(Score {
            name: name.as_ref().into(),
            value: score.map_or(Json::Null, Json::from),
            explanation: None,
            extras,
        });
    }
    episode.rewards = sum.map_or(Rewards::Unknown, Rewards::Whole);
}

/// The ending. `cut_short`: the last reply of the model reached the length limit.
pub(super) fn ending(
    stop: Option<&str>,
    ok: Option<bool>,
    errors: &[Json],
    cut_short: bool,
) -> Ending {
    let truncated = |by: &str| Ending::Truncated {
        reason: format!("It was cut off by {by}.").into(),
    };
    let crashed = || Ending::Crashed {
        message: errors
            .last()
            .map_or_else(|| "The trace ended with an error.".into(), error_text),
    };
    match stop {
        // The prefix names the component that crashed: `harness_error`.
        Some(stop) if stop.ends_with("error") && ok != Some(true) => crashed(),
        Some(stop)
            if stop.starts_with("max_")
                || stop.ends_with("_timeout")
                || ["compaction_failed", "context_length"].contains(&stop) =>
        {
            truncated(stop)
        }
        // The agent may have finished before a reward function or a judge failed.
        None if !errors.is_empty() && ok != Some(true) => crashed(),
        _ if !errors.is_empty() && ok == Some(false) => crashed(),
        _ if cut_short => truncated("the limit of the model's answer"),
        // Without an error, it was cancelled.
        None if ok != Some(true) => Ending::Open,
        _ => Ending::Done,
    }
}

/// Whether the last successful call reached the length limit of a reply. Nodes have what is known of their calls in
/// versions before calls were recorded.
pub(super) fn is_cut_short(calls: &[Json], nodes: &[Json]) -> bool {
    let answered = |call: &&Json| call.get("error").is_none_or(Json::is_null);
    let sampled = |node: &&Json| node.get("sampled").and_then(Json::as_bool) == Some(true);
    let last = match calls {
        [] => nodes.iter().rev().find(sampled),
        calls => calls.iter().rev().find(answered),
    };
    let reason = last.and_then(|call| text_at(call, &["finish_reason"]));
    reason.as_deref() == Some("length")
}

/// Token counts. Cached tokens are counted separately from the prompt.
pub(super) fn usage(value: &Json) -> Option<Usage> {
    let usage = chat::usage(value)?;
    let cached = value.get("cached_input_tokens").and_then(members::count);
    match (cached, value.get("prompt_tokens")) {
        (Some(cached), Some(_)) => Some(Usage {
            input: usage.input.map(|input| input.saturating_add(cached)),
            cached: Some(cached),
            ..usage
        }),
        _ => Some(usage),
    }
}
