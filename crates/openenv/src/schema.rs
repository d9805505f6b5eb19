//! The reply to `/schema`: what actions, observations and the state look like.

use std::sync::Arc;

use volary_core::json::{Json, Object};
use volary_core::{Tool, json};

use crate::tool_spec;

/// The schemas of an environment with these tools. The action is OpenEnv's `CallToolAction`, with a case for each tool, so
/// that a form or a model knows the arguments.
pub fn of_tools(tools: &[Arc<Tool>]) -> Json {
    json!({
        "action": (action(tools)),
        "observation": (observation()),
        "reset_observation": (reset_observation()),
        "state": (state())
    })
}

fn action(tools: &[Arc<Tool>]) -> Json {
    let names = tools.iter().map(|tool| tool.info.name.clone().into());
    let cases = tools.iter().map(|tool| {
        json!({
            "properties": {
                "tool_name": {"const": (tool.info.name.clone())},
                "arguments": (Json::Object(arguments(tool)))
            }
        })
    });
    json!({
        "title": "CallToolAction",
        "type": "object",
        "properties": {
            "type": {"const": "call_tool", "default": "call_tool"},
            "tool_name": {"type": "string", "enum": (Json::List(names.collect()))},
            "arguments": {"type": "object", "default": {}},
            "metadata": {"type": "object", "default": {}}
        },
        "required": ["tool_name"],
        "oneOf": (Json::List(cases.collect()))
    })
}

fn arguments(tool: &Tool) -> Object {
    let mut schema = tool_spec::input_schema(tool);
    schema.insert("description", tool.info.description.clone());
    schema
}

fn messages() -> Json {
    json!({
        "type": "array",
        "items": {
            "type": "object",
            "properties": {
                "role": {"type": "string"},
                "content": {"anyOf": [{"type": "string"}, {"type": "null"}]}
            },
            "required": ["role"]
        }
    })
}

fn observation() -> Json {
    json!({
        "title": "CallToolObservation",
        "type": "object",
        "properties": {
            "messages": (messages()),
            "tool_name": {"type": "string"},
            "result": {"type": "string"},
            "error": {"type": "null"},
            "metadata": {"type": "object"}
        },
        "required": ["messages"]
    })
}

fn reset_observation() -> Json {
    json!({
        "title": "ResetObservation",
        "type": "object",
        "properties": {
            "messages": (messages()),
            "prompt": {"type": "string"},
            "available_tools": {
                "type": "array",
                "items": {
                    "type": "object",
                    "properties": {
                        "name": {"type": "string"},
                        "description": {"type": "string"},
                        "input_schema": {"type": "object"}
                    },
                    "required": ["name", "description", "input_schema"]
                }
            },
            "metadata": {"type": "object"}
        },
        "required": ["messages", "prompt", "available_tools"]
    })
}

fn state() -> Json {
    json!({
        "title": "State",
        "type": "object",
        "properties": {
            "episode_id": {"anyOf": [{"type": "string"}, {"type": "null"}]},
            "step_count": {"type": "integer", "minimum": 0},
            "total_reward": {"anyOf": [{"type": "number"}, {"type": "null"}]},
            "done": {"type": "boolean"},
            "frame": {"type": "object"}
        },
        "required": ["episode_id", "step_count"]
    })
}

#[cfg(test)]
mod tests {
    use volary_core::schema::check;
    use volary_core::tool::{FunctionInfo, Parameters};
    use volary_core::{json, object};

    use super::*;

    fn tool(name: &str, properties: Object) -> Arc<Tool> {
        let parameters = Parameters {
            required: properties.keys().map(|key| (&**key).into()).collect(),
            properties,
            ..Parameters::default()
        };
        Arc::new(Tool {
            info: FunctionInfo {
                name: name.into(),
                description: "Does it.".into(),
                parameters: Some(parameters),
            },
            concurrency_safe: true,
        })
    }

    #[test]
    fn the_schema_knows_the_tools_and_their_arguments() {
        let tools = [
            tool("add", object!({"a": {"type": "integer"}})),
            tool("incr", Object::new()),
        ];
        let schema = action(&tools);
        for (action, fits) in [
            (json!({"tool_name": "add", "arguments": {"a": 1}}), true),
            (
                json!({"type": "call_tool", "tool_name": "incr", "arguments": {}}),
                true,
            ),
            (json!({"tool_name": "add", "arguments": {"a": "x"}}), false),
            (json!({"tool_name": "jump"}), false),
            (json!({}), false),
        ] {
            assert_eq!(check(&schema, &action).is_empty(), fits, "{action:?}");
        }
    }
}
