//! Sessions of opencode: the output of `opencode export`, `{info, messages: [{info, parts}]}`, or the messages alone,
//! as its server returns them. Older versions store a file for each session, message and part
//! (`session/PROJECT/ID.json`, `message/SESSION/ID.json`, `part/MESSAGE/ID.json`), which are joined first.
//!
//! A message of the model has the parts of one or more turns, each between `step-start` and `step-finish`; the part of
//! a tool contains the call and its result.

use std::collections::BTreeMap;

use volary_core::json::{Json, Object, Text};
use volary_core::{Message, Role, ToolCall, object};
use volary_episode::episode::{Episode, Link, Relation, Rewards, StepDetails, StepError, Usage};

use super::ImportOutcome;
use super::chat;
use super::describe::counted;
use super::expansion;
use super::files::Files;
use super::members::{Members, at, count, keep_rest, moment, number, text_at};
use super::reader::{Confidence, Document, Grouping, Reader, Sink};
use super::transcript::{ImportedMessage, Transcript};

pub(super) struct OpenCode;

impl Reader for OpenCode {
    fn id(&self) -> &'static str {
        "opencode"
    }

    fn name(&self) -> &'static str {
        "sessions of opencode (its export, or its storage)"
    }

    fn gather(&self, files: &mut Files<'_>, outcome: &mut ImportOutcome) {
        for (folder, storage) in storages(files) {
            let mut sink = Sink::new(outcome, self.id(), &folder).within(storage.size);
            storage.read(&mut sink);
        }
    }

    fn recognise(&self, document: &Document) -> Confidence {
        let is_session = |value: &Json| {
            let messages = value.get("messages").and_then(Json::as_list);
            text_at(value, &["info", "id"]).is_some()
                && messages.is_some_and(|messages| messages.iter().take(8).any(is_message))
        };
        if document.samples().any(is_session) || document.samples().any(is_message) {
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
        if document.samples().any(is_message) {
            let messages = document.into_records().into_iter().map(|line| line.value);
            return session(Object::new(), messages.collect(), sink);
        }
        for line in document.into_records() {
            match line.value {
                Json::Object(mut object) if object.contains_key("messages") => {
                    let messages = object.take_list("messages").unwrap_or_default();
                    session(object, messages, sink);
                }
                _ => sink.lost(format!("Line {} is not a session.", line.number)),
            }
        }
    }
}

/// Whether a value is a message with its parts.
fn is_message(value: &Json) -> bool {
    let is_part = |part: &Json| text_at(part, &["type"]).is_some();
    let parts = value.get("parts").and_then(Json::as_list);
    text_at(value, &["info", "role"]).is_some()
        && text_at(value, &["info", "sessionID"]).is_some()
        && parts.is_some_and(|parts| parts.iter().take(8).all(is_part))
}

/// The files of a storage, by kind.
#[derive(Default)]
struct Storage {
    sessions: BTreeMap<Text, Object>,
    /// By session and by id, which determines the order.
    messages: BTreeMap<Text, BTreeMap<Text, Json>>,
    /// By message and by id.
    parts: BTreeMap<Text, BTreeMap<Text, Json>>,
    size: usize,
}

/// Takes the files of all storages, keyed by folder.
fn storages(files: &mut Files<'_>) -> BTreeMap<String, Storage> {
    let mut storages: BTreeMap<String, Storage> = BTreeMap::new();
    for index in files.open() {
        let name = files.name(index).to_owned();
        let mut folders = name.rsplitn(4, '/').skip(2);
        let Some(kind @ ("session" | "message" | "part")) = folders.next() else {
            continue;
        };
        let around = folders.next().unwrap_or_default().to_owned();
        let is_json = files.start(index).trim_ascii_start().starts_with(b"{");
        let Some(Json::Object(object)) = is_json.then(|| files.peek_json(index).ok()).flatten()
        else {
            continue;
        };
        let text = |key: &str| object.get(key).and_then(Json::as_text).cloned();
        let Some(id) = text("id") else {
            continue;
        };
        let size = expansion::size_of_object(&object);
        match (kind, text("sessionID"), text("messageID")) {
            ("part", Some(_), Some(message)) if text("type").is_some() => {
                let storage = storages.entry(around).or_default();
                let parts = storage.parts.entry(message).or_default();
                storage.size += size;
                parts.insert(id, object.into());
            }
            ("message", Some(session), _) if text("role").is_some() => {
                let storage = storages.entry(around).or_default();
                let messages = storage.messages.entry(session).or_default();
                storage.size += size;
                messages.insert(id, object.into());
            }
            ("session", None, _) if text("projectID").is_some() => {
                let storage = storages.entry(around).or_default();
                storage.size += size;
                storage.sessions.insert(id, object);
            }
            _ => continue,
        }
        files.take(index);
    }
    storages
}

