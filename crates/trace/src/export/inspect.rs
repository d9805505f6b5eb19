//! A log of Inspect (`.json`, version 2), which `inspect view` opens: a sample an episode.

mod events;

use std::collections::HashMap;

use volary_core::json::{Json, Object, Text};
use volary_core::message::Body;
use volary_core::{AnyMessage, Role, json, object};

use super::parts::{Part, count, observed, parts, put, strict};
use crate::episode::{Ending, Episode, Rewards, Score, StepRecord, Usage};
use crate::time;
use events::{model_event, tool_event};

/// The text of a file. `name` is what the log calls its task where the episodes do not agree on one.
pub fn to_text(episodes: &[&Episode], name: &str) -> String {
    strict(log(episodes, name).into()).to_python_text()
}

fn log(episodes: &[&Episode], name: &str) -> Object {
    let mut epochs: HashMap<Text, i64> = HashMap::new();
    let mut samples = Vec::new();
    let mut ids: Vec<Json> = Vec::new();
    for episode in episodes {
        let id = match episode.task() {
            Some(task) if !task.id.is_empty() => task.id.clone(),
            _ => episode.id.clone(),
        };
        let epoch = epochs.entry(id.clone()).or_default();
        *epoch += 1;
        if *epoch == 1 {
            ids.push(id.clone().into());
        }
        samples.push(Json::from(sample(episode, id, *epoch)));
    }
    let agreed = |of: fn(&Episode) -> Option<Text>| -> Option<Text> {
        let first = of(episodes.first()?)?;
        let all = episodes
            .iter()
            .all(|episode| of(episode).as_ref() == Some(&first));
        all.then_some(first)
    };
    let task = agreed(|episode| episode.environment().cloned()).unwrap_or_else(|| name.into());
    let model = agreed(model).unwrap_or_else(|| "none/none".into());
    let dataset = agreed(|episode| episode.task().map(|task| task.dataset.clone()));
    let starts = episodes.iter().filter_map(|episode| episode.started);
    let created = starts.fold(f64::INFINITY, f64::min);
    let created = time::format(created).unwrap_or_else(|| "1970-01-01T00:00:00Z".into());
    let total = count(episodes.len() as u64);
    let most = epochs.values().copied().max().unwrap_or(1);
    object!({
        "version": 2,
        "status": "success",
        "eval": {
            "eval_id": (format!("volary-{name}")),
            "run_id": (format!("volary-{name}")),
            "created": (created.clone()),
            "task": task,
            "task_id": name,
            "task_version": 0,
            "task_attribs": {},
            "task_args": {},
            "dataset": {
                "name": dataset,
                "samples": (count(ids.len() as u64)),
                "sample_ids": ids,
                "shuffled": false
            },
            "model": model,
            "model_args": {},
            "config": {"epochs": most},
            "packages": {}
        },
        "plan": {"name": "plan", "steps": [], "config": {}},
        "results": {
            "total_samples": (total.clone()),
            "completed_samples": total,
            "scores": []
        },
        "stats": {"started_at": (created.clone()), "completed_at": created, "model_usage": {}},
        "samples": samples
    })
}

fn model(episode: &Episode) -> Option<Text> {
    episode.model.clone().or_else(|| episode.policy.clone())
}

