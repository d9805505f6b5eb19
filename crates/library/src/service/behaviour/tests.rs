//! Signatures, clusters and rules over a library in memory.

use volary_analysis::behaviour::rules::ActPattern;
use volary_core::tool::ToolCall;
use volary_core::{AnyMessage, ToolRequestMessage, object};
use volary_episode::episode::{Outcome, StepRecord};
use volary_protocol::library::Request;

use super::super::tests::{ask, episode, file, read, service};
use super::*;

/// An episode that calls these tools.
fn acting(id: &str, tools: &str) -> Episode {
    let steps = tools.split(' ').map(|tool| {
        let action = ToolRequestMessage {
            tool_calls: vec![ToolCall::new("c", tool, object!({"id": "r7"}))],
            ..ToolRequestMessage::default()
        };
        let outcome = Outcome::Observed {
            messages: Vec::new(),
            reward: 0.0,
            done: false,
            truncated: false,
        };
        StepRecord::new(AnyMessage::Request(action), outcome)
    });
    Episode {
        steps: steps.collect(),
        ..episode(id, "a task")
    }
}

fn library() -> LibraryService {
    let service = service();
    let episodes = [
        acting("a", "look find open edit submit"),
        acting("b", "look find open edit edit submit"),
        acting("c", "look ask ask give_up"),
        acting("d", "look find open edit submit"),
    ];
    read(&service, &[file("runs.jsonl", &episodes)]);
    service
}

fn judged(ids: &[&str]) -> Vec<JudgedEpisode> {
    let episodes = ids.iter().map(|id| JudgedEpisode {
        id: (*id).into(),
        succeeded: Some(*id == "a"),
    });
    episodes.collect()
}

#[test]
fn clusters_name_what_they_do_and_where_they_part() {
    let episodes = judged(&["a", "b", "c", "gone", "d"]);
    let said = ask(&library(), Request::Clusters { episodes });
    let [Output::Event(Event::Clusters(report))] = &said[..] else {
        panic!("{said:?}");
    };
    assert_eq!(report.unread, 1);
    let [large, small] = &report.clusters[..] else {
        panic!("{report:?}");
    };
    assert_eq!(large.ids, ["a", "b", "d"].map(Text::from));
    assert_eq!(&*large.name, "look → find → open → edit → submit");
    assert_eq!((large.succeeded, large.judged), (1, 3));
    assert_eq!(&*small.sequence, "look → ask ×2 → give_up");
    let parting = small.parting.as_ref().unwrap();
    assert_eq!((parting.from, &*parting.common), (0, &["look".into()][..]));
    assert_eq!(parting.here, Some((2, "ask".into())));
    assert_eq!(parting.there, Some((2, "find".into())));
}

#[test]
fn signatures_are_computed_once_and_again_after_a_change() {
    let service = library();
    let ids: Vec<Text> = ["c", "gone", "a"].map(Text::from).to_vec();
    let said = ask(&service, Request::Signatures { ids: ids.clone() });
    let [Output::Event(Event::Signatures(set))] = &said[..] else {
        panic!("{said:?}");
    };
    let shown: Vec<Option<String>> = set
        .signatures
        .iter()
        .map(|signature| Some(signature.as_ref()?.to_text(&set.alphabet)))
        .collect();
    assert_eq!(
        shown,
        [
            Some("look → ask ×2 → give_up".to_owned()),
            None,
            Some("look → find → open → edit → submit".to_owned())
        ]
    );
    assert_eq!(service.behaviour.borrow().size(), 2);
    assert_eq!(ask(&service, Request::Signatures { ids }), said);
    ask(
        &service,
        Request::Forget {
            ids: vec!["a".into()],
        },
    );
    assert_eq!(service.behaviour.borrow().size(), 1);
}

#[test]
fn rules_are_proposed_and_matched() {
    let service = library();
    let proposed = ask(
        &service,
        Request::ProposeRules {
            id: "c".into(),
            step: 4,
        },
    );
    let [Output::Event(Event::ProposedRules { rules })] = &proposed[..] else {
        panic!("{proposed:?}");
    };
    assert!(rules.iter().any(|rule| &*rule.title == "give_up after ask"));
    let rules = vec![
        Rule {
            id: "edits".into(),
            when: Some(ActPattern {
                tool: Some("edit".into()),
                ..ActPattern::default()
            }),
            at_least: Some(2),
            ..Rule::default()
        },
        rules[0].clone(),
    ];
    let ids = ["a", "b", "gone", "c"].map(Text::from).to_vec();
    let said = ask(&service, Request::MatchRules { rules, ids });
    let expected = vec![
        vec![RuleHit { row: 1, step: 5 }],
        vec![RuleHit { row: 3, step: 4 }],
    ];
    assert_eq!(
        said,
        [Output::Event(Event::RuleMatches { matches: expected })]
    );
}

#[test]
fn a_cancelled_request_has_no_answer() {
    let service = library();
    // The number that requests of tests have.
    service.cancelled.add(2);
    let episodes = judged(&["a", "b"]);
    assert_eq!(ask(&service, Request::Clusters { episodes }), []);
    assert_eq!(service.cancelled.size(), 0);
}