impl Storage {
    fn read(mut self, sink: &mut Sink<'_>) {
        let mut sessions = self.sessions;
        for id in self.messages.keys() {
            let unknown = || object!({ "id": (id.clone()) });
            sessions.entry(id.clone()).or_insert_with(unknown);
        }
        for (id, info) in sessions {
            let messages = self.messages.remove(&id).unwrap_or_default();
            let mut with_parts = |(id, info): (Text, Json)| -> Json {
                let parts = self.parts.remove(&id).unwrap_or_default();
                let parts: Vec<Json> = parts.into_values().collect();
                object!({ "info": info, "parts": parts }).into()
            };
            let messages = messages.into_iter().map(&mut with_parts).collect();
            session(object!({ "info": info }), messages, sink);
        }
        if !self.parts.is_empty() {
            sink.lost(format!(
                "The parts of {} without a file of their own are omitted.",
                counted(self.parts.len(), "message")
            ));
        }
    }
}

/// Reads a session.
fn session(mut rest: Object, messages: Vec<Json>, sink: &mut Sink<'_>) {
    let count = messages.len();
    let mut info = rest.take_object("info").unwrap_or_default();
    let time = info.take("time").unwrap_or_default();
    sink.set_version(info.take_text("version"));
    let mut episode = Episode {
        id: info.take_id("id").unwrap_or_default(),
        name: info.take_text("title").unwrap_or_default(),
        policy: Some("opencode".into()),
        rewards: Rewards::Unknown,
        started: time.get("created").and_then(moment),
        ..Episode::default()
    };
    if let Some(parent) = info.take_text("parentID") {
        episode.links.push(Link {
            relation: Relation::Parent,
            episode: parent,
            step: None,
        });
    }
    let cost = info.take("cost");
    let total = info.take("tokens");
    episode.total_usage = total.and_then(|tokens| usage(&tokens, cost.as_ref()));
    let mut conversation = Conversation {
        transcript: Transcript::default(),
        links: Vec::new(),
        system: None,
        left_out: 0,
    };
    for message in messages {
        let Json::Object(mut message) = message else {
            sink.lost("A message of the session is not an object.");
            continue;
        };
        let about = message.take_object("info").unwrap_or_default();
        let parts = message.take_list("parts").unwrap_or_default();
        if episode.id.is_empty()
            && let Some(Json::Text(session)) = about.get("sessionID")
        {
            episode.id = session.clone();
        }
        match about
            .get("role")
            .and_then(Json::as_text)
            .map(|role| &**role)
        {
            Some("assistant") => {
                let model = about.get("modelID").and_then(Json::as_text);
                episode.model = model.cloned().or(episode.model);
                conversation.turns(about, parts);
            }
            _ => conversation.asked(about, parts),
        }
    }
    episode.links.append(&mut conversation.links);
    conversation.transcript.finish(&mut episode);
    episode.metadata = info;
    if conversation.left_out > 0 {
        sink.understood(format!(
            "Snapshots and marks without text are omitted: {}.",
            counted(conversation.left_out, "part")
        ));
    }
    keep_rest(&mut episode, rest, sink);
    sink.episode(episode);
    let messages = counted(count, "message");
    sink.understood(format!("opencode session of {messages}."));
}

/// The state while a session is read.
struct Conversation {
    transcript: Transcript,
    links: Vec<Link>,
    /// The system prompt of the user's last message.
    system: Option<Text>,
    left_out: usize,
}

