//! Conditions on episodes: evaluation and descriptions.

use volary_agent::step_note;
use volary_core::json::Object;
use volary_core::{ToolCall, ToolRequestMessage};

use super::*;

fn step(tools: &[&str], reward: f64, done: bool) -> StepRecord {
    let calls = tools.iter();
    let request = ToolRequestMessage {
        tool_calls: calls
            .map(|tool| ToolCall::new("", *tool, Object::new()))
            .collect(),
        ..ToolRequestMessage::default()
    };
    let outcome = Outcome::Observed {
        messages: Vec::new(),
        reward,
        done,
        truncated: false,
    };
    StepRecord::new(request.into(), outcome)
}

fn episode(steps: Vec<StepRecord>, ending: Ending) -> Episode {
    Episode {
        steps,
        ending,
        ..Episode::default()
    }
}

fn goal(text: &str) -> Goal {
    Goal::take(&mut Fields::read(text, 1).unwrap()).unwrap()
}

#[test]
fn all_conditions_must_hold_at_once() {
    let goal = goal("reward: at least 0.3\nCalls of Add: at most 1\nends: done");
    let good = vec![step(&["Add"], 0.1, false), step(&["answer"], 0.2, true)];
    assert!(goal.is_met(&episode(good.clone(), Ending::Done), None));
    assert!(!goal.is_met(&episode(good, Ending::Open), None));
    let wasteful = vec![step(&["Add", "Add"], 0.3, true)];
    assert!(!goal.is_met(&episode(wasteful, Ending::Done), None));
    assert!(!goal.is_met(&Episode::default(), None), "nothing was done");
}

#[test]
fn bounds_steps_and_failures() {
    let mut faulty = step(&[], 0.0, false);
    faulty.details.errors.push(step_note("Fault".into()));
    let failed = StepRecord::new(
        faulty.action.clone(),
        Outcome::Failed {
            message: "No".into(),
        },
    );
    let reason = "limit".into();
    let episode = episode(
        vec![step(&["a"], -1.0, false), faulty, failed],
        Ending::Truncated { reason },
    );
    for (text, holds) in [
        ("failures: exactly 2", true),
        ("failures: at most 1", false),
        ("steps: exactly 3", true),
        ("steps: at least 4", false),
        ("calls: exactly 1", true),
        ("reward: exactly -1", true),
        ("reward: at most -2", false),
        ("ends: truncated", true),
        ("ends: done", false),
    ] {
        assert_eq!(goal(text).is_met(&episode, None), holds, "{text}");
    }
}

#[test]
fn a_step_is_found_by_naming_it() {
    let goal = goal("find step: 2");
    let episode = Episode::default();
    assert!(goal.is_met(&episode, Some(2)));
    assert!(!goal.is_met(&episode, Some(1)) && !goal.is_met(&episode, None));
    assert_eq!(goal.describe(), "Find the step where it goes wrong");
}

#[test]
fn conditions_describe_themselves() {
    for (text, words) in [
        ("reward: at least 1", "Reach reward 1"),
        ("reward: at most -1", "Reward at most -1"),
        ("steps: at most 1", "At most 1 step"),
        ("calls: exactly 2", "Exactly 2 tool calls"),
        (
            "calls of f: at most 2\nends: truncated",
            "Use f at most 2 times, the episode is truncated",
        ),
    ] {
        assert_eq!(goal(text).describe(), words);
    }
}
