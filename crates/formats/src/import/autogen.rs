//! Messages of AutoGen's agents: a `TaskResult` `{messages: [{source, type: "TextMessage", …}], stop_reason}` or its
//! messages alone; the context of a model `{messages: [{type: "UserMessage", …}]}`; and the saved state of a team, in
//! which each agent has a context, and the manager has the whole thread. Also the calls that a client recorded,
//! `{mode, messages, response, stream}`.

use serde::Deserialize;
use volary_core::json::{Json, Key, Object, Text};
use volary_core::{Role, object};
use volary_episode::episode::{Ending, Episode, Link, Relation, Rewards};

use super::chat;
use super::describe::counted;
use super::members::{Members, keep_rest, text_at};
use super::reader::{Confidence, Document, Grouping, Line, Reader, Sink};
use super::transcript::{ImportedMessage, Transcript};
use super::typed;

/// The types of messages in a model's context, and of messages between agents.
const KINDS: [&str; 14] = [
    "SystemMessage",
    "UserMessage",
    "AssistantMessage",
    "FunctionExecutionResultMessage",
    "TextMessage",
    "MultiModalMessage",
    "ToolCallRequestEvent",
    "ToolCallExecutionEvent",
    "ToolCallSummaryMessage",
    "HandoffMessage",
    "StopMessage",
    "ThoughtEvent",
    "CodeGenerationEvent",
    "CodeExecutionEvent",
];

/// The maximum depth of nested teams.
const DEEPEST: usize = 8;

pub(super) struct AutoGen;

impl Reader for AutoGen {
    fn id(&self) -> &'static str {
        "autogen"
    }

    fn name(&self) -> &'static str {
        "AutoGen results, messages, team states and recorded calls"
    }

    fn recognise(&self, document: &Document) -> Confidence {
        let mut samples = document.samples();
        if samples.any(|value| is_message(value) || is_result(value) || is_state(value)) {
            Confidence::Likely
        } else {
            Confidence::No
        }
    }

    fn grouping(&self, document: &Document) -> Grouping {
        if document
            .samples()
            .any(|value| is_message(value) || is_recorded(value))
        {
            Grouping::Whole
        } else {
            Grouping::EachLine
        }
    }

    fn read(&self, document: Document, sink: &mut Sink<'_>) {
        let before = sink.episodes();
        if document.samples().any(is_recorded) {
            recordings(document, sink);
        } else if document.samples().any(is_message) {
            let messages = document.into_records().into_iter().map(|line| line.value);
            thread(Object::new(), messages.collect(), Episode::default(), sink);
        } else {
            let is_single = document.is_single();
            let records = document.into_records();
            for Line { number, value } in records {
                let id = if is_single {
                    sink.stem()
                } else {
                    format!("{}-{number}", sink.stem()).into()
                };
                match value {
                    Json::Object(state) if state.contains_key("agent_states") => {
                        team(state, id, None, DEEPEST, sink);
                    }
                    Json::Object(mut result) if result.contains_key("messages") => {
                        let messages = result.take_list("messages").unwrap_or_default();
                        let episode = Episode {
                            id,
                            ..Episode::default()
                        };
                        thread(result, messages, episode, sink);
                    }
                    _ => sink.lost(format!("Line {number} is not a result of agents.")),
                }
            }
        }
        let count = counted(sink.episodes() - before, "episode");
        sink.understood(format!("AutoGen: {count}."));
    }
}

fn is_message(value: &Json) -> bool {
    let kind = text_at(value, &["type"]);
    kind.is_some_and(|kind| KINDS.contains(&&*kind)) && value.get("content").is_some()
}

fn is_result(value: &Json) -> bool {
    let messages = value.get("messages").and_then(Json::as_list);
    messages.is_some_and(|list| list.iter().take(8).any(is_message))
}

fn is_state(value: &Json) -> bool {
    text_at(value, &["type"]).as_deref() == Some("TeamState")
        && value
            .get("agent_states")
            .is_some_and(|states| states.as_object().is_some())
}

/// Whether a value is a call that `ChatCompletionClientRecorder` recorded: `{mode, messages, response, stream}`.
fn is_recorded(value: &Json) -> bool {
    let mode = text_at(value, &["mode"]);
    matches!(mode.as_deref(), Some("create" | "create_stream"))
        && value.get("response").is_some()
        && is_result(value)
}

/// A call of a model.
#[derive(Default, Deserialize)]
#[serde(default)]
struct Recording {
    messages: Vec<Json>,
    response: Option<Json>,
    stream: Vec<Json>,
    /// The other members.
    #[serde(skip)]
    rest: Object,
}

