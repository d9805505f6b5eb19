//! Exports of Langfuse: a trace with its observations and scores, `{observations: [{id, traceId, type, …}], scores}`,
//! as exported by its page and its API; a page of observations, `{data: []}`; or observations, one per line. Names are
//! in camel or snake case.

use std::collections::HashMap;

use volary_core::json::{Json, Object, Text};
use volary_core::{Role, object};

use super::{
    CACHED, COST, INPUT, Kind, OUTPUT, REASONING, messages, model_of, tell_kind, tell_messages,
    tell_score, tell_tool, tell_usage, text,
};
use crate::import::chat;
use crate::import::describe::counted;
use crate::import::members::{Members, at, moment, number, remove_secrets, text_at, unpacked};
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
                    let mut around = record.take_object("trace").unwrap_or(record);
                    // The page's export has the scores in the trace.
                    scores.extend(around.take_list("scores").unwrap_or_default());
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
    let message = text(&record, &["statusMessage", "status_message"]);
    let mut span = Span {
        trace: text(&record, &["traceId", "trace_id"]).unwrap_or_default(),
        id,
        parent: text(&record, &["parentObservationId", "parent_observation_id"]),
        start: time(&mut record, ["startTime", "start_time"]),
        end: time(&mut record, ["endTime", "end_time"]),
        failure: (level.as_deref() == Some("ERROR"))
            .then(|| message.unwrap_or_else(|| "It failed.".into())),
        name: name.unwrap_or_default(),
        ..Span::default()
    };
    let mut metadata = record.take("metadata").map(unpacked).unwrap_or_default();
    let attributes = match &mut metadata {
        Json::Object(metadata) => metadata.take_object("attributes").unwrap_or_default(),
        _ => Object::new(),
    };
    let mut attributes = Json::Object(attributes);
    let is_agent = || AGENT_NAMES.iter().any(|key| attributes.get(key).is_some());
    let kind = match text(&record, &["type"]).as_deref() {
        Some("GENERATION") => Kind::Model,
        Some("TOOL") => Kind::Tool,
        Some("AGENT") => Kind::Agent,
        // Older servers know only spans.
        Some("SPAN") if is_agent() && attributes.get("gen_ai.tool.name").is_none() => Kind::Agent,
        _ => Kind::Other,
    };
    tell_kind(&mut span, kind);
    recorded(&mut span, kind, &attributes);
    let input = record.take("input").unwrap_or_default();
    let output = record.take("output").unwrap_or_default();
    match kind {
        Kind::Model => {
            let sent = Sent::read(input);
            let reply = unpacked(output);
            let mut sent_messages = sent.messages;
            // OpenAI's Responses API repeats the instructions in the reply.
            let is_system = |message: &Json| {
                chat::role_of(&text_at(message, &["role"]).unwrap_or_default())
                    == Some(Role::System)
            };
            if let Some(instructions) = text_at(&reply, &["instructions"])
                && !sent_messages.iter().any(is_system)
            {
                let system = object!({ "role": "system", "content": instructions });
                sent_messages.insert(0, system.into());
            }
            let tools = [
                sent.tools,
                tools_of(&reply),
                tools_of(&metadata),
                tools_of(&attributes),
            ];
            if let Some(tools) = tools.into_iter().find(|tools| !tools.is_empty()) {
                span.attributes.insert("gen_ai.tool.definitions", tools);
            }
            tell_messages(&mut span, sent_messages, messages(reply, "assistant").0);
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
    if let Json::Object(mut metadata) = metadata {
        // They are about the recorder.
        metadata.remove("resourceAttributes");
        metadata.remove("scope");
        metadata.remove("tools");
        if let Json::Object(attributes) = &mut attributes {
            attributes.retain(|key, _| !repeats(key));
            if !attributes.is_empty() {
                metadata.insert("attributes", std::mem::take(attributes));
            }
        }
        if !metadata.is_empty() {
            span.attributes.insert("metadata", metadata);
        }
    }
    span
}

/// The attributes with the name of an agent in recorders that send OpenTelemetry's spans.
const AGENT_NAMES: [&str; 2] = ["gen_ai.agent.name", "agent_name"];

/// Whether an attribute of a recorder repeats the input or the output of its observation.
fn repeats(name: &str) -> bool {
    const WORDS: [&str; 11] = [
        "input",
        "output",
        "prompt",
        "completion",
        "messages",
        "response",
        "request",
        "tool_call",
        "toolCall",
        "tools",
        "arguments",
    ];
    WORDS.iter().any(|word| name.contains(word))
}

/// Takes names and ids from the recorder's own attributes, which Langfuse keeps among the metadata.
fn recorded(span: &mut Span, kind: Kind, attributes: &Json) {
    let names: [(&'static str, &[&str]); 3] = match kind {
        Kind::Tool => [
            (
                "gen_ai.tool.name",
                &["gen_ai.tool.name", "tool.name", "ai.toolCall.name"],
            ),
            (
                "gen_ai.tool.call.id",
                &["gen_ai.tool.call.id", "ai.toolCall.id"],
            ),
            ("gen_ai.tool.description", &[]),
        ],
        Kind::Agent => [
            ("gen_ai.agent.name", &AGENT_NAMES),
            ("gen_ai.conversation.id", &["gen_ai.conversation.id"]),
            ("gen_ai.agent.id", &[]),
        ],
        Kind::Model | Kind::Other => return,
    };
    for (name, keys) in names {
        let attributes = attributes.as_object();
        if let Some(value) = attributes.and_then(|attributes| text(attributes, keys)) {
            span.attributes.insert(name, value);
        }
    }
}

/// The tools in a request, a reply, or metadata, as definitions or as JSON texts of them.
fn tools_of(value: &Json) -> Vec<Json> {
    let found = value
        .get("tools")
        .or_else(|| at(value, &["model_request_parameters", "function_tools"]))
        .cloned();
    let Some(Json::List(list)) = found.map(unpacked) else {
        return Vec::new();
    };
    let mut tools = Vec::new();
    for tool in list {
        let Json::Object(mut tool) = unpacked(tool) else {
            continue;
        };
        // Gemini has several functions in a tool.
        let declared = ["function_declarations", "functionDeclarations"];
        if let Some(functions) = declared.iter().find_map(|key| tool.take_list(key)) {
            tools.extend(functions);
            continue;
        }
        for key in ["inputSchema", "parameters_json_schema"] {
            if let Some(schema) = tool.take(key) {
                tool.insert("parameters", schema);
            }
        }
        tools.push(tool.into());
    }
    tools
}

/// The input of a model call: its messages, and the tools that the model may call.
struct Sent {
    messages: Vec<Json>,
    tools: Vec<Json>,
}

impl Sent {
    /// Reads an input in any form: messages, a request of a provider, `{prompt}`, or the arguments of a decorated function,
    /// `{args, kwargs}`.
    fn read(input: Json) -> Sent {
        let input = unpacked(input);
        let mut tools = tools_of(&input);
        let value = match input {
            Json::Object(mut request) => {
                if let Some(config) = request.get("config").filter(|_| tools.is_empty()) {
                    tools = tools_of(config);
                }
                request_messages(&mut request).unwrap_or_else(|| request.into())
            }
            value => value,
        };
        let (sent, _) = messages(value, "user");
        let (definitions, messages) = sent.into_iter().partition(is_tool_definition);
        if tools.is_empty() {
            let definitions: Vec<Json> = definitions;
            tools = definitions
                .iter()
                .filter_map(|message| message.get("content").cloned())
                .collect();
        }
        Sent { messages, tools }
    }
}

/// Whether a message is a tool's definition: LangChain's callback adds them to the messages.
fn is_tool_definition(message: &Json) -> bool {
    let content = message.get("content");
    text_at(message, &["role"]).as_deref() == Some("tool")
        && content.is_some_and(|content| at(content, &["function", "parameters"]).is_some())
}

/// The messages of a request: Gemini's `contents` with the system instruction, `{system?, prompt}`, or the arguments of a
/// function. `None` leaves the request as it is.
fn request_messages(request: &mut Object) -> Option<Json> {
    let instructions =
        |value: Json| -> Json { object!({ "role": "system", "content": value }).into() };
    if let Some(contents) = request.take("contents") {
        let system = request
            .get("config")
            .or_else(|| request.get("generation_config"))
            .and_then(|config| config.get("system_instruction"))
            .or_else(|| request.get("system_instruction"))
            .or_else(|| request.get("systemInstruction"))
            .filter(|value| !value.is_null())
            .cloned();
        let mut messages: Vec<Json> = system.map(instructions).into_iter().collect();
        match contents {
            Json::List(contents) => messages.extend(contents),
            text => messages.push(text),
        }
        return Some(messages.into());
    }
    if let Some(prompt) = request.take("prompt") {
        let system = request.take("system").map(instructions);
        return Some(match prompt {
            Json::List(list) => system.into_iter().chain(list).collect::<Vec<_>>().into(),
            text => {
                let user = object!({ "role": "user", "content": text }).into();
                system.into_iter().chain([user]).collect::<Vec<_>>().into()
            }
        });
    }
    let is_call = request.contains_key("args") && request.len() <= 2;
    let args = request.take_list("args").filter(|_| is_call)?;
    let kwargs = request.take_object("kwargs").unwrap_or_default();
    let list = kwargs
        .get("messages")
        .or_else(|| kwargs.get("prompt"))
        .cloned();
    match (list, args.as_slice()) {
        (Some(list), _) => Some(list),
        (None, [only]) if kwargs.is_empty() => Some(only.clone()),
        _ => {
            request.insert("args", args);
            request.insert("kwargs", kwargs);
            None
        }
    }
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
    // Part of the input here.
    let included = count(&["prompt_details.cache_read"]);
    let written = count(&["cache_creation_input_tokens", "input_cache_creation"]);
    let thought = count(&["output_reasoning_tokens", "output_reasoning"]);
    let some = |count: Option<f64>| count.unwrap_or_default();
    let input = count(&["input"]).map(|input| input + some(cached) + some(written));
    let output = count(&["output"]).map(|output| output + some(thought));
    tell_usage(span, INPUT, or(input, known.input));
    tell_usage(span, OUTPUT, or(output, known.output));
    tell_usage(span, CACHED, or(cached.or(included), known.cached));
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
    let mut indices: HashMap<Text, usize> = HashMap::new();
    for (index, span) in spans.iter().enumerate() {
        indices.entry(span.trace.clone()).or_insert(index);
        indices.entry(span.id.clone()).or_insert(index);
    }
    for score in scores {
        let Json::Object(mut score) = score else {
            continue;
        };
        const ID_KEYS: [&str; 4] = ["observationId", "observation_id", "traceId", "trace_id"];
        let at = ID_KEYS.iter().find_map(|key| {
            let id = score.get(key)?.as_text()?;
            indices.get(id).copied()
        });
        let is_said = |value: &Json| value.as_text().is_some_and(|text| !text.is_empty());
        let value = ["stringValue", "string_value"]
            .iter()
            .find_map(|key| score.take_if(key, is_said));
        let value = value.or_else(|| score.take("value"));
        let name = score.take_text("name").unwrap_or_else(|| "score".into());
        if let Some(span) = at.and_then(|index| spans.get_mut(index)) {
            tell_score(
                span,
                name,
                value.unwrap_or_default(),
                score.take_text("comment"),
            );
        }
    }
}
