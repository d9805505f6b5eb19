//! Joins annotations of traces (prime-rl) with large files of traces, which are read in slices.
//!
//! The files of annotations are scanned once: in memory are the byte ranges of their lines. A file of traces is then
//! read with the annotations behind it, as one file, and the range of an episode includes those of its annotations. So
//! it is opened with them, after a reload too.

use std::cell::RefCell;
use std::collections::BTreeSet;
use std::ops::Range;
use std::rc::Rc;

use volary_analysis::table::Row;
use volary_core::json::{Json, Text};
use volary_core::quantity::plural;
use volary_formats::archive::is_archive;
use volary_formats::import::NoteLevel;
use volary_formats::import::fields::Mappings;
use volary_formats::import::index::annotated::{AnnotationRanges, is_annotation};
use volary_formats::import::index::{Entry, LARGE, LARGEST_WHOLE, Progress};

use super::running_import::{RunningImport, is_cancelled};
use super::state::LibraryService;
use crate::source::{MemoryFile, Source};

/// The size of the slices in which annotations are scanned.
const SLICE: u64 = 4 << 20;
/// The number of bytes in which the first line of a file must end.
const FIRST_LINE: u64 = 16 << 20;

/// The annotations of an import.
pub(super) struct ImportedAnnotations {
    /// Their files, in order.
    files: Vec<Rc<dyn Source>>,
    ranges: AnnotationRanges,
    /// The traces that they were joined with.
    joined: RefCell<BTreeSet<Text>>,
}

/// A file of traces with the annotations behind it.
pub(super) struct AnnotatedTraces<'a> {
    /// The bytes of both.
    pub source: Rc<dyn Source>,
    /// The number of bytes of the traces.
    pub size: u64,
    annotations: &'a ImportedAnnotations,
}

impl ImportedAnnotations {
    /// Scans the files of annotations among those of an import. `None` if there are none, or nothing to join them with: no
    /// large file, or only files of a server, which cannot be read as one.
    pub async fn of(
        library: &LibraryService,
        reading: &RunningImport<'_>,
        files: &[Rc<dyn Source>],
    ) -> Option<ImportedAnnotations> {
        let can_be_joined =
            |file: &Rc<dyn Source>| file.size() >= LARGE && file.followed_by(&[]).is_some();
        if files.len() < 2 || !files.iter().any(can_be_joined) {
            return None;
        }
        let mut own = Vec::new();
        for file in files {
            if begins_with_annotation(&**file).await == Some(true) {
                own.push(Rc::clone(file));
            }
        }
        if own.is_empty() || own.len() == files.len() {
            return None;
        }
        let mut ranges = AnnotationRanges::default();
        for file in &own {
            let mut at = 0;
            while at < file.size() {
                if is_cancelled(library, reading.number) {
                    return None;
                }
                let end = file.size().min(at + SLICE);
                // What cannot be read is reported when the file is read as a whole.
                ranges.feed(&file.read(at..end).await.ok()?);
                at = end;
            }
            ranges.end_file();
        }
        Some(ImportedAnnotations {
            files: own,
            ranges,
            joined: RefCell::default(),
        })
    }

    /// Whether a file is one of annotations.
    pub fn is_file(&self, file: &Rc<dyn Source>) -> bool {
        self.files.iter().any(|known| Rc::ptr_eq(known, file))
    }

