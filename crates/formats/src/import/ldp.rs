//! Trajectories of ldp: a line with the id as a JSON text, then one transition per line. A file may contain several.
//! Also a whole trajectory as one object, `{traj_id, steps, metadata}`, as pydantic dumps it.

use volary_core::json::{Json, Object};
use volary_core::message::Body;
use volary_core::{AnyMessage, Frame, Message, Role};
use volary_episode::episode::{Ending, Episode, Outcome, StepDetails, StepError, StepRecord};

use super::chat;
use super::members::{Members, keep_rest};
use super::reader::{Confidence, Document, Grouping, Line, Reader, Sink};

pub(super) struct Ldp;

impl Reader for Ldp {
    fn id(&self) -> &'static str {
        "ldp"
    }

    fn name(&self) -> &'static str {
        "trajectories of ldp (JSONL)"
    }

    fn recognise(&self, document: &Document) -> Confidence {
        let is_known = |value: &Json| is_transition(value) || is_whole(value);
        if document.samples().any(is_known) {
            Confidence::Certain
        } else {
            Confidence::No
        }
    }

    fn grouping(&self, _document: &Document) -> Grouping {
        Grouping::StartedBy(|value| matches!(value, Json::Text(_) | Json::Null) || is_whole(value))
    }

    fn read(&self, document: Document, sink: &mut Sink<'_>) {
        let mut episode: Option<Episode> = None;
        let mut steps = 0;
        let mut finish = |episode: &mut Option<Episode>, sink: &mut Sink<'_>| {
            if let Some(mut episode) = episode.take() {
                episode.ending = episode
                    .steps
                    .last()
                    .map_or(Ending::Open, StepRecord::ending);
                steps += episode.steps.len();
                sink.episode(episode);
            }
        };
        for Line { number, value } in document.into_records() {
            match value {
                Json::Object(object) if is_transition_object(&object) => {
                    let episode = episode.get_or_insert_with(Episode::default);
                    transition(object, episode, sink);
                }
                Json::Object(mut whole) if whole.contains_key("traj_id") => {
                    finish(&mut episode, sink);
                    let mut read = Episode {
                        id: whole.take_id("traj_id").unwrap_or_default(),
                        metadata: whole.take_object("metadata").unwrap_or_default(),
                        ..Episode::default()
                    };
                    for step in whole.take_list("steps").unwrap_or_default() {
                        match step {
                            Json::Object(step) => transition(step, &mut read, sink),
                            _ => sink.lost("A transition is not an object."),
                        }
                    }
                    keep_rest(&mut read, whole, sink);
                    finish(&mut Some(read), sink);
                }
                Json::Text(id) => {
                    finish(&mut episode, sink);
                    episode = Some(Episode {
                        id,
                        ..Episode::default()
                    });
                }
                Json::Null => {
                    finish(&mut episode, sink);
                    episode = Some(Episode::default());
                }
                other => {
                    sink.kept(format!(
                        "Line {number} is not a transition; it is kept unchanged."
                    ));
                    let episode = episode.get_or_insert_with(Episode::default);
                    episode.raw.insert(format!("line {number}"), other);
                }
            }
        }
        finish(&mut episode, sink);
        let text = match sink.episodes() {
            1 => format!("ldp trajectory with {steps} transitions."),
            count => format!("{count} ldp trajectories with {steps} transitions."),
        };
        sink.understood(text);
    }
}

fn is_transition(value: &Json) -> bool {
    value.as_object().is_some_and(is_transition_object)
}

/// Whether a value is a whole trajectory.
fn is_whole(value: &Json) -> bool {
    let steps = value.get("steps").and_then(Json::as_list);
    value.get("traj_id").is_some()
        && steps.is_some_and(|steps| steps.iter().take(8).all(is_transition))
}

fn is_transition_object(object: &Object) -> bool {
    let keys = ["timestep", "observation", "next_observation"];
    keys.iter().all(|key| object.contains_key(key))
}

