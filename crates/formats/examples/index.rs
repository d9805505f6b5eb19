//! Reads a file in place, as the page does, and says how fast: `index FILE`.

use std::cell::RefCell;
use std::fs::File;
use std::io::{Error, Read, Seek, SeekFrom};
use std::ops::Range;
use std::rc::Rc;
use std::time::{Duration, Instant};

use futures_util::FutureExt;
use volary_analysis::search::SearchIndex;
use volary_core::json::Text;
use volary_formats::import::Note;
use volary_formats::import::fields::Mappings;
use volary_formats::import::index::{Entry, Progress, open, open_in_place};
use volary_formats::read_at::{ReadAt, ReadBytes, ReadError};

/// What was found in a file, and when the first of it.
#[derive(Default)]
struct Found {
    entries: Vec<Entry>,
    first: Duration,
    notes: Vec<Note>,
}

fn main() -> std::io::Result<()> {
    let path = std::env::args().nth(1).unwrap_or_default();
    let file = Rc::new(DiskFile::open(&path)?);
    let bytes = file.size();
    let began = Instant::now();
    let found = read_in_place(Rc::clone(&file) as Rc<dyn ReadAt>)?;
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
        for part in &entry.range.parts {
            parts.push(file.at(part)?);
        }
        let (count, is_open) = (
            parts.len(),
            open(&path, parts, &entry.range, &entry.row).is_some(),
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

fn read_in_place(file: Rc<dyn ReadAt>) -> std::io::Result<Found> {
    let began = Instant::now();
    let mut found = Found::default();
    let opened = now(open_in_place(file, Mappings::default()))?;
    let Some(mut reader) = opened else {
        return Ok(found);
    };
    reader.keep_texts(true);
    while now(reader.next())? == Progress::More {
        found.add(reader.take_entries(), began);
    }
    found.add(reader.take_entries(), began);
    reader.finish();
    found.add(reader.take_entries(), began);
    found.notes = reader.notes();
    Ok(found)
}

/// The output of a future that waits for nothing.
fn now<T>(work: impl Future<Output = Result<T, ReadError>>) -> std::io::Result<T> {
    let done = work.now_or_never();
    let done = done.ok_or_else(|| Error::other("It waits for something."))?;
    done.map_err(Error::other)
}

impl Found {
    fn add(&mut self, entries: Vec<Entry>, began: Instant) {
        if self.entries.is_empty() {
            self.first = began.elapsed();
        }
        self.entries.extend(entries);
    }
}

/// A file on the disk.
struct DiskFile {
    path: String,
    file: RefCell<File>,
    size: u64,
}

impl DiskFile {
    fn open(path: &str) -> std::io::Result<DiskFile> {
        let file = File::open(path)?;
        Ok(DiskFile {
            path: path.to_owned(),
            size: file.metadata()?.len(),
            file: RefCell::new(file),
        })
    }

    fn at(&self, range: &Range<u64>) -> std::io::Result<Vec<u8>> {
        let mut file = self.file.borrow_mut();
        let mut bytes = vec![0; (range.end - range.start) as usize];
        file.seek(SeekFrom::Start(range.start))?;
        file.read_exact(&mut bytes)?;
        Ok(bytes)
    }
}

impl ReadAt for DiskFile {
    fn name(&self) -> Text {
        self.path.as_str().into()
    }

    fn size(&self) -> u64 {
        self.size
    }

    fn read(&self, range: Range<u64>) -> ReadBytes<'_> {
        let bytes = self.at(&range).map_err(ReadError::refused);
        std::future::ready(bytes).boxed_local()
    }
}
