//! `traces.jsonl` of verifiers: a line is `{id, env, task, traces: [trace]}`, or a trace. A trace is a tree of
//! messages, `nodes: [{parent, message, sampled}]`; every path to a leaf is a branch, which becomes an episode.
//!
//! Invariants: every message is in an episode, even if parents are missing or form a cycle, within the limits below;
//! truncation is reported.

use std::collections::HashMap;

use volary_analysis::spans::TIME_SPANS;
use volary_core::json::{Json, Object, Text};
use volary_core::object;
use volary_episode::episode::{
    Episode, Link, Relation, Score, StepDetails, StepError, TaskReference,
};

use super::error_text;
use super::node_tokens::NodeTokens;
use super::verdict;
use crate::import::branch::branch_id;
use crate::import::chat;
use crate::import::expansion::size_of_object;
use crate::import::members::{Members, id, keep_rest, moment, text_at};
use crate::import::prime_rl::path;
use crate::import::reader::{Confidence, Document, Line, Reader, Sink};
use crate::import::transcript::Transcript;

/// The maximum number of branches of a trace.
const MOST_BRANCHES: usize = 1_000;
/// The maximum number of messages in all branches of a trace.
const MOST_MESSAGES: usize = 200_000;
/// Other members of a trace are copied into every branch up to this many bytes.
const LARGE: usize = 1 << 20;

pub(in crate::import) struct Traces;

impl Reader for Traces {
    fn id(&self) -> &'static str {
        "verifiers-traces"
    }

    fn name(&self) -> &'static str {
        "verifiers traces.jsonl"
    }

    fn recognise(&self, document: &Document) -> Confidence {
        let is_known = |value: &Json| {
            is_trace(value)
                || traces_of(value).is_some_and(|traces| traces.iter().any(is_trace))
                || verdict::is_without_traces(value)
        };
        if document.samples().any(is_known) {
            Confidence::Certain
        } else {
            Confidence::No
        }
    }

    fn read(&self, document: Document, sink: &mut Sink<'_>) {
        let (mut traces, mut without, before) = (0, 0, sink.episodes());
        for Line { number, value } in document.into_records() {
            let Json::Object(mut around) = value else {
                sink.lost(format!("Line {number} is not an object."));
                continue;
            };
            if around.contains_key("nodes") {
                traces += 1;
                let mut trace = around;
                let position = take_position(&mut trace);
                read_trace(trace, &position, number, sink);
                continue;
            }
            let Some(inside) = around.take_list("traces") else {
                sink.lost(format!("Line {number} has no traces."));
                continue;
            };
            if inside.is_empty() {
                without += 1;
                let episode = verdict::without_traces(around, number, sink);
                sink.episode(episode);
                continue;
            }
            for trace in inside {
                match trace {
                    Json::Object(trace) => {
                        traces += 1;
                        read_trace(trace, &around, number, sink);
                    }
                    _ => sink.lost(format!("A trace in line {number} is not an object.")),
                }
            }
        }
        let branches = sink.episodes() - before - without;
        let besides = match without {
            0 => String::new(),
            count => format!(" Failed before the trace began: {count}."),
        };
        sink.understood(format!(
            "verifiers traces: {traces} with {branches} branches, one episode each.{besides}"
        ));
    }
}

/// Takes what the trainer adds to a trace that has no line around it.
fn take_position(trace: &mut Object) -> Object {
    const KEYS: [&str; 7] = [
        "run",
        "group",
        "kind",
        "env_name",
        "group_id",
        "policy_version",
        "eval_step",
    ];
    let mut position = Object::new();
    for key in KEYS {
        if let Some(value) = trace.remove(key) {
            position.insert(key, value);
        }
    }
    position
}

fn traces_of(value: &Json) -> Option<&[Json]> {
    value.get("traces")?.as_list()
}

fn is_trace(value: &Json) -> bool {
    let nodes = value.get("nodes").and_then(Json::as_list);
    nodes.is_some_and(|nodes| {
        nodes
            .iter()
            .take(8)
            .all(|node| node.get("message").is_some())
    }) && (value.get("task").is_some()
        || value.get("rewards").is_some()
        || value.get("agent").is_some())
}

