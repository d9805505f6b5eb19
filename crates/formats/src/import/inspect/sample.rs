//! Converts a sample to an episode.

use volary_core::Role;
use volary_core::json::{Json, Key, Object, Text};
use volary_episode::episode::{Ending, Episode, Rewards, Score, StepError, TaskReference, Usage};

use super::events;
use super::log::Log;
use super::references::{Attachments, Unresolved, ranges, take_list};
use crate::import::chat;
use crate::import::expansion::{Expansion, FACTOR, FREE};
use crate::import::members::{moment, number};
use crate::import::reader::Sink;
use crate::import::transcript::Transcript;
use volary_analysis::scores::numeric;

/// Whether a value is a separate sample.
pub(super) fn is_sample(value: &Json) -> bool {
    ["id", "epoch", "input", "target", "messages", "output"]
        .iter()
        .all(|key| value.get(key).is_some())
}

/// Reads a sample.
pub(super) fn read(mut sample: Object, log: &Log, sink: &mut Sink<'_>) {
    of_old(&mut sample);
    let attachments = Attachments::read(sample.remove("attachments"));
    forget_inputs(&mut sample);
    let mut expansion = Expansion::of(attachments.size());
    let mut unresolved = Unresolved::default();
    for value in sample.values_mut() {
        unresolved += attachments.resolve(value, &mut expansion);
    }
    if unresolved.missing > 0 {
        let missing = unresolved.missing;
        sink.lost(format!("{missing} attachments are missing from the file."));
    }
    if unresolved.too_large > 0 {
        sink.lost(format!(
            "{} references to attachments are not resolved: the sample would take more than {} MB \
             and {FACTOR} times its attachments.",
            unresolved.too_large,
            FREE >> 20
        ));
    }
    let id = match sample.remove("id").unwrap_or_default() {
        Json::Text(id) => id,
        other => other.to_python_text().into(),
    };
    let epoch = sample.get("epoch").and_then(Json::as_i64).unwrap_or(1);
    let mut episode = head(&id, epoch, &mut sample, log);
    let (messages, events, left_out) = said(&mut sample);
    if left_out > 0 {
        sink.lost(format!(
            "{left_out} messages are omitted: the sample references the same messages too often."
        ));
    }
    let (transcript, ids) = transcript(messages);
    judged(&mut sample, &mut episode, sink);
    ended(&mut sample, log, &mut episode);
    spent(&mut sample, &mut episode);
    rest(sample, log, &mut episode);
    transcript.finish(&mut episode);
    let left_out = events::read(events, &ids, &mut episode);
    if left_out > 0 {
        sink.lost(format!(
            "{left_out} changes of the store are omitted: they copy too much data."
        ));
    }
    // The frames contain the store.
    episode.raw.remove("store");
    sink.episode(episode);
}

/// Converts the first logs with events, which hold them in a transcript, with the attachments.
fn of_old(sample: &mut Object) {
    let Some(Json::Object(mut transcript)) = sample.remove("transcript") else {
        return;
    };
    for (old, new) in [("events", "events"), ("content", "attachments")] {
        if let Some(value) = transcript.remove(old)
            && !sample.contains_key(new)
        {
            sample.insert(new, value);
        }
    }
    if !transcript.is_empty() {
        sample.insert("transcript", transcript);
    }
}

fn head(id: &Text, epoch: i64, sample: &mut Object, log: &Log) -> Episode {
    let uuid = match sample.remove("uuid") {
        Some(Json::Text(uuid)) => Some(uuid),
        _ => None,
    };
    let run = log.eval_id.as_deref().unwrap_or("inspect");
    let task = log.task.as_deref().unwrap_or("sample");
    Episode {
        id: uuid.unwrap_or_else(|| format!("{run}-{id}-{epoch}").into()),
        name: match epoch {
            1 => format!("{task} {id}").into(),
            epoch => format!("{task} {id}, epoch {epoch}").into(),
        },
        policy: log.solver.clone(),
        model: log.model.clone(),
        environment: log.task.clone(),
        task: Some(TaskReference {
            dataset: log.dataset.clone().or(log.task.clone()).unwrap_or_default(),
            id: id.clone(),
        }),
        rewards: Rewards::Unknown,
        ..Episode::default()
    }
}

