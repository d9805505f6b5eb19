//! Runs of LangSmith, as returned by its API and SDK: `{id, trace_id, parent_run_id, run_type, inputs, outputs,
//! start_time, …}`, one per line or in a list, with child runs nested as `child_runs` or separate.

use volary_core::json::{Json, Object, Text};

use super::{
    CACHED, COST, INPUT, Kind, OUTPUT, REASONING, langchain, messages, model_of, tell_kind,
    tell_messages, tell_score, tell_tool, tell_usage, text,
};
use crate::import::chat;
use crate::import::describe::counted;
use crate::import::members::{Members, at, count, number, remove_secrets, text_at};
use crate::import::open_telemetry::{Span, read_spans};
use crate::import::reader::{Confidence, Document, Grouping, Reader, Sink};

/// The maximum nesting depth of runs; deeper ones are dropped.
const DEEPEST: usize = 64;

pub(in crate::import) struct LangSmith;

impl Reader for LangSmith {
    fn id(&self) -> &'static str {
        "langsmith"
    }

    fn name(&self) -> &'static str {
        "LangSmith runs (JSON, or one per line)"
    }

    fn recognise(&self, document: &Document) -> Confidence {
        if document.samples().any(is_run) {
            Confidence::Certain
        } else {
            Confidence::No
        }
    }

    fn grouping(&self, _document: &Document) -> Grouping {
        Grouping::Whole
    }

    fn read(&self, document: Document, sink: &mut Sink<'_>) {
        let mut spans = Vec::new();
        for line in document.into_records() {
            match line.value {
                Json::Object(record) if record.contains_key("run_type") => {
                    runs(record, None, DEEPEST, &mut spans, sink);
                }
                _ => sink.lost(format!("Line {} is not a run.", line.number)),
            }
        }
        let count = spans.len();
        read_spans(spans, sink);
        match sink.episodes() {
            0 => sink.lost("None of the runs is of a model or a tool."),
            _ => sink.understood(format!("LangSmith: {}.", counted(count, "run"))),
        }
    }
}

fn is_run(value: &Json) -> bool {
    let has = |key| value.get(key).is_some();
    text_at(value, &["run_type"]).is_some()
        && has("inputs")
        && has("start_time")
        && (has("trace_id") || has("dotted_order") || has("parent_run_id") || has("child_runs"))
}

fn runs(
    mut record: Object,
    above: Option<(&Text, &Text)>,
    depth: usize,
    spans: &mut Vec<Span>,
    sink: &mut Sink<'_>,
) {
    let children = record.take_list("child_runs").unwrap_or_default();
    let span = span(record, above);
    let (trace, id) = (span.trace.clone(), span.id.clone());
    spans.push(span);
    for child in children {
        match child {
            Json::Object(child) if depth > 0 => {
                runs(child, Some((&trace, &id)), depth - 1, spans, sink);
            }
            _ => sink.lost("A run below too many others, or without members, is omitted."),
        }
    }
}

