//! Runs of Terminal-Bench 1 (`tb run`): `results.json` of a run, `{results: [trial], …}`, and the folder of a trial, with
//! its `results.json`, the recording `sessions/agent.cast`, and, for the agent Terminus, `agent-logs/episode-N/` with the
//! prompt and the response of each turn.
//!
//! A trial is an episode. Its steps are the turns in the logs; without them, what was typed in the recording, with what
//! the terminal showed. A run that is imported with the folders of its trials adds only those without a folder.

mod cast;

use std::collections::{BTreeMap, HashSet};

use serde::Deserialize;
use volary_core::json::{Json, Object, Text};
use volary_core::{Message, Role};
use volary_episode::episode::{Ending, Episode, Rewards, Score, TaskReference, Usage};

use super::ImportOutcome;
use super::chat;
use super::describe::counted;
use super::files::Files;
use super::members::{Members, keep_rest, moment};
use super::reader::{Confidence, Document, Line, Reader, Sink};
use super::transcript::Transcript;
use super::typed;
use crate::renderer_files::names::split_folder;

const RESULTS: &str = "results.json";

pub(super) struct TerminalBench;

impl Reader for TerminalBench {
    fn id(&self) -> &'static str {
        "terminal-bench"
    }

    fn name(&self) -> &'static str {
        "Terminal-Bench runs (results.json, or the folder of a trial)"
    }

    fn gather(&self, files: &mut Files<'_>, outcome: &mut ImportOutcome) {
        let mut read = HashSet::new();
        let mut runs = Vec::new();
        for index in files.open() {
            let (folder, file) = split_folder(files.name(index));
            let is_result = file == RESULTS && files.starts_with_quoted(index, "is_resolved");
            if !is_result {
                continue;
            }
            let folder = folder.to_owned();
            match files.peek_json(index) {
                Ok(value) if is_run(&value) => runs.push((index, value)),
                Ok(value) if is_trial(&value) && has_more(files, &folder) => {
                    files.take(index);
                    let name = files.name(index).to_owned();
                    let mut sink = Sink::new(outcome, self.id(), &name);
                    if let Some(trial) = Trial::read(value, &mut sink) {
                        read.extend(trial.trial_name.clone());
                        let mut transcript = Transcript::default();
                        let steps = trial.begin(&mut transcript);
                        let kept = recorded(files, &folder, steps, &mut transcript, &mut sink);
                        trial.finish(transcript, kept, &mut sink);
                        sink.understood("Terminal-Bench: the folder of a trial.");
                    }
                }
                _ => {}
            }
        }
        if read.is_empty() {
            return;
        }
        for (index, value) in runs {
            files.take(index);
            let name = files.name(index).to_owned();
            run(value, &read, &mut Sink::new(outcome, self.id(), &name));
        }
    }

    fn recognise(&self, document: &Document) -> Confidence {
        if document
            .samples()
            .any(|value| is_run(value) || is_trial(value))
        {
            Confidence::Certain
        } else {
            Confidence::No
        }
    }

    fn read(&self, document: Document, sink: &mut Sink<'_>) {
        for Line { number, value } in document.into_records() {
            if is_run(&value) {
                run(value, &HashSet::new(), sink);
            } else if let Some(trial) = Trial::read(value, sink) {
                let mut transcript = Transcript::default();
                trial.begin(&mut transcript);
                trial.finish(transcript, Object::new(), sink);
                sink.understood("Terminal-Bench: the result of a trial, without its folder.");
            } else {
                sink.lost(format!("Line {number} is not a result."));
            }
        }
    }
}

fn is_trial(value: &Json) -> bool {
    let has = |key: &str| value.get(key).is_some();
    has("task_id") && has("is_resolved") && has("failure_mode") && has("instruction")
}

fn is_run(value: &Json) -> bool {
    let results = value.get("results").and_then(Json::as_list);
    results.is_some_and(|results| results.iter().take(8).any(is_trial))
}

/// Whether a folder has recordings or logs of its trial.
fn has_more(files: &Files<'_>, folder: &str) -> bool {
    ["sessions/", "agent-logs/", "panes/"]
        .iter()
        .any(|below| !files.below(&format!("{folder}{below}")).is_empty())
}

/// The result of a trial.
#[derive(Default, Deserialize)]
#[serde(default)]
struct Trial {
    trial_name: Option<Text>,
    task_id: Text,
    instruction: Text,
    is_resolved: Option<bool>,
    failure_mode: Option<Text>,
    parser_results: Option<Object>,
    total_input_tokens: Option<u64>,
    total_output_tokens: Option<u64>,
    trial_started_at: Option<Json>,
    agent_started_at: Option<Json>,
    agent_ended_at: Option<Json>,
    id: Option<Text>,
    uuid: Option<Text>,
    /// The other members.
    #[serde(skip)]
    rest: Object,
}

impl Trial {
    fn read(value: Json, sink: &mut Sink<'_>) -> Option<Trial> {
        is_trial(&value).then(|| {
            let (mut trial, odd) = typed::record::<Trial>(value, "A result", sink);
            trial.rest.extend(odd);
            trial
        })
    }

    /// Adds the instruction. Returns when the agent started.
    fn begin(&self, transcript: &mut Transcript) -> Option<f64> {
        transcript.observe(Message::new(Role::User, self.instruction.clone()).into());
        self.agent_started_at.as_ref().and_then(moment)
    }

