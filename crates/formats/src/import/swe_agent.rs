//! Trajectories of SWE-agent, `.traj`: `{trajectory: [{action, observation, response, thought, state, …}], history,
//! info}`, or several of them as `attempts`. The state after each step becomes a frame; older files store it as JSON
//! text.

use volary_core::json::{Json, Object, Text};
use volary_core::message::Body;
use volary_core::{
    Frame, Message, Role, ToolCall, ToolRequestMessage, ToolResponseMessage, object,
};
use volary_episode::episode::{Ending, Episode, Rewards, TaskReference, Usage};

use super::chat;
use super::members::{self, Members, keep_rest, text_at};
use super::reader::{Confidence, Sink};
use super::records::Records;
use super::transcript::{ImportedMessage, Transcript};

/// The number of following messages of the history that are searched for an action: failed and repeated requests are in
/// between.
const AHEAD: usize = 64;

/// The members with the model's input at a step.
const QUERIES: [&str; 2] = ["query", "messages"];

/// The tool that runs an action if the file does not name one.
const SHELL: &str = "bash";

pub(super) const SWE_AGENT: Records = Records {
    id: "swe-agent",
    name: "SWE-agent trajectory (.traj)",
    title: "SWE-agent",
    record: "a trajectory",
    confidence: Confidence::Likely,
    is: |value| is_trajectory(value) || has_attempts(value),
    read: run,
};

/// Reads a run: one trajectory, or one for each attempt.
fn run(mut object: Object, _number: usize, sink: &mut Sink<'_>) {
    if let Some(all) = object.take_list("attempts") {
        return attempts(object, all, sink);
    }
    let episode = trajectory(object, sink);
    sink.episode(episode);
}

fn is_trajectory(value: &Json) -> bool {
    let steps = value.get("trajectory").and_then(Json::as_list);
    let is_step = |step: &Json| {
        step.get("action").is_some()
            && (step.get("observation").is_some() || step.get("response").is_some())
    };
    let has_more = value.get("history").is_some() || value.get("info").is_some();
    steps.is_some_and(|steps| steps.iter().take(8).all(is_step) && (has_more || !steps.is_empty()))
}

/// Whether a run has several attempts: each one is a trajectory.
fn has_attempts(value: &Json) -> bool {
    let attempts = value.get("attempts").and_then(Json::as_list);
    attempts.is_some_and(|all| all.iter().any(is_trajectory))
}

/// Reads one episode for each attempt. The outer object repeats the chosen attempt, with the total cost.
fn attempts(mut around: Object, all: Vec<Json>, sink: &mut Sink<'_>) {
    let chosen = around.get("trajectory").cloned();
    let shared = ["environment", "instance_id", "replay_config"];
    let shared = shared.map(|key| (key, around.get(key).cloned()));
    let several = all.len() > 1;
    let mut left = chosen.is_some();
    let tell = |attempt: Object, number: Option<usize>, sink: &mut Sink<'_>| {
        let mut episode = trajectory(attempt, sink);
        if let Some(number) = number.filter(|_| several) {
            let label = if episode.id.is_empty() {
                sink.stem()
            } else {
                episode.id.clone()
            };
            episode.name = format!("{label}, attempt {number}").into();
            let number = i64::try_from(number).unwrap_or(i64::MAX);
            episode.metadata.insert("attempt", number);
        }
        sink.episode(episode);
    };
    for (index, attempt) in all.into_iter().enumerate() {
        let number = Some(index + 1);
        match attempt {
            Json::Object(mut attempt) => {
                if left && attempt.get("trajectory") == chosen.as_ref() {
                    left = false;
                    tell(std::mem::take(&mut around), number, sink);
                    continue;
                }
                for (key, value) in &shared {
                    if let Some(value) = value
                        && !attempt.contains_key(key)
                    {
                        attempt.insert(*key, value.clone());
                    }
                }
                tell(attempt, number, sink);
            }
            _ => sink.lost(format!("Attempt {} is not an object.", index + 1)),
        }
    }
    if left {
        tell(around, None, sink);
    }
}

