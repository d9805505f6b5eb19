//! The library: the state after each event, and its effects.

mod interleavings;

use volary_formats::import::fields::Shape;
use volary_protocol::library::{Event, Unfetched, UnmappedFile};

use super::*;

fn row(id: &str) -> Row {
    Row {
        id: id.into(),
        ..Row::default()
    }
}

fn added(ids: &[&str]) -> Event {
    let rows = ids.iter().map(|id| row(id)).collect();
    Event::Added { rows }
}

/// A library whose table is shown.
fn shown() -> Library {
    let mut library = Library::default();
    assert_eq!(library.show_table(true, 0.0), [Effect::Index]);
    library
}

fn ids(effects: &[Effect]) -> Vec<String> {
    let rows = effects.iter().rev().find_map(|effect| match effect {
        Effect::Rows(rows) => Some(rows),
        _ => None,
    });
    let rows = rows.expect("rows are shown");
    rows.iter().map(|row| row.id.to_string()).collect()
}

#[test]
fn rows_of_a_hidden_table_are_shown_when_it_appears() {
    let mut library = Library::default();
    assert_eq!(library.handle(added(&["a"]), 1.0), []);
    let effects = library.show_table(true, 2.0);
    assert_eq!(ids(&effects), ["a"]);
    assert_eq!(effects.last(), Some(&Effect::Index));
}

#[test]
fn rows_that_follow_quickly_are_shown_together() {
    let mut library = shown();
    assert_eq!(ids(&library.handle(added(&["a"]), 1.0)), ["a"]);
    let effects = library.handle(added(&["b"]), 1.1);
    let [Effect::Wake(wait)] = effects[..] else {
        panic!("{effects:?}");
    };
    assert!(wait > 0.0 && wait < 0.2, "{wait}");
    assert_eq!(library.handle(added(&["c"]), 1.15), []);
    assert_eq!(ids(&library.woken(1.2)), ["a", "b", "c"]);
}

#[test]
fn a_dropped_row_does_not_come_back() {
    let mut library = shown();
    library.handle(added(&["a", "b"]), 1.0);
    library.handle(added(&["c"]), 1.05);
    assert_eq!(ids(&library.drop_rows(&["c".into(), "a".into()])), ["b"]);
    assert_eq!(library.woken(1.2), []);
}

#[test]
fn a_reading_ends_with_its_report() {
    let mut library = shown();
    let (number, effects) = library.begin("Reading");
    let [Effect::Readings(readings), others @ ..] = &effects[..] else {
        panic!("{effects:?}");
    };
    assert_eq!(readings[0].number, number);
    let cleared = [Effect::Report(Vec::new()), Effect::OfferMapping(Vec::new())];
    assert_eq!(others, cleared, "those of the last one");
    let notes = vec!["One line was skipped.".into()];
    let effects = library.handle_reading(
        number,
        Event::Read {
            notes: notes.clone(),
        },
        1.0,
    );
    let expected = [
        Effect::Readings(Vec::new()),
        Effect::Report(notes),
        Effect::SearchAgain,
        Effect::Index,
    ];
    assert_eq!(effects, expected);
}

#[test]
fn a_file_whose_members_can_be_mapped_is_offered() {
    let mut library = Library::default();
    let (number, _) = library.begin("Reading");
    let files = vec![UnmappedFile {
        file: "a.jsonl".into(),
        shape: Shape::default(),
        head: "{}".into(),
    }];
    let unmapped = Event::Unmapped {
        files: files.clone(),
    };
    let effects = library.handle_reading(number, unmapped, 1.0);
    assert_eq!(effects, [Effect::OfferMapping(files)]);
    let refused = |library: &mut Library| {
        let reason = "Nothing was found.".into();
        let effects = library.handle_reading(number, Event::Refused { reason }, 1.0);
        let mut effects = effects.iter();
        effects.any(|effect| matches!(effect, Effect::Notify(_)))
    };
    assert!(!refused(&mut library), "the offer says it");
    assert!(refused(&mut library), "only once");
}

