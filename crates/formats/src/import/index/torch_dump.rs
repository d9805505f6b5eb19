//! Rollout dumps of torch that are read in ranges: the pickle once, in pieces, and for each sample the storages of its
//! tensors.
//!
//! The samples are parts of the pickle ([`parts`]). Only the current one is in memory, and it is opened from its own bytes
//! and those of the values that it shares with others. Pickles that cannot be divided (packed ones, and those of protocol 4
//! and later) are read as a whole, for each opened sample again.
//!
//! The pickle of a training dump has little but the places of tensors, so it is read as a whole, too, and the tensors when
//! they are looked at. If it is imported with the rollout dump of its step, it is read along with that ([`training`]).

mod parts;
mod training;

use std::collections::HashMap;
use std::ops::Range;

use volary_analysis::annotations::tags;
use volary_analysis::table::Row;
use volary_episode::episode::Episode;

use super::reading::Pieces;
use super::{Entry, EpisodeRange};
use crate::archive::Limits;
use crate::archive::listing::{ListedMember, MemberHeader, unpack_listed};
use crate::archive::unpack::{GZIP, gunzip};
use crate::import::reader::Sink;
use crate::import::slime::{self, NotJoined, RolloutParts, Storages, Tally, WholeDump};
use crate::import::{ImportOutcome, Note};
use parts::Parts;
pub use training::{Training, TrainingFile};

/// The end of the name of the pickle; what precedes it is the folder of all members.
const PICKLE: &str = "data.pkl";
/// The member that names the byte order.
const BYTE_ORDER: &str = "byteorder";
/// The size of the first piece of the pickle, so that a row is visible soon…
const FIRST_PIECE: u64 = 1 << 18;
/// …and of the others.
const PIECE: u64 = 2 << 20;

/// A torch file whose directory was read.
pub struct TorchDump {
    pieces: Pieces,
    file: String,
    size: u64,
    places: HashMap<String, Range<u64>>,
    /// The folder of all members, with a trailing slash.
    top: String,
    /// The place of the pickle.
    pickle: Range<u64>,
    /// `None` until it was read.
    is_big_endian: Option<bool>,
    state: State,
    /// The sample that is being read.
    sample: Option<Sample>,
    /// The rollout that is being joined with its training data.
    rollout: Option<ReadRollout>,
    /// What [`DumpStep::Wanted`] asked for.
    wanted: Wanted,
    found: usize,
    trainings: Vec<Training>,
    tally: Tally,
}

/// What happens next in reading a dump.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum DumpStep {
    /// These byte ranges of the file must be passed to [`TorchDump::feed`].
    Wanted(Vec<Range<u64>>),
    /// A sample was read.
    Sample,
    /// All samples were read.
    End,
    /// The file is no dump, and must be read otherwise.
    Other,
}

/// What a torch file contains.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum DumpKind {
    /// Samples, as they were sampled.
    Rollout,
    /// What the trainer made of them.
    Training,
}

impl DumpKind {
    /// Recognises a dump, and its step, by its first bytes, packed or not; `None` if they do not say it.
    pub fn of(start: &[u8]) -> Option<(DumpKind, i64)> {
        /// The number of bytes in which these keys are.
        const LOOKED_AT: usize = 1 << 14;
        let unzipped = start.starts_with(GZIP).then(|| {
            let unzipped = gunzip(start, LOOKED_AT);
            unzipped.unwrap_or_else(|partial| partial.output)
        });
        let start = unzipped.as_deref().unwrap_or(start);
        let header = MemberHeader::of(start).filter(|header| is_pickle(&header.name))?;
        slime::dump_kind(&header.beginning(start, LOOKED_AT))
    }
}

/// Whether the file at a path is a dump, as its name says.
pub fn is_dump(path: &str) -> bool {
    path.ends_with(".pt") || path.ends_with(".pt.gz")
}

/// Whether the file at a path is a dump of an evaluation, as the path says.
pub fn is_evaluation(path: &str) -> bool {
    slime::is_evaluation(path)
}

