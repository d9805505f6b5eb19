//! The schedule: examples and properties.

use proptest::prelude::*;
use volary_core::json::Object;

use super::*;
use crate::evaluation::plan::{PlannedPolicy, PlannedTask};
use crate::model::limits::Budget;

fn plan(tasks: usize, actors: &[Actor], trials: usize, pace: Pace) -> Plan {
    let policy = |(n, actor): (usize, &Actor)| PlannedPolicy {
        name: format!("policy {n}").into(),
        actor: actor.clone(),
        max_steps: 5,
    };
    Plan {
        tasks: (0..tasks)
            .map(|n| PlannedTask {
                id: n.to_string().into(),
                title: "".into(),
                environment: "counter".into(),
                configuration: Object::new(),
            })
            .collect(),
        policies: actors.iter().enumerate().map(policy).collect(),
        trials,
        pace,
        ..Plan::default()
    }
}

fn model(connection: &str) -> Actor {
    Actor::Model {
        connection: connection.into(),
        settings: Object::new(),
    }
}

fn running(plan: &Plan) -> Schedule {
    let mut schedule = Schedule::new(plan, [], []);
    schedule.resume(0.0);
    schedule
}

fn usage(tokens: u64) -> Usage {
    Usage {
        prompt: tokens,
        ..Usage::default()
    }
}

fn result(cell: usize, counts: bool, tokens: u64) -> CellResult {
    let spent = Spent {
        tokens,
        ..Spent::default()
    };
    let failure = crate::evaluation::Failure {
        kind: crate::evaluation::FailureKind::Network,
        message: "".into(),
    };
    if counts {
        CellResult::finished(cell, &volary_episode::Episode::default(), spent, 1)
    } else {
        CellResult::failed(cell, failure, 0.0, spent, 1)
    }
}

#[test]
fn models_keep_to_the_concurrency_and_others_do_not_wait_for_them() {
    let pace = Pace {
        concurrency: 2,
        ..Pace::default()
    };
    let plan = plan(3, &[Actor::Random, model("a")], 1, pace);
    let mut schedule = running(&plan);
    assert_eq!(schedule.begin(Lane::Model, 9), [1, 3]);
    assert!(schedule.begin(Lane::Model, 9).is_empty());
    assert_eq!(schedule.begin(Lane::Local, 2), [0, 2]);
    schedule.ended(1.0, 1, true);
    schedule.returned(3);
    assert_eq!(schedule.begin(Lane::Model, 9), [3, 5]);
    assert_eq!(schedule.phase(), &EvaluationPhase::Running);
}

#[test]
fn it_ends_with_the_last_cell_and_failures_can_be_tried_again() {
    let plan = plan(2, &[Actor::Random], 1, Pace::default());
    let mut schedule = running(&plan);
    assert_eq!(schedule.begin(Lane::Local, 9), [0, 1]);
    schedule.ended(1.0, 0, true);
    schedule.ended(2.0, 1, false);
    assert_eq!(schedule.phase(), &EvaluationPhase::Finished);
    assert!(schedule.begin(Lane::Local, 9).is_empty());
    assert!(schedule.retry_failures() && !schedule.retry_failures());
    schedule.resume(3.0);
    assert_eq!(schedule.begin(Lane::Local, 9), [1]);
    schedule.ended(4.0, 1, true);
    let progress = schedule.progress(5.0);
    assert_eq!((progress.finished, progress.failed), (2, 0));
    assert_eq!(schedule.phase(), &EvaluationPhase::Finished);
}

#[test]
fn nothing_to_do_is_finished_at_once() {
    let none = plan(0, &[Actor::Random], 1, Pace::default());
    assert_eq!(
        Schedule::new(&none, [], []).phase(),
        &EvaluationPhase::Finished
    );
}

