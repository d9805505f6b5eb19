//! Google's Agent Development Kit: sessions `{id, app_name, user_id, state, events: [{author, content: {role, parts}, …}]}`,
//! and eval sets `{eval_set_id, eval_cases: [{eval_id, conversation: [{user_content, intermediate_data,
//! final_response}]}]}`. Members are in camel or snake case.
//!
//! A case of an eval set is an episode: what the agent is expected to do. `eval_results`: what it did, with scores.

mod eval_results;

use serde::Deserialize;
use volary_core::json::{Json, Object, Text};
use volary_core::object;
use volary_episode::episode::{Ending, Episode, Rewards, StepError, TaskReference, Usage};

use super::chat;
use super::describe::counted;
use super::members::{count, keep_rest, moment, text_at};
use super::reader::{Confidence, Document, Line, Reader, Sink};
use super::transcript::Transcript;
use super::typed;

pub(super) struct GoogleAdk;

impl Reader for GoogleAdk {
    fn id(&self) -> &'static str {
        "google-adk"
    }

    fn name(&self) -> &'static str {
        "sessions, eval sets and their results of Google ADK (JSON)"
    }

    fn recognise(&self, document: &Document) -> Confidence {
        let is = |value: &Json| {
            is_session(value) || is_eval_set(value) || eval_results::is_result(value)
        };
        if document.samples().any(is) {
            Confidence::Certain
        } else {
            Confidence::No
        }
    }

    fn read(&self, document: Document, sink: &mut Sink<'_>) {
        let before = sink.episodes();
        for Line { number, value } in document.into_records() {
            if is_session(&value) {
                session(value, sink);
            } else if is_eval_set(&value) {
                eval_set(value, sink);
            } else if eval_results::is_result(&value) {
                eval_results::read(value, sink);
            } else {
                sink.lost(format!(
                    "Line {number} is neither a session nor an eval set, nor a result."
                ));
            }
        }
        let count = counted(sink.episodes() - before, "episode");
        sink.understood(format!("Google ADK: {count}."));
    }
}

fn has_any(value: &Json, keys: &[&str]) -> bool {
    keys.iter().any(|key| value.get(key).is_some())
}

fn is_session(value: &Json) -> bool {
    let is_event = |event: &Json| {
        text_at(event, &["author"]).is_some()
            && has_any(event, &["invocation_id", "invocationId"])
            && has_any(event, &["timestamp"])
    };
    let events = value.get("events").and_then(Json::as_list);
    events.is_some_and(|events| events.iter().take(8).any(is_event))
}

fn is_eval_set(value: &Json) -> bool {
    let is_case = |case: &Json| {
        has_any(case, &["eval_id", "evalId"])
            && case
                .get("conversation")
                .is_some_and(|turns| turns.as_list().is_some())
    };
    let cases = ["eval_cases", "evalCases"].into_iter();
    let mut cases = cases.filter_map(|key| value.get(key)?.as_list());
    cases.any(|cases| cases.iter().take(8).any(is_case))
}

#[derive(Default, Deserialize)]
#[serde(default)]
struct Session {
    id: Option<Text>,
    #[serde(alias = "appName")]
    app_name: Option<Text>,
    events: Vec<Json>,
    /// The other members.
    #[serde(skip)]
    rest: Object,
}

/// What happened in a session: a part of the conversation, with its author.
#[derive(Default, Deserialize)]
#[serde(default)]
struct Event {
    author: Option<Text>,
    content: Option<Object>,
    timestamp: Option<Json>,
    /// A piece of a reply that is repeated as a whole.
    partial: Option<bool>,
    #[serde(alias = "modelVersion")]
    model_version: Option<Text>,
    #[serde(alias = "usageMetadata")]
    usage_metadata: Option<Json>,
    #[serde(alias = "errorMessage")]
    error_message: Option<Text>,
    /// The other members.
    #[serde(skip)]
    rest: Object,
}

fn session(value: Json, sink: &mut Sink<'_>) {
    let mut episode = session_episode(value, sink);
    let rest = std::mem::take(&mut episode.raw);
    keep_rest(&mut episode, rest, sink);
    sink.episode(episode);
}

