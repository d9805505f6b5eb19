//! Attributes of a span besides messages: the model, tokens, available tools, the tool that was run, and the rest.

use volary_core::Tool;
use volary_core::json::{Json, Key, Object, Text};
use volary_episode::episode::{StepDetails, StepError, Usage};

use super::kinds::{Kind, kind};
use super::messages::{listed, says_messages};
use super::noted;
use super::spans::Span;
use crate::import::chat;
use crate::import::members::{Members, count, number, unpacked};

/// Attributes that the steps contain already; the others are preserved.
const SAID: [&str; 6] = [
    "ai.toolCall.args",
    "ai.toolCall.result",
    "gen_ai.system_instructions",
    "gen_ai.tool.definitions",
    "gen_ai.tool.call.arguments",
    "gen_ai.tool.call.result",
];

/// Attributes with lists of tools.
const TOOLS: [&str; 3] = ["llm.tools", "llm.request.functions", "ai.prompt.tools"];

/// Attributes that repeat the input of a span: messages, or arguments of a tool.
const WENT_IN: [&str; 3] = ["input.value", "input.mime_type", "traceloop.entity.input"];

/// Attributes that repeat the output of a span.
const CAME_OUT: [&str; 3] = [
    "output.value",
    "output.mime_type",
    "traceloop.entity.output",
];

/// The metadata of a model's reply.
pub(super) fn details(span: &Span) -> StepDetails {
    let tokens = |names: &[&str]| names.iter().find_map(|name| count(span.member(name)?));
    let costs = ["gen_ai.usage.cost", "llm.cost.total"].into_iter();
    let usage = Usage {
        input: tokens(&[
            "gen_ai.usage.input_tokens",
            "gen_ai.usage.prompt_tokens",
            "llm.token_count.prompt",
            "llm.usage.prompt_tokens",
            "ai.usage.inputTokens",
            "ai.usage.promptTokens",
        ]),
        output: tokens(&[
            "gen_ai.usage.output_tokens",
            "gen_ai.usage.completion_tokens",
            "llm.token_count.completion",
            "llm.usage.completion_tokens",
            "ai.usage.outputTokens",
            "ai.usage.completionTokens",
        ]),
        cached: tokens(&[
            "gen_ai.usage.cache_read.input_tokens",
            "gen_ai.usage.cache_read_input_tokens",
            "llm.token_count.prompt_details.cache_read",
            "ai.usage.cachedInputTokens",
        ]),
        reasoning: tokens(&[
            "gen_ai.usage.reasoning.output_tokens",
            "gen_ai.usage.reasoning_tokens",
            "llm.token_count.completion_details.reasoning",
            "ai.usage.reasoningTokens",
        ]),
        cost: costs.filter_map(|name| number(span.member(name)?)).next(),
    };
    let error = span.failure.clone().or_else(|| span.text(&["error.type"]));
    StepDetails {
        reasoning: None,
        model: span.text(&[
            "gen_ai.response.model",
            "gen_ai.request.model",
            "llm.response.model_name",
            "llm.model_name",
            "llm.request.model_name",
            "llm.request.model",
            "ai.response.model",
            "ai.model.id",
        ]),
        usage: (!usage.is_empty()).then_some(usage),
        started: span.start,
        errors: error
            .map(|message| StepError {
                call: None,
                message,
            })
            .into_iter()
            .collect(),
    }
}

/// The tools available to a model.
pub(super) fn tools(span: &Span) -> Vec<Tool> {
    if let Some(Json::List(tools)) = span.value("gen_ai.tool.definitions") {
        return tools.iter().filter_map(chat::tool).collect();
    }
    let mut lists = TOOLS.iter().map(|name| listed(span, name));
    let list = lists.find(|list| !list.is_empty()).unwrap_or_default();
    list.into_iter().filter_map(tool).collect()
}

/// Reads a tool: its definition as JSON text, or its name and its parameters.
fn tool(value: Json) -> Option<Tool> {
    let Json::Object(tool) = unpacked(value) else {
        return None;
    };
    let mut tool = super::flat::opened(tool);
    let mut tool = tool.take_object("tool").unwrap_or(tool);
    for key in ["json_schema", "inputSchema", "parameters"] {
        if let Some(schema) = tool.take(key) {
            let schema = unpacked(schema);
            if let Some(whole) = chat::tool(&schema) {
                return Some(whole);
            }
            tool.insert("parameters", schema);
        }
    }
    chat::tool(&tool.into())
}