#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum Wanted {
    Nothing,
    /// The next piece of the pickle.
    Piece,
    /// Values that the next sample refers to.
    Shared,
    /// All of the pickle.
    Pickle,
    ByteOrder,
    /// The storages of the sample.
    Storages,
    /// Those of its training data.
    TrainingStorages,
}

enum State {
    /// The pickle is read in pieces.
    Parts(Box<Parts>),
    /// The pickle must be read as a whole.
    Undivided,
    /// It was read.
    Whole {
        dump: Box<WholeDump>,
        /// The number of the next sample.
        next: usize,
    },
    Other,
}

/// A rollout that was read, and belongs to a sample of a training dump.
struct ReadRollout {
    place: EpisodeRange,
    /// Its share of the file, in bytes.
    bytes: u64,
    /// What was read: one episode, and notes on it.
    read: ImportOutcome,
    /// The number of the training dump, and that of the sample in it.
    training: usize,
    number: usize,
    /// The places of the storages of the training data.
    storages: Vec<Range<u64>>,
    /// Their bytes, once they were read.
    members: Option<Vec<Vec<u8>>>,
}

/// A sample that was parsed.
struct Sample {
    /// The number of the training dump that it is from; `None` for one of the rollout dump.
    training: Option<usize>,
    number: usize,
    /// The parts of the file from which it was parsed.
    parts: Vec<Range<u64>>,
    /// Its share of the pickle, in bytes.
    bytes: u64,
    /// The places of its storages.
    storages: Vec<Range<u64>>,
    /// Their bytes, once they were read.
    members: Option<Vec<Vec<u8>>>,
}

impl TorchDump {
    /// Recognises the members of a file of `size` bytes as those of a torch file.
    pub fn of(file: &str, size: u64, members: &[ListedMember]) -> Option<TorchDump> {
        // The directory of a damaged file may lead beyond its end. Such members are missing.
        let members = members.iter().filter(|member| {
            let Range { start, end } = member.place;
            start <= end && end <= size
        });
        let pickle = members.clone().find(|member| is_pickle(&member.name))?;
        let places = members;
        let places = places.map(|member| (member.name.clone(), member.place.clone()));
        let bytes = usize::try_from(size).unwrap_or(usize::MAX);
        Some(TorchDump {
            pieces: Pieces::new(file.into()),
            file: file.to_owned(),
            size,
            places: places.collect(),
            top: pickle.name.strip_suffix(PICKLE)?.to_owned(),
            pickle: pickle.place.clone(),
            is_big_endian: None,
            state: State::Parts(Box::new(Parts::new(pickle.place.start, bytes))),
            sample: None,
            rollout: None,
            wanted: Wanted::Nothing,
            found: 0,
            trainings: Vec::new(),
            tally: Tally::default(),
        })
    }

    /// Joins the samples with those of training dumps of the same step, which are behind the file.
    pub fn join_with(&mut self, trainings: Vec<Training>) {
        self.trainings = trainings;
    }

    /// The offset of the pickle, most of which is read in order.
    pub fn start(&self) -> u64 {
        self.pickle.start
    }

