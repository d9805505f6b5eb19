//! Slow and concurrent stores: which rows are shown while episodes are being stored, and which ids they get.

use std::cell::{Cell, RefCell};
use std::pin::pin;
use std::task::{Context, Waker};

use futures_util::FutureExt;
use futures_util::future::LocalBoxFuture;
use volary_core::virtual_clock::VirtualClock;

use super::tests::*;
use super::*;
use super::{listing, opening, reading};
use crate::lazy_code::StaticCode;
use crate::repository::{Held, Item, KnownFile, ListedRow, MemoryStore, Stored, Unkept};
use crate::source::Source;
use volary_protocol::episode::EpisodeChunk;
use volary_protocol::library::Origin;

/// A store that stores nothing until the test allows it.
#[derive(Clone, Default)]
pub(super) struct SlowStore {
    pub(super) store: MemoryStore,
    pub(super) is_open: Rc<Cell<bool>>,
    /// Whether listing is pending.
    pub(super) is_slow_to_list: Rc<Cell<bool>>,
    /// Whether listing fails.
    is_unreadable: Rc<Cell<bool>>,
}

impl EpisodeStore for SlowStore {
    fn keep(&self, episodes: Vec<Item>) -> LocalBoxFuture<'_, Result<(), Unkept>> {
        let mut episodes = Some(episodes);
        std::future::poll_fn(move |_| {
            if self.is_open.get() {
                self.store
                    .keep(episodes.take().unwrap())
                    .poll_unpin(&mut Context::from_waker(Waker::noop()))
            } else {
                std::task::Poll::Pending
            }
        })
        .boxed_local()
    }

    fn label(&self, rows: Vec<Row>) -> Stored<'_> {
        self.store.label(rows)
    }

    fn rows_of<'a>(&'a self, ids: &'a [Text]) -> LocalBoxFuture<'a, Vec<ListedRow>> {
        self.store.rows_of(ids)
    }

    fn text<'a>(&'a self, id: &'a str) -> LocalBoxFuture<'a, Result<Option<String>, LibraryError>> {
        self.store.text(id)
    }

    fn rows(&self) -> LocalBoxFuture<'_, Result<Vec<ListedRow>, LibraryError>> {
        if self.is_unreadable.get() {
            let why = "The database failed.".into();
            return std::future::ready(Err(LibraryError::Store { why })).boxed_local();
        }
        // The rows at the time of the call.
        let mut rows = self.store.rows().now_or_never();
        std::future::poll_fn(move |_| {
            if self.is_slow_to_list.get() {
                std::task::Poll::Pending
            } else {
                std::task::Poll::Ready(rows.take().unwrap())
            }
        })
        .boxed_local()
    }

    fn forget<'a>(&'a self, ids: &'a [Text]) -> LocalBoxFuture<'a, ()> {
        self.store.forget(ids)
    }

    fn keep_file(&self, file: KnownFile) -> Stored<'_> {
        self.store.keep_file(file)
    }

    fn file<'a>(&'a self, id: &'a str) -> LocalBoxFuture<'a, Option<KnownFile>> {
        self.store.file(id)
    }

    fn forget_file<'a>(&'a self, id: &'a str) -> LocalBoxFuture<'a, ()> {
        self.store.forget_file(id)
    }
}

#[test]
fn rows_that_are_not_stored_yet_can_be_opened() {
    let store = SlowStore::default();
    let clock = Rc::new(VirtualClock::new());
    let service = LibraryService::new(store.clone(), Rc::new(StaticCode), clock, || 1.0);
    let said = RefCell::new(Vec::new());
    let say = |output| said.borrow_mut().push(output);
    let two = Rc::new(file("x.jsonl", &[episode("a", "one"), episode("b", "two")]));
    let mut context = Context::from_waker(Waker::noop());
    let mut reading = pin!(reading::read(
        &service,
        1,
        vec![two as Rc<dyn Source>],
        Origin::Imported,
        &say
    ));
    assert!(reading.as_mut().poll(&mut context).is_pending());
    assert_eq!(ids(&said.borrow()), ["a", "b"]);

    let of = |id: &str| vec![Text::from(id)];
    let heard = RefCell::new(Vec::new());
    let hear = |output| heard.borrow_mut().push(output);
    let requests = [
        Request::Open { id: "a".into() },
        Request::Forget { ids: of("b") },
        Request::Tag {
            ids: of("a"),
            tag: "good".into(),
            on: true,
        },
    ];
    let mut wanted: Vec<_> = requests
        .into_iter()
        .map(|request| service.handle(2, request, &hear).boxed_local())
        .collect();
    for one in &mut wanted {
        assert!(one.poll_unpin(&mut context).is_pending());
    }
    store.is_open.set(true);
    assert!(reading.as_mut().poll(&mut context).is_ready());
    for one in &mut wanted {
        assert!(one.poll_unpin(&mut context).is_ready());
    }
    let heard = heard.take();
    let is_open = |said: &Output| {
        matches!(
            said,
            Output::Event(Event::Episode(EpisodeChunk::End { .. }))
        )
    };
    assert!(heard.iter().any(is_open));
    let rows = store.rows().now_or_never().unwrap().unwrap();
    assert!(matches!(&rows[..], [(row, None)] if row.tags == ["good".into()]));
}

