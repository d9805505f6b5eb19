//! The state machine of behaviour, with replies as the worker sends them.

use volary_analysis::annotations::{Annotation, Annotations, Target};
use volary_analysis::behaviour::rules::{ActPattern, Rule, RuleError};
use volary_core::object;
use volary_protocol::behaviour::{BehaviourCluster, RuleHit};

use super::labelled::{is_labelled, labelled_steps};
use super::rule_edit::{RulePart, arguments_text, pattern_of};
use super::*;

fn row(id: &str, reward: f64, step: i64) -> Arc<Row> {
    Arc::new(Row {
        id: id.into(),
        reward: Some(reward),
        metadata: object!({ "step": step }),
        ..Row::default()
    })
}

fn sent(effects: &[BehaviourEffect]) -> u32 {
    match effects {
        [BehaviourEffect::Send(_, number, _)] => *number,
        effects => panic!("{effects:?}"),
    }
}

fn reply(
    state: &mut Behaviour,
    job: BehaviourJob,
    number: u32,
    event: LibraryEvent,
) -> Vec<BehaviourEffect> {
    let reply = Box::new(Some(Ok(event)));
    state.update(BehaviourEvent::Replied(job, number, reply))
}

fn rule(tool: &str) -> Rule {
    Rule {
        id: "cancel".into(),
        when: Some(ActPattern {
            tool: Some(tool.into()),
            ..ActPattern::default()
        }),
        ..Rule::default()
    }
}

#[test]
fn replies_to_an_earlier_request_change_nothing() {
    let mut state = Behaviour::default();
    let rows = vec![row("a", 0.0, 1), row("b", 0.0, 1)];
    let find = BehaviourEvent::FindClusters {
        rows,
        are_failures: true,
    };
    let first = sent(&state.update(find.clone()));
    let second = sent(&state.update(find));
    let report = ClusterReport {
        clusters: vec![BehaviourCluster {
            name: "look".into(),
            ids: vec!["a".into(), "b".into()],
            typical: "b".into(),
            ..BehaviourCluster::default()
        }],
        unread: 0,
    };
    let job = BehaviourJob::Clusters;
    reply(
        &mut state,
        job,
        first,
        LibraryEvent::Clusters(report.clone()),
    );
    assert!(state.clusters.is_running());
    let progress = LibraryEvent::Progress {
        doing: "Reading 1 of 2".into(),
        done: Some(0.5),
    };
    reply(&mut state, job, second, progress);
    assert!(matches!(
        &state.clusters,
        BehaviourWork::Running { done: Some(_), .. }
    ));
    let effects = reply(&mut state, job, second, LibraryEvent::Clusters(report));
    let found = Arc::clone(state.clusters.ready().unwrap());
    let shown = BehaviourEffect::ShowClusters(Arc::new(found.labels(&BTreeMap::new())));
    assert_eq!(effects, [shown]);
    // The end of the replies.
    state.update(BehaviourEvent::Replied(job, second, Box::new(None)));
    assert_eq!(found.rows, 2);
    assert_eq!(&*found.labels(&BTreeMap::new())["b"], "1 · look");
    assert_eq!(found.narrowing(0).unwrap().label, "Cluster 1 · look");
    assert_eq!(found.narrowing(1), None);
    let named = Narrowing::Cluster {
        are_failures: true,
        typical: "b".into(),
    };
    let narrowing = found.narrowing_with("a").unwrap();
    assert_eq!((narrowing.ids.len(), narrowing.named), (2, Some(named)));
    assert_eq!(found.narrowing_with("c"), None);
}

#[test]
fn stopped_work_is_cancelled_and_lost_work_says_why() {
    let mut state = Behaviour::default();
    let number = sent(&state.update(BehaviourEvent::DrawMap(vec![row("a", 1.0, 1)])));
    let effects = state.update(BehaviourEvent::Stop(BehaviourJob::Map));
    assert_eq!(effects, [BehaviourEffect::Cancel(BehaviourJob::Map)]);
    let set = LibraryEvent::Signatures(SignatureSet::default());
    reply(&mut state, BehaviourJob::Map, number, set);
    assert_eq!(state.map, BehaviourWork::Nothing);
    let number = sent(&state.update(BehaviourEvent::DrawMap(Vec::new())));
    state.update(BehaviourEvent::Replied(
        BehaviourJob::Map,
        number,
        Box::new(None),
    ));
    assert_eq!(state.map, BehaviourWork::Failed(NoReply::Ended.to_string()));
}