    /// Reads on, as far as the bytes suffice.
    pub fn advance(&mut self) -> DumpStep {
        loop {
            if let Some(rollout) = self.rollout.take() {
                return self.join(rollout);
            }
            if let Some(sample) = self.sample.take() {
                match self.finish(sample) {
                    Some(step) => return step,
                    None => continue,
                }
            }
            match &mut self.state {
                State::Parts(parts) => {
                    let missing = parts.missing();
                    if !missing.is_empty() {
                        return self.want(Wanted::Shared, missing);
                    }
                    if let Some(parsed) = parts.parse() {
                        let storages = parsed.storages.iter();
                        let storages = storages.filter_map(|key| {
                            let name = format!("{}data/{key}", self.top);
                            self.places.get(&name).cloned()
                        });
                        self.sample = Some(Sample {
                            training: None,
                            number: parsed.number,
                            parts: parsed.parts,
                            bytes: parsed.bytes,
                            storages: storages.collect(),
                            members: None,
                        });
                    } else if parts.read_to() < self.pickle.end && parts.goes_on() {
                        let start = parts.read_to();
                        let piece = self.piece_from(start);
                        return self.want(Wanted::Piece, vec![piece]);
                    } else if parts.is_dump() {
                        match self.next_alone() {
                            Some(sample) => self.sample = Some(sample),
                            None => return DumpStep::End,
                        }
                    } else {
                        self.state = State::Undivided;
                    }
                }
                State::Undivided => {
                    let members = self.byte_order().into_iter().chain([self.pickle.clone()]);
                    return self.want(Wanted::Pickle, members.collect());
                }
                State::Whole { dump, next } => {
                    let number = *next;
                    if number >= dump.len() {
                        match self.next_alone() {
                            Some(sample) => {
                                self.sample = Some(sample);
                                continue;
                            }
                            None => return DumpStep::End,
                        }
                    }
                    *next += 1;
                    let storages = dump.storages(number).into_iter();
                    let storages = storages.filter_map(|key| {
                        let name = format!("{}data/{key}", self.top);
                        self.places.get(&name).cloned()
                    });
                    let (storages, count) = (storages.collect(), dump.len() as u64);
                    let parts = self.byte_order().into_iter().chain([self.pickle.clone()]);
                    self.sample = Some(Sample {
                        training: None,
                        number,
                        parts: parts.collect(),
                        bytes: (self.pickle.end - self.pickle.start) / count,
                        storages,
                        members: None,
                    });
                }
                State::Other => return DumpStep::Other,
            }
        }
    }

    /// Passes on the bytes that [`DumpStep::Wanted`] asked for.
    pub fn feed(&mut self, ranges: Vec<Vec<u8>>) {
        let wanted = std::mem::replace(&mut self.wanted, Wanted::Nothing);
        match (wanted, &mut self.state) {
            (Wanted::Piece, State::Parts(parts)) => {
                ranges.into_iter().for_each(|bytes| parts.feed(&bytes));
            }
            (Wanted::Shared, State::Parts(parts)) => parts.share(&ranges),
            (Wanted::Pickle, _) => {
                let head = Head::of(&ranges);
                drop(ranges);
                self.is_big_endian = head.as_ref().map(|head| head.is_big_endian);
                let dump = head.and_then(|head| WholeDump::of(&head.pickle));
                self.state = dump.map_or(State::Other, |dump| State::Whole {
                    dump: Box::new(dump),
                    next: 0,
                });
            }
            (Wanted::ByteOrder, _) => {
                let order = unpacked(&ranges).into_iter().next();
                self.is_big_endian = Some(order.is_some_and(|(_, order)| is_big(&order)));
            }
            (Wanted::Storages, _) => {
                if let Some(sample) = &mut self.sample {
                    sample.members = Some(ranges);
                }
            }
            (Wanted::TrainingStorages, _) => {
                if let Some(rollout) = &mut self.rollout {
                    rollout.members = Some(ranges);
                }
            }
            _ => {}
        }
    }

    /// The range that will probably be wanted after the current one.
    pub fn ahead(&self, range: &Range<u64>) -> Option<Range<u64>> {
        let is_piece = self.wanted == Wanted::Piece && range.end < self.pickle.end;
        is_piece.then(|| self.piece_from(range.end))
    }

    /// The number of bytes of the file that were read.
    pub fn done(&self) -> u64 {
        match &self.state {
            State::Parts(parts) => parts.read_to(),
            State::Whole { dump, next } => self.size * *next as u64 / dump.len().max(1) as u64,
            State::Undivided | State::Other => 0,
        }
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
        match &self.state {
            State::Parts(parts) => parts.report(self.found, &mut sink),
            State::Whole { dump, .. } => dump.report(self.found, &mut sink),
            State::Undivided | State::Other => {}
        }
        for training in &self.trainings {
            training.report(&mut sink);
        }
        drop(sink);
        self.tally.report(&mut outcome);
        let notes = self.pieces.notes().iter().cloned();
        outcome.notes.into_iter().chain(notes).collect()
    }

