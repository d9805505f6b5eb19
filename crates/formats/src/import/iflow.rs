//! Sessions of iFlow CLI: events in the form of Claude Code, but each event of a reply repeats the last call of the one
//! before it, and the parent of a reply is the last message of the user, so that the events form no tree.
//!
//! They are read in the order of the file: the events of the model between two of the user are one reply.

use std::collections::HashSet;

use volary_core::Role;
use volary_core::json::{Json, Object, Text};
use volary_core::object;
use volary_episode::episode::{Episode, Rewards};

use super::chat;
use super::describe::counted;
use super::members::{Members, at, text_at};
use super::reader::{Confidence, Document, Grouping, Line, Reader, Sink};
use super::transcript::Transcript;

pub(super) struct IFlow;

impl Reader for IFlow {
    fn id(&self) -> &'static str {
        "iflow"
    }

    fn name(&self) -> &'static str {
        "sessions of iFlow CLI (JSONL)"
    }

    fn recognise(&self, document: &Document) -> Confidence {
        if document.samples().any(is_own) {
            Confidence::Certain
        } else {
            Confidence::No
        }
    }

    fn grouping(&self, _document: &Document) -> Grouping {
        Grouping::Whole
    }

    fn read(&self, document: Document, sink: &mut Sink<'_>) {
        let mut session = Session::default();
        let mut events = 0;
        for Line { number, value } in document.into_records() {
            match value {
                Json::Object(event) if event.contains_key("message") => {
                    events += 1;
                    session.event(event);
                }
                _ => sink.lost(format!("Line {number} is not a message.")),
            }
        }
        session.finish(sink);
        let events = counted(events, "event");
        sink.understood(format!("iFlow session of {events}."));
    }
}

/// Whether a value is an event that only iFlow writes: the ids of its replies begin like this.
fn is_own(value: &Json) -> bool {
    let id = text_at(value, &["message", "id"]);
    let result = at(value, &["toolUseResult"]).is_some();
    let call = at(value, &["message", "content"])
        .and_then(Json::as_list)
        .and_then(|blocks| at(blocks.first()?, &["content", "callId"]));
    value.get("parentUuid").is_some()
        && (id.is_some_and(|id| id.starts_with("response-")) || result && call.is_some())
}

#[derive(Default)]
struct Session {
    id: Text,
    transcript: Transcript,
    model: Option<Text>,
    about: Object,
    /// The blocks of the current reply, and when it started.
    reply: Vec<Json>,
    started: Option<f64>,
    known: HashSet<Text>,
}

impl Session {
    fn event(&mut self, mut event: Object) {
        let when = event.take_time("timestamp");
        if let Some(id) = event.take_text("sessionId") {
            self.id = id;
        }
        for key in ["cwd", "gitBranch", "version"] {
            if let Some(value) = event.take(key) {
                self.about.insert(key, value);
            }
        }
        let mut message = event.take_object("message").unwrap_or_default();
        let content = message.take("content").unwrap_or_default();
        if message.take_text("role").as_deref() == Some("assistant") {
            self.model = message.take_text("model").or(self.model.take());
            self.started = self.started.or(when);
            let blocks = match content {
                Json::List(blocks) => blocks,
                text => vec![object!({ "type": "text", "text": text }).into()],
            };
            for block in blocks {
                let call = text_at(&block, &["id"]);
                if call.is_none_or(|call| self.known.insert(call)) {
                    self.reply.push(block);
                }
            }
            return;
        }
        self.flush();
        let content = match content {
            Json::List(blocks) => blocks.into_iter().map(unwrapped).collect::<Vec<_>>().into(),
            text => text,
        };
        let message = object!({ "role": "user", "content": content });
        for mut said in chat::read_owned(message.into()) {
            said.details.started = when;
            self.transcript.push(said);
        }
    }

    fn flush(&mut self) {
        let started = self.started.take();
        if self.reply.is_empty() {
            return;
        }
        let blocks = std::mem::take(&mut self.reply);
        let message = object!({ "role": "assistant", "content": blocks });
        for mut said in chat::read_owned(message.into()) {
            said.details.started = started;
            if said.message.role() == Role::Assistant {
                said.details.model = self.model.clone();
            }
            self.transcript.push(said);
        }
    }

    fn finish(mut self, sink: &mut Sink<'_>) {
        self.flush();
        let mut episode = Episode {
            id: self.id,
            policy: Some("iFlow CLI".into()),
            model: self.model,
            rewards: Rewards::Unknown,
            metadata: self.about,
            ..Episode::default()
        };
        self.transcript.finish(&mut episode);
        sink.episode(episode);
    }
}

/// A result without the wrapper of Gemini's SDK: `{callId, responseParts: {functionResponse: {response: {output}}}}`.
fn unwrapped(mut block: Json) -> Json {
    const PATHS: [&[&str]; 2] = [
        &[
            "content",
            "responseParts",
            "functionResponse",
            "response",
            "output",
        ],
        &[
            "content",
            "responseParts",
            "functionResponse",
            "response",
            "error",
        ],
    ];
    let found = PATHS.iter().find_map(|path| at(&block, path)).cloned();
    let is_error = at(&block, PATHS[0]).is_none() && found.is_some();
    if let (Json::Object(block), Some(output)) = (&mut block, found) {
        block.insert("content", output);
        if is_error {
            block.insert("is_error", true);
        }
    }
    block
}
