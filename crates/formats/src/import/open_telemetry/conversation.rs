//! Converts the spans of an agent to an episode. Every turn repeats the whole input of the model: messages of earlier
//! turns are skipped.

use std::rc::Rc;

use volary_core::json::{Json, Object, Text};
use volary_core::{AnyMessage, Role, ToolCall, ToolRequestMessage, ToolResponseMessage, object};
use volary_episode::episode::{
    Ending, Episode, Rewards, Score, StepDetails, StepError, TaskReference,
};
use volary_episode::time;

use super::facts;
use super::kinds::{Kind, kind};
use super::messages::{gives, messages};
use super::spans::Span;
use super::tool_calls::RequestedCalls;
use crate::import::chat;
use crate::import::transcript::{ImportedMessage, Transcript};

/// Builds the episode of an agent, with this id.
pub(super) fn episode(root: &Span, id: Text, mut spans: Vec<Rc<Span>>) -> Episode {
    spans.sort_by(|one, other| {
        let start = |span: &Span| span.start.unwrap_or(f64::MAX);
        start(one).total_cmp(&start(other))
    });
    let name = root.text(&["gen_ai.agent.name", "agent.name", "traceloop.entity.name"]);
    let conversation = root.text(&["gen_ai.conversation.id", "session.id"]);
    let mut episode = Episode {
        id,
        name: name.clone().unwrap_or_else(|| root.name.clone()),
        policy: name.or_else(|| root.service.clone()),
        task: conversation.map(|id| TaskReference {
            dataset: "conversation".into(),
            id,
        }),
        rewards: Rewards::Unknown,
        started: root.start.or_else(|| spans.first()?.start),
        ..Episode::default()
    };
    let mut state = ConversationState {
        requested: RequestedCalls::new(&spans),
        ..ConversationState::default()
    };
    // Some recorders have no spans of model calls: the agent's own span has its task and its answer.
    let is_whole = !spans.iter().any(|span| kind(span) == Kind::Turn) && gives(root);
    if is_whole {
        state.hear(root);
    }
    for span in &spans {
        match kind(span) {
            Kind::Tool => state.tools.push(span.clone()),
            Kind::Turn => state.turn(span, &mut episode),
            Kind::Agent | Kind::Other => {}
        }
    }
    state.answers();
    if is_whole {
        let (_, output) = messages(root);
        state.reply(root, output, Object::new(), &mut episode);
    }
    let end = spans
        .iter()
        .filter_map(|span| span.end)
        .fold(root.end, |end, other| {
            Some(end.map_or(other, |end| end.max(other)))
        });
    episode.seconds = Some(time::between(
        episode.started.unwrap_or_default(),
        end.unwrap_or_default(),
    ))
    .filter(|_| episode.started.is_some() && end.is_some());
    let failure = root.failure.clone();
    episode.ending = match failure {
        Some(message) => {
            episode.errors.push(message.clone());
            Ending::Crashed { message }
        }
        None => Ending::Done,
    };
    state.transcript.finish(&mut episode);
    for span in std::iter::once(root).chain(spans.iter().map(AsRef::as_ref)) {
        scores(span, &mut episode);
    }
    let mut about = facts::kept(root, true, true);
    if let Some(service) = &root.service {
        about.insert("service.name", service.clone());
    }
    episode.metadata = about;
    episode
}

/// The state while the spans of a conversation are read.
#[derive(Default)]
struct ConversationState {
    transcript: Transcript,
    /// The messages so far: the inputs and replies of the model.
    known: Vec<Json>,
    /// The number of them that were sent to a model.
    sent: usize,
    /// The pending spans of tool runs.
    tools: Vec<Rc<Span>>,
    requested: RequestedCalls,
}

impl ConversationState {
    fn turn(&mut self, span: &Span, episode: &mut Episode) {
        let (given, output) = messages(span);
        let rest = facts::kept(span, !given.is_empty(), !output.is_empty());
        self.hear_messages(span, given);
        self.reply(span, output, rest, episode);
    }

    /// Adds what a model was sent and is new.
    fn hear(&mut self, span: &Span) {
        let (given, _) = messages(span);
        self.hear_messages(span, given);
    }

    fn hear_messages(&mut self, span: &Span, given: Vec<Json>) {
        let mut input = instructions(span);
        input.extend(given);
        let input = with_joined_calls(input);
        let new = self.unsaid(&input);
        let is_first = self.known.is_empty();
        let new: Vec<ImportedMessage> = chat::read_all(new).collect();
        // The model's calls and their results come before the runs of tools that no model requested, and these before
        // what a person says next.
        let is_history = |said: &ImportedMessage| {
            matches!(
                said.message.role(),
                Role::Assistant | Role::Tool | Role::Function
            )
        };
        let history = new.iter().rposition(is_history).map_or(0, |last| last + 1);
        for (index, said) in new.into_iter().enumerate() {
            if index == history && !is_first {
                self.answers();
            }
            if is_first {
                self.transcript.observe(said)
            } else {
                self.transcript.push(said)
            }
        }
        if !is_first {
            self.answers();
        }
        self.sent = input.len();
        self.known = input;
    }

