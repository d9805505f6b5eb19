//! Results of tau2-bench: `{timestamp, info, tasks, simulations: [{id, task_id, trial, messages, reward_info,
//! termination_reason, …}]}`, in one file, or with the simulations in a sibling folder of that name.
//!
//! `ticks`: full-duplex conversations.
//!
//! Users have tools too. A user's message with calls stays a user's message: the call is written into the text, and its
//! data into the info.

mod ticks;

use std::collections::{BTreeMap, HashMap};

use volary_core::json::{Json, Object, Text};
use volary_episode::episode::{Ending, Episode, Rewards, Score, StepError, TaskReference, Usage};

use super::describe::counted;
use crate::import::ImportOutcome;
use crate::import::chat;
use crate::import::expansion;
use crate::import::files::Files;
use crate::import::members::{self, Members, id, keep_rest, text_at};
use crate::import::reader::{Confidence, Document, Line, Reader, Sink};
use crate::import::transcript::{ImportedMessage, Transcript};
use crate::renderer_files::names::split_folder;

const SIMULATIONS: &str = "simulations";

pub(super) struct Tau2;

impl Reader for Tau2 {
    fn id(&self) -> &'static str {
        "tau2"
    }

    fn name(&self) -> &'static str {
        "tau2-bench results (JSON, or a folder with simulations)"
    }

    fn gather(&self, files: &mut Files<'_>, outcome: &mut ImportOutcome) {
        // The files in these folders, by parent folder.
        let mut inside: BTreeMap<String, Vec<usize>> = BTreeMap::new();
        for index in files.open() {
            let (folder, _) = split_folder(files.name(index));
            if let Some(around) = folder.strip_suffix(&format!("{SIMULATIONS}/")) {
                inside.entry(around.to_owned()).or_default().push(index);
            }
        }
        for index in files.open() {
            if inside.is_empty() {
                break;
            }
            let name = files.name(index).to_owned();
            let (folder, _) = split_folder(&name);
            let Some(beside) = inside.get(folder).cloned() else {
                continue;
            };
            let Ok(Json::Object(mut results)) = files.peek_json(index) else {
                continue;
            };
            if !(results.contains_key("tasks") && results.contains_key("info")) {
                continue;
            }
            files.take(index);
            let mut size = expansion::size_of_object(&results);
            let mut simulations = results.take_list(SIMULATIONS).unwrap_or_default();
            for other in beside {
                match files.peek_json(other) {
                    Ok(value) if is_simulation(&value) => {
                        files.take(other);
                        size += expansion::size(&value);
                        simulations.push(value);
                    }
                    _ => {}
                }
            }
            let mut sink = Sink::new(outcome, self.id(), &name).within(size);
            read_results(results, simulations, &mut sink);
        }
    }

    fn recognise(&self, document: &Document) -> Confidence {
        let head = document.head();
        let has_simulations = head
            .get(SIMULATIONS)
            .is_some_and(|list| list.as_list().is_some());
        if has_simulations && (head.get("tasks").is_some() || head.get("info").is_some()) {
            Confidence::Certain
        } else if document.samples().any(is_simulation) {
            Confidence::Likely
        } else {
            Confidence::No
        }
    }

    fn read(&self, document: Document, sink: &mut Sink<'_>) {
        match document {
            Document::Value(Json::Object(mut results)) if results.contains_key(SIMULATIONS) => {
                let simulations = results.take_list(SIMULATIONS).unwrap_or_default();
                read_results(results, simulations, sink);
            }
            document => {
                let records = document.into_records().into_iter();
                let simulations = records.map(|Line { value, .. }| value).collect();
                read_results(Object::new(), simulations, sink);
            }
        }
    }
}

fn is_simulation(value: &Json) -> bool {
    let has = |key| value.get(key).is_some();
    (has("messages") || has("ticks"))
        && has("task_id")
        && (has("termination_reason") || has("reward_info"))
}

/// Data that all simulations of a run share.
struct Run {
    info: Option<Json>,
    tasks: HashMap<Text, Json>,
}

