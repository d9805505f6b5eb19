//! ATIF, the trajectory format of Harbor, 1.0 to 1.7: one JSON object, with subagents nested in it or in sibling files,
//! and the result of the trial in a sibling file.
//!
//! `step`: steps of a trajectory. `trial`: the folder of a trial.

mod step;
mod trial;

use std::collections::HashSet;

use volary_core::json::{Json, Object, Text};
use volary_episode::episode::{Episode, Link, Relation, Rewards, Usage};

use super::ImportOutcome;
use super::chat;
use super::describe::counted;
use super::files::Files;
use super::members::{names, number};
use super::reader::{Confidence, Document, Line, Reader, Sink};
use crate::renderer_files::names::split_folder;
use step::Reading;

const VERSION_START: &str = "ATIF-v";

pub(super) struct Atif;

impl Reader for Atif {
    fn id(&self) -> &'static str {
        "atif"
    }

    fn name(&self) -> &'static str {
        "ATIF (Harbor): one trajectory per file or line, or the folder of a trial"
    }

    /// The folder of a trial: `result.json` holds the rewards of the trajectories below it.
    fn gather(&self, files: &mut Files<'_>, outcome: &mut ImportOutcome) {
        let mut folders = HashSet::new();
        for index in files.open() {
            let (folder, file) = split_folder(files.name(index));
            // An archive may have several files of one name.
            if file != "result.json" || !folders.insert(folder.to_owned()) {
                continue;
            }
            let folder = folder.to_owned();
            if let Ok(result) = files.peek_json(index)
                && result.get("verifier_result").is_some()
            {
                trial::read(files, index, &folder, &result, outcome);
            }
        }
    }

    fn recognise(&self, document: &Document) -> Confidence {
        let sample = document.samples().next().unwrap_or(&Json::Null);
        let version = sample.get("schema_version").and_then(Json::as_text);
        let first = sample.get("steps").and_then(Json::as_list);
        let first = first.and_then(|steps| steps.first());
        let has_step = first.is_some_and(|step| {
            ["step_id", "source", "message"]
                .iter()
                .all(|key| step.get(key).is_some())
        });
        if version.is_some_and(|version| version.starts_with(VERSION_START)) {
            Confidence::Certain
        } else if has_step {
            Confidence::Possible
        } else {
            Confidence::No
        }
    }

    fn read(&self, document: Document, sink: &mut Sink<'_>) {
        read(document, sink);
    }
}

fn read(document: Document, sink: &mut Sink<'_>) {
    let mut steps = 0;
    for Line { number, value } in document.into_records() {
        let Json::Object(object) = value else {
            sink.lost(format!("Trajectory {number} is not an object."));
            continue;
        };
        steps += trajectory(object, None, sink);
    }
    if sink.episodes() > 0 {
        let text = match sink.episodes() {
            1 => format!("ATIF trajectory with {}.", counted(steps, "step")),
            count => format!("{count} ATIF trajectories with {}.", counted(steps, "step")),
        };
        sink.understood(text);
    }
}

/// Reads a trajectory and the nested ones. Returns the number of steps.
fn trajectory(mut object: Object, parent: Option<&Text>, sink: &mut Sink<'_>) -> usize {
    let version = take_text(&mut object, "schema_version");
    let version = version.map(|version| match version.strip_prefix(VERSION_START) {
        Some(number) => number.into(),
        None => version,
    });
    sink.set_version(version);
    let session = take_text(&mut object, "session_id");
    let id = take_text(&mut object, "trajectory_id").or_else(|| session.clone());
    let mut episode = Episode {
        id: id.unwrap_or_else(|| sink.stem()),
        rewards: Rewards::Unknown,
        ..Episode::default()
    };
    if let Some(session) = session.filter(|session| *session != episode.id) {
        episode.metadata.insert("session_id", session);
    }
    if let Some(parent) = parent {
        episode
            .links
            .push(link(Relation::Parent, parent.clone(), None));
    }
    agent(&mut object, &mut episode);
    let steps = match object.remove("steps") {
        Some(Json::List(steps)) => steps,
        None | Some(Json::Null) => Vec::new(),
        Some(other) => {
            sink.lost("Its steps are not a list.");
            episode.raw.insert("steps", other);
            Vec::new()
        }
    };
    let count = steps.len();
    let mut reading = Reading::default();
    for (index, step) in steps.into_iter().enumerate() {
        match step {
            Json::Object(step) => reading.step(step, &mut episode),
            other => {
                sink.lost(format!("Step {} is not an object.", index + 1));
                let key = format!("step {}", index + 1);
                episode.raw.insert(key, other);
            }
        }
    }
    if let Some(reference) = take_text(&mut object, "continued_trajectory_ref") {
        episode
            .links
            .push(link(Relation::Continuation, reference, None));
    }
    if let Some(Json::Object(mut extra)) = object.remove("extra") {
        reading.extra(&mut extra, &mut episode);
        episode.metadata.extend(extra);
    }
    if let Some(notes) = object.remove("notes").filter(|notes| !notes.is_null()) {
        episode.metadata.insert("notes", notes);
    }
    final_metrics(object.remove("final_metrics"), &mut episode);
    let within = object.remove("subagent_trajectories");
    object.retain(|_, value| !value.is_null());
    if !object.is_empty() {
        sink.kept(format!(
            "Members that ATIF does not have: {}.",
            names(&object)
        ));
        episode.raw.extend(object);
    }
    reading.finish(&mut episode);
    let id = episode.id.clone();
    sink.episode(episode);
    let mut all = count;
    if let Some(Json::List(list)) = within {
        for value in list {
            if let Json::Object(object) = value {
                all += trajectory(object, Some(&id), sink);
            }
        }
    }
    all
}

fn agent(object: &mut Object, episode: &mut Episode) {
    let Some(Json::Object(mut agent)) = object.remove("agent") else {
        return;
    };
    let name = take_text(&mut agent, "name");
    episode.policy = name.clone();
    episode.model = take_text(&mut agent, "model_name").or_else(|| take_text(&mut agent, "model"));
    if let Some(Json::List(tools)) = agent.remove("tool_definitions") {
        episode.tools = tools.iter().filter_map(chat::tool).collect();
        if episode.tools.len() < tools.len() {
            agent.insert("tool_definitions", tools);
        }
    }
    agent.retain(|_, value| !value.is_null());
    if !agent.is_empty() {
        episode.metadata.insert("agent", agent);
    }
}

fn final_metrics(value: Option<Json>, episode: &mut Episode) {
    let Some(Json::Object(mut metrics)) = value else {
        return;
    };
    let mut count = |key: &str| {
        let value = number(metrics.get(key)?).filter(|count| *count >= 0.0)?;
        metrics.remove(key);
        Some(value)
    };
    let usage = Usage {
        input: count("total_prompt_tokens").map(|count| count as u64),
        output: count("total_completion_tokens").map(|count| count as u64),
        cached: count("total_cached_tokens").map(|count| count as u64),
        reasoning: None,
        cost: count("total_cost_usd"),
    };
    metrics.remove("total_steps");
    metrics.retain(|_, value| !value.is_null());
    if !usage.is_empty() {
        episode.total_usage = Some(usage);
    }
    if !metrics.is_empty() {
        episode.metadata.insert("final_metrics", metrics);
    }
}

fn link(relation: Relation, episode: Text, step: Option<usize>) -> Link {
    Link {
        relation,
        episode,
        step,
    }
}

fn take_text(object: &mut Object, key: &str) -> Option<Text> {
    let text = object.get(key)?.as_text()?.clone();
    object.remove(key);
    Some(text)
}
