//! Tests of rules.

use volary_core::message::Body;
use volary_core::tool::ToolCall;
use volary_core::{AnyMessage, Frame, ToolRequestMessage, ToolResponseMessage, object};
use volary_episode::episode::{Outcome, StepRecord};

use super::*;

fn episode(calls: &[(&str, &str, &str)]) -> Episode {
    let steps = calls.iter().map(|(tool, order, answer)| {
        let action = ToolRequestMessage {
            tool_calls: vec![ToolCall::new(
                "c",
                *tool,
                object!({"order": (*order), "note": "n"}),
            )],
            ..ToolRequestMessage::default()
        };
        let answer: AnyMessage = ToolResponseMessage {
            body: Body::text(*answer),
            name: (*tool).into(),
            tool_call_id: "c".into(),
        }
        .into();
        let outcome = Outcome::Observed {
            messages: vec![answer],
            reward: 0.0,
            done: false,
            truncated: false,
        };
        StepRecord::new(action.into(), outcome)
    });
    let mut episode = Episode {
        steps: steps.collect(),
        ..Episode::default()
    };
    for step in 0..=calls.len() {
        let status = if step >= 2 { "cancelled" } else { "open" };
        episode.frames.push(Frame::new(
            object!({"orders": [{"status": (status)}]}),
            Json::Null,
        ));
    }
    episode
}

fn steps(rule: &Rule, episode: &Episode) -> Vec<usize> {
    matches(rule, episode)
        .iter()
        .map(|found| found.step)
        .collect()
}

fn pattern(tool: &str) -> ActPattern {
    ActPattern {
        tool: Some(tool.into()),
        ..ActPattern::default()
    }
}

#[test]
fn each_condition_restricts() {
    let episode = episode(&[
        ("get_order", "o1", "{}"),
        ("cancel_order", "o1", "ok"),
        ("cancel_order", "o2", "Error: gone"),
        ("cancel_order", "o1", "ok"),
    ]);
    let when = |when: ActPattern| Rule {
        id: "r".into(),
        when: Some(when),
        ..Rule::default()
    };
    let all = when(pattern("cancel_*"));
    assert_eq!(steps(&all, &episode), [2, 3, 4]);
    assert_eq!(steps(&when(pattern("get_order*")), &episode), [1]);
    assert_eq!(steps(&when(pattern("order")), &episode), [] as [usize; 0]);
    let failed = ActPattern {
        failed: Some(true),
        ..pattern("*")
    };
    assert_eq!(steps(&when(failed), &episode), [3]);
    let arguments = ActPattern {
        arguments: vec![("order".into(), "o1".into())],
        ..pattern("*")
    };
    assert_eq!(steps(&when(arguments), &episode), [1, 2, 4]);
    let unread = Rule {
        without_before: Some(ActPattern {
            same: vec!["order".into()],
            ..pattern("get_order")
        }),
        ..all.clone()
    };
    assert_eq!(steps(&unread, &episode), [3]);
    let third = Rule {
        at_least: Some(3),
        ..all.clone()
    };
    assert_eq!(steps(&third, &episode), [4]);
    let after = Rule {
        after: Some(ActPattern {
            failed: Some(true),
            ..pattern("cancel_order")
        }),
        ..all.clone()
    };
    assert_eq!(steps(&after, &episode), [4]);
    let changed = Rule {
        changes: Some(changed_paths(&episode, 2)[0].clone().into()),
        ..all
    };
    assert_eq!(steps(&changed, &episode), [2]);
}

#[test]
fn a_labelled_step_proposes_rules_that_hold_there() {
    let bad = episode(&[
        ("get_order", "o1", "{}"),
        ("cancel_order", "o1", "ok"),
        ("cancel_order", "o2", "ok"),
    ]);
    let good = episode(&[("get_order", "o2", "{}"), ("cancel_order", "o2", "ok")]);
    let rules = proposals(&bad, 3);
    assert!(rules.len() >= 5);
    for rule in &rules {
        assert!(steps(rule, &bad).contains(&3), "{rule:?}");
        let file = RuleFile {
            rule: vec![rule.clone()],
        };
        assert_eq!(file.check(), Ok(()));
    }
    let fit = |rule: &Rule| {
        let mut fit = RuleFit::default();
        fit.add(!steps(rule, &bad).is_empty(), Some(true));
        fit.add(!steps(rule, &good).is_empty(), Some(false));
        fit
    };
    let unread = rules
        .iter()
        .find(|rule| rule.id.ends_with("-unread"))
        .unwrap();
    assert_eq!(
        (fit(unread).precision(), fit(unread).recall()),
        (Some(1.0), Some(1.0))
    );
    let called = rules
        .iter()
        .find(|rule| rule.id.ends_with("-called"))
        .unwrap();
    assert_eq!(
        (fit(called).precision(), fit(called).f1()),
        (Some(0.5), 2.0 / 3.0)
    );
}

#[test]
fn a_rule_without_condition_is_refused() {
    let rule = Rule {
        id: "x".into(),
        ..Rule::default()
    };
    let error = |rule: Vec<Rule>| RuleFile { rule }.check().unwrap_err();
    assert_eq!(error(vec![]), RuleError::Empty);
    assert_eq!(
        error(vec![rule.clone()]),
        RuleError::NoCondition { id: "x".into() }
    );
    assert_eq!(error(vec![Rule::default()]), RuleError::NoId);
    let full = Rule {
        when: Some(pattern("a")),
        ..rule
    };
    assert_eq!(
        error(vec![full.clone(), full]),
        RuleError::IdTwice { id: "x".into() }
    );
}