    fn want(&mut self, wanted: Wanted, ranges: Vec<Range<u64>>) -> DumpStep {
        self.wanted = wanted;
        DumpStep::Wanted(ranges)
    }

    /// The piece of the pickle that starts at a byte.
    fn piece_from(&self, start: u64) -> Range<u64> {
        let length = if start == self.pickle.start {
            FIRST_PIECE
        } else {
            PIECE
        };
        start..self.pickle.end.min(start + length)
    }

    /// The place of the member that names the byte order.
    fn byte_order(&self) -> Option<Range<u64>> {
        let name = format!("{}{BYTE_ORDER}", self.top);
        self.places.get(&name).cloned()
    }

    /// The next sample of a training dump that belongs to no rollout.
    fn next_alone(&mut self) -> Option<Sample> {
        let mut trainings = self.trainings.iter_mut().enumerate();
        let (place, number) =
            trainings.find_map(|(place, training)| Some((place, training.take_alone()?)))?;
        let training = self.trainings.get(place)?;
        Some(Sample {
            training: Some(place),
            number,
            parts: training.head().to_vec(),
            bytes: training.bytes(),
            storages: training.storages(number),
            members: None,
        })
    }

    /// Reads a sample that was parsed, once its storages are there. `None` if it is to be joined with training data.
    fn finish(&mut self, mut sample: Sample) -> Option<DumpStep> {
        let has_storages = !sample.storages.is_empty();
        let is_own = sample.training.is_none();
        if has_storages && is_own && self.is_big_endian.is_none() {
            match self.byte_order() {
                Some(place) => {
                    self.sample = Some(sample);
                    return Some(self.want(Wanted::ByteOrder, vec![place]));
                }
                None => self.is_big_endian = Some(false),
            }
        }
        let members = match sample.members.take() {
            None if has_storages => {
                let storages = sample.storages.clone();
                self.sample = Some(sample);
                return Some(self.want(Wanted::Storages, storages));
            }
            members => members.unwrap_or_default(),
        };
        // Storages with damaged headers count as missing. Opening a sample relies on the headers to tell storages from
        // pieces of the pickle.
        let storages = sample.storages.iter().zip(&members);
        let storages = storages.filter(|(_, bytes)| MemberHeader::of(bytes).is_some());
        let storages: Vec<Range<u64>> = storages.map(|(place, _)| place.clone()).collect();
        let sizes = storages.iter().map(|place| place.end - place.start);
        let bytes = sample.bytes + sizes.sum::<u64>();
        let order = self
            .byte_order()
            .filter(|order| has_storages && is_own && !sample.parts.contains(order));
        let parts = order.into_iter().chain(sample.parts);
        let place = EpisodeRange {
            parts: parts.chain(storages).collect(),
            packed: true,
            number: sample.number,
        };
        let members = unpacked(&members);
        let mut read = ImportOutcome::default();
        let mut sink = Sink::new(&mut read, "slime", &self.file);
        let number = sample.number;
        let training = sample
            .training
            .and_then(|place| self.trainings.get_mut(place));
        match (training, &mut self.state) {
            (Some(training), _) => training.read_alone(number, members, &mut sink),
            (None, state) => {
                let storages = Storages {
                    top: &self.top,
                    members,
                    is_big_endian: self.is_big_endian.unwrap_or_default(),
                };
                match state {
                    State::Parts(parts) => parts.read_sample(number, storages, &mut sink),
                    State::Whole { dump, .. } => dump.read_sample(number, storages, &mut sink),
                    State::Undivided | State::Other => {}
                }
            }
        }
        drop(sink);
        if is_own {
            self.found += 1;
            if let Some((training, number)) = self.training_of(&read, number) {
                let storages = self.trainings.get(training);
                let storages = storages.map_or_else(Vec::new, |it| it.storages(number));
                self.rollout = Some(ReadRollout {
                    members: storages.is_empty().then(Vec::new),
                    place,
                    bytes,
                    read,
                    training,
                    number,
                    storages,
                });
                return None;
            }
        }
        self.pieces.dumped(place, bytes, read);
        Some(DumpStep::Sample)
    }

