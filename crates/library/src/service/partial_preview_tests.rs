//! Previews of the first episode of a file that arrives in chunks.

use std::any::Any;
use std::cell::{Cell, RefCell};
use std::ops::Range;
use std::pin::pin;
use std::task::{Context, Poll, Waker};
use std::time::Duration;

use futures_util::FutureExt;
use futures_util::future::LocalBoxFuture;
use volary_core::virtual_clock::VirtualClock;
use volary_episode::Episode;
use volary_formats::import::index::{Indexer, index};
use volary_protocol::library::Origin;

use super::tests::{id_of_now, large};
use super::*;
use super::{finding, opening, reading};
use crate::error::LibraryError;
use crate::lazy_code::StaticCode;
use crate::repository::{Held, Item, MemoryStore};
use crate::source::{ReadAt, ReadBytes, ReadError, Source};

/// A file of which only the first `came` bytes have arrived.
pub(super) struct Slow {
    name: &'static str,
    bytes: Vec<u8>,
    pub(super) came: Cell<u64>,
    /// Whether the rest will not arrive.
    pub(super) is_broken: Cell<bool>,
}

impl ReadAt for Slow {
    fn name(&self) -> Text {
        self.name.into()
    }

    fn size(&self) -> u64 {
        self.bytes.len() as u64
    }

    fn read(&self, range: Range<u64>) -> ReadBytes<'_> {
        std::future::poll_fn(move |_| {
            if self.came.get() >= range.end {
                let bytes = &self.bytes[range.start as usize..range.end as usize];
                Poll::Ready(Ok(bytes.to_vec()))
            } else if self.is_broken.get() {
                Poll::Ready(Err(ReadError::refused("It broke off.")))
            } else {
                Poll::Pending
            }
        })
        .boxed_local()
    }
}

impl Source for Slow {
    fn as_any(&self) -> &dyn Any {
        self
    }
}

/// A log of one sample of 6 MB; samples of today's logs have a name of their own at their end.
pub(super) fn log(uuid: &str) -> Rc<Slow> {
    let content = "a word ".repeat(100);
    let messages = (0..9_000).map(|number| {
        let role = if number % 2 == 0 { "user" } else { "assistant" };
        format!(r#"{{"id": "m{number}", "role": "{role}", "content": "{number} {content}"}}"#)
    });
    let messages = messages.collect::<Vec<_>>().join(", ");
    let bytes = format!(
        r#"{{"version": 2, "status": "success", "eval": {{"task": "t", "eval_id": "e", "model": "m"}},
        "samples": [{{"id": 1, "epoch": 1, "input": "x", "target": "y", "messages": [{messages}],
        "output": {{}}, "scores": {{"s": {{"value": 1}}}}{uuid}}}]}}"#
    );
    slow("log.json", bytes.into_bytes())
}

fn slow(name: &'static str, bytes: Vec<u8>) -> Rc<Slow> {
    Rc::new(Slow {
        name,
        bytes,
        came: Cell::new(0),
        is_broken: Cell::new(false),
    })
}

/// A clock that the test sets.
#[derive(Default)]
pub(super) struct Watch(pub(super) Cell<f64>);

impl Clock for Watch {
    fn now(&self) -> f64 {
        self.0.get()
    }

    fn sleep(&self, _: Duration) -> LocalBoxFuture<'static, ()> {
        std::future::ready(()).boxed_local()
    }
}

fn service() -> LibraryService {
    service_at(Rc::new(VirtualClock::new()))
}

fn service_at(clock: Rc<dyn Clock>) -> LibraryService {
    service_of(MemoryStore::default(), clock)
}

fn service_of(store: MemoryStore, clock: Rc<dyn Clock>) -> LibraryService {
    LibraryService::new(store, Rc::new(StaticCode), clock, || 1.0)
}

fn opened(service: &LibraryService, id: &str) -> Result<Episode, LibraryError> {
    opening::episode(service, &id.into())
        .now_or_never()
        .unwrap()
}

