//! What spans are about, in the words of several conventions.

use std::collections::HashMap;

use volary_core::json::Text;

use super::spans::Span;

const OPERATION: &str = "gen_ai.operation.name";

/// What a span is about.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Kind {
    /// A model was asked.
    Turn,
    /// A tool was run.
    Tool,
    /// An agent was set to work.
    Agent,
    /// Neither.
    Other,
}

/// What a span is about.
pub(super) fn kind(span: &Span) -> Kind {
    let operation = span.text(&[OPERATION]);
    match operation.as_deref() {
        Some("chat" | "generate_content" | "text_completion") => return Kind::Turn,
        Some("execute_tool") => return Kind::Tool,
        Some("invoke_agent" | "create_agent" | "invoke_workflow") => return Kind::Agent,
        Some(_) => return Kind::Other,
        None => {}
    }
    // OpenInference's, then Traceloop's.
    let named = span.text(&["openinference.span.kind", "traceloop.span.kind"]);
    match named.map(|name| name.to_ascii_lowercase()).as_deref() {
        Some("llm") => return Kind::Turn,
        Some("tool") => return Kind::Tool,
        Some("agent") => return Kind::Agent,
        // So Phoenix calls what others recorded.
        Some("unknown") | None => {}
        Some(_) => return Kind::Other,
    }
    match span.text(&["llm.request.type"]).as_deref() {
        Some("chat" | "completion") => return Kind::Turn,
        Some("embedding" | "rerank") => return Kind::Other,
        Some(_) | None => {}
    }
    // Names from before the conventions named operations, and of writers that omit the operation.
    const ASKED: [&str; 2] = ["gen_ai.request.model", "gen_ai.output.messages"];
    let is_there = |name| span.attributes.get(name).is_some_and(|it| !it.is_null());
    match ASKED.into_iter().any(is_there) {
        true => Kind::Turn,
        false => Kind::Other,
    }
}

/// Which of these spans are agents of their own. Where agents are not named by an operation, the steps of a graph are
/// called agents too: one that comes again and again below the same span is a step.
pub(super) fn are_agents(all: &[Span]) -> Vec<bool> {
    let key = |span: &Span| (span.trace.clone(), span.parent.clone(), span.name.clone());
    let mut times: HashMap<(Text, Option<Text>, Text), usize> = HashMap::new();
    for span in all {
        if kind(span) == Kind::Agent {
            *times.entry(key(span)).or_default() += 1;
        }
    }
    let is_agent = |span: &Span| {
        let is_once = || times.get(&key(span)).is_some_and(|times| *times == 1);
        kind(span) == Kind::Agent && (span.text(&[OPERATION]).is_some() || is_once())
    };
    all.iter().map(is_agent).collect()
}