    /// The training dump of a rollout at this position, and the number of the sample in it.
    fn training_of(&mut self, read: &ImportOutcome, position: usize) -> Option<(usize, usize)> {
        let [episode] = read.episodes.as_slice() else {
            return None;
        };
        let mut trainings = self.trainings.iter_mut().enumerate();
        trainings.find_map(|(place, training)| Some((place, training.take(episode, position)?)))
    }

    /// Joins a rollout with its training data, once the storages are there.
    fn join(&mut self, mut rollout: ReadRollout) -> DumpStep {
        let Some(members) = rollout.members.take() else {
            let storages = rollout.storages.clone();
            self.rollout = Some(rollout);
            return self.want(Wanted::TrainingStorages, storages);
        };
        let ReadRollout {
            mut place,
            mut bytes,
            mut read,
            number,
            storages,
            ..
        } = rollout;
        let training = self.trainings.get_mut(rollout.training);
        if let Some((training, episode)) = training.zip(read.episodes.first_mut()) {
            let joined = training.join(number, &members, episode);
            match &joined {
                Ok(_) => {
                    // As in `finish`.
                    let storages = storages.into_iter().zip(&members);
                    let storages = storages.filter(|(_, bytes)| MemberHeader::of(bytes).is_some());
                    let storages: Vec<Range<u64>> = storages.map(|(place, _)| place).collect();
                    let sizes = storages.iter().map(|place| place.end - place.start);
                    bytes += training.bytes() + sizes.sum::<u64>();
                    place.parts.extend_from_slice(training.head());
                    place.parts.extend(storages);
                }
                Err(NotJoined::NoTokens(_)) => training.give_back(number),
                Err(NotJoined::OtherTokens) => {}
            }
            self.tally.count(joined);
        }
        self.pieces.dumped(place, bytes, read);
        DumpStep::Sample
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
        let is_big_endian = has_big_order(&members);
        let place = members.iter().position(|(name, _)| is_pickle(name))?;
        let (name, pickle) = members.swap_remove(place);
        Some(Head {
            top: name.strip_suffix(PICKLE)?.to_owned(),
            pickle,
            is_big_endian,
        })
    }
}

fn is_big(order: &[u8]) -> bool {
    order.starts_with(b"big")
}

