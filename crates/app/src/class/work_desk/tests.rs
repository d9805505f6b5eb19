//! Tests of a pupil's work: what is kept, and handing in while the work goes on.

use std::cell::RefCell;
use std::collections::BTreeMap;

use volary_classroom::{AssignedTask, TaskStart, TaskState};
use volary_core::json::Object;
use volary_core::message::Body;
use volary_core::{AnyMessage, ToolRequestMessage};
use volary_episode::{Outcome, StepRecord};

use super::*;

const SECRET: &str = "a-secret-of-this-browser";

fn class() -> Class {
    Class {
        url: "https://class.example".to_owned(),
        code: "code".to_owned(),
    }
}

fn assignment() -> Arc<Assignment> {
    let task = |title: &str| AssignedTask {
        title: title.into(),
        start: TaskStart::Named {
            environment: "calculator".into(),
            task: None,
            seed: 0,
        },
    };
    Arc::new(Assignment {
        id: "sums".into(),
        title: "Sums / 1".into(),
        tasks: vec![task("One"), task("Two")],
        class: Some(class()),
        ..Assignment::default()
    })
}

/// An episode with an action of each of these texts.
fn episode(actions: &[&str]) -> Arc<Episode> {
    let steps = actions.iter().map(|content| {
        let action = ToolRequestMessage {
            body: Body {
                content: Some((*content).into()),
                ..Body::default()
            },
            ..ToolRequestMessage::default()
        };
        StepRecord {
            action: action.into(),
            outcome: Outcome::Failed { message: "".into() },
            seconds: None,
            details: Default::default(),
            extras: Object::new(),
        }
    });
    Arc::new(Episode {
        steps: steps.collect(),
        ..Episode::default()
    })
}

/// A pupil's browser: the work, and what the storage has.
struct TestBrowser {
    desk: WorkDesk,
    storage: BTreeMap<WorkRecord, String>,
    is_full: bool,
}

impl TestBrowser {
    fn new(route: HandInRoute) -> TestBrowser {
        TestBrowser::reopened(route, BTreeMap::new())
    }

    fn reopened(route: HandInRoute, storage: BTreeMap<WorkRecord, String>) -> TestBrowser {
        let kept = |record| storage.get(&record).cloned();
        TestBrowser {
            desk: WorkDesk::open(assignment(), route, kept, || SECRET.to_owned()),
            storage,
            is_full: false,
        }
    }

    /// With a name, and a step of the first task.
    fn ready(route: HandInRoute) -> TestBrowser {
        let mut browser = TestBrowser::new(route);
        browser.update(Event::Named("Ada".into()));
        browser.play(0, &["a"]);
        browser
    }

    /// Handles an event, carries out what concerns the storage, and returns the other effects.
    fn update(&mut self, event: Event) -> Vec<Effect> {
        let mut others = Vec::new();
        for effect in self.desk.update(event) {
            match effect {
                Effect::Keep { record, text } => {
                    let is_kept = !self.is_full;
                    if is_kept {
                        self.storage.insert(record, text);
                    }
                    assert_eq!(self.desk.update(Event::Kept { record, is_kept }), []);
                }
                Effect::Remove(record) => {
                    self.storage.remove(&record);
                }
                other => others.push(other),
            }
        }
        others
    }

    fn play(&mut self, place: usize, actions: &[&str]) -> Vec<Effect> {
        let episode = episode(actions);
        self.update(Event::Played { place, episode })
    }

    fn hand_in(&mut self) -> Submission {
        match self.update(Event::HandIn { now: 1.0 }).pop() {
            Some(Effect::Submit { submission, .. }) => submission,
            other => panic!("not sent: {other:?}"),
        }
    }

    fn why(&self) -> &str {
        self.desk.failure().map_or("", |failure| &failure.why)
    }
}

fn to_class() -> HandInRoute {
    HandInRoute::Class(class())
}

fn delivered(at: f64, is_changed: bool) -> Delivery {
    Delivery::Delivered { at, is_changed }
}

#[test]
fn work_of_another_version_is_never_overwritten() {
    let mut browser = TestBrowser::ready(HandInRoute::File);
    let work = browser.storage.get_mut(&WorkRecord::Work).unwrap();
    *work = work.replace("\"version\":1", "\"version\":2");
    let stored = browser.storage.clone();
    let mut later = TestBrowser::reopened(HandInRoute::File, stored.clone());
    assert!(later.desk.is_unreadable());
    later.update(Event::Named("Grace".into()));
    later.play(0, &["b"]);
    later.play(0, &[]);
    assert_eq!(later.storage, stored);
    // A task that the other version did not store anything for.
    later.play(1, &["c"]);
    assert_eq!(later.storage[&WorkRecord::Work], stored[&WorkRecord::Work]);
    let saved = later.update(Event::Save { now: 1.0 });
    assert!(matches!(&*saved, [Effect::Download { .. }]), "{saved:?}");
}

