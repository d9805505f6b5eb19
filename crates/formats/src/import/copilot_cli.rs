//! Sessions of GitHub Copilot CLI (`session-state/ID/events.jsonl`): one event per line, `{type, data, id, parentId,
//! timestamp}`. A message of the model contains its calls; the result of each call is a separate event. Messages of a
//! subagent contain the id of the call that started it; each subagent becomes an episode.

use std::collections::BTreeMap;

use volary_core::json::{Json, Object, Text};
use volary_core::{Message, Role, ToolCall, object};
use volary_episode::episode::{
    Ending, Episode, Link, Relation, Rewards, StepDetails, StepError, Usage,
};

use super::chat;
use super::describe::counted;
use super::members::{Members, at, count, keep_rest, text_at};
use super::reader::{Confidence, Document, Grouping, Reader, Sink};
use super::transcript::Transcript;

pub(super) struct CopilotCli;

impl Reader for CopilotCli {
    fn id(&self) -> &'static str {
        "copilot-cli"
    }

    fn name(&self) -> &'static str {
        "sessions of GitHub Copilot CLI (events.jsonl)"
    }

    fn recognise(&self, document: &Document) -> Confidence {
        let is_start = |value: &Json| {
            kind(value).as_deref() == Some("session.start")
                && at(value, &["data", "sessionId"]).is_some()
        };
        match (
            document.samples().any(is_start),
            document.samples().any(is_event),
        ) {
            (true, _) => Confidence::Certain,
            (false, true) => Confidence::Likely,
            (false, false) => Confidence::No,
        }
    }

    fn grouping(&self, _document: &Document) -> Grouping {
        Grouping::Whole
    }

    fn read(&self, document: Document, sink: &mut Sink<'_>) {
        let mut session = Session::default();
        let mut events = 0;
        for line in document.into_records() {
            match line.value {
                Json::Object(event) if event.contains_key("type") => {
                    events += 1;
                    session.event(event);
                }
                _ => sink.lost(format!("Line {} is not an event.", line.number)),
            }
        }
        session.finish(sink);
        let events = counted(events, "event");
        sink.understood(format!("Copilot CLI session of {events}."));
    }
}

fn kind(value: &Json) -> Option<Text> {
    text_at(value, &["type"])
}

fn is_event(value: &Json) -> bool {
    const SAID: [&str; 6] = [
        "user.message",
        "assistant.message",
        "assistant.turn_start",
        "tool.execution_start",
        "tool.execution_complete",
        "session.resume",
    ];
    let has = |key| value.get(key).is_some();
    has("data") && has("parentId") && kind(value).is_some_and(|kind| SAID.contains(&&*kind))
}

/// The main thread, or the thread of a subagent.
#[derive(Default)]
struct Thread {
    transcript: Transcript,
    /// The reasoning before the next message.
    reasoning: Option<Text>,
    name: Option<Text>,
    model: Option<Text>,
    errors: Vec<Text>,
}

/// The state while a session is read.
#[derive(Default)]
struct Session {
    about: Object,
    id: Text,
    title: Option<Text>,
    model: Option<Text>,
    version: Option<Text>,
    started: Option<f64>,
    main: Thread,
    /// The subagents, keyed by the call that started each.
    agents: BTreeMap<Text, Thread>,
    links: Vec<(Text, Option<usize>)>,
    usage: Option<Usage>,
    crashed: Option<Text>,
    others: Vec<Json>,
    secret: usize,
}

