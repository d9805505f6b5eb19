//! Lists of files: groups, pairs of dumps, and files that are read again.

use std::any::Any;
use std::collections::BTreeMap;
use std::ops::Range;
use std::task::{Context, Poll, Waker};

use futures_util::FutureExt;
use futures_util::future::LocalBoxFuture;
use volary_analysis::table::Row;
use volary_episode::Episode;

use super::super::renewal::{OPEN, RUNNING};
use super::super::tests::{
    MemorySource, advantages, episode, file, ids, open, rollout_dump, service, training_dump,
};
use super::*;
use crate::error::LibraryError;
use crate::file_server::ListPieces;
use crate::repository::EpisodeStore;
use crate::source::{ReadAt, ReadBytes, ReadError};

/// A file that is being written to.
struct Written(MemorySource);

impl ReadAt for Written {
    fn name(&self) -> Text {
        self.0.name()
    }

    fn size(&self) -> u64 {
        self.0.size()
    }

    fn read(&self, range: Range<u64>) -> ReadBytes<'_> {
        self.0.read(range)
    }
}

impl Source for Written {
    fn as_any(&self) -> &dyn Any {
        self
    }

    fn is_growing(&self) -> bool {
        true
    }
}

fn remote(name: &str) -> RemoteFile {
    RemoteFile {
        name: name.into(),
        url: name.into(),
    }
}

/// A server whose files the function finds.
struct Server<F>(F);

impl<F: Fn(&RemoteFile) -> Option<Rc<dyn Source>>> FileServer for Server<F> {
    fn list<'a>(&'a self, url: &'a str) -> LocalBoxFuture<'a, Result<ListPieces, LibraryError>> {
        panic!("{url} was requested");
    }

    fn address(&self, _list: &str, path: &str) -> Text {
        path.into()
    }

    fn open(&self, listed: ListedFile, _: u64, _: bool) -> LocalBoxFuture<'static, Opened> {
        let opened = (self.0)(&listed.file);
        let opened = opened.ok_or_else(|| ReadError::refused("The server answered 404."));
        std::future::ready(opened).boxed_local()
    }

    fn open_together<'a>(
        &'a self,
        heads: &'a str,
        _files: &'a [RemoteFile],
        _is_growing: bool,
    ) -> LocalBoxFuture<'a, Vec<Option<Opened>>> {
        panic!("{heads} was requested");
    }
}

fn fetching<'a>(
    service: &'a LibraryService,
    server: &'a dyn FileServer,
    send: Send<'a>,
) -> Fetching<'a> {
    Fetching::new(service, 1, server, Origin::Published, None, send)
}

/// Reads files that were written to, and marks those that are no longer. What is in memory is read at once.
fn refresh_now(service: &LibraryService, files: &[MemorySource], settled: &[Text]) -> Vec<Output> {
    let said = RefCell::new(Vec::new());
    let say = |output| said.borrow_mut().push(output);
    let server = Server(|wanted: &RemoteFile| {
        let file = files.iter().find(|file| file.name == wanted.name);
        file.map(|file| Rc::new(Written(file.clone())) as Rc<dyn Source>)
    });
    let fetching = fetching(service, &server, &say);
    let changes = FileChanges {
        changed: files.iter().map(|file| remote(&file.name)).collect(),
        settled: settled.to_vec(),
        ..FileChanges::default()
    };
    let done = refresh(fetching, changes).now_or_never();
    assert!(done.is_some());
    said.take()
}

fn grown(said: &[Output]) -> Vec<&str> {
    let grown = said.iter().filter_map(|said| match said {
        Output::Event(Event::Renamed { id, into }) => {
            assert_eq!(id, into);
            Some(&**into)
        }
        _ => None,
    });
    grown.collect()
}

fn rows(said: &[Output]) -> Vec<&Row> {
    let rows = said.iter().filter_map(|said| match said {
        Output::Event(Event::Added { rows } | Event::Changed { rows }) => Some(rows),
        _ => None,
    });
    rows.flatten().collect()
}