#[test]
fn the_map_has_the_rows_that_were_read_and_their_training_steps() {
    let mut state = Behaviour::default();
    let rows = vec![row("a", 1.0, 7), row("b", 0.0, 2), row("c", 0.0, 7)];
    let number = sent(&state.update(BehaviourEvent::DrawMap(rows)));
    let signature = Signature {
        symbols: vec![0],
        counts: vec![1],
        steps: vec![1],
    };
    let set = SignatureSet {
        alphabet: vec!["look".to_owned()].into(),
        signatures: vec![Some(signature.clone()), None, Some(signature)],
    };
    reply(
        &mut state,
        BehaviourJob::Map,
        number,
        LibraryEvent::Signatures(set),
    );
    let map = state.map.ready().unwrap();
    assert_eq!((map.rows.len(), map.unread), (2, 1));
    assert_eq!(map.steps, [] as [i64; 0], "one step is no time");
    assert_eq!(map.of_step(Some(7)).count(), 2);
    assert_eq!(map.of_step(Some(2)).count(), 0);
    assert_eq!(map.rows[0].succeeded, Some(true));
}

#[test]
fn a_checked_rule_keeps_its_figures_until_a_condition_changes() {
    let mut state = Behaviour::default();
    let step = LabelledStep {
        label: "unread".into(),
        episode: "a".into(),
        step: 3,
    };
    let rows = vec![
        ("a".into(), Some(true)),
        ("b".into(), Some(false)),
        ("c".into(), None),
        ("d".into(), Some(true)),
    ];
    let number = sent(&state.update(BehaviourEvent::Propose(step, rows)));
    let rules = vec![rule("cancel"), rule("cancel*")];
    let proposed = LibraryEvent::ProposedRules { rules };
    // Proposals are checked at once.
    let number = sent(&reply(
        &mut state,
        BehaviourJob::Proposals,
        number,
        proposed,
    ));
    let hit = |row| RuleHit { row, step: 3 };
    let matches = vec![vec![hit(0), hit(1)], vec![hit(0), hit(2), hit(3)]];
    let matches = LibraryEvent::RuleMatches { matches };
    reply(&mut state, BehaviourJob::Check, number, matches);
    let ranked = state.rules.ranked();
    let ranked: Vec<usize> = ranked.iter().map(|ranked| ranked.place).collect();
    assert_eq!(ranked, [1, 0], "the one that fits best first");
    state.update(BehaviourEvent::TakeRule(1));
    state.update(BehaviourEvent::TakeRule(0));
    let ids: Vec<&str> = state.rules.own.iter().map(|rule| &*rule.id).collect();
    assert_eq!(ids, ["cancel", "cancel-2"]);
    let outcome = state.rules.outcome(&state.rules.own[0]).unwrap();
    assert_eq!((outcome.fit.rows, outcome.fit.matching), (4, 3));
    assert_eq!(outcome.fit.precision(), Some(1.0));
    assert_eq!(outcome.fit.recall(), Some(1.0));
    assert_eq!(outcome.hits[1], ("c".into(), 3));
    let outcome = state.rules.outcome(&state.rules.own[1]).unwrap();
    assert_eq!(outcome.fit.precision(), Some(0.5));
    let title = RuleChange::Title("Cancels unread".to_owned());
    state.update(BehaviourEvent::ChangeRule(0, title));
    assert!(state.rules.outcome(&state.rules.own[0]).is_some());
    let least = RuleChange::AtLeast("2".to_owned());
    state.update(BehaviourEvent::ChangeRule(0, least));
    assert!(state.rules.outcome(&state.rules.own[0]).is_none());
    state.update(BehaviourEvent::RemoveRule(1));
    assert!(state.rules.to_toml().contains("at_least = 2"));
    assert_eq!(state.rules.problem(), None);
}