fn read_trace(mut rest: Object, around: &Object, number: usize, sink: &mut Sink<'_>) {
    let nodes = rest.take_list("nodes").unwrap_or_default();
    let calls = rest.take_list("calls").unwrap_or_default();
    let details = details_by_node(&calls, &nodes);
    let trace = rest.get("id").and_then(id);
    let is_cut_short = verdict::is_cut_short(&calls, &nodes);
    let mut whole = about(&mut rest, is_cut_short, around, number, sink);
    if let Some(trace) = trace {
        // Data of the trainer is joined with the branches of a trace, with tokens or without.
        whole.metadata.insert("trace", trace);
    }
    let times: Vec<(Option<usize>, Json)> = calls
        .iter()
        .filter_map(|call| Some((node_of(call), call_span(call)?)))
        .collect();
    // Calls without a message, most of which failed.
    let unanswered = calls.into_iter();
    let unanswered: Vec<Json> = unanswered.filter(|call| node_of(call).is_none()).collect();
    if !unanswered.is_empty() {
        rest.insert("calls", unanswered);
    }
    keep_rest(&mut whole, rest, sink);
    let is_trained = !is_untrained(&whole);
    if !is_trained {
        whole.metadata.insert("trainable", false);
        sink.understood(
            "The agent of a trace is not trained (`trainable: false`), as a judge: none of its tokens counts for the \
             loss.",
        );
    }
    let parents = parents(&nodes);
    let (paths, left_out) = branches(&parents);
    if left_out > 0 {
        sink.lost(format!(
            "{left_out} branches are omitted: a trace may have {MOST_BRANCHES} \
             branches with {MOST_MESSAGES} messages."
        ));
    }
    if paths.is_empty() {
        return sink.episode(whole);
    }
    // The first branch that contains each message.
    let mut holder: Vec<Option<usize>> = vec![None; nodes.len()];
    let ids: Vec<Text> = (0..paths.len())
        .map(|branch| branch_id(&whole.id, branch))
        .collect();
    let several = paths.len() > 1;
    let mut first = None;
    if several && size_of_object(&whole.metadata) + size_of_object(&whole.raw) > LARGE {
        let metadata = std::mem::take(&mut whole.metadata);
        if let Some(trace) = metadata.get("trace") {
            whole.metadata.insert("trace", trace.clone());
        }
        first = Some((metadata, std::mem::take(&mut whole.raw)));
        sink.kept("The metadata of a trace is large, so only its first branch keeps it.");
    }
    for (branch, path) in paths.iter().enumerate() {
        let mut episode = if branch + 1 == paths.len() {
            std::mem::take(&mut whole)
        } else {
            whole.clone()
        };
        if let Some((metadata, raw)) = first.take() {
            (episode.metadata, episode.raw) = (metadata, raw);
        }
        episode.id = ids[branch].clone();
        if several {
            episode.name = format!("{}, branch {}", episode.name, branch + 1).into();
        }
        let mut transcript = Transcript::default();
        let (mut shared_with, mut shared_steps) = (None, 0);
        let mut tokens = NodeTokens::default();
        for &node in path {
            match holder[node] {
                Some(other) => shared_with = Some(other),
                None => holder[node] = Some(branch),
            }
            push(&nodes[node], details.get(&node), &mut transcript);
            tokens.add(&nodes[node], transcript.position());
            if holder[node] != Some(branch) {
                shared_steps = transcript.len();
            }
        }
        if let Some(other) = shared_with {
            episode.links.push(Link {
                relation: Relation::Branch,
                episode: ids[other].clone(),
                step: Some(shared_steps),
            });
        }
        transcript.finish(&mut episode);
        let is_resumed = path.last().is_none_or(|leaf| is_resumed(*leaf, &nodes));
        if !is_resumed {
            episode.metadata.insert("trainable", false);
            sink.understood(
                "A compaction from which its agent did not resume is not trained: none of the tokens of its branch \
                 counts for the loss.",
            );
        }
        tokens.finish(&mut episode, is_trained && is_resumed, sink);
        let is_here = |node: Option<usize>| node.is_none_or(|node| path.contains(&node));
        let own = times.iter().filter(|(node, _)| is_here(*node));
        let own: Vec<Json> = own.map(|(_, span)| span.clone()).collect();
        if !own.is_empty() {
            episode.raw.insert(TIME_SPANS, own);
        }
        sink.episode(episode);
    }
}

