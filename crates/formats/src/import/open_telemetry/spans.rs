//! Spans as the protocol writes them (`resourceSpans`), as the SDKs print them, and as the API of Phoenix
//! returns them (`data`): with kind and status next to the attributes, or with snake-case names.
//! JavaScript's SDK has the ids in `spanContext` and times as pairs.

use volary_core::json::{Json, Key, Object, Text, integer_from_text};

use crate::import::members::{Members, at, id, moment, unpacked};

/// The member that contains a page of spans.
const PAGE: &str = "data";

/// The attribute with OpenInference's kind of span, and its values. Phoenix moves it out of the attributes.
const NAMED: &str = "openinference.span.kind";
const KINDS: [&str; 11] = [
    "LLM",
    "TOOL",
    "AGENT",
    "CHAIN",
    "RETRIEVER",
    "RERANKER",
    "EMBEDDING",
    "GUARDRAIL",
    "EVALUATOR",
    "PROMPT",
    "DECISION",
];

/// A span.
#[derive(Clone, Debug, Default)]
pub(in crate::import) struct Span {
    pub trace: Text,
    pub id: Text,
    pub parent: Option<Text>,
    pub name: Text,
    /// In seconds since 1970.
    pub start: Option<f64>,
    pub end: Option<f64>,
    pub attributes: Object,
    /// The names and attributes of the span's events.
    pub events: Vec<(Text, Object)>,
    /// The error message, if the span failed.
    pub failure: Option<Text>,
    /// The name of the service.
    pub service: Option<Text>,
}

/// Whether a value contains spans.
pub(super) fn holds_spans(value: &Json) -> bool {
    let is_span = |value: &Json| value.get("attributes").is_some() && trace_of(value).is_some();
    let page = value.get(PAGE).and_then(Json::as_list);
    value
        .get("resourceSpans")
        .is_some_and(|spans| spans.as_list().is_some())
        || page.is_some_and(|page| page.iter().take(8).any(is_span))
        || is_span(value)
}

/// The spans of a value.
pub(super) fn spans(value: &Json) -> Vec<Span> {
    if let Some(page) = value.get(PAGE).and_then(Json::as_list) {
        return page
            .iter()
            .filter_map(|span| Span::read(span, None))
            .collect();
    }
    let Some(resources) = value.get("resourceSpans").and_then(Json::as_list) else {
        return Span::read(value, None).into_iter().collect();
    };
    let list = |value: &Json, keys: [&str; 2]| -> Vec<Json> {
        let found = keys.iter().find_map(|key| value.get(key)?.as_list());
        found.unwrap_or_default().to_vec()
    };
    let mut all = Vec::new();
    for resource in resources {
        let service = resource.get("resource").and_then(service);
        for scope in list(resource, ["scopeSpans", "instrumentationLibrarySpans"]) {
            let spans = list(&scope, ["spans", "spans"]);
            all.extend(
                spans
                    .iter()
                    .filter_map(|span| Span::read(span, service.as_ref())),
            );
        }
    }
    all
}

impl Span {
    fn read(value: &Json, service_around: Option<&Text>) -> Option<Span> {
        let first = |paths: &[&[&str]]| paths.iter().find_map(|path| id(at(value, path)?));
        let time = |keys: &[&str]| keys.iter().find_map(|key| at_time(value.get(key)?));
        let start = time(&[
            "startTimeUnixNano",
            "start_time_unix_nano",
            "start_time",
            "startTime",
            "timestamp",
        ]);
        // In JavaScript's console a duration, in microseconds.
        let lasted = || Some(start? + value.get("duration")?.as_f64()? / 1e6);
        let events = value
            .get("events")
            .and_then(Json::as_list)
            .unwrap_or_default();
        let event = |event: &Json| Some((id(event.get("name")?)?, attributes(event)));
        Some(Span {
            trace: trace_of(value)?,
            id: first(&[
                &["spanId"],
                &["span_id"],
                &["context", "span_id"],
                &["spanContext", "spanId"],
                &["_spanContext", "spanId"],
                &["id"],
            ])?,
            parent: first(&[
                &["parentSpanId"],
                &["parent_span_id"],
                &["parent_id"],
                &["parentSpanContext", "spanId"],
                &["parentId"],
            ])
            .filter(|parent| !parent.is_empty()),
            name: first(&[&["name"]]).unwrap_or_default(),
            start,
            end: time(&[
                "endTimeUnixNano",
                "end_time_unix_nano",
                "end_time",
                "endTime",
            ])
            .or_else(lasted),
            attributes: told(value),
            events: events.iter().filter_map(event).collect(),
            failure: failure(value.get("status").unwrap_or(value)),
            service: value
                .get("resource")
                .and_then(service)
                .or_else(|| service_around.cloned()),
        })
    }

