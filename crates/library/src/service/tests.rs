//! The library service, with a store in memory.

use std::any::Any;
use std::cell::RefCell;
use std::ops::Range;

use futures_util::FutureExt;
use volary_analysis::annotations::{Annotation, Annotations, sidecar};
use volary_core::message::Message;
use volary_core::virtual_clock::VirtualClock;
use volary_episode::Episode;
use volary_protocol::episode::EpisodeChunk;
use volary_protocol::library::{ExportFormat, FoundRun, Origin};

use super::reading;
use super::step_dumps::StepDumps;
use super::*;
use crate::lazy_code::StaticCode;
use crate::repository::{Held, Item, MemoryStore};
use crate::source::tests::Noted;
use crate::source::{ReadAt, ReadBytes, ReadError, Source, start_of};

/// A file in memory.
#[derive(Clone, Debug)]
pub(crate) struct MemorySource {
    /// Its path.
    pub(crate) name: Text,
    /// The contents.
    pub(crate) bytes: Vec<u8>,
}

impl ReadAt for MemorySource {
    fn name(&self) -> Text {
        self.name.clone()
    }

    fn size(&self) -> u64 {
        self.bytes.len() as u64
    }

    fn read(&self, range: Range<u64>) -> ReadBytes<'_> {
        let bytes = self.bytes.get(range.start as usize..range.end as usize);
        let bytes = bytes.map(<[u8]>::to_vec);
        std::future::ready(bytes.ok_or(ReadError::EndOfFile)).boxed_local()
    }
}

impl Source for MemorySource {
    fn followed_by(&self, others: &[Rc<dyn Source>]) -> Option<Rc<dyn Source>> {
        let others = others.iter().map(|other| other.as_any().downcast_ref());
        let others: Vec<&MemorySource> = others.collect::<Option<_>>()?;
        let parts = std::iter::once(self).chain(others);
        let parts: Vec<Vec<u8>> = parts.map(|source| source.bytes.clone()).collect();
        Some(Rc::new(MemorySource {
            name: self.name.clone(),
            bytes: parts.concat(),
        }))
    }

    fn as_any(&self) -> &dyn Any {
        self
    }
}

pub(crate) fn service_of(store: MemoryStore) -> LibraryService {
    let clock = Rc::new(VirtualClock::new());
    LibraryService::new(store, Rc::new(StaticCode), clock, || 1.0)
}

pub(crate) fn service() -> LibraryService {
    service_of(MemoryStore::default())
}

pub(crate) fn file(name: &str, episodes: &[Episode]) -> MemorySource {
    let lines: Vec<String> = episodes.iter().map(native::to_text).collect();
    MemorySource {
        name: name.into(),
        bytes: lines.join("\n").into_bytes(),
    }
}

/// A file that is too large to be copied into episodes.
pub(crate) fn large(name: &str, ids: &[&str]) -> MemorySource {
    let filler = "word ".repeat((5 << 20) / 5 / ids.len());
    let episodes = ids.iter().map(|id| episode(id, &format!("{filler}{id}")));
    file(name, &episodes.collect::<Vec<_>>())
}

pub(crate) fn episode(id: &str, text: &str) -> Episode {
    Episode {
        id: id.into(),
        start: vec![Message::user(text).into()],
        ..Episode::default()
    }
}

/// Reads files and returns the output. A store in memory is always ready.
pub(crate) fn read(service: &LibraryService, files: &[MemorySource]) -> Vec<Output> {
    read_as(service, files, Origin::Imported)
}

pub(crate) fn read_as(
    service: &LibraryService,
    files: &[MemorySource],
    origin: Origin,
) -> Vec<Output> {
    let said = RefCell::new(Vec::new());
    let say = |output| said.borrow_mut().push(output);
    let files = files
        .iter()
        .map(|file| Rc::new(file.clone()) as Rc<dyn Source>);
    let reading = reading::read(service, 1, files.collect(), origin, &say);
    assert!(reading.now_or_never().is_some());
    said.take()
}

pub(crate) fn id_of_now(file: &MemorySource) -> Text {
    start_of(file).now_or_never().unwrap().unwrap()
}

pub(crate) fn ask(service: &LibraryService, request: Request) -> Vec<Output> {
    let said = RefCell::new(Vec::new());
    let say = |output| said.borrow_mut().push(output);
    assert!(service.handle(2, request, &say).now_or_never().is_some());
    said.take()
}