    /// Adds what a model wrote.
    fn reply(&mut self, span: &Span, output: Vec<Json>, rest: Object, episode: &mut Episode) {
        let details = facts::details(span);
        episode.model = episode.model.take().or_else(|| details.model.clone());
        if episode.tools.is_empty() {
            episode.tools = facts::tools(span);
        }
        let seconds = match (span.start, span.end) {
            (Some(start), Some(end)) => Some(time::between(start, end)),
            _ => None,
        };
        let mut is_answered = false;
        for mut said in chat::read_all(output.clone()) {
            if !is_answered {
                is_answered = true;
                let reasoning = said.details.reasoning.take();
                said.details = details.clone();
                said.details.reasoning = reasoning;
                (said.seconds, said.extras) = (seconds, rest.clone());
            }
            self.transcript.push(said);
        }
        if !is_answered {
            // Contents are recorded only if that was enabled; the call itself is always recorded.
            let body = volary_core::message::Body::default();
            self.transcript.push(ImportedMessage {
                details,
                seconds,
                extras: rest,
                ..chat::plain(volary_core::Role::Assistant, body)
            });
        }
        self.known.extend(output);
    }

    /// The messages that are new in this turn.
    fn unsaid(&self, input: &[Json]) -> Vec<Json> {
        let same = self
            .known
            .iter()
            .zip(input)
            .take_while(|(one, other)| alike(one, other))
            .count();
        let from = match same {
            same if same == self.known.len() || self.known.is_empty() => same,
            // The model's reply is formatted differently when it is sent again.
            same if same >= self.sent => self.known.len(),
            // The history was rewritten: new messages follow the model's last message in it.
            _ => {
                let last = input.iter().rposition(|message| {
                    let role = message.get("role").and_then(Json::as_text);
                    role.is_some_and(|role| &**role == "assistant")
                });
                last.map_or(same, |last| last + 1)
            }
        };
        input.get(from..).unwrap_or_default().to_vec()
    }

    /// Adds tool results that were not sent to a model, and tool runs that no model requested.
    fn answers(&mut self) {
        let tools = std::mem::take(&mut self.tools);
        if tools.is_empty() {
            return;
        }
        self.requested.update(&self.transcript);
        for span in tools {
            let name = facts::tool_name(&span);
            let arguments = facts::arguments(&span).unwrap_or_default();
            let next = self.transcript.len();
            let (id, step) = self
                .requested
                .call(facts::tool_call(&span), &name, &arguments, next);
            if step.is_none() {
                let call = ToolCall::new(id.clone(), name.clone(), chat::arguments(arguments));
                let request = ToolRequestMessage {
                    tool_calls: vec![call],
                    ..ToolRequestMessage::default()
                };
                self.transcript.push(ImportedMessage {
                    details: StepDetails {
                        started: span.start,
                        ..StepDetails::default()
                    },
                    extras: facts::kept(&span, true, true),
                    ..AnyMessage::from(request).into()
                });
            }
            if let Some(step) = step
                && !self.transcript.is_unanswered(&id)
            {
                // The model received the result, but not that it was an error.
                if let Some(message) = span.failure.clone() {
                    self.transcript.failed(step, id, message);
                }
                continue;
            }
            let mut body = chat::body(facts::result(&span).unwrap_or_default());
            body.content.get_or_insert_with(Text::default);
            let response = ToolResponseMessage {
                body,
                name,
                tool_call_id: id,
            };
            let mut said = ImportedMessage::from(AnyMessage::from(response));
            said.details.started = span.end;
            said.details
                .errors
                .extend(span.failure.clone().map(|message| StepError {
                    call: None,
                    message,
                }));
            self.transcript.observe(said);
        }
    }
}

/// Joins consecutive messages of a model that have nothing but calls, and the one before them: some recorders repeat
/// each parallel call in a message of its own.
fn with_joined_calls(messages: Vec<Json>) -> Vec<Json> {
    let role = |message: &Json| message.get("role").and_then(Json::as_text).cloned();
    let mut all: Vec<Json> = Vec::with_capacity(messages.len());
    for mut message in messages {
        let is_said = ["content", "parts"]
            .iter()
            .any(|key| match message.get(key) {
                None | Some(Json::Null) => false,
                Some(Json::Text(text)) => !text.is_empty(),
                Some(_) => true,
            });
        if !is_said
            && role(&message).as_deref() == Some("assistant")
            && let Some(Json::Object(before)) = all.last_mut()
            && before
                .get("role")
                .and_then(Json::as_text)
                .is_some_and(|role| &**role == "assistant")
            && let Some(Json::List(calls)) = before.get_mut("tool_calls")
            && let Json::Object(message) = &mut message
            && let Some(Json::List(more)) = message.get_mut("tool_calls")
        {
            calls.append(more);
            continue;
        }
        all.push(message);
    }
    all
}

fn instructions(span: &Span) -> Vec<Json> {
    match span.value("gen_ai.system_instructions") {
        None | Some(Json::Null) => Vec::new(),
        Some(said) => vec![object!({ "role": "system", "content": said }).into()],
    }
}

/// Whether two messages are equal, ignoring other members.
fn alike(one: &Json, other: &Json) -> bool {
    ["role", "parts", "content", "tool_calls"]
        .into_iter()
        .all(|key| one.get(key) == other.get(key))
}

/// Reads the scores of a span.
pub(super) fn scores(span: &Span, episode: &mut Episode) {
    for (event, attributes) in &span.events {
        if &**event != "gen_ai.evaluation.result" {
            continue;
        }
        let value = |key: &str| attributes.get(&format!("gen_ai.evaluation.{key}"));
        let name = value("name").and_then(Json::as_text);
        let judged = value("score.value").or_else(|| value("score.label"));
        let explanation = value("explanation").and_then(Json::as_text);
        episode.scores.push(Score {
            name: name.cloned().unwrap_or_else(|| "evaluation".into()),
            value: judged.cloned().unwrap_or_default(),
            explanation: explanation.cloned(),
            extras: Object::new(),
        });
    }
}
