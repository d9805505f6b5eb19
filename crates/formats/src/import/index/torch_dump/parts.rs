//! The pickle of a rollout dump, read in pieces: its samples one by one.
//!
//! Invariants: in memory are the samples that the last piece ended, what was read shortly before, and the values that
//! samples share. A pickle that cannot be divided is recognised before its first sample.

use std::collections::{BTreeSet, VecDeque};
use std::ops::Range;

use volary_torch::PickleError;
use volary_torch::pickle::Outline;

use super::is_pickle;
use crate::archive::listing::MemberHeader;
use crate::import::reader::Sink;
use crate::import::slime::{RolloutParts, Storages};

/// The number of bytes in which the list of samples must begin.
const BEGINNING: u64 = 1 << 20;
/// The maximum size of a sample.
const LONGEST: usize = 256 << 20;
/// The number of bytes before the current sample that are kept: most shared values were read shortly before.
const BEHIND: u64 = 4 << 20;

/// The pickle of a rollout dump.
pub(super) struct Parts {
    /// The size of the file.
    size: usize,
    /// The offset of the pickle, with its header.
    offset: u64,
    /// The end of the bytes that were read, in the file.
    read_to: u64,
    /// The length of the header, once it was read.
    header: Option<u64>,
    outline: Outline,
    /// The bytes that are still needed, and the position of the first one. All positions are offsets in the pickle.
    held: Vec<u8>,
    held_at: u64,
    /// The position of the first sample.
    first: u64,
    /// Recognised by the first sample.
    dump: Option<RolloutParts>,
    /// Whether the pickle cannot be divided, or not be read further.
    has_failed: bool,
    samples: VecDeque<Range<u64>>,
    /// The number of the next sample.
    number: usize,
    /// The starts and ends of the shared values that were read.
    shared: BTreeSet<(u64, u64)>,
}

/// A sample that was parsed.
pub(super) struct Parsed {
    pub number: usize,
    /// The parts of the file from which it was parsed: the beginning of the pickle, shared values, and the sample.
    pub parts: Vec<Range<u64>>,
    /// The length of the last one.
    pub bytes: u64,
    /// The keys of its storages.
    pub storages: Vec<String>,
}

impl Parts {
    /// The pickle at an offset of a file of `size` bytes.
    pub fn new(offset: u64, size: usize) -> Parts {
        Parts {
            size,
            offset,
            read_to: offset,
            header: None,
            outline: Outline::default(),
            held: Vec::new(),
            held_at: 0,
            first: 0,
            dump: None,
            has_failed: false,
            samples: VecDeque::new(),
            number: 0,
            shared: BTreeSet::new(),
        }
    }

    /// The end of the bytes that were read, in the file.
    pub fn read_to(&self) -> u64 {
        self.read_to
    }

    /// Whether more of the pickle can be read.
    pub fn goes_on(&self) -> bool {
        !self.has_failed && !self.outline.is_over()
    }

    /// Whether the pickle is that of a rollout dump.
    pub fn is_dump(&self) -> bool {
        self.dump.is_some()
    }

    /// Reads the next piece.
    pub fn feed(&mut self, bytes: &[u8]) {
        self.drop_held();
        self.held.extend_from_slice(bytes);
        self.read_to += bytes.len() as u64;
        if self.header.is_none() {
            match MemberHeader::of(&self.held) {
                // The directory may name it otherwise, but its samples are opened without the directory.
                Some(header) if header.is_stored && is_pickle(&header.name) => {
                    self.held.drain(..header.length);
                    self.header = Some(header.length as u64);
                }
                None if self.held.len() < MemberHeader::LONGEST => return,
                _ => return self.fail(None),
            }
        }
        let seen = (self.outline.position() - self.held_at) as usize;
        let unseen = self.held.get(seen..).unwrap_or_default();
        if let Err(error) = self.outline.feed(unseen) {
            self.fail(Some(error));
        }
        self.samples.extend(self.outline.take_elements());
        match self.samples.front() {
            Some(first) if self.dump.is_none() => {
                self.first = first.start;
                let (list, end) = (first.start as usize, first.end as usize);
                let beginning = self.held.get(..end).unwrap_or_default();
                self.dump = RolloutParts::of(beginning, list, self.size);
                if self.dump.is_none() {
                    self.samples.clear();
                    self.fail(None);
                }
            }
            Some(_) => {}
            None => {
                let is_elsewhere = !self.outline.has_list() && self.outline.position() > BEGINNING;
                if is_elsewhere || self.held.len() > LONGEST {
                    let at = self.outline.position() as usize;
                    let problem = "a sample is too long";
                    self.fail(Some(PickleError::Invalid { problem, at }));
                }
            }
        }
    }

