//! Sessions that the Hugging Face Hub shows as traces, besides those of Claude Code and Codex: the Session Trace Simple
//! Format, a header `{type: "session", harness, id}` and a line `{type: "message", message}` for each message; and
//! sessions of pi, whose header has `cwd` instead of `harness`, and whose lines contain the id of their parent line, so
//! that a session can branch.

use std::collections::HashMap;

use volary_core::json::{Json, Object, Text};
use volary_core::{Role, object};
use volary_episode::episode::{Episode, Link, Relation, Rewards, StepError, Usage};

use super::chat;
use super::describe::counted;
use super::members::{Members, at, count, keep_rest, number, text_at};
use super::reader::{Confidence, Document, Grouping, Line, Reader, Sink};
use super::transcript::Transcript;

pub(super) struct SessionTrace;

impl Reader for SessionTrace {
    fn id(&self) -> &'static str {
        "session-trace"
    }

    fn name(&self) -> &'static str {
        "session traces of the Hugging Face Hub and of pi (JSONL)"
    }

    fn recognise(&self, document: &Document) -> Confidence {
        let head = document.head();
        let is_text = |key| text_at(head, &[key]).is_some();
        let is_header = text_at(head, &["type"]).as_deref() == Some("session") && is_text("id");
        if is_header && (is_text("harness") || is_text("cwd")) {
            Confidence::Certain
        } else {
            Confidence::No
        }
    }

    fn grouping(&self, _document: &Document) -> Grouping {
        Grouping::Whole
    }

    fn read(&self, document: Document, sink: &mut Sink<'_>) {
        let mut lines = document.into_records().into_iter();
        let head = lines.next().map(|line| line.value);
        let Some(Json::Object(header)) = head else {
            return;
        };
        let lines: Vec<Line> = lines.collect();
        let count = lines.len();
        let (kept, left_out) = last_branch(lines);
        if left_out > 0 {
            sink.lost(format!(
                "On other branches of the session, and omitted: {}.",
                counted(left_out, "line")
            ));
        }
        let episode = session(header, kept, sink);
        sink.episode(episode);
        sink.understood(format!("A session of {}.", counted(count, "line")));
    }
}

/// The lines on the path from the first line to the last one, and the number of lines on other branches. The parent of
/// a line without a parent id is the previous line.
fn last_branch(lines: Vec<Line>) -> (Vec<Line>, usize) {
    let id = |line: &Line| text_at(&line.value, &["id"]);
    let indices: HashMap<Text, usize> = (lines.iter().enumerate())
        .filter_map(|(index, line)| Some((id(line)?, index)))
        .collect();
    let mut is_kept = vec![false; lines.len()];
    let mut at = lines.len().checked_sub(1);
    while let Some(index) = at
        && let Some(kept) = is_kept.get_mut(index)
        && !*kept
    {
        *kept = true;
        let value = &lines[index].value;
        at = match (value.get("parentId"), value.get("id")) {
            (Some(Json::Text(parent)), _) => match indices.get(parent) {
                Some(above) => Some(*above),
                None => index.checked_sub(1),
            },
            // The root of the session.
            (Some(Json::Null), Some(_)) => None,
            _ => index.checked_sub(1),
        };
    }
    let count = lines.len();
    let lines = lines.into_iter().zip(is_kept);
    let kept: Vec<Line> = lines
        .filter(|(_, kept)| *kept)
        .map(|(line, _)| line)
        .collect();
    let left_out = count - kept.len();
    (kept, left_out)
}

fn session(mut header: Object, lines: Vec<Line>, sink: &mut Sink<'_>) -> Episode {
    header.remove("type");
    let harness = header.take_text("harness");
    sink.set_version(header.take_id("version"));
    let mut episode = Episode {
        id: header.take_id("id").unwrap_or_default(),
        name: header.take_text("name").unwrap_or_default(),
        policy: harness.or(Some("pi".into())),
        model: header
            .take_text("modelId")
            .or_else(|| header.take_text("model")),
        rewards: Rewards::Unknown,
        started: header.take_time("timestamp"),
        ..Episode::default()
    };
    let before = ["parentSession", "branchedFrom"];
    if let Some(path) = before.iter().find_map(|key| header.take_text(key)) {
        let episode_id = path.rsplit(['/', '\\']).next().unwrap_or_default();
        episode.links.push(Link {
            relation: Relation::Predecessor,
            episode: episode_id.into(),
            step: None,
        });
    }
    let mut transcript = Transcript::default();
    let mut others = Vec::new();
    for Line { number, value } in lines {
        let Json::Object(mut entry) = value else {
            sink.lost(format!("Line {number} is not an object."));
            continue;
        };
        match (
            entry
                .get("type")
                .and_then(Json::as_text)
                .map(|kind| &**kind),
            entry.contains_key("message"),
        ) {
            (Some("message"), true) => {
                let message = entry.take_object("message").unwrap_or_default();
                let when = entry.take_time("timestamp");
                said(message, when, &mut transcript, &mut episode);
            }
            (Some("session_info"), _) => episode.name = entry.take_text("name").unwrap_or_default(),
            (Some("compaction" | "branch_summary"), _) if entry.contains_key("summary") => {
                let summary = entry.take("summary").unwrap_or_default();
                let mut said = chat::plain(Role::User, chat::body(summary));
                said.details.started = entry.take_time("timestamp");
                said.message = chat::with_info(said.message, entry);
                transcript.push(said);
            }
            (Some("custom_message"), _) => {
                let content = entry.take("content").unwrap_or_default();
                transcript.push(chat::plain(Role::User, chat::body(content)));
            }
            (Some("model_change"), _) => {
                episode.model = entry.take_text("modelId").or(episode.model.take());
            }
            _ => others.push(Json::Object(entry)),
        }
    }
    transcript.finish(&mut episode);
    let mut rest = Object::new();
    if !others.is_empty() {
        rest.insert("lines", others);
    }
    for (key, value) in header {
        match value {
            Json::Object(_) | Json::List(_) => drop(rest.insert(key, value)),
            value => drop(episode.metadata.insert(key, value)),
        }
    }
    keep_rest(&mut episode, rest, sink);
    episode
}

