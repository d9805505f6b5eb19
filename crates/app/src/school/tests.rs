//! Runs that are stopped, lost, changed and begun again, with late and doubled replies.

use volary_protocol::school::{Checkpoint, Event, Request, Updated};
use volary_school::record::SampleRecord;
use volary_school::{Behaviour, Finding, Knobs, Preset, UpdateMetrics};

use super::*;

/// The school with a run that is ready, and the number of the run.
fn ready(query: &str) -> (School, u32) {
    let mut school = School::default();
    let effects = school.update(SchoolEvent::Open(query.to_owned()));
    assert_eq!(effects[0], SchoolEffect::StartWorker);
    let run = begun(&effects);
    reply(&mut school, run, begun_event(0));
    assert_eq!(school.phase, SchoolPhase::Ready);
    (school, run)
}

/// The run that effects begin.
fn begun(effects: &[SchoolEffect]) -> u32 {
    let run = effects.iter().find_map(|effect| match effect {
        SchoolEffect::Call {
            run,
            request: Request::Begin { .. },
        } => Some(*run),
        _ => None,
    });
    run.expect("a run is begun")
}

fn begun_event(updates: u32) -> Event {
    Event::Started {
        updates,
        parameters: 26_528,
        prompt: "?37*48=".into(),
    }
}

fn updated(update: u32) -> Event {
    Event::Updated(Box::new(Updated {
        metrics: UpdateMetrics {
            update,
            success: 0.5,
            ..UpdateMetrics::default()
        },
        samples: Vec::new(),
        checkpoint: (update % 10 == 9).then(|| Checkpoint::from(vec![1])),
    }))
}

fn reply(school: &mut School, run: u32, event: Event) -> Vec<SchoolEffect> {
    school.update(SchoolEvent::Replied { run, event })
}

fn requests(effects: &[SchoolEffect]) -> Vec<&Request> {
    let requests = effects.iter().filter_map(|effect| match effect {
        SchoolEffect::Call { request, .. } => Some(request),
        _ => None,
    });
    requests.collect()
}

fn long_training() -> Request {
    Request::Train {
        updates: Some(LONGEST_TRAINING),
    }
}

#[test]
fn what_is_chosen_while_the_run_is_loaded_is_done_afterwards() {
    let mut school = School::default();
    let run = begun(&school.update(SchoolEvent::Open(String::new())));
    assert_eq!(
        school.update(SchoolEvent::Train(TrainingOrder::UntilStopped)),
        []
    );
    assert!(school.is_training());
    let effects = reply(&mut school, run, begun_event(0));
    assert_eq!(requests(&effects), [&long_training()]);
}

#[test]
fn training_stops_after_the_current_update() {
    let (mut school, run) = ready("");
    let effects = school.update(SchoolEvent::Train(TrainingOrder::UntilStopped));
    assert_eq!(requests(&effects), [&long_training()]);
    // A second click changes nothing.
    assert_eq!(
        school.update(SchoolEvent::Train(TrainingOrder::UntilStopped)),
        []
    );
    reply(&mut school, run, updated(0));
    let effects = school.update(SchoolEvent::Stop);
    assert_eq!(requests(&effects), [&Request::Stop]);
    assert_eq!(school.update(SchoolEvent::Stop), []);
    reply(&mut school, run, updated(1));
    school.update(SchoolEvent::TrainingEnded { run });
    assert_eq!(school.phase, SchoolPhase::Ready);
    assert_eq!(school.done(), 2);
}

#[test]
fn doubled_and_late_replies_change_nothing() {
    let (mut school, run) = ready("");
    school.update(SchoolEvent::Train(TrainingOrder::UntilStopped));
    reply(&mut school, run, updated(0));
    reply(&mut school, run, updated(0));
    assert_eq!(school.done(), 1);
    let next = begun(&school.update(SchoolEvent::Restart));
    assert_eq!(school.history, []);
    reply(&mut school, next, begun_event(0));
    let before = school.clone();
    reply(&mut school, run, updated(1));
    school.update(SchoolEvent::TrainingEnded { run });
    school.update(SchoolEvent::Lost {
        run,
        reason: "x".to_owned(),
    });
    assert_eq!(school, before);
}

