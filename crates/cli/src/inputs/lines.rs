//! Divides a large file of lines into batches, which are read by [`LineReader`].

use std::fs::File;
use std::io::{Error, Read};
use std::path::Path;
use std::sync::{Arc, Condvar, Mutex, PoisonError};
use std::time::Duration;

use volary_analysis::search::{Document, Query, RawFilter};
use volary_episode::Episode;
use volary_formats::import::batches::{Ids, LineReader};
use volary_formats::import::fields::Mappings;

/// The number of whole lines that are left for the next batch, so that even the last one has two.
const LEFT: usize = 2;

/// A file of lines that is being read.
pub struct LineFile {
    file: File,
    shared: Arc<Shared>,
    /// Bytes that belong to the next batch.
    rest: Vec<u8>,
    is_end: bool,
    /// The number of batches so far, and of the next line, from 1.
    batches: usize,
    line: usize,
    /// The least number of bytes of a batch.
    size: usize,
    /// Whether lines may be skipped by a search.
    may_skip: bool,
}

/// A search that may skip lines.
pub struct Skipping<'a> {
    pub query: &'a Query,
    pub filter: RawFilter,
}

/// What the batches of a file share.
pub struct Shared {
    pub reader: LineReader,
    /// The number of batches whose ids are known, and the ids.
    ids: Mutex<(usize, Ids)>,
    changed: Condvar,
}

/// Whole lines.
pub struct LineBatch {
    pub shared: Arc<Shared>,
    pub bytes: Vec<u8>,
    /// The number of its first line, from 1.
    pub first: usize,
    /// Whether it ends the file.
    pub is_end: bool,
    /// Its number within the file, from 0.
    pub number: usize,
    /// Whether lines may be skipped by a search.
    pub may_skip: bool,
}

impl LineFile {
    /// Opens a file. `None` if it can only be read as a whole.
    pub fn open(
        path: &Path,
        name: &str,
        mappings: &Mappings,
        size: usize,
    ) -> Result<Option<LineFile>, Error> {
        let mut file = File::open(path)?;
        let mut begun = Vec::new();
        let read = file.by_ref().take(size as u64).read_to_end(&mut begun)?;
        let mark = if begun.starts_with(b"\xef\xbb\xbf") {
            3
        } else {
            0
        };
        let rest = begun.split_off(mark);
        let reader = LineReader::of(name, &rest, mappings);
        Ok(reader.map(|reader| LineFile {
            file,
            shared: Arc::new(Shared {
                reader,
                ids: Mutex::default(),
                changed: Condvar::new(),
            }),
            rest,
            is_end: read < size,
            batches: 0,
            line: 1,
            size,
            may_skip: false,
        }))
    }

    /// Lets a search skip lines without its words, unless readers of the first lines find them nevertheless: in a name
    /// such as "Conversation 3", for example.
    pub fn skip_for(&mut self, search: &Skipping<'_>) {
        const LOOKED_AT: usize = 256 << 10;
        let begun = &self.rest[..self.rest.len().min(LOOKED_AT)];
        let Some(end) = memchr::memrchr(b'\n', begun) else {
            return;
        };
        let is_skipped = |line: &[u8]| !search.filter.may_match(line);
        let read = self
            .shared
            .reader
            .read(&begun[..end], 1, false, Some(&is_skipped));
        let mut documents = read.episodes.iter().map(Document::of);
        self.may_skip = !documents.any(|it| it.first(search.query).is_some());
    }

    /// Reads the next batch; `None` at the end.
    pub fn next_batch(&mut self) -> Result<Option<LineBatch>, Error> {
        let end = loop {
            if self.is_end {
                break self.rest.len();
            }
            if self.rest.len() >= self.size
                && let Some(end) = end_of_batch(&self.rest)
            {
                break end;
            }
            let read = self
                .file
                .by_ref()
                .take(self.size as u64)
                .read_to_end(&mut self.rest)?;
            self.is_end = read == 0;
        };
        if end == 0 {
            return Ok(None);
        }
        let rest = self.rest[end..].to_vec();
        let mut bytes = std::mem::replace(&mut self.rest, rest);
        bytes.truncate(end);
        let batch = LineBatch {
            shared: self.shared.clone(),
            first: self.line,
            is_end: self.is_end,
            number: self.batches,
            may_skip: self.may_skip,
            bytes,
        };
        self.batches += 1;
        self.line += memchr::memchr_iter(b'\n', &batch.bytes).count();
        Ok(Some(batch))
    }
}

/// The end of whole lines that leaves others; `None` without any.
fn end_of_batch(bytes: &[u8]) -> Option<usize> {
    let mut ends = memchr::memrchr_iter(b'\n', bytes);
    ends.nth(LEFT).map(|at| at + 1)
}

impl LineBatch {
    /// Makes the ids of its episodes differ from those of earlier batches, and waits for them. Returns early if all work
    /// is `stopped`.
    pub fn make_ids_differ(&self, episodes: &mut [Episode], stopped: &dyn Fn() -> bool) {
        const PATIENCE: Duration = Duration::from_millis(50);
        let shared = &self.shared;
        let mut ids = shared.ids.lock().unwrap_or_else(PoisonError::into_inner);
        while ids.0 != self.number {
            if stopped() {
                return;
            }
            let waited = shared.changed.wait_timeout(ids, PATIENCE);
            ids = waited.unwrap_or_else(PoisonError::into_inner).0;
        }
        ids.1.make_differ(episodes);
        ids.0 += 1;
        shared.changed.notify_all();
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn batches_are_whole_lines_and_have_two() {
        let folder = std::env::temp_dir().join(format!("volary-lines-{}", std::process::id()));
        std::fs::create_dir_all(&folder).unwrap();
        let path = folder.join("run.jsonl");
        let line = |number: usize| {
            let said = "x".repeat(number % 90);
            format!("{{\"messages\": [{{\"role\": \"user\", \"content\": \"{said}\"}}]}}\n")
        };
        for count in [1_200, 1_201] {
            let text: String = (0..count).map(line).collect();
            std::fs::write(&path, format!("\u{feff}{text}")).unwrap();
            let size = 70_000;
            let mut file = LineFile::open(&path, "run.jsonl", &Mappings::default(), size)
                .unwrap()
                .unwrap();
            let mut all = Vec::new();
            let mut lines = 0;
            while let Some(batch) = file.next_batch().unwrap() {
                assert_eq!(batch.first, lines + 1);
                let count = batch.bytes.iter().filter(|byte| **byte == b'\n').count();
                assert!(count >= 2 && batch.bytes.ends_with(b"\n"));
                assert!(batch.bytes.len() < 2 * size);
                lines += count;
                all.extend(batch.bytes);
                assert_eq!(batch.is_end, all.len() == text.len());
            }
            assert_eq!(String::from_utf8(all).unwrap(), text);
        }
        std::fs::remove_dir_all(&folder).unwrap();
    }
}
