//! Traces of OpenAI's Agents SDK, as its processors export them: lines of `{object: "trace", id, workflow_name}` and
//! `{object: "trace.span", trace_id, parent_id, span_data: {type, …}}`, or a list of them, or the body of the upload
//! request, `{data: [record]}`.
//!
//! Spans of kind `response` refer to a response on OpenAI's servers and lack its content, unless a processor adds it.

use std::collections::BTreeMap;

use volary_core::json::{Json, Object, Text};

use super::{
    CACHED, INPUT, Kind, OUTPUT, REASONING, joined, messages, tell_kind, tell_messages, tell_tool,
    tell_usage,
};
use crate::import::chat;
use crate::import::describe::counted;
use crate::import::members::{Members, remove_secrets, text_at};
use crate::import::open_telemetry::{Span, read_spans};
use crate::import::reader::{Confidence, Document, Grouping, Reader, Sink};

pub(in crate::import) struct OpenAiAgents;

impl Reader for OpenAiAgents {
    fn id(&self) -> &'static str {
        "openai-agents"
    }

    fn name(&self) -> &'static str {
        "traces of OpenAI's Agents SDK (JSON, or one record per line)"
    }

    fn recognise(&self, document: &Document) -> Confidence {
        let in_page = |value: &Json| {
            let page = value.get("data").and_then(Json::as_list);
            page.is_some_and(|page| page.iter().take(8).any(is_record))
        };
        if document
            .samples()
            .any(|value| is_record(value) || in_page(value))
        {
            Confidence::Certain
        } else {
            Confidence::No
        }
    }

    fn grouping(&self, _document: &Document) -> Grouping {
        Grouping::Whole
    }

    fn read(&self, document: Document, sink: &mut Sink<'_>) {
        let mut records = Vec::new();
        for line in document.into_records() {
            match line.value {
                Json::Object(mut page)
                    if page
                        .get("data")
                        .is_some_and(|data| data.as_list().is_some()) =>
                {
                    records.extend(page.take_list("data").unwrap_or_default());
                }
                record => records.push(record),
            }
        }
        let mut spans = Vec::new();
        // The counts of spans that are neither agent nor model nor tool, by kind.
        let mut others: BTreeMap<Text, usize> = BTreeMap::new();
        let mut unanswered = 0;
        let count = records.len();
        for record in records {
            match record {
                Json::Object(record) if record.contains_key("span_data") => {
                    let kind = text_at(record.get("span_data").unwrap_or(&Json::Null), &["type"]);
                    let kind = kind.unwrap_or_default();
                    let span = span(record);
                    let is_known = span.attributes.contains_key("gen_ai.operation.name");
                    if &*kind == "response"
                        && !span.attributes.contains_key("gen_ai.output.messages")
                    {
                        unanswered += 1;
                    }
                    // Tasks, turns and handoffs follow from the structure and the calls of the other spans.
                    if !is_known && !matches!(&*kind, "custom" | "handoff") {
                        *others.entry(kind).or_default() += 1;
                    }
                    spans.push(span);
                }
                Json::Object(record) => spans.extend(trace(record)),
                _ => sink.lost("A record of the trace is not an object."),
            }
        }
        if unanswered > 0 {
            sink.lost(format!(
                "Answers that the trace only names, since they are on OpenAI's servers: {unanswered}."
            ));
        }
        for (kind, count) in others {
            sink.lost(format!("Spans of kind {kind} are omitted: {count}."));
        }
        // Root spans of a trace become children of the trace, if it is present.
        let traces: std::collections::HashSet<Text> = (spans.iter())
            .filter(|span| span.id == span.trace)
            .map(|span| span.trace.clone())
            .collect();
        for span in &mut spans {
            if span.parent.is_none() && span.id != span.trace && traces.contains(&span.trace) {
                span.parent = Some(span.trace.clone());
            }
        }
        read_spans(spans, sink);
        let count = counted(count, "record");
        sink.understood(format!("A trace of OpenAI's Agents SDK with {count}."));
    }
}