pub(crate) fn open(service: &LibraryService, id: &str) -> Vec<Output> {
    let id = id.into();
    ask(service, Request::Open { id })
}

pub(crate) fn tagged(episodes: &[(&str, &[&str])]) -> Vec<TaggedEpisode> {
    let episodes = episodes.iter().map(|(id, tags)| TaggedEpisode {
        id: (*id).into(),
        tags: tags.iter().map(|tag| (*tag).into()).collect(),
    });
    episodes.collect()
}

/// The ids of the added episodes, after all changes of ids.
pub(crate) fn ids(said: &[Output]) -> Vec<String> {
    let mut ids = Vec::new();
    for said in said {
        match said {
            Output::Event(Event::Changed { .. }) => {}
            Output::Event(Event::Added { rows, .. }) => {
                ids.extend(rows.iter().map(|row| row.id.to_string()));
            }
            Output::Event(Event::Renamed { id, into, .. }) => {
                let known = ids.iter_mut().find(|known| **known == **id);
                *known.unwrap() = into.to_string();
            }
            _ => {}
        }
    }
    ids
}

#[test]
fn reads_opens_lists_and_forgets() {
    let service = service();
    let two = [episode("a", "one"), episode("b", "two")];
    assert_eq!(ids(&read(&service, &[file("x.jsonl", &two)])), ["a", "b"]);
    assert!(matches!(
        open(&service, "b").last(),
        Some(Output::Event(Event::Episode(EpisodeChunk::End { .. })))
    ));
    let ids_to_forget = vec!["b".into()];
    let forget = Request::Forget { ids: ids_to_forget };
    ask(&service, forget);
    assert!(matches!(
        open(&service, "b").as_slice(),
        [Output::Event(Event::Refused { .. })]
    ));
    assert_eq!(ids(&ask(&service, Request::List)), ["a"]);
}

#[test]
fn equal_episodes_are_stored_once_and_others_get_distinct_ids() {
    let service = service();
    let once = file("x.json", &[episode("1", "one")]);
    read(&service, std::slice::from_ref(&once));
    assert_eq!(ids(&read(&service, &[once])), ["1"]);
    let other = file("y.json", &[episode("1", "another")]);
    assert_eq!(ids(&read(&service, &[other])), ["1 (2)"]);
}

#[test]
fn search_covers_all_texts() {
    let service = service();
    let two = [episode("a", "the quick fox"), episode("b", "the lazy dog")];
    read(&service, &[file("x.jsonl", &two)]);
    let search = Request::Search {
        words: "LAZY".into(),
    };
    let heard = ask(&service, search);
    let [Output::Event(Event::Found { matches, .. })] = heard.as_slice() else {
        panic!("{heard:?}");
    };
    let found = matches.iter().map(|found| (&*found.id, &*found.hit));
    assert_eq!(found.collect::<Vec<_>>(), [("b", "lazy")]);
}

#[test]
fn search_returns_positions_in_an_episode() {
    let service = service();
    read(
        &service,
        &[file("x.json", &[episode("a", "the quick fox, the end")])],
    );
    let find = |words: &str| {
        let find = Request::Find {
            id: "a".into(),
            words: words.into(),
        };
        let heard = ask(&service, find);
        let [Output::Event(Event::Places { places, .. })] = heard.as_slice() else {
            panic!("{heard:?}");
        };
        places
            .iter()
            .map(|found| (found.start, found.before))
            .collect::<Vec<_>>()
    };
    assert_eq!(find("THE"), [(0, 0), (15, 1)]);
    assert_eq!(find("the \"quick fox\""), [(0, 0), (4, 0), (15, 1)]);
    assert_eq!(find("hen"), []);
    assert_eq!(find(" "), []);
}

#[test]
fn search_covers_earlier_imports() {
    let store = MemoryStore::default();
    let kept = episode("a", "the quick fox");
    let row = Row::of(&kept, Vec::new());
    let held = Held::Text(native::to_text(&kept));
    let is_new = true;
    let keeping = store.keep(vec![Item {
        row,
        held,
        again: None,
        is_new,
    }]);
    assert!(matches!(keeping.now_or_never(), Some(Ok(()))));
    let search = Request::Search {
        words: "quick".into(),
    };
    let heard = ask(&service_of(store), search);
    assert!(matches!(
        heard.as_slice(),
        [Output::Event(Event::Found { matches, .. })] if matches.len() == 1
    ));
}

