//! Properties that hold for any input. A violation is a panic, which the caller catches; time and memory are
//! measured from outside.

use std::borrow::Cow;
use std::ops::Range;
use std::rc::Rc;

use futures_util::FutureExt;
use volary_analysis::align::align_episodes;
use volary_analysis::csv;
use volary_analysis::search::{Document, Query};
use volary_analysis::table::Row;
use volary_analysis::timeline;
use volary_core::json::Json;
use volary_episode::Episode;
use volary_episode::native::{episode_from_json, episode_to_json};
use volary_export::markdown::to_markdown;
use volary_export::{self as export, messages_jsonl};
use volary_formats::archive::Limits;
use volary_formats::archive::listing::{Parts, list};
use volary_formats::import::index::torch_dump::TorchDump;
use volary_formats::import::index::{InPlace, Indexer, Progress, open};
use volary_formats::import::{InputFile, import_within};
use volary_formats::read_at::MemoryFile;
use volary_formats::renderer_files;
use volary_parquet::{is_parquet, read_rows};

/// The limits of archives, so that a case is cheap.
const LIMITS: Limits = Limits {
    total: 8 << 20,
    member: 4 << 20,
    members: 1000,
};
/// The maximum number of episodes per input that are written in every format.
const MOST_WRITTEN: usize = 3;

/// How thoroughly an input is checked.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Depth {
    /// It is only imported.
    Import,
    /// It is also read in chunks, written in every format, and shown.
    All,
}

/// Imports files and checks the result against the invariants. Returns the number of episodes.
///
/// # Panics
/// If an invariant is violated.
pub fn judge(files: &[InputFile], depth: Depth) -> usize {
    let Some(files) = as_lines(files, LIMITS.member) else {
        return 0;
    };
    let files = &*files;
    let outcome = match import_within(files, LIMITS) {
        Ok(outcome) => outcome,
        Err(error) => {
            assert!(!error.to_string().is_empty());
            return 0;
        }
    };
    assert!(!outcome.episodes.is_empty(), "an import of nothing");
    assert!(!outcome.notes.is_empty(), "an import without a report");
    if depth == Depth::All {
        let mut ids: Vec<&str> = outcome.episodes.iter().map(|one| &*one.id).collect();
        ids.sort_unstable();
        ids.dedup();
        assert_eq!(ids.len(), outcome.episodes.len(), "two episodes of one id");
        for episode in outcome.episodes.iter().take(MOST_WRITTEN) {
            show(episode, 0..episode.frames.len().min(50));
        }
        written(&outcome.episodes);
        if let [file] = files {
            indexed(file);
            dumped(file);
        }
    }
    outcome.episodes.len()
}

/// Replaces Parquet files by their rows, of at most `limit` bytes, as the page and the command do; `None` if one has none.
pub fn as_lines(files: &[InputFile], limit: usize) -> Option<Cow<'_, [InputFile]>> {
    if !files.iter().any(|file| is_parquet(&file.bytes)) {
        return Some(files.into());
    }
    let read = |file: &InputFile| {
        let mut file = file.clone();
        if is_parquet(&file.bytes) {
            match read_rows(std::mem::take(&mut file.bytes), limit) {
                Ok(rows) => file.bytes = rows.lines.into_bytes(),
                Err(error) => {
                    assert!(!error.to_string().is_empty());
                    return None;
                }
            }
        }
        Some(file)
    };
    files.iter().map(read).collect()
}