/// An episode that is not over, as long as this many words.
fn unfinished(id: &str, words: usize) -> Episode {
    episode(id, &"word ".repeat(words))
}

#[test]
fn several_episodes_of_a_file_grow_at_once() {
    // A file that is read as a whole, and one that is read in place.
    for words in [10, 40_000] {
        let service = service();
        let made = |words: usize, ids: &[&str]| {
            let episodes = ids.iter().map(|id| unfinished(id, words));
            file("runs/a.jsonl", &episodes.collect::<Vec<_>>())
        };
        let said = refresh_now(&service, &[made(words, &["a", "b", "c"])], &[]);
        assert_eq!(ids(&said), ["a", "b", "c"]);
        assert!(grown(&said).is_empty(), "they are new");
        let before = open(&service, "b");
        let said = refresh_now(&service, &[made(words + 5, &["a", "b", "c", "d"])], &[]);
        assert_eq!(grown(&said), ["a", "b", "c"]);
        assert_eq!(ids(&said), ["a", "b", "c", "d"]);
        assert!(rows(&said).iter().all(|row| &*row.outcome == RUNNING));
        assert_ne!(open(&service, "b"), before);
        // One is gone, the others have changed.
        let said = refresh_now(&service, &[made(words + 9, &["a", "c"])], &[]);
        assert_eq!(grown(&said), ["a", "c"]);
        let gone = vec!["b".into(), "d".into()];
        assert!(said.contains(&Output::Event(Event::Gone { ids: gone })));
        // Nobody writes any more.
        let said = refresh_now(&service, &[], &["runs/a.jsonl".into()]);
        let outcomes = rows(&said).into_iter();
        let outcomes: BTreeMap<&str, &str> =
            outcomes.map(|row| (&*row.id, &*row.outcome)).collect();
        assert_eq!(outcomes, BTreeMap::from([("a", OPEN), ("c", OPEN)]));
    }
}

#[test]
fn a_file_that_settled_before_it_was_read_is_not_running() {
    for words in [10, 40_000] {
        let service = service();
        let file = file("runs/a.jsonl", &[unfinished("a", words)]);
        // It was written to for the last time while a long list was read.
        let said = refresh_now(&service, &[file], &["runs/a.jsonl".into()]);
        assert_eq!(&*rows(&said).last().unwrap().outcome, OPEN);
        let shown = service.rows_of(&["a".into()]).now_or_never().unwrap();
        assert_eq!(&*shown[0].outcome, OPEN);
    }
}

#[test]
fn a_file_that_is_rewritten_again_and_again_leaves_nothing() {
    for words in [10, 40_000] {
        let service = service();
        let read = |number: usize| {
            let episodes = ["a", "b"].map(|id| episode(id, &format!("{number} ").repeat(words)));
            let files = [
                file("runs/a.jsonl", &episodes),
                file("runs/b.json", &episodes[..1]),
            ];
            refresh_now(&service, &files, &["runs/c.json".into()]);
            open(&service, "a");
            service.sizes()
        };
        read(10);
        let before = read(11);
        for number in 12..40 {
            assert_eq!(read(number), before, "{words} words, version {number}");
        }
    }
}

fn listed(name: &str, bytes: u64) -> ListedFile {
    let file = RemoteFile {
        name: name.into(),
        url: "".into(),
    };
    ListedFile { file, bytes }
}

/// A file of the tests of importers.
fn dump(name: &str, file: &str) -> MemorySource {
    let folder = concat!(env!("CARGO_MANIFEST_DIR"), "/../formats/tests/fixtures");
    MemorySource {
        name: name.into(),
        bytes: std::fs::read(format!("{folder}/{file}")).unwrap(),
    }
}

