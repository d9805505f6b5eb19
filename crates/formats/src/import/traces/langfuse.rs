//! Exports of Langfuse: a trace with its observations and scores, `{observations: [{id, traceId, type, …}], scores}`,
//! as exported by its page and its API; a page of observations, `{data: []}`; or observations, one per line. Names are
//! in camel or snake case.

use std::collections::HashMap;

use volary_core::json::{Json, Object, Text};

use super::{
    CACHED, COST, INPUT, Kind, OUTPUT, REASONING, messages, model_of, tell_kind, tell_messages,
    tell_score, tell_tool, tell_usage, text,
};
use crate::import::chat;
use crate::import::describe::counted;
use crate::import::members::{Members, moment, number, remove_secrets, unpacked};
use crate::import::open_telemetry::{Span, read_spans};
use crate::import::reader::{Confidence, Document, Grouping, Reader, Sink};

/// The types of observations.
const KINDS: [&str; 10] = [
    "GENERATION",
    "SPAN",
    "EVENT",
    "AGENT",
    "TOOL",
    "CHAIN",
    "RETRIEVER",
    "EVALUATOR",
    "EMBEDDING",
    "GUARDRAIL",
];

pub(in crate::import) struct Langfuse;

impl Reader for Langfuse {
    fn id(&self) -> &'static str {
        "langfuse"
    }

    fn name(&self) -> &'static str {
        "Langfuse exports of traces and observations (JSON, or one per line)"
    }

    fn recognise(&self, document: &Document) -> Confidence {
        let holds = |value: &Json| {
            let lists = ["observations", "data"].into_iter();
            let mut lists = lists.filter_map(|key| value.get(key)?.as_list());
            lists.any(|list| list.iter().take(8).any(is_observation))
        };
        if document
            .samples()
            .any(|value| is_observation(value) || holds(value))
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
        let mut spans = Vec::new();
        let mut scores = Vec::new();
        for line in document.into_records() {
            let Json::Object(mut record) = line.value else {
                sink.lost(format!("Line {} is not an object.", line.number));
                continue;
            };
            let list = record
                .take_list("observations")
                .or_else(|| record.take_list("data"));
            match list {
                Some(list) => {
                    scores.extend(record.take_list("scores").unwrap_or_default());
                    let around = record.take_object("trace").unwrap_or(record);
                    spans.extend(trace(around));
                    for value in list {
                        match value {
                            Json::Object(value) => spans.push(observation(value)),
                            _ => sink.lost("An observation is not an object: it is only named."),
                        }
                    }
                }
                None => spans.push(observation(record)),
            }
        }
        let count = spans.len();
        hang_on_traces(&mut spans);
        judge(&mut spans, scores);
        read_spans(spans, sink);
        match sink.episodes() {
            0 => sink.lost("None of the observations is of a model or a tool."),
            _ => sink.understood(format!("Langfuse: {}.", counted(count, "observation"))),
        }
    }
}

fn is_observation(value: &Json) -> bool {
    let has = |keys: [&str; 2]| keys.iter().any(|key| value.get(key).is_some());
    let kind = value.get("type").and_then(Json::as_text);
    kind.is_some_and(|kind| KINDS.contains(&&**kind))
        && has(["traceId", "trace_id"])
        && has(["startTime", "start_time"])
}

fn time(record: &mut Object, keys: [&str; 2]) -> Option<f64> {
    let found = keys.iter().find_map(|key| record.take(key));
    found.as_ref().and_then(moment)
}

/// The trace itself, as the root span of its observations.
fn trace(mut record: Object) -> Option<Span> {
    let id = record.take_text("id")?;
    let start = record.take_time("timestamp")?;
    let mut span = Span {
        trace: id.clone(),
        id,
        name: record.take_text("name").unwrap_or_else(|| "trace".into()),
        start: Some(start),
        end: record.take_number("latency").map(|seconds| start + seconds),
        ..Span::default()
    };
    if let Some(session) = record.take_text("sessionId") {
        span.attributes.insert("gen_ai.conversation.id", session);
    }
    for key in [
        "userId",
        "tags",
        "release",
        "version",
        "environment",
        "metadata",
    ] {
        if let Some(value) = record.take(key) {
            span.attributes.insert(key, value);
        }
    }
    Some(span)
}