    /// An attribute, or the value at its path if names are nested: `{llm: {model_name}}`.
    pub fn member(&self, name: &str) -> Option<&Json> {
        self.attributes.get(name).or_else(|| {
            let mut parts = name.split('.');
            let first = self.attributes.get(parts.next()?)?;
            parts.try_fold(first, |value, part| value.get(part))
        })
    }

    /// The first text attribute among these names.
    pub fn text(&self, names: &[&str]) -> Option<Text> {
        names.iter().find_map(|name| id(self.member(name)?))
    }

    /// The value of an attribute, in the span or in one of its events; JSON text is parsed.
    pub fn value(&self, name: &str) -> Option<Json> {
        let mut noted = self.events.iter();
        let found = self.member(name);
        found
            .or_else(|| noted.find_map(|(_, attributes)| attributes.get(name)))
            .cloned()
            .map(unpacked)
    }
}

fn trace_of(value: &Json) -> Option<Text> {
    let paths: [&[&str]; 5] = [
        &["traceId"],
        &["trace_id"],
        &["context", "trace_id"],
        &["spanContext", "traceId"],
        &["_spanContext", "traceId"],
    ];
    paths.iter().find_map(|path| id(at(value, path)?))
}

/// A point in time: one value, or seconds and nanoseconds, as JavaScript's SDK holds it.
fn at_time(value: &Json) -> Option<f64> {
    match value.as_list() {
        Some([seconds, nanoseconds]) => Some(seconds.as_f64()? + nanoseconds.as_f64()? / 1e9),
        Some(_) => None,
        None => moment(value),
    }
}

fn service(resource: &Json) -> Option<Text> {
    attributes(resource).take_text("service.name")
}

fn failure(status: &Json) -> Option<Text> {
    let code = ["code", "status_code"].into_iter();
    let code = code.filter_map(|key| id(status.get(key)?)).next()?;
    let is_failure = &*code == "2" || code.ends_with("ERROR");
    let messages = ["message", "description", "status_message"].into_iter();
    let mut messages = messages.filter_map(|key| id(status.get(key)?));
    let message = messages.find(|message| !message.is_empty());
    is_failure.then(|| message.unwrap_or_else(|| "It failed.".into()))
}

/// The attributes of a span, including its kind.
fn told(span: &Json) -> Object {
    let mut attributes = attributes(span);
    if let Some(Json::Text(kind)) = span.get("span_kind")
        && KINDS.contains(&&**kind)
        && !attributes.contains_key(NAMED)
    {
        attributes.insert(NAMED, kind.clone());
    }
    attributes
}

/// Reads attributes: an object unchanged; the protocol's pairs as an object.
fn attributes(value: &Json) -> Object {
    match value.get("attributes") {
        Some(Json::Object(object)) => object.clone(),
        Some(Json::List(pairs)) => object_of(pairs),
        _ => Object::new(),
    }
}

fn object_of(pairs: &[Json]) -> Object {
    let pairs = pairs.iter().filter_map(|pair| {
        let key = Key::from(pair.get("key")?.as_text()?.to_string());
        let value = pair.get("value").unwrap_or(&Json::Null);
        Some((key, plain(value)))
    });
    // Long conversations have thousands of attributes.
    Object::from_pairs(pairs.collect())
}

/// Unwraps a typed value of the protocol.
fn plain(value: &Json) -> Json {
    let Some(kinds) = value.as_object().filter(|kinds| !kinds.is_empty()) else {
        return value.clone();
    };
    // Some writers include all types, with null for the unused ones.
    let Some((kind, inner)) = kinds.iter().find(|(_, inner)| !inner.is_null()) else {
        return Json::Null;
    };
    let list = || {
        inner
            .get("values")
            .and_then(Json::as_list)
            .unwrap_or_default()
    };
    match (kind.as_ref(), inner) {
        // 64-bit integers are texts in JSON.
        ("intValue" | "int_value", Json::Text(text)) => {
            integer_from_text(text).map_or_else(|| inner.clone(), Json::Integer)
        }
        ("stringValue" | "intValue" | "doubleValue" | "boolValue" | "bytesValue", _)
        | ("string_value" | "int_value" | "double_value" | "bool_value" | "bytes_value", _) => {
            inner.clone()
        }
        ("arrayValue" | "array_value", _) => Json::List(list().iter().map(plain).collect()),
        ("kvlistValue" | "kvlist_value", _) => object_of(list()).into(),
        _ => value.clone(),
    }
}