impl Session {
    fn event(&mut self, mut event: Object) {
        let when = event.take_time("timestamp");
        let Some(kind) = event.take_text("type") else {
            return;
        };
        let mut data = event.take_object("data").unwrap_or_default();
        match &*kind {
            "session.start" | "session.resume" => self.start(data),
            "session.title_changed" => self.title = data.take_text("title").or(self.title.take()),
            "session.model_change" => self.model = data.take_text("newModel").or(self.model.take()),
            "session.shutdown" => self.shutdown(data),
            "system.message" => {
                let text = data.take_text("content").unwrap_or_default();
                let message = Message::new(Role::System, text);
                self.thread(&mut data).transcript.push(message.into());
            }
            "user.message" => {
                let text = data.take_text("content").unwrap_or_default();
                let thread = self.thread(&mut data);
                let mut info = Object::new();
                for key in ["transformedContent", "attachments", "agentMode", "source"] {
                    let value = data.take(key);
                    let is_empty = |value: &Json| value.as_list().is_some_and(<[Json]>::is_empty);
                    if let Some(value) = value.filter(|value| !is_empty(value))
                        && value.as_text() != Some(&text)
                    {
                        info.insert(key, value);
                    }
                }
                let mut said = chat::plain(Role::User, chat::body(text.into()));
                said.message = chat::with_info(said.message, info);
                said.details.started = when;
                thread.transcript.push(said);
            }
            "assistant.reasoning" => {
                let text = data.take_text("content");
                self.thread(&mut data).reasoning = text;
            }
            "assistant.message" => self.message(data, when),
            "assistant.usage" => {
                let usage = usage(&data);
                if let Some(step) = self.thread(&mut data).transcript.last_mut() {
                    step.details.usage = usage.or(step.details.usage);
                }
            }
            "tool.user_requested" | "tool.execution_start" => self.called(data, when),
            "tool.execution_complete" => self.answered(data, when),
            "session.error" | "model.call_failure" | "abort" => {
                let keys = ["message", "errorMessage", "reason"];
                let message = keys.iter().find_map(|key| data.take_text(key));
                let thread = self.thread(&mut data);
                let message = match &*kind {
                    "abort" => format!("Aborted: {}", message.unwrap_or_default()).into(),
                    _ => message.unwrap_or_else(|| kind.clone()),
                };
                match thread.transcript.last_mut() {
                    Some(step) => step.details.errors.push(StepError {
                        call: None,
                        message,
                    }),
                    None => thread.errors.push(message),
                }
            }
            "subagent.started" => self.agent(data),
            // These may contain headers and tokens of servers.
            kind if kind.contains("oauth") || kind.contains("headers") => self.secret += 1,
            "assistant.turn_start" | "assistant.turn_end" | "hook.start" | "hook.end" => {}
            _ => {
                event.insert("type", kind);
                event.insert("data", data);
                self.others.push(event.into());
            }
        }
    }

    fn start(&mut self, mut data: Object) {
        if let Some(id) = data.take_text("sessionId") {
            self.id = id;
        }
        self.model = data.take_text("selectedModel").or(self.model.take());
        self.version = data.take_text("copilotVersion").or(self.version.take());
        self.started = self.started.or(data.take_time("startTime"));
        for key in ["producer", "context", "reasoningEffort"] {
            if let Some(value) = data.take(key) {
                self.about.insert(key, value);
            }
        }
    }

    /// Reads the usage of all models together, and how the session ended.
    fn shutdown(&mut self, mut data: Object) {
        let models = data.take_object("modelMetrics").unwrap_or_default();
        let used = models
            .values()
            .filter_map(|model| usage(model.get("usage")?.as_object()?));
        let used = used.reduce(Usage::plus);
        self.usage = match (self.usage, used) {
            (Some(before), Some(used)) => Some(before.plus(used)),
            (before, used) => used.or(before),
        };
        if data.take_text("shutdownType").as_deref() == Some("error") {
            let reason = data.take_text("errorReason");
            self.crashed =
                Some(reason.unwrap_or_else(|| "The session ended with an error.".into()));
        }
        for key in ["codeChanges", "totalPremiumRequests"] {
            if let Some(value) = data.take(key) {
                self.about.insert(key, value);
            }
        }
    }

    /// The thread that an event belongs to.
    fn thread(&mut self, data: &mut Object) -> &mut Thread {
        match data.take_text("parentToolCallId") {
            Some(call) => self.agents.entry(call).or_default(),
            None => &mut self.main,
        }
    }

    fn agent(&mut self, mut data: Object) {
        let Some(call) = data.take_text("toolCallId") else {
            return;
        };
        let step = self.main.transcript.len().checked_sub(1);
        self.links.push((call.clone(), step));
        let agent = self.agents.entry(call).or_default();
        agent.name = data
            .take_text("agentDisplayName")
            .or_else(|| data.take_text("agentName"));
        agent.model = data.take_text("model");
    }