#[test]
fn an_episode_of_another_version_is_never_overwritten() {
    let mut browser = TestBrowser::ready(HandInRoute::File);
    let episode = WorkRecord::Episode(0);
    browser.storage.insert(episode, "of the future".to_owned());
    let mut later = TestBrowser::reopened(HandInRoute::File, browser.storage);
    assert!(later.desk.is_unreadable());
    later.play(0, &["b"]);
    later.play(1, &["c"]);
    assert_eq!(later.storage[&episode], "of the future");
    assert!(later.storage.contains_key(&WorkRecord::Episode(1)));
}

#[test]
fn the_records_of_assignments_have_fixed_keys() {
    let assignment = assignment();
    assert_eq!(WorkRecord::Work.key(&assignment), "class.sums");
    assert_eq!(WorkRecord::Episode(1).key(&assignment), "class.sums.1");
}

#[test]
fn each_step_is_kept_once() {
    let mut desk = TestBrowser::new(to_class()).desk;
    let played = |actions: &[&str]| Event::Played {
        place: 1,
        episode: episode(actions),
    };
    assert_eq!(desk.update(played(&[])), []);
    let records: Vec<WorkRecord> = desk
        .update(played(&["a"]))
        .into_iter()
        .map(|effect| match effect {
            Effect::Keep { record, .. } => record,
            other => panic!("not kept: {other:?}"),
        })
        .collect();
    assert_eq!(records, [WorkRecord::Episode(1), WorkRecord::Work]);
    assert_eq!(desk.update(played(&["a"])), []);
    assert_eq!(desk.played(), 1);
    assert_eq!(desk.standing(1).state, TaskState::Started);
    assert_eq!(desk.standing(0).state, TaskState::Untouched);
    assert_eq!(desk.actions(1).len(), 1);
    assert_eq!(desk.actions(0), Vec::<AnyMessage>::new());
    // A task that the assignment does not have.
    let place = 9;
    let episode = episode(&["a"]);
    assert_eq!(desk.update(Event::Played { place, episode }), []);
}

#[test]
fn a_task_that_is_reset_has_no_record() {
    let mut browser = TestBrowser::ready(to_class());
    assert_eq!(browser.storage.len(), 2);
    browser.play(0, &[]);
    assert_eq!(browser.desk.played(), 0);
    assert_eq!(browser.storage.len(), 1);
}

#[test]
fn the_work_is_there_at_the_next_visit() {
    let mut browser = TestBrowser::ready(to_class());
    browser.play(1, &["b", "c"]);
    let secret = browser.hand_in().secret;
    assert_eq!(secret, SECRET);
    // The page is closed before the class has answered.
    let next = TestBrowser::reopened(to_class(), browser.storage);
    assert_eq!(next.desk.pupil().as_str(), "Ada");
    assert_eq!(next.desk.played(), 2);
    assert_eq!(next.desk.actions(1).len(), 2);
    assert!(next.desk.is_unconfirmed());
    // A damaged record is one of other work: its episodes are not shown.
    let mut damaged = next.storage;
    damaged.insert(WorkRecord::Work, "{".to_owned());
    let next = TestBrowser::reopened(to_class(), damaged);
    assert_eq!((next.desk.played(), next.desk.pupil().as_str()), (0, ""));
    // A damaged episode is as good as none.
    let mut damaged = next.storage;
    damaged.insert(WorkRecord::Work, next.desk.work.to_text());
    damaged.insert(WorkRecord::Episode(0), "{".to_owned());
    let next = TestBrowser::reopened(to_class(), damaged);
    assert_eq!(next.desk.played(), 1);
}

#[test]
fn only_a_new_work_needs_a_secret() {
    let made = RefCell::new(0);
    let open = |text: Option<String>| {
        let kept = |record| text.clone().filter(|_| record == WorkRecord::Work);
        let secret = || {
            *made.borrow_mut() += 1;
            SECRET.to_owned()
        };
        WorkDesk::open(assignment(), to_class(), kept, secret)
    };
    let new = open(None);
    open(Some(new.work.to_text()));
    assert_eq!(made.into_inner(), 1);
}

#[test]
fn a_class_confirms_a_hand_in() {
    let mut browser = TestBrowser::ready(to_class());
    assert_eq!(browser.desk.delivery(), &Delivery::Never);
    let submission = browser.hand_in();
    assert_eq!(submission.hand_in.pupil.as_str(), "Ada");
    assert_eq!(submission.hand_in.played(), 1);
    assert!(browser.desk.is_sending() && !browser.desk.is_unconfirmed());
    browser.update(Event::Answered(Ok(7.0)));
    assert!(!browser.desk.is_sending());
    assert_eq!(browser.desk.delivery(), &delivered(7.0, false));
    let next = TestBrowser::reopened(to_class(), browser.storage.clone());
    assert_eq!(next.desk.delivery(), &delivered(7.0, false));
    browser.play(0, &["a", "b"]);
    assert_eq!(browser.desk.delivery(), &delivered(7.0, true));
    // It can be handed in again, and then replaces the first one.
    browser.hand_in();
    browser.update(Event::Answered(Ok(8.0)));
    assert_eq!(browser.desk.delivery(), &delivered(8.0, false));
}

