//! OpenHands: a list of events, `{history: [event]}` (one object or JSON Lines, as its evaluations write), one file per
//! event, or the events of the newer agent SDK, which have a `kind`.
//!
//! - `events`: events with `action` or `observation`. `delegates`: the steps of other agents among them. `sdk`: events
//!   with `kind`. `resolver`: results of the resolver of issues. `verdict`: scores.
//!
//! An action with an effect is a step, of the agent or the user; bookkeeping is preserved unread. SDK events of one
//! model reply, before any observation, are one action.

mod delegates;
mod events;
mod resolver;
mod sdk;
mod verdict;

use std::collections::{BTreeMap, HashMap};

use volary_analysis::lanes::SPANS;
use volary_core::json::{Json, Object, Text};
use volary_episode::episode::{Ending, Episode, Rewards, TaskReference, Usage};

use super::ImportOutcome;
use super::chat;
use super::describe::counted;
use super::files::Files;
use super::members::{Members, keep_rest, text_at};
use super::reader::{Confidence, Document, Grouping, Line, Reader, Sink};
use super::transcript::Transcript;
use crate::renderer_files::names::split_folder;
use delegates::Delegates;

pub(super) struct OpenHands;

impl Reader for OpenHands {
    fn id(&self) -> &'static str {
        "openhands"
    }

    fn name(&self) -> &'static str {
        "OpenHands events (list, history, or a folder of events)"
    }

    /// Reads a folder with one file per event, and optionally a state next to it.
    fn gather(&self, files: &mut Files<'_>, outcome: &mut ImportOutcome) {
        let mut folders: BTreeMap<String, Vec<usize>> = BTreeMap::new();
        for index in files.open() {
            if ["source", "timestamp"]
                .iter()
                .all(|key| files.starts_with_quoted(index, key))
            {
                let (folder, _) = split_folder(files.name(index));
                folders.entry(folder.to_owned()).or_default().push(index);
            }
        }
        for (folder, mut events) in folders {
            // A single file is read as a document, and may be large.
            if events.len() < 2 {
                continue;
            }
            events.retain(|index| files.peek_json(*index).is_ok_and(|value| is_event(&value)));
            if events.is_empty() {
                continue;
            }
            // File names are numbered.
            events.sort_by(|one, other| {
                volary_analysis::table::order::natural(files.name(*one), files.name(*other))
            });
            let values = events
                .iter()
                .filter_map(|index| files.take_json(*index).ok())
                .collect();
            let folder = folder.trim_end_matches(['/', '\\']);
            let (around, _) = split_folder(folder);
            let state = files.find(&format!("{around}base_state.json"));
            let state = state.and_then(|index| match files.take_json(index) {
                Ok(Json::Object(state)) => Some(state),
                _ => None,
            });
            let name = if folder.is_empty() {
                files.container()
            } else {
                folder
            };
            let name = name.to_owned();
            let mut sink = Sink::new(outcome, self.id(), &name);
            let episode = conversation(state.unwrap_or_default(), values, None, &mut sink);
            sink.episode(episode);
            sink.understood(format!("OpenHands: {} events, one per file.", events.len()));
        }
    }

    fn recognise(&self, document: &Document) -> Confidence {
        let has_history = |value: &Json| {
            let history = history_of(value).and_then(|key| value.get(key)?.as_list());
            history
                .is_some_and(|history| flat(history.iter().take(8).cloned()).iter().any(is_event))
        };
        if holds_events(document)
            || document.samples().any(has_history)
            || document.samples().any(resolver::is_result)
        {
            Confidence::Likely
        } else {
            Confidence::No
        }
    }

    fn grouping(&self, document: &Document) -> Grouping {
        if holds_events(document) {
            Grouping::Whole
        } else {
            Grouping::EachLine
        }
    }

    fn read(&self, document: Document, sink: &mut Sink<'_>) {
        let before = sink.episodes();
        if holds_events(&document) {
            let records = document.into_records().into_iter();
            let events = flat(records.map(|line| line.value));
            let episode = conversation(Object::new(), events, None, sink);
            sink.episode(episode);
        } else {
            let is_single = document.is_single();
            let records = document.into_records();
            for Line { number, value } in records {
                let key = history_of(&value);
                match (value, key) {
                    (Json::Object(object), Some(_)) if resolver::is_output(&object) => {
                        let (around, events) = resolver::opened(object);
                        let number = (!is_single).then_some(number);
                        let episode = conversation(around, events, number, sink);
                        sink.episode(episode);
                    }
                    (Json::Object(mut object), Some(key)) => {
                        let events = flat(object.take_list(key).unwrap_or_default());
                        let number = (!is_single).then_some(number);
                        let episode = conversation(object, events, number, sink);
                        sink.episode(episode);
                    }
                    _ => sink.lost(format!("Line {number} has no history.")),
                }
            }
        }
        let count = sink.episodes() - before;
        sink.understood(format!("OpenHands: {}.", counted(count, "conversation")));
    }
}