    /// A large file with the annotations behind it, if it has traces.
    pub async fn behind(
        &self,
        library: &LibraryService,
        file: &Rc<dyn Source>,
    ) -> Option<AnnotatedTraces<'_>> {
        if begins_with_trace(library, file).await != Some(true) {
            return None;
        }
        Some(AnnotatedTraces {
            source: file.followed_by(&self.files)?,
            size: file.size(),
            annotations: self,
        })
    }

    /// The files that are read as a whole: those of annotations without the lines that were joined.
    pub async fn remaining(
        &self,
        reading: &RunningImport<'_>,
        files: Vec<Rc<dyn Source>>,
    ) -> Vec<Rc<dyn Source>> {
        let joined = self.joined.take();
        if joined.is_empty() {
            return files;
        }
        let text = format!(
            "Joined with annotations: {}.",
            plural(joined.len(), "trace")
        );
        reading.note(NoteLevel::Read, &"".into(), text);
        let rest = self.ranges.of_others(|trace| !joined.contains(trace));
        let size: u64 = rest.iter().map(|range| range.end - range.start + 1).sum();
        if size > LARGEST_WHOLE {
            return files;
        }
        let mut bytes = Vec::new();
        for range in rest {
            if let Some(line) = self.read(range).await {
                bytes.extend_from_slice(&line);
                bytes.push(b'\n');
            }
        }
        let others = files.into_iter().filter(|file| !self.is_file(file));
        let rest = self
            .files
            .first()
            .filter(|_| !bytes.is_empty())
            .map(|file| {
                let name = file.name();
                Rc::new(MemoryFile { name, bytes }) as Rc<dyn Source>
            });
        others.chain(rest).collect()
    }

    /// Reads a range of the files together.
    async fn read(&self, range: Range<u64>) -> Option<Vec<u8>> {
        let mut start = 0;
        for file in &self.files {
            let end = start + file.size();
            if range.end <= end {
                return file.read(range.start - start..range.end - start).await.ok();
            }
            start = end;
        }
        None
    }
}

impl AnnotatedTraces<'_> {
    /// Joins the annotations of an episode: its range includes them, and its row has their figures.
    pub async fn join(&self, library: &LibraryService, entry: &mut Entry) {
        let Some(trace) = trace_of(&entry.row) else {
            return;
        };
        let found = self.annotations.ranges.of(&trace).iter();
        let found = found.map(|range| range.start + self.size..range.end + self.size);
        let mut range = entry.range.clone();
        range.parts.extend(found);
        if range.parts.len() == entry.range.parts.len() {
            return;
        }
        let mut parts = Vec::with_capacity(range.parts.len());
        for part in &range.parts {
            match self.source.read(part.clone()).await {
                Ok(bytes) => parts.push(bytes),
                Err(_) => return,
            }
        }
        let Ok(readers) = library.code.readers().await else {
            return;
        };
        let name = self.source.name();
        if let Some(episode) = readers.open(&name, parts, &range, &entry.row, None) {
            entry.row = Row::of(&episode, Vec::new());
            entry.range = range;
            entry.episode = entry.episode.is_some().then_some(episode);
            self.annotations.joined.borrow_mut().insert(trace);
        }
    }
}

/// Whether the first episode of a file is a trace. `None` if the readers, or the file, cannot be read.
async fn begins_with_trace(library: &LibraryService, file: &Rc<dyn Source>) -> Option<bool> {
    let readers = library.code.readers().await.ok()?;
    let size = file.size().min(FIRST_LINE);
    let mappings = Mappings::default();
    let mut slices = readers.begin_slices(Rc::<dyn Source>::clone(file), size, mappings);
    loop {
        let progress = slices.next().await.ok()?;
        if let Some(first) = slices.take_entries().first() {
            return Some(trace_of(&first.row).is_some());
        }
        if progress != Progress::More {
            return Some(false);
        }
    }
}

/// The trace of an episode.
fn trace_of(row: &Row) -> Option<Text> {
    row.metadata.get("trace").and_then(Json::as_text).cloned()
}

/// Whether the first line of a file is an annotation.
async fn begins_with_annotation(file: &dyn Source) -> Option<bool> {
    /// The number of bytes in which the members of an annotation begin.
    const LOOKED_AT: u64 = 1 << 12;
    let start = file.read(0..file.size().min(LOOKED_AT)).await.ok()?;
    let has = |key: &[u8]| start.windows(key.len()).any(|bytes| bytes == key);
    if is_archive(&start) || !has(b"\"trace_id\"") {
        return None;
    }
    let mut line = Vec::new();
    while (line.len() as u64) < file.size().min(FIRST_LINE) {
        let at = line.len() as u64;
        let end = file.size().min(at + SLICE / 8);
        let bytes = file.read(at..end).await.ok()?;
        match bytes.iter().position(|byte| *byte == b'\n') {
            Some(length) => {
                line.extend_from_slice(bytes.get(..length)?);
                break;
            }
            None => line.extend_from_slice(&bytes),
        }
    }
    Some(is_annotation(&line))
}