fn has_big_order(members: &[(String, Vec<u8>)]) -> bool {
    let mut members = members.iter();
    members.any(|(name, order)| name.ends_with(BYTE_ORDER) && is_big(order))
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

/// Whether an episode with this place, whose bytes are `parts`, is a sample of a dump.
pub fn is_sample(place: &EpisodeRange, parts: &[Vec<u8>]) -> bool {
    place.packed && pickle_at(parts).is_some()
}

/// Opens a sample, as [`open`](super::open) does. `None` if it is none.
pub fn open_sample(
    file: &str,
    parts: &[Vec<u8>],
    place: &EpisodeRange,
    row: &Row,
) -> Option<Episode> {
    let pickle = pickle_at(parts)?;
    let outcome = import_sample(file, parts, pickle, place.number);
    let mut episode = outcome.episodes.into_iter().next()?;
    episode.id = row.id.clone();
    // The row has them.
    tags::take(&mut episode);
    Some(episode)
}

/// The index of the pickle among the parts of an episode; `None` if they are not those of a torch file. It is read
/// from the headers, because unpacking copies.
fn pickle_at(parts: &[Vec<u8>]) -> Option<usize> {
    let mut headers = parts.iter().take(2).map(|part| MemberHeader::of(part));
    headers.position(|header| header.is_some_and(|header| is_pickle(&header.name)))
}

/// Imports a sample from its parts: the head, whose last one is the pickle or its beginning, parts of the pickle, storages,
/// and those of its training data.
fn import_sample(file: &str, parts: &[Vec<u8>], pickle: usize, number: usize) -> ImportOutcome {
    // The training data has a pickle of its own, and perhaps a byte order before that.
    let own = parts.iter().take(pickle + 1).count();
    let behind = parts.iter().skip(own).position(|part| {
        let header = MemberHeader::of(part);
        header.is_some_and(|header| is_pickle(&header.name) || header.name.ends_with(BYTE_ORDER))
    });
    let (parts, training) = parts.split_at(behind.map_or(parts.len(), |behind| own + behind));
    let mut outcome = import_rollout(file, parts, pickle, number);
    if let Some(episode) = outcome.episodes.first_mut() {
        training::join_opened(training, episode, number);
    }
    outcome
}

fn import_rollout(file: &str, parts: &[Vec<u8>], pickle: usize, number: usize) -> ImportOutcome {
    let mut outcome = ImportOutcome::default();
    let mut sink = Sink::new(&mut outcome, "slime", file);
    let (head, rest) = parts.split_at(parts.len().min(pickle + 1));
    let fragments = rest
        .iter()
        .position(|part| MemberHeader::of(part).is_some());
    let (fragments, storages) = rest.split_at(fragments.unwrap_or(rest.len()));
    match fragments.split_last() {
        Some((sample, shared)) => {
            let Some((top, mut dump)) = head.last().and_then(|bytes| opened(bytes, parts)) else {
                return outcome;
            };
            let storages = Storages {
                top: &top,
                members: unpacked(storages),
                is_big_endian: has_big_order(&unpacked(head.get(..pickle).unwrap_or_default())),
            };
            shared.iter().for_each(|value| dump.share(value));
            dump.parse(sample);
            dump.read_sample(number, storages, &mut sink);
        }
        None => {
            let Some(head) = Head::of(head) else {
                return outcome;
            };
            let Some(mut dump) = WholeDump::of(&head.pickle) else {
                return outcome;
            };
            let storages = Storages {
                top: &head.top,
                members: unpacked(storages),
                is_big_endian: head.is_big_endian,
            };
            dump.read_sample(number, storages, &mut sink);
        }
    }
    outcome
}

/// The folder of all members, and the dump whose pickle has this beginning, of which `parts` are read.
fn opened(pickle: &[u8], parts: &[Vec<u8>]) -> Option<(String, RolloutParts)> {
    let header = MemberHeader::of(pickle)?;
    let top = header.name.strip_suffix(PICKLE)?.to_owned();
    let beginning = pickle.get(header.length..)?;
    let size = parts.iter().map(Vec::len).sum();
    Some((top, RolloutParts::opened(beginning, size)))
}

#[cfg(test)]
mod tests {
    use miniz_oxide::deflate::compress_to_vec;

    use super::*;

    #[test]
    fn packed_dumps_are_recognised_by_their_beginning() {
        // {'rollout_id': 3, 'samples': […, and bytes that follow.
        let mut pickle = b"\x80\x02}(X\x0a\0\0\0rollout_idK\x03X\x07\0\0\0samples](".to_vec();
        pickle.extend((0..60_000_u32).flat_map(|number| [b'M', (number >> 8) as u8, number as u8]));
        let name = b"3/data.pkl";
        let mut member = b"PK\x03\x04\x14\0\x08\0\x08\0".to_vec();
        member.extend([0; 16]);
        member.extend([name.len() as u8, 0, 0, 0]);
        member.extend(name);
        member.extend(compress_to_vec(&pickle, 1));
        let mut zipped = b"\x1f\x8b\x08\0\0\0\0\0\0\x03".to_vec();
        zipped.extend(compress_to_vec(&member, 1));
        for packed in [&member, &zipped] {
            let beginning = packed.get(..8_000).unwrap();
            assert_eq!(DumpKind::of(beginning), Some((DumpKind::Rollout, 3)));
        }
        assert_eq!(DumpKind::of(b"\x1f\x8b\x08"), None);
    }
}