fn trajectory(mut rest: Object, sink: &mut Sink<'_>) -> Episode {
    let steps = rest.take_list("trajectory").unwrap_or_default();
    let history = rest.take_list("history").unwrap_or_default();
    let info = Json::Object(rest.take_object("info").unwrap_or_default());
    let config = config(&mut rest);
    sink.set_version(text_at(&info, &["swe_agent_version"]));
    let status = text_at(&info, &["exit_status"]);
    let instance = rest
        .take_id("instance_id")
        .or_else(|| text_at(&info, &["instance_id"]))
        .or_else(|| text_at(&config, &["problem_statement", "id"]));
    let mut episode = Episode {
        id: instance.clone().unwrap_or_default(),
        environment: rest.take_text("environment"),
        policy: Some("SWE-agent".into()),
        model: text_at(&config, &["agent", "model", "name"]),
        task: instance.map(|id| TaskReference {
            dataset: "swe".into(),
            id,
        }),
        rewards: Rewards::Unknown,
        ending: ending(status.as_deref()),
        outcome: status,
        total_usage: usage(&info),
        ..Episode::default()
    };
    let mut transcript = Transcript::default();
    let first = steps.first();
    let first = first.and_then(|step| QUERIES.iter().find_map(|key| step.get(key)?.as_list()));
    let (given, later) = history.split_at(before_first_action(&history));
    let asked = if history.is_empty() {
        first.unwrap_or_default()
    } else {
        given
    };
    for said in asked.iter().flat_map(chat::read) {
        transcript.observe(said);
    }
    let mut said_later = later.iter();
    let mut states = Vec::new();
    for step in steps {
        let Json::Object(step) = step else {
            sink.lost("A step of the trajectory is not an object.");
            continue;
        };
        let known = step.get("state").filter(|state| !state.is_null());
        states.push(known.map(state));
        read_step(step, &mut said_later, &mut transcript);
    }
    if transcript.len() == 0 {
        // Only the messages are left.
        later
            .iter()
            .flat_map(chat::read)
            .for_each(|said| transcript.push(said));
    }
    transcript.finish(&mut episode);
    frames(&mut episode, states);
    if let Json::Object(info) = info {
        episode.metadata = info;
    }
    if let Json::Object(config) = config {
        episode.raw.insert("replay_config", config);
    }
    keep_rest(&mut episode, rest, sink);
    episode
}

/// The configuration, which is stored as JSON text.
fn config(rest: &mut Object) -> Json {
    match rest.take("replay_config") {
        Some(Json::Text(text)) => Json::parse(&text).unwrap_or(Json::Text(text)),
        other => other.unwrap_or_default(),
    }
}

/// The number of messages before the model's first action: system, demonstrations and the task.
fn before_first_action(history: &[Json]) -> usize {
    let acts = |message: &Json| {
        let is_demo = message.get("is_demo").and_then(Json::as_bool) == Some(true);
        is_assistant(message) && !is_demo
    };
    history.iter().position(acts).unwrap_or(history.len())
}

fn is_assistant(message: &Json) -> bool {
    text_at(message, &["role"]).is_some_and(|role| &*role == "assistant")
}