#[test]
fn a_rejected_import_states_the_reason() {
    let mut library = Library::default();
    let (number, _) = library.begin("Reading");
    let reason = "It is no trajectory.".into();
    let effects = library.handle_reading(number, Event::Refused { reason }, 1.0);
    let [Effect::Readings(_), Effect::Notify(notice)] = &effects[..] else {
        panic!("{effects:?}");
    };
    assert_eq!(notice.why, "It is no trajectory.");
}

#[test]
fn waiters_for_a_trajectory_are_notified_once() {
    let mut library = shown();
    let (number, _) = library.begin("Fetching");
    library.wait(number, 2);
    let effects = library.handle_reading(number, added(&["a"]), 1.0);
    assert!(
        !effects
            .iter()
            .any(|effect| matches!(effect, Effect::Arrived(..)))
    );
    let effects = library.handle_reading(number, added(&["b"]), 1.1);
    assert_eq!(effects[0], Effect::Arrived(number, Some("b".into())));
    assert_eq!(library.end(number), [Effect::Readings(Vec::new())]);
    // A file that cannot be fetched.
    let (number, _) = library.begin("Fetching");
    library.wait(number, 1);
    let unfetched = Unfetched {
        url: "https://example.org/a.json".into(),
        reason: "404".into(),
        status: Some(404),
        answered: true,
    };
    let effects = library.handle_reading(number, Event::Unfetched(unfetched.clone()), 2.0);
    assert_eq!(
        effects,
        [Effect::Arrived(number, None), Effect::Explain(unfetched)]
    );
}

#[test]
fn a_partially_read_trajectory_grows_and_gets_its_id() {
    let mut library = shown();
    let begun = || Event::PartialRow {
        row: Box::new(row("begun-1")),
    };
    let effects = library.handle_reading(1, begun(), 1.0);
    assert_eq!(
        effects[0],
        Effect::Partial(BTreeSet::from(["begun-1".into()]))
    );
    let effects = library.handle_reading(1, begun(), 2.0);
    assert_eq!(
        effects[0],
        Effect::Renamed("begun-1".into(), "begun-1".into())
    );
    library.handle_reading(1, added(&["final"]), 3.0);
    let grown = Event::Renamed {
        id: "begun-1".into(),
        into: "final".into(),
    };
    let effects = library.handle_reading(1, grown, 4.0);
    assert_eq!(ids(&effects), ["final"]);
    assert!(effects.contains(&Effect::Partial(BTreeSet::new())));
    assert_eq!(
        effects.last(),
        Some(&Effect::Renamed("begun-1".into(), "final".into()))
    );
}

#[test]
fn a_worker_that_holds_unstored_trajectories_is_not_ended() {
    let mut library = Library::default();
    let (number, _) = library.begin("Reading");
    library.sent(number, 7);
    assert_eq!(library.cancel(number).0, Some(7));
    assert!(library.must_end_worker(number));
    let unstored = || Event::NotKept {
        reason: "The disk is full.".into(),
    };
    assert_eq!(library.handle(unstored(), 1.0).len(), 1);
    assert_eq!(library.handle(unstored(), 1.0), [], "said once");
    assert!(!library.must_end_worker(number));
}

#[test]
fn what_only_a_lost_worker_held_is_gone() {
    let mut library = shown();
    let worker = library.start_worker();
    let (number, _) = library.begin("Reading");
    library.handle_reading(number, added(&["stored"]), 1.0);
    let begun = Event::PartialRow {
        row: Box::new(row("partial")),
    };
    library.handle_reading(number, begun, 2.0);
    library.search("fee");
    let effects = library.lose_worker(worker, &crash("out of memory"));
    assert_eq!(
        effects[..3],
        [
            Effect::DropWorker("out of memory".into()),
            Effect::Readings(Vec::new()),
            Effect::Partial(BTreeSet::new()),
        ]
    );
    assert_eq!(ids(&effects), ["stored"], "the other one can't be opened");
    assert!(effects.contains(&Effect::Searching(None)));
    let notice = notice(&effects).expect("the loss is shown");
    assert_eq!(notice.why, "out of memory");
    assert!(!library.must_end_worker(number), "it ended");
}

