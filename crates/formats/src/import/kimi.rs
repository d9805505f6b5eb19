//! Sessions of Kimi Code CLI (`wire.jsonl`): a line `{type: "metadata", protocol_version}`, then an event per line.
//!
//! Newer versions write `{type: "context.append_loop_event", event: {type: "step.begin" | "content.part" | "tool.call" |
//! "tool.result" | "step.end", …}, time}`; earlier ones `{timestamp, message: {type: "StepBegin" | "ContentPart" |
//! "ToolCall" | "ToolResult" | …, payload}}`. Both are read to the same parts of a step.

use serde::Deserialize;
use volary_core::json::{Json, Key, Object, Text, from_json};
use volary_core::{Message, Role, ToolCall, object};
use volary_episode::episode::{Episode, Rewards, StepDetails, StepError, Usage};

use super::chat;
use super::describe::counted;
use super::members::{Members, count, keep_rest, moment, text_at};
use super::reader::{Confidence, Document, Grouping, Line, Reader, Sink};
use super::transcript::Transcript;

pub(super) struct Kimi;

impl Reader for Kimi {
    fn id(&self) -> &'static str {
        "kimi"
    }

    fn name(&self) -> &'static str {
        "sessions of Kimi Code CLI (wire.jsonl)"
    }

    fn recognise(&self, document: &Document) -> Confidence {
        let is_head = |value: &Json| {
            text_at(value, &["type"]).as_deref() == Some("metadata")
                && value.get("protocol_version").is_some()
        };
        if document.samples().any(is_head) {
            Confidence::Certain
        } else if document.samples().any(is_event) {
            Confidence::Likely
        } else {
            Confidence::No
        }
    }

    fn grouping(&self, _document: &Document) -> Grouping {
        Grouping::Whole
    }

    fn read(&self, document: Document, sink: &mut Sink<'_>) {
        let mut session = Session::default();
        let mut events = 0;
        for Line { number, value } in document.into_records() {
            match value {
                Json::Object(event) => {
                    events += 1;
                    session.event(event);
                }
                _ => sink.lost(format!("Line {number} is not an event.")),
            }
        }
        session.finish(sink);
        let events = counted(events, "event");
        sink.understood(format!("Kimi session of {events}."));
    }
}

fn is_event(value: &Json) -> bool {
    let kind = text_at(value, &["type"]).unwrap_or_default();
    let old = text_at(value, &["message", "type"]);
    kind.starts_with("context.append_") && value.get("time").is_some()
        || old.is_some_and(|kind| kind.ends_with("Begin"))
            && value
                .get("message")
                .is_some_and(|it| it.get("payload").is_some())
}

/// An event of a step, in newer versions.
#[derive(Deserialize)]
#[serde(tag = "type")]
enum LoopEvent {
    #[serde(rename = "step.begin")]
    Begin,
    #[serde(rename = "content.part")]
    Content { part: Json },
    #[serde(rename = "tool.call", rename_all = "camelCase")]
    Call {
        tool_call_id: Text,
        name: Text,
        #[serde(default)]
        args: Json,
    },
    #[serde(rename = "tool.result", rename_all = "camelCase")]
    Result { tool_call_id: Text, result: Json },
    #[serde(rename = "step.end", rename_all = "camelCase")]
    End {
        usage: Option<Json>,
        finish_reason: Option<Text>,
    },
}

/// A reply while its parts arrive.
#[derive(Default)]
struct Reply {
    blocks: Vec<Json>,
    calls: Vec<ToolCall>,
    /// The rest of the arguments of the last call, as JSON text.
    arguments: String,
    started: Option<f64>,
    usage: Option<Usage>,
    stop: Option<Text>,
    results: Vec<(Text, Json, Option<f64>)>,
}

impl Reply {
    /// Completes the arguments of the last call.
    fn join_arguments(&mut self) {
        let rest = std::mem::take(&mut self.arguments);
        if let Some(call) = self.calls.last_mut().filter(|_| !rest.is_empty()) {
            let begun = call.function.arguments.get(chat::RAW_ARGUMENTS);
            let begun = begun.and_then(Json::as_text).cloned().unwrap_or_default();
            call.function.arguments = chat::arguments(format!("{begun}{rest}").into());
        }
    }
}

#[derive(Default)]
struct Session {
    transcript: Transcript,
    episode: Episode,
    reply: Option<Reply>,
    model: Option<Text>,
    /// A prompt that is not part of the context yet.
    prompt: Option<Json>,
    /// Settings, of which the last of a name counts.
    about: Vec<(Key, Json)>,
    others: Vec<Json>,
}

