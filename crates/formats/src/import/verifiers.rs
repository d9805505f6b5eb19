//! Files of verifiers: `results.jsonl` (one rollout per line, read here) and `traces.jsonl` (`traces`: one message tree
//! per line; `node_tokens`: its tokens; `verdict`: its ending). `columns`: column-oriented rollouts. `branches`: the
//! branches of a rollout.

mod branches;
mod columns;
mod node_tokens;
mod traces;
mod verdict;

use volary_core::json::{Json, Object, Text};
use volary_episode::episode::{Ending, Episode, Rewards, Score, TaskReference};

use super::ImportOutcome;
use super::call_credit;
use super::chat;
use super::describe::counted;
use super::files::Files;
use super::members::{Members, keep_rest, moment, number, text_at, unpacked};
use super::prime_rl::path;
use super::reader::{Confidence, Document, Line, Reader, Sink};
use super::token_lists::{self, CallTokens};
use super::transcript::Transcript;

use branches::branches;
pub(super) use traces::Traces;

/// The format of [`Rollouts`].
pub(super) const RESULTS: &str = "verifiers-results";

pub(super) struct Rollouts;

impl Reader for Rollouts {
    fn id(&self) -> &'static str {
        RESULTS
    }

    fn name(&self) -> &'static str {
        "verifiers results.jsonl"
    }

    /// Environment and model are in a sibling file.
    fn gather(&self, files: &mut Files<'_>, outcome: &mut ImportOutcome) {
        for index in files.open() {
            let names_environment = ENVIRONMENTS
                .iter()
                .any(|key| files.starts_with_quoted(index, key));
            if !names_environment || !files.starts_with_quoted(index, "model") {
                continue;
            }
            let name = files.name(index).to_owned();
            let folder = name.rsplit_once('/').map_or("", |(folder, _)| folder);
            // Column-oriented results may contain the same members nested.
            let about = files.peek_json(index).ok().filter(is_about);
            let Some(Json::Object(about)) = about else {
                continue;
            };
            let beside = files.open().into_iter().find(|other| {
                let name = files.name(*other);
                *other != index
                    && name.rsplit_once('/').map_or("", |(folder, _)| folder) == folder
                    && files.starts_with_quoted(*other, "completion")
            });
            let Some(results) = beside else {
                continue;
            };
            let file = files.name(results).to_owned();
            if let Ok(read) = files.read_document(results)
                && self.recognise(&read.document) > Confidence::No
            {
                files.take(index);
                files.take(results);
                let size = read.document.size();
                let mut sink = Sink::new(outcome, self.id(), &file).within(size);
                for loss in read.losses {
                    sink.lost(loss);
                }
                read_rollouts(read.document, Some(&about), &mut sink);
            }
        }
    }

    fn recognise(&self, document: &Document) -> Confidence {
        if document.samples().any(is_rollout) {
            Confidence::Likely
        } else {
            Confidence::No
        }
    }

    fn read(&self, document: Document, sink: &mut Sink<'_>) {
        read_rollouts(document, None, sink);
    }
}

fn is_rollout(value: &Json) -> bool {
    let has = |key| value.get(key).is_some();
    has("prompt") && has("completion") && (has("example_id") || has("reward"))
}

fn read_rollouts(document: Document, about: Option<&Object>, sink: &mut Sink<'_>) {
    let mut count = 0;
    let (document, mut shared) = columns::rows(document);
    // The sibling file contains it already.
    let told = match about {
        Some(_) => None,
        None => shared.take_if("metadata", is_about),
    };
    let about = about.or_else(|| told.as_ref()?.as_object());
    for Line { number, value } in document.into_records() {
        match value {
            Json::Object(mut object) if object.contains_key("completion") => {
                // Values that all episodes share are stored once.
                object.extend_missing(std::mem::take(&mut shared));
                for mut episode in rollout(object, number, sink) {
                    count += 1;
                    if let Some(about) = about {
                        tell_run(&mut episode, about);
                    }
                    sink.episode(episode);
                }
            }
            _ => sink.lost(format!("Line {number} is not a rollout.")),
        }
    }
    sink.understood(format!("verifiers results: {}.", counted(count, "episode")));
}

/// The members of a run's metadata that name its environment; the latter does until version 0.1.3.
const ENVIRONMENTS: [&str; 2] = ["env_id", "env"];

/// Whether a value is the metadata of a run: environment and model.
fn is_about(value: &Json) -> bool {
    let has_text = |key: &str| value.get(key).and_then(Json::as_text).is_some();
    ENVIRONMENTS.iter().any(|key| has_text(key)) && has_text("model")
}

/// The metadata of a run from its `metadata.json`; `None` if the bytes are not one.
pub(super) fn about_run(bytes: &[u8]) -> Option<Object> {
    match Json::parse(std::str::from_utf8(bytes).ok()?).ok()? {
        about if !is_about(&about) => None,
        Json::Object(about) => Some(about),
        _ => None,
    }
}