    fn finish(self, transcript: Transcript, kept: Object, sink: &mut Sink<'_>) {
        let id = self.trial_name.clone().or(self.id).or(self.uuid);
        let started = self
            .agent_started_at
            .or(self.trial_started_at)
            .as_ref()
            .and_then(moment);
        let ended = self.agent_ended_at.as_ref().and_then(moment);
        let usage = Usage {
            input: self.total_input_tokens,
            output: self.total_output_tokens,
            ..Usage::default()
        };
        let is_counted = usage.input.unwrap_or_default() + usage.output.unwrap_or_default() > 0;
        let mut episode = Episode {
            id: id.unwrap_or_default(),
            name: self.trial_name.unwrap_or_else(|| self.task_id.clone()),
            task: Some(TaskReference {
                dataset: "terminal-bench".into(),
                id: self.task_id,
            }),
            rewards: self.is_resolved.map_or(Rewards::Unknown, |is| {
                Rewards::Whole(f64::from(u8::from(is)))
            }),
            total_usage: Some(usage).filter(|_| is_counted),
            started,
            seconds: match (started, ended) {
                (Some(start), Some(end)) if end >= start => Some(end - start),
                _ => None,
            },
            ending: Ending::Done,
            ..Episode::default()
        };
        if let Some(is) = self.is_resolved {
            episode.scores.push(score("is_resolved", is.into()));
        }
        for (name, value) in self.parser_results.unwrap_or_default() {
            episode.scores.push(score(&name, value));
        }
        match self.failure_mode.as_deref() {
            None | Some("unset" | "none") => {}
            Some("agent_timeout") => {
                episode.outcome = self.failure_mode;
                episode.ending = Ending::Truncated {
                    reason: "The time of the agent was up.".into(),
                };
            }
            Some(mode) => {
                episode.errors.push(mode.into());
                episode.outcome = self.failure_mode;
            }
        }
        transcript.finish(&mut episode);
        episode.metadata = kept;
        let mut rest = self.rest;
        if let Some(path) = rest.take("recording_path") {
            episode.metadata.insert("recording_path", path);
        }
        keep_rest(&mut episode, rest, sink);
        sink.episode(episode);
    }
}

fn score(name: &str, value: Json) -> Score {
    Score {
        name: name.into(),
        value,
        ..Score::default()
    }
}

fn run(value: Json, known: &HashSet<Text>, sink: &mut Sink<'_>) {
    let Json::Object(mut run) = value else {
        return;
    };
    let (mut count, mut left_out) = (0, 0);
    for value in run.take_list("results").unwrap_or_default() {
        let Some(trial) = Trial::read(value, sink) else {
            continue;
        };
        if trial
            .trial_name
            .as_ref()
            .is_some_and(|name| known.contains(name))
        {
            left_out += 1;
            continue;
        }
        count += 1;
        let mut transcript = Transcript::default();
        trial.begin(&mut transcript);
        trial.finish(transcript, Object::new(), sink);
    }
    let trials = counted(count, "trial");
    sink.understood(match left_out {
        0 => format!("Terminal-Bench: {trials}. Their steps are in the folders of the trials."),
        _ => format!("Terminal-Bench: {trials} without a folder."),
    });
}

/// Reads the turns of a trial from its folder. Returns the files that are kept as text.
fn recorded(
    files: &mut Files<'_>,
    folder: &str,
    started: Option<f64>,
    transcript: &mut Transcript,
    sink: &mut Sink<'_>,
) -> Object {
    let mut turns: BTreeMap<u64, (Option<usize>, Option<usize>)> = BTreeMap::new();
    let logs = format!("{folder}agent-logs/episode-");
    for index in files.below(&logs) {
        let rest = files.name(index).get(logs.len()..).unwrap_or_default();
        let Some((number, file)) = rest.split_once('/') else {
            continue;
        };
        let Ok(number) = number.parse() else {
            continue;
        };
        let turn = turns.entry(number).or_default();
        match file {
            "prompt.txt" => turn.0 = Some(index),
            "response.txt" | "response.json" => turn.1 = Some(index),
            _ => {}
        }
    }
    let has_turns = turns.values().any(|(_, response)| response.is_some());
    for (index, (prompt, response)) in turns.into_values().enumerate() {
        if let Some(text) = prompt.and_then(|index| files.take_text(index).ok()) {
            // The first prompt has the instruction, with how to answer.
            if index == 0 {
                *transcript = Transcript::default();
            }
            transcript.observe(Message::new(Role::User, text).into());
        }
        if let Some(text) = response.and_then(|index| files.take_text(index).ok()) {
            transcript.push(chat::acted(text.into(), Vec::new()));
        }
    }
    let cast = files.find(&format!("{folder}sessions/agent.cast"));
    if let Some(text) = cast.and_then(|index| files.take_text(index).ok())
        && !has_turns
        && !cast::read(&text, started, transcript)
    {
        sink.lost("The recording of the terminal cannot be read.");
    }
    let mut kept = Object::new();
    for below in [
        "panes/",
        "sessions/",
        "commands.txt",
        "agent-logs/",
        "tests",
    ] {
        for index in files.below(&format!("{folder}{below}")) {
            let name = files
                .name(index)
                .get(folder.len()..)
                .unwrap_or_default()
                .to_owned();
            if let Ok(text) = files.take_text(index)
                && (below == "panes/" || below == "commands.txt")
            {
                kept.insert(name, text.trim().to_owned());
            }
        }
    }
    kept
}
