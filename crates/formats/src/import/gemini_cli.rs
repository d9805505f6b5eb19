//! Sessions of Gemini CLI (`chats/session-….jsonl`): a header `{sessionId, projectHash, startTime, kind, …}`, then one
//! message per line. A message with a known id replaces the earlier one, `{$set}` changes the header (or all messages),
//! `{$rewindTo}` removes the message with that id and all later ones. Older sessions are one object with the member
//! `messages`. Also checkpoints: `{history, authType}` of `/chat save`, and `{clientHistory, toolCall}`, which is
//! written before a tool changes a file.

use std::collections::HashMap;

use volary_core::json::{Json, Object, Text};
use volary_core::object;
use volary_episode::episode::{Episode, Link, Relation, Rewards, StepDetails, StepError, Usage};

use super::chat;
use super::describe::counted;
use super::members::{Members, count, keep_rest, text_at};
use super::reader::{Confidence, Document, Grouping, Reader, Sink};
use super::transcript::{ImportedMessage, Transcript};

pub(super) struct GeminiCli;

impl Reader for GeminiCli {
    fn id(&self) -> &'static str {
        "gemini-cli"
    }

    fn name(&self) -> &'static str {
        "sessions and checkpoints of Gemini CLI"
    }

    fn recognise(&self, document: &Document) -> Confidence {
        if document.samples().any(is_header) {
            Confidence::Certain
        } else if is_checkpoint(document.head()) {
            Confidence::Likely
        } else {
            Confidence::No
        }
    }

    fn grouping(&self, _document: &Document) -> Grouping {
        Grouping::Whole
    }

    fn read(&self, document: Document, sink: &mut Sink<'_>) {
        let document = match document {
            Document::Value(Json::Object(checkpoint)) if !checkpoint.contains_key("sessionId") => {
                let episode = checkpoint_of(checkpoint, sink);
                sink.episode(episode);
                return sink.understood("A checkpoint of Gemini CLI.");
            }
            document => document,
        };
        let mut session = Session::default();
        for line in document.into_records() {
            match line.value {
                Json::Object(record) => session.record(record),
                _ => sink.lost(format!("Line {} is not an object.", line.number)),
            }
        }
        let messages = session.messages.len();
        if session.rewound > 0 {
            sink.lost(format!(
                "{} taken back in the session and omitted.",
                match session.rewound {
                    1 => "1 message was".to_owned(),
                    count => format!("{count} messages were"),
                }
            ));
        }
        let episode = session.episode(sink);
        sink.episode(episode);
        let messages = counted(messages, "message");
        sink.understood(format!("Gemini CLI session of {messages}."));
    }
}

fn is_header(value: &Json) -> bool {
    let is_text = |key| text_at(value, &[key]).is_some();
    is_text("sessionId") && is_text("projectHash")
}

fn is_checkpoint(value: &Json) -> bool {
    let is_list = |key: &str| value.get(key).is_some_and(|list| list.as_list().is_some());
    is_list("history") && value.get("authType").is_some()
        || is_list("clientHistory") && value.get("toolCall").is_some()
}

/// Reads the history that was sent to the model, and the pending call.
fn checkpoint_of(mut rest: Object, sink: &mut Sink<'_>) -> Episode {
    let mut transcript = Transcript::default();
    let history = rest
        .take_list("clientHistory")
        .or_else(|| rest.take_list("history"));
    chat::read_all(history.unwrap_or_default()).for_each(|said| transcript.push(said));
    let mut episode = Episode {
        policy: Some("Gemini CLI".into()),
        rewards: Rewards::Unknown,
        ..Episode::default()
    };
    transcript.finish(&mut episode);
    for key in ["authType", "commitHash", "messageId"] {
        if let Some(value) = rest.take_text(key) {
            episode.metadata.insert(key, value);
        }
    }
    keep_rest(&mut episode, rest, sink);
    episode
}

/// The state while a session is read.
#[derive(Default)]
struct Session {
    header: Object,
    messages: Vec<Object>,
    /// The indices of the messages, by id.
    indices: HashMap<Text, usize>,
    rewound: usize,
}