/// Reads a session. What is not understood is in `raw`.
fn session_episode(value: Json, sink: &mut Sink<'_>) -> Episode {
    let (session, odd) = typed::record::<Session>(value, "A session", sink);
    let mut episode = Episode {
        id: session.id.unwrap_or_default(),
        policy: session.app_name.clone(),
        environment: session.app_name,
        rewards: Rewards::Unknown,
        ..Episode::default()
    };
    let mut transcript = Transcript::default();
    for event in session.events {
        let (mut event, odd) = typed::record::<Event>(event, "An event", sink);
        event.rest.extend(odd);
        if event.partial != Some(true) {
            happened(event, &mut transcript, &mut episode);
        }
    }
    if episode.policy.is_none() {
        episode.policy = Some("Google ADK".into());
    }
    transcript.finish(&mut episode);
    let mut rest = session.rest;
    rest.retain(|_, value| !is_empty(value));
    rest.extend(odd);
    episode.raw = rest;
    episode
}

fn happened(event: Event, transcript: &mut Transcript, episode: &mut Episode) {
    let started = event.timestamp.as_ref().and_then(moment);
    let usage = event.usage_metadata.as_ref().and_then(usage);
    let is_user = event.author.as_deref() == Some("user");
    let mut extras = event.rest;
    extras.retain(|key, value| !is_empty(value) && key.as_ref() != "id");
    if let Some(author) = event.author.filter(|_| !is_user) {
        extras.insert("author", author);
    }
    episode.model = event.model_version.clone().or(episode.model.take());
    let error = event.error_message.map(|message| StepError {
        call: None,
        message,
    });
    let Some(mut content) = event.content else {
        match transcript.last_mut() {
            Some(step) => step.details.errors.extend(error),
            None => episode.errors.extend(error.map(|error| error.message)),
        }
        return;
    };
    // Results of tools have the role `user`, and agents may omit theirs.
    let role = if is_user { "user" } else { "model" };
    if !is_user && !holds_results(&content) || !content.contains_key("role") {
        content.insert("role", role);
    }
    let mut details = Some((extras, usage, error));
    for mut said in chat::read_owned(content.into()) {
        said.details.started = started;
        if said.message.role() == volary_core::Role::Assistant
            && let Some((extras, usage, error)) = details.take()
        {
            said.details.usage = usage;
            said.details.model = event.model_version.clone();
            said.details.errors.extend(error);
            said.extras = extras;
        }
        transcript.push(said);
    }
}

/// Whether a content has results of tools.
fn holds_results(content: &Object) -> bool {
    let parts = content.get("parts").and_then(Json::as_list);
    let is_result = |part: &Json| {
        has_any(part, &["function_response", "functionResponse"])
            && part
                .get("function_response")
                .or_else(|| part.get("functionResponse"))
                .is_some_and(|it| !it.is_null())
    };
    parts.unwrap_or_default().iter().any(is_result)
}

/// Whether a member says nothing: null, false, or empty.
fn is_empty(value: &Json) -> bool {
    match value {
        Json::Null | Json::Bool(false) => true,
        Json::Object(object) => object.values().all(is_empty),
        Json::List(list) => list.is_empty(),
        _ => false,
    }
}

/// Token counts in Gemini's form.
fn usage(value: &Json) -> Option<Usage> {
    let first = |keys: [&str; 2]| keys.iter().find_map(|key| count(value.get(key)?));
    let usage = Usage {
        input: first(["prompt_token_count", "promptTokenCount"]),
        output: first(["candidates_token_count", "candidatesTokenCount"]),
        cached: first(["cached_content_token_count", "cachedContentTokenCount"]),
        reasoning: first(["thoughts_token_count", "thoughtsTokenCount"]),
        cost: None,
    };
    (!usage.is_empty()).then_some(usage)
}

#[derive(Default, Deserialize)]
#[serde(default)]
struct EvalSet {
    #[serde(alias = "evalSetId")]
    eval_set_id: Option<Text>,
    #[serde(alias = "evalCases")]
    eval_cases: Vec<Json>,
    /// The other members.
    #[serde(skip)]
    rest: Object,
}

#[derive(Default, Deserialize)]
#[serde(default)]
struct EvalCase {
    #[serde(alias = "evalId")]
    eval_id: Option<Text>,
    conversation: Vec<Json>,
    #[serde(alias = "sessionInput")]
    session_input: Option<Json>,
    #[serde(alias = "creationTimestamp")]
    creation_timestamp: Option<Json>,
    /// The other members.
    #[serde(skip)]
    rest: Object,
}

