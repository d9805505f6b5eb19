//! The library: the state after each event, and its effects.

use volary_protocol::library::{Event, UnmappedFile};
use volary_trajectory::import::fields::Shape;

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
    let [Effect::Readings(readings)] = &effects[..] else {
        panic!("{effects:?}");
    };
    assert_eq!(readings[0].number, number);
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
    let begun = || Event::Begun {
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
        Effect::Grown("begun-1".into(), "begun-1".into())
    );
    library.handle_reading(1, added(&["final"]), 3.0);
    let grown = Event::Grown {
        id: "begun-1".into(),
        into: "final".into(),
    };
    let effects = library.handle_reading(1, grown, 4.0);
    assert_eq!(ids(&effects), ["final"]);
    assert!(effects.contains(&Effect::Partial(BTreeSet::new())));
    assert_eq!(
        effects.last(),
        Some(&Effect::Grown("begun-1".into(), "final".into()))
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
fn readings_end_with_their_worker() {
    let mut library = Library::default();
    let (number, _) = library.begin("Reading");
    library.handle_reading(
        number,
        Event::Begun {
            row: Box::new(row("a")),
        },
        1.0,
    );
    let expected = [
        Effect::Readings(Vec::new()),
        Effect::Partial(BTreeSet::new()),
    ];
    assert_eq!(library.lose_worker(), expected);
    assert!(!library.must_end_worker(number), "it ended");
}
