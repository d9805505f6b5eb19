//! Tasks of Cline, and of its fork Roo Code: a folder with `api_conversation_history.json`, the messages in Anthropic's
//! form, and `ui_messages.json`, the messages shown to the user, with tokens and cost of each request. Either file can
//! also be read alone. Since 2026 a session is one file, `{sessionId, messages, system_prompt, …}`, with the model and the
//! tokens of each reply. Before models supported tool calls, a call was written as tags in the text (`tags`).
//!
//! `screen`: the messages shown to the user.

mod screen;
mod tags;

use std::collections::BTreeMap;

use volary_core::json::{Json, Object, Text};
use volary_core::{AnyMessage, Role, object};
use volary_episode::episode::{Ending, Episode, Rewards, StepDetails, Usage};

use super::ImportOutcome;
use super::chat;
use super::describe::counted;
use super::expansion;
use super::files::Files;
use super::members::{Members, at, count, keep_rest, moment, number, text_at};
use super::reader::{Confidence, Document, Grouping, Reader, Sink};
use super::transcript::{ImportedMessage, Transcript};
use screen::{Request, is_shown};

const HISTORY: &str = "api_conversation_history.json";
const SCREEN: &str = "ui_messages.json";
/// The metadata files of a task: Cline's, and Roo Code's.
const ABOUT: [&str; 2] = ["task_metadata.json", "history_item.json"];

/// The tag that Cline appends to each message of the user.
const SURROUNDINGS: &str = "<environment_details>";

pub(super) struct Cline;

impl Reader for Cline {
    fn id(&self) -> &'static str {
        "cline"
    }

    fn name(&self) -> &'static str {
        "tasks of Cline and Roo Code (api_conversation_history.json, ui_messages.json, sessions)"
    }

    fn gather(&self, files: &mut Files<'_>, outcome: &mut ImportOutcome) {
        let mut folders: BTreeMap<String, Vec<usize>> = BTreeMap::new();
        for index in files.open() {
            let name = files.name(index);
            let (folder, file) = name.rsplit_once('/').unwrap_or(("", name));
            if file == HISTORY || file == SCREEN || ABOUT.contains(&file) {
                folders.entry(folder.to_owned()).or_default().push(index);
            }
        }
        for (folder, indices) in folders {
            let mut task = Task {
                id: folder.rsplit('/').next().unwrap_or_default().into(),
                ..Task::default()
            };
            let (mut taken, mut size) = (Vec::new(), 0);
            for index in indices {
                let Ok(value) = files.peek_json(index) else {
                    continue;
                };
                size += expansion::size(&value);
                match value {
                    Json::List(list) if files.name(index).ends_with(HISTORY) => {
                        task.messages = list;
                    }
                    Json::List(list) if files.name(index).ends_with(SCREEN) => task.screen = list,
                    Json::Object(object) => task.about.extend(object),
                    _ => continue,
                }
                taken.push(index);
            }
            let is_task = task.messages.iter().take(8).any(chat::is_message)
                || task.screen.iter().take(8).any(is_shown);
            if !is_task {
                continue;
            }
            let name = files.name(taken[0]).to_owned();
            taken.into_iter().for_each(|index| files.take(index));
            task.read(&mut Sink::new(outcome, self.id(), &name).within(size));
        }
    }

    fn recognise(&self, document: &Document) -> Confidence {
        if document.samples().any(is_session) {
            Confidence::Certain
        } else if document.samples().any(is_shown) || document.samples().any(is_said) {
            Confidence::Likely
        } else {
            Confidence::No
        }
    }

    fn grouping(&self, _document: &Document) -> Grouping {
        Grouping::Whole
    }

    fn read(&self, document: Document, sink: &mut Sink<'_>) {
        if document.samples().any(is_session) {
            for line in document.into_records() {
                match line.value {
                    Json::Object(session) => Task::of_session(session).read(sink),
                    _ => sink.lost(format!("Line {} is not a session.", line.number)),
                }
            }
            return;
        }
        let is_screen = document.samples().any(is_shown);
        let values = document.into_records().into_iter().map(|line| line.value);
        let mut task = Task::default();
        if is_screen {
            task.screen = values.collect()
        } else {
            task.messages = values.collect()
        }
        task.read(sink);
    }
}