/// A message of the user, and what the agent does about it.
#[derive(Default, Deserialize)]
#[serde(default)]
struct Invocation {
    #[serde(alias = "userContent")]
    user_content: Option<Json>,
    #[serde(alias = "finalResponse")]
    final_response: Option<Object>,
    #[serde(alias = "intermediateData")]
    intermediate_data: Option<Intermediate>,
}

#[derive(Default, Deserialize)]
#[serde(default)]
struct Intermediate {
    #[serde(alias = "toolUses")]
    tool_uses: Vec<Json>,
    #[serde(alias = "toolResponses")]
    tool_responses: Vec<Json>,
    /// Pairs of an agent and its parts.
    #[serde(alias = "intermediateResponses")]
    intermediate_responses: Vec<Json>,
    /// In newer versions, in place of the lists above.
    #[serde(alias = "invocationEvents")]
    invocation_events: Vec<Json>,
}

fn eval_set(value: Json, sink: &mut Sink<'_>) {
    let (set, odd) = typed::record::<EvalSet>(value, "An eval set", sink);
    let dataset = set.eval_set_id.unwrap_or_else(|| sink.stem());
    let mut about = set.rest;
    about.extend(odd);
    about.retain(|_, value| !is_empty(value));
    for case in set.eval_cases {
        // Each case has the members of the set.
        if sink.is_full() {
            break;
        }
        let (mut case, odd) = typed::record::<EvalCase>(case, "A case", sink);
        case.rest.extend(odd);
        eval_case(case, &dataset, &about, sink);
    }
}

fn eval_case(case: EvalCase, dataset: &Text, about: &Object, sink: &mut Sink<'_>) {
    let id = case.eval_id.unwrap_or_default();
    let mut episode = Episode {
        id: id.clone(),
        name: id.clone(),
        policy: Some("expected".into()),
        task: Some(TaskReference {
            dataset: dataset.clone(),
            id,
        }),
        rewards: Rewards::Unknown,
        ending: Ending::Done,
        started: case.creation_timestamp.as_ref().and_then(moment),
        metadata: about.clone(),
        ..Episode::default()
    };
    let mut transcript = Transcript::default();
    let mut odd_turns = Vec::new();
    for turn in case.conversation {
        let (turn, odd) = typed::record::<Invocation>(turn, "A turn", sink);
        invocation(turn, &mut transcript);
        if !odd.is_empty() {
            odd_turns.push(Json::Object(odd));
        }
    }
    transcript.finish(&mut episode);
    let mut rest = case.rest;
    if !odd_turns.is_empty() {
        rest.insert("conversation", odd_turns);
    }
    if let Some(input) = case.session_input.filter(|input| !is_empty(input)) {
        rest.insert("session_input", input);
    }
    rest.retain(|_, value| !is_empty(value));
    keep_rest(&mut episode, rest, sink);
    sink.episode(episode);
}

fn invocation(turn: Invocation, transcript: &mut Transcript) {
    let mut push = |message: Json| {
        let said = chat::read_owned(message).into_iter();
        said.for_each(|said| transcript.push(said));
    };
    if let Some(asked) = turn.user_content {
        push(asked);
    }
    if let Some(between) = turn.intermediate_data {
        for event in between.invocation_events {
            if let Some(content) = event.get("content").filter(|it| it.get("parts").is_some()) {
                let mut content = content.clone();
                if let Json::Object(content) = &mut content
                    && !holds_results(content)
                {
                    content.insert("role", "model");
                }
                push(content);
            }
        }
        for response in between.intermediate_responses {
            let parts = response.as_list().and_then(|pair| pair.get(1)).cloned();
            push(object!({ "role": "model", "parts": (parts.unwrap_or_default()) }).into());
        }
        if !between.tool_uses.is_empty() {
            push(object!({ "role": "model", "tool_calls": (between.tool_uses) }).into());
        }
        for response in between.tool_responses {
            push(object!({ "role": "user", "parts": [{ "function_response": response }] }).into());
        }
    }
    if let Some(mut answer) = turn.final_response {
        answer.insert("role", "model");
        push(answer.into());
    }
}
