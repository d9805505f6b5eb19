//! OpenTelemetry traces whose spans describe models and tools: by the conventions for generative AI, by
//! Traceloop's earlier ones, or by those of OpenInference. One export of the protocol or an SDK, or JSON Lines
//! of exports.
//!
//! `spans`: the common type. `kinds`: the kind of a span. `messages`: its messages; `flat`: messages with an attribute
//! for each member; `noted`: messages as events. `facts`: other attributes. `conversation`: the spans of an agent to an
//! episode. `tool_calls`: matches tool runs to calls.
//!
//! An agent (`invoke_agent`) is an episode with the model's turns below it; turns without an agent form the
//! episode of their trace.

mod conversation;
mod facts;
mod flat;
mod kinds;
mod messages;
mod noted;
mod spans;
mod tool_calls;

use std::collections::{BTreeMap, HashMap, HashSet};
use std::rc::Rc;

use volary_core::json::Text;
use volary_episode::episode::{Link, Relation, Rewards};

use super::members::number;
use super::reader::{Confidence, Document, Grouping, Line, Reader, Sink};
use kinds::{Kind, are_agents, kind};
pub(super) use spans::Span;
use spans::{holds_spans, spans};

/// The maximum nesting depth of agents; deeper nesting is a cycle.
const DEEPEST: usize = 100;

pub(super) struct OpenTelemetry;

impl Reader for OpenTelemetry {
    fn id(&self) -> &'static str {
        "open-telemetry"
    }

    fn name(&self) -> &'static str {
        "OpenTelemetry traces of models and tools (JSON, or one per line)"
    }

    fn recognise(&self, document: &Document) -> Confidence {
        if document.samples().any(holds_spans) {
            Confidence::Likely
        } else {
            Confidence::No
        }
    }

    fn grouping(&self, _document: &Document) -> Grouping {
        Grouping::Whole
    }

    fn read(&self, document: Document, sink: &mut Sink<'_>) {
        let mut all = Vec::new();
        for Line { number, value } in document.into_records() {
            if holds_spans(&value) {
                all.extend(spans(&value))
            } else {
                sink.lost(format!("Line {number} contains no spans."))
            }
        }
        let count = all.len();
        read_spans(all, sink);
        match sink.episodes() {
            0 => sink.lost(format!(
                "None of the {count} spans describes a model or tool call (attributes gen_ai, \
                 openinference or traceloop)."
            )),
            episodes => sink.understood(format!(
                "OpenTelemetry: {episodes} agents or traces with {count} spans."
            )),
        }
    }
}

/// Reads the episodes of spans from any recorder.
pub(super) fn read_spans(mut all: Vec<Span>, sink: &mut Sink<'_>) {
    // Exports have any order.
    all.sort_by(|one, other| {
        let start = |span: &Span| span.start.unwrap_or(f64::MAX);
        start(one).total_cmp(&start(other))
    });
    let mut rewards = rewards(&all);
    for agent in agents(all) {
        let trace = agent.root.trace.clone();
        let mut episode = conversation::episode(&agent.root, agent.id, agent.spans);
        for span in &agent.judged {
            conversation::scores(span, &mut episode);
        }
        // It is that of the first agent, which started the others.
        if let Some(reward) = rewards.remove(&trace) {
            episode.rewards = Rewards::Whole(reward);
        }
        if let Some(parent) = agent.parent {
            episode.links.push(Link {
                relation: Relation::Parent,
                episode: parent,
                step: None,
            });
        }
        sink.episode(episode);
    }
}

/// The rewards of traces that agent-lightning recorded: spans of their own, of which the last one counts.
fn rewards(all: &[Span]) -> HashMap<Text, f64> {
    let reward = |span: &Span| {
        let named = span.member("agentlightning.reward.0.value");
        let is_old = &*span.name == "agentlightning.reward";
        let old = || span.member("reward").filter(|_| is_old);
        let reward = named.or_else(old).and_then(number)?;
        Some((span.trace.clone(), reward))
    };
    all.iter().filter_map(reward).collect()
}

/// An agent, which becomes an episode.
struct Agent {
    /// Its own span, or the first span of its trace.
    root: Rc<Span>,
    /// The id of the episode.
    id: Text,
    /// The spans of its turns and tool runs.
    spans: Vec<Rc<Span>>,
    /// The id of the parent agent.
    parent: Option<Text>,
    /// Spans of the trace with scores that belong to no agent; those of the first agent.
    judged: Vec<Rc<Span>>,
}