    /// The byte ranges of the values that must be passed to [`Parts::share`] before the next sample can be parsed.
    pub fn missing(&mut self) -> Vec<Range<u64>> {
        let Some(sample) = self.samples.front() else {
            return Vec::new();
        };
        let mut missing = Vec::new();
        for value in self.shared_by(sample) {
            if self.shared.contains(&(value.start, value.end)) {
                continue;
            }
            match held(&self.held, self.held_at, &value) {
                // In their order, since one may refer to another.
                Some(bytes) if missing.is_empty() => {
                    if let Some(dump) = &mut self.dump {
                        dump.share(bytes);
                    }
                    self.shared.insert((value.start, value.end));
                }
                _ => missing.push(self.in_file(&value)),
            }
        }
        missing
    }

    /// Reads the values that were missing.
    pub fn share(&mut self, values: &[Vec<u8>]) {
        let missing = self.missing();
        let start = self.in_file(&(0..0)).start;
        for (range, bytes) in missing.iter().zip(values) {
            if let Some(dump) = &mut self.dump {
                dump.share(bytes);
            }
            self.shared.insert((range.start - start, range.end - start));
        }
    }

    /// Parses the next sample, if there is one.
    pub fn parse(&mut self) -> Option<Parsed> {
        let sample = self.samples.pop_front()?;
        let beginning = self.offset..self.in_file(&(0..self.first)).end;
        let shared = self.shared_by(&sample);
        let parts = shared.iter().chain([&sample]);
        let parts = parts.map(|part| self.in_file(part));
        let parts = std::iter::once(beginning).chain(parts).collect();
        let bytes = held(&self.held, self.held_at, &sample).unwrap_or_default();
        let storages = self.dump.as_mut()?.parse(bytes);
        let storages = storages.into_iter().map(str::to_owned).collect();
        self.number += 1;
        Some(Parsed {
            number: self.number - 1,
            parts,
            bytes: sample.end - sample.start,
            storages,
        })
    }

    /// Reads the sample that was parsed.
    pub fn read_sample(&mut self, number: usize, storages: Storages<'_>, sink: &mut Sink<'_>) {
        if let Some(dump) = &mut self.dump {
            dump.read_sample(number, storages, sink);
        }
    }

    /// Reports what is not in the episodes.
    pub fn report(&self, count: usize, sink: &mut Sink<'_>) {
        if let Some(dump) = &self.dump {
            dump.report(count, sink);
        }
    }

    /// The values that a sample refers to, apart from those before the first sample.
    fn shared_by(&self, sample: &Range<u64>) -> Vec<Range<u64>> {
        let mut shared = self.outline.shared(sample);
        shared.retain(|value| value.end > self.first);
        shared
    }

    fn in_file(&self, range: &Range<u64>) -> Range<u64> {
        let start = self.offset + self.header.unwrap_or_default();
        start + range.start..start + range.end
    }

    fn fail(&mut self, error: Option<PickleError>) {
        self.has_failed = true;
        if let (Some(dump), Some(error)) = (&mut self.dump, error) {
            dump.damaged(error);
        }
    }

    /// Drops what is no longer needed.
    fn drop_held(&mut self) {
        if self.dump.is_none() {
            return;
        }
        let next = self.samples.front().map(|sample| sample.start);
        let needed = next.unwrap_or_else(|| self.outline.needed());
        let behind = needed.saturating_sub(BEHIND).saturating_sub(self.held_at);
        let behind = self.held.len().min(behind as usize);
        self.held.drain(..behind);
        self.held_at += behind as u64;
    }
}

/// The bytes of a range, if they are held from a position on.
fn held<'a>(held: &'a [u8], held_at: u64, range: &Range<u64>) -> Option<&'a [u8]> {
    let start = usize::try_from(range.start.checked_sub(held_at)?).ok()?;
    let end = usize::try_from(range.end.checked_sub(held_at)?).ok()?;
    held.get(start..end)
}