#[test]
fn a_worker_that_is_lost_after_stop_trains_no_more() {
    let (mut school, run) = ready("");
    school.update(SchoolEvent::Train(TrainingOrder::UntilStopped));
    reply(&mut school, run, updated(0));
    school.update(SchoolEvent::Stop);
    let next = begun(&school.update(SchoolEvent::Lost {
        run,
        reason: "out of memory".to_owned(),
    }));
    let effects = reply(&mut school, next, begun_event(0));
    assert_eq!(requests(&effects), [] as [&Request; 0]);
    assert_eq!(school.phase, SchoolPhase::Ready);
}

#[test]
fn a_lost_worker_is_replaced_and_training_continues_from_the_checkpoint() {
    let (mut school, run) = ready("");
    school.update(SchoolEvent::Train(TrainingOrder::UntilStopped));
    for update in 0..13 {
        reply(&mut school, run, updated(update));
    }
    let lose = |school: &mut School, run| {
        school.update(SchoolEvent::Lost {
            run,
            reason: "out of memory".to_owned(),
        })
    };
    let effects = lose(&mut school, run);
    let next = begun(&effects);
    assert!(matches!(
        requests(&effects)[..],
        [Request::Begin {
            checkpoint: Some(_),
            ..
        }]
    ));
    assert!(school.notice.is_some());
    let effects = reply(&mut school, next, begun_event(10));
    assert_eq!(school.done(), 10);
    assert_eq!(requests(&effects), [&long_training()]);
    // Without a checkpoint since then, the run stops.
    assert_eq!(lose(&mut school, next), []);
    assert_eq!(school.phase, SchoolPhase::Unbegun);
    assert_eq!(school.done(), 10);
}

#[test]
fn knobs_change_the_run_from_the_next_update_on_and_are_in_the_address() {
    let (mut school, run) = ready("seed=3");
    reply(&mut school, run, updated(0));
    let colder = Knobs {
        temperature: 0.5,
        ..school.knobs.clone()
    };
    let effects = school.update(SchoolEvent::Change(colder.clone()));
    assert_eq!(
        effects,
        [
            SchoolEffect::Call {
                run,
                request: Request::Tune {
                    knobs: colder.clone()
                }
            },
            SchoolEffect::WriteAddress("seed=3&temperature=0.5".to_owned())
        ]
    );
    assert_eq!(school.changes, [1]);
    // The address that was just written.
    let query = "seed=3&temperature=0.5".to_owned();
    assert_eq!(school.update(SchoolEvent::Open(query)), []);
    assert_eq!(school.done(), 1);
    // Other tasks make another run.
    let other = Knobs { seed: 4, ..colder };
    begun(&school.update(SchoolEvent::Change(other)));
    assert_eq!(school.done(), 0);
    assert!(school.changes.is_empty());
}

#[test]
fn impossible_knobs_are_refused_and_nothing_is_lost() {
    let (mut school, run) = ready("");
    reply(&mut school, run, updated(0));
    let impossible = Knobs {
        temperature: 0.0,
        ..Knobs::default()
    };
    assert_eq!(school.update(SchoolEvent::Change(impossible)), []);
    assert_eq!(school.knobs, Knobs::default());
    let why = &school.notice.as_ref().unwrap().why;
    assert!(why.starts_with("The temperature is 0"), "{why}");
    assert_eq!(school.done(), 1);
}

#[test]
fn a_broken_link_begins_a_usual_run_and_says_why() {
    let mut school = School::default();
    begun(&school.update(SchoolEvent::Open("groups=4".to_owned())));
    assert_eq!(school.knobs, Knobs::default());
    assert!(school.notice.as_ref().unwrap().why.contains("groups"));
}

#[test]
fn a_planted_failure_begins_a_run_and_its_repair_goes_on_with_it() {
    let (mut school, _) = ready("");
    let run = begun(&school.update(SchoolEvent::Plant(Preset::MaskOff)));
    assert!(!school.knobs.has_mask);
    reply(&mut school, run, begun_event(0));
    for update in 0..5 {
        reply(&mut school, run, updated(update));
    }
    let effects = school.update(SchoolEvent::Repair(Finding::TrainedOnReplies));
    assert!(school.knobs.has_mask);
    assert_eq!(school.done(), 5);
    assert!(matches!(requests(&effects)[..], [Request::Tune { .. }]));
}

