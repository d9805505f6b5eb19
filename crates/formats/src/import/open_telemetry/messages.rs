//! Reads the messages of a model call's span, input and output, under the names of the conventions for generative AI,
//! of their predecessors (`gen_ai.prompt.0.role`, as Traceloop writes them) and of OpenInference
//! (`llm.input_messages.0.message.role`).

use volary_core::json::{Json, Object};
use volary_core::object;

use super::spans::Span;
use super::{flat, noted};
use crate::import::chat;
use crate::import::members::{Members, at, text_at, unpacked};

/// The attributes that contain messages: a list, a list as JSON text, or one attribute for each member of each
/// message.
const SENT: [&str; 5] = [
    "gen_ai.input.messages",
    "ai.prompt.messages",
    "gen_ai.prompt",
    "llm.input_messages",
    "llm.prompts",
];
const GIVEN: [&str; 5] = [
    "gen_ai.output.messages",
    "gen_ai.completion",
    "llm.output_messages",
    "llm.completions",
    "llm.choices",
];

/// Members that may wrap a message in such a list.
const AROUND: [&str; 3] = ["message", "prompt", "completion"];

/// Types of content blocks in a content that is written as text: those of any message, and those that no tool returns.
const SHOWN: [&str; 7] = [
    "text",
    "input_text",
    "output_text",
    "image",
    "image_url",
    "input_image",
    "document",
];
const MEANT: [&str; 5] = [
    "thinking",
    "redacted_thinking",
    "reasoning",
    "tool_use",
    "tool_result",
];

/// The input and output messages of a model call.
pub(super) fn messages(span: &Span) -> (Vec<Json>, Vec<Json>) {
    let all = |names: &[&str], role| {
        let mut lists = names.iter().map(|name| listed(span, name));
        let list = lists.find(|list| !list.is_empty()).unwrap_or_default();
        list.into_iter().map(|value| message(value, role)).collect()
    };
    let (mut sent, mut given): (Vec<Json>, Vec<Json>) =
        (all(&SENT, "user"), all(&GIVEN, "assistant"));
    if sent.is_empty() && given.is_empty() {
        (sent, given) = noted::messages(span);
    }
    if sent.is_empty() {
        sent = vercel_prompt(span).unwrap_or_else(|| went_in(span));
    }
    if given.is_empty() {
        given = match vercel_reply(span) {
            Some(reply) => vec![reply],
            None => came_out(span),
        };
    }
    (sent, given)
}

/// Whether a span has the output of a model, without reading it.
pub(super) fn gives(span: &Span) -> bool {
    let is_output = |name: &str| {
        let given = GIVEN.iter().chain(&VERCEL_REPLY).chain(&["output.value"]);
        let mut given = given.filter_map(|prefix| name.strip_prefix(*prefix));
        given.any(|rest| rest.is_empty() || rest.starts_with('.'))
    };
    span.attributes.keys().any(|key| is_output(key)) || noted::gave(span)
}

/// The parts of a reply in Vercel's AI SDK.
const VERCEL_REPLY: [&str; 4] = [
    "ai.response.text",
    "ai.response.toolCalls",
    "ai.response.object",
    "ai.response.reasoning",
];

/// The input of Vercel's outer spans: `{system, prompt}` or `{system, messages}`.
fn vercel_prompt(span: &Span) -> Option<Vec<Json>> {
    let Json::Object(mut prompt) = span.value("ai.prompt")? else {
        return None;
    };
    let mut messages = Vec::new();
    if let Some(system) = prompt.take("system") {
        messages.push(object!({ "role": "system", "content": system }).into());
    }
    match (prompt.take("prompt"), prompt.take_list("messages")) {
        (_, Some(list)) => messages.extend(list.into_iter().map(|it| message(it, "user"))),
        (Some(text), None) => messages.push(message(text, "user")),
        (None, None) => {}
    }
    Some(messages)
}

/// The reply in Vercel's attributes.
fn vercel_reply(span: &Span) -> Option<Json> {
    let [text, calls, object, reasoning] = VERCEL_REPLY.map(|name| span.member(name).cloned());
    let calls = calls
        .map(unpacked)
        .filter(|calls| calls.as_list().is_some());
    let content = text.or(object);
    if content.is_none() && calls.is_none() && reasoning.is_none() {
        return None;
    }
    let reply = object!({
        "role": "assistant",
        "content": (content.unwrap_or_default()),
        "reasoning_content": (reasoning.unwrap_or_default()),
        "tool_calls": (calls.unwrap_or_default())
    });
    Some(reply.into())
}

/// Whether an attribute contains messages.
pub(super) fn says_messages(name: &str) -> bool {
    let is_of = |prefix: &&str| {
        let rest = name.strip_prefix(*prefix);
        rest.is_some_and(|rest| rest.is_empty() || rest.starts_with('.'))
    };
    let all = SENT.iter().chain(&GIVEN).chain(&VERCEL_REPLY);
    all.chain(&["ai.prompt"]).any(is_of)
}

