//! Converts the events of a thread to an episode.

use volary_core::json::{Json, Object, Text};
use volary_core::message::Body;
use volary_core::{AnyMessage, Role};
use volary_episode::episode::{Episode, Link, Relation, Rewards, StepError};
use volary_episode::time;

use super::thread::{Event, Thread, session_of};
use crate::import::chat;
use crate::import::members::text_at;
use crate::import::transcript::{ImportedMessage, Transcript};

/// Builds the episode of a thread.
pub(super) fn episode(thread: Thread) -> Episode {
    let mut episode = Episode {
        policy: Some("Claude Code".into()),
        rewards: Rewards::Unknown,
        ..Episode::default()
    };
    if let Some(first) = thread.events.first() {
        let text = |key: &str| first.object.get(key).and_then(Json::as_text).cloned();
        let session = session_of(&first.object).unwrap_or_default();
        episode.id = match &thread.agent {
            Some(agent) => format!("{session}/{agent}").into(),
            None => session,
        };
        for key in ["cwd", "gitBranch", "version", "userType"] {
            if let Some(value) = text(key).filter(|value| !value.is_empty()) {
                episode.metadata.insert(key, value);
            }
        }
    }
    let mut transcript = Transcript::default();
    let mut last_time = None;
    let session = episode.id.clone();
    let is_main = thread.agent.is_none();
    for said in messages(thread.events) {
        if let Some(agent) = agent_of(&said)
            && is_main
        {
            episode.links.push(Link {
                relation: Relation::Subagent,
                episode: format!("{session}/{agent}").into(),
                step: called_at(&said, &transcript),
            });
        }
        let started = said.details.started;
        episode.started = episode.started.or(started);
        last_time = started.or(last_time);
        episode.model = said.details.model.clone().or(episode.model);
        transcript.push(said);
    }
    if let (Some(first), Some(last)) = (episode.started, last_time) {
        episode.seconds = Some(time::between(first, last));
    }
    transcript.finish(&mut episode);
    episode
}

/// The subagent whose result a message contains.
fn agent_of(said: &ImportedMessage) -> Option<Text> {
    let result = said.message.body().info.as_ref()?.get("toolUseResult")?;
    text_at(result, &["agentId"])
}

/// The step with the call that a message answers.
fn called_at(said: &ImportedMessage, transcript: &Transcript) -> Option<usize> {
    let AnyMessage::Response(response) = &said.message else {
        return None;
    };
    let mut calls = transcript.requests();
    let (step, _) = calls.find(|(_, call)| call.id == response.tool_call_id)?;
    Some(step)
}

/// Converts events to messages; events that are parts of one message are joined.
fn messages(events: Vec<Event>) -> Vec<ImportedMessage> {
    let mut parts: Vec<Part> = Vec::new();
    for event in events {
        let mut part = Part::read(event);
        let same = |known: &&mut Part| part.id.is_some() && known.id == part.id;
        // Results of calls may be between the parts of a message.
        match parts.iter_mut().rev().take(32).find(same) {
            Some(known) => known.join(&mut part),
            None => parts.push(part),
        }
    }
    parts.into_iter().flat_map(Part::said).collect()
}

/// An event before it is joined into a message.
struct Part {
    /// The id of the model's message.
    id: Option<Text>,
    message: Object,
    content: Vec<Json>,
    started: Option<f64>,
    rest: Object,
}

impl Part {
    fn read(event: Event) -> Part {
        let mut rest = event.object;
        let mut message = match rest.remove("message") {
            Some(Json::Object(message)) => message,
            other => {
                let role = if rest.get("type").and_then(Json::as_text).map(AsRef::as_ref)
                    == Some("system")
                {
                    "system"
                } else {
                    "user"
                };
                let content = rest.remove("content").or(other).unwrap_or_default();
                volary_core::object!({"role": role, "content": content})
            }
        };
        if !message.contains_key("role")
            && let Some(kind) = rest.get("type")
        {
            message.insert("role", kind.clone());
        }
        let content = match message.remove("content").unwrap_or_default() {
            Json::List(list) => list,
            Json::Null => Vec::new(),
            other => vec![volary_core::json!({"type": "text", "text": other})],
        };
        let timestamp = rest.remove("timestamp");
        let started = timestamp.and_then(|text| time::parse(text.as_text()?));
        // These are the same in every event, or follow from the order of events.
        const SHARED: [&str; 14] = [
            "parentUuid",
            "logicalParentUuid",
            "isSidechain",
            "userType",
            "cwd",
            "sessionId",
            "session_id",
            "parent_tool_use_id",
            "version",
            "gitBranch",
            "type",
            "uuid",
            "requestId",
            "agentId",
        ];
        rest.retain(|key, value| !SHARED.contains(&key.as_ref()) && !value.is_null());
        Part {
            id: event.message_id,
            message,
            content,
            started,
            rest,
        }
    }

    fn join(&mut self, later: &mut Part) {
        self.content.append(&mut later.content);
        // Token counts are cumulative; the last part has the total.
        self.message.extend(std::mem::take(&mut later.message));
        self.rest.extend(std::mem::take(&mut later.rest));
    }

    fn said(mut self) -> Vec<ImportedMessage> {
        let usage = self
            .message
            .remove("usage")
            .and_then(|usage| chat::usage(&usage));
        let text = |message: &mut Object, key: &str| match message.remove(key) {
            Some(Json::Text(text)) => Some(text),
            _ => None,
        };
        let model = text(&mut self.message, "model").filter(|model| &**model != "<synthetic>");
        let role = text(&mut self.message, "role").unwrap_or_else(|| "user".into());
        for known in ["id", "type", "stop_reason", "stop_sequence", "stop_details"] {
            self.message.remove(known);
        }
        let mut value = volary_core::object!({"role": role, "content": (self.content)});
        self.message.retain(|_, value| !value.is_null());
        value.extend(self.message);
        let mut said = chat::read(&value.into());
        if said.is_empty() {
            said.push(chat::plain(Role::User, Body::default()));
        }
        let last = said.len() - 1;
        for (index, said) in said.iter_mut().enumerate() {
            said.details.started = self.started;
            if index == last {
                said.details.model = model.clone();
                said.details.usage = usage;
                let rest = std::mem::take(&mut self.rest);
                if said.message.role() == Role::Assistant {
                    // Claude Code reports an API error as a message of the model.
                    if rest.get("isApiErrorMessage").and_then(Json::as_bool) == Some(true) {
                        said.details.errors.push(StepError {
                            call: None,
                            message: said.message.body().content_or_empty().into(),
                        });
                    }
                    said.extras = rest;
                } else {
                    let message = said.message.clone();
                    said.message = chat::with_info(message, rest);
                }
            }
        }
        said
    }
}