#[test]
fn a_file_without_trajectories_is_rejected() {
    let nonsense = MemorySource {
        name: "x.txt".into(),
        bytes: b"hello".to_vec(),
    };
    assert!(matches!(
        read(&service(), &[nonsense]).last(),
        Some(Output::Event(Event::Refused { .. }))
    ));
}

/// A line as `volary ask` writes it.
fn answer_line(episode: &str) -> String {
    let key = "0".repeat(64);
    format!(
        r#"{{"format":"volary-answer-1","key":"{key}","episode":"{episode}","model":"m","question":{{"text":"Did it?","type":"yes_no"}},"answer":{{"label":"no","explanation":"e","evidence":[],"support":"supported","parts":1}}}}"#
    )
}

#[test]
fn answers_are_read_with_trajectories_and_damaged_lines_are_reported() {
    let answers = |lines: &[&str]| MemorySource {
        name: "runs/answers.jsonl".into(),
        bytes: lines.join("\n").into_bytes(),
    };
    let line = answer_line("a");
    let some = answers(&[&line, &line[..40], "", &line]);
    let trajectories = file("runs.jsonl", &[episode("a", "hello")]);
    let said = read(&service(), &[some, trajectories]);
    assert_eq!(ids(&said), ["a"]);
    let given = said.iter().find_map(|said| match said {
        Output::Event(Event::Answers { lines, origin }) => Some((lines.clone(), *origin)),
        _ => None,
    });
    let (lines, origin) = given.unwrap();
    assert_eq!((lines.lines().count(), origin), (2, Origin::Imported));
    let words = notes_text(&said);
    assert!(words.contains("Line 2 was skipped"), "{words}");
    assert!(words.contains("2 answers of models"), "{words}");
    // Without trajectories, too.
    let alone = read(&service(), &[answers(&[&line])]);
    assert!(matches!(
        alone.last(),
        Some(Output::Event(Event::Read { .. }))
    ));
    let newer = line.replace("volary-answer-1", "volary-answer-2");
    let refused = read(&service(), &[answers(&[&line, &newer])]);
    assert!(
        notes_text(&refused).contains("newer version"),
        "{}",
        notes_text(&refused)
    );
    let notices = |said: &[Output]| {
        let notices = said.iter().filter_map(|said| match said {
            Output::Event(Event::Notice { why, .. }) => Some(why.to_string()),
            _ => None,
        });
        notices.collect::<String>()
    };
    assert!(notices(&refused).contains("newer version"));
    assert_eq!(notices(&said), "", "the report has it");
    let of_site = read_as(&service(), &[answers(&[&line, "{"])], Origin::Published);
    assert!(notices(&of_site).contains("1 line skipped; line 2"));
    let is_answer = |said: &Output| matches!(said, Output::Event(Event::Answers { .. }));
    assert!(!refused.iter().any(is_answer));
    // A file of trajectories may have such a name.
    let other = file("answers.jsonl", &[episode("b", "hello")]);
    assert_eq!(ids(&read(&service(), &[other])), ["b"]);
}

fn notes_text(said: &[Output]) -> String {
    let notes = said.iter().filter_map(|said| match said {
        Output::Event(Event::Read { notes, .. }) => Some(notes.join(" ")),
        Output::Event(Event::Refused { reason, .. }) => Some(reason.to_string()),
        _ => None,
    });
    notes.collect()
}

#[test]
fn large_files_stay_where_they_are_and_are_read_from_there() {
    let service = service();
    let big = large("big.jsonl", &["a", "b", "c"]);
    let said = read(&service, std::slice::from_ref(&big));
    assert_eq!(ids(&said), ["a", "b", "c"], "{}", notes_text(&said));
    assert!(service.known_episode("b").unwrap().location.is_some());
    let opened = open(&service, "b");
    assert!(
        matches!(&opened[0], Output::Event(Event::Episode(EpisodeChunk::Head(head))) if &*head.id == "b")
    );
    let heard = ask(
        &service,
        Request::Search {
            words: "\"word c\"".into(),
        },
    );
    assert!(matches!(
        heard.last(),
        Some(Output::Event(Event::Found { matches, .. })) if matches.len() == 1 && &*matches[0].id == "c"
    ));
    // Read again, the file is known.
    let said = read(&service, std::slice::from_ref(&big));
    assert_eq!(ids(&said), ["a", "b", "c"], "said again, in order");
    assert!(notes_text(&said).contains("is in the library"));
    // A deleted episode comes back with it.
    ask(
        &service,
        Request::Forget {
            ids: vec!["b".into()],
        },
    );
    let said = read(&service, &[big]);
    assert_eq!(ids(&said), ["a", "b", "c"]);
    let all = vec!["a".into(), "b".into(), "c".into()];
    ask(&service, Request::Forget { ids: all });
    let known = service.windows.borrow().len();
    assert_eq!(known, 0, "the file is let go with the last of its episodes");
}