    fn message(&mut self, mut data: Object, when: Option<f64>) {
        let requests = data.take_list("toolRequests").unwrap_or_default();
        let calls = requests.iter().map(chat::call).collect();
        let content = match data.take("content") {
            Some(Json::Text(text)) if text.is_empty() => Json::Null,
            content => content.unwrap_or_default(),
        };
        let reasoning = data
            .take_text("reasoningText")
            .filter(|text| !text.is_empty());
        let model = data.take_text("model").or_else(|| self.model.clone());
        let output = data.take("outputTokens").as_ref().and_then(count);
        let thread = self.thread(&mut data);
        let mut said = chat::acted(content, calls);
        said.details = StepDetails {
            reasoning: reasoning.or(thread.reasoning.take()),
            model: model.clone(),
            usage: output.map(|output| Usage {
                output: Some(output),
                ..Usage::default()
            }),
            started: when,
            errors: Vec::new(),
        };
        thread.model = model.or(thread.model.take());
        thread.transcript.push(said);
    }

    /// A call that is in no message was made by the user.
    fn called(&mut self, mut data: Object, when: Option<f64>) {
        let id = data.take_text("toolCallId").unwrap_or_default();
        let name = data.take_text("toolName").unwrap_or_default();
        let arguments = data.take("arguments").unwrap_or_default();
        let thread = self.thread(&mut data);
        if thread.transcript.is_unanswered(&id) {
            return;
        }
        let call = ToolCall::new(id, name, chat::arguments(arguments));
        let mut said = chat::acted(Json::Null, vec![call]);
        said.details.started = when;
        thread.transcript.push(said);
    }

    fn answered(&mut self, mut data: Object, when: Option<f64>) {
        let id = data.take_text("toolCallId").unwrap_or_default();
        let is_failure = data.take_flag("success") == Some(false);
        let result = data.take("result").unwrap_or_default();
        let error = data.take("error").unwrap_or_default();
        let output = text_at(&result, &["content"])
            .or_else(|| text_at(&error, &["message"]))
            .map_or(result, Json::Text);
        let thread = self.thread(&mut data);
        let mut said = chat::answer(id, Text::default(), output);
        said.details.started = when;
        if is_failure {
            said = chat::failed(said);
        }
        thread.transcript.push(said);
    }

    fn finish(mut self, sink: &mut Sink<'_>) {
        if self.id.is_empty() {
            self.id = sink.stem();
        }
        sink.set_version(self.version);
        if self.secret > 0 {
            sink.lost(format!(
                "Events about signing in to servers are omitted: {}.",
                self.secret
            ));
        }
        let main = self.main.transcript.len() + self.main.errors.len();
        let mut episode = Episode {
            id: self.id.clone(),
            name: self.title.unwrap_or_default(),
            policy: Some("GitHub Copilot CLI".into()),
            model: self.main.model.or(self.model),
            rewards: Rewards::Unknown,
            started: self.started,
            total_usage: self.usage,
            errors: self.main.errors,
            metadata: self.about,
            ..Episode::default()
        };
        if let Some(message) = self.crashed {
            episode.errors.push(message.clone());
            episode.ending = Ending::Crashed { message };
        }
        let agent_id = |call: &Text| Text::from(format!("{}/{call}", self.id));
        for (call, step) in &self.links {
            let is_there = self
                .agents
                .get(call)
                .is_some_and(|agent| agent.transcript.len() > 0);
            if is_there {
                episode.links.push(Link {
                    relation: Relation::Subagent,
                    episode: agent_id(call),
                    step: *step,
                });
            }
        }
        self.main.transcript.finish(&mut episode);
        let rest = if self.others.is_empty() {
            Object::new()
        } else {
            object!({ "events": (self.others) })
        };
        keep_rest(&mut episode, rest, sink);
        if main > 0 || !episode.start.is_empty() {
            sink.episode(episode);
        }
        for (call, agent) in self.agents {
            if agent.transcript.len() == 0 {
                continue;
            }
            let mut episode = Episode {
                id: agent_id(&call),
                name: agent.name.clone().unwrap_or_default(),
                policy: agent.name.or(Some("GitHub Copilot CLI".into())),
                model: agent.model,
                rewards: Rewards::Unknown,
                errors: agent.errors,
                ..Episode::default()
            };
            episode.links.push(Link {
                relation: Relation::Parent,
                episode: self.id.clone(),
                step: None,
            });
            agent.transcript.finish(&mut episode);
            sink.episode(episode);
        }
    }
}

/// Token counts. Costs are counted in requests there, not in money.
fn usage(value: &Object) -> Option<Usage> {
    let number = |key| value.get(key).and_then(count);
    let usage = Usage {
        input: number("inputTokens"),
        output: number("outputTokens"),
        cached: number("cacheReadTokens"),
        reasoning: number("reasoningTokens"),
        cost: None,
    };
    (!usage.is_empty()).then_some(usage)
}
