//! What the index of a file tells is what its import gives.

use std::collections::BTreeSet;
use std::rc::Rc;

use futures_util::FutureExt;
use volary_analysis::search::Query;
use volary_analysis::table::Row;
use volary_core::json::Json;
use volary_core::object;
use volary_episode::Episode;
use volary_episode::native::to_text;
use volary_export as export;
use volary_formats::archive::listing::{ListedMember, Parts, list};
use volary_formats::import::fields::Mappings;
use volary_formats::import::index::torch_dump::{DumpKind, TorchDump};
use volary_formats::import::index::{
    Entry, InPlace, Indexer, LineFilter, Progress, index, open, open_in_place,
};
use volary_formats::import::{InputFile, Note, import};
use volary_formats::read_at::{MemoryFile, ReadAt};

use crate::fixture;

fn rows(episodes: &[Episode]) -> Vec<Row> {
    episodes
        .iter()
        .map(|one| Row::of(one, Vec::new()))
        .collect()
}

/// Some files with several episodes each.
fn files() -> Vec<InputFile> {
    let file = |name: &str, text: String| InputFile {
        name: Some(name.into()),
        bytes: text.into_bytes(),
    };
    let all = import(&[fixture("atif.json"), fixture("ldp.jsonl")])
        .unwrap()
        .episodes;
    let each = |write: &dyn Fn(&Episode) -> String| -> String {
        all.iter().map(|one| write(one) + "\n").collect()
    };
    let ldp: String = all.iter().map(export::ldp::to_text).collect();
    vec![
        fixture("inspect.json"),
        file("atif.jsonl", each(&|one| export::atif::to_text(one, &[]))),
        file("native.jsonl", each(&to_text)),
        file("bom.jsonl", format!("\u{feff}{}", each(&to_text))),
        file("several.jsonl", ldp),
        // Their episodes are numbered by line.
        fixture("chat.jsonl"),
        fixture("nemo-gym.jsonl"),
        fixture("verl.jsonl"),
    ]
}

fn in_chunks(name: &str, bytes: &[u8], size: usize) -> Vec<Entry> {
    let mut indexer = Indexer::new(name);
    indexer.keep_texts(true);
    for chunk in bytes.chunks(size) {
        indexer.feed(chunk);
    }
    indexer.finish();
    assert!(
        indexer.take_episodes().is_empty(),
        "{name}: {:?}",
        indexer.notes()
    );
    indexer.take_entries()
}

#[test]
fn rows_are_those_of_the_import_however_the_bytes_come() {
    for file in files() {
        let name = file.name.clone().unwrap();
        let expected = rows(&import(std::slice::from_ref(&file)).unwrap().episodes);
        for size in [1 << 20, 997, 64, 7] {
            let entries = in_chunks(&name, &file.bytes, size);
            let found: Vec<Row> = entries.into_iter().map(|entry| entry.row).collect();
            assert_eq!(found, expected, "{name} in chunks of {size}");
        }
    }
}

#[test]
fn a_file_of_lines_that_grows_is_read_on_from_where_it_ended() {
    for file in files() {
        let name = file.name.clone().unwrap();
        if !name.ends_with("l") {
            continue;
        }
        // The first eight lines tell the format.
        let bytes = file.bytes.repeat(9);
        let whole = in_chunks(&name, &bytes, 1 << 20);
        // Anywhere in the file after what tells its format.
        let first_line = file.bytes.iter().position(|byte| *byte == b'\n').unwrap();
        for ends in [
            first_line + 1,
            first_line + 50,
            file.bytes.len() * 2 / 3,
            file.bytes.len(),
        ] {
            let mut indexer = Indexer::new(name.as_str());
            indexer.keep_texts(true);
            indexer.feed(&bytes[..ends]);
            let Some((mut next, at)) = indexer.continued() else {
                // Too little to tell.
                assert!(ends < bytes.len() / 2, "{name}");
                continue;
            };
            let mut entries = indexer.take_entries();
            assert!(entries.iter().all(|entry| entry.range.parts[0].end <= at));
            next.feed(&bytes[at as usize..]);
            // The next continuation is as good.
            let (mut last, at) = next.continued().unwrap();
            entries.extend(next.take_entries());
            last.feed(&bytes[at as usize..]);
            last.finish();
            entries.extend(last.take_entries());
            assert_eq!(entries, whole, "{name} after {ends} bytes");
        }
    }
    let mut log = Indexer::new("log.json");
    log.feed(&fixture("inspect.json").bytes);
    assert!(log.continued().is_none());
}