/// Reads a file that arrives a megabyte at a time, until `stop` bytes of it arrived. Returns the events.
fn read(service: &LibraryService, file: &Rc<Slow>, stop: u64, meanwhile: impl Fn()) -> Vec<Event> {
    let said = RefCell::new(Vec::new());
    let say = |output| said.borrow_mut().push(output);
    let source = Rc::clone(file) as Rc<dyn Source>;
    let mut reading = pin!(reading::read(
        service,
        1,
        vec![source],
        Origin::Imported,
        &say
    ));
    let mut context = Context::from_waker(Waker::noop());
    while reading.as_mut().poll(&mut context).is_pending() {
        meanwhile();
        let came = file.came.get() + (1 << 20);
        if came < stop {
            file.came.set(came.min(file.size()))
        } else {
            file.is_broken.set(true)
        }
    }
    let answers = said.take().into_iter().filter_map(|said| match said {
        Output::Event(answer) => Some(answer),
        _ => None,
    });
    answers.collect()
}

pub(super) fn partial(said: &[Event]) -> Option<&Row> {
    said.iter().find_map(|answer| match answer {
        Event::PartialRow { row } => Some(&**row),
        _ => None,
    })
}

pub(super) fn grown(said: &[Event]) -> Option<(&str, &str)> {
    said.iter().find_map(|answer| match answer {
        Event::Renamed { id, into, .. } => Some((&**id, &**into)),
        _ => None,
    })
}

#[test]
fn the_beginning_can_be_opened_while_the_rest_is_read() {
    let service = service();
    let most = Cell::new(0);
    let said = read(&service, &log(""), u64::MAX, || {
        if let Some(Ok(episode)) = opening::episode(&service, &"e-1-1".into()).now_or_never() {
            assert!(
                service.known_episode("e-1-1").is_none(),
                "it is in no store yet"
            );
            most.set(most.get().max(episode.steps.len()));
        }
    });
    let row = partial(&said).unwrap();
    assert_eq!((&*row.id, &*row.outcome), ("e-1-1", "importing"));
    assert!((100..4_000).contains(&most.get()), "{}", most.get());
    assert_eq!(grown(&said), Some(("e-1-1", "e-1-1")));
    let whole = opened(&service, "e-1-1").unwrap();
    assert_eq!(whole.steps.len(), 4_500);
    assert!(!service.previews.holds_any(), "given once");
    let again = opened(&service, "e-1-1");
    assert_eq!(again, Ok(whole), "the same from its file");
}

#[test]
fn more_of_it_is_shown_as_it_comes() {
    let watch = Rc::new(Watch::default());
    let service = service_at(Rc::clone(&watch) as Rc<dyn Clock>);
    let said = read(&service, &log(""), u64::MAX, || {
        watch.0.set(watch.0.get() + 5.0);
    });
    let steps = said.iter().filter_map(|answer| match answer {
        Event::PartialRow { row, .. } => Some(row.steps),
        _ => None,
    });
    let steps: Vec<usize> = steps.collect();
    assert!(steps.len() > 3 && steps.is_sorted(), "{steps:?}");
}

#[test]
fn the_beginning_is_that_of_the_whole() {
    let file = log("");
    let (entries, ..) = index("log.json", &file.bytes);
    let whole = entries[0].episode.as_ref().unwrap();
    let mut indexer = Indexer::new("log.json");
    for bytes in file.bytes.chunks(1 << 19).take(4) {
        indexer.feed(bytes);
        let beginning = indexer.partial_episode().unwrap();
        assert!(beginning.is_beginning_of(whole));
        assert!(!whole.is_beginning_of(&beginning));
    }
}