fn read_results(mut results: Object, simulations: Vec<Json>, sink: &mut Sink<'_>) {
    let info = results.take("info");
    let tasks = results.take_list("tasks").unwrap_or_default().into_iter();
    let tasks = tasks
        .filter_map(|task| Some((id(task.get("id")?)?, task)))
        .collect();
    let run = Run { info, tasks };
    let mut count = 0;
    for (index, simulation) in simulations.into_iter().enumerate() {
        match simulation {
            // Each copy contains the task and the metadata of the run.
            _ if sink.is_full() => sink.leave_out(),
            Json::Object(object) => {
                count += 1;
                let episode = simulation_episode(object, &run, sink);
                sink.episode(episode);
            }
            _ => sink.lost(format!("Simulation {} is not an object.", index + 1)),
        }
    }
    sink.understood(format!(
        "tau2-bench results: {}.",
        counted(count, "episode")
    ));
}

fn simulation_episode(mut rest: Object, run: &Run, sink: &mut Sink<'_>) -> Episode {
    let info = run.info.as_ref();
    let shared = |path: &[&str]| info.and_then(|info| text_at(info, path));
    let task = rest.take_id("task_id");
    let trial = rest.take_id("trial");
    let label = task.as_deref().unwrap_or("unknown");
    let domain = shared(&["environment_info", "domain_name"]);
    let reason = rest.take_text("termination_reason");
    let mut episode = Episode {
        id: rest.take_id("id").unwrap_or_default(),
        name: match &trial {
            Some(trial) => format!("Task {label}, trial {trial}").into(),
            None => format!("Task {label}").into(),
        },
        policy: shared(&["agent_info", "implementation"]),
        model: shared(&["agent_info", "llm"]),
        ending: ending(reason.as_deref()),
        outcome: reason,
        started: rest
            .take_time("start_time")
            .or_else(|| rest.take_time("timestamp")),
        seconds: rest.take_number("duration"),
        ..Episode::default()
    };
    if let Some(task) = task {
        if let Some(known) = run.tasks.get(&task) {
            episode.metadata.insert("task", known.clone());
        }
        let dataset = domain.clone().unwrap_or_else(|| "tau2".into());
        episode.task = Some(TaskReference { dataset, id: task });
    }
    episode.environment = domain;
    if let Some(info) = info {
        episode.metadata.insert("run_info", info.clone());
    }
    if let Some(trial) = trial {
        episode.metadata.insert("trial", trial);
    }
    judge(&mut episode, rest.take("reward_info"));

    let mut transcript = Transcript::default();
    let messages = rest.take_list("messages").unwrap_or_else(|| {
        let ticks = rest.get("ticks").and_then(Json::as_list);
        ticks::messages(ticks.unwrap_or_default())
    });
    for message in messages {
        read_message(message, &mut transcript);
    }
    transcript.finish(&mut episode);
    let cost = rest.take_number("agent_cost");
    if cost.is_some() {
        let usage = episode.usage();
        episode.total_usage = Some(Usage { cost, ..usage });
    }
    for key in ["seed", "user_cost", "mode", "end_time"] {
        if let Some(value) = rest.take(key) {
            episode.metadata.insert(key.to_owned(), value);
        }
    }
    keep_rest(&mut episode, rest, sink);
    episode
}

/// What a simulation says of the agent's steps, for a tool that recorded their messages itself: the model, times and usage.
pub(super) fn recorded(simulation: &Json) -> Option<Episode> {
    let messages = simulation.get("messages").and_then(Json::as_list)?;
    let mut transcript = Transcript::default();
    for message in messages {
        read_message(message.clone(), &mut transcript);
    }
    let mut acts = messages.iter().filter(|message| {
        let role = message.get("role").and_then(Json::as_text);
        role.is_some_and(|role| &**role == "assistant")
    });
    let mut rest = simulation.as_object().cloned().unwrap_or_default();
    let mut episode = Episode {
        model: acts.find_map(|message| text_at(message, &["raw_data", "model"])),
        started: rest.take_time("start_time"),
        seconds: rest.take_number("duration"),
        ..Episode::default()
    };
    transcript.finish(&mut episode);
    Some(episode)
}