/// Reads recorded calls. A call whose messages begin with those of the call before it, and with its response, goes on with
/// the same conversation.
fn recordings(document: Document, sink: &mut Sink<'_>) {
    let mut known: Vec<Json> = Vec::new();
    let mut conversation: Option<(Transcript, Vec<(Key, Json)>)> = None;
    let mut count = 0;
    for Line { number, value } in document.into_records() {
        let (mut recording, odd) = typed::record::<Recording>(value, "A record", sink);
        recording.rest.extend(odd);
        let goes_on = !known.is_empty()
            && recording.messages.len() > known.len()
            && recording.messages.starts_with(&known);
        if !goes_on {
            if let Some((transcript, rest)) = conversation.take() {
                count += 1;
                recorded(transcript, rest, count, sink);
            }
            known.clear();
        }
        let (transcript, rest) = conversation.get_or_insert_with(Default::default);
        let mut thought = None;
        let repeats = usize::from(goes_on);
        for message in recording.messages.iter().skip(known.len() + repeats) {
            if let Json::Object(message) = message.clone()
                && let Err(other) = message_of(message, &mut thought, transcript)
            {
                rest.push((format!("record {number}").into(), other));
            }
        }
        known = recording.messages;
        respond(recording.response, recording.stream, transcript);
        let mut others = recording.rest;
        others.remove("mode");
        others.retain(|_, value| !value.is_null());
        rest.extend(others);
    }
    if let Some((transcript, rest)) = conversation {
        recorded(transcript, rest, count + 1, sink);
    }
}

/// Adds the response of a recorded call: that of a stream is its last part.
fn respond(response: Option<Json>, stream: Vec<Json>, transcript: &mut Transcript) {
    let is_said = |value: &Json| value.get("content").is_some();
    let last = || stream.into_iter().rev().find(is_said);
    let Some(Json::Object(mut response)) = response.filter(is_said).or_else(last) else {
        return;
    };
    let content = response.take("content").unwrap_or_default();
    let mut said = match &content {
        Json::List(calls) => chat::acted(Json::Null, calls.iter().map(chat::call).collect()),
        _ => chat::acted(content, Vec::new()),
    };
    said.details.reasoning = response.take_text("thought");
    said.details.usage = response.take("usage").and_then(|usage| chat::usage(&usage));
    response.retain(|_, value| !value.is_null());
    said.extras = response;
    transcript.push(said);
}

fn recorded(transcript: Transcript, rest: Vec<(Key, Json)>, number: usize, sink: &mut Sink<'_>) {
    let mut episode = Episode {
        id: format!("{}-{number}", sink.stem()).into(),
        policy: Some("AutoGen".into()),
        rewards: Rewards::Unknown,
        ..Episode::default()
    };
    transcript.finish(&mut episode);
    keep_rest(&mut episode, Object::from_pairs(rest), sink);
    sink.episode(episode);
}

/// The thread of a team, and the context of each of its agents.
fn team(mut state: Object, id: Text, above: Option<Text>, depth: usize, sink: &mut Sink<'_>) {
    let states = state.take_object("agent_states").unwrap_or_default();
    state.remove("type");
    sink.set_version(state.take_id("version"));
    let mut agents = Vec::new();
    let mut all = None;
    for (name, value) in states {
        let Json::Object(mut value) = value else {
            continue;
        };
        match value.take_list("message_thread") {
            Some(messages) => all = Some((value, messages)),
            None => agents.push((Text::from(name.as_ref()), value)),
        }
    }
    let parent = |of: &Text| Link {
        relation: Relation::Parent,
        episode: of.clone(),
        step: None,
    };
    if let Some((rest, messages)) = all {
        state.extend(rest);
        let episode = Episode {
            id: id.clone(),
            links: above.iter().map(parent).collect(),
            ..Episode::default()
        };
        thread(state, messages, episode, sink);
    }
    for (name, mut agent) in agents {
        // The name without AutoGen's suffix.
        let short = name.split(['/', '_']).next().unwrap_or_default();
        let short: Text = if short.is_empty() {
            name.clone()
        } else {
            short.into()
        };
        let own: Text = format!("{id}/{short}").into();
        let mut inner = agent.take_object("agent_state").unwrap_or(agent);
        if let Some(inner) = inner.take_object("inner_team_state") {
            match depth {
                0 => sink.lost("A team within too many teams is omitted."),
                depth => team(inner, own, Some(id.clone()), depth - 1, sink),
            }
            continue;
        }
        let context = inner.take_object("llm_context");
        let messages = context.and_then(|mut context| context.take_list("messages"));
        let Some(messages) = messages else {
            continue;
        };
        if messages.is_empty() {
            continue;
        }
        let episode = Episode {
            id: own,
            name: short.clone(),
            policy: Some(short),
            links: vec![parent(&id)],
            ..Episode::default()
        };
        thread(Object::new(), messages, episode, sink);
    }
}