#[test]
fn a_paused_one_neither_begins_nor_sends() {
    let plan = plan(2, &[model("a")], 1, Pace::default());
    let mut schedule = Schedule::new(&plan, [], []);
    assert_eq!(
        schedule.phase(),
        &EvaluationPhase::Paused(PauseReason::Loaded)
    );
    assert!(schedule.begin(Lane::Model, 9).is_empty());
    schedule.resume(0.0);
    assert_eq!(schedule.begin(Lane::Model, 1), [0]);
    schedule.pause(1.0, PauseReason::Asked);
    assert_eq!(schedule.permit(1.0, 0), Permit::Hold);
    schedule.resume(2.0);
    assert_eq!(schedule.permit(2.0, 0), Permit::Go);
}

#[test]
fn requests_and_tokens_a_minute() {
    let pace = Pace {
        requests_per_minute: Some(2),
        ..Pace::default()
    };
    let mut schedule = running(&plan(9, &[model("a"), model("b"), model("a")], 1, pace));
    assert_eq!(schedule.permit(0.0, 0), Permit::Go);
    assert_eq!(schedule.permit(10.0, 2), Permit::Go);
    // Another connection has its own window; another policy of the same connection shares it.
    assert_eq!(schedule.permit(20.0, 0), Permit::Wait(40.0));
    assert_eq!(schedule.permit(20.0, 1), Permit::Go);
    assert_eq!(schedule.permit(60.0, 0), Permit::Go);
    assert_eq!(schedule.permit(60.0, 0), Permit::Wait(10.0));

    let pace = Pace {
        tokens_per_minute: Some(100),
        ..Pace::default()
    };
    let mut schedule = running(&plan(9, &[model("a")], 1, pace));
    assert_eq!(schedule.permit(0.0, 0), Permit::Go);
    schedule.answered(1.0, 0, Some(&usage(60)), None);
    assert_eq!(schedule.permit(2.0, 0), Permit::Go);
    // 60 tokens were used, and the request in flight is expected to use 60 more.
    assert_eq!(schedule.permit(3.0, 0), Permit::Wait(58.0));
    schedule.given_up(0);
    assert_eq!(schedule.permit(3.0, 0), Permit::Go);
}

#[test]
fn more_tokens_than_a_minute_allows_still_go_alone() {
    let pace = Pace {
        tokens_per_minute: Some(10),
        ..Pace::default()
    };
    let mut schedule = running(&plan(9, &[model("a")], 1, pace));
    assert_eq!(schedule.permit(0.0, 0), Permit::Go);
    schedule.answered(0.0, 0, Some(&usage(1000)), None);
    assert_eq!(schedule.permit(1.0, 0), Permit::Wait(59.0));
    assert_eq!(schedule.permit(61.0, 0), Permit::Go);
    assert_eq!(schedule.permit(61.0, 0), Permit::Hold);
}

#[test]
fn budgets_pause_it_and_a_higher_one_resumes() {
    let budget = Budget {
        tokens: Some(100),
        ..Budget::default()
    };
    let pace = Pace {
        budget,
        ..Pace::default()
    };
    let plan = plan(9, &[model("a")], 1, pace);
    let mut schedule = running(&plan);
    assert_eq!(schedule.permit(0.0, 0), Permit::Go);
    schedule.answered(1.0, 0, Some(&usage(60)), Some(0.1));
    assert_eq!(schedule.permit(1.0, 0), Permit::Go);
    // The request in flight may spend the rest.
    assert_eq!(schedule.permit(1.0, 0), Permit::Hold);
    assert_eq!(schedule.phase(), &EvaluationPhase::Running);
    schedule.answered(2.0, 0, Some(&usage(60)), Some(0.1));
    assert_eq!(schedule.permit(2.0, 0), Permit::Hold);
    assert!(matches!(
        schedule.phase(),
        EvaluationPhase::Paused(PauseReason::Budget(Exhausted::Tokens {
            limit: 100,
            spent: 120
        }))
    ));
    schedule.resume(3.0);
    assert_eq!(schedule.permit(3.0, 0), Permit::Hold);
    schedule.set_pace(Pace::default());
    schedule.resume(4.0);
    assert_eq!(schedule.permit(4.0, 0), Permit::Go);
    // The cost from before a reload counts: that of finished, failed and started cells.
    let results = [result(0, true, 30), result(1, false, 30)];
    let drafts = [2, 0].map(|cell| {
        let spent = Spent {
            tokens: 45,
            ..Spent::default()
        };
        (cell, spent)
    });
    let mut schedule = Schedule::new(&plan, &results, drafts);
    assert_eq!(schedule.spent().tokens, 105);
    schedule.resume(0.0);
    assert_eq!(schedule.permit(0.0, 0), Permit::Hold);
}