fn read_step<'a>(
    mut step: Object,
    said_later: &mut (impl Iterator<Item = &'a Json> + Clone),
    transcript: &mut Transcript,
) {
    let action = step.take_text("action").unwrap_or_default();
    let thought = step.take_text("thought").filter(|text| !text.is_empty());
    let observation = step.take("observation").unwrap_or_default();
    // The model's message of this step, if it contains calls that the trajectory lacks.
    let same = |message: &&Json| {
        is_assistant(message) && text_at(message, &["action"]).as_ref() == Some(&action)
    };
    let mut ahead = said_later.clone();
    let message = ahead.by_ref().take(AHEAD).find(same);
    if message.is_some() {
        *said_later = ahead;
    }
    let calls = message
        .and_then(|message| message.get("tool_calls")?.as_list())
        .unwrap_or_default();
    let mut calls: Vec<ToolCall> = calls.iter().map(chat::call).collect();
    if calls.is_empty() && !action.trim().is_empty() {
        let arguments = object!({ "command": (action.clone()) });
        calls.push(ToolCall::new("", SHELL, arguments));
    }
    let has_calls = !calls.is_empty();
    let content = match thought {
        Some(thought) => Some(thought),
        None => step
            .get("response")
            .and_then(Json::as_text)
            .filter(|text| !text.is_empty())
            .cloned(),
    };
    let body = content.map_or_else(Body::default, Body::text);
    let mut said: ImportedMessage = if has_calls {
        ImportedMessage::from(volary_core::AnyMessage::from(ToolRequestMessage {
            body,
            tool_calls: calls,
        }))
    } else {
        Message {
            role: Role::Assistant,
            body,
        }
        .into()
    };
    if let Some(message) = message {
        let read = chat::read(message).pop();
        said.details.reasoning = read.and_then(|read| read.details.reasoning);
    }
    said.seconds = step.take_number("execution_time");
    // Every step repeats the whole conversation so far; its messages are in the episode already.
    for key in QUERIES {
        step.remove(key);
    }
    step.remove("state");
    step.retain(|_, value| !value.is_null());
    said.extras = step;
    transcript.push(said);
    let mut body = chat::body(observation);
    if body.content.is_none() {
        return;
    }
    let answer: ImportedMessage = if has_calls {
        body.content.get_or_insert_with(Text::default);
        let response = ToolResponseMessage {
            body,
            name: Text::default(),
            tool_call_id: Text::default(),
        };
        volary_core::AnyMessage::from(response).into()
    } else {
        Message {
            role: Role::User,
            body,
        }
        .into()
    };
    transcript.observe(answer);
}

/// Parses a state in either form.
fn state(value: &Json) -> Json {
    match value {
        Json::Text(text) => Json::parse(text.trim()).unwrap_or_else(|_| value.clone()),
        value => value.clone(),
    }
}

/// Adds a frame after each step, if any step has a state. The state of the start is unknown.
fn frames(episode: &mut Episode, states: Vec<Option<Json>>) {
    if states.iter().all(Option::is_none) {
        return;
    }
    episode.frames.push(Frame::default());
    for state in states {
        let before = episode.frames.last().cloned().unwrap_or_default();
        episode.frames.push(match state {
            Some(state) => Frame::new(state, Json::Null),
            None => before,
        });
    }
}

fn usage(info: &Json) -> Option<Usage> {
    let stats = info.get("model_stats")?;
    let number = |key: &str| {
        let number = stats.get(key).and_then(members::number);
        number.filter(|number| *number >= 0.0)
    };
    let usage = Usage {
        input: number("tokens_sent").map(|count| count as u64),
        output: number("tokens_received").map(|count| count as u64),
        cost: number("instance_cost"),
        ..Usage::default()
    };
    // Replays have no token counts.
    (stats.get("api_calls").and_then(Json::as_f64) != Some(0.0) && !usage.is_empty())
        .then_some(usage)
}

/// The ending of a status. In "submitted (exit_cost)" the submission determines it.
fn ending(status: Option<&str>) -> Ending {
    match status {
        None | Some("") => Ending::Open,
        Some(status) if status.starts_with("submitted") => Ending::Done,
        Some(status) if status.contains("error") || status.contains("exception") => {
            Ending::Crashed {
                message: format!("The run ended with {status}.").into(),
            }
        }
        Some(status) => Ending::Truncated {
            reason: format!("It was cut off: {status}.").into(),
        },
    }
}