/// Whether the first sample of the rollouts has training data.
fn is_joined(service: &LibraryService) -> bool {
    let rows = service
        .in_memory
        .rows_of(&["3-0".into()])
        .now_or_never()
        .unwrap();
    rows[0].0.metadata.contains_key("training_data")
}

#[test]
fn a_training_dump_that_is_written_later_is_joined() {
    let rollouts = dump("desk/rollout_data/3.pt", "slime-rollout.pt");
    let trained = dump("desk/train_data/3.pt", "slime-train.pt");
    let service = service();
    let said = RefCell::new(Vec::new());
    let say = |output| said.borrow_mut().push(output);
    let files = [rollouts, trained];
    let server = Server(|wanted: &RemoteFile| {
        let file = files.iter().find(|file| file.name == wanted.name).cloned();
        file.map(|file| Rc::new(file) as Rc<dyn Source>)
    });
    let written = |file: &MemorySource| {
        let fetching = fetching(&service, &server, &say);
        let changes = FileChanges {
            changed: vec![remote(&file.name)],
            ..FileChanges::default()
        };
        refresh(fetching, changes).now_or_never().unwrap();
    };
    written(&files[0]);
    assert!(!is_joined(&service));
    written(&files[1]);
    assert!(is_joined(&service));
    assert!(grown(&said.borrow()).contains(&"3-0"));
    // What is written again stays joined, and there once.
    written(&files[0]);
    assert!(is_joined(&service));
    let ids = service.file_of.borrow().len();
    assert_eq!(ids, 2, "{:?}", service.file_of.borrow());
}

/// A file of EvalScope with a sample of two messages, and what else its line has.
fn sample(name: &str, rest: &str) -> MemorySource {
    let messages =
        r#"[{"role": "user", "content": "2 + 2?"}, {"role": "assistant", "content": "4"}]"#;
    let line = format!("{{\"index\": 1, \"messages\": {messages}, {rest}}}\n");
    MemorySource {
        name: name.into(),
        bytes: line.into_bytes(),
    }
}

#[test]
fn reviews_in_a_later_group_are_joined_with_their_predictions() {
    let output = r#""model_output": {"choices": [{"stop_reason": "stop"}]}"#;
    let score = r#""sample_score": {"score": {"value": {"acc": 1.0}, "main_score_name": "acc"}}"#;
    let files = [
        sample("run/predictions/m/sums.jsonl", output),
        sample("run/reviews/m/sums.jsonl", score),
    ];
    let service = service();
    let said = RefCell::new(Vec::new());
    let say = |output| said.borrow_mut().push(output);
    let server = Server(|wanted: &RemoteFile| {
        let file = files.iter().find(|file| file.name == wanted.name).cloned();
        file.map(|file| Rc::new(file) as Rc<dyn Source>)
    });
    let fetching = fetching(&service, &server, &say);
    let rewards = || {
        let ids: Vec<Text> = service.file_of.borrow().keys().cloned().collect();
        let rows = service.in_memory.rows_of(&ids).now_or_never().unwrap();
        rows.iter().map(|row| row.0.reward).collect::<Vec<_>>()
    };
    let group = |file: &MemorySource| {
        vec![ListedFile {
            file: remote(&file.name),
            bytes: file.size(),
        }]
    };
    fetching.read(group(&files[0])).now_or_never().unwrap();
    assert_eq!(rewards(), [None]);
    fetching.read(group(&files[1])).now_or_never().unwrap();
    assert_eq!(rewards(), [Some(1.0)], "{:?}", service.file_of.borrow());
}

/// A file whose bytes arrive later.
struct Late(MemorySource);

impl ReadAt for Late {
    fn name(&self) -> Text {
        self.0.name()
    }

    fn size(&self) -> u64 {
        self.0.size()
    }