/// Copies the metadata of a run into an episode.
pub(super) fn tell_run(episode: &mut Episode, about: &Object) {
    let text = |key| about.get(key).and_then(Json::as_text).cloned();
    let named = ENVIRONMENTS.iter().find_map(|key| text(key));
    episode.environment = named.or(episode.environment.take());
    episode.model = text("model").or(episode.model.take());
    if let (Some(task), Some(environment)) = (&mut episode.task, &episode.environment) {
        task.dataset = environment.clone();
    }
    episode.metadata.insert("run_info", about.clone());
}

/// A line of `results.jsonl`: an episode, or one for each branch.
pub(super) fn rollout(mut rest: Object, number: usize, sink: &mut Sink<'_>) -> Vec<Episode> {
    let example = rest.take_id("example_id").or_else(|| rest.take_id("id"));
    let label: Text = example.clone().unwrap_or_else(|| number.to_string().into());
    let error = rest.take("error");
    let stopped_by = rest.take_text("stop_condition");
    let truncated = rest.take_flag("is_truncated") == Some(true);
    let completed = rest.take_flag("is_completed");
    let mut episode = Episode {
        id: format!("{}-{number}", sink.stem()).into(),
        name: format!("Example {label}").into(),
        // The latter is what prime-rl calls it.
        environment: rest
            .take_text("env_id")
            .or_else(|| rest.take_text("env_name")),
        model: rest.take_text("model"),
        rewards: rest
            .take_reward("reward")
            .map_or(Rewards::Unknown, Rewards::Whole),
        total_usage: rest
            .take("token_usage")
            .and_then(|usage| chat::usage(&usage)),
        started: rest
            .get("timing")
            .and_then(|timing| moment(timing.get("start_time")?)),
        seconds: seconds(&mut rest),
        tools: rest
            .take_list("tool_defs")
            .unwrap_or_default()
            .iter()
            .filter_map(chat::tool)
            .collect(),
        ..Episode::default()
    };
    if let Some(id) = example {
        let dataset = rest
            .take_text("task")
            .or_else(|| episode.environment.clone())
            .unwrap_or_else(|| "verifiers".into());
        episode.task = Some(TaskReference { dataset, id });
    }
    episode.ending = match (&error, truncated, completed, &stopped_by) {
        (Some(error), ..) => Ending::Crashed {
            message: error_text(error),
        },
        (None, false, _, Some(stop)) if stop.starts_with("max_") => Ending::Truncated {
            reason: format!("It was cut off by {stop}.").into(),
        },
        (None, true, ..) => {
            // A truncated reply does not stop a rollout by itself.
            let by_limit = |stop: &&str| {
                ["max_", "limit", "long", "timeout"]
                    .iter()
                    .any(|word| stop.contains(word))
            };
            let reason = stopped_by.as_deref().filter(by_limit).unwrap_or("a limit");
            Ending::Truncated {
                reason: format!("It was cut off by {reason}.").into(),
            }
        }
        (None, false, Some(false), None) => Ending::Open,
        _ => Ending::Done,
    };
    episode.errors.extend(error.as_ref().map(error_text));
    episode.outcome = stopped_by;
    // Before the metrics: an answer may be a number too.
    for key in ["answer", "info", "timing"] {
        if let Some(value) = rest.take(key) {
            episode.metadata.insert(key, value);
        }
    }
    let metrics = metrics(&mut rest);
    episode.scores = metrics
        .iter()
        .map(|(name, value)| Score {
            name: name.as_ref().into(),
            value: value.clone(),
            ..Score::default()
        })
        .collect();

    let calls = rest.take_list("trajectory").unwrap_or_default();
    let completion = messages(rest.take("completion").unwrap_or_default(), "assistant");
    let prompt = messages(rest.take("prompt").unwrap_or_default(), "user");
    add_messages(prompt, completion, &mut episode);
    add_run_position(&mut rest, sink, &mut episode);
    if let Some(group) = group(&episode) {
        episode.metadata.insert("group", group);
    }
    if let Some(advantage) = rest.take_number("advantage") {
        episode.metadata.insert("advantage", advantage);
    }
    let mut episodes = Vec::new();
    let own = rest.get("trajectory_id").and_then(Json::as_text).cloned();
    let branches = branches(calls, own.as_deref(), episode, sink);
    let mut branches = branches.into_iter().peekable();
    while let Some((mut episode, calls)) = branches.next() {
        let mut rest = match branches.peek() {
            Some(_) => rest.clone(),
            None => std::mem::take(&mut rest),
        };
        let (calls, known): (Vec<Json>, Vec<Option<CallTokens>>) = calls.into_iter().unzip();
        call_credit::assign(&calls, &mut episode, &mut rest, sink);
        tokens(calls, known, &mut episode, &mut rest, sink);
        keep_rest(&mut episode, rest, sink);
        episodes.push(episode);
    }
    episodes
}

