//! The state of an episode after a worker played or replayed it.

use volary_core::json::Text;
use volary_core::{AnyMessage, Object};
use volary_episode::{Ending, Episode, Outcome, StepRecord};

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

#[cfg(test)]
mod tests {
    use volary_core::message::{Body, Message};
    use volary_core::{ToolRequestMessage, object};

    use super::*;

    fn observed(text: &str, reward: f64) -> Outcome {
        Outcome::Observed {
            messages: vec![Message::user(text.to_owned()).into()],
            reward,
            done: false,
            truncated: false,
        }
    }

    fn ended(is_done: bool, is_truncated: bool) -> Outcome {
        Outcome::Observed {
            messages: vec![],
            reward: 1.0,
            done: is_done,
            truncated: is_truncated,
        }
    }

    fn failed(message: &str) -> Outcome {
        Outcome::Failed {
            message: message.into(),
        }
    }

    fn episode(outcomes: Vec<Outcome>) -> Episode {
        let step = |outcome| StepRecord {
            action: ToolRequestMessage::default().into(),
            outcome,
            seconds: None,
            details: Default::default(),
            extras: Object::new(),
        };
        Episode {
            start: vec![Message::user("go").into()],
            steps: outcomes.into_iter().map(step).collect(),
            ..Episode::default()
        }
    }

    #[test]
    fn the_first_step_that_differs_is_named() {
        let record = episode(vec![observed("a", 0.0), observed("b", 1.0), failed("no")]);
        let differs = |outcomes| first_difference(&record, &episode(outcomes));
        for (outcomes, step) in [
            (
                vec![observed("a", 0.0), observed("b", 1.0), failed("no")],
                None,
            ),
            (vec![observed("x", 0.0), observed("b", 1.0)], Some(1)),
            (vec![observed("a", 0.5)], Some(1)),
            (vec![observed("a", 0.0), ended(true, false)], Some(2)),
            (vec![observed("a", 0.0), failed("no")], Some(2)),
            (
                vec![observed("a", 0.0), observed("b", 1.0), failed("other")],
                Some(3),
            ),
            // Only the steps that both have are compared.
            (vec![observed("a", 0.0)], None),
            (vec![], None),
        ] {
            assert_eq!(differs(outcomes.clone()), step, "{outcomes:?}");
        }
    }

    #[test]
    fn the_end_of_an_episode_is_compared_too() {
        let record = episode(vec![ended(false, false)]);
        for outcome in [ended(true, false), ended(false, true)] {
            assert_eq!(first_difference(&record, &episode(vec![outcome])), Some(1));
        }
    }

    #[test]
    fn a_different_start_is_step_0() {
        let record = episode(vec![observed("a", 0.0)]);
        let mut again = record.clone();
        again.start = vec![Message::user("went").into()];
        assert_eq!(first_difference(&record, &again), Some(0));
        again.start = vec![];
        assert_eq!(first_difference(&record, &again), Some(0));
    }

    #[test]
    fn rewards_that_are_not_a_number_are_equal_and_timings_are_ignored() {
        let nan = || episode(vec![observed("a", f64::NAN)]);
        assert_eq!(first_difference(&nan(), &nan()), None);
        assert_eq!(
            first_difference(&nan(), &episode(vec![observed("a", 0.0)])),
            Some(1)
        );
        let timed = |seconds: f64| {
            let body = Body {
                info: Some(object!({"seconds": seconds})),
                ..Body::text("a")
            };
            let mut timed = nan();
            let message = ToolRequestMessage {
                body,
                ..ToolRequestMessage::default()
            };
            timed.start = vec![message.into()];
            timed
        };
        assert_eq!(first_difference(&timed(0.1), &timed(0.2)), None);
    }

    #[test]
    fn the_last_step_says_how_an_episode_ended() {
        assert_eq!(ending(&episode(vec![])), Ending::Open);
        assert_eq!(ending(&episode(vec![observed("a", 0.0)])), Ending::Open);
        assert_eq!(ending(&episode(vec![ended(true, false)])), Ending::Done);
        let truncated = ending(&episode(vec![ended(false, true)]));
        assert!(matches!(truncated, Ending::Truncated { .. }));
        // An earlier end does not count: the environment went on.
        let went_on = episode(vec![ended(true, false), observed("a", 0.0)]);
        assert_eq!(ending(&went_on), Ending::Open);
    }

    #[test]
    fn only_a_limit_of_the_page_can_be_passed() {
        let limit = Ending::Truncated {
            reason: "limit".into(),
        };
        let over = |ending: &Ending, outcomes| {
            is_over(&Episode {
                ending: ending.clone(),
                ..episode(outcomes)
            })
        };
        assert!(!over(&limit, vec![observed("a", 0.0)]));
        assert!(over(&limit, vec![ended(false, true)]));
        assert!(!over(&Ending::Open, vec![]));
        assert!(over(&Ending::Done, vec![ended(true, false)]));
        let crash = Ending::Crashed {
            message: "boom".into(),
        };
        assert!(over(&crash, vec![]));
    }

    #[test]
    fn a_crash_is_a_failed_step_and_the_end() {
        let mut crashed = episode(vec![observed("a", 0.0)]);
        let action = AnyMessage::from(ToolRequestMessage {
            body: Body::text("break it"),
            ..ToolRequestMessage::default()
        });
        record_crash(&mut crashed, action.clone(), &"boom".into());
        let last = crashed.steps.last().expect("a step");
        assert_eq!((&last.action, &last.outcome), (&action, &failed("boom")));
        assert!(is_over(&crashed));
    }
}