/// A log whose samples are read as they come: all that may stand in a list, again and again.
fn long_log() -> Vec<u8> {
    let file = fixture("inspect.json");
    let text = std::str::from_utf8(&file.bytes).unwrap();
    let Json::Object(mut log) = Json::parse(text).unwrap() else {
        panic!("a log is an object");
    };
    let text = r#" "], {"x": [\"messages\": [{"#.repeat(40);
    let Some(Json::List(samples)) = log.get_mut("samples") else {
        panic!("there are samples");
    };
    for sample in samples {
        let Json::Object(sample) = sample else {
            continue;
        };
        sample.insert("about", text.as_str());
        for key in ["messages", "events"] {
            if let Some(Json::List(list)) = sample.get_mut(key) {
                let said = object!({"role": "user", "content": (text.as_str())});
                list.insert(0, said.into());
                let others = [Json::from(text.as_str()), Json::from(7), Json::Null];
                list.extend(others);
                let again: Vec<Json> = std::iter::repeat_n(list.clone(), 30).flatten().collect();
                list.extend(again);
            }
        }
    }
    // Between the lists as well, and of a sample that is none.
    let text = Json::from(log).to_compact_text();
    text.replacen("\"samples\":[", "\"samples\": [7, \"x\", ", 1)
        .into_bytes()
}

#[test]
fn long_samples_are_read_as_they_come() {
    let log = long_log();
    let whole = in_chunks("log.json", &log, log.len());
    assert!(whole.iter().any(|entry| entry.range.bytes() > 1 << 17));
    for size in [150_001, 40_009, 997] {
        assert!(in_chunks("log.json", &log, size) == whole, "{size}");
    }
    // What is cut off is the same however it came, and what had come whole is there.
    let steps = |entry: &Entry| entry.row.steps;
    let (number, longest) = (whole.iter().enumerate())
        .max_by_key(|(_, entry)| steps(entry))
        .unwrap();
    for part in 1..40 {
        let length = longest.range.bytes() as usize * part / 40;
        let cut = &log[..longest.range.parts[0].start as usize + length];
        let found = in_chunks("log.json", cut, 40_009);
        assert!(in_chunks("log.json", cut, 997) == found, "{part}");
        assert_eq!(found[..number], whole[..number]);
        if part == 39 {
            assert_eq!(steps(&found[number]), steps(longest));
        }
    }
}

#[test]
fn entries_have_the_episodes_of_the_import_if_they_are_wanted() {
    for file in files() {
        let name = file.name.clone().unwrap();
        let whole = import(std::slice::from_ref(&file)).unwrap().episodes;
        let mut indexer = Indexer::new(name.as_str());
        indexer.keep_episodes();
        indexer.feed(&file.bytes);
        indexer.finish();
        let entries = indexer.take_entries().into_iter();
        let episodes: Vec<Episode> = entries.map(|entry| entry.episode.unwrap()).collect();
        assert_eq!(episodes.len(), whole.len(), "{name}");
        for (episode, expected) in episodes.iter().zip(&whole) {
            assert_eq!(episode.name, expected.name);
            assert_eq!(episode.steps, expected.steps, "{name}");
        }
    }
}