/// Appends a transition.
fn transition(mut object: Object, episode: &mut Episode, sink: &mut Sink<'_>) {
    let observation = messages(object.remove("observation"), sink);
    let after = messages(object.remove("next_observation"), sink);
    if episode.steps.is_empty() {
        episode.start = observation;
    }
    states(&mut object, episode);
    let mut extras = Object::new();
    let action = action(object.remove("action"), &mut extras, sink);
    let mut details = StepDetails::default();
    let metadata = object.remove("metadata");
    let exception = metadata.as_ref().and_then(|it| it.get("exception"));
    if let Some(Json::Text(message)) = exception {
        details.errors.push(StepError {
            call: None,
            message: message.clone(),
        });
    }
    if let Some(Json::Object(metadata)) = metadata
        && !metadata.is_empty()
    {
        extras.insert("metadata", metadata);
    }
    let (done, truncated) = (object.take_flag("done"), object.take_flag("truncated"));
    let reward = object.take_reward("reward");
    // Steps are in order; deviating numbers are preserved.
    let timestep = object.get("timestep").and_then(Json::as_i64);
    if timestep == i64::try_from(episode.steps.len()).ok() {
        object.remove("timestep");
    }
    if object.get("value").and_then(Json::as_f64) == Some(0.0) {
        object.remove("value");
    }
    extras.extend(object);
    episode.steps.push(StepRecord {
        details,
        extras,
        ..StepRecord::new(
            action,
            Outcome::Observed {
                messages: after,
                reward: reward.unwrap_or_default(),
                done: done.unwrap_or_default(),
                truncated: truncated.unwrap_or_default(),
            },
        )
    });
}

/// Reads the states of the agent as frames.
fn states(object: &mut Object, episode: &mut Episode) {
    let before = object.remove("agent_state").unwrap_or_default();
    let after = object.remove("next_agent_state").unwrap_or_default();
    if episode.steps.is_empty() && (!before.is_null() || !after.is_null()) {
        episode.frames.push(Frame::new(before, Json::Null));
    }
    if !episode.frames.is_empty() {
        episode.frames.push(Frame::new(after, Json::Null));
    }
}

fn action(value: Option<Json>, extras: &mut Object, sink: &mut Sink<'_>) -> AnyMessage {
    let nothing = || {
        AnyMessage::Plain(Message {
            role: Role::Assistant,
            body: Body::default(),
        })
    };
    match value {
        // The bare message, as the first versions wrote it.
        Some(action) if action.get("role").is_some() => message(&action, sink)
            .into_iter()
            .next()
            .unwrap_or_else(nothing),
        Some(Json::Object(mut action)) => {
            let said = action.remove("value").unwrap_or_default();
            action.retain(|_, value| !value.is_null());
            if !action.is_empty() {
                extras.insert("action", action);
            }
            message(&said, sink)
                .into_iter()
                .next()
                .unwrap_or_else(nothing)
        }
        _ => nothing(),
    }
}

fn messages(value: Option<Json>, sink: &mut Sink<'_>) -> Vec<AnyMessage> {
    let list = match value {
        Some(Json::List(list)) => list,
        _ => Vec::new(),
    };
    list.iter().flat_map(|value| message(value, sink)).collect()
}

/// Reads a message as aviary dumps it, or in any other form.
fn message(value: &Json, sink: &mut Sink<'_>) -> Vec<AnyMessage> {
    if value.get("role").is_some() {
        // As in ldp: a message with calls, even an empty list, is a request.
        let is_plain = value.get("tool_calls").is_none() && value.get("tool_call_id").is_none();
        let read = if is_plain {
            Message::read(value).map(AnyMessage::Plain)
        } else {
            AnyMessage::read(value)
        };
        if let Ok(message) = read {
            return vec![message];
        }
    }
    if value.is_null() {
        return Vec::new();
    }
    sink.kept("Some messages differ from aviary's format; they are read as far as possible.");
    let said = chat::read(value).into_iter();
    said.map(|said| said.message).collect()
}