#[test]
fn rules_are_typed_and_loaded() {
    let mut state = Behaviour::default();
    state.update(BehaviourEvent::AddRule);
    assert_eq!(
        state.rules.problem(),
        Some(RuleError::NoCondition { id: "rule".into() })
    );
    assert_eq!(state.update(BehaviourEvent::CheckRules(Vec::new())), []);
    for change in [
        RuleChange::Tool(RulePart::When, " cancel ".to_owned()),
        RuleChange::Arguments(RulePart::When, "id: r7\nnothing\n*: a: b".to_owned()),
        RuleChange::Failed(RulePart::When, Some(false)),
        RuleChange::Same(RulePart::WithoutBefore, "id, ,user".to_owned()),
        RuleChange::Tool(RulePart::After, "look".to_owned()),
        RuleChange::Tool(RulePart::After, String::new()),
        RuleChange::AtLeast("no number".to_owned()),
    ] {
        state.update(BehaviourEvent::ChangeRule(0, change));
    }
    let own = &state.rules.own[0];
    let when = pattern_of(own, RulePart::When).unwrap();
    assert_eq!(when.tool, Some("cancel".into()));
    assert_eq!(arguments_text(when), "id: r7\n*: a: b");
    let before = pattern_of(own, RulePart::WithoutBefore).unwrap();
    assert_eq!(before.same, ["id", "user"].map(Text::from));
    assert_eq!((&own.after, own.at_least), (&None, None));
    let loaded = vec![own.clone(), rule("other"), rule("third")];
    state.update(BehaviourEvent::Load(loaded));
    let ids: Vec<&str> = state.rules.own.iter().map(|rule| &*rule.id).collect();
    assert_eq!(ids, ["rule", "cancel", "cancel-2"]);
}

#[test]
fn labels_say_which_rows_are_instances() {
    let mut notes = Annotations::default();
    let mut write = |id: &str, episode: &str, target: Target, label: &str| {
        notes.write(
            Annotation {
                id: id.into(),
                episode: episode.into(),
                target,
                label: Some(label.into()),
                ..Annotation::default()
            },
            1.0,
        );
    };
    write("1", "b", Target::Step { step: 4 }, "loops");
    write("2", "a", Target::Step { step: 2 }, "loops");
    write("3", "a", Target::Episode, "loops");
    write("4", "a", Target::Step { step: 1 }, "asks twice");
    write("5", "gone", Target::Step { step: 1 }, "loops");
    let rows = [row("a", 0.0, 1), row("b", 0.0, 1)];
    let steps = labelled_steps(&notes, &rows);
    let steps: Vec<(&str, &str, usize)> = steps
        .iter()
        .map(|step| (&*step.label, &*step.episode, step.step))
        .collect();
    assert_eq!(
        steps,
        [("asks twice", "a", 1), ("loops", "a", 2), ("loops", "b", 4)]
    );
    let noted = Row {
        notes: vec!["loops".into()],
        labels: vec!["loops".into()],
        ..Row::default()
    };
    assert_eq!(is_labelled(&noted, "loops"), Some(true));
    assert_eq!(is_labelled(&noted, "asks twice"), Some(false));
    assert_eq!(is_labelled(&rows[0], "loops"), None);
}

fn clustered(state: &mut Behaviour) {
    let rows = vec![row("a", 0.0, 1), row("b", 0.0, 1), row("c", 0.0, 1)];
    let number = sent(&state.update(BehaviourEvent::FindClusters {
        rows,
        are_failures: true,
    }));
    let cluster = |ids: &[&str], sequence: &str| BehaviourCluster {
        name: sequence.into(),
        ids: ids.iter().map(|id| Text::from(*id)).collect(),
        sequence: sequence.into(),
        ..BehaviourCluster::default()
    };
    let clusters = vec![
        cluster(&["a", "b"], "look → cancel"),
        cluster(&["c", "d"], "cancel → cancel"),
        cluster(&["e"], "alone"),
    ];
    let report = ClusterReport {
        clusters,
        unread: 0,
    };
    reply(
        state,
        BehaviourJob::Clusters,
        number,
        LibraryEvent::Clusters(report),
    );
}

