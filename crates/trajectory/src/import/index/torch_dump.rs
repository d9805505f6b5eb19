//! Rollout dumps of torch that are read in ranges: the pickle once, and for each sample the storages of its tensors.
//!
//! Only rollout dumps of slime are read in this way. A training dump is joined with the rollout dump of its step, so both
//! are read as a whole.

use std::collections::HashMap;
use std::ops::Range;

use super::reading::Pieces;
use super::{Entry, EpisodeRange};
use crate::archive::Limits;
use crate::archive::listing::{ListedMember, unpack_listed};
use crate::import::reader::Sink;
use crate::import::slime::{RolloutDump, Storages};
use crate::import::{ImportOutcome, Note};

/// The end of the name of the pickle; what precedes it is the folder of all members.
const PICKLE: &str = "data.pkl";
/// The member that names the byte order.
const BYTE_ORDER: &str = "byteorder";

/// A torch file whose directory was read.
pub struct TorchDump {
    pieces: Pieces,
    file: String,
    size: u64,
    places: HashMap<String, Range<u64>>,
    /// The folder of all members, with a trailing slash.
    top: String,
    is_big_endian: bool,
    dump: Option<RolloutDump>,
    found: usize,
}

impl TorchDump {
    /// Recognises the members of a file of `size` bytes as those of a torch file.
    pub fn of(file: &str, size: u64, members: &[ListedMember]) -> Option<TorchDump> {
        let pickle = members.iter().find(|member| is_pickle(&member.name))?;
        let top = pickle.name.strip_suffix(PICKLE)?.to_owned();
        let places = members.iter();
        let places = places.map(|member| (member.name.clone(), member.place.clone()));
        Some(TorchDump {
            pieces: Pieces::new(file.into()),
            file: file.to_owned(),
            size,
            places: places.collect(),
            top,
            is_big_endian: false,
            dump: None,
            found: 0,
        })
    }

    /// The byte ranges that are read first.
    pub fn head(&self) -> Vec<Range<u64>> {
        let members = [BYTE_ORDER, PICKLE].map(|name| format!("{}{name}", self.top));
        let places = members.iter().filter_map(|name| self.places.get(name));
        places.cloned().collect()
    }

    /// Reads the pickle. Returns whether the file is a rollout dump; if it is not, it must be read as a whole.
    pub fn read_head(&mut self, parts: &[Vec<u8>]) -> bool {
        let Some(head) = Head::of(parts) else {
            return false;
        };
        self.is_big_endian = head.is_big_endian;
        self.dump = RolloutDump::of(&head.pickle);
        self.dump.is_some()
    }

    /// The number of samples.
    pub fn samples(&self) -> usize {
        self.dump.as_ref().map_or(0, RolloutDump::len)
    }

    /// The byte ranges of the storages of a sample.
    pub fn storages(&self, number: usize) -> Vec<Range<u64>> {
        let keys = self.dump.iter().flat_map(|dump| dump.storages(number));
        let names = keys.map(|key| format!("{}data/{key}", self.top));
        let places = names.filter_map(|name| self.places.get(&name));
        places.cloned().collect()
    }

    /// Reads a sample: the bytes of each of its storages.
    pub fn read_sample(&mut self, number: usize, parts: &[Vec<u8>]) {
        let place = EpisodeRange {
            parts: [self.head(), self.storages(number)].concat(),
            packed: true,
            number,
        };
        let share = self.size / self.samples().max(1) as u64;
        let Some(dump) = &mut self.dump else {
            return;
        };
        let storages = Storages {
            top: &self.top,
            members: unpacked(parts),
            is_big_endian: self.is_big_endian,
        };
        self.pieces.dumped(place, share, |sink| {
            dump.read_sample(number, storages, sink);
        });
        self.found += 1;
    }

    /// Takes the entries found since the last call.
    pub fn take_entries(&mut self) -> Vec<Entry> {
        self.pieces.take_entries()
    }

    /// Sets whether the texts of the following episodes are collected for a search.
    pub fn keep_texts(&mut self, wanted: bool) {
        self.pieces.keeps_texts = wanted;
    }

    /// The notes about the file, after its samples were read.
    pub fn notes(&self) -> Vec<Note> {
        let mut outcome = ImportOutcome::default();
        let mut sink = Sink::new(&mut outcome, "slime", &self.file);
        if let Some(dump) = &self.dump {
            dump.report(self.found, &mut sink);
        }
        let notes = self.pieces.notes().iter().cloned();
        outcome.notes.into_iter().chain(notes).collect()
    }
}

/// The members that are read first.
struct Head {
    /// The folder of all members, with a trailing slash.
    top: String,
    pickle: Vec<u8>,
    is_big_endian: bool,
}

impl Head {
    fn of(parts: &[Vec<u8>]) -> Option<Head> {
        let mut members = unpacked(parts);
        let order = members.iter().find(|(name, _)| name.ends_with(BYTE_ORDER));
        let is_big_endian = order.is_some_and(|(_, order)| order.starts_with(b"big"));
        let place = members.iter().position(|(name, _)| is_pickle(name))?;
        let (name, pickle) = members.swap_remove(place);
        Some(Head {
            top: name.strip_suffix(PICKLE)?.to_owned(),
            pickle,
            is_big_endian,
        })
    }
}

fn is_pickle(name: &str) -> bool {
    name.strip_suffix(PICKLE)
        .is_some_and(|top| top.is_empty() || top.ends_with('/'))
}

/// The members at some places. One that cannot be unpacked is missing, so its tensors are.
fn unpacked(parts: &[Vec<u8>]) -> Vec<(String, Vec<u8>)> {
    let unpack = |part: &Vec<u8>| unpack_listed(part, Limits::default().of_packed(part.len())).ok();
    parts.iter().filter_map(unpack).collect()
}

/// The index of the pickle among the parts of an episode; `None` if they are not those of a torch file. It is read
/// from the headers, because unpacking copies.
pub(super) fn pickle_at(parts: &[Vec<u8>]) -> Option<usize> {
    const LENGTH: Range<usize> = 26..28;
    const HEADER: usize = 30;
    parts.iter().take(2).position(|part| {
        let length = part
            .get(LENGTH)
            .map(|length| u16::from_le_bytes([length[0], length[1]]));
        let name = length.and_then(|length| part.get(HEADER..HEADER + usize::from(length)));
        let name = name.and_then(|name| std::str::from_utf8(name).ok());
        name.is_some_and(is_pickle)
    })
}

/// Imports a sample from its parts: the head, whose last one is the pickle, and its storages.
pub(super) fn import_sample(
    file: &str,
    parts: &[Vec<u8>],
    pickle: usize,
    number: usize,
) -> ImportOutcome {
    let mut outcome = ImportOutcome::default();
    let (head, storages) = parts.split_at(parts.len().min(pickle + 1));
    let Some(head) = Head::of(head) else {
        return outcome;
    };
    let Some(mut dump) = RolloutDump::of(&head.pickle) else {
        return outcome;
    };
    let storages = Storages {
        top: &head.top,
        members: unpacked(storages),
        is_big_endian: head.is_big_endian,
    };
    let mut sink = Sink::new(&mut outcome, "slime", file);
    dump.read_sample(number, storages, &mut sink);
    outcome
}
