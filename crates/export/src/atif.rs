//! ATIF 1.7, the trajectory format of Harbor. It allows no unknown members, so values that it does not define (reward,
//! done, truncated, failures) are written to `extra`, from which Volary reads them again.

use volary_core::json::{Json, Object, Text};
use volary_core::message::Body;
use volary_core::tool::wire::ToolDumpOptions;
use volary_core::{AnyMessage, Role, json, object};
use volary_episode::episode::{Episode, Outcome, Relation, Rewards, StepRecord, Usage};
use volary_episode::time;

use super::parts::{ContentPart, count, observed, parts, put, strict};

/// The version that is written.
pub const VERSION: &str = "ATIF-v1.7";

/// The text of a file: the episode, with the linked ones of `subagents` nested in it.
pub fn to_text(episode: &Episode, subagents: &[&Episode]) -> String {
    strict(trajectory(episode, subagents).into()).to_python_text()
}

fn trajectory(episode: &Episode, subagents: &[&Episode]) -> Object {
    let own: Vec<&Episode> = subagents
        .iter()
        .filter(|other| links_to(episode, other).is_some() && other.id != episode.id)
        .copied()
        .collect();
    let mut writer = Writer::default();
    for message in &episode.start {
        writer.said(message);
    }
    for (index, step) in episode.steps.iter().enumerate() {
        writer.step(step, episode, index, &own);
    }
    if writer.steps.is_empty() {
        // ATIF requires at least one step.
        writer.push("system", Json::from(""), Object::new());
    }
    let name = episode.policy.clone().unwrap_or_else(|| "unknown".into());
    let mut agent = object!({"name": name, "version": "unknown"});
    put(&mut agent, "model_name", episode.model.clone());
    if !episode.tools.is_empty() {
        let tools = episode.tools.iter();
        let tools: Vec<Object> = tools.map(|tool| tool.dump(ToolDumpOptions::WIRE)).collect();
        agent.insert("tool_definitions", tools);
    }
    let session = episode.metadata.get("session_id").and_then(Json::as_text);
    let mut trajectory = object!({
        "schema_version": VERSION,
        "session_id": (session.unwrap_or(&episode.id).clone()),
        "trajectory_id": (episode.id.clone()),
        "agent": agent,
        "steps": (writer.steps)
    });
    put(&mut trajectory, "final_metrics", total(&episode.usage()));
    let mut extra = episode.metadata.clone();
    extra.remove("session_id");
    if let Rewards::Whole(reward) = episode.rewards {
        extra.insert("reward", reward);
    }
    put(&mut extra, "outcome", episode.outcome.clone());
    if !extra.is_empty() {
        trajectory.insert("extra", extra);
    }
    if !own.is_empty() {
        // One level: subagents of subagents are listed next to their parents.
        let within = own.iter().map(|other| Json::from(trajectory_alone(other)));
        trajectory.insert("subagent_trajectories", within.collect::<Vec<_>>());
    }
    trajectory
}

fn trajectory_alone(episode: &Episode) -> Object {
    trajectory(episode, &[])
}

/// The step at which an episode links to another one as its subagent; `None` if it does not.
fn links_to(episode: &Episode, other: &Episode) -> Option<Option<usize>> {
    let mut links = episode.links.iter();
    let link =
        links.find(|link| link.relation == Relation::Subagent && link.episode == other.id)?;
    Some(link.step)
}

fn total(usage: &Usage) -> Option<Object> {
    let mut object = Object::new();
    put(&mut object, "total_prompt_tokens", usage.input.map(count));
    put(
        &mut object,
        "total_completion_tokens",
        usage.output.map(count),
    );
    put(&mut object, "total_cached_tokens", usage.cached.map(count));
    put(&mut object, "total_cost_usd", usage.cost);
    (!object.is_empty()).then_some(object)
}

#[derive(Default)]
struct Writer {
    steps: Vec<Json>,
}

impl Writer {
    fn push(&mut self, source: &str, message: Json, mut rest: Object) {
        let mut step = object!({
            "step_id": (count(self.steps.len() as u64 + 1)),
            "source": source,
            "message": message
        });
        step.extend(std::mem::take(&mut rest));
        self.steps.push(step.into());
    }

    /// Writes a message that is not an action of the agent.
    fn said(&mut self, message: &AnyMessage) {
        let source = match message.role() {
            Role::Assistant => "agent",
            Role::User => "user",
            Role::System | Role::Tool | Role::Function => "system",
        };
        let mut rest = Object::new();
        if let AnyMessage::Request(request) = message
            && !request.tool_calls.is_empty()
        {
            rest.insert("tool_calls", calls(message));
        }
        self.push(source, content(message.body()), rest);
    }

