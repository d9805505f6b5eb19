//! The branches of a rollout of `results.jsonl`: each sequence of tokens is one, with the calls that it consists of.
//!
//! The calls of a rollout are those of its conversation, and those of other conversations that its tools had (sub-LLM
//! calls). Invariant: the tokens of a call are only in an episode with the messages of that call.

use volary_core::json::{Json, Text};
use volary_episode::episode::{Ending, Episode, Link, Outcome, Relation};

use super::{add_messages, messages};
use crate::import::branch::tell_branch;
use crate::import::call_credit;
use crate::import::describe::counted;
use crate::import::members::{at, text_at};
use crate::import::reader::Sink;
use crate::import::token_lists::{self, CallTokens};

/// A call of the model, with its tokens if it has any.
pub(super) type Call = (Json, Option<CallTokens>);

/// Divides a rollout into branches. `own`: the id of its own conversation.
pub(super) fn branches(
    calls: Vec<Json>,
    own: Option<&str>,
    mut episode: Episode,
    sink: &mut Sink<'_>,
) -> Vec<(Episode, Vec<Call>)> {
    let (main, others) = conversations(calls, own);
    let (others, unknown): (Vec<_>, Vec<_>) =
        others.into_iter().partition(|calls| have_messages(calls));
    report_left_out(&unknown, sink);
    let subagent = (!others.is_empty()).then(|| of_subagent(&episode));
    let mut found = main_branches(main, &mut episode, sink);
    let others: Vec<_> = others.into_iter().flat_map(divided).collect();
    if !others.is_empty() {
        sink.understood(
            "Sub-LLM calls of a rollout are no part of its conversation, so they are branches of their own.",
        );
    }
    for calls in others {
        let branch = found.len();
        let episode = subagent.clone().unwrap_or_default();
        found.push((subagent_branch(episode, branch, &calls), calls));
    }
    found
}

/// The calls of the rollout's own conversation, and those of each other one.
fn conversations(calls: Vec<Json>, own: Option<&str>) -> (Vec<Call>, Vec<Vec<Call>>) {
    let id = |call: &Json| text_at(call, &["trajectory_id"]);
    let candidates = || calls.iter().filter(|call| !is_of_subagent(call));
    // Without a call of the rollout's own id, the first conversation is its own.
    let named = own.filter(|own| candidates().any(|call| id(call).as_deref() == Some(*own)));
    let own = named
        .map(Text::from)
        .or_else(|| candidates().next().and_then(id));
    let (mut main, mut others) = (Vec::new(), Vec::<((bool, Option<Text>), Vec<Call>)>::new());
    for call in calls {
        let key = (is_of_subagent(&call), id(&call));
        let tokens = tokens_of(&call);
        if !key.0 && key.1 == own {
            main.push((call, tokens));
            continue;
        }
        match others.iter_mut().find(|(known, _)| *known == key) {
            Some((_, calls)) => calls.push((call, tokens)),
            None => others.push((key, vec![(call, tokens)])),
        }
    }
    (main, others.into_iter().map(|(_, calls)| calls).collect())
}

fn is_of_subagent(call: &Json) -> bool {
    at(call, &["extras", "is_sub_llm_call"]).and_then(Json::as_bool) == Some(true)
}

fn have_messages(calls: &[Call]) -> bool {
    let has = |call: &Json, key| call.get(key).is_some_and(|value| !value.is_null());
    let mut calls = calls.iter();
    calls.all(|(call, _)| has(call, "prompt") && has(call, "completion"))
}

fn report_left_out(unknown: &[Vec<Call>], sink: &mut Sink<'_>) {
    let calls = unknown.iter().flatten();
    let trained = calls.clone().filter_map(|(_, tokens)| tokens.as_ref());
    let trained: usize = trained.map(CallTokens::trained).sum();
    if calls.clone().next().is_some() {
        sink.lost(format!(
            "{} with {} are left out: they have no messages, and are no part of the conversation of their rollout.",
            counted(calls.count(), "sub-LLM call"),
            counted(trained, "trained token")
        ));
    }
}

/// The branches of the conversation of a rollout: a call starts one if its prompt does not continue the tokens before it,
/// because the history was rewritten.
fn main_branches(
    calls: Vec<Call>,
    episode: &mut Episode,
    sink: &mut Sink<'_>,
) -> Vec<(Episode, Vec<Call>)> {
    let is_each = calls.len() == episode.steps.len();
    let have_messages = have_messages(&calls) && calls.iter().any(|(_, tokens)| tokens.is_some());
    // Otherwise it is unknown which messages are those of a call.
    let branches = if is_each || have_messages {
        divided(calls)
    } else {
        vec![calls]
    };
    if branches.len() > 1 {
        sink.understood(
            "The prompt of a call does not continue the tokens before it, so it starts a branch.",
        );
    }
    match (branches.len() > 1, have_messages) {
        (false, _) if is_each || !have_messages => {
            let whole = std::mem::take(episode);
            branches
                .into_iter()
                .map(|calls| (whole.clone(), calls))
                .collect()
        }
        (_, true) => with_own_messages(branches, episode),
        (_, false) => with_steps(branches, episode),
    }
}