fn sample(episode: &Episode, id: Text, epoch: i64) -> Object {
    let name = model(episode).unwrap_or_else(|| "none/none".into());
    let mut messages = Vec::new();
    let mut events = Vec::new();
    for message in &episode.start {
        messages.push(said(message, None, messages.len()));
    }
    let mut last = Json::Null;
    for step in &episode.steps {
        let message = said(&step.action, Some(step), messages.len());
        last = output(&name, message.clone(), step);
        events.push(model_event(episode, &name, &messages, last.clone(), step));
        messages.push(message);
        for message in observed(step).iter() {
            let said = said(message, Some(step), messages.len());
            if let AnyMessage::Response(response) = message {
                events.push(tool_event(episode, &step.action, response, &said, step));
            }
            messages.push(said);
        }
    }
    if last.is_null() {
        last = json!({"model": (name.clone()), "choices": []});
    }
    let input = episode
        .start
        .iter()
        .rfind(|message| message.role() == Role::User);
    let input = input.map(|message| crate::passages::content(message.body()).into_owned());
    let mut metadata = episode.metadata.clone();
    let target = metadata.remove("target");
    let steps = episode.steps.iter().map(|step| Json::from(step.reward()));
    if episode.rewards == Rewards::Steps && !episode.steps.is_empty() {
        metadata.insert("rewards", steps.collect::<Vec<_>>());
    }
    metadata.remove("epoch");
    let store = match episode.frames.last().map(|frame| &frame.state) {
        Some(Json::Object(state)) => state.clone(),
        _ => Object::new(),
    };
    let mut sample = object!({
        "id": id,
        "epoch": epoch,
        "input": (input.unwrap_or_default()),
        "target": (target.filter(is_target).unwrap_or_else(|| "".into())),
        "messages": messages,
        "output": last,
        "scores": (scores(episode)),
        "metadata": metadata,
        "store": store,
        "events": events,
        "model_usage": {},
        "attachments": {},
        "uuid": (episode.id.clone())
    });
    let usage = usage_to_json(&episode.usage());
    if let Some(usage) = usage {
        let usages = Object::from_pairs(vec![(name.to_string().into(), usage.into())]);
        sample.insert("model_usage", usages);
    }
    put(
        &mut sample,
        "started_at",
        episode.started.and_then(time::format),
    );
    put(&mut sample, "total_time", episode.seconds);
    match &episode.ending {
        Ending::Crashed { message } => {
            sample.insert(
                "error",
                json!({"message": (message.clone()), "traceback": "", "traceback_ansi": ""}),
            );
        }
        Ending::Truncated { reason } => {
            sample.insert(
                "limit",
                json!({"type": "custom", "limit": 0.0, "reason": (reason.clone())}),
            );
        }
        Ending::Open | Ending::Done => {}
    }
    sample
}

/// A target is a text or a list of texts.
fn is_target(value: &Json) -> bool {
    match value {
        Json::Text(_) => true,
        Json::List(list) => list.iter().all(|one| one.as_text().is_some()),
        _ => false,
    }
}

fn scores(episode: &Episode) -> Object {
    let mut pairs = Vec::new();
    for Score {
        name,
        value,
        explanation,
        extras,
    } in &episode.scores
    {
        let mut score = object!({"value": (score_value(value))});
        put(&mut score, "explanation", explanation.clone());
        put(
            &mut score,
            "answer",
            extras
                .get("answer")
                .filter(|answer| answer.as_text().is_some())
                .cloned(),
        );
        put(
            &mut score,
            "metadata",
            extras
                .get("metadata")
                .filter(|it| it.as_object().is_some())
                .cloned(),
        );
        pairs.push((name.to_string().into(), score.into()));
    }
    if pairs.is_empty()
        && let Some(reward) = episode.reward()
    {
        pairs.push(("reward".into(), json!({ "value": reward })));
    }
    Object::from_pairs(pairs)
}

/// Scores are numbers, texts, true or false, and lists and objects of such; others go as their text.
fn score_value(value: &Json) -> Json {
    let simple = |value: &Json| match value {
        Json::Null => Some("".into()),
        Json::Float(number) if !number.is_finite() => Some(value.to_python_text().into()),
        Json::Text(_) | Json::Bool(_) | Json::Integer(_) | Json::Float(_) => Some(value.clone()),
        Json::List(_) | Json::Object(_) => None,
    };
    let several = |value: &Json| match value {
        Json::List(list) => list
            .iter()
            .map(simple)
            .collect::<Option<Vec<_>>>()
            .map(Json::List),
        Json::Object(object) => {
            let pairs = object
                .iter()
                .map(|(key, value)| Some((key.clone(), simple(value)?)));
            let pairs = pairs.collect::<Option<Vec<_>>>()?;
            Some(Object::from_distinct(pairs).into())
        }
        _ => None,
    };
    simple(value)
        .or_else(|| several(value))
        .unwrap_or_else(|| value.to_python_text().into())
}