#[test]
fn a_reading_that_is_cancelled_keeps_what_it_has() {
    let service = service();
    let said = RefCell::new(Vec::new());
    let say = |output| {
        if matches!(&output, Output::Event(Event::Added { .. })) {
            let cancel = Request::Cancel { reading: 1 };
            assert!(service.handle(3, cancel, &|_| {}).now_or_never().is_some());
        }
        said.borrow_mut().push(output);
    };
    let big = Rc::new(large(
        "big.jsonl",
        &["a", "b", "c", "d", "e", "f", "g", "h"],
    ));
    let reading = reading::read(&service, 1, vec![big], Origin::Imported, &say);
    assert!(reading.now_or_never().is_some());
    let said = said.take();
    assert!((1..8).contains(&ids(&said).len()), "{:?}", ids(&said));
    assert!(notes_text(&said).contains("Cancelled."));
}

#[test]
fn tags_are_stored_and_deleted_with_the_file() {
    let service = service();
    read(&service, &[file("x.json", &[episode("a", "one")])]);
    let tag = |tag: &str, on| Request::Tag {
        ids: vec!["a".into()],
        tag: tag.into(),
        on,
    };
    ask(&service, tag("good", true));
    ask(&service, tag("bad", true));
    ask(&service, tag("bad", false));
    // Only the page knows the tags that are notes.
    let export = Request::Export {
        episodes: tagged(&[("a", &["good", "a note"])]),
        format: ExportFormat::Volary,
        is_masked: false,
    };
    let [Output::File { parts, .. }] = &ask(&service, export)[..] else {
        panic!("no file");
    };
    let bytes = parts.concat();
    let exported = MemorySource {
        name: "y.jsonl".into(),
        bytes,
    };
    let heard = read(&self::service(), std::slice::from_ref(&exported));
    let row = heard.iter().find_map(|said| match said {
        Output::Event(Event::Added { rows, .. }) => rows.first(),
        _ => None,
    });
    assert_eq!(row.unwrap().tags, ["good".into(), "a note".into()]);
    // In this library it is the same episode as before.
    assert_eq!(ids(&read(&service, &[exported])), ["a"]);
}

#[test]
fn sensitive_texts_are_found_and_masked() {
    let service = service();
    let files = [
        file("x.json", &[episode("a", "one")]),
        file("y.json", &[episode("b", "Mail ada@example.org")]),
    ];
    read(&service, &files);
    let episodes = tagged(&[("a", &[]), ("b", &[])]);
    let find = Request::FindSensitive {
        episodes: episodes.clone(),
    };
    let said = ask(&service, find);
    let [Output::Event(Event::Sensitive { found })] = &said[..] else {
        panic!("{said:?}");
    };
    assert_eq!(found.len(), 1);
    assert_eq!(found[0].finding.kind, sensitive::FindingKind::Email);
    for (is_masked, expected) in [(false, "ada@example.org"), (true, "[e-mail address]")] {
        let episodes = episodes.clone();
        let export = |format| Request::Export {
            episodes: episodes.clone(),
            format,
            is_masked,
        };
        for format in [ExportFormat::Volary, ExportFormat::Rows] {
            let said = ask(&service, export(format));
            let [Output::File { parts, .. }] = &said[..] else {
                panic!("no file");
            };
            assert_eq!(parts.len(), 2);
            let second = String::from_utf8_lossy(&parts[1]);
            assert!(second.contains(expected), "{second}");
        }
        let said = ask(&service, export(ExportFormat::Parquet));
        let [Output::File { parts, .. }] = &said[..] else {
            panic!("no file");
        };
        let rows = volary_parquet::read_rows(parts.concat(), 1 << 20).unwrap();
        assert_eq!(rows.count, 2);
        assert!(rows.lines.contains(expected), "{}", rows.lines);
    }
}

