//! The library under events in any order: readings that overlap, deletions, searches, a hidden table, lost workers.

use std::collections::{BTreeMap, BTreeSet};

use proptest::prelude::*;
use volary_protocol::library::Match;

use super::*;

/// Something that happens to the library.
#[derive(Clone, Debug)]
enum Step {
    /// The user imports, and waits for one of the trajectories.
    Begin {
        place: usize,
    },
    /// A reading sends rows; a repeated id is a newer version.
    Add {
        reading: usize,
        ids: Vec<u8>,
    },
    /// A reading ends, with a report or an error.
    End {
        reading: usize,
        fails: bool,
    },
    Delete {
        ids: Vec<u8>,
    },
    Show {
        is_shown: bool,
    },
    /// The timer fires.
    Wake,
    Search {
        words: u8,
    },
    /// An answer to one of the searches so far arrives.
    Answer {
        search: usize,
    },
    LoseWorker,
}

fn step() -> impl Strategy<Value = Step> {
    let ids = || prop::collection::vec(0u8..12, 1..4);
    prop_oneof![
        2 => (0usize..3).prop_map(|place| Step::Begin { place }),
        6 => (0usize..4, ids()).prop_map(|(reading, ids)| Step::Add { reading, ids }),
        2 => (0usize..4, any::<bool>()).prop_map(|(reading, fails)| Step::End { reading, fails }),
        2 => ids().prop_map(|ids| Step::Delete { ids }),
        1 => any::<bool>().prop_map(|is_shown| Step::Show { is_shown }),
        3 => Just(Step::Wake),
        2 => (0u8..3).prop_map(|words| Step::Search { words }),
        3 => (0usize..6).prop_map(|search| Step::Answer { search }),
        1 => Just(Step::LoseWorker),
    ]
}

/// The page, with what it is expected to show.
#[derive(Default)]
struct World {
    library: Library,
    worker: WorkerNumber,
    now: f64,
    version: f64,
    /// The version of each row that exists.
    expected: BTreeMap<String, f64>,
    shown: Vec<(String, f64)>,
    /// The readings in progress, and those whose waiter was not notified.
    open: Vec<ReadingNumber>,
    waiting: BTreeSet<ReadingNumber>,
    listed: Vec<ReadingNumber>,
    searches: Vec<SearchNumber>,
    matches: Option<String>,
    error: Option<Notice>,
}

impl World {
    fn new() -> World {
        let mut world = World::default();
        world.worker = world.library.start_worker();
        let effects = world.library.show_table(true, 0.0);
        world.carry_out(effects);
        world
    }

    fn carry_out(&mut self, effects: Vec<Effect>) {
        for effect in effects {
            match effect {
                Effect::Rows(rows) => {
                    let rows = rows.iter();
                    let rows = rows.map(|row| (row.id.to_string(), row.added.unwrap_or_default()));
                    self.shown = rows.collect();
                }
                Effect::Readings(readings) => {
                    self.listed = readings.iter().map(|reading| reading.number).collect();
                }
                Effect::Arrived(number, _) => {
                    assert!(self.waiting.remove(&number), "notified twice: {number}");
                }
                Effect::Notify(notice) => self.error = Some(notice),
                Effect::Withdraw(notice) => {
                    assert_eq!(self.error.take(), Some(notice), "another error is shown");
                }
                Effect::Matches(matches) => {
                    self.matches = matches.map(|matches| matches[0].id.to_string());
                }
                _ => {}
            }
        }
    }

    fn reading(&self, index: usize) -> Option<ReadingNumber> {
        let index = index.checked_rem(self.open.len())?;
        self.open.get(index).copied()
    }

