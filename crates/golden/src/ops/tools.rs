//! Tools as JSON and as texts for prompts.

use volary_core::tool::ToolDumpOptions;
use volary_core::{FunctionInfo, Json, Tool, json};

use super::environments::reset;
use super::input::{World, flag, given, required, told};

pub(super) fn dump(input: &Json) -> Result<Json, String> {
    let options = required(input, "options")?;
    let options = ToolDumpOptions {
        by_alias: flag(options, "by_alias", false)?,
        exclude_none: flag(options, "exclude_none", false)?,
    };
    let dumps: Vec<_> = match given(input, "tools") {
        Some(tools) => tools
            .as_list()
            .unwrap_or_default()
            .iter()
            .map(|tool| Ok(Tool::read(tool).map_err(told)?.dump(options)))
            .collect::<Result<_, String>>()?,
        None => {
            let (_, reset) = reset(&World::new(), input)?;
            reset.tools.iter().map(|tool| tool.dump(options)).collect()
        }
    };
    Ok(dumps.into())
}

pub(super) fn describe(input: &Json) -> Result<Json, String> {
    let info = FunctionInfo::read(required(input, "info")?).map_err(told)?;
    Ok(json!({"str": (info.describe_str()), "json": (info.describe_json())}))
}