#[test]
fn questions_go_to_the_policy_of_the_selected_update() {
    let (mut school, run) = ready("");
    for update in 0..5 {
        reply(&mut school, run, updated(update));
    }
    let asked = |school: &mut School| -> Vec<u32> {
        let effects = school.update(SchoolEvent::Ask {
            prompt: " ?1+1= ".to_owned(),
        });
        let asked = requests(&effects).into_iter().map(|request| match request {
            Request::Answer { update, prompt, .. } if &**prompt == "?1+1=" => *update,
            other => panic!("{other:?}"),
        });
        asked.collect()
    };
    assert_eq!(asked(&mut school), [0, 5]);
    school.update(SchoolEvent::Select(Some(1)));
    assert_eq!(asked(&mut school), [0, 2]);
    // The latest update is not a selection: what is shown follows the run.
    school.update(SchoolEvent::Select(Some(4)));
    assert_eq!(school.selected, None);
}

#[test]
fn one_update_is_explained_once_it_is_made() {
    let (mut school, run) = ready("");
    let effects = school.update(SchoolEvent::Slowly);
    assert_eq!(requests(&effects), [&Request::Train { updates: Some(1) }]);
    reply(&mut school, run, updated(0));
    let effects = school.update(SchoolEvent::TrainingEnded { run });
    assert_eq!(requests(&effects), [&Request::Explain]);
    assert_eq!(school.update(SchoolEvent::TrainingEnded { run }), []);
}

#[test]
fn training_goes_on_if_samples_cannot_be_stored() {
    let (mut school, run) = ready("");
    school.update(SchoolEvent::Store(4));
    school.update(SchoolEvent::Train(TrainingOrder::UntilStopped));
    reply(
        &mut school,
        run,
        Event::Unstored {
            reason: "full".into(),
        },
    );
    assert_eq!(school.storing.groups, 0);
    assert!(school.is_training());
    assert_eq!(school.notice.as_ref().unwrap().why, "full");
}

fn facts(effects: &[SchoolEffect]) -> Vec<(&str, SchoolFact)> {
    let facts = effects.iter().filter_map(|effect| match effect {
        SchoolEffect::Happened { began, fact } => Some((&**began, *fact)),
        _ => None,
    });
    facts.collect()
}

#[test]
fn a_task_of_a_lesson_begins_afresh_and_its_facts_name_the_settings_it_began_with() {
    let (mut school, run) = ready("grader=leaky");
    reply(&mut school, run, updated(0));
    // The same settings, by the link of a lesson.
    let effects = school.update(SchoolEvent::Open("lesson=leak&grader=leaky".to_owned()));
    let run = begun(&effects);
    assert!(effects.contains(&SchoolEffect::WriteAddress("grader=leaky".to_owned())));
    reply(&mut school, run, begun_event(0));
    // The address that it wrote changes nothing.
    assert_eq!(
        school.update(SchoolEvent::Open("grader=leaky".to_owned())),
        []
    );
    school.update(SchoolEvent::Train(TrainingOrder::UntilStopped));
    let graded = |update: u32, graded: f64| {
        Event::Updated(Box::new(Updated {
            metrics: UpdateMetrics {
                update,
                graded,
                success: 0.25,
                samples: 128,
                discouraged: 9,
                entropy: 0.5,
                ..UpdateMetrics::default()
            },
            samples: Vec::new(),
            checkpoint: None,
        }))
    };
    let leak = Finding::RewardWithoutSuccess;
    for update in 0..4 {
        assert_eq!(
            facts(&reply(&mut school, run, graded(update, 0.9))),
            [],
            "{update}"
        );
    }
    let effects = reply(&mut school, run, graded(4, 0.9));
    let found = [
        ("grader=leaky", SchoolFact::Success(25)),
        ("grader=leaky", SchoolFact::Found(leak)),
    ];
    assert_eq!(facts(&effects), found);
    school.update(SchoolEvent::Repair(leak));
    for update in 5..9 {
        assert_eq!(facts(&reply(&mut school, run, graded(update, 0.25))), []);
    }
    let effects = reply(&mut school, run, graded(9, 0.25));
    let repaired = [("grader=leaky", SchoolFact::Repaired(leak))];
    assert_eq!(facts(&effects), repaired);
}

fn sample(behaviour: Behaviour) -> SampleRecord {
    SampleRecord {
        group: 0,
        sample: 0,
        text: "?37*48=a1.".to_owned(),
        prompt: 7,
        mask: vec![false; 10],
        log_probs: vec![0.0; 10],
        behaviour,
        graded: 0.0,
        reward: 0.0,
        advantage: 0.0,
    }
}

