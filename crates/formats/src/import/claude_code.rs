//! Sessions of Claude Code: one event per line, each with its parent. A reply of the model spans several lines with the
//! same message id; subagents ("sidechains") and abandoned branches are interleaved. Also the output of `stream-json`
//! (the same messages, without parents) and sessions of the web version, `{loglines: [event]}`.
//!
//! `thread`: groups lines into threads. `events`: lines to steps. `printed`: metadata that only `stream-json` has.

mod events;
mod printed;
mod thread;

use std::collections::HashMap;

use volary_core::json::{Json, Text};
use volary_episode::episode::{Link, Relation};

use super::describe::counted;
use super::members::Members;
use super::reader::{Confidence, Document, Grouping, Reader, Sink};
use thread::{Between, Event, is_said};

/// The member of a session on the web that holds its events.
const LINES: &str = "loglines";

pub(super) struct ClaudeCode;

impl Reader for ClaudeCode {
    fn id(&self) -> &'static str {
        "claude-code"
    }

    fn name(&self) -> &'static str {
        "sessions of Claude Code (JSONL)"
    }

    fn recognise(&self, document: &Document) -> Confidence {
        const LOOKED_AT: usize = 200;
        // Lines that are not messages may come first.
        let any = |is: fn(&Json) -> bool| match document {
            Document::Lines(lines) => lines.iter().take(LOOKED_AT).any(|line| is(&line.value)),
            Document::Value(Json::List(events)) => events.iter().take(LOOKED_AT).any(is),
            Document::Value(value) => match value.get(LINES).and_then(Json::as_list) {
                Some(events) => events.iter().take(LOOKED_AT).any(is),
                None => is(value),
            },
        };
        if any(is_event) {
            Confidence::Certain
        } else if any(is_said) {
            Confidence::Likely
        } else {
            Confidence::No
        }
    }

    fn grouping(&self, _document: &Document) -> Grouping {
        Grouping::Whole
    }

    fn read(&self, document: Document, sink: &mut Sink<'_>) {
        let mut others = Vec::new();
        let mut all: Vec<Event> = Vec::new();
        let mut known: HashMap<Text, usize> = HashMap::new();
        let mut twice = 0;
        let mut title = None;
        let mut between = Between::default();
        let document = match document {
            Document::Value(Json::Object(mut session)) if session.contains_key(LINES) => {
                Document::Value(session.take_list(LINES).unwrap_or_default().into())
            }
            document => document,
        };
        for line in document.into_records() {
            match Event::read(line.value, line.number) {
                Ok(mut event) => {
                    // Lines are written again when a session is resumed.
                    let before = known.get(&event.uuid).and_then(|index| all.get(*index));
                    if before.is_some_and(|before| before.object == event.object) {
                        twice += 1;
                        continue;
                    }
                    known.insert(event.uuid.clone(), all.len());
                    event.parent = event.parent.and_then(|parent| between.above(parent));
                    all.push(event);
                }
                Err(value) => {
                    between.note(&value);
                    const TITLES: [&str; 3] = ["customTitle", "aiTitle", "summary"];
                    let told = TITLES.iter().find_map(|key| value.get(key)?.as_text());
                    title = told.cloned().or(title);
                    others.push(value);
                }
            }
        }
        let lines = all.len();
        if twice > 0 {
            sink.understood(format!(
                "Duplicates, counted once: {}.",
                counted(twice, "line")
            ));
        }
        let (threads, left_out) = thread::threads(all);
        if left_out > 0 {
            sink.lost(format!(
                "{} omitted: each repeats the session up to its fork, and together they take too \
                 much memory.",
                match left_out {
                    1 => "1 branch is".to_owned(),
                    count => format!("{count} branches are"),
                }
            ));
        }
        let mut main_id = None;
        for thread in threads {
            let (origin, step) = (thread.origin, thread.step);
            let session = thread.session_of_agent();
            let mut episode = events::episode(thread);
            if episode.id.is_empty() {
                episode.id = sink.stem();
            }
            match (&main_id, origin) {
                (None, _) => {
                    // A subagent in its own file: its session is in another file.
                    if let Some(session) = session {
                        episode.links.push(Link {
                            relation: Relation::Parent,
                            episode: session,
                            step: None,
                        });
                    }
                    episode.name = title.clone().unwrap_or_default();
                    printed::tell(&others, &mut episode);
                    if !others.is_empty() {
                        sink.kept(format!(
                            "Neither messages nor system events: {}.",
                            counted(others.len(), "line")
                        ));
                        episode.raw.insert("lines", std::mem::take(&mut others));
                    }
                    main_id = Some(episode.id.clone());
                }
                (Some(main), relation) => {
                    let main = session.as_ref().unwrap_or(main);
                    let step = step.filter(|_| relation == Relation::Branch);
                    episode.links.push(Link {
                        relation,
                        episode: main.clone(),
                        step,
                    });
                }
            }
            sink.episode(episode);
        }
        let besides = match sink.episodes() {
            0 | 1 => String::new(),
            count => format!(", with {} subagents or branches", count - 1),
        };
        sink.understood(format!(
            "Claude Code session of {}{besides}.",
            counted(lines, "event")
        ));
    }
}

fn is_event(value: &Json) -> bool {
    ["sessionId", "uuid", "type"]
        .iter()
        .all(|key| value.get(key).is_some())
}