#[test]
fn a_search_leaves_out_lines_without_its_words() {
    // Nobody asks for anything, so that readers name them by their numbers.
    let line = |said: &str| {
        let said = said.repeat(100);
        format!("{{\"messages\": [{{\"role\": \"assistant\", \"content\": \"{said}\"}}]}}\n")
    };
    let mut text: String = (0..1_000).map(|_| line("plain words ")).collect();
    text.push_str(&line("a sapphire "));
    text.push_str("{oops}\n");
    let read = |query: &str| {
        let mut indexer = Indexer::new("run.jsonl");
        indexer.keep_episodes();
        let filter = LineFilter::of(&Query::parse(query));
        indexer.leave_out(filter.unwrap());
        for chunk in text.as_bytes().chunks(40_000) {
            indexer.feed(chunk);
        }
        indexer.finish();
        indexer.take_entries()
    };
    // The start of a file is always parsed.
    let found = read("sapphire");
    assert!(found.len() < 300, "{}", found.len());
    let last = found.last().unwrap();
    assert!(text[last.range.parts[0].start as usize..].starts_with(&line("a sapphire ")));
    assert!(last.row.name.contains("1001") || &*last.row.id == "run-1001");
    // A word that readers add to episodes is in each, though in no line.
    assert_eq!(read("conversation").len(), 1_001);
}

#[test]
fn an_episode_opens_at_its_range() {
    for file in files() {
        let name = file.name.clone().unwrap();
        let whole = import(std::slice::from_ref(&file)).unwrap().episodes;
        let (entries, ..) = index(&name, &file.bytes);
        for (entry, expected) in entries.iter().zip(&whole) {
            let episode = open_at(&name, &file.bytes, entry);
            assert_eq!(episode.id, expected.id);
            assert_eq!(episode.name, expected.name);
            assert_eq!(episode.steps, expected.steps, "{name}");
            assert_eq!(episode.start, expected.start);
            assert_eq!(episode.model, expected.model);
        }
    }
}

fn open_at(name: &str, bytes: &[u8], entry: &Entry) -> Episode {
    let parts = entry.range.parts.iter();
    let parts: Vec<Vec<u8>> = parts.map(|part| at(bytes, part)).collect();
    open(name, parts, &entry.range, &entry.row).unwrap()
}

fn at(bytes: &[u8], range: &std::ops::Range<u64>) -> Vec<u8> {
    bytes[range.start as usize..range.end as usize].to_vec()
}

/// An id with a number may be that of another episode.
#[test]
fn ids_are_those_of_an_import() {
    let line = |id: &str| {
        let episode = Episode {
            id: id.into(),
            ..Episode::default()
        };
        to_text(&episode) + "\n"
    };
    let file = InputFile {
        name: Some("a.jsonl".into()),
        bytes: ["a", "a (2)", "a", "b", "a"]
            .map(line)
            .concat()
            .into_bytes(),
    };
    let (entries, _, _) = index("a.jsonl", &file.bytes);
    let ids: Vec<_> = entries.iter().map(|entry| &*entry.row.id).collect();
    assert_eq!(ids, ["a", "a (2)", "a (3)", "b", "a (4)"]);
    let whole = import(&[file]).unwrap().episodes;
    let expected: Vec<_> = whole.iter().map(|episode| &*episode.id).collect();
    assert_eq!(ids, expected);
}

#[test]
fn packed_logs_are_read_sample_by_sample() {
    for name in [
        "inspect-zstd.eval",
        "inspect-stored.eval",
        "inspect-chunked.eval",
    ] {
        let file = fixture(name);
        let whole = import(std::slice::from_ref(&file)).unwrap().episodes;
        let opened = open_in_place(in_memory(&file), Mappings::default());
        let mut log = opened.now_or_never().unwrap().unwrap().unwrap();
        assert!(read_to_end(&mut *log), "{name}");
        let entries = log.take_entries();
        let found: Vec<Row> = entries.iter().map(|entry| entry.row.clone()).collect();
        assert_eq!(found, rows(&whole), "{name}");
        for (entry, expected) in entries.iter().zip(&whole) {
            let episode = open_at(name, &file.bytes, entry);
            assert_eq!(episode.steps, expected.steps, "{name}");
            assert_eq!(episode.model, expected.model);
        }
    }
}

fn in_memory(file: &InputFile) -> Rc<dyn ReadAt> {
    Rc::new(MemoryFile {
        name: file.name.as_deref().unwrap_or_default().into(),
        bytes: file.bytes.clone(),
    })
}

