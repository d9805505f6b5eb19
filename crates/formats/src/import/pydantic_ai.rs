//! Histories of Pydantic AI (`ModelMessagesTypeAdapter`, `all_messages_json()`): a list of `{kind: "request" |
//! "response", parts: [{part_kind, …}]}`, one per file, or one per line, alone or as a member.

use volary_core::json::{Json, Object, Text};
use volary_core::{Message, Role, ToolCall, object};
use volary_episode::episode::{Ending, Episode, Rewards, StepDetails, Usage};

use super::chat;
use super::describe::counted;
use super::members::{Members, keep_rest, number, text_at};
use super::reader::{Confidence, Document, Grouping, Line, Reader, Sink};
use super::transcript::Transcript;

/// The members in which programs store a history.
const LISTS: [&str; 3] = ["messages", "message_history", "all_messages"];

pub(super) struct PydanticAi;

impl Reader for PydanticAi {
    fn id(&self) -> &'static str {
        "pydantic-ai"
    }

    fn name(&self) -> &'static str {
        "message histories of Pydantic AI (JSON, or one per line)"
    }

    fn recognise(&self, document: &Document) -> Confidence {
        let mut samples = document.samples();
        if samples.any(|value| is_message(value) || holds_history(value)) {
            Confidence::Certain
        } else {
            Confidence::No
        }
    }

    fn grouping(&self, document: &Document) -> Grouping {
        if document.samples().any(is_message) {
            Grouping::Whole
        } else {
            Grouping::EachLine
        }
    }

    fn read(&self, document: Document, sink: &mut Sink<'_>) {
        let before = sink.episodes();
        if document.samples().any(is_message) {
            let messages = document.into_records().into_iter().map(|line| line.value);
            history(Object::new(), messages.collect(), None, sink);
        } else {
            let is_single = document.is_single();
            let records = document.into_records();
            for Line { number, value } in records {
                let number = (!is_single).then_some(number);
                match value {
                    Json::List(messages) => history(Object::new(), messages, number, sink),
                    Json::Object(mut rest) => {
                        let messages = LISTS.iter().find_map(|key| rest.take_list(key));
                        history(rest, messages.unwrap_or_default(), number, sink);
                    }
                    _ => sink.lost("A line is not a history of messages."),
                }
            }
        }
        let count = counted(sink.episodes() - before, "history");
        sink.understood(format!("Pydantic AI: {count}."));
    }
}

fn is_message(value: &Json) -> bool {
    let is_part = |part: &Json| text_at(part, &["part_kind"]).is_some();
    let parts = value.get("parts").and_then(Json::as_list);
    let kind = text_at(value, &["kind"]);
    matches!(kind.as_deref(), Some("request" | "response"))
        && parts.is_some_and(|parts| parts.iter().take(8).all(is_part))
}

fn holds_history(value: &Json) -> bool {
    let is_history = |list: &Json| {
        let list = list.as_list().unwrap_or_default();
        list.iter().take(8).any(is_message)
    };
    is_history(value)
        || LISTS
            .iter()
            .any(|key| value.get(key).is_some_and(is_history))
}

fn history(mut rest: Object, messages: Vec<Json>, number: Option<usize>, sink: &mut Sink<'_>) {
    let id = rest.take_id("id").or_else(|| rest.take_id("run_id"));
    let mut episode = Episode {
        id: id.unwrap_or_else(|| match number {
            Some(number) => format!("{}-{number}", sink.stem()).into(),
            None => sink.stem(),
        }),
        policy: Some("Pydantic AI".into()),
        rewards: Rewards::Unknown,
        ending: Ending::Done,
        ..Episode::default()
    };
    let mut transcript = Transcript::default();
    let mut instructions = None;
    for message in messages {
        let Json::Object(mut message) = message else {
            sink.lost("A message of a history is not an object.");
            continue;
        };
        for key in ["run_id", "conversation_id"] {
            if let Some(id) = message.take_id(key) {
                episode.metadata.insert(key, id);
            }
        }
        let parts = message.take_list("parts").unwrap_or_default();
        match message.take_text("kind").as_deref() {
            Some("response") => response(message, parts, &mut transcript, &mut episode),
            _ => {
                // Instructions are sent with each request; the history does not contain them as a part.
                let given = message.take_text("instructions");
                if given.is_some() && given != instructions {
                    let text = given.clone().unwrap_or_default();
                    transcript.push(Message::new(Role::System, text).into());
                    instructions = given;
                }
                let when = message.take_time("timestamp");
                parts
                    .into_iter()
                    .for_each(|part| request(part, when, &mut transcript));
            }
        }
    }
    transcript.finish(&mut episode);
    keep_rest(&mut episode, rest, sink);
    sink.episode(episode);
}

