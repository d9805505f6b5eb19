//! The batches of a worker, and that no cell is lost or reported twice, whatever happens to it.

use std::collections::BTreeMap;

use proptest::prelude::*;

use super::*;

/// The sizes of the batches into which cells are divided among two workers.
fn sizes(cells: usize) -> Vec<usize> {
    let batches = Batches::new(false, cells, 2);
    let mut waiting = cells;
    let mut sizes = Vec::new();
    while waiting > 0 {
        let size = batches.size(false, waiting).min(waiting);
        sizes.push(size);
        waiting -= size;
    }
    sizes
}

#[test]
fn all_workers_have_something_and_end_together() {
    assert_eq!(sizes(1), [1]);
    assert_eq!(sizes(3), [1, 1, 1]);
    assert_eq!(sizes(10), [3, 3, 3, 1]);
    assert_eq!(sizes(10_000)[0], LARGEST);
    let many = sizes(1_000);
    let (begun, rest) = many.split_at(2 * AHEAD);
    assert!(begun.iter().sum::<usize>() > 800, "{many:?}");
    assert!(rest.iter().all(|cells| *cells < 50), "{many:?}");
    assert!(many.len() < 14, "{many:?}");
    assert!(many.is_sorted_by(|one, other| one >= other), "{many:?}");
}

#[test]
fn a_careful_worker_gets_one_cell_at_a_time() {
    let batches = Batches::new(false, 1_000, 4);
    assert_eq!((batches.ahead(true), batches.size(true, 1_000)), (1, 1));
    assert_eq!(batches.ahead(false), AHEAD);
    // Cells on a server are played at the same time, and are not sent ahead.
    let remote = Batches::new(true, 1_000, 4);
    assert_eq!(
        (remote.ahead(false), remote.size(false, 1_000)),
        (1, ON_SERVER)
    );
    assert_eq!(remote.size(true, 1_000), 1);
}

#[test]
fn the_time_limit_of_a_batch_begins_with_it() {
    let mut slot = WorkerSlot::default();
    let first = slot.send([1, 2], Some(120.0)).expect("it begins at once");
    assert_eq!(first.seconds, 120.0);
    assert_eq!(
        slot.send([3], Some(60.0)),
        None,
        "it waits for the first one"
    );
    assert!(slot.is_overdue(&first));
    assert_eq!(slot.tick_off([1]), None);
    assert!(slot.is_overdue(&first), "a cell is left");
    let second = slot.tick_off([2]).expect("the second one begins");
    assert_eq!(second.seconds, 60.0);
    assert!(!slot.is_overdue(&first), "it was played");
    assert!(slot.is_overdue(&second));
    assert_eq!(slot.tick_off([3]), None, "nothing is left");
    assert!(!slot.is_overdue(&second));
}

#[test]
fn a_batch_that_waits_for_a_person_has_no_limit() {
    let mut slot = WorkerSlot::default();
    let deadline = slot.send([1], Some(120.0)).expect("a limit");
    slot.send([2], Some(120.0));
    slot.lift_limits();
    assert!(!slot.is_overdue(&deadline));
    assert_eq!(slot.tick_off([1]), None, "nor has the next one");
}

#[test]
fn a_lost_worker_leaves_its_cells_and_environments() {
    let mut slot = WorkerSlot::default();
    let deadline = slot.send([1, 2], Some(120.0)).expect("a limit");
    slot.send([3], None);
    slot.tick_off([1]);
    slot.opened("open".into());
    slot.opened("closed".into());
    slot.closed(&"closed".into());
    let lost = slot.lose("out of memory");
    assert_eq!(lost.cells, BTreeSet::from([2, 3]));
    assert_eq!(lost.held, BTreeSet::from(["open".into()]));
    assert!(!slot.is_overdue(&deadline), "it is gone already");
    assert_eq!(slot.lose("again"), Lost::default());
}