/// The elements of a list in any of its forms.
pub(super) fn listed(span: &Span, name: &str) -> Vec<Json> {
    match span.value(name) {
        Some(Json::List(list)) => list,
        Some(Json::Null) | None => flat::list(&span.attributes, name),
        Some(other) => vec![other],
    }
}

/// The input, if it is not structured as messages: a text, or the body of a provider's request.
fn went_in(span: &Span) -> Vec<Json> {
    let sent = match span.value("input.value") {
        Some(text @ Json::Text(_)) => vec![text],
        Some(Json::Object(mut body)) => body.take_list("messages").unwrap_or_default(),
        _ => Vec::new(),
    };
    let is_said = |value: &Json| value.as_text().is_some() || chat::is_message(value);
    if sent.iter().all(is_said) {
        sent.into_iter().map(|it| message(it, "user")).collect()
    } else {
        Vec::new()
    }
}

/// The output: a text, or the body of a provider's response.
fn came_out(span: &Span) -> Vec<Json> {
    let given = span.value("output.value").and_then(|value| match value {
        text @ Json::Text(_) => Some(text),
        // A reply of OpenAI's Responses API.
        body if body
            .get("output")
            .is_some_and(|output| output.as_list().is_some()) =>
        {
            let output = body.get("output").cloned().unwrap_or_default();
            Some(object!({ "role": "assistant", "content": output }).into())
        }
        body => {
            let choice = body.get("choices")?.as_list()?.first()?;
            choice.get("message").cloned()
        }
    });
    let given = given.into_iter();
    given.map(|it| message(it, "assistant")).collect()
}

/// Converts a message to the common chat form.
fn message(value: Json, role: &'static str) -> Json {
    let Json::Object(message) = value else {
        return object!({ "role": role, "content": value }).into();
    };
    let mut message = flat::opened(message);
    for key in AROUND {
        if let Some(inner) = message.take_object(key) {
            message.extend_missing(inner);
        }
    }
    message.remove("finish_reason");
    calls(&mut message);
    if let Some(contents) = message.take_list("contents") {
        let has_calls = message.contains_key("tool_calls");
        let parts = contents.into_iter().map(part);
        // Calls occur among the texts, and are repeated as calls.
        let parts = parts.filter(|part| !(has_calls && is_kind(part, "tool_use")));
        message.insert("content", parts.collect::<Vec<_>>());
    }
    // In Anthropic's form tool results have the role `user`.
    let is_answer = message.contains_key("tool_call_id");
    let named = message.get("role").and_then(Json::as_text).cloned();
    let is_tools = is_answer || named.as_deref() == Some("tool");
    // A tool's result may be any JSON: it stays text.
    let is_block = |block: &Json| {
        text_at(block, &["type"])
            .is_some_and(|kind| SHOWN.contains(&&*kind) || !is_tools && MEANT.contains(&&*kind))
    };
    if let Some(text @ Json::Text(_)) = message.get("content")
        && let Json::List(blocks) = unpacked(text.clone())
        && !blocks.is_empty()
        && blocks.iter().all(is_block)
    {
        message.insert("content", blocks);
    }
    match named.as_deref() {
        None => drop(message.insert("role", role)),
        Some("user") if is_answer => drop(message.insert("role", "tool")),
        Some(_) => {}
    }
    message.into()
}

fn calls(message: &mut Object) {
    if let Some(calls) = message.take("tool_calls") {
        let calls = match unpacked(calls) {
            Json::List(calls) => Json::List(calls.into_iter().map(call).collect()),
            other => other,
        };
        message.insert("tool_calls", calls);
    } else if let Some(name) = message.take("function_call_name") {
        let arguments = message.take("function_call_arguments_json");
        let call = object!({ "name": name, "arguments": (arguments.unwrap_or_default()) });
        message.insert("tool_calls", vec![Json::Object(call)]);
    }
}

fn call(value: Json) -> Json {
    match value {
        Json::Object(call) => {
            let mut call = flat::opened(call);
            let inner = call.take_object("tool_call");
            inner.unwrap_or(call).into()
        }
        other => other,
    }
}

/// A part of a content: `{message_content: {type, text}}`.
fn part(value: Json) -> Json {
    let Json::Object(part) = value else {
        return value;
    };
    let mut part = flat::opened(part);
    let mut part = part.take_object("message_content").unwrap_or(part);
    if is_kind(&part.clone().into(), "image") {
        let url = ["image", "image_url"].into_iter().find_map(|key| {
            let image = part.get(key)?;
            let paths: [&[&str]; 2] = [&["image", "url"], &["url"]];
            paths.into_iter().find_map(|path| at(image, path)).cloned()
        });
        if let Some(url) = url {
            return object!({ "type": "image_url", "image_url": { "url": url } }).into();
        }
    }
    for key in ["tool_use", "tool_result"] {
        if let Some(inner) = part.take_object(key) {
            part.extend_missing(inner);
        }
    }
    part.into()
}

fn is_kind(part: &Json, kind: &str) -> bool {
    part.get("type").and_then(Json::as_text).map(AsRef::as_ref) == Some(kind)
}
