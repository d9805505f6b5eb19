//! Inspect logs in zip files (`.eval`): the directory gives the position of each sample; samples are then read
//! one by one.

use std::collections::HashMap;
use std::ops::Range;

use super::Entry;
use super::reading::Pieces;
use crate::archive::Limits;
use crate::archive::listing::{ListedMember, unpack_listed};
use crate::import::reader::Sink;
use crate::import::{ImportOutcome, Note, inspect};

/// A log whose directory was read.
pub struct PackedLog {
    pieces: Pieces,
    head: Range<u64>,
    samples: Vec<Vec<Range<u64>>>,
}

impl PackedLog {
    /// Recognises the members as a log; `None` if they are something else.
    pub fn of(file: &str, members: &[ListedMember]) -> Option<PackedLog> {
        let ends_with = |end: &str| {
            let mut members = members.iter();
            members.find(|member| {
                let start = member.name.strip_suffix(end);
                start.is_some_and(|start| start.is_empty() || start.ends_with('/'))
            })
        };
        let head = ends_with("header.json").or_else(|| ends_with("_journal/start.json"))?;
        let mut places: HashMap<(&str, &str), usize> = HashMap::new();
        let mut samples: Vec<Vec<Range<u64>>> = Vec::new();
        for member in members {
            let Some(sample) = inspect::begins_sample(&member.name) else {
                continue;
            };
            let place = *places.entry(sample).or_insert_with(|| {
                samples.push(Vec::new());
                samples.len() - 1
            });
            samples[place].push(member.place.clone());
        }
        // A folder with several logs is read as a whole.
        let folders = places.keys().map(|(folder, _)| *folder);
        let mut folders: Vec<&str> = folders.collect();
        folders.sort_unstable();
        folders.dedup();
        (folders.len() == 1).then(|| PackedLog {
            pieces: Pieces::new(file.into()),
            head: head.place.clone(),
            samples,
        })
    }

    /// The byte range of the header, which is read first.
    pub fn head(&self) -> Range<u64> {
        self.head.clone()
    }

    /// Reads the header.
    pub fn read_head(&mut self, bytes: &[u8]) {
        match unpack_listed(bytes, Limits::default().of_packed(bytes.len())) {
            Ok((_, header)) => self.pieces.packed_head(&header),
            Err(error) => {
                self.pieces.packed_head(b"{}");
                self.pieces.lost(error.to_string());
            }
        }
    }

    /// The byte ranges of the members of each sample.
    pub fn samples(&self) -> &[Vec<Range<u64>>] {
        &self.samples
    }

    /// Reads a sample: the bytes of each of its members.
    pub fn read_sample(&mut self, number: usize, parts: &[Vec<u8>]) {
        let Some(places) = self.samples.get(number).cloned() else {
            return;
        };
        let mut members = Vec::with_capacity(parts.len());
        for part in parts {
            match unpack_listed(part, Limits::default().of_packed(part.len())) {
                Ok(member) => members.push(member),
                Err(error) => self.pieces.lost(error.to_string()),
            }
        }
        if !members.is_empty() {
            self.pieces.packed(members, &places);
        }
    }

    /// Takes the entries found since the last call.
    pub fn take_entries(&mut self) -> Vec<Entry> {
        self.pieces.take_entries()
    }

    /// Ends the input.
    pub fn finish(&mut self) {
        self.pieces.finish();
    }

    /// The notes about the log so far.
    pub fn notes(&self) -> &[Note] {
        self.pieces.notes()
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