/// Reads a file in memory to its end. Returns false if it must be read as a whole.
fn read_to_end(reader: &mut dyn InPlace) -> bool {
    loop {
        match reader.next().now_or_never().unwrap().unwrap() {
            Progress::More => {}
            Progress::End => return true,
            Progress::Whole => return false,
        }
    }
}

/// The samples of the rollout dump that a zip file is; `None` if it is another torch file.
fn dumped(file: &InputFile) -> Option<TorchDump> {
    let mut parts = Parts::of(file.bytes.len() as u64);
    parts.add(0, file.bytes.clone());
    read_dump(file, &list(&parts, 999).ok()?)
}

fn read_dump(file: &InputFile, members: &[ListedMember]) -> Option<TorchDump> {
    let mut dump = TorchDump::of(in_memory(file), file.bytes.len() as u64, members)?;
    read_to_end(&mut dump).then_some(dump)
}

#[test]
fn dumps_are_read_sample_by_sample() {
    let real = std::env::var_os("TRAJECTORIES_DIR").map(std::path::PathBuf::from);
    let real = real.map(|folder| folder.join("training/slime"));
    let real = real.into_iter().flat_map(|folder| {
        let names =
            ["0.pt", "1.pt", "2.pt", "eval_2.pt"].map(|name| format!("rollout_data/{name}"));
        let train = ["0.pt", "1.pt", "2.pt"].map(|name| format!("train_data/{name}"));
        names
            .into_iter()
            .chain(train)
            .map(move |name| folder.join(name))
    });
    let real = real
        .filter(|path| path.exists())
        .map(|path| crate::file(&path));
    let fixtures = [
        "slime-rollout.pt",
        "slime-numpy.pt",
        "slime-nested.pt",
        "slime-train.pt",
        "slime-train-v1.pt",
    ];
    for file in real.chain(fixtures.map(fixture)) {
        let name = file.name.clone().unwrap_or_default();
        let whole = import(std::slice::from_ref(&file)).unwrap();
        let mut dump = dumped(&file).unwrap();
        let entries = dump.take_entries();
        let found: Vec<Row> = entries.iter().map(|entry| entry.row.clone()).collect();
        assert_eq!(found, rows(&whole.episodes), "{name}");
        for (entry, expected) in entries.iter().zip(&whole.episodes) {
            assert_eq!(open_at(&name, &file.bytes, entry), *expected, "{name}");
        }
        let texts = |notes: &[Note]| -> BTreeSet<String> {
            notes.iter().map(|note| note.text.to_string()).collect()
        };
        let praised = |text: &String| {
            text.starts_with("slime rollout dump: ") || text.starts_with("slime training dump: ")
        };
        assert!(
            texts(&dump.notes()).iter().any(praised),
            "{:?}",
            dump.notes()
        );
        assert!(texts(&whole.notes).iter().any(praised));
    }
    assert!(dumped(&fixture("inspect-zstd.eval")).is_none());
}

#[test]
fn the_first_keys_of_a_dump_say_what_it_is() {
    let kind = |name: &str| DumpKind::of(&fixture(name).bytes);
    assert_eq!(kind("slime-rollout.pt"), Some((DumpKind::Rollout, 3)));
    assert_eq!(kind("slime-train.pt"), Some((DumpKind::Training, 3)));
    assert_eq!(
        kind("slime-train-v1.pt").map(|(kind, _)| kind),
        Some(DumpKind::Training)
    );
    assert_eq!(kind("slime-legacy.pt"), None);
    assert_eq!(kind("inspect-zstd.eval"), None);
    // The samples need not be there.
    let mut start = fixture("slime-rollout.pt").bytes;
    start.truncate(start.len() / 3);
    assert_eq!(DumpKind::of(&start), Some((DumpKind::Rollout, 3)));
}