#[test]
fn the_complete_episode_may_have_another_id() {
    let service = service();
    let said = read(&service, &log(r#", "uuid": "u1""#), u64::MAX, || {});
    assert_eq!(grown(&said), Some(("e-1-1", "u1")));
    // A request for the partial episode, made just before, returns the complete one.
    assert_eq!(&*opened(&service, "e-1-1").unwrap().id, "u1");
    let rows = service.store.rows().now_or_never().unwrap().unwrap();
    assert_eq!(rows.len(), 1);
}

#[test]
fn a_partial_episode_is_stored_if_the_rest_does_not_arrive() {
    let service = service();
    let said = read(&service, &log(""), 3 << 20, || {});
    assert_eq!(grown(&said), Some(("e-1-1", "e-1-1")));
    let episode = opened(&service, "e-1-1").unwrap();
    assert!((100..4_000).contains(&episode.steps.len()));
    let notes = said.iter().find_map(|answer| match answer {
        Event::Read { notes, .. } => Some(notes.join(" ")),
        _ => None,
    });
    let notes = notes.unwrap();
    assert!(notes.contains("It broke off.") && notes.contains("Only the beginning"));
}

#[test]
fn search_covers_the_whole_after_its_preview_was_searched() {
    let service = service();
    let find = || {
        let (id, words) = ("e-1-1".into(), "8999".into());
        let found = finding::find_in_episode(&service, &id, &words).now_or_never();
        found.map_or(0, |found| found.len())
    };
    let looked = Cell::new(0);
    read(&service, &log(""), u64::MAX, || {
        if service.previews.has_partial(&"e-1-1".into()) {
            assert_eq!(find(), 0, "it is the last message that says so");
            looked.set(looked.get() + 1);
        }
    });
    assert!(looked.get() > 0);
    assert_eq!(find(), 1);
}

#[test]
fn an_episode_that_takes_a_provisional_id_opens_under_it() {
    let store = MemoryStore::default();
    let service = service_of(store.clone(), Rc::new(VirtualClock::new()));
    let others = tests::episode("e-1-1", "kept in another tab");
    let keep = || {
        let row = Row::of(&others, Vec::new());
        let held = Held::Text(native::to_text(&others));
        let is_new = true;
        let kept = store.keep(vec![Item {
            row,
            held,
            again: None,
            is_new,
        }]);
        assert!(kept.now_or_never().is_some());
    };
    let said = read(&service, &log(""), u64::MAX, || {
        if service.previews.has_partial(&"e-1-1".into()) && !store.has("e-1-1") {
            keep();
        }
    });
    assert_eq!(grown(&said), Some(("e-1-1", "e-1-1 (2)")));
    let whole = opened(&service, "e-1-1 (2)").unwrap();
    assert_eq!(whole.steps.len(), 4_500);
    let start = opened(&service, "e-1-1").map(|episode| episode.start);
    assert_eq!(start, Ok(others.start));
}

#[test]
fn findings_in_a_truncated_file_have_positions() {
    let store = MemoryStore::default();
    let clock = Rc::new(VirtualClock::new());
    let service = service_of(store.clone(), clock.clone());
    let whole = large("lines.jsonl", &["a", "b", "c", "d", "e", "f", "g", "h"]);
    let said = read(
        &service,
        &slow("lines.jsonl", whole.bytes.clone()),
        3 << 20,
        || {},
    );
    let notes = said.iter().find_map(|answer| match answer {
        Event::Read { notes, .. } => Some(notes.join(" ")),
        _ => None,
    });
    let notes = notes.unwrap();
    assert!(
        notes.contains("It broke off.") && notes.contains("was not copied"),
        "{notes}"
    );
    let known = store.file(&id_of_now(&whole)).now_or_never().flatten();
    assert!(known.is_some_and(|file| !file.whole && file.source.is_none()));
    // In the next visit.
    let next = service_of(store, clock);
    let refused = opened(&next, "a").unwrap_err();
    assert!(
        refused.sentences().contains("Import the file again"),
        "{refused}"
    );
    // No window is kept for a file without episodes.
    let nothing = slow("nothing.jsonl", whole.bytes);
    read(&next, &nothing, 0, || {});
    assert!(next.windows.borrow().is_empty());
}

#[test]
fn opening_an_episode_that_has_not_arrived_waits() {
    let service = service();
    let id = Text::from("u1");
    let mut opening = pin!(opening::episode(&service, &id));
    let mut context = Context::from_waker(Waker::noop());
    let going = service.expect();
    assert!(opening.as_mut().poll(&mut context).is_pending());
    read(&service, &log(r#", "uuid": "u1""#), u64::MAX, || {});
    let Poll::Ready(Ok(episode)) = opening.as_mut().poll(&mut context) else {
        panic!("it is there");
    };
    assert_eq!(episode.steps.len(), 4_500);
    let nothing = Text::from("nothing");
    let mut missing = pin!(opening::episode(&service, &nothing));
    assert!(missing.as_mut().poll(&mut context).is_pending());
    drop(going);
    assert!(matches!(
        missing.as_mut().poll(&mut context),
        Poll::Ready(Err(_))
    ));
}