/// Removes the inputs of model calls, which repeat the messages. The input of the last call may be needed.
fn forget_inputs(sample: &mut Object) {
    let Some(Json::List(events)) = sample.get_mut("events") else {
        return;
    };
    let calls = events.iter_mut().filter_map(|event| match event {
        Json::Object(event) if events::is_model_call(event) => Some(event),
        _ => None,
    });
    for event in calls.rev().skip(1) {
        for key in events::GIVEN {
            event.remove(key);
        }
    }
}

/// Messages and events with their pool references resolved, and the number of dropped messages.
fn said(sample: &mut Object) -> (Vec<Json>, Vec<Json>, usize) {
    let mut messages = take_list(sample, "messages");
    let events = take_list(sample, "events");
    let mut pool = match sample.remove("events_data") {
        Some(Json::Object(mut data)) => take_list(&mut data, "messages"),
        _ => Vec::new(),
    };
    let mut left_out = 0;
    if let Some(references) = sample.remove("message_refs") {
        (messages, left_out) = ranges(&pool, &references);
    }
    if messages.is_empty() {
        (messages, left_out) = of_last_call(&events, &mut pool);
    }
    if messages.is_empty() {
        match sample.get("input") {
            Some(Json::List(input)) => messages = input.clone(),
            Some(input @ Json::Text(text)) if !text.is_empty() => messages.push(input.clone()),
            _ => {}
        }
    }
    (messages, events, left_out)
}

/// The messages of the last model call: all that is known of a sample that crashed.
fn of_last_call(events: &[Json], pool: &mut [Json]) -> (Vec<Json>, usize) {
    let is_call = |event: &&Json| event.as_object().is_some_and(events::is_model_call);
    let Some(event) = events.iter().rev().find(is_call) else {
        return (Vec::new(), 0);
    };
    let (mut messages, left_out) = match event.get("input_refs") {
        Some(references) if !references.is_null() => ranges(pool, references),
        _ => {
            let input = event.get("input").and_then(Json::as_list);
            (input.unwrap_or_default().to_vec(), 0)
        }
    };
    let output = event.get("output");
    let answer =
        output.and_then(|output| output.get("choices")?.as_list()?.first()?.get("message"));
    messages.extend(answer.cloned());
    (messages, left_out)
}

/// The steps, and the message id of each.
fn transcript(messages: Vec<Json>) -> (Transcript, Vec<Option<Text>>) {
    let mut transcript = Transcript::default();
    let mut ids = Vec::new();
    for message in messages {
        let id = message.get("id").and_then(Json::as_text).cloned();
        let error = message.get("error").and_then(|error| error.get("message"));
        let error = error.or_else(|| message.get("tool_error"));
        let error = error.and_then(Json::as_text).cloned();
        for mut said in chat::read(&message) {
            if let Some(message) = &error {
                said.details.errors.push(StepError {
                    call: None,
                    message: message.clone(),
                });
            }
            if said.message.role() == Role::Assistant {
                ids.push(id.clone());
            }
            transcript.push(said);
        }
    }
    (transcript, ids)
}

fn judged(sample: &mut Object, episode: &mut Episode, sink: &mut Sink<'_>) {
    let scores = match sample.remove("scores") {
        Some(Json::Object(scores)) => scores,
        // The oldest logs have a single score.
        _ => match sample.remove("score") {
            Some(score @ Json::Object(_)) => {
                Object::from_distinct(vec![(Key::Borrowed("score"), score)])
            }
            _ => return,
        },
    };
    for (name, score) in scores {
        let Json::Object(mut score) = score else {
            sink.kept("A score is not an object; it is kept unchanged.");
            episode.scores.push(Score {
                name: name.as_ref().into(),
                value: score,
                ..Score::default()
            });
            continue;
        };
        let explanation = match score.remove("explanation") {
            Some(Json::Text(text)) => Some(text),
            _ => None,
        };
        let value = score.remove("value").unwrap_or_default();
        score.retain(|_, value| !value.is_null() && value.as_list() != Some(&[]));
        episode.scores.push(Score {
            name: name.as_ref().into(),
            value,
            explanation,
            extras: score,
        });
    }
    let mut numbers = episode
        .scores
        .iter()
        .filter_map(|score| numeric(&score.value));
    if let Some(reward) = numbers.next() {
        episode.rewards = Rewards::Whole(reward);
    }
}

