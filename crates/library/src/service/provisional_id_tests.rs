//! Partial episodes that are shown before the store has been listed, under provisional ids.

use std::cell::RefCell;
use std::pin::pin;
use std::task::{Context, Waker};

use futures_util::FutureExt;
use volary_core::virtual_clock::VirtualClock;
use volary_episode::Episode;
use volary_protocol::library::Origin;

use super::keeping_tests::SlowStore;
use super::partial_preview_tests::{Slow, Watch, grown, log, partial};
use super::*;
use super::{opening, reading};
use crate::error::LibraryError;
use crate::lazy_code::StaticCode;
use crate::source::{ReadAt, Source};

const PROVISIONAL: &str = "e-1-1 (reading 1)";

/// A service whose store has not been listed yet.
fn service(store: &SlowStore) -> LibraryService {
    store.is_slow_to_list.set(true);
    store.is_open.set(true);
    let clock = Rc::new(VirtualClock::new());
    LibraryService::new(store.clone(), Rc::new(StaticCode), clock, || 1.0)
}

/// Reads a log. Returns the output after two megabytes arrived, and after the store was listed and all or no more
/// arrived.
fn read(
    service: &LibraryService,
    store: &SlowStore,
    file: &Rc<Slow>,
    breaks_off: bool,
    meanwhile: impl Fn(),
) -> (Vec<Output>, Vec<Output>) {
    let said = RefCell::new(Vec::new());
    let say = |output| said.borrow_mut().push(output);
    file.came.set(2 << 20);
    let sources = vec![Rc::clone(file) as Rc<dyn Source>];
    let reading = reading::read(service, 1, sources, Origin::Imported, &say);
    let mut reading = pin!(reading);
    let mut context = Context::from_waker(Waker::noop());
    assert!(reading.as_mut().poll(&mut context).is_pending());
    let before = said.take();
    meanwhile();
    store.is_slow_to_list.set(false);
    if breaks_off {
        file.is_broken.set(true)
    } else {
        file.came.set(file.size())
    }
    assert!(reading.as_mut().poll(&mut context).is_ready());
    (before, said.take())
}

fn answers(said: Vec<Output>) -> Vec<Event> {
    let answers = said.into_iter().filter_map(|said| match said {
        Output::Event(answer) => Some(answer),
        _ => None,
    });
    answers.collect()
}

fn opened(service: &LibraryService, id: &str) -> Result<Episode, LibraryError> {
    opening::episode(service, &id.into())
        .now_or_never()
        .unwrap()
}

#[test]
fn it_can_be_opened_before_the_store_answers() {
    let store = SlowStore::default();
    let service = service(&store);
    let (before, after) = read(&service, &store, &log(""), false, || {
        let episode = opened(&service, PROVISIONAL).unwrap();
        assert_eq!(&*episode.id, PROVISIONAL);
    });
    assert_eq!(
        partial(&answers(before)).map(|row| &*row.id),
        Some(PROVISIONAL)
    );
    assert_eq!(grown(&answers(after)), Some((PROVISIONAL, "e-1-1")));
    // A request for the partial episode, made just before, returns the complete one.
    for id in ["e-1-1", PROVISIONAL] {
        let episode = opened(&service, id).unwrap();
        assert_eq!((&*episode.id, episode.steps.len()), ("e-1-1", 4_500));
    }
}

#[test]
fn it_is_stored_under_its_own_id_if_the_rest_does_not_arrive() {
    let store = SlowStore::default();
    let service = service(&store);
    let (_, after) = read(&service, &store, &log(""), true, || {});
    assert_eq!(grown(&answers(after)), Some((PROVISIONAL, "e-1-1")));
    assert!(store.store.has("e-1-1") && !store.store.has(PROVISIONAL));
    assert_eq!(&*opened(&service, "e-1-1").unwrap().id, "e-1-1");
}

#[test]
fn the_episode_of_a_known_file_is_the_stored_one() {
    let store = SlowStore::default();
    read(&service(&store), &store, &log(""), false, || {});
    let next = service(&store);
    let (before, after) = read(&next, &store, &log(""), false, || {});
    assert!(partial(&answers(before)).is_some());
    let after = answers(after);
    assert_eq!(grown(&after), Some((PROVISIONAL, "e-1-1")));
    let notes = after.iter().find_map(|answer| match answer {
        Event::Read { notes, .. } => Some(notes.join(" ")),
        _ => None,
    });
    assert!(notes.unwrap().contains("is in the library"));
    assert_eq!(opened(&next, PROVISIONAL).unwrap().steps.len(), 4_500);
    assert!(!next.previews.has_any_partial());
}

#[test]
fn it_gets_its_own_id_once_that_is_known_to_be_free() {
    let store = SlowStore::default();
    store.is_slow_to_list.set(true);
    store.is_open.set(true);
    let watch = Rc::new(Watch::default());
    let clock = Rc::clone(&watch) as Rc<dyn Clock>;
    let service = LibraryService::new(store.clone(), Rc::new(StaticCode), clock, || 1.0);
    let said = RefCell::new(Vec::new());
    let say = |output| said.borrow_mut().push(output);
    let file = log("");
    let sources = vec![Rc::clone(&file) as Rc<dyn Source>];
    let mut reading = pin!(reading::read(&service, 1, sources, Origin::Imported, &say));
    let mut context = Context::from_waker(Waker::noop());
    for came in [1 << 20, 3 << 20] {
        file.came.set(came);
        assert!(reading.as_mut().poll(&mut context).is_pending());
        store.is_slow_to_list.set(false);
        watch.0.set(watch.0.get() + 60.0);
    }
    assert!(reading.as_mut().poll(&mut context).is_pending());
    let said = answers(said.take());
    let shown = said.iter().filter_map(|answer| match answer {
        Event::PartialRow { row, .. } => Some(&*row.id),
        _ => None,
    });
    assert_eq!(shown.collect::<Vec<_>>(), [PROVISIONAL, "e-1-1"]);
    assert_eq!(grown(&said), Some((PROVISIONAL, "e-1-1")));
    for id in ["e-1-1", PROVISIONAL] {
        assert_eq!(&*opened(&service, id).unwrap().id, "e-1-1");
    }
}

#[test]
fn it_does_not_hide_an_episode_that_has_its_id() {
    let store = SlowStore::default();
    let others = tests::episode("e-1-1", "kept before");
    let row = Row::of(&others, Vec::new());
    let held = crate::repository::Held::Text(native::to_text(&others));
    let item = crate::repository::Item {
        again: None,
        row,
        held,
        is_new: true,
    };
    assert!(store.store.keep(vec![item]).now_or_never().is_some());
    let service = service(&store);
    let (_, after) = read(&service, &store, &log(""), false, || {});
    assert_eq!(grown(&answers(after)), Some((PROVISIONAL, "e-1-1 (2)")));
    let start = opened(&service, "e-1-1").map(|episode| episode.start);
    assert_eq!(start, Ok(others.start));
}