/// Reads a part of a request.
fn request(part: Json, when: Option<f64>, transcript: &mut Transcript) {
    let Json::Object(mut part) = part else {
        return;
    };
    let when = part.take_time("timestamp").or(when);
    let kind = part.take_text("part_kind").unwrap_or_default();
    let content = part.take("content").unwrap_or_default();
    let name = part.take_text("tool_name");
    let id = part.take_id("tool_call_id").unwrap_or_default();
    let mut said = match (&*kind, name) {
        ("system-prompt", _) => chat::plain(Role::System, chat::body(content)),
        ("tool-return" | "builtin-tool-return", name) => {
            let said = chat::answer(id, name.unwrap_or_default(), blocks(content));
            match part.take_text("outcome").as_deref() {
                Some("failed" | "denied" | "retried" | "error") => chat::failed(said),
                _ => said,
            }
        }
        // The reason for a retry: after a call, or after a reply without one.
        ("retry-prompt", Some(name)) => chat::failed(chat::answer(id, name, blocks(content))),
        _ => chat::plain(Role::User, chat::body(blocks(content))),
    };
    said.details.started = when;
    transcript.push(said);
}

/// Reads a response of the model.
fn response(
    mut message: Object,
    parts: Vec<Json>,
    transcript: &mut Transcript,
    episode: &mut Episode,
) {
    let model = message.take_text("model_name");
    episode.model = model.clone().or(episode.model.take());
    let (mut thoughts, mut content, mut calls) = (Vec::new(), Vec::new(), Vec::new());
    let mut answered = Vec::new();
    for part in parts {
        let Json::Object(mut part) = part else {
            content.push(part);
            continue;
        };
        let kind = part.get("part_kind").and_then(Json::as_text).cloned();
        match kind.as_deref() {
            Some("thinking") => {
                let text = part.take_text("content");
                thoughts.extend(text.filter(|text| !text.is_empty()));
            }
            Some("text") => {
                let text = part.take_text("content").unwrap_or_default();
                content.push(object!({ "type": "text", "text": text }).into());
            }
            Some("tool-call" | "builtin-tool-call") => {
                let id = part.take_text("tool_call_id").unwrap_or_default();
                let name = part.take_text("tool_name").unwrap_or_default();
                let arguments = part.take("args").unwrap_or_default();
                calls.push(ToolCall::new(id, name, chat::arguments(arguments)));
            }
            // The provider ran this tool itself.
            Some("builtin-tool-return") => answered.push(Json::Object(part)),
            Some("file") => content.push(block(part.take("content").unwrap_or_default())),
            _ => content.push(part.into()),
        }
    }
    let when = message.take_time("timestamp");
    let mut said = chat::acted(Json::List(content), calls);
    said.details = StepDetails {
        reasoning: (!thoughts.is_empty()).then(|| thoughts.join("\n\n").into()),
        model,
        usage: message.take("usage").and_then(|usage| tokens(&usage)),
        started: when,
        errors: Vec::new(),
    };
    for key in ["finish_reason", "provider_name", "provider_details"] {
        if let Some(value) = message.take(key) {
            said.extras.insert(key, value);
        }
    }
    transcript.push(said);
    for part in answered {
        request(part, when, transcript);
    }
}

/// Converts a content, so that images are shown.
fn blocks(content: Json) -> Json {
    match content {
        Json::List(list) => list.into_iter().map(block).collect::<Vec<_>>().into(),
        content @ Json::Object(_) if content.get("kind").is_some() => {
            Json::List(vec![block(content)])
        }
        content => content,
    }
}

fn block(value: Json) -> Json {
    let text = |key| text_at(&value, &[key]);
    let url: Option<Text> = match (text("kind").as_deref(), text("media_type")) {
        (Some("image-url"), _) => text("url"),
        (Some("binary"), Some(media)) if media.starts_with("image/") => {
            text("data").map(|data| format!("data:{media};base64,{data}").into())
        }
        _ => None,
    };
    match url {
        Some(url) => object!({ "type": "image_url", "image_url": { "url": url } }).into(),
        None => value,
    }
}

/// Token counts, under current and older names.
fn tokens(value: &Json) -> Option<Usage> {
    let count = |keys: &[&str]| {
        let found = keys.iter().find_map(|key| value.get(key));
        found.and_then(super::members::count)
    };
    let usage = Usage {
        input: count(&["input_tokens", "request_tokens"]),
        output: count(&["output_tokens", "response_tokens"]),
        cached: count(&["cache_read_tokens"]),
        reasoning: count(&["output_reasoning_tokens"]),
        cost: value.get("cost").and_then(number),
    };
    (!usage.is_empty()).then_some(usage)
}