fn is_record(value: &Json) -> bool {
    match text_at(value, &["object"]).as_deref() {
        Some("trace.span") => value.get("span_data").is_some(),
        Some("trace") => value.get("workflow_name").is_some(),
        _ => false,
    }
}

/// Converts a trace to the root span of its spans.
fn trace(mut record: Object) -> Option<Span> {
    let id = record.take_text("id")?;
    let mut span = Span {
        trace: id.clone(),
        id,
        name: record.take_text("workflow_name").unwrap_or_default(),
        ..Span::default()
    };
    if let Some(group) = record.take_text("group_id") {
        span.attributes.insert("gen_ai.conversation.id", group);
    }
    if let Some(metadata) = record.take_object("metadata") {
        span.attributes.insert("metadata", metadata);
    }
    Some(span)
}

fn span(mut record: Object) -> Span {
    let mut data = record.take_object("span_data").unwrap_or_default();
    let kind = data.take_text("type").unwrap_or_default();
    let error = record.take("error");
    let mut span = Span {
        trace: record.take_text("trace_id").unwrap_or_default(),
        id: record.take_text("id").unwrap_or_default(),
        parent: record.take_text("parent_id"),
        name: data.take_text("name").unwrap_or_else(|| kind.clone()),
        start: record.take_time("started_at"),
        end: record.take_time("ended_at"),
        failure: error.map(|error| failure(&error)),
        ..Span::default()
    };
    match &*kind {
        "agent" => {
            tell_kind(&mut span, Kind::Agent);
            for key in ["handoffs", "tools", "output_type"] {
                if let Some(value) = data.take(key) {
                    span.attributes.insert(key, value);
                }
            }
        }
        "generation" | "response" => {
            tell_kind(&mut span, Kind::Model);
            let (sent, _) = messages(data.take("input").unwrap_or_default(), "user");
            let mut response = data.take_object("response").unwrap_or_default();
            let given = data.take("output").or_else(|| response.take("output"));
            let (given, _) = messages(given.unwrap_or_default(), "assistant");
            if !sent.is_empty() || !given.is_empty() {
                tell_messages(&mut span, sent, joined(given));
            }
            let instructions = response.take_text("instructions");
            if let Some(instructions) = instructions {
                span.attributes
                    .insert("gen_ai.system_instructions", instructions);
            }
            let model = data
                .take_text("model")
                .or_else(|| response.take_text("model"));
            if let Some(model) = model {
                span.attributes.insert("gen_ai.response.model", model);
            }
            let usage = data.take("usage").or_else(|| response.take("usage"));
            if let Some(usage) = usage.and_then(|usage| chat::usage(&usage)) {
                let number = |count: Option<u64>| count.map(|count| count as f64);
                tell_usage(&mut span, INPUT, number(usage.input));
                tell_usage(&mut span, OUTPUT, number(usage.output));
                tell_usage(&mut span, CACHED, number(usage.cached));
                tell_usage(&mut span, REASONING, number(usage.reasoning));
            }
            if let Some(mut settings) = data.take_object("model_config") {
                remove_secrets(&mut settings);
                span.attributes.insert("model_config", settings);
            }
            if let Some(id) = data.take("response_id") {
                span.attributes.insert("response_id", id);
            }
        }
        "function" => {
            tell_kind(&mut span, Kind::Tool);
            let given = data.take("input").unwrap_or_default();
            tell_tool(&mut span, given, data.take("output").unwrap_or_default());
        }
        _ => {}
    }
    span
}

fn failure(error: &Json) -> Text {
    let message = text_at(error, &["message"]);
    let cause = text_at(error, &["data", "error"]);
    match (message, cause) {
        (Some(message), Some(cause)) => format!("{message}: {cause}").into(),
        (message, cause) => message.or(cause).unwrap_or_else(|| "It failed.".into()),
    }
}