fn ending(reason: Option<&str>) -> Ending {
    match reason {
        None => Ending::Open,
        Some("user_stop" | "agent_stop") => Ending::Done,
        Some("agent_error" | "user_error" | "infrastructure_error" | "unexpected_error") => {
            let message = format!("The simulation ended with: {}.", reason.unwrap_or_default());
            Ending::Crashed {
                message: message.into(),
            }
        }
        Some(other) => Ending::Truncated {
            reason: format!("The simulation ended with: {other}.").into(),
        },
    }
}

/// Reads the reward and its components.
fn judge(episode: &mut Episode, reward_info: Option<Json>) {
    let reward_info = reward_info.unwrap_or_default();
    let reward = reward_info.get("reward").and_then(members::reward);
    episode.rewards = reward.map_or(Rewards::Unknown, Rewards::Whole);
    let breakdown = reward_info
        .get("reward_breakdown")
        .and_then(Json::as_object);
    for (name, value) in breakdown.into_iter().flat_map(Object::iter) {
        episode.scores.push(Score {
            name: name.as_ref().into(),
            value: value.clone(),
            ..Score::default()
        });
    }
    for (list, what) in [
        ("communicate_checks", "info"),
        ("nl_assertions", "nl_assertion"),
    ] {
        let checks = reward_info
            .get(list)
            .and_then(Json::as_list)
            .unwrap_or_default();
        for check in checks {
            episode.scores.push(Score {
                name: check
                    .get(what)
                    .map_or_else(|| list.into(), |text| text.to_display().into()),
                value: check.get("met").cloned().unwrap_or_default(),
                explanation: text_at(check, &["justification"]),
                extras: Object::new(),
            });
        }
    }
    if !reward_info.is_null() {
        episode.metadata.insert("reward_info", reward_info);
    }
}

fn read_message(message: Json, transcript: &mut Transcript) {
    let Json::Object(mut message) = message else {
        return chat::read(&message)
            .into_iter()
            .for_each(|said| transcript.push(said));
    };
    // Several tool results in one message.
    if let Some(several) = message.take_list("tool_messages") {
        return several
            .into_iter()
            .for_each(|one| read_message(one, transcript));
    }
    let role = message.get("role").and_then(Json::as_text).cloned();
    let is_tool = role.as_deref() == Some("tool");
    if is_tool && message.get("tool_call_id").is_none_or(Json::is_null) {
        let id = message.take_id("id").unwrap_or_default();
        message.insert("tool_call_id", id);
    }
    if role.as_deref() == Some("user") {
        calls_of_user(&mut message);
    }
    let usage = message.take("usage").and_then(|usage| chat::usage(&usage));
    let cost = message.take_number("cost");
    let started = message.take_time("timestamp");
    let seconds = message.take_number("generation_time_seconds");
    let failed = is_tool && message.take_flag("error") == Some(true);
    for key in ["is_audio", "contains_speech", "is_final_chunk"] {
        message.remove(key);
    }
    let acts = role.as_deref() == Some("assistant");
    for mut said in chat::read(&message.into()) {
        if acts {
            said.details.started = started;
            said.seconds = seconds;
            said.details.usage = match (usage, cost) {
                (None, None) => None,
                (usage, cost) => Some(Usage {
                    cost,
                    ..usage.unwrap_or_default()
                }),
            };
        }
        if failed {
            said.details.errors.push(error(&said));
        }
        transcript.push(said);
    }
}

fn error(said: &ImportedMessage) -> StepError {
    StepError {
        call: None,
        message: said.message.body().content_or_empty().into(),
    }
}

/// Writes the calls of a user into the user's text.
fn calls_of_user(message: &mut Object) {
    let calls = message
        .get("tool_calls")
        .and_then(Json::as_list)
        .unwrap_or_default();
    if calls.is_empty() {
        return;
    }
    let told: Vec<String> = calls
        .iter()
        .map(chat::call)
        .map(|call| {
            format!(
                "{}({})",
                call.function.name,
                call.function.arguments.to_compact_text()
            )
        })
        .collect();
    let said = message.get("content").and_then(Json::as_text);
    let said = said
        .map(|text| text.to_string())
        .filter(|text| !text.is_empty());
    let content: Vec<String> = said.into_iter().chain(told).collect();
    let calls = message.remove("tool_calls").unwrap_or_default();
    message.insert("content", content.join("\n"));
    message.insert("calls_of_user", calls);
}