impl Session {
    fn record(&mut self, mut record: Object) {
        if let Some(id) = record.take_text("$rewindTo") {
            let from = self.indices.get(&id).copied().unwrap_or_default();
            self.rewound += self.messages.len() - from;
            for message in self.messages.drain(from..) {
                if let Some(Json::Text(id)) = message.get("id") {
                    self.indices.remove(id);
                }
            }
        } else if record.contains_key("id") {
            self.message(record);
        } else {
            let header = record.take_object("$set").unwrap_or(record);
            self.header(header);
        }
    }

    fn header(&mut self, mut header: Object) {
        if let Some(messages) = header.take_list("messages") {
            self.messages.clear();
            self.indices.clear();
            for message in messages {
                if let Json::Object(message) = message {
                    self.message(message);
                }
            }
        }
        self.header.extend(header);
    }

    fn message(&mut self, message: Object) {
        let id = message.get("id").and_then(Json::as_text).cloned();
        let known = id.as_ref().and_then(|id| self.indices.get(id));
        match known.and_then(|index| self.messages.get_mut(*index)) {
            Some(known) => *known = message,
            None => {
                if let Some(id) = id {
                    self.indices.insert(id, self.messages.len());
                }
                self.messages.push(message);
            }
        }
    }

    fn episode(self, sink: &mut Sink<'_>) -> Episode {
        let mut rest = self.header;
        let mut episode = Episode {
            id: rest.take_id("sessionId").unwrap_or_default(),
            name: rest.take_text("summary").unwrap_or_default(),
            policy: Some("Gemini CLI".into()),
            rewards: Rewards::Unknown,
            started: rest.take_time("startTime"),
            ..Episode::default()
        };
        let mut transcript = Transcript::default();
        let mut notices = Vec::new();
        for mut message in self.messages {
            match message
                .get("type")
                .and_then(Json::as_text)
                .map(|kind| &**kind)
            {
                Some("gemini") => turn(message, &mut transcript, &mut episode),
                Some("error") => {
                    let message = chat::body(content(message.take("content")));
                    let message = Text::from(message.content_or_empty());
                    match transcript.last_mut() {
                        Some(step) => step.details.errors.push(StepError {
                            call: None,
                            message,
                        }),
                        None => episode.errors.push(message),
                    }
                }
                // Messages of the program to its user.
                Some("info" | "warning") => notices.push(Json::Object(message)),
                _ => {
                    let content = content(message.take("content"));
                    let said = object!({ "role": "user", "content": content });
                    let started = message.take_time("timestamp");
                    for mut said in chat::read(&said.into()) {
                        said.details.started = started;
                        transcript.push(said);
                    }
                }
            }
        }
        transcript.finish(&mut episode);
        for key in ["projectHash", "kind", "directories", "lastUpdated"] {
            if let Some(value) = rest.take(key) {
                episode.metadata.insert(key, value);
            }
        }
        if !notices.is_empty() {
            rest.insert("notices", notices);
        }
        keep_rest(&mut episode, rest, sink);
        episode
    }
}

/// A message of the model with its calls, each with its result.
fn turn(mut message: Object, transcript: &mut Transcript, episode: &mut Episode) {
    let model = message.take_text("model");
    episode.model = model.clone().or_else(|| episode.model.take());
    let details = StepDetails {
        reasoning: thoughts(&message.take_list("thoughts").unwrap_or_default()),
        model,
        usage: message.take("tokens").and_then(|tokens| usage(&tokens)),
        started: message.take_time("timestamp"),
        errors: Vec::new(),
    };
    let calls = message.take_list("toolCalls").unwrap_or_default();
    let mut calls: Vec<Object> = calls
        .into_iter()
        .filter_map(|call| match call {
            Json::Object(call) => Some(call),
            _ => None,
        })
        .collect();
    let asked: Vec<Json> = calls.iter_mut().map(asked).collect();
    let said = object!({
        "role": "assistant",
        "content": (content(message.take("content"))),
        "tool_calls": asked
    });
    for mut said in chat::read(&said.into()) {
        let reasoning = said.details.reasoning.take();
        said.details = details.clone();
        said.details.reasoning = said.details.reasoning.or(reasoning);
        transcript.push(said);
    }
    let step = transcript.len().saturating_sub(1);
    for mut call in calls {
        if let Some(agent) = call.take_text("agentId") {
            episode.links.push(Link {
                relation: Relation::Subagent,
                episode: agent,
                step: Some(step),
            });
        }
        if let Some(said) = answered(call) {
            transcript.push(said);
        }
    }
}