fn said(
    mut message: Object,
    when: Option<f64>,
    transcript: &mut Transcript,
    episode: &mut Episode,
) {
    let when = message.take_time("timestamp").or(when);
    let role = message.take_text("role").unwrap_or_default();
    let id = message.take_id("toolCallId").unwrap_or_default();
    let content = message.take("content").unwrap_or_default();
    match &*role {
        "toolResult" | "tool" => {
            let name = message
                .take_text("toolName")
                .or_else(|| message.take_text("name"));
            let failed = message.take_flag("isError") == Some(true);
            let mut said = chat::answer(id, name.unwrap_or_default(), content);
            said.details.started = when;
            said.message = chat::with_info(said.message, info(message));
            transcript.push(if failed { chat::failed(said) } else { said });
        }
        "assistant" => {
            let model = message.take_text("model");
            episode.model = model.clone().or(episode.model.take());
            let usage = message.take("usage").and_then(|usage| tokens(&usage));
            let error = message.take_text("errorMessage");
            let mut calls = message.take_list("toolCalls").unwrap_or_default();
            let mut blocks = Vec::new();
            let content = match content {
                Json::List(list) => {
                    for block in list {
                        match text_at(&block, &["type"]).as_deref() {
                            Some("toolCall") => calls.push(block),
                            _ => blocks.push(block),
                        }
                    }
                    Json::List(blocks)
                }
                Json::Text(text) if text.is_empty() => Json::Null,
                content => content,
            };
            let reasoning = message.take("reasoningContent");
            let said = object!({
                "role": "assistant",
                "content": content,
                "reasoning_content": (reasoning.unwrap_or_default()),
                "tool_calls": calls
            });
            for mut said in chat::read(&said.into()) {
                said.details.started = when;
                said.details.model = model.clone();
                said.details.usage = usage;
                said.details
                    .errors
                    .extend(error.clone().map(|message| StepError {
                        call: None,
                        message,
                    }));
                said.extras = info(std::mem::take(&mut message));
                transcript.push(said);
            }
        }
        // A command that the user ran.
        "bashExecution" => {
            let command = message.take("command").unwrap_or_default();
            let output = message.take("output").unwrap_or_default();
            let text = format!("$ {}\n{}", command.to_display(), output.to_display());
            let mut said = chat::plain(Role::User, chat::body(text.into()));
            said.details.started = when;
            said.message = chat::with_info(said.message, info(message));
            transcript.push(said);
        }
        "compactionSummary" | "branchSummary" => {
            let summary = message.take("summary").unwrap_or(content);
            transcript.push(chat::plain(Role::User, chat::body(summary)));
        }
        role => {
            let role = chat::role_of(role).unwrap_or(Role::User);
            let mut said = chat::plain(role, chat::body(content));
            said.details.started = when;
            said.message = chat::with_info(said.message, info(message));
            transcript.push(said);
        }
    }
}

/// The remaining members of a message.
fn info(mut rest: Object) -> Object {
    rest.retain(|_, value| !value.is_null());
    rest
}

/// Token counts. pi counts cached tokens separately.
fn tokens(value: &Json) -> Option<Usage> {
    let Some(input) = value.get("input").and_then(count) else {
        return chat::usage(value);
    };
    let part = |key| value.get(key).and_then(count);
    let cached = |key| part(key).unwrap_or_default();
    let all = input
        .saturating_add(cached("cacheRead"))
        .saturating_add(cached("cacheWrite"));
    Some(Usage {
        input: Some(all),
        output: part("output"),
        cached: part("cacheRead"),
        reasoning: part("reasoning"),
        cost: at(value, &["cost", "total"]).and_then(number),
    })
}