/// The last error that effects show.
fn notice(effects: &[Effect]) -> Option<&Notice> {
    effects.iter().rev().find_map(|effect| match effect {
        Effect::Notify(notice) => Some(notice),
        _ => None,
    })
}

pub(super) fn crash(message: &str) -> WorkerLoss {
    let message = message.into();
    WorkerLoss::Crashed { message }
}

#[test]
fn a_worker_that_cannot_be_loaded_has_its_own_advice() {
    let mut library = Library::default();
    let worker = library.start_worker();
    let effects = library.lose_worker(worker, &WorkerLoss::Unloaded);
    let notice = notice(&effects).expect("the loss is shown");
    assert_eq!(notice.advice, "Stored data is safe. Reload the page.");
}

#[test]
fn the_loss_of_a_worker_is_reported_once() {
    let mut library = Library::default();
    let first = library.start_worker();
    assert!(notice(&library.lose_worker(first, &crash("crash"))).is_some());
    assert_eq!(
        library.lose_worker(first, &crash("crash")),
        [],
        "its other calls"
    );
    // The next request starts another worker, before the last call of the first one reports its loss.
    let second = library.start_worker();
    assert_eq!(library.lose_worker(first, &crash("crash")), []);
    assert!(notice(&library.lose_worker(second, &crash("crash"))).is_some());
}

#[test]
fn a_cancelled_worker_is_no_crash() {
    let mut library = Library::default();
    let worker = library.start_worker();
    library.begin("Reading");
    let effects = library.end_worker();
    assert_eq!(notice(&effects), None);
    let report = effects.iter().find_map(|effect| match effect {
        Effect::Report(notes) => Some(notes),
        _ => None,
    });
    assert!(report.is_some_and(|notes| notes[0].starts_with("Cancelled.")));
    assert_eq!(library.lose_worker(worker, &crash(replies::ENDED)), []);
}

#[test]
fn an_error_is_removed_when_the_next_import_begins() {
    let mut library = Library::default();
    let withdrawn = |effects: Vec<Effect>| {
        let mut effects = effects.into_iter();
        effects.find(|effect| matches!(effect, Effect::Withdraw(_)))
    };
    let (number, effects) = library.begin("Reading");
    assert_eq!(withdrawn(effects), None);
    let reason = "It is no trajectory.".into();
    let effects = library.handle_reading(number, Event::Refused { reason }, 1.0);
    let error = notice(&effects).cloned().expect("it is shown");
    let (_, effects) = library.begin("Reading");
    assert_eq!(withdrawn(effects), Some(Effect::Withdraw(error)));
    let (number, effects) = library.begin("Fetching");
    assert_eq!(withdrawn(effects), None, "removed once");
    // The cause of a file that cannot be fetched is found out later.
    let explained = Notice::new("a.json could not be fetched.", "404", "Check the address.");
    library.end(number);
    assert_eq!(
        library.failed(explained.clone()),
        Effect::Notify(explained.clone())
    );
    let effects = library.begin("Fetching").1;
    assert_eq!(withdrawn(effects), Some(Effect::Withdraw(explained)));
}

#[test]
fn an_offer_to_map_one_file_hides_no_error_of_another() {
    let mut library = Library::default();
    let (mappable, _) = library.begin("Reading");
    let (broken, _) = library.begin("Reading");
    library.handle_reading(mappable, Event::Unmapped { files: Vec::new() }, 1.0);
    let refuse = |library: &mut Library, number| {
        let reason = "Nothing was found.".into();
        let effects = library.handle_reading(number, Event::Refused { reason }, 2.0);
        notice(&effects).is_some()
    };
    assert!(refuse(&mut library, broken));
    assert!(!refuse(&mut library, mappable), "the offer says it");
}

#[test]
fn trajectories_of_the_site_are_not_deleted() {
    let mut library = shown();
    let published = Row {
        origin: Some(PUBLISHED.into()),
        ..row("published")
    };
    let rows = vec![published, row("own"), row("other")];
    library.handle(Event::Added { rows }, 1.0);
    let (forgotten, effects) = library.forget(vec!["published".into(), "own".into()]);
    assert_eq!(forgotten, ["own".into()] as [Text; 1]);
    assert_eq!(ids(&effects), ["other", "published"]);
}