    fn take(&mut self, step: Step) {
        self.now += 0.05;
        let effects = match step {
            Step::Begin { place } => {
                let (number, effects) = self.library.begin("Reading");
                self.library.wait(number, place);
                self.open.push(number);
                self.waiting.insert(number);
                effects
            }
            Step::Add { reading, ids } => {
                let number = self.reading(reading).unwrap_or_default();
                self.version += 1.0;
                let rows = ids.iter().map(|id| Row {
                    added: Some(self.version),
                    ..row(&id.to_string())
                });
                let rows: Vec<Row> = rows.collect();
                for row in &rows {
                    self.expected.insert(row.id.to_string(), self.version);
                }
                self.library
                    .handle_reading(number, Event::Added { rows }, self.now)
            }
            Step::End { reading, fails } => {
                let Some(number) = self.reading(reading) else {
                    return;
                };
                self.open.retain(|open| *open != number);
                let event = if fails {
                    Event::Refused {
                        reason: format!("error of {number}").into(),
                    }
                } else {
                    Event::Read { notes: Vec::new() }
                };
                let mut effects = self.library.handle_reading(number, event, self.now);
                // The end of the replies follows.
                effects.extend(self.library.end(number));
                effects
            }
            Step::Delete { ids } => {
                let ids: Vec<Text> = ids.iter().map(|id| id.to_string().into()).collect();
                self.expected
                    .retain(|known, _| ids.iter().all(|id| **id != **known));
                let (gone, effects) = self.library.forget(ids.clone());
                assert_eq!(gone, ids);
                effects
            }
            Step::Show { is_shown } => self.library.show_table(is_shown, self.now),
            Step::Wake => {
                self.now += 0.2;
                self.library.woken(self.now)
            }
            Step::Search { words } => {
                let words = ["", "fee", "refund"][usize::from(words)];
                let (number, effects) = self.library.search(words);
                // An empty query has a number of its own that no answer has.
                self.searches.push(number.unwrap_or_default());
                effects
            }
            Step::Answer { search } => {
                let Some(index) = search.checked_rem(self.searches.len()) else {
                    return;
                };
                let number = self.searches[index];
                let matches = vec![Match {
                    id: number.to_string().into(),
                    ..Match::default()
                }];
                let event = Event::Found { matches };
                self.library.handle_search(number, event)
            }
            Step::LoseWorker => {
                let mut effects = self.library.lose_worker(self.worker, &crash("crash"));
                for number in std::mem::take(&mut self.open) {
                    effects.extend(self.library.lose_worker(self.worker, &crash("crash")));
                    effects.extend(self.library.end(number));
                }
                self.worker = self.library.start_worker();
                effects
            }
        };
        self.carry_out(effects);
    }

    /// What holds after every step.
    fn check(&self) {
        let mut ids: Vec<&String> = self.shown.iter().map(|(id, _)| id).collect();
        ids.sort();
        let count = ids.len();
        ids.dedup();
        assert_eq!(ids.len(), count, "a row is shown twice");
        for (id, _) in &self.shown {
            assert!(self.expected.contains_key(id), "{id} was deleted");
        }
        assert_eq!(self.listed, self.open, "the readings in progress are shown");
        let open: BTreeSet<ReadingNumber> = self.open.iter().copied().collect();
        assert!(self.waiting.is_subset(&open), "a waiter was forgotten");
        assert!(
            self.shown.is_sorted_by(|one, other| one.1 >= other.1),
            "the newest rows come first"
        );
        if self.searches.last() == Some(&0) {
            assert_eq!(self.matches, None, "the search was cleared");
        }
    }

    /// What holds once everything has arrived.
    fn finish(mut self) {
        while !self.open.is_empty() {
            self.take(Step::End {
                reading: 0,
                fails: false,
            });
        }
        self.now += 1.0;
        let effects = self.library.show_table(true, self.now);
        self.carry_out(effects);
        let shown: BTreeMap<String, f64> = self.shown.iter().cloned().collect();
        assert_eq!(shown, self.expected, "rows are lost, or old versions shown");
        assert!(self.waiting.is_empty(), "a waiter was forgotten");
        // The answer to the last query is shown, whichever others arrive after it.
        self.take(Step::Search { words: 1 });
        let last = self.searches.len() - 1;
        for search in [last, 0] {
            self.take(Step::Answer { search });
        }
        assert_eq!(self.matches, self.searches.last().map(ToString::to_string));
        // The next attempt removes the error.
        self.take(Step::Begin { place: 1 });
        assert_eq!(self.error, None);
    }
}

proptest! {
    #[test]
    fn nothing_is_lost_or_shown_twice(steps in prop::collection::vec(step(), 0..60)) {
        let mut world = World::new();
        for step in steps {
            world.take(step);
            world.check();
        }
        world.finish();
    }
}