/// Whether the trainer leaves out all tokens of the agent.
fn is_untrained(episode: &Episode) -> bool {
    let agent = episode.metadata.get("agent");
    agent.and_then(|agent| agent.get("trainable")?.as_bool()) == Some(false)
}

/// Whether a leaf is no attempt of a compaction, or one from which the agent resumed.
fn is_resumed(leaf: usize, nodes: &[Json]) -> bool {
    let links = |node: &Json, kind: &str, to: Option<usize>| {
        let links = node.get("semantic_parents").and_then(Json::as_list);
        links.unwrap_or_default().iter().any(|link| {
            text_at(link, &["type"]).as_deref() == Some(kind)
                && to.is_none_or(|to| node_of(link) == Some(to))
        })
    };
    let is_attempt = nodes
        .get(leaf)
        .is_some_and(|node| links(node, "compaction_attempt", None));
    let resumes = |node: &Json| links(node, "compaction", Some(leaf));
    !is_attempt || nodes.iter().any(resumes)
}

/// Adds a message to the transcript. A message that was not sampled in this run is an input, even if its role
/// is assistant.
fn push(node: &Json, details: Option<&StepDetails>, transcript: &mut Transcript) {
    let given = node.get("sampled").and_then(Json::as_bool) == Some(false);
    let started = node.get("timestamp").and_then(moment);
    for mut said in chat::read(node.get("message").unwrap_or(&Json::Null)) {
        if given {
            transcript.observe(said);
            continue;
        }
        let reasoning = said.details.reasoning.take();
        if let Some(details) = details {
            said.details = details.clone();
        }
        said.details.reasoning = reasoning;
        said.details.started = said.details.started.or(started);
        transcript.push(said);
    }
}

/// The metadata of model calls, keyed by the index of the resulting message. Nodes have their usage in versions before
/// calls were recorded.
fn details_by_node(calls: &[Json], nodes: &[Json]) -> HashMap<usize, StepDetails> {
    let of_node = |(index, node): (usize, &Json)| {
        let known = StepDetails {
            usage: Some(verdict::usage(node.get("usage")?)?),
            ..StepDetails::default()
        };
        Some((index, known))
    };
    let mut details: HashMap<_, _> = nodes.iter().enumerate().filter_map(of_node).collect();
    for call in calls {
        let Some(node) = node_of(call) else {
            continue;
        };
        let error = call.get("error").filter(|error| !error.is_null());
        let known = StepDetails {
            reasoning: None,
            model: text_at(call, &["model"]),
            usage: call.get("usage").and_then(verdict::usage),
            started: call.get("time").and_then(|time| moment(time.get("start")?)),
            errors: error
                .map(|error| StepError {
                    call: None,
                    message: error_text(error),
                })
                .into_iter()
                .collect(),
        };
        details.insert(node, known);
    }
    details
}

/// The time of a call, with its usage, for the spans of an episode.
fn call_span(call: &Json) -> Option<Json> {
    let time = call.get("time")?;
    let mut span = object!({ "name": "model", "start": (time.get("start")?.clone()) });
    if let Some(end) = time.get("end").filter(|end| !end.is_null()) {
        span.insert("end", end.clone());
    }
    for key in ["node", "finish_reason"] {
        if let Some(value) = call.get(key).filter(|value| !value.is_null()) {
            span.insert(key, value.clone());
        }
    }
    if let Some(Json::Object(usage)) = call.get("usage") {
        span.extend(usage.clone());
    }
    Some(span.into())
}

/// The index of a call's message.
fn node_of(call: &Json) -> Option<usize> {
    usize::try_from(call.get("node")?.as_i64()?).ok()
}

