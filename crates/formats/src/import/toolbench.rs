//! Answers of ToolBench (`{win, tree, forward_args, answer_generation}`): a search among sequences of calls, with the
//! final answer and the messages that lead to it.
//!
//! The episode is the sequence that `answer_generation` gives as training messages, each a prefix of the next; without
//! them it is the last path of the tree. The tree itself is preserved.

use serde::Deserialize;
use volary_core::json::{Json, Object, Text};
use volary_core::{Message, Role, ToolCall};
use volary_episode::episode::{Ending, Episode, Rewards, Score, TaskReference};

use super::chat;
use super::members::{Members, at, keep_rest, text_at};
use super::reader::{Confidence, Sink};
use super::records::Records;
use super::transcript::Transcript;
use super::typed;

pub(super) const TOOLBENCH: Records = Records {
    id: "toolbench",
    name: "answers of ToolBench (JSON)",
    title: "ToolBench answers",
    record: "an answer",
    confidence: Confidence::Certain,
    is: is_answer,
    read: answer,
};

/// The longest path of a tree that is read.
const LONGEST: usize = 10_000;

fn is_answer(value: &Json) -> bool {
    let answer = value.get("answer_generation");
    let has = |key: &str| answer.is_some_and(|answer| answer.get(key).is_some());
    let has_tree = || at(value, &["tree", "tree", "node_type"]).is_some();
    value.get("win").is_some() && (has("train_messages") || has("final_answer") || has_tree())
}

#[derive(Default, Deserialize)]
#[serde(default)]
struct Answer {
    win: Json,
    tree: Option<Json>,
    /// The other members.
    #[serde(skip)]
    rest: Object,
}

#[derive(Default, Deserialize)]
#[serde(default)]
struct Generation {
    query: Option<Text>,
    final_answer: Option<Json>,
    finish_type: Option<Text>,
    total_tokens: Option<Json>,
    function: Vec<Json>,
}

fn answer(mut record: Object, _number: usize, sink: &mut Sink<'_>) {
    // Moved, since they may be large.
    let mut generation = record.remove("answer_generation").unwrap_or_default();
    let conversations = match &mut generation {
        Json::Object(generation) => generation.take_list("train_messages"),
        _ => None,
    };
    let (answer, odd) = typed::record::<Answer>(record.into(), "An answer", sink);
    let (generation, others) =
        typed::record::<Generation>(generation, "The generation of an answer", sink);
    let mut episode = Episode {
        policy: Some("ToolBench".into()),
        tools: generation.function.iter().filter_map(chat::tool).collect(),
        task: generation.query.clone().map(|id| TaskReference {
            dataset: "toolbench".into(),
            id,
        }),
        rewards: Rewards::Unknown,
        scores: vec![Score {
            name: "win".into(),
            value: answer.win,
            ..Score::default()
        }],
        outcome: generation.finish_type,
        ending: Ending::Done,
        ..Episode::default()
    };
    let mut transcript = Transcript::default();
    match conversations.into_iter().flatten().next_back() {
        Some(Json::List(messages)) if !messages.is_empty() => {
            for said in chat::read_all(messages) {
                transcript.push(said);
            }
        }
        _ => {
            if let Some(query) = generation.query {
                transcript.observe(Message::new(Role::User, query).into());
            }
            if let Some(root) = answer.tree.as_ref().and_then(|tree| tree.get("tree")) {
                path(root, &mut transcript);
            }
        }
    }
    transcript.finish(&mut episode);
    for (key, value) in [
        ("final_answer", generation.final_answer),
        ("total_tokens", generation.total_tokens),
    ] {
        if let Some(value) = value.filter(|value| !value.is_null()) {
            episode.metadata.insert(key, value);
        }
    }
    let mut rest = answer.rest;
    rest.extend(odd);
    rest.extend_missing(others);
    if let Some(tree) = answer.tree {
        rest.insert("tree", tree);
    }
    rest.retain(|_, value| !matches!(value, Json::List(list) if list.is_empty()));
    keep_rest(&mut episode, rest, sink);
    sink.episode(episode);
}

/// Reads the path to the last leaf. A thought, an action and its input are nodes of their own.
fn path(root: &Json, transcript: &mut Transcript) {
    let mut node = root;
    let mut thought: Option<Text> = None;
    let mut action: Option<Text> = None;
    for _ in 0..LONGEST {
        let kind = text_at(node, &["node_type"]).unwrap_or_default();
        let text = text_at(node, &["description"]).unwrap_or_default();
        match &*kind {
            "Thought" => thought = Some(text),
            "Action" => action = Some(text),
            "Action Input" => {
                if let Some(name) = action.take() {
                    let call =
                        ToolCall::new(Text::default(), name.clone(), chat::arguments(text.into()));
                    let content = thought.take().map_or(Json::Null, Json::Text);
                    transcript.push(chat::acted(content, vec![call]));
                    if let Some(result) = node.get("observation").filter(|it| !it.is_null()) {
                        transcript.push(chat::answer(Text::default(), name, result.clone()));
                    }
                }
            }
            _ => {}
        }
        let children = node.get("children").and_then(Json::as_list);
        match children.and_then(|children| children.last()) {
            Some(child) => node = child,
            None => break,
        }
    }
    if let Some(thought) = thought {
        transcript.push(chat::acted(thought.into(), Vec::new()));
    }
}
