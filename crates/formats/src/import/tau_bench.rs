//! Results of tau-bench: a list of `{task_id, reward, info, traj: [message], trial}`; and its display files, lines of
//! `{messages_display: "user: …\nassistant: …"}`.

use volary_core::json::{Json, Object, Text};
use volary_core::{AnyMessage, Message, Role, ToolRequestMessage};
use volary_episode::episode::{Ending, Episode, Rewards, Score, TaskReference};

use super::chat;
use super::describe::counted;
use super::members::{Members, keep_rest};
use super::reader::{Confidence, Document, Line, Reader, Sink};
use super::transcript::Transcript;

const DATASET: &str = "tau-bench";

pub(super) struct TauBench;

impl Reader for TauBench {
    fn id(&self) -> &'static str {
        "tau-bench"
    }

    fn name(&self) -> &'static str {
        "tau-bench results (JSON)"
    }

    fn recognise(&self, document: &Document) -> Confidence {
        if document
            .samples()
            .any(|value| is_result(value) || display(value).is_some())
        {
            Confidence::Likely
        } else {
            Confidence::No
        }
    }

    fn read(&self, document: Document, sink: &mut Sink<'_>) {
        let (mut results, mut displays) = (0, 0);
        for Line { number, value } in document.into_records() {
            if let Some(text) = display(&value) {
                displays += 1;
                let episode = displayed(text, number, sink);
                sink.episode(episode);
            } else if let (true, Json::Object(object)) = (is_result(&value), value) {
                results += 1;
                let episode = result(object, number, sink);
                sink.episode(episode);
            } else {
                sink.lost(format!("Element {number} is not a tau-bench result."));
            }
        }
        if results > 0 {
            sink.understood(format!(
                "tau-bench results: {}.",
                counted(results, "episode")
            ));
        }
        if displays > 0 {
            sink.understood(format!(
                "tau-bench displays: {}. They contain no tool names, so calls are empty.",
                counted(displays, "episode")
            ));
        }
    }
}

fn is_result(value: &Json) -> bool {
    let has = |key| value.get(key).is_some();
    value
        .get("traj")
        .is_some_and(|traj| traj.as_list().is_some())
        && (has("task_id") || has("reward"))
}

fn display(value: &Json) -> Option<&Text> {
    value.get("messages_display")?.as_text()
}

fn result(mut rest: Object, number: usize, sink: &mut Sink<'_>) -> Episode {
    let task = rest.take_id("task_id");
    let trial = rest.take_id("trial");
    let label = task.clone().unwrap_or_else(|| format!("{number}").into());
    let mut episode = Episode {
        name: match &trial {
            Some(trial) => format!("Task {label}, trial {trial}").into(),
            None => format!("Task {label}").into(),
        },
        id: format!(
            "{}-{label}-{}",
            sink.stem(),
            trial.as_deref().unwrap_or("0")
        )
        .into(),
        task: task.map(|id| TaskReference {
            dataset: DATASET.into(),
            id,
        }),
        rewards: rest
            .take_reward("reward")
            .map_or(Rewards::Unknown, Rewards::Whole),
        ..Episode::default()
    };
    let traj = rest.take_list("traj").unwrap_or_default();
    let info = rest.take_object("info").unwrap_or_default();
    episode.ending = ending(&info, &traj);
    if let Ending::Crashed { message } = &episode.ending {
        episode.errors.push(message.clone());
    }
    let verdict = info
        .get("reward_info")
        .and_then(|reward| reward.get("info")?.as_object());
    let scored = verdict.into_iter().flat_map(Object::iter);
    episode.scores = scored
        .filter(|(key, _)| key.starts_with("r_"))
        .map(score)
        .collect();
    episode.metadata = info;
    if let Some(trial) = trial {
        episode.metadata.insert("trial", trial);
    }
    let mut transcript = Transcript::default();
    traj.iter()
        .flat_map(chat::read)
        .for_each(|said| transcript.push(said));
    transcript.finish(&mut episode);
    keep_rest(&mut episode, rest, sink);
    episode
}

fn score((name, value): (&volary_core::json::Key, &Json)) -> Score {
    Score {
        name: name.as_ref().into(),
        value: value.clone(),
        ..Score::default()
    }
}

/// The ending of an episode. Without reward info the step limit was reached; a crash has an error.
fn ending(info: &Object, traj: &[Json]) -> Ending {
    if let Some(error) = info.get("error").filter(|error| !error.is_null()) {
        return Ending::Crashed {
            message: error.to_display().into(),
        };
    }
    match info.get("reward_info") {
        Some(Json::Object(_)) => Ending::Done,
        Some(_) => Ending::Truncated {
            reason: "The limit of steps was reached.".into(),
        },
        None => {
            let last = traj
                .last()
                .and_then(|message| message.get("content")?.as_text());
            if last.is_some_and(|text| text.contains("###STOP###")) {
                Ending::Done
            } else {
                Ending::Open
            }
        }
    }
}

fn displayed(text: &str, number: usize, sink: &Sink<'_>) -> Episode {
    let mut episode = Episode {
        id: format!("{}-{number}", sink.stem()).into(),
        name: format!("Display {number}").into(),
        rewards: Rewards::Unknown,
        ..Episode::default()
    };
    let mut transcript = Transcript::default();
    for (role, content) in turns(text) {
        let said: AnyMessage = match role {
            // A call whose name and arguments are not displayed.
            Role::Assistant if content == "None" => ToolRequestMessage::default().into(),
            role => Message::new(role, content).into(),
        };
        transcript.push(said.into());
    }
    transcript.finish(&mut episode);
    episode
}

/// The turns of a display file: a line that starts with a role starts a turn.
fn turns(text: &str) -> Vec<(Role, String)> {
    const ROLES: [(&str, Role); 4] = [
        ("user: ", Role::User),
        ("assistant: ", Role::Assistant),
        ("tool: ", Role::Tool),
        ("system: ", Role::System),
    ];
    let mut turns: Vec<(Role, String)> = Vec::new();
    for line in text.split('\n') {
        let begun = ROLES
            .iter()
            .find_map(|(mark, role)| Some((*role, line.strip_prefix(mark)?)));
        match (begun, turns.last_mut()) {
            (Some((role, rest)), _) => turns.push((role, rest.to_owned())),
            (None, Some((_, content))) => {
                content.push('\n');
                content.push_str(line);
            }
            (None, None) => turns.push((Role::User, line.to_owned())),
        }
    }
    turns
}