fn is_event(value: &Json) -> bool {
    let text = |key| {
        value
            .get(key)
            .is_some_and(|value| value.as_text().is_some())
    };
    let says = text("action") || text("observation");
    let when = value.get("timestamp").is_some() || value.get("id").is_some();
    let object = |key| value.get(key).is_some_and(|it| it.as_object().is_some());
    let is_bare = text("action") && object("args") || text("observation") && object("extras");
    let named = value.get("kind").and_then(Json::as_text);
    text("source") && (says && when || named.is_some_and(|kind| sdk::is_kind(kind)))
        || is_bare
        || named.is_some_and(|kind| sdk::says(kind, value))
}

/// Whether a document is a bare list of events.
fn holds_events(document: &Document) -> bool {
    let holds = |value: &Json| match value {
        Json::List(pair) => pair.iter().take(8).any(is_event),
        value => is_event(value),
    };
    document.samples().any(holds)
}

/// The member that contains the events: `history` in evaluations, `trajectory` in downloads, `items` in pages
/// of a server's response.
fn history_of(value: &Json) -> Option<&'static str> {
    let keys = ["history", "trajectory", "events", "items"];
    keys.into_iter().find(|key| value.get(key).is_some())
}

/// Flattens older histories, which contain pairs of action and observation.
fn flat(events: impl IntoIterator<Item = Json>) -> Vec<Json> {
    let mut all = Vec::new();
    for event in events {
        match event {
            Json::List(several) => all.extend(several),
            event => all.push(event),
        }
    }
    all
}

/// The state while events are read.
#[derive(Default)]
struct Conversation {
    transcript: Transcript,
    episode: Episode,
    /// Events that are not part of the conversation.
    aside: Vec<Json>,
    /// The usage up to the last event that records it.
    spent: Usage,
    /// The ending according to the last event with the agent's state.
    stands: Option<Ending>,
    /// The call ids by event id.
    calls: HashMap<Text, Text>,
    /// The last reply whose tokens were counted: several actions may belong to one reply.
    counted: Option<Text>,
    delegates: Delegates,
}

fn conversation(
    mut rest: Object,
    events: Vec<Json>,
    number: Option<usize>,
    sink: &mut Sink<'_>,
) -> Episode {
    let mut state = Conversation::default();
    about(&mut rest, &mut state.episode, number, sink);
    let first = events
        .first()
        .and_then(|event| text_at(event, &["timestamp"]));
    let last = events
        .last()
        .and_then(|event| text_at(event, &["timestamp"]));
    let mut odd = 0;
    for event in events {
        match event {
            Json::Object(event) if event.contains_key("kind") => sdk::read(event, &mut state),
            Json::Object(event) => events::read(event, &mut state),
            other => {
                odd += 1;
                state.aside.push(other);
            }
        }
    }
    if odd > 0 {
        sink.lost(format!("{odd} events are not objects."));
    }
    let Conversation {
        transcript,
        mut episode,
        aside,
        spent,
        stands,
        delegates,
        ..
    } = state;
    let status = rest.get("execution_status").and_then(Json::as_text);
    let stands = status
        .and_then(|status| verdict::ending(status, None))
        .or(stands);
    if let (Ending::Open, Some(ending)) = (&episode.ending, stands) {
        episode.ending = ending;
    }
    let spans = delegates.into_spans(transcript.len());
    transcript.finish(&mut episode);
    let time = |text: Option<Text>| volary_episode::time::parse(&text?);
    episode.started = time(first).or(episode.started);
    episode.seconds = episode
        .started
        .and_then(|start| Some(time(last)? - start))
        .filter(|seconds| *seconds >= 0.0)
        .or(episode.seconds);
    if episode.total_usage.is_none() && !spent.is_empty() {
        episode.total_usage = Some(spent);
    }
    if !aside.is_empty() {
        rest.insert("other_events", aside);
    }
    keep_rest(&mut episode, rest, sink);
    if !spans.is_empty() {
        episode.raw.insert(SPANS, spans);
    }
    episode
}