/// The name of the tool that was run.
pub(super) fn tool_name(span: &Span) -> Text {
    let named = span.text(&[
        "gen_ai.tool.name",
        "tool.name",
        "ai.toolCall.name",
        "traceloop.entity.name",
    ]);
    named.unwrap_or_else(|| span.name.clone())
}

/// The id of the call that a tool was run for; empty if it is not recorded.
pub(super) fn tool_call(span: &Span) -> Text {
    let id = span.text(&[
        "gen_ai.tool.call.id",
        "tool_call.id",
        "tool.id",
        "ai.toolCall.id",
    ]);
    id.unwrap_or_default()
}

/// The arguments of a tool run.
pub(super) fn arguments(span: &Span) -> Option<Json> {
    span.value("gen_ai.tool.call.arguments")
        .or_else(|| noted::arguments(span))
        .or_else(|| span.value("tool_call.function.arguments"))
        .or_else(|| span.value("ai.toolCall.args"))
        .or_else(|| span.value("input.value").map(given))
        .or_else(|| span.value("traceloop.entity.input").map(given))
}

/// The arguments of a function, without Traceloop's wrapper: `{args: [], kwargs}` for a decorated function,
/// `{input_str, inputs}` for a tool of LangChain.
fn given(value: Json) -> Json {
    let Json::Object(mut around) = value else {
        return value;
    };
    let is_empty = |list: &Json| list.as_list().is_some_and(<[Json]>::is_empty);
    let inner = match around.get("args") {
        Some(args) if is_empty(args) => around.take_object("kwargs"),
        None if around.contains_key("input_str") => around.take_object("inputs"),
        _ => None,
    };
    inner.unwrap_or(around).into()
}

/// The result of a tool run.
pub(super) fn result(span: &Span) -> Option<Json> {
    span.value("gen_ai.tool.call.result")
        .or_else(|| noted::result(span))
        .or_else(|| span.value("ai.toolCall.result"))
        .or_else(|| span.value("output.value"))
        .or_else(|| span.value("traceloop.entity.output").map(gave))
}

/// The result of a function: JSON text, in which a text is quoted; `{output, kwargs}` for a tool of LangChain.
fn gave(value: Json) -> Json {
    match value {
        Json::Text(text) if text.starts_with('"') => Json::parse(&text).unwrap_or(Json::Text(text)),
        Json::Object(mut around) if around.contains_key("kwargs") => {
            around.take("output").unwrap_or_else(|| around.into())
        }
        other => other,
    }
}

/// The attributes without a field in the step. Input and output are dropped if the step contains them.
pub(super) fn kept(span: &Span, is_in_told: bool, is_out_told: bool) -> Object {
    let is_step = matches!(kind(span), Kind::Turn | Kind::Tool);
    let is_elsewhere = |name: &str| {
        let is_tool = TOOLS.iter().any(|list| {
            let rest = name.strip_prefix(list);
            rest.is_some_and(|rest| rest.is_empty() || rest.starts_with('.'))
        });
        let is_told =
            is_in_told && WENT_IN.contains(&name) || is_out_told && CAME_OUT.contains(&name);
        SAID.contains(&name) || says_messages(name) || is_tool || is_step && is_told
    };
    // Messages are large, so the others are chosen before they are copied.
    let attributes = span.attributes.iter();
    let attributes = attributes.filter(|(key, _)| !is_elsewhere(key));
    let kept = attributes.filter_map(|(key, value)| match value {
        // The same for nested names.
        Json::Object(inner) if ["llm", "input", "output"].contains(&key.as_ref()) => {
            let inner = inner.iter();
            let inner = inner.filter(|(name, _)| !is_elsewhere(&format!("{key}.{name}")));
            let inner: Vec<(Key, Json)> =
                inner.map(|(name, it)| (name.clone(), it.clone())).collect();
            (!inner.is_empty()).then(|| (key.clone(), Object::from_pairs(inner).into()))
        }
        value => Some((key.clone(), value.clone())),
    });
    Object::from_pairs(kept.collect())
}
