//! Running tool calls, with the tools that the cases call.

use std::borrow::Cow;
use std::cell::RefCell;
use std::time::Duration;

use volary_core::exec::{self, ExecOptions};
use volary_core::fields::{self, FieldError};
use volary_core::tool::ToolSet;
use volary_core::{
    Json, Message, Text, ToolError, ToolRequestMessage, ToolResponseMessage, ToolValue, object,
};
use volary_envs::cast::{to_float, to_integer};
use volary_macros::tool;

use super::environments::full;
use super::input::{World, flag, given, required, told, whole};

/// The state passed to the tools: a number, if the case has a state.
type State = Option<i64>;

pub(super) fn exec_tool_calls(input: &Json) -> Result<Json, String> {
    let message = ToolRequestMessage::read(required(input, "message")?).map_err(told)?;
    let none = Json::Null;
    let options = input.get("options").unwrap_or(&none);
    let state: State = given(options, "state")
        .map(|_| whole(options, "state"))
        .transpose()?;
    let state = RefCell::new(state);
    let world = World::new();
    let tools = ToolSet::new([
        echo::tool(),
        give::tool(),
        agive::tool(),
        give_message::tool(),
        give_record::tool(),
        fail::tool(),
        whoami::tool(),
        both::tool(),
        bump::tool(),
        peek::tool(),
        pair::tool(),
    ]);
    let responses = run(&world, &tools, &state, &message, &exec_options(options)?)?;
    let messages: Vec<_> = responses.into_iter().map(Into::into).collect();
    let mut result = object!({"responses": (full(&messages)?)});
    if let Some(state) = state.into_inner() {
        result.insert("state", state);
    }
    Ok(result.into())
}

pub(super) fn run<S>(
    world: &World,
    tools: &ToolSet<S>,
    state: &RefCell<S>,
    message: &ToolRequestMessage,
    options: &ExecOptions,
) -> Result<Vec<ToolResponseMessage>, String> {
    let clock = world.clock();
    world.run(exec::exec_tool_calls(tools, state, message, options, clock))
}

pub(super) fn exec_options(options: &Json) -> Result<ExecOptions, String> {
    let defaults = ExecOptions::default();
    Ok(ExecOptions {
        concurrency: flag(options, "concurrency", defaults.concurrency)?,
        handle_tool_exc: flag(options, "handle_tool_exc", defaults.handle_tool_exc)?,
        handle_invalid_tool_calls: flag(
            options,
            "handle_invalid_tool_calls",
            defaults.handle_invalid_tool_calls,
        )?,
        exec_timeout: given(options, "exec_timeout_ms")
            .and_then(Json::as_f64)
            .map(milliseconds),
    })
}

pub(super) fn milliseconds(number: f64) -> Duration {
    Duration::try_from_secs_f64(number / 1000.0).unwrap_or_default()
}

/// Give the text.
#[tool(allow_missing_descriptions)]
fn echo(text: &Json) -> Json {
    text.clone()
}

/// Give the value.
#[tool(allow_missing_descriptions)]
fn give(value: &Json) -> Json {
    value.clone()
}

/// Give the value, later.
#[tool(allow_missing_descriptions)]
async fn agive(value: &Json) -> Json {
    value.clone()
}

/// Give the message.
#[tool(allow_missing_descriptions)]
fn give_message(message: &Json) -> Result<Message, ToolError> {
    Message::read(message).map_err(|error| ToolError::new("ValidationError", error.to_string()))
}

/// Give the record.
#[tool(allow_missing_descriptions)]
fn give_record(record: &Json) -> Result<ToolValue, ToolError> {
    read_record(record).map_err(|error| ToolError::new("ValidationError", error.to_string()))
}

fn read_record(record: &Json) -> Result<ToolValue, FieldError> {
    let record = fields::object("record", record)?;
    let id = match record.get("recordId").or(record.get("record_id")) {
        Some(Json::Float(id)) if id.fract() != 0.0 => None,
        Some(id) => to_integer(id).ok(),
        None => None,
    };
    let id = id.ok_or_else(|| FieldError::new("recordId", "an integer is needed"))?;
    let label = match record.get("label") {
        None | Some(Json::Null) => Json::Null,
        Some(label) => fields::text("label", label)?.into(),
    };
    let score = match record.get("score").map(to_float) {
        None => 1.0,
        Some(Ok(score)) => score,
        Some(Err(_)) => return Err(FieldError::new("score", "a number is needed")),
    };
    let tags = match record.get("tags") {
        None => Vec::new(),
        Some(tags) => fields::list("tags", tags)?
            .iter()
            .map(|tag| fields::text("tags", tag))
            .collect::<Result<_, _>>()?,
    };
    Ok(ToolValue::Record(object!({
        "recordId": (Json::Integer(id)),
        "label": label,
        "score": score,
        "tags": tags
    })))
}

/// Fail.
#[tool(allow_missing_descriptions)]
fn fail(kind: String, text: &str) -> Result<(), ToolError> {
    if kind == "group" {
        let parts = text.split(',').map(ToolError::value).collect();
        return Err(ToolError::group("several failures", parts));
    }
    Err(ToolError::new(Cow::Owned(kind), text))
}

/// Give the id of the call.
#[tool]
fn whoami(tool_call_id: Text) -> Text {
    tool_call_id
}

/// Give the id of the call and the number.
#[tool]
fn both(tool_call_id: &str, state: &State) -> Result<String, ToolError> {
    Ok(format!("{tool_call_id}: {}", number(state)?))
}

/// Add to the number.
#[tool(allow_missing_descriptions)]
fn bump(by: i64, state: &mut State) -> Result<i64, ToolError> {
    let sum = number(state)? + by;
    *state = Some(sum);
    Ok(sum)
}

/// Give the number.
#[tool]
fn peek(state: &State) -> Result<i64, ToolError> {
    number(state)
}

/// Give both.
#[tool(allow_missing_descriptions)]
fn pair(first: &Json, second: &Json) -> Json {
    Json::List(vec![first.clone(), second.clone()])
}

fn number(state: &State) -> Result<i64, ToolError> {
    state.ok_or_else(|| ToolError::arguments("missing 1 required positional argument: 'state'"))
}
