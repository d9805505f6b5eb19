//! States of runs of OpenAI's Agents SDK (`RunState.to_json()`, `toString()`): `{$schemaVersion, currentAgent,
//! originalInput, modelResponses: [{usage, output}], generatedItems: [{type, rawItem, agent}], …}`, which programs store to
//! go on later. The Python and the JavaScript SDK have the same members; items are in snake or camel case.

use serde::Deserialize;
use volary_core::json::{Json, Object, Text};
use volary_core::{Role, object};
use volary_episode::episode::{Ending, Episode, Rewards, Usage};

use super::chat;
use super::describe::counted;
use super::members::{Members, keep_rest, text_at};
use super::reader::{Confidence, Document, Line, Reader, Sink};
use super::transcript::Transcript;
use super::typed;

pub(super) struct RunStates;

impl Reader for RunStates {
    fn id(&self) -> &'static str {
        "openai-agents-state"
    }

    fn name(&self) -> &'static str {
        "states of runs of OpenAI's Agents SDK (JSON)"
    }

    fn recognise(&self, document: &Document) -> Confidence {
        if document.samples().any(is_state) {
            Confidence::Certain
        } else {
            Confidence::No
        }
    }

    fn read(&self, document: Document, sink: &mut Sink<'_>) {
        let before = sink.episodes();
        let is_single = document.is_single();
        let records = document.into_records();
        for Line { number, value } in records {
            let id = if is_single {
                sink.stem()
            } else {
                format!("{}-{number}", sink.stem()).into()
            };
            if value.as_object().is_none() {
                sink.lost(format!("Line {number} is not a state."));
                continue;
            }
            let (mut state, odd) = typed::record::<State>(value, "A state", sink);
            state.rest.extend(odd);
            run(state, id, sink);
        }
        let count = counted(sink.episodes() - before, "run");
        sink.understood(format!("OpenAI Agents SDK: {count}."));
    }
}

fn is_state(value: &Json) -> bool {
    let has = |key: &str| value.get(key).is_some();
    has("$schemaVersion")
        && has("originalInput")
        && (has("generatedItems") || has("modelResponses"))
}

#[derive(Default, Deserialize)]
#[serde(default, rename_all = "camelCase")]
struct State {
    #[serde(rename = "$schemaVersion")]
    schema_version: Option<Json>,
    current_agent: Option<Json>,
    original_input: Option<Json>,
    model_responses: Vec<Response>,
    generated_items: Vec<Item>,
    max_turns: Option<Json>,
    current_step: Option<Json>,
    /// The other members.
    #[serde(skip)]
    rest: Object,
}

#[derive(Default, Deserialize)]
#[serde(default)]
struct Response {
    usage: Option<Json>,
    output: Vec<Json>,
}

/// An item of the run: what the model wrote, or the result of a tool.
#[derive(Default, Deserialize)]
#[serde(default, rename_all = "camelCase")]
struct Item {
    #[serde(rename = "type")]
    kind: Option<Text>,
    raw_item: Option<Json>,
    agent: Option<Json>,
}

fn run(state: State, id: Text, sink: &mut Sink<'_>) {
    sink.set_version(state.schema_version.as_ref().and_then(super::members::id));
    let agent = state.current_agent.as_ref();
    let mut episode = Episode {
        id,
        policy: agent.and_then(|agent| text_at(agent, &["name"])),
        rewards: Rewards::Unknown,
        total_usage: state
            .model_responses
            .iter()
            .filter_map(|response| usage(response.usage.as_ref()?))
            .reduce(Usage::plus),
        ..Episode::default()
    };
    let mut transcript = Transcript::default();
    let input = match state.original_input {
        Some(Json::List(input)) => input,
        Some(Json::Null) | None => Vec::new(),
        Some(input) => vec![object!({ "role": "user", "content": input }).into()],
    };
    chat::read_all(input.into_iter().map(item).collect()).for_each(|said| transcript.observe(said));
    let items: Vec<Json> = if state.generated_items.is_empty() {
        let outputs = state.model_responses.into_iter();
        outputs
            .flat_map(|response| response.output)
            .map(item)
            .collect()
    } else {
        let approvals = |item: &Item| item.kind.as_deref() != Some("tool_approval_item");
        let items = state.generated_items.into_iter().filter(approvals);
        let several = agents_of(items, &mut episode);
        several.into_iter().map(item).collect()
    };
    for said in chat::read_all(items) {
        let is_first = said.message.role() == Role::Assistant;
        transcript.push(said);
        if is_first && let Some(step) = transcript.last_mut() {
            step.extras.retain(|key, _| key.as_ref() != "status");
        }
    }
    transcript.finish(&mut episode);
    let step = state.current_step.unwrap_or_default();
    match text_at(&step, &["type"]).as_deref() {
        Some("next_step_final_output") => episode.ending = Ending::Done,
        Some(kind) => episode.outcome = Some(kind.into()),
        None => {}
    }
    if let Some(turns) = state.max_turns {
        episode.metadata.insert("max_turns", turns);
    }
    // They repeat the items, or are about the SDK.
    let mut rest = state.rest;
    for key in ["lastModelResponse", "lastProcessedResponse", "trace"] {
        rest.remove(key);
    }
    rest.retain(|_, value| match value {
        Json::Null => false,
        Json::List(list) => !list.is_empty(),
        Json::Object(object) => !object.is_empty(),
        _ => true,
    });
    keep_rest(&mut episode, rest, sink);
    sink.episode(episode);
}

/// The raw items; the agents among them that differ from the current one are noted.
fn agents_of(items: impl Iterator<Item = Item>, episode: &mut Episode) -> Vec<Json> {
    let mut names: Vec<Json> = Vec::new();
    let mut raw = Vec::new();
    for item in items {
        let name = item
            .agent
            .as_ref()
            .and_then(|agent| text_at(agent, &["name"]));
        if let Some(name) = name.map(Json::Text)
            && names.last() != Some(&name)
            && names.len() < 64
        {
            names.push(name);
        }
        raw.extend(item.raw_item);
    }
    if names.len() > 1 {
        episode.metadata.insert("agents", names);
    }
    raw
}

/// An item in the form of OpenAI's API.
fn item(value: Json) -> Json {
    let Json::Object(mut item) = value else {
        return value;
    };
    if let Some(call) = item.take("callId") {
        item.insert("call_id", call);
    }
    item.remove("providerData");
    if item
        .get("type")
        .and_then(Json::as_text)
        .is_some_and(|kind| &**kind == "function_call_result")
    {
        item.insert("type", "function_call_output");
        if let Some(text) = item
            .get("output")
            .and_then(|output| output.get("text"))
            .cloned()
        {
            item.insert("output", text);
        }
    }
    item.into()
}

fn usage(value: &Json) -> Option<Usage> {
    chat::usage(value)
}