fn agents(all: Vec<Span>) -> Vec<Agent> {
    // A span may be the root of one agent and a turn of another one.
    let all: Vec<Rc<Span>> = all.into_iter().map(Rc::new).collect();
    let indices: HashMap<(Text, Text), usize> = all
        .iter()
        .enumerate()
        .map(|(index, span)| ((span.trace.clone(), span.id.clone()), index))
        .collect();
    let above = |span: &Rc<Span>| {
        let key = (span.trace.clone(), span.parent.clone()?);
        indices.get(&key).copied()
    };
    let above: Vec<Option<usize>> = all.iter().map(above).collect();
    let kinds: Vec<Kind> = all.iter().map(|span| kind(span)).collect();
    let agents = are_agents(&all);
    let is_agent = |index: usize| agents[index];
    let agent_above = |index: usize| {
        let mut at = above[index];
        for _ in 0..DEEPEST {
            match at {
                Some(index) if is_agent(index) => return Some(index),
                Some(index) => at = above[index],
                None => return None,
            }
        }
        None
    };
    // Keyed by the agent, or, without one, by the first span of the trace: preferably a root span.
    let mut first: HashMap<Text, usize> = HashMap::new();
    for (index, span) in all.iter().enumerate() {
        let known = first.entry(span.trace.clone()).or_insert(index);
        if above[index].is_none() && above[*known].is_some() {
            *known = index;
        }
    }
    let wrappers = wrappers(&all, &kinds, &above);
    let mut groups: BTreeMap<usize, Vec<usize>> = BTreeMap::new();
    for (index, span) in all.iter().enumerate() {
        if wrappers.contains(&index) {
            continue;
        }
        if matches!(kinds[index], Kind::Turn | Kind::Tool) {
            let agent = agent_above(index).or_else(|| first.get(&span.trace).copied());
            groups
                .entry(agent.unwrap_or(index))
                .or_default()
                .push(index);
        } else if is_agent(index) && messages::gives(span) {
            // A span with messages, unless a descendant has them.
            groups.entry(index).or_default();
        }
    }
    let id = |index: usize| {
        if is_agent(index) {
            format!("{}/{}", all[index].trace, all[index].id).into()
        } else {
            all[index].trace.clone()
        }
    };
    let mut judged = judged(&all, &groups);
    let agents = groups.iter().map(|(agent, spans)| {
        let root = all[*agent].clone();
        let parent = if is_agent(*agent) {
            agent_above(*agent)
                .filter(|index| groups.contains_key(index))
                .map(id)
        } else {
            None
        };
        let spans = match spans.as_slice() {
            [] => vec![root.clone()],
            spans => spans.iter().map(|index| all[*index].clone()).collect(),
        };
        Agent {
            id: id(*agent),
            judged: judged.remove(&root.trace).unwrap_or_default(),
            root,
            spans,
            parent,
        }
    });
    agents.collect()
}

/// The model calls that only wrap others: a library records its own call and that of the provider's client.
fn wrappers(all: &[Rc<Span>], kinds: &[Kind], above: &[Option<usize>]) -> HashSet<usize> {
    let mut wrappers = HashSet::new();
    for (index, span) in all.iter().enumerate() {
        if kinds[index] != Kind::Turn || above[index].is_none() || !messages::gives(span) {
            continue;
        }
        let mut at = above[index];
        let mut around = Vec::new();
        let mut is_done = false;
        for _ in 0..DEEPEST {
            // What a tool or another agent asks is a call of its own.
            let is_inside = |index: &usize| !matches!(kinds[*index], Kind::Tool | Kind::Agent);
            let Some(index) = at.filter(is_inside) else {
                is_done = true;
                break;
            };
            if kinds[index] == Kind::Turn {
                around.push(index);
            }
            at = above[index];
        }
        // A walk without an end is a cycle.
        if is_done {
            wrappers.extend(around);
        }
    }
    wrappers
}

/// The spans with scores that are in no group, by trace.
fn judged(all: &[Rc<Span>], groups: &BTreeMap<usize, Vec<usize>>) -> HashMap<Text, Vec<Rc<Span>>> {
    let in_group: HashSet<usize> = groups
        .iter()
        .flat_map(|(root, spans)| std::iter::once(*root).chain(spans.iter().copied()))
        .collect();
    let mut judged: HashMap<Text, Vec<Rc<Span>>> = HashMap::new();
    for (index, span) in all.iter().enumerate() {
        if !in_group.contains(&index) && !span.events.is_empty() {
            judged
                .entry(span.trace.clone())
                .or_default()
                .push(span.clone());
        }
    }
    judged
}

#[cfg(test)]
mod tests {
    use crate::import::{InputFile, import};

    #[test]
    fn spans_of_agent_lightning_have_the_reward_of_their_trace() {
        let span = |id: u32, name: &str, attributes: &str| {
            format!(
                r#"{{"trace_id": "t", "span_id": "{id}", "parent_id": null, "name": "{name}", "attributes": {{{attributes}}}, "start_time": {id}.0, "end_time": {id}.5}}"#
            )
        };
        let call = r#""gen_ai.request.model": "m", "gen_ai.prompt.0.role": "user", "gen_ai.prompt.0.content": "q", "gen_ai.completion.0.role": "assistant", "gen_ai.completion.0.content": "a""#;
        for (name, first, last) in [
            (
                "agentlightning.annotation",
                r#""agentlightning.reward.0.name": "primary", "agentlightning.reward.0.value": 0.25"#,
                r#""agentlightning.reward.0.name": "primary", "agentlightning.reward.0.value": 0.75"#,
            ),
            (
                "agentlightning.reward",
                r#""reward": 0.25"#,
                r#""reward": 0.75"#,
            ),
        ] {
            let spans = [
                span(1, "openai.chat.completion", call),
                span(2, name, first),
                span(3, name, last),
            ];
            let file = InputFile {
                name: Some("spans.jsonl".to_owned()),
                bytes: spans.join("\n").into_bytes(),
            };
            let outcome = import(&[file]).unwrap();
            let rewards = outcome.episodes.iter().map(volary_episode::Episode::reward);
            assert_eq!(rewards.collect::<Vec<_>>(), [Some(0.75)], "{name}");
        }
    }
}