/// Whether a value is a session as Cline stores them since 2026: `{version, agent, sessionId, messages, system_prompt}`.
fn is_session(value: &Json) -> bool {
    let has = |key: &str| value.get(key).is_some();
    let messages = value.get("messages").and_then(Json::as_list);
    let has_time = |message: &Json| message.get("ts").is_some() && message.get("role").is_some();
    has("sessionId")
        && has("updated_at")
        && messages.is_some_and(|list| list.iter().take(8).any(has_time))
}

/// Whether a value is a user's message with Cline's tag.
fn is_said(value: &Json) -> bool {
    let blocks = value.get("content").and_then(Json::as_list);
    let mut blocks = blocks.unwrap_or_default().iter().take(8);
    let is_surroundings = |block: &Json| {
        text_at(block, &["text"]).is_some_and(|text| text.trim_start().starts_with(SURROUNDINGS))
    };
    text_at(value, &["role"]).as_deref() == Some("user") && blocks.any(is_surroundings)
}

#[derive(Default)]
struct Task {
    id: Text,
    messages: Vec<Json>,
    screen: Vec<Json>,
    about: Object,
    /// The system prompt, if the file has it.
    instructions: Option<Text>,
}

impl Task {
    fn of_session(mut session: Object) -> Task {
        Task {
            id: session.take_text("sessionId").unwrap_or_default(),
            messages: session.take_list("messages").unwrap_or_default(),
            instructions: session.take_text("system_prompt"),
            about: session,
            ..Task::default()
        }
    }

    fn read(mut self, sink: &mut Sink<'_>) {
        let said = self.messages.len();
        let shown = self.screen.len();
        let mut episode = Episode {
            id: std::mem::take(&mut self.id),
            policy: Some("Cline".into()),
            rewards: Rewards::Unknown,
            ..Episode::default()
        };
        let requests = screen::requests(&self.screen);
        let total = requests.iter().filter_map(|request| request.usage);
        episode.total_usage = total.reduce(Usage::plus);
        let mut transcript = Transcript::default();
        if let Some(instructions) = self.instructions.take() {
            transcript.observe(volary_core::Message::new(Role::System, instructions).into());
        }
        match said {
            0 => {
                let others = screen::read(self.screen, &mut transcript, &mut episode);
                if !others.is_empty() {
                    self.about.insert("shown", others);
                }
            }
            _ => {
                let assistant = |message: &&Json| is_assistant(message);
                let answers = self.messages.iter().filter(assistant).count();
                // A repeated or aborted request has no reply; requests cannot be matched to replies then.
                let mut requests = if requests.len() == answers {
                    requests
                } else {
                    Vec::new()
                }
                .into_iter();
                for message in self.messages {
                    let request = is_assistant(&message).then(|| requests.next()).flatten();
                    message_of(message, request, &mut transcript);
                }
            }
        }
        let last = transcript
            .requests()
            .last()
            .filter(|(step, _)| step + 1 == transcript.len());
        if last.is_some_and(|(_, call)| &*call.function.name == "attempt_completion") {
            episode.ending = Ending::Done;
        }
        let models = self.about.get("model_usage").and_then(Json::as_list);
        let model = models.and_then(|models| text_at(models.last()?, &["model_id"]));
        transcript.finish(&mut episode);
        let acted = episode.steps.iter().rev();
        let acted = acted.filter_map(|step| step.details.model.clone()).next();
        episode.model = acted.or(model);
        if let Some(task) = self.about.take_text("task") {
            episode.name = volary_analysis::timeline::first_line(
                &volary_core::Message::user(task).into(),
                LONGEST_NAME,
            )
            .into();
        }
        keep_rest(&mut episode, self.about, sink);
        sink.episode(episode);
        sink.understood(match said {
            0 => format!(
                "What a task of Cline showed: {}.",
                counted(shown, "message")
            ),
            _ => format!("A task of Cline with {}.", counted(said, "message")),
        });
    }
}

/// The maximum length of a name that is derived from a task, in characters.
const LONGEST_NAME: usize = 80;

fn is_assistant(message: &Json) -> bool {
    text_at(message, &["role"]).as_deref() == Some("assistant")
}