fn span(mut record: Object, above: Option<(&Text, &Text)>) -> Span {
    let id = text(&record, &["id"]).unwrap_or_default();
    let trace = text(&record, &["trace_id"]).or(above.map(|(trace, _)| trace.clone()));
    let parent = text(&record, &["parent_run_id"]).or(above.map(|(_, id)| id.clone()));
    let mut span = Span {
        trace: trace.unwrap_or_else(|| id.clone()),
        id,
        parent,
        name: text(&record, &["name"]).unwrap_or_default(),
        start: record.take_time("start_time"),
        end: record.take_time("end_time"),
        failure: text(&record, &["error"]),
        ..Span::default()
    };
    let kind = match text(&record, &["run_type"]).as_deref() {
        Some("llm") => Kind::Model,
        Some("tool") => Kind::Tool,
        _ => Kind::Other,
    };
    tell_kind(&mut span, kind);
    // The remaining members, environment and client settings, may contain keys.
    let mut extra = record.take_object("extra").unwrap_or_default();
    let metadata = extra.take("metadata").unwrap_or_default();
    let mut settings = extra.take_object("invocation_params").unwrap_or_default();
    let inputs = record.take("inputs").unwrap_or_default();
    let outputs = record.take("outputs").unwrap_or_default();
    match kind {
        Kind::Model => {
            let (sent, mut around) = messages(inputs, "user");
            let tools = around
                .take_list("tools")
                .or_else(|| settings.take_list("tools"));
            if let Some(tools) = tools {
                span.attributes.insert("gen_ai.tool.definitions", tools);
            }
            let model = model_of(&metadata).or_else(|| model_of(&settings.into()));
            let model = model.or_else(|| text(&around, &["model"]));
            if let Some(model) = model {
                span.attributes.insert("gen_ai.response.model", model);
            }
            let given = given(outputs, &mut span);
            tell_messages(&mut span, sent, given);
            usage(&mut span, &record);
        }
        Kind::Tool => {
            let only = |value: Json, key: &str| match value {
                Json::Object(mut object) if object.len() == 1 && object.contains_key(key) => {
                    object.take(key).unwrap_or_default()
                }
                other => other,
            };
            let given = only(inputs, "input");
            let result = langchain::plain(only(outputs, "output"));
            let result = match result {
                Json::Object(mut message) if message.contains_key("role") => {
                    if let Some(id) = message.take_text("tool_call_id") {
                        span.attributes.insert("gen_ai.tool.call.id", id);
                    }
                    message.take("content").unwrap_or_default()
                }
                other => other,
            };
            tell_tool(&mut span, given, result);
        }
        Kind::Agent | Kind::Other => {}
    }
    if span.parent.is_none() {
        let thread = ["session_id", "thread_id", "conversation_id"];
        if let Some(thread) = thread.iter().find_map(|key| text_at(&metadata, &[key])) {
            span.attributes.insert("gen_ai.conversation.id", thread);
        }
        if let Json::Object(mut metadata) = metadata {
            remove_secrets(&mut metadata);
            span.attributes.insert("metadata", metadata);
        }
        for key in ["tags", "reference_example_id"] {
            if let Some(value) = record.take(key) {
                span.attributes.insert(key, value);
            }
        }
    }
    for (name, stats) in record.take_object("feedback_stats").unwrap_or_default() {
        if let Some(average) = stats.get("avg").filter(|average| !average.is_null()) {
            tell_score(&mut span, name.as_ref().into(), average.clone(), None);
        }
    }
    span
}

/// The output of a model: a provider's response, a message, or the first of LangChain's generations.
fn given(outputs: Json, span: &mut Span) -> Vec<Json> {
    let Json::Object(mut outputs) = outputs else {
        return messages(outputs, "assistant").0;
    };
    let first = |list: Option<Vec<Json>>| list.unwrap_or_default().into_iter().next();
    if let Some(generation) = first(outputs.take_list("generations")) {
        let generation = match generation {
            Json::List(list) => list.into_iter().next().unwrap_or_default(),
            other => other,
        };
        let Json::Object(mut generation) = generation else {
            return messages(generation, "assistant").0;
        };
        return match generation.take("message") {
            Some(message) => {
                let used = ["usage_metadata"].iter().find_map(|key| {
                    at(&message, &["kwargs", key])
                        .or_else(|| message.get(key))
                        .cloned()
                });
                if let Some(used) = used.and_then(|used| chat::usage(&used)) {
                    tell_usage(span, INPUT, used.input.map(|count| count as f64));
                    tell_usage(span, OUTPUT, used.output.map(|count| count as f64));
                }
                messages(message, "assistant").0
            }
            None => messages(generation.take("text").unwrap_or_default(), "assistant").0,
        };
    }
    for key in ["output", "message"] {
        if outputs.len() == 1
            && let Some(output) = outputs.take(key)
        {
            return messages(output, "assistant").0;
        }
    }
    messages(outputs.into(), "assistant").0
}

fn usage(span: &mut Span, record: &Object) {
    let tokens = |path: &[&str]| {
        let (first, rest) = path.split_first()?;
        let count = count(at(record.get(first)?, rest)?)?;
        Some(count as f64).filter(|count| *count > 0.0)
    };
    tell_usage(span, INPUT, tokens(&["prompt_tokens"]));
    tell_usage(span, OUTPUT, tokens(&["completion_tokens"]));
    tell_usage(
        span,
        CACHED,
        tokens(&["prompt_token_details", "cache_read"]),
    );
    tell_usage(
        span,
        REASONING,
        tokens(&["completion_token_details", "reasoning"]),
    );
    tell_usage(span, COST, record.get("total_cost").and_then(number));
}