/// Builds an episode from messages; its id, name and links are set already.
fn thread(mut rest: Object, messages: Vec<Json>, mut episode: Episode, sink: &mut Sink<'_>) {
    let stop = rest.take_text("stop_reason");
    let is_limit = stop
        .as_ref()
        .is_some_and(|stop| stop.starts_with("Maximum number"));
    episode.ending = match (&stop, is_limit) {
        (None, _) => Ending::Open,
        (Some(reason), true) => Ending::Truncated {
            reason: reason.clone(),
        },
        (Some(_), false) => Ending::Done,
    };
    episode.outcome = stop;
    episode.rewards = Rewards::Unknown;
    episode.policy = episode.policy.or(Some("AutoGen".into()));
    let mut transcript = Transcript::default();
    let mut thought = None;
    let mut others = Vec::new();
    for message in messages {
        match message {
            Json::Object(message) => {
                if let Err(other) = message_of(message, &mut thought, &mut transcript) {
                    others.push(other);
                }
            }
            _ => sink.lost("A message is not an object."),
        }
    }
    transcript.finish(&mut episode);
    if !others.is_empty() {
        rest.insert("events", others);
    }
    keep_rest(&mut episode, rest, sink);
    sink.episode(episode);
}

/// Reads a message; returns it unread if it is an event of another type.
fn message_of(
    mut message: Object,
    thought: &mut Option<Text>,
    transcript: &mut Transcript,
) -> Result<(), Json> {
    let kind = message.take_text("type").unwrap_or_default();
    let source = message.get("source").and_then(Json::as_text).cloned();
    let when = message.take_time("created_at");
    let is_user = source.as_deref().is_none_or(|source| source == "user");
    let content = message.take("content").unwrap_or_default();
    let mut said = match &*kind {
        "ThoughtEvent" => {
            *thought = content.as_text().cloned();
            return Ok(());
        }
        "SystemMessage" => chat::plain(Role::System, chat::body(content)),
        "UserMessage" => chat::plain(Role::User, chat::body(blocks(content))),
        "ToolCallExecutionEvent" | "FunctionExecutionResultMessage" => {
            for result in content.as_list().unwrap_or_default() {
                let mut said = answered(result);
                said.details.started = when;
                transcript.push(said);
            }
            return Ok(());
        }
        "CodeExecutionEvent" => {
            let output = message.take("result").unwrap_or_default();
            let output = output.get("output").cloned().unwrap_or(output);
            chat::plain(Role::User, chat::body(output))
        }
        "ToolCallRequestEvent" => {
            let calls = content.as_list().unwrap_or_default();
            chat::acted(Json::Null, calls.iter().map(chat::call).collect())
        }
        "AssistantMessage" => match &content {
            Json::List(calls) => chat::acted(Json::Null, calls.iter().map(chat::call).collect()),
            _ => chat::acted(content, Vec::new()),
        },
        kind if kind.ends_with("Message") || kind == "CodeGenerationEvent" => {
            if is_user {
                chat::plain(Role::User, chat::body(blocks(content)))
            } else {
                chat::acted(blocks(content), Vec::new())
            }
        }
        _ => {
            message.insert("type", kind);
            message.insert("content", content);
            return Err(message.into());
        }
    };
    said.details.started = when;
    let usage = message.take("models_usage");
    let own = message.take_text("thought");
    for empty in ["id", "metadata", "tool_calls", "results", "context"] {
        let is_empty = |value: &Json| match value {
            Json::Object(object) => object.is_empty(),
            Json::List(list) => list.is_empty(),
            _ => empty == "id",
        };
        message.take_if(empty, is_empty);
    }
    message.retain(|_, value| !value.is_null());
    if said.message.role() == Role::Assistant {
        said.details.reasoning = own.or(thought.take());
        said.details.usage = usage.and_then(|usage| chat::usage(&usage));
        said.extras = message;
    } else {
        said.message = chat::with_info(said.message, message);
    }
    transcript.push(said);
    Ok(())
}

fn answered(result: &Json) -> ImportedMessage {
    let text = |key| text_at(result, &[key]).unwrap_or_default();
    let content = result.get("content").cloned().unwrap_or_default();
    let said = chat::answer(text("call_id"), text("name"), content);
    match result.get("is_error").and_then(Json::as_bool) {
        Some(true) => chat::failed(said),
        _ => said,
    }
}

/// Converts a content, so that images are shown. AutoGen stores them as PNG.
fn blocks(content: Json) -> Json {
    let block = |value: Json| match text_at(&value, &["data"]) {
        Some(data) => {
            let url = format!("data:image/png;base64,{data}");
            object!({ "type": "image_url", "image_url": { "url": url } }).into()
        }
        None => value,
    };
    match content {
        Json::List(list) => list.into_iter().map(block).collect::<Vec<_>>().into(),
        content => content,
    }
}