#[test]
fn samples_of_a_dump_with_damaged_headers_can_be_opened() {
    for name in ["slime-rollout.pt", "slime-numpy.pt", "slime-nested.pt"] {
        let mut file = fixture(name);
        let mut parts = Parts::of(file.bytes.len() as u64);
        parts.add(0, file.bytes.clone());
        let members = list(&parts, 99).unwrap();
        let is_pickle = |member: &&ListedMember| member.name.ends_with("data.pkl");
        let pickle = members.iter().find(is_pickle).unwrap();
        // The headers of all other members are damaged, so these are missing.
        for member in members.iter().filter(|member| member.name != pickle.name) {
            file.bytes[member.range.start as usize] = b'?';
        }
        let mut dump = read_dump(&file, &members).unwrap();
        let entries = dump.take_entries();
        assert!(!entries.is_empty());
        for entry in &entries {
            open_at(name, &file.bytes, entry);
        }
        // The pickle's own header is needed to open a sample.
        let at = pickle.range.start as usize;
        let length = file.bytes[at..]
            .windows(8)
            .position(|name| name == b"data.pkl");
        file.bytes[at + length.unwrap()] = b'D';
        assert!(read_dump(&file, &members).is_none(), "{name}");
    }
}

/// The samples of a rollout dump, joined with those of the training dumps behind it, and the bytes of all of them.
fn dumped_together(files: &[InputFile]) -> Option<(TorchDump, Vec<u8>)> {
    let (rollouts, training) = files.split_first()?;
    let members = |file: &InputFile| {
        let mut parts = Parts::of(file.bytes.len() as u64);
        parts.add(0, file.bytes.clone());
        list(&parts, 99_999).ok()
    };
    let bytes: Vec<u8> = files.iter().flat_map(|file| file.bytes.clone()).collect();
    let all = InputFile {
        name: rollouts.name.clone(),
        bytes,
    };
    let size = rollouts.bytes.len() as u64;
    let mut dump = TorchDump::of(in_memory(&all), size, &members(rollouts)?)?;
    let behind = training
        .iter()
        .map(|file| Some((file.bytes.len() as u64, members(file)?)));
    let behind: Vec<_> = behind.collect::<Option<_>>()?;
    assert_eq!(dump.join_with(behind).now_or_never(), Some(Ok(true)));
    read_to_end(&mut dump).then_some((dump, all.bytes))
}

#[test]
fn dumps_of_a_step_that_are_read_together_are_joined_as_by_an_import() {
    let real = std::env::var_os("TRAJECTORIES_DIR").map(std::path::PathBuf::from);
    let real = real.map(|folder| folder.join("training/slime"));
    let real = real.iter().flat_map(|folder| {
        ["0.pt", "1.pt", "2.pt"].map(|name| {
            ["rollout_data", "train_data"].map(|kind| crate::file(&folder.join(kind).join(name)))
        })
    });
    let pairs = [
        ["slime-rollout.pt", "slime-train.pt"],
        ["slime-rollout.pt", "slime-train-v1.pt"],
        ["slime-siblings.pt", "slime-siblings-train.pt"],
    ];
    for files in real.chain(pairs.map(|pair| pair.map(fixture))) {
        let names: Vec<&str> = files
            .iter()
            .filter_map(|file| file.name.as_deref())
            .collect();
        let whole = import(&files).unwrap();
        let (mut dump, bytes) = dumped_together(&files).unwrap();
        let entries = dump.take_entries();
        let found: Vec<Row> = entries.iter().map(|entry| entry.row.clone()).collect();
        assert_eq!(found, rows(&whole.episodes), "{names:?}");
        for (entry, expected) in entries.iter().zip(&whole.episodes) {
            assert_eq!(open_at(names[0], &bytes, entry), *expected, "{names:?}");
        }
        let telling = |notes: &[Note]| -> BTreeSet<String> {
            let notes = notes.iter().map(|note| note.text.to_string());
            notes
                .filter(|text| text.contains("oin") || text.contains("left out"))
                .collect()
        };
        assert_eq!(telling(&dump.notes()), telling(&whole.notes), "{names:?}");
    }
}