#[test]
fn what_changes_during_a_hand_in_is_not_handed_in() {
    let changes: [fn(&mut TestBrowser); 3] = [
        |browser| drop(browser.play(1, &["b"])),
        |browser| drop(browser.play(0, &[])),
        |browser| drop(browser.update(Event::Named("Ada L.".into()))),
    ];
    for change in changes {
        let mut browser = TestBrowser::ready(to_class());
        browser.hand_in();
        change(&mut browser);
        browser.update(Event::Answered(Ok(7.0)));
        assert_eq!(browser.desk.delivery(), &delivered(7.0, true));
    }
    // The same name and the same steps are no change.
    let mut browser = TestBrowser::ready(to_class());
    browser.hand_in();
    browser.update(Event::Named("Ada".into()));
    browser.play(0, &["a"]);
    browser.update(Event::Answered(Ok(7.0)));
    assert_eq!(browser.desk.delivery(), &delivered(7.0, false));
}

#[test]
fn one_hand_in_is_on_its_way_at_a_time() {
    let mut browser = TestBrowser::ready(to_class());
    browser.hand_in();
    assert_eq!(browser.update(Event::HandIn { now: 2.0 }), []);
    // Saving a file meanwhile must not allow a second one.
    let saved = browser.update(Event::Save { now: 2.0 });
    assert!(matches!(&*saved, [Effect::Download { .. }]));
    assert!(browser.desk.is_sending());
    assert_eq!(browser.update(Event::HandIn { now: 3.0 }), []);
    browser.update(Event::Answered(Ok(7.0)));
    assert_eq!(browser.desk.delivery(), &delivered(7.0, false));
    // A second answer to the same request.
    browser.update(Event::Answered(Ok(9.0)));
    assert_eq!(browser.desk.delivery(), &delivered(7.0, false));
}

#[test]
fn a_failed_hand_in_loses_nothing() {
    let mut browser = TestBrowser::ready(to_class());
    browser.hand_in();
    let notice = Notice::new("Your work was not handed in.", "offline", "");
    browser.update(Event::Answered(Err(notice)));
    assert_eq!(browser.why(), "offline");
    assert!(!browser.desk.is_sending());
    // The failure says more than that no confirmation came.
    assert!(!browser.desk.is_unconfirmed());
    assert_eq!(browser.desk.delivery(), &Delivery::Unconfirmed);
    assert_eq!(browser.desk.played(), 1);
    browser.hand_in();
    assert_eq!(browser.why(), "");
    browser.update(Event::Answered(Ok(7.0)));
    assert_eq!(browser.desk.delivery(), &delivered(7.0, false));
}

#[test]
fn what_is_missing_is_said() {
    let mut browser = TestBrowser::new(to_class());
    assert_eq!(browser.update(Event::HandIn { now: 1.0 }), []);
    assert!(browser.why().contains("name is missing"));
    assert_eq!(browser.desk.delivery(), &Delivery::Never);
    assert!(!browser.desk.is_sending());
    browser.update(Event::Named("Ada".into()));
    browser.hand_in();
    assert_eq!(browser.why(), "");
}

#[test]
fn a_file_is_the_hand_in_where_no_class_can_be_reached() {
    let mut browser = TestBrowser::ready(HandInRoute::File);
    for (event, now) in [
        (Event::HandIn { now: 1.0 }, 1.0),
        (Event::Save { now: 2.0 }, 2.0),
    ] {
        let effects = browser.update(event);
        let (name, text) = match effects.as_slice() {
            [Effect::Download { name, text }] => (name, text),
            other => panic!("not saved: {other:?}"),
        };
        assert_eq!(name, "ada-sums-1.json");
        let hand_in = HandIn::read(text).expect("a hand-in");
        assert_eq!((hand_in.handed_in, hand_in.played()), (now, 1));
        assert_eq!(browser.desk.delivery(), &delivered(now, false));
    }
    browser.play(0, &["a", "b"]);
    assert_eq!(browser.desk.delivery(), &delivered(2.0, true));
    // With a class, a file is a copy.
    let mut browser = TestBrowser::ready(to_class());
    let effects = browser.update(Event::Save { now: 1.0 });
    assert!(matches!(&*effects, [Effect::Download { .. }]));
    assert_eq!(browser.desk.delivery(), &Delivery::Never);
}

#[test]
fn work_that_one_record_lacks_is_not_kept() {
    let mut browser = TestBrowser::ready(to_class());
    assert!(browser.desk.is_kept());
    browser.is_full = true;
    browser.play(0, &["a", "b"]);
    assert!(!browser.desk.is_kept());
    // There is room again for another task, but the first one still lacks its last step.
    browser.is_full = false;
    browser.play(1, &["c"]);
    assert!(!browser.desk.is_kept());
    browser.play(0, &["a", "b", "d"]);
    assert!(browser.desk.is_kept());
    // A task without steps has nothing to lose.
    browser.is_full = true;
    browser.play(1, &["c", "d"]);
    browser.is_full = false;
    browser.play(1, &[]);
    assert!(browser.desk.is_kept());
}
