//! Inspect logs in zip files (`.eval`): the directory gives the position of each sample; samples are then read
//! one by one.

use std::collections::HashMap;
use std::ops::Range;
use std::rc::Rc;

use futures_util::FutureExt;
use futures_util::future::LocalBoxFuture;

use super::Entry;
use super::in_place::{InPlace, Progress, are_shown};
use super::reading::Pieces;
use crate::archive::Limits;
use crate::archive::listing::{ListedMember, Parts, unpack_listed};
use crate::import::reader::Sink;
use crate::import::{ImportOutcome, Note, inspect};
use crate::read_at::{ReadAt, ReadError, Window};

/// A log whose directory was read.
pub struct PackedLog {
    window: Window,
    pieces: Pieces,
    /// The byte range of the header.
    head: Range<u64>,
    /// The byte ranges of the members of each sample.
    samples: Vec<Vec<Range<u64>>>,
    /// The number of the next sample.
    next: usize,
    /// The number of bytes of those before it.
    done: u64,
}

impl PackedLog {
    /// Recognises the members of a file as a log; `None` if they are something else. `parts` were read for its directory.
    pub fn of(file: Rc<dyn ReadAt>, members: &[ListedMember], parts: Parts) -> Option<PackedLog> {
        let ends_with = |end: &str| {
            let mut members = members.iter();
            members.find(|member| {
                let start = member.name.strip_suffix(end);
                start.is_some_and(|start| start.is_empty() || start.ends_with('/'))
            })
        };
        let head = ends_with("header.json").or_else(|| ends_with("_journal/start.json"))?;
        let mut indices: HashMap<(&str, &str), usize> = HashMap::new();
        let mut samples: Vec<Vec<Range<u64>>> = Vec::new();
        for member in members {
            let Some(sample) = inspect::begins_sample(&member.name) else {
                continue;
            };
            let index = *indices.entry(sample).or_insert_with(|| {
                samples.push(Vec::new());
                samples.len() - 1
            });
            samples[index].push(member.range.clone());
        }
        // A folder with several logs is read as a whole.
        let folders = indices.keys().map(|(folder, _)| *folder);
        let mut folders: Vec<&str> = folders.collect();
        folders.sort_unstable();
        folders.dedup();
        if folders.len() != 1 {
            return None;
        }
        let pieces = Pieces::new(file.name());
        let window = Window::on(file);
        // The header usually precedes the directory.
        if let Some((start, bytes)) = parts.into_known().into_iter().next_back() {
            window.hold(start, bytes);
        }
        Some(PackedLog {
            window,
            pieces,
            head: head.range.clone(),
            samples,
            next: 0,
            done: 0,
        })
    }

    async fn read_on(&mut self) -> Result<Progress, ReadError> {
        if self.next == 0 {
            let header = self.window.read(self.head.clone()).await?;
            self.read_head(&header);
        }
        while let Some(ranges) = self.samples.get(self.next).cloned() {
            let mut parts = Vec::with_capacity(ranges.len());
            for range in &ranges {
                parts.push(self.window.read(range.clone()).await?);
                self.done += range.end - range.start;
            }
            self.read_sample(&ranges, &parts);
            self.next += 1;
            if are_shown(self.next) {
                return Ok(Progress::More);
            }
        }
        Ok(Progress::End)
    }

    /// Reads the header.
    fn read_head(&mut self, bytes: &[u8]) {
        match unpack_listed(bytes, Limits::default().of_packed(bytes.len())) {
            Ok((_, header)) => self.pieces.packed_head(&header),
            Err(error) => {
                self.pieces.packed_head(b"{}");
                self.pieces.lost(error.to_string());
            }
        }
    }

    /// Reads a sample: the bytes of each of its members.
    fn read_sample(&mut self, ranges: &[Range<u64>], parts: &[Vec<u8>]) {
        let mut members = Vec::with_capacity(parts.len());
        for part in parts {
            match unpack_listed(part, Limits::default().of_packed(part.len())) {
                Ok(member) => members.push(member),
                Err(error) => self.pieces.lost(error.to_string()),
            }
        }
        if !members.is_empty() {
            self.pieces.packed(members, ranges);
        }
    }
}

impl InPlace for PackedLog {
    fn next(&mut self) -> LocalBoxFuture<'_, Result<Progress, ReadError>> {
        self.read_on().boxed_local()
    }

    fn take_entries(&mut self) -> Vec<Entry> {
        self.pieces.take_entries()
    }

    fn done(&self) -> u64 {
        self.done.min(self.window.source().size())
    }

    fn notes(&self) -> Vec<Note> {
        self.pieces.notes().to_vec()
    }

    fn keep_episodes(&mut self) {
        self.pieces.keeps_episodes = true;
    }

    fn finish(&mut self) {
        self.pieces.finish();
    }
}

/// Imports a sample from its members.
pub(super) fn import_sample(file: &str, parts: &[Vec<u8>]) -> ImportOutcome {
    let mut outcome = ImportOutcome::default();
    let members = parts
        .iter()
        .filter_map(|part| unpack_listed(part, Limits::default().of_packed(part.len())).ok());
    let members = members.collect();
    let mut sink = Sink::new(&mut outcome, "inspect", file);
    inspect::read_members(members, &mut inspect::Log::default(), &mut sink);
    outcome
}
