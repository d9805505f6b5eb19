//! The state of an episode after a worker played or replayed it.

use volary_core::json::Text;
use volary_core::{AnyMessage, Object};
use volary_trajectory::{Ending, Episode, Outcome, StepRecord};

/// The ending of an episode that a worker has just played, derived from its last step.
pub fn ending(episode: &Episode) -> Ending {
    let last = episode.steps.last();
    last.map_or(Ending::Open, StepRecord::ending)
}

/// Appends the action at which the environment crashed.
pub fn record_crash(episode: &mut Episode, action: AnyMessage, message: &Text) {
    episode.steps.push(StepRecord {
        action,
        outcome: Outcome::Failed {
            message: message.clone(),
        },
        seconds: None,
        details: Default::default(),
        extras: Object::new(),
    });
    episode.ending = Ending::Crashed {
        message: message.clone(),
    };
}

/// Whether the episode allows no further action. A limit of the page's own does not count: the user may continue after
/// it.
pub fn is_over(episode: &Episode) -> bool {
    match episode.ending {
        Ending::Open => false,
        Ending::Done | Ending::Crashed { .. } => true,
        Ending::Truncated { .. } => matches!(ending(episode), Ending::Truncated { .. }),
    }
}

/// The first step (0: the reset) whose replay differs from the record, over the steps that both have. `info` is
/// ignored, since it holds timings.
pub fn first_difference(record: &Episode, again: &Episode) -> Option<usize> {
    if !same_messages(&record.start, &again.start) {
        return Some(0);
    }
    record
        .steps
        .iter()
        .zip(&again.steps)
        .position(|(one, other)| !same_outcome(&one.outcome, &other.outcome))
        .map(|place| place + 1)
}

fn same_outcome(one: &Outcome, other: &Outcome) -> bool {
    match (one, other) {
        (
            Outcome::Observed {
                messages,
                reward,
                done,
                truncated,
            },
            Outcome::Observed {
                messages: other_messages,
                reward: other_reward,
                done: other_done,
                truncated: other_truncated,
            },
        ) => {
            (reward == other_reward || (reward.is_nan() && other_reward.is_nan()))
                && done == other_done
                && truncated == other_truncated
                && same_messages(messages, other_messages)
        }
        (Outcome::Failed { message }, Outcome::Failed { message: other }) => message == other,
        _ => false,
    }
}

fn same_messages(ones: &[AnyMessage], others: &[AnyMessage]) -> bool {
    let same = |one: &AnyMessage, other: &AnyMessage| {
        one.role() == other.role() && one.body().content == other.body().content
    };
    ones.len() == others.len() && ones.iter().zip(others).all(|(one, other)| same(one, other))
}
