//! A tool in OpenEnv's form, and in that of MCP.

use volary_core::Tool;
use volary_core::json::{Json, Object};
use volary_core::object;

/// The schema of a tool's arguments; for a tool without parameters, that of an empty object.
pub fn input_schema(tool: &Tool) -> Object {
    match &tool.info.parameters {
        Some(parameters) => parameters.dump(false),
        None => object!({"type": "object", "properties": {}}),
    }
}

/// OpenEnv's form, as in the observation of `list_tools`.
pub fn to_openenv(tool: &Tool) -> Json {
    with_schema(tool, "input_schema")
}

/// MCP's form, as in the result of `tools/list`.
pub fn to_mcp(tool: &Tool) -> Json {
    with_schema(tool, "inputSchema")
}

fn with_schema(tool: &Tool, key: &'static str) -> Json {
    let mut spec = object!({
        "name": (tool.info.name.clone()),
        "description": (tool.info.description.clone())
    });
    spec.insert(key, input_schema(tool));
    Json::Object(spec)
}