/// Reads a content: a part, a text or a list of both.
fn content(content: Option<Json>) -> Json {
    match content.unwrap_or_default() {
        part @ Json::Object(_) => Json::List(vec![part]),
        Json::Text(text) if text.is_empty() => Json::Null,
        other => other,
    }
}

/// The call without its result.
fn asked(call: &mut Object) -> Json {
    let arguments = call.take("args").unwrap_or_default();
    let part = |key: &str| call.get(key).cloned().unwrap_or_default();
    object!({ "id": (part("id")), "name": (part("name")), "arguments": arguments }).into()
}

/// The result of a call; `None` if it was never run.
fn answered(mut call: Object) -> Option<ImportedMessage> {
    let status = call.take_text("status");
    let result = match content(call.take("result")) {
        Json::Null => None,
        Json::List(parts) => Some(parts),
        other => Some(vec![other]),
    };
    let display = call.take("resultDisplay");
    let is_over = matches!(status.as_deref(), Some("success" | "error" | "cancelled"));
    if result.is_none() && display.is_none() && !is_over {
        return None;
    }
    let mut outputs: Vec<Json> = result.into_iter().flatten().flat_map(output).collect();
    let (output, change) = match (outputs.len(), display) {
        (0, display) => (display.unwrap_or_default(), None),
        (1, display) => (outputs.pop().unwrap_or_default(), display),
        (_, display) => (Json::List(outputs), display),
    };
    let id = call.take_text("id").unwrap_or_default();
    let name = call.take_text("name").unwrap_or_default();
    let mut said = chat::answer(id, name, output);
    // A change of a file, with its contents before and after.
    if let Some(change @ Json::Object(_)) = change {
        let info = object!({ "resultDisplay": change });
        said.message = chat::with_info(said.message, info);
    }
    said.details.started = call.take_time("timestamp");
    Some(match status.as_deref() {
        Some("error" | "cancelled") => chat::failed(said),
        _ => said,
    })
}

/// The contents of a part of a result: the response of a function, or the part itself.
fn output(part: Json) -> Vec<Json> {
    let Json::Object(mut object) = part else {
        return vec![part];
    };
    let response = match object.take_object("functionResponse") {
        Some(mut function) => match function.take("response") {
            Some(Json::Object(mut response)) => {
                let output = response.take("output").or_else(|| response.take("error"));
                output.unwrap_or_else(|| response.into())
            }
            response => response.unwrap_or_default(),
        },
        None => object.into(),
    };
    match response {
        Json::List(parts) => parts,
        other => vec![other],
    }
}

fn thoughts(thoughts: &[Json]) -> Option<Text> {
    let thought = |thought: &Json| {
        let parts = ["subject", "description"].map(|key| text_at(thought, &[key]));
        let parts = parts.into_iter().flatten().filter(|part| !part.is_empty());
        let parts: Vec<Text> = parts.collect();
        (!parts.is_empty()).then(|| parts.join(": "))
    };
    let thoughts: Vec<String> = thoughts.iter().filter_map(thought).collect();
    (!thoughts.is_empty()).then(|| thoughts.join("\n\n").into())
}

/// Token counts. Reasoning tokens, and prompt tokens of server-side tools, are counted separately.
fn usage(tokens: &Json) -> Option<Usage> {
    let number = |key| tokens.get(key).and_then(count);
    let sum = |one: Option<u64>, other: Option<u64>| {
        let other = other.unwrap_or_default();
        one.map(|one| one.saturating_add(other))
    };
    let usage = Usage {
        input: sum(number("input"), number("tool")),
        output: sum(number("output"), number("thoughts")),
        cached: number("cached"),
        reasoning: number("thoughts"),
        cost: None,
    };
    (!usage.is_empty()).then_some(usage)
}