fn ended(sample: &mut Object, log: &Log, episode: &mut Episode) {
    let output = sample.remove("output");
    let reason = output.as_ref().and_then(|output| {
        let choice = output.get("choices")?.as_list()?.first()?;
        choice.get("stop_reason")?.as_text().cloned()
    });
    // The stop reason of the last reply. It explains the end of the sample only if it truncated the reply.
    const CUT_SHORT: [&str; 3] = ["max_tokens", "model_length", "content_filter"];
    if let Some(reason) = reason {
        if CUT_SHORT.contains(&&*reason) {
            episode.outcome = Some(reason)
        } else {
            drop(episode.raw.insert("stop_reason", reason))
        }
    }
    let error = sample.remove("error").filter(|error| !error.is_null());
    let limit = sample.remove("limit").filter(|limit| !limit.is_null());
    episode.ending = if let Some(error) = error {
        let message = error.get("message").and_then(Json::as_text).cloned();
        let message = message.unwrap_or_else(|| error.to_python_text().into());
        episode.errors.push(message.clone());
        episode.raw.insert("error", error);
        episode.outcome = Some("error".into());
        Ending::Crashed { message }
    } else if let Some(limit) = limit {
        let kind = limit.get("type").and_then(Json::as_text).cloned();
        let kind = kind.unwrap_or_else(|| "unknown".into());
        let value = limit.get("limit").cloned().unwrap_or_default();
        episode.outcome = Some(format!("{kind} limit").into());
        episode.raw.insert("limit", limit);
        Ending::Truncated {
            reason: format!(
                "The {kind} limit of {} was reached.",
                value.to_python_text()
            )
            .into(),
        }
    } else if log.status.as_deref() == Some("started") && sample.get("completed_at").is_none() {
        Ending::Open
    } else {
        Ending::Done
    };
}

fn spent(sample: &mut Object, episode: &mut Episode) {
    if let Some(Json::Object(models)) = sample.get("model_usage") {
        let usages = models.values().filter_map(events::usage);
        episode.total_usage = usages.reduce(Usage::plus);
        if models.len() == 1 && episode.model.is_none() {
            episode.model = models.keys().next().map(|model| model.as_ref().into());
        }
        if models.len() < 2 {
            sample.remove("model_usage");
        }
    }
    episode.started = sample.remove("started_at").and_then(|time| moment(&time));
    episode.seconds = sample.remove("total_time").and_then(|time| number(&time));
}

/// Adds the members without a field in the episode.
fn rest(mut sample: Object, log: &Log, episode: &mut Episode) {
    if let Some(Json::Object(metadata)) = sample.remove("metadata") {
        episode.metadata = metadata;
    }
    for key in [
        "target",
        "choices",
        "epoch",
        "sandbox",
        "working_time",
        "role_usage",
        "model_usage",
    ] {
        if let Some(value) = sample.remove(key)
            && !is_empty(&value)
            && !episode.metadata.contains_key(key)
        {
            episode.metadata.insert(key, value);
        }
    }
    if let Some(eval) = &log.eval_id
        && !episode.metadata.contains_key("eval_id")
    {
        episode.metadata.insert("eval_id", eval.clone());
    }
    // It repeats the first message.
    if sample
        .get("input")
        .is_some_and(|input| input.as_text().is_some())
    {
        sample.remove("input");
    }
    sample.retain(|_, value| !is_empty(value));
    episode.raw.extend(sample);
    if let Some(header) = &log.header {
        episode.raw.insert("log", header.clone());
    }
}

fn is_empty(value: &Json) -> bool {
    match value {
        Json::Null => true,
        Json::List(list) => list.is_empty(),
        Json::Object(object) => object.is_empty(),
        _ => false,
    }
}