#[test]
fn a_page_of_findings_has_the_notes_and_the_run() {
    let service = service();
    let sample = |id: &str, step: i64| {
        let mut episode = episode(id, "Mail ada@example.org");
        episode.metadata.insert("step", step);
        episode
    };
    let run = [file("x.json", &[sample("a", 0), sample("b", 1)])];
    read(&service, &run);
    let note = Annotation {
        id: "n".into(),
        episode: "b".into(),
        text: "Ask grace@example.org".into(),
        ..Annotation::default()
    };
    let notes = sidecar::to_text(&Annotations::from_iter([note]));
    for is_masked in [false, true] {
        let request = Request::ExportFindings {
            title: "Found".into(),
            episodes: tagged(&[("b", &[]), ("gone", &[])]),
            runs: vec![FoundRun {
                title: "The run".into(),
                ids: vec!["a".into(), "b".into()],
                reward: None,
            }],
            notes: notes.clone().into(),
            claims: Vec::new(),
            is_masked,
        };
        let said = ask(&service, request);
        let [Output::File { name, parts }] = &said[..] else {
            panic!("no file");
        };
        let page = String::from_utf8(parts.concat()).unwrap();
        assert_eq!(*name, "findings.html");
        assert!(page.contains("2 steps, 2 samples.") && page.ends_with("</html>\n"));
        for address in ["ada@example.org", "grace@example.org"] {
            assert_eq!(page.contains(address), !is_masked, "{page}");
        }
    }
}

#[test]
fn episodes_of_the_site_are_not_stored_and_not_deleted() {
    let service = service();
    let said = read_as(
        &service,
        &[file("x.json", &[episode("a", "one")])],
        Origin::Published,
    );
    assert_eq!(ids(&said), ["a"]);
    ask(
        &service,
        Request::Forget {
            ids: vec!["a".into()],
        },
    );
    assert!(open(&service, "a").len() > 1);
    assert!(
        service
            .store
            .rows()
            .now_or_never()
            .unwrap()
            .unwrap()
            .is_empty()
    );
}

#[test]
fn linked_episodes_are_not_stored_and_can_be_removed() {
    let service = service();
    let said = read_as(
        &service,
        &[file("x.json", &[episode("a", "one")])],
        Origin::Linked,
    );
    assert_eq!(ids(&said), ["a"]);
    assert!(open(&service, "a").len() > 1);
    let kept = service.store.rows().now_or_never().unwrap().unwrap();
    assert!(kept.is_empty());
    // From a file, it is stored.
    read(&service, &[file("x.json", &[episode("a", "one")])]);
    let kept = service.store.rows().now_or_never().unwrap().unwrap();
    assert_eq!(kept.len(), 1);
    ask(
        &service,
        Request::Forget {
            ids: vec!["a".into()],
        },
    );
    assert!(!service.in_memory.has("a"));
    let kept = service.store.rows().now_or_never().unwrap().unwrap();
    assert!(kept.is_empty());
}

fn pickled_text(text: &str) -> Vec<u8> {
    let length = u32::try_from(text.len()).unwrap().to_le_bytes();
    [b"X", &length[..], text.as_bytes()].concat()
}

fn pickled_int(int: u32) -> Vec<u8> {
    [&b"J"[..], &int.to_le_bytes()].concat()
}

fn pickled_list(items: impl Iterator<Item = Vec<u8>>) -> Vec<u8> {
    [b"](".to_vec(), items.flatten().collect(), b"e".to_vec()].concat()
}

fn pickled_dictionary(items: &[(&str, Vec<u8>)]) -> Vec<u8> {
    let items = items.iter();
    let items = items.map(|(key, value)| [pickled_text(key), value.clone()].concat());
    [b"}(".to_vec(), items.flatten().collect(), b"u".to_vec()].concat()
}

/// The tokens of a sample, enough to stay large when compressed.
fn tokens_of(sample: u32) -> impl Iterator<Item = u32> {
    let mut state = sample + 1;
    (0..2_000).map(move |_| {
        state ^= state << 13;
        state ^= state >> 17;
        state ^= state << 5;
        state % 150_000
    })
}