#[test]
fn a_person_and_the_policy_answer_the_same_task_and_are_scored() {
    let (mut school, run) = ready("");
    let effects = school.update(SchoolEvent::Challenge);
    assert_eq!(requests(&effects), [&Request::Draw { number: 1 }]);
    // Not before the task is there.
    assert_eq!(school.update(SchoolEvent::PlayTurn("a1.".to_owned())), []);
    let drawn = |number: u32| Event::Drawn {
        number,
        prompt: "?37*48=".into(),
    };
    reply(&mut school, run, drawn(1));
    let effects = school.update(SchoolEvent::PlayTurn("x".to_owned()));
    assert!(matches!(
        requests(&effects)[..],
        [Request::Play { update: 0, turns, .. }] if turns.len() == 1
    ));
    let refused = Event::Refused {
        reason: "`x` is no move.".into(),
    };
    reply(&mut school, run, refused);
    assert_eq!(school.contest.turns, Vec::<String>::new());
    assert!(school.contest.refused.is_some());
    school.update(SchoolEvent::PlayTurn("a1776.".to_owned()));
    // A second click while it is played.
    assert_eq!(school.update(SchoolEvent::PlayTurn("a1.".to_owned())), []);
    let effects = reply(
        &mut school,
        run,
        Event::Played {
            person: Box::new(sample(Behaviour::Right)),
            is_over: true,
            policy: Some((0, Box::new(sample(Behaviour::NoTool)))),
        },
    );
    assert_eq!(
        facts(&effects),
        [("", SchoolFact::Did(SchoolDeed::PlayedAgainst))]
    );
    let contest = &school.contest;
    assert_eq!(
        (contest.rounds, contest.person_solved, contest.policy_solved),
        (1, 1, 0)
    );
    assert_eq!(school.update(SchoolEvent::PlayTurn("a1.".to_owned())), []);
    let effects = school.update(SchoolEvent::Challenge);
    assert_eq!(requests(&effects), [&Request::Draw { number: 2 }]);
    // A late task of the former round.
    reply(&mut school, run, drawn(1));
    assert_eq!((&*school.contest.prompt, school.contest.rounds), ("", 1));
}

fn taught(without: Option<&str>) -> Event {
    Event::Taught(Box::new(Taught {
        without: without.map(Text::from),
        pupils: vec![("Ada".into(), 2), ("Ben".into(), 1)],
        left_out: Vec::new(),
        examples: 3,
        tasks: 512,
        before: 0.1,
        success: 0.3,
        warm_start: WarmStartBytes::from(vec![1]),
    }))
}

#[test]
fn a_class_is_the_warm_start_of_a_run_also_after_its_worker_is_lost() {
    let (mut school, run) = ready("");
    let files = vec![ClassFile {
        name: "ada.json".into(),
        text: "{}".into(),
    }];
    let effects = school.update(SchoolEvent::TakeClass(files.clone()));
    let expected = Request::Teach {
        files: files.clone(),
        without: None,
    };
    assert_eq!(requests(&effects), [&expected]);
    assert!(school.class.is_teaching);
    // One at a time.
    assert_eq!(school.update(SchoolEvent::LeaveOut("Ben".into())), []);
    let effects = reply(&mut school, run, taught(None));
    assert_eq!(
        facts(&effects),
        [("", SchoolFact::Did(SchoolDeed::ClassTaught))]
    );
    school.update(SchoolEvent::LeaveOut("Ben".into()));
    reply(&mut school, run, taught(Some("Ben")));
    reply(&mut school, run, taught(Some("Ben")));
    assert_eq!(school.class.results.len(), 2);
    let warm_start = |effects: &[SchoolEffect]| {
        requests(effects).iter().find_map(|request| match request {
            Request::Begin { warm_start, .. } => Some(warm_start.is_some()),
            _ => None,
        })
    };
    let effects = school.update(SchoolEvent::UseTaught(Some(1)));
    assert_eq!(warm_start(&effects), Some(true));
    let run = begun(&effects);
    reply(&mut school, run, begun_event(0));
    let effects = school.update(SchoolEvent::Lost {
        run,
        reason: "x".to_owned(),
    });
    assert_eq!(warm_start(&effects), Some(true));
    reply(&mut school, begun(&effects), begun_event(0));
    // What a class taught in one environment does not fit another.
    let effects = school.update(SchoolEvent::Change(Knobs {
        environment: "hands".to_owned(),
        ..Knobs::default()
    }));
    assert_eq!(warm_start(&effects), Some(false));
    assert_eq!(school.class.results, []);
}