#[test]
fn renewed_it_knows_what_others_did_and_what_was_sent_within_the_minute() {
    let pace = Pace {
        requests_per_minute: Some(1),
        ..Pace::default()
    };
    let plan = plan(3, &[model("a")], 1, pace);
    let mut schedule = running(&plan);
    assert_eq!(schedule.begin(Lane::Model, 1), [0]);
    assert_eq!(schedule.permit(0.0, 0), Permit::Go);
    schedule.answered(1.0, 0, None, None);
    let results = [result(0, true, 0), result(1, true, 0)];
    let mut renewed = schedule.renewed(&plan, &results, []);
    assert_eq!(
        renewed.phase(),
        &EvaluationPhase::Paused(PauseReason::Loaded)
    );
    renewed.resume(2.0);
    assert_eq!(renewed.begin(Lane::Model, 9), [2]);
    assert_eq!(renewed.permit(10.0, 0), Permit::Wait(50.0));
}

#[test]
fn the_time_left_follows_the_slower_lane() {
    let plan = plan(10, &[Actor::Random, model("a")], 1, Pace::default());
    let mut schedule = running(&plan);
    assert_eq!(schedule.progress(5.0).seconds_left, None);
    let local = schedule.begin(Lane::Local, 10);
    let models = schedule.begin(Lane::Model, 2);
    for cell in local {
        schedule.ended(1.0, cell, true);
    }
    for cell in models {
        schedule.ended(10.0, cell, true);
    }
    assert_eq!(schedule.progress(10.0).seconds_left, Some(40.0));
    schedule.pause(10.0, PauseReason::Asked);
    assert_eq!(schedule.progress(11.0).seconds_left, None);
}

/// An event of a random sequence.
#[derive(Clone, Debug)]
enum Event {
    Begin(bool, usize),
    Ask(usize),
    Answer(usize, u64),
    GiveUp(usize),
    End(usize, bool),
    Return(usize),
    Pause,
    Resume,
    Retry,
    Pass(f64),
}

fn event() -> impl Strategy<Value = Event> {
    prop_oneof![
        1 => (any::<bool>(), 0_usize..6).prop_map(|(model, most)| Event::Begin(model, most)),
        4 => (0_usize..3).prop_map(Event::Ask),
        3 => (0_usize..8, 1_u64..50).prop_map(|(index, tokens)| Event::Answer(index, tokens)),
        1 => (0_usize..8).prop_map(Event::GiveUp),
        3 => (0_usize..8, any::<bool>()).prop_map(|(index, counts)| Event::End(index, counts)),
        1 => (0_usize..8).prop_map(Event::Return),
        1 => Just(Event::Pause),
        2 => Just(Event::Resume),
        1 => Just(Event::Retry),
        3 => (0.0..30.0).prop_map(Event::Pass),
    ]
}