/// Builds an episode with the metadata of the whole trace.
fn about(
    rest: &mut Object,
    is_cut_short: bool,
    around: &Object,
    number: usize,
    sink: &Sink<'_>,
) -> Episode {
    let task = rest
        .take("task")
        .or_else(|| around.get("task").cloned())
        .unwrap_or_default();
    let agent = rest.take("agent").unwrap_or_default();
    let stop = rest.take_text("stop_condition");
    let errors = rest.take_list("errors").unwrap_or_default();
    let ok = rest.take_flag("ok");
    let mut episode = Episode {
        id: rest
            .take_id("id")
            .unwrap_or_else(|| format!("{}-{number}", sink.stem()).into()),
        policy: id(&agent).or_else(|| text_at(&agent, &["name"])),
        model: text_at(&agent, &["model"]).or_else(|| text_at(&agent, &["config", "model"])),
        task: task_reference(&task),
        tools: rest
            .take_list("tools")
            .unwrap_or_default()
            .iter()
            .filter_map(chat::tool)
            .collect(),
        errors: errors.iter().map(error_text).collect(),
        ending: verdict::ending(stop.as_deref(), ok, &errors, is_cut_short),
        outcome: stop,
        ..Episode::default()
    };
    episode.name = episode
        .task
        .as_ref()
        .map_or_else(|| episode.id.clone(), |task| task.id.clone());
    verdict::environment(around, &mut episode);
    verdict::around(around, &mut episode);
    verdict::reward(
        &mut episode,
        rest.take_object("rewards").unwrap_or_default(),
    );
    for (name, value) in rest.take_object("metrics").unwrap_or_default() {
        let name = Text::from(name.as_ref());
        episode.scores.push(Score {
            name,
            value,
            ..Score::default()
        });
    }
    if let Some(timing) = rest.take("timing") {
        episode.started = timing.get("start").and_then(moment);
        // The name in older files.
        let agent = timing.get("agent").or_else(|| timing.get("generation"));
        let span = |key| agent.and_then(|span| span.get(key)?.as_f64());
        episode.seconds = match (span("start"), span("end")) {
            (Some(start), Some(end)) if end >= start && end > 0.0 => Some(end - start),
            _ => None,
        };
        episode.metadata.insert("timing", timing);
    }
    for (key, value) in [("task", task), ("agent", agent)] {
        if matches!(value, Json::Object(_)) {
            episode.metadata.insert(key, value);
        }
    }
    if let Some(Json::Object(info)) = rest.take("info") {
        episode.metadata.insert("info", info);
    }
    add_run_position(around, sink, &mut episode);
    // The group of traces.
    if let Some(group) = around.get("id").and_then(id) {
        episode.metadata.insert("episode", group);
    }
    episode
}

/// Notes the training step, the group, the versions of the policy and whether it is an evaluation. Versions of prime-rl
/// before 20 August 2026 have these members elsewhere, or say them only by the path of the file.
pub(super) fn add_run_position(around: &Object, sink: &Sink<'_>, episode: &mut Episode) {
    let at = |path: &[&str]| {
        let first = around.get(path.first()?)?;
        path.iter()
            .skip(1)
            .try_fold(first, |value, key| value.get(key))
            .filter(|value| !value.is_null())
            .cloned()
    };
    let old = |key: &str| {
        let info = episode.metadata.get("info")?;
        info.get(key).filter(|value| !value.is_null()).cloned()
    };
    let work = |key| at(&["run", "work", key]).or_else(|| at(&["run", key]));
    let step = work("step").or_else(|| at(&["eval_step"]));
    let step = step.or_else(|| old("step"));
    let step = step.or_else(|| path::step(sink.file()).map(Json::from));
    let group = at(&["group", "id"]).or_else(|| at(&["group_id"]));
    let group = group.or_else(|| old("group_id"));
    let version = at(&["policy_version"]).or_else(|| old("policy_version"));
    let start = at(&["run", "work", "policy", "start"]).or(version);
    let end = at(&["run", "work", "policy", "end"]).filter(|end| Some(end) != start.as_ref());
    let versions: Vec<Json> = start.into_iter().chain(end).collect();
    let versions = (!versions.is_empty()).then_some(Json::List(versions));
    let kind = work("type").or_else(|| at(&["kind"]));
    let is_evaluation = match kind.as_ref().and_then(Json::as_text) {
        Some(kind) => &**kind == "eval",
        None => path::is_evaluation(sink.file()),
    };
    let split = is_evaluation.then(|| "eval".into());
    let name = at(&["env_name"]).or_else(|| old("env_name"));
    let name = name.as_ref().and_then(Json::as_text).cloned();
    let name = name.or_else(|| path::environment(sink.file()).map(Text::from));
    episode.environment = episode.environment.take().or(name);
    let members = [
        ("step", step),
        ("group", group),
        ("weight_versions", versions),
        ("split", split),
    ];
    for (key, value) in members {
        if let Some(value) = value {
            episode.metadata.insert(key, value);
        }
    }
}