/// Checks that a rollout dump that is read in ranges has rows whose episodes open.
fn dumped(file: &InputFile) {
    let name = file.name.as_deref().unwrap_or_default();
    let size = file.bytes.len() as u64;
    let mut parts = Parts::of(size);
    parts.add(0, file.bytes.clone());
    let Ok(members) = list(&parts, LIMITS.members) else {
        return;
    };
    let source = Rc::new(MemoryFile {
        name: name.into(),
        bytes: file.bytes.clone(),
    });
    let Some(mut dump) = TorchDump::of(source, size, &members) else {
        return;
    };
    let read = |ranges: &[Range<u64>]| -> Vec<Vec<u8>> {
        let part = |range: &Range<u64>| file.bytes.get(range.start as usize..range.end as usize);
        let parts = ranges.iter().map(|range| part(range).map(<[u8]>::to_vec));
        let read: Option<Vec<Vec<u8>>> = parts.collect();
        assert!(read.is_some(), "a range outside of the file");
        read.unwrap_or_default()
    };
    loop {
        let progress = dump.next().now_or_never();
        assert!(
            matches!(progress, Some(Ok(_))),
            "a range outside of the file"
        );
        match progress {
            Some(Ok(Progress::More)) => {}
            Some(Ok(Progress::End)) => break,
            _ => return,
        }
    }
    for entry in dump.take_entries().iter().take(MOST_WRITTEN) {
        let episode = open(name, read(&entry.range.parts), &entry.range, &entry.row);
        assert!(episode.is_some(), "a sample cannot be opened");
    }
    assert!(!dump.notes().is_empty(), "a dump without a report");
}

/// Checks that the native format preserves everything, and that the other formats accept everything.
fn written(episodes: &[Episode]) {
    let all: Vec<&Episode> = episodes.iter().collect();
    for episode in episodes.iter().take(MOST_WRITTEN) {
        let json = episode_to_json(episode);
        let back = episode_from_json(&json).map(|back| episode_to_json(&back));
        assert_eq!(
            back.map(|back| back.to_compact_text()),
            Ok(json.to_compact_text()),
            "the native format loses something"
        );
        assert!(Json::parse(&export::atif::to_text(episode, &all)).is_ok());
        let page = export::html::to_text(episode);
        assert!(!page.contains("<script") && !page.contains("<img src=x"));
        let lines = export::ldp::to_text(episode);
        assert_eq!(lines.lines().count(), episode.steps.len() + 1);
        // Without frames, or with too many, it returns an error.
        drop(renderer_files::to_zip(episode));
    }
    let few = &all[..all.len().min(MOST_WRITTEN)];
    assert!(Json::parse(&export::inspect::to_text(few, "x")).is_ok());
    messages_jsonl::to_text(few.iter().copied());
    let rows: Vec<Row> = all.iter().map(|one| Row::of(one, Vec::new())).collect();
    assert!(csv::to_text(&rows, &csv::COLUMNS).starts_with("id,name"));
    if let [one, other, ..] = few {
        align_episodes(one, other);
    }
}

/// Builds the page's rows for an episode and for these frames.
///
/// # Panics
/// If a frame is missing.
pub fn show(episode: &Episode, frames: impl IntoIterator<Item = usize>) {
    let steps = episode.steps.len();
    to_markdown(episode, 0..=steps);
    timeline::bars(episode);
    timeline::rewards(episode);
    timeline::tokens(episode);
    timeline::outline(episode, 80);
    let document = Document::of(episode);
    for hit in document.hits(&Query::parse("a"), 20) {
        document.snippet(&hit, 20);
    }
    for frame in frames {
        assert!(episode.frames.get(frame).is_some(), "a frame is missing");
    }
}

/// Checks that a file read in chunks has rows whose episodes open at their offsets.
fn indexed(file: &InputFile) {
    let name = file.name.as_deref().unwrap_or_default();
    let mut indexer = Indexer::new(name);
    // An odd size, so that chunks end at arbitrary offsets.
    let size = 1 + file.bytes.len() / 5;
    for chunk in file.bytes.chunks(size) {
        indexer.feed(chunk);
    }
    indexer.finish();
    for entry in indexer.take_entries().iter().take(MOST_WRITTEN) {
        let part = |range: &Range<u64>| file.bytes.get(range.start as usize..range.end as usize);
        let parts: Option<Vec<Vec<u8>>> = (entry.range.parts.iter())
            .map(|range| part(range).map(<[u8]>::to_vec))
            .collect();
        assert!(parts.is_some(), "a range outside of the file");
        if let Some(episode) = open(name, parts.unwrap_or_default(), &entry.range, &entry.row) {
            assert_eq!(episode.id, entry.row.id);
        }
    }
}
