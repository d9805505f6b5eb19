//! Conversations of gptme (`conversation.jsonl`): a message per line, `{role, content, timestamp, metadata: {model, usage,
//! cost}, pinned?, hide?, files?}`. Tools are called in code blocks of the text, and their results have no id.

use serde::Deserialize;
use volary_core::json::{Json, Object, Text};
use volary_core::{Message, Role};
use volary_episode::episode::{Episode, Rewards, StepDetails, Usage};

use super::chat;
use super::describe::counted;
use super::members::{count, number, text_at};
use super::reader::{Confidence, Document, Grouping, Line, Reader, Sink};
use super::transcript::{ImportedMessage, Transcript};
use super::typed;

pub(super) struct Gptme;

impl Reader for Gptme {
    fn id(&self) -> &'static str {
        "gptme"
    }

    fn name(&self) -> &'static str {
        "conversations of gptme (JSONL)"
    }

    fn recognise(&self, document: &Document) -> Confidence {
        let is_own = |value: &Json| {
            value
                .get("metadata")
                .is_some_and(|about| about.get("model").is_some())
                || ["pinned", "hide"]
                    .iter()
                    .any(|key| value.get(key).and_then(Json::as_bool).is_some())
        };
        let mut samples = document.samples().peekable();
        let is_lines = matches!(document, Document::Lines(_)) && samples.peek().is_some();
        if is_lines && samples.all(is_message) && document.samples().any(is_own) {
            Confidence::Likely
        } else {
            Confidence::No
        }
    }

    fn grouping(&self, _document: &Document) -> Grouping {
        Grouping::Whole
    }

    fn read(&self, document: Document, sink: &mut Sink<'_>) {
        let mut episode = Episode {
            policy: Some("gptme".into()),
            rewards: Rewards::Unknown,
            ..Episode::default()
        };
        let mut transcript = Transcript::default();
        let mut messages = 0;
        for Line { number, value } in document.into_records() {
            if value.as_object().is_none() {
                sink.lost(format!("Line {number} is not a message."));
                continue;
            }
            let (mut entry, odd) = typed::record::<Entry>(value, "A message", sink);
            entry.rest.extend(odd);
            messages += 1;
            let said = entry.read(sink);
            episode.model = said.details.model.clone().or(episode.model.take());
            transcript.push(said);
        }
        transcript.finish(&mut episode);
        sink.episode(episode);
        let messages = counted(messages, "message");
        sink.understood(format!("gptme: a conversation of {messages}."));
    }
}

fn is_message(value: &Json) -> bool {
    let is_text = |key: &str| text_at(value, &[key]).is_some();
    is_text("role") && is_text("content") && is_text("timestamp") && value.get("type").is_none()
}

/// A line of the file.
#[derive(Default, Deserialize)]
#[serde(default)]
struct Entry {
    role: Text,
    content: Text,
    timestamp: Option<Text>,
    metadata: Option<Json>,
    call_id: Option<Text>,
    /// The other members.
    #[serde(skip)]
    rest: Object,
}

#[derive(Default, Deserialize)]
#[serde(default)]
struct Metadata {
    model: Option<Text>,
    usage: Option<Json>,
    cost: Option<Json>,
}

impl Entry {
    fn read(self, sink: &mut Sink<'_>) -> ImportedMessage {
        let role = chat::role_of(&self.role).unwrap_or(Role::User);
        let mut rest = self.rest;
        let metadata = self.metadata.filter(|metadata| !metadata.is_null());
        let (metadata, others) = match metadata {
            Some(metadata) => typed::record::<Metadata>(metadata, "Metadata", sink),
            None => Default::default(),
        };
        if !others.is_empty() {
            rest.insert("metadata", others);
        }
        let mut said = match self.call_id {
            Some(call) => chat::answer(call, Text::default(), self.content.into()),
            None => Message::new(role, self.content).into(),
        };
        let cost = metadata.cost.as_ref().and_then(number);
        said.details = StepDetails {
            usage: usage(metadata.usage.as_ref(), cost),
            model: metadata.model,
            started: self
                .timestamp
                .and_then(|text| volary_episode::time::parse(&text)),
            ..StepDetails::default()
        };
        if role == Role::Assistant {
            said.extras = rest;
        } else {
            said.message = chat::with_info(said.message, rest);
        }
        said
    }
}

/// Token counts: cached input is counted apart.
fn usage(value: Option<&Json>, cost: Option<f64>) -> Option<Usage> {
    let part = |key: &str| value?.get(key).and_then(count);
    let parts = ["input_tokens", "cache_read_tokens", "cache_creation_tokens"];
    let usage = Usage {
        input: parts
            .into_iter()
            .filter_map(part)
            .reduce(u64::saturating_add),
        output: part("output_tokens"),
        cached: part("cache_read_tokens"),
        reasoning: None,
        cost,
    };
    (!usage.is_empty()).then_some(usage)
}