impl Conversation {
    /// A message of the user.
    fn asked(&mut self, mut about: Object, parts: Vec<Json>) {
        let time = about.take("time").unwrap_or_default();
        if let Some(system) = about.take_text("system")
            && self.system.as_ref() != Some(&system)
        {
            self.system = Some(system.clone());
            let message = Message::new(Role::System, system);
            self.transcript.push(message.into());
        }
        let mut content = Vec::new();
        for part in parts {
            match text_at(&part, &["type"]).as_deref() {
                Some("text") => {
                    let text = text_at(&part, &["text"]).unwrap_or_default();
                    content.push(Json::from(object!({ "type": "text", "text": text })));
                }
                Some("file") => content.push(attached(part)),
                Some("snapshot" | "patch" | "step-start" | "step-finish" | "compaction") => {
                    self.left_out += 1
                }
                _ => content.push(part),
            }
        }
        let mut said = chat::plain(Role::User, chat::body(Json::List(content)));
        said.details.started = time.get("created").and_then(moment);
        self.transcript.push(said);
    }

    /// Reads a message of the model: one step for each of its turns.
    fn turns(&mut self, mut about: Object, parts: Vec<Json>) {
        let time = about.take("time").unwrap_or_default();
        let created = time.get("created").and_then(moment);
        let model = about.take_text("modelID");
        let error = about.take("error").map(|error| failure(&error));
        let mut turn = Turn::default();
        let mut turns = 0;
        let mut steps = 0;
        for part in parts {
            match text_at(&part, &["type"]).as_deref() {
                Some("step-start") => {
                    if !turn.is_empty() {
                        turns += 1;
                        self.turn(std::mem::take(&mut turn), &model, created);
                    }
                }
                Some("step-finish") => {
                    steps += 1;
                    let tokens = part.get("tokens");
                    turn.usage = tokens.and_then(|tokens| usage(tokens, part.get("cost")));
                    turns += 1;
                    self.turn(std::mem::take(&mut turn), &model, created);
                }
                Some("snapshot" | "patch" | "compaction") => self.left_out += 1,
                _ => turn.part(part),
            }
        }
        let whole = about.take("tokens");
        let cost = about.take("cost");
        if steps == 0 {
            turn.usage = whole.and_then(|tokens| usage(&tokens, cost.as_ref()));
        }
        if !turn.is_empty() || turns == 0 {
            self.turn(turn, &model, created);
        }
        if let Some(step) = self.transcript.last_mut() {
            let errors = error.map(|message| StepError {
                call: None,
                message,
            });
            step.details.errors.extend(errors);
            for key in [
                "mode",
                "agent",
                "providerID",
                "finish",
                "summary",
                "structured",
            ] {
                if let Some(value) = about.take(key) {
                    step.extras.insert(key, value);
                }
            }
        }
    }

    fn turn(&mut self, turn: Turn, model: &Option<Text>, created: Option<f64>) {
        let mut tools = turn.tools;
        let calls = tools.iter_mut().map(|tool| {
            let input = match tool.get_mut("state") {
                Some(Json::Object(state)) => state.take("input"),
                _ => None,
            };
            let text = |key: &str| tool.get(key).and_then(Json::as_text).cloned();
            let id = text("callID").unwrap_or_default();
            let name = text("tool").unwrap_or_default();
            ToolCall::new(id, name, chat::arguments(input.unwrap_or_default()))
        });
        let calls: Vec<ToolCall> = calls.collect();
        let mut said = chat::acted(Json::List(turn.content), calls);
        let reasoning = turn.reasoning.join("\n\n");
        said.details = StepDetails {
            reasoning: (!reasoning.is_empty()).then(|| reasoning.into()),
            model: model.clone(),
            usage: turn.usage,
            started: turn.started.or(created),
            errors: turn.errors,
        };
        let step = self.transcript.len();
        self.transcript.push(said);
        for tool in tools {
            let (said, session) = answered(tool);
            self.links.extend(session.map(|session| Link {
                relation: Relation::Subagent,
                episode: session,
                step: Some(step),
            }));
            if let Some(said) = said {
                self.transcript.push(said);
            }
        }
    }
}

/// A turn of the model.
#[derive(Default)]
struct Turn {
    content: Vec<Json>,
    reasoning: Vec<Text>,
    tools: Vec<Object>,
    usage: Option<Usage>,
    started: Option<f64>,
    errors: Vec<StepError>,
}

impl Turn {
    fn is_empty(&self) -> bool {
        self.content.is_empty()
            && self.reasoning.is_empty()
            && self.tools.is_empty()
            && self.errors.is_empty()
    }