impl Session {
    fn event(&mut self, mut event: Object) {
        let when = ["time", "timestamp"]
            .iter()
            .find_map(|key| moment(event.get(key)?));
        if let Some(Json::Object(mut message)) =
            event.take_if("message", |it| it.get("payload").is_some())
        {
            let kind = message.take_text("type").unwrap_or_default();
            let payload = message.take("payload").unwrap_or_default();
            return self.earlier(&kind, payload, when);
        }
        let Some(kind) = event.take_text("type") else {
            return self.others.push(event.into());
        };
        match &*kind {
            "metadata" => {
                self.episode.started = event.take_time("created_at");
                self.about.extend(event);
            }
            "config.update" => {
                if let Some(prompt) = event.take_text("systemPrompt") {
                    self.transcript
                        .observe(Message::new(Role::System, prompt).into());
                }
                event.remove("time");
                self.about.extend(event);
            }
            "llm.tools_snapshot" => {
                let tools = event.take_list("tools").unwrap_or_default();
                self.episode.tools = tools.iter().filter_map(chat::tool).collect();
            }
            "llm.request" => self.model = event.take_text("model").or(self.model.take()),
            // The context repeats it as a message.
            "turn.prompt" => self.prompt = event.take("input"),
            "context.append_message" => {
                self.prompt = None;
                self.flush();
                let message = event.take("message").unwrap_or_default();
                self.say(message, when);
            }
            "context.append_loop_event" => {
                let inner = event.take("event").unwrap_or_default();
                match from_json::<LoopEvent>(&inner) {
                    Ok(inner) => self.step(inner, when),
                    Err(_) => self.others.push(inner),
                }
            }
            "usage.record" | "permission.set_mode" | "tools.set_active_tools" => {}
            _ => {
                event.insert("type", kind);
                self.others.push(event.into());
            }
        }
    }

    fn say(&mut self, message: Json, when: Option<f64>) {
        let Json::Object(mut message) = message else {
            return self.others.push(message);
        };
        if let Some(calls) = message
            .take_list("toolCalls")
            .filter(|calls| !calls.is_empty())
        {
            message.insert("tool_calls", calls);
        }
        for mut said in chat::read_owned(message.into()) {
            said.details.started = when;
            self.transcript.push(said);
        }
    }

    fn step(&mut self, event: LoopEvent, when: Option<f64>) {
        match event {
            LoopEvent::Begin => self.begin(when),
            LoopEvent::Content { part } => self.reply(when).blocks.push(part),
            LoopEvent::Call {
                tool_call_id,
                name,
                args,
            } => {
                let call = ToolCall::new(tool_call_id, name, chat::arguments(args));
                self.reply(when).calls.push(call);
            }
            LoopEvent::Result {
                tool_call_id,
                result,
            } => self.reply(when).results.push((tool_call_id, result, when)),
            LoopEvent::End {
                usage: used,
                finish_reason,
            } => {
                let reply = self.reply(when);
                reply.usage = used.as_ref().and_then(usage);
                reply.stop = finish_reason;
                self.flush();
            }
        }
    }

    /// An event of an earlier version.
    fn earlier(&mut self, kind: &str, mut payload: Json, when: Option<f64>) {
        let text = |value: &Json, path: &[&str]| text_at(value, path).unwrap_or_default();
        match kind {
            "TurnBegin" => {
                self.flush();
                if let Json::Object(payload) = &mut payload
                    && let Some(input) = payload.take("user_input")
                {
                    self.say(object!({ "role": "user", "content": input }).into(), when);
                }
            }
            "StepBegin" => self.begin(when),
            "ContentPart" | "TextPart" | "ThinkPart" => self.reply(when).blocks.push(payload),
            "ToolCall" => {
                let call = chat::call(&payload);
                let reply = self.reply(when);
                reply.join_arguments();
                reply.calls.push(call);
            }
            // The rest of the arguments of the last call.
            "ToolCallPart" => {
                let part = text(&payload, &["arguments_part"]);
                self.reply(when).arguments.push_str(&part);
            }
            "ToolResult" => {
                let call = text(&payload, &["tool_call_id"]);
                let result = ["return_value", "result"]
                    .iter()
                    .find_map(|key| payload.get(key));
                let result = result.cloned().unwrap_or_default();
                self.reply(when).results.push((call, result, when));
            }
            "StatusUpdate" => {
                if let Some(used) = payload.get("token_usage").and_then(usage) {
                    self.reply(when).usage = Some(used);
                }
            }
            "TurnEnd" => self.flush(),
            "StepInterrupted" => self.reply(when).stop = Some("interrupted".into()),
            _ => self
                .others
                .push(object!({ "type": kind, "payload": payload }).into()),
        }
    }

