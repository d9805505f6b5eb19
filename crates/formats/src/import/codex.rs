//! Sessions of Codex: one line per record, `{timestamp, type, payload}`. In older files the lines after the session's
//! metadata are the items themselves; the oldest files are one object, `{session, items}`.
//!
//! `conversation`: items and token counts in order, to steps. `items`: the kinds of items. `session`: metadata of the
//! session.
//!
//! Many things are recorded twice, as an item of the model's conversation and as an event for observers. The items are
//! used; if a file has no messages among them, the events are.

mod conversation;
mod items;
mod session;

use volary_core::json::{Json, Object, Text};
use volary_episode::episode::{Episode, Rewards};
use volary_episode::time;

use super::describe::counted;
use super::members::{Members, text_at};
use super::reader::{Confidence, Document, Grouping, Line, Reader, Sink};
use conversation::Conversation;
use session::Session;

/// The values of `type`.
const KINDS: [&str; 7] = [
    "session_meta",
    "turn_context",
    "response_item",
    "event_msg",
    "compacted",
    "token_usage_record",
    "world_state",
];

/// The keys of the metadata line in older files.
const FIRST: [&str; 3] = ["id", "timestamp", "instructions"];

pub(super) struct Codex;

impl Reader for Codex {
    fn id(&self) -> &'static str {
        "codex"
    }

    fn name(&self) -> &'static str {
        "sessions of Codex (JSONL)"
    }

    fn recognise(&self, document: &Document) -> Confidence {
        let says_kind = |line: &Json| {
            let kind = text_at(line, &["type"]);
            let has_payload = line
                .get("payload")
                .is_some_and(|it| it.as_object().is_some());
            has_payload && kind.is_some_and(|kind| KINDS.contains(&&*kind))
        };
        if document.samples().any(says_kind) {
            return Confidence::Certain;
        }
        let head = document.head();
        let is_first = |value: &Json| FIRST.iter().all(|key| value.get(key).is_some());
        let is_whole = head
            .get("items")
            .is_some_and(|items| items.as_list().is_some())
            && head.get("session").is_some_and(is_first);
        let is_bare = head.get("type").is_none()
            && head.get("messages").is_none()
            && is_first(head)
            && document
                .samples()
                .skip(1)
                .any(|line| is_state(line) || items::is_item(line));
        if is_whole || is_bare {
            Confidence::Likely
        } else {
            Confidence::No
        }
    }

    fn grouping(&self, _document: &Document) -> Grouping {
        Grouping::Whole
    }

    fn read(&self, document: Document, sink: &mut Sink<'_>) {
        let lines: Vec<Entry> = entries(document);
        let count = lines.len();
        let has_messages = lines.iter().any(|line| {
            let is_message = text_at(&line.payload, &["type"]).as_deref() == Some("message");
            line.kind == Kind::Item && is_message
        });
        let is_counted = lines.iter().any(|line| line.count().is_some());
        let mut episode = Episode {
            policy: Some("Codex".into()),
            rewards: Rewards::Unknown,
            ..Episode::default()
        };
        let mut session = Session::default();
        let mut conversation = Conversation::new(is_counted, !has_messages);
        let mut last_time = None;
        for line in lines {
            episode.started = episode.started.or(line.time);
            last_time = line.time.or(last_time);
            match line.kind {
                Kind::Session => session.meta(line, &mut episode, &mut conversation),
                _ => {
                    session.note(&line, &mut episode);
                    conversation.line(line);
                }
            }
        }
        if let (Some(first), Some(last)) = (episode.started, last_time) {
            episode.seconds = Some(time::between(first, last));
        }
        let version = episode.metadata.get("cli_version");
        sink.set_version(version.and_then(Json::as_text).cloned());
        let (encrypted, others) = conversation.finish(&mut episode);
        if !others.is_empty() {
            sink.kept(format!(
                "Neither messages nor calls: {}.",
                counted(others.len(), "line")
            ));
            episode.raw.insert("lines", others);
        }
        if episode.id.is_empty() {
            episode.id = sink.stem();
        }
        sink.episode(episode);
        let besides = match encrypted {
            0 => String::new(),
            count => format!("; encrypted and not shown: {}", counted(count, "thought")),
        };
        sink.understood(format!(
            "Codex session of {}{besides}.",
            counted(count, "line")
        ));
    }
}