#[test]
fn samples_of_a_training_dump_without_a_rollout_are_episodes_of_tokens() {
    // The training dump is of another step.
    let files = ["slime-numpy.pt", "slime-train.pt"].map(fixture);
    let whole = import(&files).unwrap();
    let (mut dump, bytes) = dumped_together(&files).unwrap();
    let entries = dump.take_entries();
    let ids: Vec<_> = entries.iter().map(|entry| &entry.row.id).collect();
    let expected: Vec<_> = whole.episodes.iter().map(|episode| &episode.id).collect();
    assert_eq!(ids, expected);
    assert_eq!(entries.len(), 7);
    for (entry, expected) in entries.iter().zip(&whole.episodes) {
        let opened = open_at("slime-numpy.pt", &bytes, entry);
        assert_eq!(
            (opened.name, opened.tokens),
            (expected.name.clone(), expected.tokens.clone())
        );
    }
    let notes = dump.notes();
    assert!(
        notes
            .iter()
            .any(|note| note.text.contains("have tokens and no messages"))
    );
}

#[test]
fn members_beyond_the_end_of_a_dump_are_missing() {
    let file = fixture("slime-rollout.pt");
    let size = file.bytes.len() as u64;
    let mut parts = Parts::of(size);
    parts.add(0, file.bytes.clone());
    let mut members = list(&parts, 99).unwrap();
    let beyond = |member: &mut ListedMember| member.range.end = size + 1;
    members
        .iter_mut()
        .filter(|member| member.name.contains("/data/"))
        .for_each(beyond);
    let mut dump = read_dump(&file, &members).unwrap();
    let entries = dump.take_entries();
    assert_eq!(entries.len(), 2);
    let parts = entries.iter().flat_map(|entry| &entry.range.parts);
    assert!(parts.clone().all(|part| part.end <= size));
    let missing = |note: &Note| note.text.contains("could not be read");
    assert!(dump.notes().iter().any(missing), "{:?}", dump.notes());
    members.iter_mut().for_each(beyond);
    assert!(read_dump(&file, &members).is_none());
}

#[test]
fn formats_that_need_the_whole_file_are_buffered() {
    for name in ["claude-code.jsonl", "atif.json", "inspect-zstd.eval"] {
        let file = fixture(name);
        let (entries, episodes, _) = index(name, &file.bytes);
        assert_eq!(entries, []);
        assert_eq!(rows(&episodes), rows(&import(&[file]).unwrap().episodes));
    }
}

#[test]
fn damage_costs_one_episode() {
    let file = files().remove(1);
    let text = String::from_utf8(file.bytes).unwrap();
    let whole = text.lines().count();
    let damaged = text.replacen("\"steps\": [", "\"steps\": [}", 1);
    let (entries, _, notes) = index("damaged.jsonl", damaged.as_bytes());
    assert_eq!(entries.len(), whole, "{notes:?}");
    let cut = &text.as_bytes()[..text.len() - 40];
    let (entries, _, notes) = index("cut.jsonl", cut);
    assert_eq!(entries.len(), whole);
    assert!(
        notes.iter().any(|note| note.text.contains("cut off")),
        "{notes:?}"
    );

    let log = fixture("inspect.json");
    let (entries, _, notes) = index("log.json", &log.bytes[..log.bytes.len() * 3 / 5]);
    assert!(!entries.is_empty());
    assert!(
        notes.iter().any(|note| note.text.contains("cut off")),
        "{notes:?}"
    );
}

/// A file next to rollouts names their environment and model.
#[test]
fn a_neighbouring_file_names_the_run() {
    use volary_formats::import::index::Indexer;
    let rollouts = fixture("verifiers-results.jsonl");
    let mut indexer = Indexer::new("run/results.jsonl");
    assert!(!indexer.beside(b"{\"env_id\": 1}"));
    assert!(!indexer.beside(b"\xff"));
    assert!(indexer.beside(br#"{"env_id": "sums", "model": "model-z"}"#));
    indexer.feed(&rollouts.bytes);
    indexer.finish();
    let entries = indexer.take_entries();
    assert_eq!(entries.len(), 3);
    for entry in &entries {
        assert_eq!(entry.row.environment.as_deref(), Some("sums"));
        assert_eq!(entry.row.model.as_deref(), Some("model-z"));
        let episode = open_at("run/results.jsonl", &rollouts.bytes, entry);
        assert_eq!(episode.model.as_deref(), Some("model-z"));
        assert_eq!(episode.task(), entry.row.task.as_ref());
    }
}