#[test]
fn changes_during_the_first_listing_are_not_lost() {
    let store = SlowStore::default();
    let keep = |id: &str| {
        let kept = episode(id, "one");
        let row = Row::of(&kept, Vec::new());
        let held = Held::Text(native::to_text(&kept));
        let is_new = true;
        let keeping = store.store.keep(vec![Item {
            row,
            held,
            again: None,
            is_new,
        }]);
        assert!(matches!(keeping.now_or_never(), Some(Ok(()))));
    };
    ["a", "x-1", "y"].into_iter().for_each(keep);
    store.is_slow_to_list.set(true);
    let clock = Rc::new(VirtualClock::new());
    let service = LibraryService::new(store.clone(), Rc::new(StaticCode), clock, || 1.0);
    let said = RefCell::new(Vec::new());
    let say = |output| said.borrow_mut().push(output);
    let mut context = Context::from_waker(Waker::noop());
    let list = Request::List;
    let mut listing = pin!(service.handle(2, list, &say));
    assert!(listing.as_mut().poll(&mut context).is_pending());
    // Another tab stores and deletes episodes meanwhile.
    keep("b");
    let all = ["x-1", "y"].map(Text::from);
    assert!(store.store.forget(&all).now_or_never().is_some());
    let [kept, gone] = [["b".into()], ["y".into()]];
    let mut hearing = pin!(async {
        listing::handle_deleted_prefix(&service, "x-", &say).await;
        listing::handle_deleted(&service, &gone, &say).await;
        listing::handle_stored(&service, &kept, &say).await;
    });
    assert!(hearing.as_mut().poll(&mut context).is_pending());
    store.is_slow_to_list.set(false);
    assert!(listing.as_mut().poll(&mut context).is_ready());
    assert!(hearing.as_mut().poll(&mut context).is_ready());
    for (id, is_there) in [("a", true), ("b", true), ("x-1", false), ("y", false)] {
        assert_eq!(service.known_episode(id).is_some(), is_there, "{id}");
    }
}

/// Two services over the same store that are not notified of each other's changes.
pub(super) fn two_tabs() -> [LibraryService; 2] {
    let store = MemoryStore::default();
    let tabs = [service_of(store.clone()), service_of(store)];
    for tab in &tabs {
        ask(tab, Request::List);
    }
    tabs
}

/// The first text of an episode.
pub(super) fn text_in(service: &LibraryService, id: &str) -> String {
    let episode = opening::episode(service, &id.into()).now_or_never();
    let episode = episode.unwrap().unwrap();
    let content = episode.start[0].body().content.as_ref();
    content.unwrap().to_string()
}

#[test]
fn no_tab_overwrites_episodes_of_another_one() {
    let [here, there] = two_tabs();
    let one = file("x.jsonl", &[episode("1", "one"), episode("2", "two")]);
    let other = file("y.jsonl", &[episode("1", "another"), episode("2", "two")]);
    assert_eq!(ids(&read(&here, std::slice::from_ref(&one))), ["1", "2"]);
    let said = ids(&read(&there, std::slice::from_ref(&other)));
    assert_eq!(said, ["1 (2)", "2"], "only what is another one is named so");
    for (id, text) in [("1", "one"), ("1 (2)", "another"), ("2", "two")] {
        assert_eq!(text_in(&there, id), text);
    }
    // Search finds the words under the new id, not under the one that was requested first.
    let search = Request::Search {
        words: "another".into(),
    };
    let heard = ask(&there, search);
    assert!(matches!(
        heard.last(),
        Some(Output::Event(Event::Found { matches, .. })) if matches.len() == 1 && &*matches[0].id == "1 (2)"
    ));
    // Both files again, each in the other tab, add nothing.
    assert_eq!(ids(&read(&here, &[other])), ["1 (2)", "2"]);
    assert_eq!(ids(&read(&there, &[one])), ["1", "2"]);
    let rows = here.store.rows().now_or_never().unwrap().unwrap();
    assert_eq!(rows.len(), 3);
}

#[test]
fn no_tab_overwrites_files_of_another_one() {
    let [here, there] = two_tabs();
    let one = large("x.jsonl", &["1", "2"]);
    assert_eq!(ids(&read(&here, std::slice::from_ref(&one))), ["1", "2"]);
    let other = large("y.jsonl", &["1", "3"]);
    assert_eq!(ids(&read(&there, &[other])), ["1 (2)", "3"]);
    assert_eq!(
        ids(&read(&here, &[file("z.json", &[episode("3", "x")])])),
        ["3 (2)"]
    );
    // The same ranges of the same file are the same trajectories.
    let [here, there] = two_tabs();
    assert_eq!(ids(&read(&here, std::slice::from_ref(&one))), ["1", "2"]);
    let first = here.store.file(&id_of_now(&one)).now_or_never().flatten();
    let mut half = first.unwrap();
    half.whole = false;
    assert_eq!(here.store.keep_file(half).now_or_never(), Some(Ok(())));
    assert_eq!(ids(&read(&there, &[one])), ["1", "2"]);
    let rows = there.store.rows().now_or_never().unwrap().unwrap();
    assert_eq!(rows.len(), 2);
}

#[test]
fn an_unreadable_store_is_reported_and_new_episodes_are_shown() {
    let store = SlowStore::default();
    store.is_open.set(true);
    store.is_unreadable.set(true);
    let clock = Rc::new(VirtualClock::new());
    let service = LibraryService::new(store, Rc::new(StaticCode), clock, || 1.0);
    let heard = ask(&service, Request::List);
    let reason = Text::from("The database failed.");
    assert!(heard.contains(&Output::Event(Event::NotRead { reason })));
    assert!(heard.contains(&Output::Event(Event::Listed)));
    let file = file("a.jsonl", &[episode("1", "one")]);
    assert_eq!(ids(&read(&service, &[file])), ["1"]);
}