/// The pickle of a torch rollout dump of step 7.
fn rollout_pickle(samples: usize) -> Vec<u8> {
    let sample = |sample: u32| {
        pickled_dictionary(&[
            ("index", pickled_int(sample)),
            ("prompt", pickled_text("Count.")),
            ("response", pickled_text(&format!("word{sample}"))),
            ("tokens", pickled_list(tokens_of(sample).map(pickled_int))),
            ("response_length", pickled_int(1_990)),
            (
                "loss_mask",
                pickled_list((0..1_990).map(|_| pickled_int(1))),
            ),
            ("status", pickled_text("completed")),
        ])
    };
    let dump = pickled_dictionary(&[
        ("rollout_id", pickled_int(7)),
        ("samples", pickled_list((0..samples as u32).map(sample))),
    ]);
    [b"\x80\x02", &dump[..], b"."].concat()
}

/// The pickle of its training dump for these samples, the advantages of which are their indices.
fn training_pickle(samples: &[u32]) -> Vec<u8> {
    let column = |of_sample: &dyn Fn(u32) -> Vec<u8>| {
        pickled_list(samples.iter().map(|sample| of_sample(*sample)))
    };
    let advantages = |sample| pickled_list((0..1_990).map(|_| pickled_int(sample)));
    let data = pickled_dictionary(&[
        (
            "tokens",
            column(&|sample| pickled_list(tokens_of(sample).map(pickled_int))),
        ),
        ("sample_indices", column(&pickled_int)),
        ("response_lengths", column(&|_| pickled_int(1_990))),
        (
            "loss_masks",
            column(&|_| pickled_list((0..1_990).map(|_| pickled_int(1)))),
        ),
        ("advantages", column(&advantages)),
    ]);
    let dump = pickled_dictionary(&[
        ("rollout_id", pickled_int(7)),
        ("rank", pickled_int(0)),
        ("rollout_data", data),
    ]);
    [b"\x80\x02", &dump[..], b"."].concat()
}

fn packed(name: &str, pickle: &[u8]) -> MemorySource {
    let mut packer = volary_formats::archive::Packer::default();
    packer.add("dump/data.pkl", pickle).unwrap();
    MemorySource {
        name: name.into(),
        bytes: packer.finish().unwrap(),
    }
}

/// A rollout dump, packed.
pub(crate) fn rollout_dump(name: &str, samples: usize) -> MemorySource {
    packed(name, &rollout_pickle(samples))
}

/// The training dump of these samples, packed.
pub(crate) fn training_dump(name: &str, samples: &[u32]) -> MemorySource {
    packed(name, &training_pickle(samples))
}

/// The mean advantage of an episode in the table, and of the tokens of the opened one.
pub(crate) fn advantages(service: &LibraryService, id: &str) -> [Option<f64>; 2] {
    let id = Text::from(id);
    let episode = opening::episode(service, &id).now_or_never().unwrap();
    let record = episode.unwrap().tokens.unwrap();
    let streams = record.strip.streams();
    let last = streams
        .get("advantages")
        .and_then(|stream| stream.iter().last());
    let rows = service.rows_of(std::slice::from_ref(&id)).now_or_never();
    let figures = rows.unwrap().pop().unwrap().token_figures.unwrap();
    [figures.mean("advantages"), last.flatten()]
}

/// A zip file with one member, which is stored as torch does.
fn stored(name: &str, bytes: &[u8]) -> Vec<u8> {
    let number = |number: usize| u32::try_from(number).unwrap().to_le_bytes();
    let length = number(bytes.len());
    // The version, no flags, no compression, time, checksum.
    let about = [&[20, 0][..], &[0; 12], &length, &length].concat();
    let about = [&about[..], &number(name.len())].concat();
    let local = [b"PK\x03\x04", &about[..], name.as_bytes(), bytes].concat();
    let listed = [b"PK\x01\x02\x14\0", &about[..], &[0; 14], name.as_bytes()].concat();
    let end = [
        b"PK\x05\x06\0\0\0\0\x01\0\x01\0",
        &number(listed.len())[..],
        &number(local.len()),
        &[0; 2],
    ]
    .concat();
    [local, listed, end].concat()
}