proptest! {
    #[test]
    fn whatever_happens_the_rules_hold(events in prop::collection::vec(event(), 1..200)) {
        let pace = Pace {
            concurrency: 3,
            requests_per_minute: Some(5),
            tokens_per_minute: None,
            budget: Budget { tokens: Some(400), ..Budget::default() },
        };
        let plan = plan(4, &[Actor::Random, model("a"), model("b")], 2, pace);
        let mut schedule = running(&plan);
        let mut now = 0.0;
        let mut under_way: Vec<usize> = Vec::new();
        let mut flying: Vec<usize> = Vec::new();
        let mut sent: Vec<(f64, usize)> = Vec::new();
        let mut finished = BTreeSet::new();
        let mut failed = BTreeSet::new();
        let mut tokens = 0;
        for event in events {
            let was_running = *schedule.phase() == EvaluationPhase::Running;
            match event {
                Event::Begin(is_model, most) => {
                    let lane = if is_model { Lane::Model } else { Lane::Local };
                    for cell in schedule.begin(lane, most) {
                        prop_assert!(was_running && schedule.lane(cell) == lane);
                        prop_assert!(!under_way.contains(&cell));
                        prop_assert!(!finished.contains(&cell) && !failed.contains(&cell));
                        under_way.push(cell);
                    }
                    let models = under_way.iter().filter(|cell| schedule.lane(**cell) == Lane::Model);
                    prop_assert!(models.count() <= 3);
                }
                Event::Ask(policy) => match schedule.permit(now, policy) {
                    Permit::Go => {
                        prop_assert!(was_running && tokens < 400);
                        if policy > 0 {
                            flying.push(policy);
                            sent.push((now, policy));
                            let recent = sent.iter().filter(|(time, by)| *by == policy && now - *time < 60.0);
                            prop_assert!(recent.count() <= 5);
                        }
                    }
                    Permit::Wait(seconds) => prop_assert!(seconds > 0.0 && seconds <= 60.0),
                    Permit::Hold => {}
                },
                Event::Answer(index, used) if !flying.is_empty() => {
                    let policy = flying.remove(index % flying.len());
                    tokens += used;
                    schedule.answered(now, policy, Some(&usage(used)), Some(0.0));
                    prop_assert_eq!(schedule.spent().tokens, tokens);
                }
                Event::GiveUp(index) if !flying.is_empty() => {
                    let policy = flying.remove(index % flying.len());
                    schedule.given_up(policy);
                }
                Event::End(index, counts) if !under_way.is_empty() => {
                    let cell = under_way.remove(index % under_way.len());
                    schedule.ended(now, cell, counts);
                    // A second report is ignored.
                    schedule.ended(now, cell, !counts);
                    if counts { finished.insert(cell); } else { failed.insert(cell); }
                }
                Event::Return(index) if !under_way.is_empty() => {
                    let cell = under_way.remove(index % under_way.len());
                    schedule.returned(cell);
                }
                Event::Pause => schedule.pause(now, PauseReason::Asked),
                Event::Resume => schedule.resume(now),
                Event::Retry => {
                    prop_assert_eq!(schedule.retry_failures(), !failed.is_empty());
                    failed.clear();
                }
                Event::Pass(seconds) => now += seconds,
                _ => {}
            }
            let progress = schedule.progress(now);
            prop_assert_eq!(
                (progress.finished, progress.failed, progress.under_way),
                (finished.len(), failed.len(), under_way.len())
            );
            let over = finished.len() + failed.len() == plan.length();
            prop_assert_eq!(*schedule.phase() == EvaluationPhase::Finished, over);
        }
        // A schedule rebuilt from the stored results queues the remaining cells and nothing else.
        let kept = finished.iter().map(|cell| result(*cell, true, 0));
        let results: Vec<CellResult> = kept.chain(failed.iter().map(|cell| result(*cell, false, 0))).collect();
        let mut rebuilt = Schedule::new(&plan, &results, []);
        rebuilt.resume(0.0);
        let mut rest: Vec<usize> = rebuilt.begin(Lane::Local, usize::MAX);
        loop {
            let begun = rebuilt.begin(Lane::Model, usize::MAX);
            if begun.is_empty() { break; }
            for cell in &begun { rebuilt.ended(1.0, *cell, true); }
            rest.extend(begun);
        }
        rest.sort_unstable();
        let open: Vec<usize> = (0..plan.length())
            .filter(|cell| !finished.contains(cell) && !failed.contains(cell))
            .collect();
        prop_assert_eq!(rest, open);
    }
}