/// Reads the members around the events.
fn about(rest: &mut Object, episode: &mut Episode, number: Option<usize>, sink: &Sink<'_>) {
    let instance = rest.take_id("instance_id");
    let instance = instance
        .or_else(|| rest.take_id("task_id"))
        .or_else(|| resolver::issue(rest));
    let id = instance.clone().or_else(|| rest.take_id("id"));
    episode.id = id.unwrap_or_else(|| match number {
        Some(number) => format!("{}-{number}", sink.stem()).into(),
        None => sink.stem(),
    });
    episode.task = instance.map(|id| TaskReference {
        dataset: "openhands".into(),
        id,
    });
    episode.rewards = Rewards::Unknown;
    episode.policy = Some("OpenHands".into());
    let whole = Json::Object(std::mem::take(rest));
    episode.model = text_at(&whole, &["metadata", "llm_config", "model"])
        .or_else(|| text_at(&whole, &["metadata", "model_name"]))
        .or_else(|| text_at(&whole, &["agent", "llm", "model"]));
    episode.policy = text_at(&whole, &["metadata", "agent_class"]).or(episode.policy.take());
    episode.scores = verdict::scores(&whole);
    let spent = whole.get("metrics").and_then(accumulated);
    episode.total_usage = spent.or_else(|| all_spent(&whole));
    let Json::Object(mut members) = whole else {
        return;
    };
    if let Some(error) = members.take_text("error").filter(|error| !error.is_empty()) {
        episode.ending = Ending::Crashed {
            message: error.clone(),
        };
        episode.errors.push(error);
    }
    for key in [
        "instruction",
        "metadata",
        "test_result",
        "report",
        "resolved",
        "git_patch",
        "issue",
    ] {
        if let Some(value) = members.take(key) {
            episode.metadata.insert(key, value);
        }
    }
    *rest = members;
}

/// The cumulative usage of one purpose.
fn accumulated(metrics: &Json) -> Option<Usage> {
    let usage = metrics
        .get("accumulated_token_usage")
        .and_then(tokens)
        .unwrap_or_default();
    let cost = metrics.get("accumulated_cost").and_then(Json::as_f64);
    let usage = Usage { cost, ..usage };
    (!usage.is_empty()).then_some(usage)
}

/// The cumulative usage of all purposes (acting, condensing) in the state of a conversation.
fn all_spent(state: &Json) -> Option<Usage> {
    let stats = state.get("stats").unwrap_or(state);
    let purposes = stats.get("usage_to_metrics")?.as_object()?;
    purposes
        .values()
        .filter_map(accumulated)
        .reduce(Usage::plus)
}

/// Token counts in OpenHands's form.
fn tokens(value: &Json) -> Option<Usage> {
    let count = |key: &str| {
        value
            .get(key)
            .and_then(Json::as_f64)
            .filter(|count| *count >= 0.0)
            .map(|count| count as u64)
    };
    let usage = Usage {
        input: count("prompt_tokens"),
        output: count("completion_tokens"),
        cached: count("cache_read_tokens"),
        ..chat::usage(value).unwrap_or_default()
    };
    (!usage.is_empty()).then_some(usage)
}