#[test]
fn the_pickle_of_a_large_rollout_dump_is_read_in_order_and_once() {
    let pickle = rollout_pickle(300);
    let noted = Noted::named("7.pt", stored("dump/data.pkl", &pickle));
    let files = vec![Rc::clone(&noted) as Rc<dyn Source>];
    let (service, said) = (service(), RefCell::new(Vec::new()));
    let say = |output| said.borrow_mut().push(output);
    let reading = reading::read(&service, 1, files, Origin::Published, &say);
    assert!(reading.now_or_never().is_some());
    assert_eq!(ids(&said.take()).len(), 300);

    assert_eq!(noted.through.get(), Some(0));
    let read = noted.read.take();
    let first = read.iter().position(|range| *range == (0..1 << 18));
    let pieces = &read[first.unwrap()..];
    let follow = |pair: &[Range<u64>]| pair[0].end == pair[1].start;
    let count = pieces.windows(2).take_while(|pair| follow(pair)).count();
    let end = pickle.len() as u64;
    assert!(pieces[count].end > end, "{read:?}");
    // Then only the end of the file, by which it is recognised.
    assert_eq!(pieces.len(), count + 2, "{read:?}");
}

#[test]
fn samples_of_a_large_rollout_dump_stay_in_their_file() {
    let dump = rollout_dump("run/rollout_data/7.pt", 100);
    assert!(dump.bytes.len() > 1 << 18, "{}", dump.bytes.len());
    let service = service();
    let found = ids(&read(&service, std::slice::from_ref(&dump)));
    assert_eq!(found.len(), 100);
    assert_eq!(found[42], "7-42");
    let known = service.known_episode("7-42").unwrap();
    assert!(known.location.is_some(), "it is copied");
    let matches = ask(
        &service,
        Request::Search {
            words: "word42".into(),
        },
    );
    assert!(matches!(
        matches.as_slice(),
        [Output::Event(Event::Found { matches, .. })] if matches.len() == 1
    ));
    assert!(matches!(
        open(&service, "7-42").last(),
        Some(Output::Event(Event::Episode(EpisodeChunk::End { .. })))
    ));
    // So do those of the same step of another run.
    let service = self::service();
    let other = MemorySource {
        name: "other/rollout_data/7.pt".into(),
        ..dump.clone()
    };
    let found = ids(&read(&service, &[dump, other]));
    assert_eq!(found.len(), 200);
    assert!(service.known_episode("7-42").unwrap().location.is_some());
}

#[test]
fn a_large_rollout_dump_is_joined_with_its_training_dumps_in_place() {
    // Two ranks, and a sample that was not rolled out. All files have the same name, as if they were dropped.
    let files = [
        training_dump("7.pt", &[0, 2, 4]),
        rollout_dump("7.pt", 100),
        training_dump("7.pt", &[1, 3, 200]),
    ];
    let service = service();
    let said = read(&service, &files);
    assert_eq!(ids(&said).len(), 101);
    for (id, expected) in [
        ("7-3", Some(3.0)),
        ("7-4", Some(4.0)),
        ("7-5", None),
        ("train-7-200", Some(200.0)),
    ] {
        assert!(
            service.known_episode(id).unwrap().location.is_some(),
            "{id} is copied"
        );
        assert_eq!(advantages(&service, id), [expected, expected], "{id}");
    }
    let notes = notes_text(&said);
    assert!(
        notes.contains("Joined with their training data: 5 samples."),
        "{notes}"
    );
    assert!(notes.contains("have tokens and no messages"), "{notes}");
}

#[test]
fn samples_and_their_reviews_are_read_as_a_whole() {
    let source = |name: &str| -> Rc<dyn Source> {
        Rc::new(MemorySource {
            name: name.into(),
            bytes: b"{}".to_vec(),
        })
    };
    let names = [
        "run/predictions/m/a.jsonl",
        "run/predictions/m/b.jsonl",
        "run/reviews/m/b.jsonl",
        "run/reviews/n/a.jsonl",
    ];
    let files = names.map(source);
    let steps = StepDumps::of(&files).now_or_never().unwrap();
    let whole = files.iter().map(|file| steps.is_whole(file));
    assert_eq!(whole.collect::<Vec<_>>(), [false, true, true, false]);
}