fn begin_naming(state: &mut Behaviour) -> Vec<BehaviourEffect> {
    state.update(BehaviourEvent::NameClusters {
        connection: "c1".into(),
        model: "m".into(),
    })
}

/// The request for a name among effects, and the labels of rows that they show.
fn naming(effects: &[BehaviourEffect]) -> (Option<&NameRequest>, Option<&HashMap<Text, Text>>) {
    let asked = effects.iter().find_map(|effect| match effect {
        BehaviourEffect::AskName(asked) => Some(&**asked),
        _ => None,
    });
    let shown = effects.iter().find_map(|effect| match effect {
        BehaviourEffect::ShowClusters(labels) => Some(&**labels),
        _ => None,
    });
    (asked, shown)
}

fn named(text: &str) -> Result<NameReply, String> {
    Ok(NameReply {
        text: text.to_owned(),
        cost: Some(0.25),
    })
}

#[test]
fn clusters_are_named_one_after_the_other() {
    let mut state = Behaviour::default();
    assert_eq!(begin_naming(&mut state), [], "there are no clusters");
    clustered(&mut state);
    let effects = begin_naming(&mut state);
    let first = naming(&effects).0.unwrap();
    let question = first.request.messages[1].body().content.clone().unwrap();
    assert!(question.contains("look → cancel"), "{question}");
    assert_eq!(begin_naming(&mut state), [], "it is under way");
    let number = first.number;
    let effects = state.update(BehaviourEvent::Named(number, named("Looks first")));
    let (asked, labels) = naming(&effects);
    let next = asked.unwrap().number;
    assert_eq!(
        labels.unwrap().get("a"),
        Some(&Text::from("1 · Looks first"))
    );
    assert_eq!(
        labels.unwrap().get("c"),
        Some(&Text::from("2 · cancel → cancel"))
    );
    let late = state.update(BehaviourEvent::Named(number, named("Again")));
    assert_eq!(late, [], "a reply counts once");
    // A reply without a name is not asked for again, and a cluster of one is not asked about.
    let effects = state.update(BehaviourEvent::Named(next, named("\n")));
    assert_eq!(effects, []);
    assert!(!state.naming.is_running());
    assert_eq!(state.naming.names.len(), 1);
    assert_eq!(state.naming.cost, 0.5);
}

#[test]
fn names_that_were_given_outlast_an_error_and_a_stop() {
    let mut state = Behaviour::default();
    clustered(&mut state);
    let effects = begin_naming(&mut state);
    let number = naming(&effects).0.unwrap().number;
    let effects = state.update(BehaviourEvent::Named(number, named("Looks first")));
    let number = naming(&effects).0.unwrap().number;
    let lost = Err("The connection was lost.".to_owned());
    assert_eq!(state.update(BehaviourEvent::Named(number, lost)), []);
    assert_eq!(
        state.naming.failed.as_deref(),
        Some("The connection was lost.")
    );
    // Only what has no name is asked about again.
    let effects = begin_naming(&mut state);
    let again = naming(&effects).0.unwrap();
    let question = again.request.messages[1].body().content.clone().unwrap();
    assert!(question.contains("cancel → cancel"), "{question}");
    assert_eq!(state.naming.failed, None);
    let number = again.number;
    let stopped = state.update(BehaviourEvent::StopNaming);
    assert_eq!(stopped, [BehaviourEffect::AbortName]);
    let late = state.update(BehaviourEvent::Named(number, named("Late")));
    assert_eq!(late, []);
    assert_eq!(state.naming.names.len(), 1);
    // Other clusters have none of these names.
    begin_naming(&mut state);
    let effects = state.update(BehaviourEvent::FindClusters {
        rows: vec![row("a", 0.0, 1)],
        are_failures: false,
    });
    assert!(effects.contains(&BehaviourEffect::AbortName));
    assert!(state.naming.names.is_empty());
}