/// The kind of a line.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum Kind {
    /// Metadata of the session.
    Session,
    /// The settings of a turn.
    Context,
    /// An item of the model's conversation.
    Item,
    Event,
    /// A summary that replaces the previous messages.
    Compacted,
    /// The tokens of a reply.
    Count,
    /// Unknown.
    Other,
}

/// A parsed line.
struct Entry {
    kind: Kind,
    time: Option<f64>,
    payload: Json,
    /// Whether the line had a `payload`; otherwise the whole line is the payload.
    is_wrapped: bool,
}

impl Entry {
    fn read(value: Json) -> Entry {
        let time = text_at(&value, &["timestamp"]).and_then(|text| time::parse(&text));
        let kind = match text_at(&value, &["type"]).as_deref() {
            Some("session_meta") => Kind::Session,
            Some("turn_context") => Kind::Context,
            Some("response_item") => Kind::Item,
            Some("event_msg") => Kind::Event,
            Some("compacted") => Kind::Compacted,
            Some("token_usage_record") => Kind::Count,
            _ => Kind::Other,
        };
        let mut entry = Entry {
            kind,
            time,
            payload: Json::Null,
            is_wrapped: kind != Kind::Other,
        };
        entry.payload = match value {
            Json::Object(mut line) if entry.is_wrapped => {
                line.remove("payload").unwrap_or_default()
            }
            bare => {
                if items::is_item(&bare) {
                    entry.kind = Kind::Item;
                } else if FIRST.iter().all(|key| bare.get(key).is_some()) {
                    entry.kind = Kind::Session;
                }
                bare
            }
        };
        entry
    }

    /// The name of an event; `None` for other lines.
    fn event(&self) -> Option<Text> {
        text_at(&self.payload, &["type"]).filter(|_| self.kind == Kind::Event)
    }

    /// The tokens of a reply, and those of the whole session so far.
    fn count(&self) -> Option<(&Json, Option<&Json>)> {
        if self.kind == Kind::Count {
            let all = self.payload.get("thread_token_usage");
            return Some((self.payload.get("usage")?, all));
        }
        let info = self.payload.get("info")?;
        let is_count = self.event().as_deref() == Some("token_count");
        let last = info.get("last_token_usage").filter(|_| is_count)?;
        Some((last, info.get("total_token_usage")))
    }

    /// The line in its original form, for preservation.
    fn kept(self) -> Json {
        if !self.is_wrapped {
            return self.payload;
        }
        let kind = match self.kind {
            Kind::Session => "session_meta",
            Kind::Context => "turn_context",
            Kind::Item => "response_item",
            Kind::Event => "event_msg",
            Kind::Compacted => "compacted",
            Kind::Count => "token_usage_record",
            Kind::Other => "other",
        };
        let mut line = Object::new();
        let time = self.time.and_then(time::format);
        if let Some(time) = time {
            line.insert("timestamp", time);
        }
        line.insert("type", kind);
        line.insert("payload", self.payload);
        line.into()
    }
}

fn entries(document: Document) -> Vec<Entry> {
    let document = match document {
        Document::Value(Json::Object(mut whole)) if whole.contains_key("items") => {
            let items = whole.take_list("items").unwrap_or_default();
            let session = whole.remove("session").unwrap_or_default();
            Document::Value(
                std::iter::once(session)
                    .chain(items)
                    .collect::<Vec<_>>()
                    .into(),
            )
        }
        document => document,
    };
    let lines = document.into_records().into_iter();
    lines
        .filter(|Line { value, .. }| !is_state(value))
        .map(|line| Entry::read(line.value))
        .collect()
}

/// Whether a line only reports that there is a state.
fn is_state(value: &Json) -> bool {
    text_at(value, &["record_type"]).as_deref() == Some("state")
}