#[test]
fn a_rollout_dump_and_its_training_dump_belong_together() {
    let fixture = |name: &str, file: &str| -> Rc<dyn Source> {
        let folder = concat!(env!("CARGO_MANIFEST_DIR"), "/../formats/tests/fixtures");
        let bytes = std::fs::read(format!("{folder}/{file}")).unwrap();
        Rc::new(MemorySource {
            name: name.into(),
            bytes,
        })
    };
    let paired = |files: &[Rc<dyn Source>]| {
        let steps = StepDumps::of(files).now_or_never().unwrap();
        // They are small.
        let whole = files.iter().filter(|file| steps.is_whole(file));
        whole
            .map(|file| file.name().to_string())
            .collect::<Vec<_>>()
    };
    // Names do not count.
    let rollout = fixture("run/a.pt", "slime-rollout.pt");
    let train = fixture("run/b.pt", "slime-train.pt");
    let evaluation = fixture("run/eval_3.pt", "slime-rollout.pt");
    let other = fixture("run/c.pt", "slime-numpy.pt");
    assert_eq!(
        paired(&[rollout.clone(), other, evaluation, train]),
        ["run/a.pt", "run/b.pt"]
    );
    assert!(paired(&[rollout.clone(), rollout]).is_empty());
}

/// A trace of prime-rl with a prompt of this length, and an annotation of it.
fn trace(id: &str, length: usize) -> (String, String) {
    let content = "word ".repeat(length / 5);
    let trace = format!(
        r#"{{"id": "e-{id}", "run": {{"work": {{"type": "train", "step": 3}}}}, "traces": [{{"id": "{id}", "task": {{"key": "k"}}, "nodes": [{{"message": {{"role": "user", "content": "{content}"}}, "sampled": false, "token_ids": [1], "mask": [false]}}, {{"parent": 0, "message": {{"role": "assistant", "content": "Ho"}}, "sampled": true, "token_ids": [2, 3], "mask": [true, true], "logprobs": [-0.5, -0.5]}}]}}]}}"#
    );
    let annotation = |value: f64| {
        format!(
            r#"{{"version": 1, "trace_id": "{id}", "info": {{"advantage": {value}}}, "branches": [{{"index": 0, "trainer_logprobs": [null, {value}, {value}]}}]}}"#
        )
    };
    (
        trace,
        format!("{}\n{}", annotation(-9.0), annotation(-0.75)),
    )
}

#[test]
fn annotations_are_joined_with_traces_that_are_read_in_slices() {
    let service = service();
    let large: Vec<(String, String)> = ["a", "b", "c"]
        .map(|id| trace(id, 2 << 20))
        .into_iter()
        .collect();
    let small = trace("d", 10);
    let other = trace("other", 10);
    let source = |name: &str, lines: &[&String]| {
        let lines: Vec<&str> = lines.iter().map(|line| line.as_str()).collect();
        MemorySource {
            name: name.into(),
            bytes: lines.join("\n").into_bytes(),
        }
    };
    let files = [
        source(
            "run/annotations/orchestrator.jsonl",
            &[&large[0].1, &small.1],
        ),
        source("run/traces.jsonl", &[&large[0].0, &large[1].0, &large[2].0]),
        source("run/annotations/trainer.jsonl", &[&large[2].1, &other.1]),
        source("run/later.jsonl", &[&small.0]),
    ];
    assert!(files[1].bytes.len() > 4 << 20);
    let said = read(&service, &files);
    let notes = notes_text(&said);
    assert!(
        notes.contains("Joined with annotations: 2 traces."),
        "{notes}"
    );
    assert!(notes.contains("2 annotations belong to"), "{notes}");
    let opened = |id: &str| {
        let id = Text::from(id);
        let episode = opening::episode(&service, &id).now_or_never().unwrap();
        let rows = service.rows_of(std::slice::from_ref(&id)).now_or_never();
        (episode.unwrap(), rows.unwrap().pop().unwrap())
    };
    for (id, expected) in [
        ("a", Some(-0.75)),
        ("b", None),
        ("c", Some(-0.75)),
        ("d", Some(-0.75)),
    ] {
        let (episode, row) = opened(id);
        let advantage = episode.metadata.get("advantage").and_then(Json::as_f64);
        assert_eq!(advantage, expected, "{id}");
        let figures = row.token_figures.unwrap();
        assert_eq!(figures.mean("trainer_logprobs"), expected, "{id}");
        let is_in_file = service.known_episode(id).unwrap().location.is_some();
        assert_eq!(is_in_file, id != "d");
    }
}
