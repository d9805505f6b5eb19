//! Tool calls: parsing, display, construction, answers.

use volary_core::message::DumpOptions;
use volary_core::random::Random;
use volary_core::tool::ToolCallFunction;
use volary_core::{Json, Text, Tool, ToolCall, ToolRequestMessage, ToolResponseMessage, json};

use super::input::{given, list, object, required, text, told};

pub(super) fn parse(input: &Json) -> Result<Json, String> {
    let data = required(input, "data")?;
    let dump = match &*text(input, "as")? {
        "ToolCall" => ToolCall::read(data).map(|call| call.dump()),
        "ToolCallFunction" => ToolCallFunction::read(data).map(|function| function.dump()),
        unknown => return Err(format!("the kind {unknown} is unknown")),
    };
    dump.map(Json::Object).map_err(told)
}

pub(super) fn display(input: &Json) -> Result<Json, String> {
    let call = json!({
        "id": (text(input, "id")?),
        "function": {"name": (text(input, "name")?), "arguments": (text(input, "arguments")?)}
    });
    let call = ToolCall::read(&call).map_err(told)?;
    let shown = call.to_string();
    if shown != call.function.to_string() {
        return Err("a call and its function are shown differently".to_owned());
    }
    Ok(shown.into())
}

pub(super) fn from_tool(input: &Json) -> Result<Json, String> {
    let tool = Tool::read(required(input, "tool")?).map_err(told)?;
    let positional = list(input, "args")?.to_vec();
    let named = object(input, "kwargs")?;
    let id = match given(input, "id") {
        Some(_) => text(input, "id")?,
        None => Text::default(),
    };
    let call = ToolCall::from_tool(&tool, positional, named, id, &mut Random::new(0));
    Ok(call.dump().into())
}

pub(super) fn responses(input: &Json) -> Result<Json, String> {
    let request = ToolRequestMessage::read(required(input, "request")?).map_err(told)?;
    let contents = list(input, "contents")?;
    let responses = ToolResponseMessage::from_request(&request, contents).map_err(told)?;
    let dumps: Result<Vec<_>, _> = responses
        .iter()
        .map(|response| response.dump(&DumpOptions::default()))
        .collect();
    dumps.map(Json::from).map_err(told)
}
