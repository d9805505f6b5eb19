//! The events of an episode for Inspect's transcript: model calls and tool runs, step by step.

use volary_core::json::{Json, Object, Text};
use volary_core::{AnyMessage, Tool, ToolResponseMessage, json, object};
use volary_episode::episode::{Episode, Outcome, StepRecord};
use volary_episode::time;

use crate::parts::put;

/// The model call that led to a step. Its input consists of the previous messages, so it is not repeated.
pub(super) fn model_event(
    episode: &Episode,
    model: &Text,
    before: &[Json],
    output: Json,
    step: &StepRecord,
) -> Json {
    let tools = if before.len() <= episode.start.len() {
        episode.tools.iter().filter_map(tool).collect()
    } else {
        Vec::new()
    };
    let mut event = object!({
        "event": "model",
        "timestamp": (timestamp(episode, step)),
        "working_start": 0.0,
        "model": (step.details.model.clone().unwrap_or_else(|| model.clone())),
        "input": [],
        "tools": tools,
        "tool_choice": "auto",
        "config": {},
        "output": output
    });
    if let Outcome::Failed { message } = &step.outcome {
        event.insert("error", message.clone());
    }
    event.into()
}

/// The event of a tool run that returned a response; the response is written as a message already.
pub(super) fn tool_event(
    episode: &Episode,
    action: &AnyMessage,
    response: &ToolResponseMessage,
    written: &Json,
    step: &StepRecord,
) -> Json {
    let calls = match action {
        AnyMessage::Request(request) => request.tool_calls.as_slice(),
        _ => &[],
    };
    let mut calls = calls.iter();
    let call = calls.find(|call| call.id == response.tool_call_id);
    let arguments = call.map(|call| call.function.arguments.clone());
    let mut event = object!({
        "event": "tool",
        "timestamp": (timestamp(episode, step)),
        "working_start": 0.0,
        "type": "function",
        "id": (response.tool_call_id.clone()),
        "function": (response.name.clone()),
        "arguments": (arguments.unwrap_or_default()),
        "result": (written.get("content").cloned().unwrap_or_default()),
        "events": []
    });
    put(&mut event, "message_id", written.get("id").cloned());
    put(&mut event, "error", written.get("error").cloned());
    event.into()
}

fn timestamp(episode: &Episode, step: &StepRecord) -> String {
    let started = step.details.started.or(episode.started).unwrap_or_default();
    time::format(started).unwrap_or_else(|| "1970-01-01T00:00:00Z".into())
}

/// A tool in Inspect's form: its parameters are the schema of an object.
fn tool(tool: &Tool) -> Option<Json> {
    let parameters = tool.info.parameters.as_ref()?;
    let properties = parameters.properties.iter();
    // Inspect reads a subset of JSON Schema and rejects references.
    let properties = properties.map(|(key, schema)| {
        let kind = schema.get("type").and_then(Json::as_text).cloned();
        let description = schema.get("description").and_then(Json::as_text).cloned();
        let mut known = Object::new();
        put(&mut known, "type", kind);
        put(&mut known, "description", description);
        (key.clone(), Json::from(known))
    });
    Some(json!({
        "name": (tool.info.name.clone()),
        "description": (tool.info.description.clone()),
        "parameters": {
            "type": "object",
            "properties": (Object::from_pairs(properties.collect())),
            "required": (parameters.required.clone())
        }
    }))
}