fn observation(mut record: Object) -> Span {
    let id = text(&record, &["id"]).unwrap_or_default();
    let name = text(&record, &["name"]);
    let level = text(&record, &["level"]);
    let words = text(&record, &["statusMessage", "status_message"]);
    let mut span = Span {
        trace: text(&record, &["traceId", "trace_id"]).unwrap_or_default(),
        id,
        parent: text(&record, &["parentObservationId", "parent_observation_id"]),
        start: time(&mut record, ["startTime", "start_time"]),
        end: time(&mut record, ["endTime", "end_time"]),
        failure: (level.as_deref() == Some("ERROR"))
            .then(|| words.unwrap_or_else(|| "It failed.".into())),
        name: name.unwrap_or_default(),
        ..Span::default()
    };
    let kind = match text(&record, &["type"]).as_deref() {
        Some("GENERATION") => Kind::Model,
        Some("TOOL") => Kind::Tool,
        Some("AGENT") => Kind::Agent,
        _ => Kind::Other,
    };
    tell_kind(&mut span, kind);
    let input = record.take("input").unwrap_or_default();
    let output = record.take("output").unwrap_or_default();
    match kind {
        Kind::Model => {
            let (sent, mut around) = messages(input, "user");
            if let Some(tools) = around.take_list("tools") {
                span.attributes.insert("gen_ai.tool.definitions", tools);
            }
            tell_messages(&mut span, sent, messages(output, "assistant").0);
            let model = ["model", "providedModelName", "provided_model_name"];
            if let Some(model) = text(&record, &model) {
                span.attributes.insert("gen_ai.response.model", model);
            }
            usage(&mut span, &record);
            let settings = ["modelParameters", "model_parameters"].iter();
            let settings = settings.filter_map(|key| record.get(key)).next().cloned();
            let settings = settings.map(unpacked).unwrap_or_default();
            if !span.attributes.contains_key("gen_ai.response.model")
                && let Some(model) = model_of(&settings)
            {
                span.attributes.insert("gen_ai.response.model", model);
            }
            if let Json::Object(mut settings) = settings {
                remove_secrets(&mut settings);
                span.attributes.insert("modelParameters", settings);
            }
        }
        Kind::Tool => tell_tool(&mut span, input, output),
        Kind::Agent | Kind::Other => {}
    }
    if let Some(metadata) = record.take_object("metadata").filter(|it| !it.is_empty()) {
        span.attributes.insert("metadata", metadata);
    }
    span
}

/// Token counts and cost, under current and older names.
fn usage(span: &mut Span, record: &Object) {
    let value = |keys: &[&str]| keys.iter().find_map(|key| record.get(key)).cloned();
    let details = value(&["usageDetails", "usage_details"]).map(unpacked);
    let usage = details
        .filter(|details| {
            details
                .as_object()
                .is_some_and(|details| !details.is_empty())
        })
        .or_else(|| value(&["usage"]))
        .unwrap_or_default();
    let count = |keys: &[&str]| keys.iter().find_map(|key| usage.get(key).and_then(number));
    let known = chat::usage(&usage).unwrap_or_default();
    let or = |count: Option<f64>, known: Option<u64>| count.or(known.map(|known| known as f64));
    // Cached and reasoning tokens are counted separately.
    let cached = count(&[
        "cache_read_input_tokens",
        "input_cached_tokens",
        "input_cache_read",
    ]);
    let written = count(&["cache_creation_input_tokens", "input_cache_creation"]);
    let thought = count(&["output_reasoning_tokens", "output_reasoning"]);
    let some = |count: Option<f64>| count.unwrap_or_default();
    let input = count(&["input"]).map(|input| input + some(cached) + some(written));
    let output = count(&["output"]).map(|output| output + some(thought));
    tell_usage(span, INPUT, or(input, known.input));
    tell_usage(span, OUTPUT, or(output, known.output));
    tell_usage(span, CACHED, or(cached, known.cached));
    tell_usage(span, REASONING, or(thought, known.reasoning));
    let details = value(&["costDetails", "cost_details"]).map(unpacked);
    let cost = details.and_then(|details| number(details.get("total")?));
    let total = value(&["calculatedTotalCost", "total_cost", "totalCost"]);
    tell_usage(span, COST, cost.or(total.as_ref().and_then(number)));
}

/// Attaches root observations to the span of their trace, if it is present.
fn hang_on_traces(spans: &mut [Span]) {
    let traces: HashMap<Text, ()> = (spans.iter())
        .filter(|span| span.id == span.trace)
        .map(|span| (span.trace.clone(), ()))
        .collect();
    for span in spans {
        if span.parent.is_none() && span.id != span.trace && traces.contains_key(&span.trace) {
            span.parent = Some(span.trace.clone());
        }
    }
}

/// Assigns scores to the observation that they refer to, otherwise to the first one of their trace.
fn judge(spans: &mut [Span], scores: Vec<Json>) {
    if scores.is_empty() {
        return;
    }
    let mut places: HashMap<Text, usize> = HashMap::new();
    for (place, span) in spans.iter().enumerate() {
        places.entry(span.trace.clone()).or_insert(place);
        places.entry(span.id.clone()).or_insert(place);
    }
    for score in scores {
        let Json::Object(mut score) = score else {
            continue;
        };
        let at = ["observationId", "traceId"].iter().find_map(|key| {
            let id = score.get(key)?.as_text()?;
            places.get(id).copied()
        });
        let value = score.take("stringValue").or_else(|| score.take("value"));
        let name = score.take_text("name").unwrap_or_else(|| "score".into());
        if let Some(span) = at.and_then(|place| spans.get_mut(place)) {
            tell_score(
                span,
                name,
                value.unwrap_or_default(),
                score.take_text("comment"),
            );
        }
    }
}
