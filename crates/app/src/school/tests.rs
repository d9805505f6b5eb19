//! Runs that are stopped, lost, changed and begun again, with late and doubled replies.

use volary_protocol::school::{Checkpoint, Event, Request, Updated};
use volary_school::{Knobs, Preset, UpdateMetrics};

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
    Event::Begun {
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
    assert_eq!(requests(&effects), [&Request::Train { updates: None }]);
}

#[test]
fn training_stops_after_the_current_update() {
    let (mut school, run) = ready("");
    let effects = school.update(SchoolEvent::Train(TrainingOrder::UntilStopped));
    assert_eq!(requests(&effects), [&Request::Train { updates: None }]);
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
    assert_eq!(requests(&effects), [&Request::Train { updates: None }]);
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