    fn part(&mut self, part: Json) {
        let started =
            at(&part, &["time", "start"]).or_else(|| at(&part, &["state", "time", "start"]));
        self.started = self.started.or_else(|| started.and_then(moment));
        let text = text_at(&part, &["text"]);
        match text_at(&part, &["type"]).as_deref() {
            Some("text") => {
                let text = text.unwrap_or_default();
                self.content
                    .push(object!({ "type": "text", "text": text }).into());
            }
            Some("reasoning") => self.reasoning.extend(text.filter(|text| !text.is_empty())),
            Some("tool") => {
                if let Json::Object(tool) = part {
                    self.tools.push(tool);
                }
            }
            Some("file") => self.content.push(attached(part)),
            Some("retry") => self.errors.push(StepError {
                call: None,
                message: failure(part.get("error").unwrap_or(&Json::Null)),
            }),
            _ => self.content.push(part),
        }
    }
}

/// The result of a call, `None` while it runs; and the session of the subagent that it started.
fn answered(mut tool: Object) -> (Option<ImportedMessage>, Option<Text>) {
    let mut state = tool.take_object("state").unwrap_or_default();
    let status = state.take_text("status");
    let metadata = state.take_object("metadata");
    let session = metadata.and_then(|mut metadata| metadata.take_text("sessionId"));
    let output = state.take("output").or_else(|| state.take("error"));
    let is_over = matches!(status.as_deref(), Some("completed" | "error"));
    if output.is_none() && !is_over {
        return (None, session);
    }
    let mut output = output.unwrap_or_default();
    let files = state.take_list("attachments").unwrap_or_default();
    if !files.is_empty() {
        let text = object!({ "type": "text", "text": output });
        let blocks = std::iter::once(text.into()).chain(files.into_iter().map(attached));
        output = blocks.collect::<Vec<Json>>().into();
    }
    let id = tool.take_text("callID").unwrap_or_default();
    let name = tool.take_text("tool").unwrap_or_default();
    let mut said = chat::answer(id, name, output);
    let time = state.take("time").unwrap_or_default();
    said.details.started = time.get("end").and_then(moment);
    let said = match status.as_deref() {
        Some("error") => chat::failed(said),
        _ => said,
    };
    (Some(said), session)
}

/// Converts a file to a block: an image embedded in the part is shown.
fn attached(part: Json) -> Json {
    let text = |key| text_at(&part, &[key]).unwrap_or_default();
    let (mime, url) = (text("mime"), text("url"));
    if mime.starts_with("image/") && url.starts_with("data:") {
        object!({ "type": "image_url", "image_url": { "url": url } }).into()
    } else {
        part
    }
}

/// The error message. Headers of a response are dropped.
fn failure(error: &Json) -> Text {
    let name = text_at(error, &["name"]);
    let message = text_at(error, &["data", "message"]).or_else(|| text_at(error, &["message"]));
    match (name, message) {
        (Some(name), Some(message)) => format!("{name}: {message}").into(),
        (name, message) => message.or(name).unwrap_or_else(|| "It failed.".into()),
    }
}

/// Token counts. Cached input tokens are counted separately, and in newer versions, which write a total, so are
/// reasoning tokens.
fn usage(tokens: &Json, cost: Option<&Json>) -> Option<Usage> {
    let number_at = |path: &[&str]| at(tokens, path).and_then(count);
    let some = |path: &[&str]| number_at(path).unwrap_or_default();
    let (read, written) = (some(&["cache", "read"]), some(&["cache", "write"]));
    let all = [
        some(&["input"]),
        some(&["output"]),
        some(&["reasoning"]),
        read,
        written,
    ];
    let all = all.into_iter().fold(0, u64::saturating_add);
    let is_apart = number_at(&["total"]) == Some(all);
    let reasoning = number_at(&["reasoning"]);
    let usage = Usage {
        input: number_at(&["input"])
            .map(|input| input.saturating_add(read).saturating_add(written)),
        output: number_at(&["output"]).map(|output| {
            if is_apart {
                output.saturating_add(reasoning.unwrap_or_default())
            } else {
                output
            }
        }),
        cached: number_at(&["cache", "read"]),
        reasoning,
        cost: cost.and_then(number),
    };
    (!usage.is_empty()).then_some(usage)
}