fn said(message: &AnyMessage, step: Option<&StepRecord>, place: usize) -> Json {
    let body = message.body();
    let role = match message.role() {
        Role::Function => "tool",
        role => role.as_str(),
    };
    let mut object = object!({"id": (format!("m{place}")), "role": role});
    let is_action = message.role() == Role::Assistant;
    let reasoning = step
        .filter(|_| is_action)
        .and_then(|step| step.details.reasoning.clone());
    object.insert("content", content(body, reasoning));
    match message {
        AnyMessage::Request(request) if !request.tool_calls.is_empty() => {
            let calls = request.tool_calls.iter().map(|call| {
                json!({
                    "id": (call.id.clone()),
                    "function": (call.function.name.clone()),
                    "arguments": (call.function.arguments.clone()),
                    "type": "function"
                })
            });
            object.insert("tool_calls", calls.collect::<Vec<_>>());
        }
        AnyMessage::Response(response) => {
            object.insert("tool_call_id", response.tool_call_id.clone());
            object.insert("function", response.name.clone());
            let errors = step.into_iter().flat_map(|step| &step.details.errors);
            let mut errors =
                errors.filter(|error| error.call.as_ref() == Some(&response.tool_call_id));
            if let Some(error) = errors.next() {
                object.insert(
                    "error",
                    json!({"type": "unknown", "message": (error.message.clone())}),
                );
            }
        }
        _ => {}
    }
    object.into()
}

fn content(body: &Body, reasoning: Option<Text>) -> Json {
    let parts = parts(body);
    match (parts.as_slice(), &reasoning) {
        ([], None) => return "".into(),
        ([Part::Text(text)], None) => return text.clone().into(),
        _ => {}
    }
    let reasoning = reasoning.map(|text| json!({"type": "reasoning", "reasoning": text}));
    let parts = parts.into_iter().map(|part| match part {
        Part::Text(text) => json!({"type": "text", "text": text}),
        Part::Image(url) => json!({"type": "image", "image": url}),
        Part::Other(block) => json!({"type": "text", "text": (block.to_python_text())}),
    });
    Json::List(reasoning.into_iter().chain(parts).collect())
}

fn output(model: &Text, message: Json, step: &StepRecord) -> Json {
    let has_calls = message.get("tool_calls").is_some();
    let reason = if has_calls { "tool_calls" } else { "stop" };
    let mut output = object!({
        "model": (step.details.model.clone().unwrap_or_else(|| model.clone())),
        "choices": [{"message": message, "stop_reason": reason}]
    });
    let usage = step.details.usage.as_ref().and_then(usage_to_json);
    put(&mut output, "usage", usage);
    put(&mut output, "time", step.seconds);
    output.into()
}

/// Inspect counts what came from a cache apart from the input.
fn usage_to_json(usage: &Usage) -> Option<Object> {
    if usage.is_empty() {
        return None;
    }
    let (input, output) = (
        usage.input.unwrap_or_default(),
        usage.output.unwrap_or_default(),
    );
    let mut object = object!({
        "input_tokens": (count(input.saturating_sub(usage.cached.unwrap_or_default()))),
        "output_tokens": (count(output)),
        "total_tokens": (count(input.saturating_add(output)))
    });
    put(
        &mut object,
        "input_tokens_cache_read",
        usage.cached.map(count),
    );
    put(&mut object, "reasoning_tokens", usage.reasoning.map(count));
    put(&mut object, "total_cost", usage.cost);
    Some(object)
}