    fn read(&self, range: Range<u64>) -> ReadBytes<'_> {
        let mut waits = 3;
        let bytes = self.0.bytes[range.start as usize..range.end as usize].to_vec();
        poll_fn(move |_| {
            waits -= 1;
            match waits {
                0 => Poll::Ready(Ok(bytes.clone())),
                _ => Poll::Pending,
            }
        })
        .boxed_local()
    }
}

impl Source for Late {
    fn as_any(&self) -> &dyn Any {
        self
    }
}

#[test]
fn one_group_is_opened_while_another_is_read() {
    let files = ["a", "b", "c"].map(|id| file(&format!("{id}.json"), &[episode(id, id)]));
    let happened = RefCell::new(Vec::new());
    let say = |output| {
        if let Output::Event(Event::Added { rows }) = output {
            happened.borrow_mut().push(format!("read {}", rows[0].id));
        }
    };
    let server = Server(|wanted: &RemoteFile| {
        happened.borrow_mut().push(format!("open {}", wanted.name));
        let file = files.iter().find(|file| file.name == wanted.name).cloned();
        file.map(|file| Rc::new(Late(file)) as Rc<dyn Source>)
    });
    let service = service();
    let fetching = fetching(&service, &server, &say);
    let (mut opened, groups) = mpsc::channel(0);
    let opening = async {
        for file in &files {
            let listed = listed(&file.name, file.bytes.len() as u64);
            fetching.open_next(vec![listed], &mut opened).await;
        }
        drop(opened);
    };
    let mut reading = pin!(join(opening, fetching.import_each(groups)));
    let mut context = Context::from_waker(Waker::noop());
    while reading.as_mut().poll(&mut context).is_pending() {}
    let expected = [
        "open a.json",
        "open b.json",
        "read a",
        "open c.json",
        "read b",
        "read c",
    ];
    assert_eq!(*happened.borrow(), expected);
}

#[test]
fn rollouts_of_a_deleted_dump_stay_when_their_training_dump_is_written() {
    let service = service();
    let rollouts = dump("desk/rollout_data/3.pt", "slime-rollout.pt");
    let trained = dump("desk/train_data/3.pt", "slime-train.pt");
    refresh_now(&service, &[rollouts], &[]);
    let said = refresh_now(&service, &[trained], &[]);
    assert!(
        !said
            .iter()
            .any(|said| matches!(said, Output::Event(Event::Gone { .. }))),
        "{said:?}"
    );
    assert!(service.in_memory.has("3-0"));
}

#[test]
fn training_dumps_are_joined_with_rollouts_of_an_earlier_group() {
    // Small ones, which are read as a whole, and large ones.
    let small = [
        dump("desk/rollout_data/3.pt", "slime-rollout.pt"),
        dump("desk/train_data/3.pt", "slime-train.pt"),
    ];
    let large = [
        rollout_dump("desk/rollout_data/7.pt", 100),
        training_dump("desk/train_data/7.pt", &[0, 1]),
    ];
    for (files, id) in [(small, "3-0"), (large, "7-1")] {
        let service = service();
        let said = RefCell::new(Vec::new());
        let say = |output| said.borrow_mut().push(output);
        let server = Server(|wanted: &RemoteFile| {
            let file = files.iter().find(|file| file.name == wanted.name).cloned();
            file.map(|file| Rc::new(file) as Rc<dyn Source>)
        });
        let fetching = fetching(&service, &server, &say);
        for file in &files {
            let listed = listed(&file.name, file.bytes.len() as u64);
            fetching.read(vec![listed]).now_or_never().unwrap();
        }
        fetching.end();
        let said = said.borrow();
        let Some(Output::Event(Event::Read { notes })) = said.last() else {
            panic!("{said:?}");
        };
        let has = |text: &str| notes.iter().any(|note| note.contains(text));
        assert!(has("Joined with their training data"), "{notes:?}");
        assert!(advantages(&service, id)[0].is_some());
        // The rollouts are there once.
        assert!(grown(&said).contains(&id));
    }
}