    fn begin(&mut self, when: Option<f64>) {
        self.flush();
        if let Some(prompt) = self.prompt.take() {
            self.say(object!({ "role": "user", "content": prompt }).into(), when);
        }
        self.reply = Some(Reply {
            started: when,
            ..Reply::default()
        });
    }

    fn reply(&mut self, when: Option<f64>) -> &mut Reply {
        self.reply.get_or_insert_with(|| Reply {
            started: when,
            ..Reply::default()
        })
    }

    /// Adds the current reply and its results.
    fn flush(&mut self) {
        let Some(mut reply) = self.reply.take() else {
            return;
        };
        reply.join_arguments();
        let blocks = reply.blocks.into_iter().map(|block| match block {
            Json::Object(mut block) => {
                // Kimi's name of a thought.
                if let Some(thought) = block.take_text("think") {
                    block.insert("type", "thinking");
                    block.insert("thinking", thought);
                }
                block.into()
            }
            block => block,
        });
        let message = object!({ "role": "assistant", "content": (blocks.collect::<Vec<_>>()) });
        let said = chat::read_owned(message.into()).into_iter().next();
        let Some(mut said) = said else {
            return;
        };
        let body = std::mem::take(match &mut said.message {
            volary_core::AnyMessage::Plain(message) => &mut message.body,
            volary_core::AnyMessage::Request(request) => &mut request.body,
            volary_core::AnyMessage::Response(response) => &mut response.body,
        });
        said.message = if reply.calls.is_empty() {
            Message {
                role: Role::Assistant,
                body,
            }
            .into()
        } else {
            volary_core::ToolRequestMessage {
                body,
                tool_calls: reply.calls,
            }
            .into()
        };
        said.details = StepDetails {
            reasoning: said.details.reasoning.take(),
            model: self.model.clone(),
            usage: reply.usage,
            started: reply.started,
            errors: Vec::new(),
        };
        if let Some(stop) = reply.stop {
            said.extras.insert("finish_reason", stop);
        }
        self.transcript.push(said);
        for (call, result, when) in reply.results {
            let mut said = answer(call, result);
            said.details.started = when;
            self.transcript.push(said);
        }
    }

    fn finish(mut self, sink: &mut Sink<'_>) {
        self.flush();
        if let Some(prompt) = self.prompt.take() {
            self.say(object!({ "role": "user", "content": prompt }).into(), None);
        }
        let mut about = Object::from_pairs(self.about);
        let mut episode = Episode {
            policy: Some("Kimi Code CLI".into()),
            model: self.model.or_else(|| about.take_text("modelAlias")),
            rewards: Rewards::Unknown,
            metadata: about,
            ..self.episode
        };
        sink.set_version(episode.metadata.take_text("protocol_version"));
        self.transcript.finish(&mut episode);
        let rest = if self.others.is_empty() {
            Object::new()
        } else {
            object!({ "events": (self.others) })
        };
        keep_rest(&mut episode, rest, sink);
        sink.episode(episode);
    }
}

/// The result of a call: `{output, isError, …}`.
fn answer(call: Text, result: Json) -> super::transcript::ImportedMessage {
    let is_error = ["isError", "is_error"]
        .iter()
        .any(|key| result.get(key).and_then(Json::as_bool) == Some(true));
    let (content, rest) = match result {
        Json::Object(mut result) => {
            let content = result.take("output").or_else(|| result.take("message"));
            for key in ["isError", "is_error", "display"] {
                result.remove(key);
            }
            result.retain(|_, value| !value.is_null());
            (content.unwrap_or_default(), result)
        }
        other => (other, Object::new()),
    };
    let mut said = chat::answer(call, Text::default(), content);
    said.message = chat::with_info(said.message, rest);
    if is_error {
        let message = said.message.body().content_or_empty().into();
        said.details.errors.push(StepError {
            call: None,
            message,
        });
    }
    said
}

/// Token counts: cached input is counted apart.
fn usage(value: &Json) -> Option<Usage> {
    let part = |keys: [&str; 2]| keys.iter().find_map(|key| count(value.get(key)?));
    let cached = part(["inputCacheRead", "input_cache_read"]);
    let written = part(["inputCacheCreation", "input_cache_creation"]);
    let other = part(["inputOther", "input_other"]);
    let counts = [other, cached, written].into_iter().flatten();
    let usage = Usage {
        input: counts.reduce(u64::saturating_add),
        output: part(["output", "output"]),
        cached,
        ..Usage::default()
    };
    (!usage.is_empty()).then_some(usage)
}