/// Divides the calls of a conversation where one does not continue the one before it.
fn divided(calls: Vec<Call>) -> Vec<Vec<Call>> {
    let mut branches: Vec<Vec<Call>> = vec![Vec::new()];
    for call in calls {
        let before = branches.last().into_iter().flatten();
        let before = before.rev().find_map(|(_, tokens)| tokens.as_ref());
        let is_continued = match (before, &call.1) {
            (Some(before), Some(next)) => before.is_continued_by(&next.prompt),
            _ => true,
        };
        if !is_continued {
            branches.push(Vec::new());
        }
        if let Some(branch) = branches.last_mut() {
            branch.push(call);
        }
    }
    branches
}

/// Makes episodes of branches whose calls have messages. What follows the last call is in the messages of the rollout.
fn with_own_messages(branches: Vec<Vec<Call>>, episode: &mut Episode) -> Vec<(Episode, Vec<Call>)> {
    let after = episode.steps.pop().map(|step| step.messages().to_vec());
    let mut found = Vec::new();
    for (number, calls) in branches.into_iter().enumerate() {
        let mut branch = episode.clone();
        tell_branch(&mut branch, number);
        // It is that of the whole rollout.
        episode.total_usage = None;
        messages_of(&calls, &mut branch);
        found.push((branch, calls));
    }
    let last = found.last_mut().and_then(|(last, _)| last.steps.last_mut());
    if let Some(Outcome::Observed { messages, .. }) = last.map(|step| &mut step.outcome)
        && messages.is_empty()
    {
        messages.extend(after.unwrap_or_default());
    }
    found
}

/// Sets the messages of a branch: those of its last call, in which the ones after the first call's prompt are said by the
/// model.
fn messages_of(calls: &[Call], episode: &mut Episode) {
    let list = |call: &Json, key, role| messages(call.get(key).cloned().unwrap_or_default(), role);
    let (Some((first, _)), Some((last, _))) = (calls.first(), calls.last()) else {
        return;
    };
    let mut prompt = list(last, "prompt", "user");
    let given = list(first, "prompt", "user").len().min(prompt.len());
    let mut said = prompt.split_off(given);
    said.extend(list(last, "completion", "assistant"));
    add_messages(prompt, said, episode);
}

/// Makes episodes of branches of which each call is a step. What was said before the first call of a branch is its prompt.
fn with_steps(branches: Vec<Vec<Call>>, episode: &mut Episode) -> Vec<(Episode, Vec<Call>)> {
    let count = branches.len();
    let mut start = std::mem::take(&mut episode.start);
    let mut steps = std::mem::take(&mut episode.steps).into_iter();
    let mut found = Vec::new();
    for (number, calls) in branches.into_iter().enumerate() {
        let mut branch = episode.clone();
        tell_branch(&mut branch, number);
        // It is that of the whole rollout.
        episode.total_usage = None;
        branch.start.clone_from(&start);
        branch.steps = steps.by_ref().take(calls.len()).collect();
        for step in &branch.steps {
            start.push(step.action.clone());
            start.extend(step.messages().iter().cloned());
        }
        // What follows the last call is in the prompt of the next branch.
        let last = branch.steps.last_mut().filter(|_| number + 1 < count);
        if let Some(Outcome::Observed { messages, .. }) = last.map(|step| &mut step.outcome) {
            messages.clear();
        }
        found.push((branch, calls));
    }
    found
}

/// What the conversations of a rollout have in common. Its trainer gives them the reward of the rollout.
fn of_subagent(episode: &Episode) -> Episode {
    Episode {
        total_usage: None,
        started: None,
        seconds: None,
        outcome: None,
        errors: Vec::new(),
        start: Vec::new(),
        steps: Vec::new(),
        tools: Vec::new(),
        ..episode.clone()
    }
}

fn subagent_branch(mut episode: Episode, branch: usize, calls: &[Call]) -> Episode {
    let parent = episode.id.clone();
    tell_branch(&mut episode, branch);
    episode.links = vec![Link {
        relation: Relation::Parent,
        episode: parent,
        step: None,
    }];
    let last = calls.last().map(|(call, _)| call);
    let is_truncated = last.and_then(|call| call.get("is_truncated")?.as_bool()) == Some(true);
    episode.ending = if is_truncated {
        Ending::Truncated {
            reason: "It was cut off by a limit.".into(),
        }
    } else {
        Ending::Done
    };
    if let Some(extras @ Json::Object(_)) = last.and_then(|call| call.get("extras")) {
        episode.metadata.insert("extras", extras.clone());
    }
    messages_of(calls, &mut episode);
    episode
}

fn tokens_of(call: &Json) -> Option<CallTokens> {
    let tokens = call.get("tokens")?;
    let logprobs = tokens
        .get("completion_logprobs")
        .and_then(token_lists::stream);
    let logprobs = logprobs.filter(|values| !values.is_empty());
    let completion = token_lists::ids(tokens.get("completion_ids")?)?;
    // It is that of all tokens of the call.
    let advantage = call_credit::advantage(call);
    let advantage =
        advantage.map(|value| std::iter::repeat_n(Some(value), completion.len()).collect());
    let streams = [("logprobs", logprobs), ("advantage", advantage)].into_iter();
    Some(CallTokens {
        prompt: token_lists::ids(tokens.get("prompt_ids")?)?,
        mask: tokens.get("completion_mask").and_then(token_lists::flags),
        streams: streams
            .filter_map(|(name, values)| Some((name.into(), values?)))
            .collect(),
        completion,
    })
}