/// Reads a message of the history, with its request.
fn message_of(message: Json, request: Option<Request>, transcript: &mut Transcript) {
    let Json::Object(mut message) = message else {
        return chat::read(&message)
            .into_iter()
            .for_each(|said| transcript.push(said));
    };
    let when = message.take("ts").as_ref().and_then(moment);
    message.remove("id");
    if message
        .get("role")
        .and_then(Json::as_text)
        .map(|role| &**role)
        == Some("assistant")
    {
        let about = message.take("modelInfo").unwrap_or_default();
        let model = text_at(&about, &["modelId"]).or_else(|| text_at(&about, &["id"]));
        let metrics = message.take("metrics").unwrap_or_default();
        let request = request.unwrap_or_default();
        let mut details = StepDetails {
            model,
            usage: usage(&metrics).or(request.usage),
            started: when.or(request.started),
            errors: request.errors,
            reasoning: None,
        };
        for mut said in chat::read(&message.into()) {
            if said.message.role() == Role::Assistant {
                said = tags::with_call(said);
                let reasoning = said.details.reasoning.take();
                said.details = std::mem::take(&mut details);
                said.details.reasoning = reasoning;
            }
            transcript.push(said);
        }
        return;
    }
    let blocks = match message.take_list("content") {
        Some(blocks) if transcript.expects_answer() => blocks,
        blocks => {
            if let Some(blocks) = blocks {
                message.insert("content", blocks);
            }
            return push_all(message.into(), when, transcript);
        }
    };
    let (answers, rest) = answers(blocks);
    for (text, blocks) in answers {
        let mut said = chat::answer(Text::default(), text, Json::List(blocks));
        said.details.started = when;
        let is_failure = said.message.body().content_or_empty().starts_with(FAILED);
        transcript.push(if is_failure { chat::failed(said) } else { said });
    }
    if !rest.is_empty() {
        message.insert("content", rest);
        push_all(message.into(), when, transcript);
    }
}

/// The prefix of a tool result that is an error.
const FAILED: &str = "The tool execution failed";

fn push_all(message: Json, when: Option<f64>, transcript: &mut Transcript) {
    for mut said in chat::read(&message) {
        said.details.started = when;
        transcript.push(said);
    }
}

/// Splits a user's blocks into tool results, `[read_file for 'a'] Result:` and what follows, by tool name, and the
/// other blocks.
fn answers(blocks: Vec<Json>) -> (Vec<(Text, Vec<Json>)>, Vec<Json>) {
    const MARK: &str = "] Result:";
    let (mut answers, mut rest): (Vec<(Text, Vec<Json>)>, Vec<Json>) = (Vec::new(), Vec::new());
    let mut is_open = false;
    for block in blocks {
        let text = text_at(&block, &["text"]);
        let head = text.as_deref().and_then(|text| {
            let line = text.lines().next()?;
            let end = line.find(MARK)?;
            let inner = line.get(..end)?.strip_prefix('[')?;
            Some((
                inner.split([' ', ']']).next()?,
                text.get(end + MARK.len()..)?.trim_start(),
            ))
        });
        match (head, text.as_deref()) {
            (Some((name, said)), _) => {
                is_open = true;
                let said = (!said.is_empty())
                    .then(|| Json::from(object!({ "type": "text", "text": said })));
                answers.push((name.into(), said.into_iter().collect()));
            }
            (None, text) => {
                let is_added = text.is_some_and(|text| text.trim_start().starts_with(SURROUNDINGS));
                let is_block = block
                    .get("type")
                    .and_then(Json::as_text)
                    .map(|kind| &**kind);
                is_open &= !is_added && matches!(is_block, Some("text" | "image"));
                match (is_open, answers.last_mut()) {
                    (true, Some((_, blocks))) => blocks.push(block),
                    _ => rest.push(block),
                }
            }
        }
    }
    (answers, rest)
}

fn usage(metrics: &Json) -> Option<Usage> {
    // Within an object, or, since 2026, next to the cost.
    let tokens = |old, new| {
        let found = at(metrics, &["tokens", old]).or_else(|| metrics.get(new));
        found.and_then(count)
    };
    let usage = Usage {
        input: tokens("prompt", "inputTokens"),
        output: tokens("completion", "outputTokens"),
        cached: tokens("cached", "cacheReadTokens"),
        reasoning: None,
        cost: metrics.get("cost").and_then(number),
    };
    (!usage.is_empty()).then_some(usage)
}

/// Replaces the message, and keeps its metadata.
fn calling(said: ImportedMessage, message: AnyMessage) -> ImportedMessage {
    ImportedMessage { message, ..said }
}
