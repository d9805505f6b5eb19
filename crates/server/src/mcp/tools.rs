//! The tools: those of the environment, and `reset`.

use std::sync::Arc;

use rmcp::model::{JsonObject, Tool, ToolAnnotations};
use serde_json::{Value, json};
use volary_openenv::tool_spec;

use super::values::to_serde_object;

/// The tool that starts an episode.
pub const RESET: &str = "reset";
/// Its name where the environment has a tool of that name.
const OTHER_RESET: &str = "reset_environment";

/// The argument that names the episode where there are no sessions.
pub const EPISODE: &str = "episode";

/// The name of the tool that starts an episode, next to those of the environment.
pub fn reset_name(tools: &[Arc<volary_core::Tool>]) -> &'static str {
    let is_taken = tools.iter().any(|tool| &*tool.info.name == RESET);
    if is_taken { OTHER_RESET } else { RESET }
}

/// All tools. Without sessions, each call names its episode.
pub fn list(tools: &[Arc<volary_core::Tool>], names_episodes: bool) -> Vec<Tool> {
    let of_environment = tools
        .iter()
        .map(|tool| of_environment(tool, names_episodes));
    std::iter::once(reset(reset_name(tools), names_episodes))
        .chain(of_environment)
        .collect()
}

fn of_environment(tool: &volary_core::Tool, names_episode: bool) -> Tool {
    let mut schema = to_serde_object(&tool_spec::input_schema(tool));
    if names_episode {
        require_episode(&mut schema);
    }
    let annotations = ToolAnnotations::new()
        .read_only(false)
        .destructive(false)
        .idempotent(false)
        .open_world(false);
    Tool::new(
        tool.info.name.to_string(),
        tool.info.description.to_string(),
        schema,
    )
    .with_raw_output_schema(Arc::new(step_schema()))
    .with_annotations(annotations)
}

fn require_episode(schema: &mut JsonObject) {
    let property = json!({"type": "string", "description": "The episode, as reset returned it."});
    if let Value::Object(properties) = schema.entry("properties").or_insert_with(|| json!({})) {
        properties.insert(EPISODE.to_owned(), property);
    }
    if let Value::Array(required) = schema.entry("required").or_insert_with(|| json!([])) {
        required.push(EPISODE.into());
    }
}

fn reset(name: &'static str, names_episodes: bool) -> Tool {
    let description = if names_episodes {
        "Starts an episode and returns its task, and the name of the episode, which every other tool needs. Without arguments, \
         the next task."
    } else {
        "Starts an episode, which replaces the one before, and returns its task. Call it first. Without arguments, the next task."
    };
    let schema = json!({
        "type": "object",
        "properties": {
            "index": {"type": "integer", "description": "Which task, from 0; negative ones count from the end."},
            "seed": {"type": "integer", "minimum": 0, "description": "The seed of all randomness; without an index, of the task, too."},
            "task_kwargs": {"type": "object", "description": "Or arguments from which the environment makes a task."}
        }
    });
    Tool::new(name, description, as_object(schema))
        .with_title("Start an episode")
        .with_raw_output_schema(Arc::new(reset_schema()))
}

/// The structured result of `reset`.
fn reset_schema() -> JsonObject {
    as_object(json!({
        "type": "object",
        "properties": {
            "messages": {"type": "array", "items": {"type": "object"}},
            EPISODE: {"type": "string"}
        },
        "required": ["messages"]
    }))
}

/// The structured result of a tool of the environment.
fn step_schema() -> JsonObject {
    as_object(json!({
        "type": "object",
        "properties": {
            "messages": {"type": "array", "items": {"type": "object"}},
            "reward": {"type": ["number", "null"], "description": "The reward of this step."},
            "done": {"type": "boolean", "description": "Whether the episode is over."},
            "truncated": {"type": "boolean"}
        },
        "required": ["messages", "reward", "done", "truncated"]
    }))
}

fn as_object(value: Value) -> JsonObject {
    match value {
        Value::Object(object) => object,
        _ => JsonObject::new(),
    }
}