/// Adds messages to an episode. The prompt is input, even messages of an assistant in it.
fn add_messages(prompt: Vec<Json>, completion: Vec<Json>, episode: &mut Episode) {
    let mut transcript = Transcript::default();
    chat::read_all(completion).for_each(|said| transcript.push(said));
    transcript.finish(episode);
    let prompt = chat::read_all(prompt).map(|said| said.message);
    episode.start = prompt.chain(std::mem::take(&mut episode.start)).collect();
}

/// Numbers that say where in a run a rollout belongs, and are no metrics.
const POSITION_KEYS: [&str; 5] = ["step", "group", "sample", "epoch", "index"];

/// The group of a rollout: those of the same example. Examples are numbered by environment, of which a run may have
/// several.
fn group(episode: &Episode) -> Option<Text> {
    let example = &episode.task.as_ref()?.id;
    Some(match &episode.environment {
        Some(environment) => format!("{environment} {example}").into(),
        None => example.clone(),
    })
}

/// Notes where in a run the rollout belongs. prime-rl, which wrote such rollouts until July 2026, says it by the path.
fn add_run_position(rest: &mut Object, sink: &Sink<'_>, episode: &mut Episode) {
    for key in POSITION_KEYS {
        if let Some(value) = rest.take_if(key, |value| number(value).is_some()) {
            episode.metadata.insert(key, value);
        }
    }
    if let Some(step) = path::step(sink.file())
        && episode.metadata.get("step").is_none()
    {
        episode.metadata.insert("step", step);
    }
    if path::is_evaluation(sink.file()) {
        episode.metadata.insert("split", "eval");
    }
    if episode.environment.is_none() {
        episode.environment = path::environment(sink.file()).map(Text::from);
    }
}

/// Adds the tokens of the calls; calls without tokens stay as they are.
fn tokens(
    calls: Vec<Json>,
    known: Vec<Option<CallTokens>>,
    episode: &mut Episode,
    rest: &mut Object,
    sink: &mut Sink<'_>,
) {
    let known: Vec<CallTokens> = known.into_iter().flatten().collect();
    let unknown = calls.len() - known.len();
    match token_lists::joined(known) {
        Some((builder, apart)) => {
            if unknown > 0 {
                sink.lost("A call has no ids of tokens, unlike others of its rollout.");
            }
            token_lists::report_apart(&apart, sink);
            token_lists::attach(builder.divided(episode), episode, sink);
        }
        None if calls.is_empty() => {}
        None => drop(rest.insert("trajectory", calls)),
    }
}

/// The metrics. Each of them is repeated as a separate member; older files have only that.
fn metrics(rest: &mut Object) -> Object {
    const OTHERS: [&str; 5] = ["generation_ms", "scoring_ms", "total_ms", "advantage", "id"];
    let named = rest.take_object("metrics");
    let mut found = Vec::new();
    rest.retain(|key, value| {
        let is_metric = match &named {
            Some(named) => named.get(key) == Some(value),
            None => {
                let key = key.as_ref();
                value.as_f64().is_some() && !OTHERS.contains(&key) && !POSITION_KEYS.contains(&key)
            }
        };
        if is_metric {
            found.push((key.clone(), value.clone()));
        }
        !is_metric
    });
    named.unwrap_or_else(|| Object::from_distinct(found))
}

/// The duration: newer files contain seconds by phase, older ones milliseconds.
fn seconds(rest: &mut Object) -> Option<f64> {
    let spent = |timing: &Json| number(timing.get("total_ms")?).map(|spent| spent / 1000.0);
    let Some(timing) = rest.get("timing") else {
        // The oldest files have it at the top level.
        return rest.take_number("total_ms").map(|spent| spent / 1000.0);
    };
    spent(timing).or_else(|| number(timing.get("total")?))
}

pub(super) fn error_text(error: &Json) -> Text {
    let kind = text_at(error, &["type"]).or_else(|| text_at(error, &["error"]));
    let message = text_at(error, &["message"]).or_else(|| text_at(error, &["error_chain_str"]));
    match (kind, message) {
        (Some(kind), Some(message)) => format!("{kind}: {message}").into(),
        _ => error.to_display().into(),
    }
}

/// The messages of a value; a text becomes a message with this role. Calls stored as JSON texts are parsed.
fn messages(value: Json, role: &'static str) -> Vec<Json> {
    let mut messages = match unpacked(value) {
        Json::List(messages) => messages,
        Json::Null => Vec::new(),
        Json::Text(text) => {
            vec![volary_core::json!({ "role": role, "content": text })]
        }
        other => vec![other],
    };
    for message in &mut messages {
        if let Json::Object(object) = message
            && let Some(Json::List(calls)) = object.get_mut("tool_calls")
        {
            calls.iter_mut().for_each(read_call_text);
        }
    }
    messages
}

fn read_call_text(call: &mut Json) {
    if let Json::Text(text) = call
        && let Ok(value @ Json::Object(_)) = Json::parse(text)
    {
        *call = value;
    }
}
