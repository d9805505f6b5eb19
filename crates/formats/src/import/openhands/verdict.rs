//! The ending of a conversation, and its scores in an evaluation. Each benchmark has its own terms for them, in one of
//! a few members.

use volary_core::json::{Json, Text};
use volary_episode::episode::{Ending, Score};

use crate::import::members::at;

/// The paths at which patch benchmarks store whether the issue is resolved.
const RESOLVED: [&[&str]; 3] = [
    &["report", "resolved"],
    &["test_result", "report", "resolved"],
    &["resolved"],
];

/// Names of numeric members that are scores; a boolean is a score under any name.
const JUDGE: [&str; 5] = ["score", "passed", "reward", "accuracy", "success"];

/// The scores of a conversation in the surrounding file.
pub(super) fn scores(whole: &Json) -> Vec<Score> {
    let mut scores = Vec::new();
    let resolved = RESOLVED.iter().find_map(|path| at(whole, path));
    if let Some(value @ Json::Bool(_)) = resolved {
        scores.push(score("resolved", value));
    }
    let Some(result) = whole.get("test_result") else {
        return scores;
    };
    if is_verdict("score", result) {
        scores.push(score("test_result", result));
    }
    for holder in [Some(result), result.get("result")].into_iter().flatten() {
        for (name, value) in holder.as_object().into_iter().flat_map(|all| all.iter()) {
            if is_verdict(name, value) {
                scores.push(score(name, value));
            }
        }
    }
    scores
}

fn is_verdict(name: &str, value: &Json) -> bool {
    match value {
        Json::Bool(_) => true,
        Json::Integer(_) | Json::Float(_) => JUDGE.contains(&name),
        _ => false,
    }
}

fn score(name: &str, value: &Json) -> Score {
    Score {
        name: Text::from(name),
        value: value.clone(),
        ..Score::default()
    }
}

/// The ending for a final state of the agent; `None` for other states. `why` is the recorded reason.
pub(super) fn ending(state: &str, why: Option<Text>) -> Option<Ending> {
    let because = |otherwise: &str| {
        let told = why.clone().filter(|why| !why.is_empty());
        told.unwrap_or_else(|| otherwise.into())
    };
    match state.to_lowercase().as_str() {
        "finished" | "rejected" => Some(Ending::Done),
        "error" => Some(Ending::Crashed {
            message: because("The agent ended with an error."),
        }),
        "stuck" => Some(Ending::Truncated {
            reason: because("The agent was stopped because it repeated the same action."),
        }),
        _ => None,
    }
}
