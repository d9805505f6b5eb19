//! Metadata of a session: where it ran, on which model, which session it continues, and how it ended.

use volary_core::json::Json;
use volary_episode::episode::{Ending, Episode, Link, Relation};

use super::conversation::Conversation;
use super::{Entry, Kind};
use crate::import::chat;
use crate::import::members::{Members, text_at};

/// The settings of a turn that are stored as metadata.
const SET_UP: [&str; 3] = ["approval_policy", "sandbox_policy", "effort"];

/// The path of the parent session's id in the session of a subagent.
const SPAWNED: &[&str] = &["subagent", "thread_spawn", "parent_thread_id"];

/// The metadata of a session read so far.
#[derive(Default)]
pub(super) struct Session {
    is_known: bool,
}

impl Session {
    /// Reads the metadata line. A session that continues another one contains a copy of that one's lines below its own.
    pub fn meta(&mut self, line: Entry, episode: &mut Episode, conversation: &mut Conversation) {
        let is_said = line.payload.as_object().is_some();
        if self.is_known || !is_said {
            return conversation.keep(line);
        }
        self.is_known = true;
        let Json::Object(mut meta) = line.payload else {
            return;
        };
        episode.id = meta
            .take_id("id")
            .or_else(|| meta.take_id("session_id"))
            .unwrap_or_default();
        episode.started = meta.take_time("timestamp").or(line.time);
        let parents = [
            meta.get("source")
                .and_then(|source| text_at(source, SPAWNED)),
            meta.get("parent_thread_id")
                .and_then(Json::as_text)
                .cloned(),
        ];
        let parent = parents.into_iter().flatten().next();
        let before = meta.get("forked_from_id").and_then(Json::as_text).cloned();
        let links = [(Relation::Parent, parent), (Relation::Branch, before)];
        for (relation, other) in links {
            if let Some(other) = other {
                episode.links.push(Link {
                    relation,
                    episode: other,
                    step: None,
                });
            }
        }
        if let Some(told) = meta.take_object("base_instructions") {
            match told.get("text") {
                Some(text @ Json::Text(_)) => conversation.told(text.clone()),
                _ => drop(meta.insert("base_instructions", told)),
            }
        }
        if let Some(tools) = meta.take_list("dynamic_tools") {
            episode.tools = tools.iter().filter_map(chat::tool).collect();
        }
        meta.retain(|_, value| !value.is_null());
        episode.metadata = meta;
    }

    /// Reads the session's metadata from a line that is also part of the conversation.
    pub fn note(&mut self, line: &Entry, episode: &mut Episode) {
        if line.kind == Kind::Context {
            let model = text_at(&line.payload, &["model"]);
            episode.model = episode.model.take().or(model);
            for key in SET_UP.iter().chain(&["cwd"]) {
                if let Some(value) = line.payload.get(key).filter(|value| !value.is_null())
                    && !episode.metadata.contains_key(key)
                {
                    episode.metadata.insert(*key, value.clone());
                }
            }
        }
        match line.event().as_deref() {
            Some("thread_name_updated") => {
                let name = text_at(&line.payload, &["thread_name"]);
                episode.name = name.unwrap_or_else(|| episode.name.clone());
            }
            Some("task_started" | "turn_started") => {
                episode.ending = Ending::Open;
                episode.outcome = None;
            }
            Some("task_complete" | "turn_complete") => episode.ending = Ending::Done,
            Some("turn_aborted") => {
                let reason = text_at(&line.payload, &["reason"]);
                let reason = reason.unwrap_or_else(|| "turn_aborted".into());
                episode.ending = Ending::Truncated {
                    reason: format!("It was cut off: {reason}.").into(),
                };
                episode.outcome = Some(reason);
            }
            Some("error") => episode.errors.extend(text_at(&line.payload, &["message"])),
            _ => {}
        }
    }
}