#[test]
fn an_environment_ends_with_its_worker() {
    let mut slot = WorkerSlot::default();
    let lease = slot.lease();
    assert_eq!(slot.environments(), 1);
    assert_eq!(slot.check(lease), Ok(()));
    slot.lose("out of memory");
    assert_eq!(slot.check(lease), Err("out of memory"));
    let other = slot.lease();
    assert!(!slot.end_lease(lease), "there is nothing to close");
    assert!(slot.end_lease(other));
    assert_eq!(slot.environments(), 0);
}

#[test]
fn only_an_idle_worker_is_given_away() {
    let mut slot = WorkerSlot::default();
    slot.send([1], None);
    let generation = slot.generation();
    assert!(!slot.give_away());
    assert_eq!(slot.generation(), generation);
    slot.tick_off([1]);
    assert!(slot.give_away());
    assert_ne!(slot.generation(), generation, "its events are for another");
}

/// Something that happens to a worker.
#[derive(Clone, Debug)]
enum Step {
    Send(usize),
    /// Some of the cells that were sent are played or returned, in any order.
    Answer(Vec<usize>),
    /// An answer of an earlier worker arrives.
    Late(usize),
    /// The limit of a batch passes.
    Overdue,
    Ask,
    Lose,
}

fn step() -> impl Strategy<Value = Step> {
    prop_oneof![
        4 => (1usize..5).prop_map(Step::Send),
        6 => prop::collection::vec(0usize..20, 1..4).prop_map(Step::Answer),
        2 => (0usize..20).prop_map(Step::Late),
        1 => Just(Step::Overdue),
        1 => Just(Step::Ask),
        1 => Just(Step::Lose),
    ]
}

proptest! {
    #[test]
    fn each_cell_is_reported_once(steps in prop::collection::vec(step(), 0..60)) {
        let mut slot = WorkerSlot::default();
        let mut next = 0;
        // The cells that the current worker, and earlier ones, have not answered.
        let (mut sent, mut earlier) = (Vec::<usize>::new(), Vec::<(WorkerGeneration, usize)>::new());
        let mut reported = BTreeMap::<usize, usize>::new();
        let mut deadlines = Vec::<Deadline>::new();
        for step in steps {
            match step {
                Step::Send(count) => {
                    let cells = next..next + count;
                    next += count;
                    sent.extend(cells.clone());
                    deadlines.extend(slot.send(cells, Some(120.0)));
                }
                Step::Answer(places) => {
                    let mut cells = Vec::new();
                    for place in places {
                        if let Some(place) = place.checked_rem(sent.len()) {
                            cells.push(sent.swap_remove(place));
                        }
                    }
                    cells.iter().for_each(|cell| *reported.entry(*cell).or_default() += 1);
                    deadlines.extend(slot.tick_off(cells));
                }
                Step::Late(place) => {
                    if let Some(place) = place.checked_rem(earlier.len()) {
                        let (generation, _) = earlier[place];
                        prop_assert_ne!(generation, slot.generation(), "it would count");
                    }
                }
                Step::Overdue => {
                    let overdue = deadlines.iter().filter(|deadline| slot.is_overdue(deadline));
                    prop_assert!(overdue.count() <= 1, "one batch is the first one");
                }
                Step::Ask => slot.lift_limits(),
                Step::Lose => {
                    let generation = slot.generation();
                    let lost = slot.lose("crash");
                    prop_assert_eq!(&lost.cells, &sent.iter().copied().collect());
                    lost.cells.iter().for_each(|cell| *reported.entry(*cell).or_default() += 1);
                    earlier.extend(sent.drain(..).map(|cell| (generation, cell)));
                }
            }
            prop_assert_eq!(slot.queued() == 0, sent.is_empty());
        }
        sent.iter().for_each(|cell| *reported.entry(*cell).or_default() += 1);
        slot.tick_off(sent);
        prop_assert_eq!(slot.queued(), 0);
        prop_assert_eq!(reported.len(), next, "a cell is lost");
        prop_assert!(reported.values().all(|times| *times == 1), "a cell is reported twice");
    }
}