    fn step(&mut self, step: &StepRecord, episode: &Episode, index: usize, own: &[&Episode]) {
        let mut rest = Object::new();
        let started = step.details.started.and_then(time::format);
        put(&mut rest, "timestamp", started);
        let model = step.details.model.clone().or_else(|| episode.model.clone());
        put(&mut rest, "model_name", model);
        put(
            &mut rest,
            "reasoning_content",
            step.details.reasoning.clone(),
        );
        let calls = calls(&step.action);
        let (answers, others): (Vec<_>, Vec<_>) = observed(step)
            .iter()
            .cloned()
            .partition(|message| matches!(message, AnyMessage::Response(_)));
        let known: Vec<&Text> = match &step.action {
            AnyMessage::Request(request) => {
                request.tool_calls.iter().map(|call| &call.id).collect()
            }
            _ => Vec::new(),
        };
        let mut results: Vec<Json> = answers
            .iter()
            .map(|answer| result(answer, &known, step))
            .collect();
        for other in own {
            if links_to(episode, other) == Some(Some(index)) {
                let session = &episode.id;
                results.push(json!({
                    "subagent_trajectory_ref": [{"trajectory_id": (other.id.clone()), "session_id": (session.clone())}]
                }));
            }
        }
        if !calls.is_empty() {
            rest.insert("tool_calls", calls);
        }
        if !results.is_empty() {
            rest.insert("observation", json!({ "results": results }));
        }
        put(
            &mut rest,
            "metrics",
            step.details.usage.as_ref().and_then(metrics),
        );
        rest.insert("extra", extra(step, episode));
        self.push("agent", content(step.action.body()), rest);
        for message in &others {
            self.said(message);
        }
    }
}

fn calls(message: &AnyMessage) -> Vec<Json> {
    let AnyMessage::Request(request) = message else {
        return Vec::new();
    };
    let calls = request.tool_calls.iter();
    calls
        .map(|call| {
            json!({
                "tool_call_id": (call.id.clone()),
                "function_name": (call.function.name.clone()),
                "arguments": (call.function.arguments.clone())
            })
        })
        .collect()
}

/// A result names its call only if the step contains that call. A failed call is recorded in the result's `extra`.
fn result(message: &AnyMessage, known: &[&Text], step: &StepRecord) -> Json {
    let mut result = Object::new();
    if let AnyMessage::Response(response) = message
        && known.contains(&&response.tool_call_id)
    {
        result.insert("source_call_id", response.tool_call_id.clone());
    }
    result.insert("content", content(message.body()));
    if let AnyMessage::Response(response) = message {
        let mut errors = step.details.errors.iter();
        let failed = errors.find(|error| error.call.as_ref() == Some(&response.tool_call_id));
        if let Some(error) = failed {
            let extra = json!({"is_error": true, "error": (error.message.clone())});
            result.insert("extra", extra);
        }
    }
    result.into()
}

fn metrics(usage: &Usage) -> Option<Object> {
    let mut object = Object::new();
    put(&mut object, "prompt_tokens", usage.input.map(count));
    put(&mut object, "completion_tokens", usage.output.map(count));
    put(&mut object, "cached_tokens", usage.cached.map(count));
    put(&mut object, "cost_usd", usage.cost);
    if let Some(reasoning) = usage.reasoning {
        let extra = object!({"reasoning_tokens": (count(reasoning))});
        object.insert("extra", extra);
    }
    (!object.is_empty()).then_some(object)
}

fn extra(step: &StepRecord, episode: &Episode) -> Object {
    let mut extra = match step.extras.get("extra") {
        Some(Json::Object(extra)) => extra.clone(),
        _ => Object::new(),
    };
    match &step.outcome {
        Outcome::Observed {
            reward,
            done,
            truncated,
            ..
        } => {
            if episode.rewards == Rewards::Steps {
                extra.insert("reward", *reward);
            }
            extra.insert("done", *done);
            extra.insert("truncated", *truncated);
        }
        Outcome::Failed { message } => {
            extra.insert("failure", message.clone());
        }
    }
    put(&mut extra, "seconds", step.seconds);
    // Errors of calls are written with their results.
    let errors = step.details.errors.iter();
    let errors = errors.filter(|error| error.call.is_none());
    let errors: Vec<Json> = errors.map(|error| error.message.clone().into()).collect();
    if !errors.is_empty() {
        extra.insert("errors", errors);
    }
    extra
}

/// A text, or a list of parts if there is more than text.
fn content(body: &Body) -> Json {
    let parts = parts(body);
    match parts.as_slice() {
        [] => return "".into(),
        [ContentPart::Text(text)] => return text.clone().into(),
        _ => {}
    }
    let parts = parts.into_iter().map(|part| match part {
        ContentPart::Text(text) => json!({"type": "text", "text": text}),
        ContentPart::Image(url) => match media_type(&url) {
            Some(kind) => json!({"type": "image", "source": {"media_type": kind, "path": url}}),
            None => json!({"type": "text", "text": url}),
        },
        ContentPart::Other(block) => json!({"type": "text", "text": (block.to_python_text())}),
    });
    Json::List(parts.collect())
}

/// The media type of an image, if ATIF supports it.
fn media_type(url: &str) -> Option<&'static str> {
    const KNOWN: [&str; 4] = ["image/png", "image/jpeg", "image/gif", "image/webp"];
    let kind = url
        .strip_prefix("data:")
        .map(|rest| KNOWN.into_iter().find(|kind| rest.starts_with(kind)));
    match kind {
        Some(kind) => kind,
        None => {
            let path = url.split(['?', '#']).next().unwrap_or_default();
            let kind = path.rsplit('.').next()?.to_lowercase();
            KNOWN
                .into_iter()
                .find(|known| known.ends_with(&kind))
                .or((kind == "jpg").then_some("image/jpeg"))
        }
    }
}