/// The dataset and the id of a task. A key that nobody chose is a hash of the whole task, which names it only if nothing
/// else does.
pub(super) fn task_reference(task: &Json) -> Option<TaskReference> {
    const IDS: [&[&str]; 8] = [
        &["key"],
        &["id"],
        &["data", "id"],
        &["data", "task_id"],
        &["data", "example_id"],
        &["data", "idx"],
        &["data", "name"],
        &["hash"],
    ];
    let found = |path: &&[&str]| {
        path.iter()
            .try_fold(task, |value, key| value.get(key))
            .and_then(id)
    };
    let is_chosen = task.get("key") != task.get("hash");
    let own = IDS.iter().filter(|path| is_chosen || **path != ["key"]);
    let name = id(task).or_else(|| own.into_iter().find_map(found))?;
    Some(TaskReference {
        dataset: text_at(task, &["type"]).unwrap_or_else(|| "verifiers".into()),
        id: name,
    })
}

/// The index of each node's parent. Parents are referenced by index or by id.
fn parents(nodes: &[Json]) -> Vec<Option<usize>> {
    let by_id: HashMap<&str, usize> = nodes
        .iter()
        .enumerate()
        .filter_map(|(index, node)| Some((&**node.get("id")?.as_text()?, index)))
        .collect();
    let parent = |node: &Json| match node.get("parent")? {
        Json::Text(id) => by_id.get(&**id).copied(),
        other => usize::try_from(other.as_i64()?)
            .ok()
            .filter(|index| *index < nodes.len()),
    };
    nodes.iter().map(parent).collect()
}

/// The paths from a root to each leaf, in the order of the leaves, and the number of dropped ones. A cycle is read
/// starting at one of its nodes.
fn branches(parents: &[Option<usize>]) -> (Vec<Vec<usize>>, usize) {
    let mut has_child = vec![false; parents.len()];
    parents
        .iter()
        .flatten()
        .for_each(|parent| has_child[*parent] = true);
    let leaves = (0..parents.len()).filter(|node| !has_child[*node]);
    let mut reached = vec![false; parents.len()];
    let mut seen = vec![usize::MAX; parents.len()];
    let (mut paths, mut left_out, mut messages) = (Vec::new(), 0, 0);
    let mut follow = |leaf: usize, reached: &mut Vec<bool>| {
        if paths.len() >= MOST_BRANCHES || messages > MOST_MESSAGES {
            left_out += 1;
            return;
        }
        let mut path = Vec::new();
        let mut at = Some(leaf);
        while let Some(node) = at {
            // A cycle: the path starts before it would close.
            if seen[node] == leaf {
                break;
            }
            seen[node] = leaf;
            path.push(node);
            at = parents[node];
        }
        messages += path.len();
        path.iter().for_each(|node| reached[*node] = true);
        path.reverse();
        paths.push(path);
    };
    leaves.for_each(|leaf| follow(leaf, &mut reached));
    for node in (0..parents.len()).rev() {
        if !reached[node] {
            follow(node, &mut reached);
        }
    }
    (paths, left_out)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn hashes_name_tasks_only_if_nothing_else_does() {
        for (task, expected) in [
            (
                r#"{"key": "sum-1", "hash": "2853d4", "data": {"idx": 0}}"#,
                "sum-1",
            ),
            (
                r#"{"key": "2853d4", "hash": "2853d4", "data": {"idx": 0}}"#,
                "0",
            ),
            (
                r#"{"key": "2853d4", "hash": "2853d4", "data": {}}"#,
                "2853d4",
            ),
        ] {
            let task = Json::parse(task).unwrap();
            assert_eq!(&*task_reference(&task).unwrap().id, expected);
        }
    }
}
