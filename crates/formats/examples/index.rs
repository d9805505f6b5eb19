//! Indexes a file as the page does, in chunks, and says how fast: `index FILE`. A torch dump is read in ranges.

use std::fs::File;
use std::io::{Read, Seek, SeekFrom};
use std::ops::Range;
use std::time::{Duration, Instant};

use volary_analysis::search::SearchIndex;
use volary_formats::archive::is_archive;
use volary_formats::archive::listing::{Parts, Unlisted, list};
use volary_formats::import::Note;
use volary_formats::import::index::torch_dump::{DumpStep, TorchDump};
use volary_formats::import::index::{Entry, Indexer, open};

/// What was found in a file, and when the first of it.
#[derive(Default)]
struct Found {
    entries: Vec<Entry>,
    first: Duration,
    notes: Vec<Note>,
}

fn main() -> std::io::Result<()> {
    let path = std::env::args().nth(1).unwrap_or_default();
    let mut file = File::open(&path)?;
    let mut start = [0; 4];
    file.read_exact(&mut start)?;
    let bytes = file.seek(SeekFrom::End(0))?;
    file.rewind()?;
    let began = Instant::now();
    let found = if is_archive(&start) {
        dump(&path, &mut file, bytes)?
    } else {
        lines(&path, &mut file)?
    };
    let seconds = began.elapsed().as_secs_f64();
    let steps: usize = found.entries.iter().map(|entry| entry.row.steps).sum();
    let size = bytes as f64 / 1e6;
    println!(
        "{} episodes, {steps} steps, {size:.1} MB in {seconds:.3} s: {:.0} MB/s; first row after {:.3} s",
        found.entries.len(),
        size / seconds,
        found.first.as_secs_f64(),
    );
    let began = Instant::now();
    let mut search = SearchIndex::default();
    let mut texts = 0;
    for entry in &found.entries {
        if let Some(document) = entry.texts.clone() {
            texts += document.bytes();
            search.insert_document(entry.row.id.clone(), document, false);
        }
    }
    let megabytes = texts as f64 / 1e6;
    println!("{megabytes:.1} MB of texts in {:?}", began.elapsed());
    if let Some(entry) = found.entries.last() {
        let began = Instant::now();
        let mut parts = Vec::new();
        for part in &entry.place.parts {
            parts.push(read(&mut file, part)?);
        }
        let (count, is_open) = (
            parts.len(),
            open(&path, parts, &entry.place, &entry.row).is_some(),
        );
        println!(
            "the last one in {count} parts: {:?} ({is_open})",
            began.elapsed()
        );
    }
    for note in found.notes {
        println!("{:?}: {}", note.level, note.text);
    }
    Ok(())
}

fn lines(path: &str, file: &mut File) -> std::io::Result<Found> {
    const CHUNK: usize = 4 << 20;
    let began = Instant::now();
    let mut indexer = Indexer::new(path);
    let mut chunk = vec![0; CHUNK];
    let mut found = Found::default();
    loop {
        let length = file.read(&mut chunk)?;
        match length {
            0 => indexer.finish(),
            length => indexer.feed(&chunk[..length]),
        }
        found.add(indexer.take_entries(), began);
        if length == 0 {
            break;
        }
    }
    found.notes = indexer.notes().to_vec();
    Ok(found)
}

fn dump(path: &str, file: &mut File, size: u64) -> std::io::Result<Found> {
    let began = Instant::now();
    let mut found = Found::default();
    let mut parts = Parts::of(size);
    let members = loop {
        match list(&parts, 100_000) {
            Ok(members) => break members,
            Err(Unlisted::Wanted(range)) => parts.add(range.start, read(file, &range)?),
            Err(Unlisted::Failed(error)) => return Err(std::io::Error::other(error)),
        }
    };
    let Some(mut dump) = TorchDump::of(path, size, &members) else {
        return Ok(found);
    };
    dump.keep_texts(true);
    loop {
        match dump.advance() {
            DumpStep::Wanted(ranges) => {
                let mut parts = Vec::new();
                for range in &ranges {
                    parts.push(read(file, range)?);
                }
                dump.feed(parts);
            }
            DumpStep::Sample => found.add(dump.take_entries(), began),
            DumpStep::End | DumpStep::Other => break,
        }
    }
    found.notes = dump.notes();
    Ok(found)
}

impl Found {
    fn add(&mut self, entries: Vec<Entry>, began: Instant) {
        if self.entries.is_empty() {
            self.first = began.elapsed();
        }
        self.entries.extend(entries);
    }
}

fn read(file: &mut File, range: &Range<u64>) -> std::io::Result<Vec<u8>> {
    let mut bytes = vec![0; (range.end - range.start) as usize];
    file.seek(SeekFrom::Start(range.start))?;
    file.read_exact(&mut bytes)?;
    Ok(bytes)
}
