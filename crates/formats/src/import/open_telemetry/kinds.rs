//! The kinds of spans, under the terms of several conventions.

use std::collections::HashMap;
use std::rc::Rc;

use volary_core::json::Text;

use super::spans::Span;

const OPERATION: &str = "gen_ai.operation.name";
/// The same of Vercel's AI SDK.
const VERCEL: &str = "ai.operationId";

/// The kind of a span.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Kind {
    /// A model call.
    Turn,
    /// A tool run.
    Tool,
    /// An agent run.
    Agent,
    /// Any other span.
    Other,
}

/// Determines the kind of a span.
pub(super) fn kind(span: &Span) -> Kind {
    let operation = span.text(&[OPERATION]);
    match operation.as_deref() {
        Some("chat" | "generate_content" | "text_completion") => return Kind::Turn,
        Some("execute_tool") => return Kind::Tool,
        Some("invoke_agent" | "create_agent" | "invoke_workflow") => return Kind::Agent,
        Some(_) => return Kind::Other,
        None => {}
    }
    if let Some(operation) = span.text(&[VERCEL]) {
        return vercel(&operation);
    }
    // OpenInference's term, then Traceloop's.
    let named = span.text(&["openinference.span.kind", "traceloop.span.kind"]);
    match named.map(|name| name.to_ascii_lowercase()).as_deref() {
        Some("llm") => return Kind::Turn,
        Some("tool") => return Kind::Tool,
        Some("agent") => return Kind::Agent,
        // Phoenix's term for spans of other recorders.
        Some("unknown") | None => {}
        Some(_) => return Kind::Other,
    }
    match span.text(&["llm.request.type"]).as_deref() {
        Some("chat" | "completion") => return Kind::Turn,
        Some("embedding" | "rerank") => return Kind::Other,
        Some(_) | None => {}
    }
    // Attributes from before the conventions had operations, and of writers that omit the operation.
    const ASKED: [&str; 2] = ["gen_ai.request.model", "gen_ai.output.messages"];
    let is_there = |name| span.attributes.get(name).is_some_and(|it| !it.is_null());
    if ASKED.into_iter().any(is_there) {
        Kind::Turn
    } else {
        Kind::Other
    }
}

/// The operations of Vercel's AI SDK: `ai.generateText`, with a call of the model in each `ai.generateText.doGenerate`.
fn vercel(operation: &str) -> Kind {
    match operation {
        "ai.toolCall" => Kind::Tool,
        _ if operation.starts_with("ai.embed") => Kind::Other,
        _ if operation.ends_with(".doGenerate") || operation.ends_with(".doStream") => Kind::Turn,
        "ai.generateText" | "ai.streamText" | "ai.generateObject" | "ai.streamObject" => {
            Kind::Agent
        }
        _ => Kind::Other,
    }
}

/// Determines which spans are separate agents. Without an operation, the steps of a graph are also called agents: a
/// span that repeats below the same parent is a step.
pub(super) fn are_agents(all: &[Rc<Span>]) -> Vec<bool> {
    let key = |span: &Span| (span.trace.clone(), span.parent.clone(), span.name.clone());
    let mut times: HashMap<(Text, Option<Text>, Text), usize> = HashMap::new();
    for span in all {
        if kind(span) == Kind::Agent {
            *times.entry(key(span)).or_default() += 1;
        }
    }
    let is_agent = |span: &Span| {
        let is_once = || times.get(&key(span)).is_some_and(|times| *times == 1);
        kind(span) == Kind::Agent && (span.text(&[OPERATION, VERCEL]).is_some() || is_once())
    };
    all.iter().map(|span| is_agent(span)).collect()
}
