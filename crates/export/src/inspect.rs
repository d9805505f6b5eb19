//! A log of Inspect (`.json`, version 2), which `inspect view` opens: one sample per episode.

mod events;
mod scores;
mod store;

use std::collections::HashMap;

use volary_core::json::{Json, Object, Text};
use volary_core::message::Body;
use volary_core::{AnyMessage, Role, json, object};
use volary_episode::episode::{Ending, Episode, Rewards, StepRecord, Usage};
use volary_episode::time;

use super::parts::{ContentPart, count, observed, parts, put, strict};
use events::{model_event, tool_event};
use scores::scores;
use store::Stores;

/// The text of a file. `name` is the log's task if the episodes do not share one.
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
    let mut stores = Stores::new(episode);
    events.extend(stores.next());
    for (index, step) in episode.steps.iter().enumerate() {
        let message = said(&step.action, Some(step), messages.len());
        last = output(&name, message.clone(), step);
        if index + 1 == episode.steps.len() {
            tell_reason(&mut last, episode);
        }
        events.push(model_event(episode, &name, &messages, last.clone(), step));
        messages.push(message);
        for message in observed(step).iter() {
            let said = said(message, Some(step), messages.len());
            if let AnyMessage::Response(response) = message {
                events.push(tool_event(episode, &step.action, response, &said, step));
            }
            messages.push(said);
        }
        events.extend(stores.next());
    }
    if last.is_null() {
        last = json!({"model": (name.clone()), "choices": []});
    }
    let input = episode
        .start
        .iter()
        .rfind(|message| message.role() == Role::User);
    let input = input.map(|message| volary_episode::passages::content(message.body()).into_owned());
    let mut metadata = episode.metadata.clone();
    let target = metadata.remove("target");
    let steps = episode.steps.iter().map(|step| Json::from(step.reward()));
    if episode.rewards == Rewards::Steps && !episode.steps.is_empty() {
        metadata.insert("rewards", steps.collect::<Vec<_>>());
    }
    metadata.remove("epoch");
    let mut sample = object!({
        "id": id,
        "epoch": epoch,
        "input": (input.unwrap_or_default()),
        "target": (target.filter(is_target).unwrap_or_else(|| "".into())),
        "messages": messages,
        "output": last,
        "scores": (scores(episode)),
        "metadata": metadata,
        "store": (store::last(episode)),
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
            let mut limit =
                known_limit(episode).unwrap_or_else(|| object!({"type": "custom", "limit": 0.0}));
            limit.insert("reason", reason.clone());
            sample.insert("limit", limit);
        }
        Ending::Open | Ending::Done => {}
    }
    sample
}

/// The limit recorded by an Inspect log, if Inspect supports it.
fn known_limit(episode: &Episode) -> Option<Object> {
    let limit = episode.raw.get("limit")?;
    let kind = limit.get("type")?.as_text()?;
    let value = limit.get("limit")?.as_f64()?;
    let known = [
        "context", "time", "working", "message", "token", "cost", "operator", "custom",
    ];
    known
        .contains(&kind.as_ref())
        .then(|| object!({"type": (kind.clone()), "limit": value}))
}

/// Sets the stop reason of the model's last output, if the episode's outcome is one of Inspect's reasons.
fn tell_reason(output: &mut Json, episode: &Episode) {
    const REASONS: [&str; 6] = [
        "stop",
        "max_tokens",
        "model_length",
        "tool_calls",
        "content_filter",
        "unknown",
    ];
    if let Some(reason) = episode
        .outcome
        .as_ref()
        .filter(|reason| REASONS.contains(&reason.as_ref()))
        && let Json::Object(output) = output
        && let Some(Json::List(choices)) = output.get_mut("choices")
        && let Some(Json::Object(choice)) = choices.first_mut()
    {
        choice.insert("stop_reason", reason.clone());
    }
}

/// A target is a text or a list of texts.
fn is_target(value: &Json) -> bool {
    match value {
        Json::Text(_) => true,
        Json::List(list) => list.iter().all(|one| one.as_text().is_some()),
        _ => false,
    }
}

fn said(message: &AnyMessage, step: Option<&StepRecord>, index: usize) -> Json {
    let body = message.body();
    let role = match message.role() {
        Role::Function => "tool",
        role => role.as_str(),
    };
    let mut object = object!({"id": (format!("m{index}")), "role": role});
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
        ([ContentPart::Text(text)], None) => return text.clone().into(),
        _ => {}
    }
    let reasoning = reasoning.map(|text| json!({"type": "reasoning", "reasoning": text}));
    let parts = parts.into_iter().map(|part| match part {
        ContentPart::Text(text) => json!({"type": "text", "text": text}),
        ContentPart::Image(url) => json!({"type": "image", "image": url}),
        ContentPart::Other(block) => json!({"type": "text", "text": (block.to_python_text())}),
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

/// Inspect counts cached tokens separately from the input.
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
