//! Rollout dumps of torch that are read in ranges: the pickle once, in pieces, and for each sample the storages of its
//! tensors.
//!
//! The samples are parts of the pickle ([`parts`]). Only the current one is in memory, and it is opened from its own bytes
//! and those of the values that it shares with others. Pickles that cannot be divided (packed ones, and those of protocol 4
//! and later) are read as a whole, for each opened sample again.
//!
//! The pickle of a training dump has little but references to tensors, so it is read as a whole, too, and the tensors
//! when they are looked at. If it is imported with the rollout dump of its step, it is read along with that
//! ([`training`]).

mod parts;
mod training;

use std::collections::HashMap;
use std::ops::Range;
use std::rc::Rc;

use futures_util::FutureExt;
use futures_util::future::LocalBoxFuture;
use volary_analysis::annotations::tags;
use volary_analysis::table::Row;
use volary_episode::episode::Episode;

use super::in_place::{InPlace, Progress, are_shown};
use super::reading::Pieces;
use super::{Entry, EpisodeRange, LARGEST_WHOLE};
use crate::archive::Limits;
use crate::archive::listing::{ListedMember, MemberHeader, unpack_listed};
use crate::archive::unpack::{GZIP, gunzip};
use crate::import::reader::Sink;
use crate::import::slime::{self, NotJoined, RolloutParts, Storages, Tally, WholeDump};
use crate::import::{ImportOutcome, Note};
use crate::read_at::{ReadAt, ReadBytes, ReadError, WindowPool, begin_reading};
use parts::Parts;
use training::{Training, TrainingFile};

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
    source: Rc<dyn ReadAt>,
    /// The storages of a sample may be in as many ranges as it has tensors.
    pool: WindowPool,
    /// The piece of the pickle that is being read while the one before it is indexed.
    coming: Option<(Range<u64>, ReadBytes<'static>)>,
    pieces: Pieces,
    file: String,
    size: u64,
    ranges: HashMap<String, Range<u64>>,
    /// The folder of all members, with a trailing slash.
    top: String,
    /// The byte range of the pickle.
    pickle: Range<u64>,
    /// `None` until it was read.
    is_big_endian: Option<bool>,
    state: State,
    /// The number of rollouts that were read, and that of all samples.
    found: usize,
    samples: usize,
    trainings: Vec<Training>,
    tally: Tally,
}

/// What was read of a dump.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum Step {
    /// A sample was read.
    Sample,
    /// All samples were read.
    End,
    /// The file is no dump, or has a part that is too long, and must be read otherwise.
    Other,
}

/// Why no sample was read.
enum Stop {
    /// A range is too long to be in memory.
    TooLong,
    /// The file cannot be read.
    Failed(ReadError),
}

impl From<ReadError> for Stop {
    fn from(error: ReadError) -> Self {
        Stop::Failed(error)
    }
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

/// A rollout that was read.
struct ReadRollout {
    range: EpisodeRange,
    /// Its share of the file, in bytes.
    bytes: u64,
    /// What was read: one episode, and notes on it.
    read: ImportOutcome,
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
    /// The byte ranges of its storages.
    storages: Vec<Range<u64>>,
}

impl TorchDump {
    /// Recognises the members of a file of `size` bytes as those of a torch file. `source` may have training dumps behind
    /// these bytes.
    pub fn of(source: Rc<dyn ReadAt>, size: u64, members: &[ListedMember]) -> Option<TorchDump> {
        // The directory of a damaged file may lead beyond its end. Such members are missing.
        let members = members.iter().filter(|member| {
            let Range { start, end } = member.range;
            start <= end && end <= size
        });
        let pickle = members.clone().find(|member| is_pickle(&member.name))?;
        let ranges = members;
        let ranges = ranges.map(|member| (member.name.clone(), member.range.clone()));
        let bytes = usize::try_from(size).unwrap_or(usize::MAX);
        // Most of the pickle is read in order.
        source.read_through(pickle.range.start);
        Some(TorchDump {
            pieces: Pieces::new(source.name()),
            file: source.name().to_string(),
            size,
            ranges: ranges.collect(),
            top: pickle.name.strip_suffix(PICKLE)?.to_owned(),
            pickle: pickle.range.clone(),
            is_big_endian: None,
            state: State::Parts(Box::new(Parts::new(pickle.range.start, bytes))),
            found: 0,
            samples: 0,
            trainings: Vec::new(),
            tally: Tally::default(),
            pool: WindowPool::on(Rc::clone(&source)),
            coming: None,
            source,
        })
    }

    /// Joins the samples with those of the training dumps of the same step, which are behind the file: the size and the
    /// members of each. Returns false if one cannot be read so.
    pub async fn join_with(
        &mut self,
        dumps: impl IntoIterator<Item = (u64, Vec<ListedMember>)>,
    ) -> Result<bool, ReadError> {
        let mut start = self.size;
        for (size, members) in dumps {
            let Some(training) = TrainingFile::of(start, size, &members) else {
                return Ok(false);
            };
            let head = match self.read(training.head()).await {
                Ok(head) => head,
                Err(Stop::TooLong) => return Ok(false),
                Err(Stop::Failed(error)) => return Err(error),
            };
            let Some(training) = training.open(&head) else {
                return Ok(false);
            };
            self.trainings.push(training);
            start += size;
        }
        Ok(true)
    }

    /// Reads samples until their rows are to be shown.
    async fn read_on(&mut self) -> Result<Progress, ReadError> {
        loop {
            match self.next_sample().await? {
                Step::Sample => self.samples += 1,
                Step::Other if self.samples == 0 => return Ok(Progress::Whole),
                Step::End | Step::Other => return Ok(Progress::End),
            }
            if are_shown(self.samples) {
                return Ok(Progress::More);
            }
        }
    }

    /// Reads the next sample.
    async fn next_sample(&mut self) -> Result<Step, ReadError> {
        match self.advance().await {
            Ok(step) => Ok(step),
            Err(Stop::TooLong) => {
                self.state = State::Other;
                Ok(Step::Other)
            }
            Err(Stop::Failed(error)) => Err(error),
        }
    }

    async fn advance(&mut self) -> Result<Step, Stop> {
        loop {
            match &mut self.state {
                State::Parts(parts) => {
                    let missing = parts.missing();
                    if !missing.is_empty() {
                        let values = self.read(&missing).await?;
                        if let State::Parts(parts) = &mut self.state {
                            parts.share(&values);
                        }
                    } else if let Some(parsed) = parts.parse() {
                        let sample = Sample {
                            training: None,
                            number: parsed.number,
                            parts: parsed.parts,
                            bytes: parsed.bytes,
                            storages: self.ranges_of(parsed.storages),
                        };
                        return self.read_sample(sample).await;
                    } else if parts.read_to() < self.pickle.end && parts.goes_on() {
                        let start = parts.read_to();
                        let bytes = self.read_piece(start).await?;
                        if let State::Parts(parts) = &mut self.state {
                            parts.feed(&bytes);
                        }
                    } else if parts.is_dump() {
                        return self.read_alone().await;
                    } else {
                        self.state = State::Undivided;
                    }
                }
                State::Undivided => {
                    let members = self.byte_order().into_iter().chain([self.pickle.clone()]);
                    let members: Vec<Range<u64>> = members.collect();
                    let head = Head::of(&self.read(&members).await?);
                    self.is_big_endian = head.as_ref().map(|head| head.is_big_endian);
                    let dump = head.and_then(|head| WholeDump::of(&head.pickle));
                    self.state = dump.map_or(State::Other, |dump| State::Whole {
                        dump: Box::new(dump),
                        next: 0,
                    });
                }
                State::Whole { dump, next } => {
                    let number = *next;
                    if number >= dump.len() {
                        return self.read_alone().await;
                    }
                    *next += 1;
                    let storages = dump.storages(number).into_iter();
                    let storages: Vec<String> = storages.map(str::to_owned).collect();
                    let count = dump.len() as u64;
                    let parts = self.byte_order().into_iter().chain([self.pickle.clone()]);
                    let sample = Sample {
                        training: None,
                        number,
                        parts: parts.collect(),
                        bytes: (self.pickle.end - self.pickle.start) / count,
                        storages: self.ranges_of(storages),
                    };
                    return self.read_sample(sample).await;
                }
                State::Other => return Ok(Step::Other),
            }
        }
    }

    /// Reads ranges of the file.
    async fn read(&mut self, ranges: &[Range<u64>]) -> Result<Vec<Vec<u8>>, Stop> {
        let is_too_long = |range: &Range<u64>| range.end - range.start > LARGEST_WHOLE;
        if ranges.iter().any(is_too_long) {
            return Err(Stop::TooLong);
        }
        Ok(self.pool.read(ranges).await?)
    }

    /// Reads the piece of the pickle that starts at a byte, and begins to read the one after it.
    async fn read_piece(&mut self, start: u64) -> Result<Vec<u8>, Stop> {
        let piece = self.piece_from(start);
        let coming = self.coming.take_if(|(coming, _)| *coming == piece);
        let bytes = match coming {
            Some((_, bytes)) => bytes.await?,
            None => self.pool.read(std::slice::from_ref(&piece)).await?.concat(),
        };
        if piece.end < self.pickle.end {
            let next = self.piece_from(piece.end);
            let reading = begin_reading(&self.source, next.clone());
            self.coming = Some((next, reading));
        }
        Ok(bytes)
    }

    /// The byte ranges of storages.
    fn ranges_of(&self, storages: impl IntoIterator<Item = String>) -> Vec<Range<u64>> {
        let ranges = storages.into_iter().filter_map(|key| {
            let name = format!("{}data/{key}", self.top);
            self.ranges.get(&name).cloned()
        });
        ranges.collect()
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

    /// The byte range of the member that names the byte order.
    fn byte_order(&self) -> Option<Range<u64>> {
        let name = format!("{}{BYTE_ORDER}", self.top);
        self.ranges.get(&name).cloned()
    }

    /// Reads the next sample of a training dump that belongs to no rollout.
    async fn read_alone(&mut self) -> Result<Step, Stop> {
        match self.next_alone() {
            Some(sample) => self.read_sample(sample).await,
            None => Ok(Step::End),
        }
    }

    fn next_alone(&mut self) -> Option<Sample> {
        let mut trainings = self.trainings.iter_mut().enumerate();
        let (index, number) =
            trainings.find_map(|(index, training)| Some((index, training.take_alone()?)))?;
        let training = self.trainings.get(index)?;
        Some(Sample {
            training: Some(index),
            number,
            parts: training.head().to_vec(),
            bytes: training.bytes(),
            storages: training.storages(number),
        })
    }

    /// Reads a sample that was parsed, with its storages and its training data.
    async fn read_sample(&mut self, sample: Sample) -> Result<Step, Stop> {
        let has_storages = !sample.storages.is_empty();
        let is_own = sample.training.is_none();
        if has_storages && is_own && self.is_big_endian.is_none() {
            let order = self.byte_order();
            let order = self.read(order.as_slice()).await?;
            let order = unpacked(&order).into_iter().next();
            self.is_big_endian = Some(order.is_some_and(|(_, order)| is_big(&order)));
        }
        let members = self.read(&sample.storages).await?;
        // Storages with damaged headers count as missing. Opening a sample relies on the headers to tell storages from
        // pieces of the pickle.
        let storages = sample.storages.iter().zip(&members);
        let storages = storages.filter(|(_, bytes)| MemberHeader::of(bytes).is_some());
        let storages: Vec<Range<u64>> = storages.map(|(range, _)| range.clone()).collect();
        let sizes = storages.iter().map(|range| range.end - range.start);
        let bytes = sample.bytes + sizes.sum::<u64>();
        let order = self
            .byte_order()
            .filter(|order| has_storages && is_own && !sample.parts.contains(order));
        let parts = order.into_iter().chain(sample.parts);
        let range = EpisodeRange {
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
            .and_then(|index| self.trainings.get_mut(index));
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
        let mut rollout = ReadRollout { range, bytes, read };
        if is_own {
            self.found += 1;
            self.join(&mut rollout, number).await?;
        }
        let ReadRollout { range, bytes, read } = rollout;
        self.pieces.dumped(range, bytes, read);
        Ok(Step::Sample)
    }

    /// The training dump of a rollout at this position, and the number of the sample in it.
    fn training_of(&mut self, read: &ImportOutcome, position: usize) -> Option<(usize, usize)> {
        let [episode] = read.episodes.as_slice() else {
            return None;
        };
        let mut trainings = self.trainings.iter_mut().enumerate();
        trainings.find_map(|(index, training)| Some((index, training.take(episode, position)?)))
    }

    /// Joins a rollout at this position with its training data, if there is any.
    async fn join(&mut self, rollout: &mut ReadRollout, position: usize) -> Result<(), Stop> {
        let Some((training, number)) = self.training_of(&rollout.read, position) else {
            return Ok(());
        };
        let storages = self.trainings.get(training);
        let storages = storages.map_or_else(Vec::new, |it| it.storages(number));
        let members = self.read(&storages).await?;
        let training = self.trainings.get_mut(training);
        if let Some((training, episode)) = training.zip(rollout.read.episodes.first_mut()) {
            let joined = training.join(number, &members, episode);
            match &joined {
                Ok(_) => {
                    // As in `read_sample`.
                    let storages = storages.into_iter().zip(&members);
                    let storages = storages.filter(|(_, bytes)| MemberHeader::of(bytes).is_some());
                    let storages: Vec<Range<u64>> = storages.map(|(range, _)| range).collect();
                    let sizes = storages.iter().map(|range| range.end - range.start);
                    rollout.bytes += training.bytes() + sizes.sum::<u64>();
                    let parts = &mut rollout.range.parts;
                    parts.extend_from_slice(training.head());
                    parts.extend(storages);
                }
                Err(NotJoined::NoTokens(_)) => training.give_back(number),
                Err(NotJoined::OtherTokens) => {}
            }
            self.tally.count(joined);
        }
        Ok(())
    }
}

impl InPlace for TorchDump {
    fn next(&mut self) -> LocalBoxFuture<'_, Result<Progress, ReadError>> {
        self.read_on().boxed_local()
    }

    fn take_entries(&mut self) -> Vec<Entry> {
        self.pieces.take_entries()
    }

    fn done(&self) -> u64 {
        match &self.state {
            State::Parts(parts) => parts.read_to(),
            State::Whole { dump, next } => self.size * *next as u64 / dump.len().max(1) as u64,
            State::Undivided | State::Other => 0,
        }
    }

    fn notes(&self) -> Vec<Note> {
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

    fn keep_texts(&mut self, wanted: bool) {
        self.pieces.keeps_texts = wanted;
    }

    fn keep_episodes(&mut self) {
        self.pieces.keeps_episodes = true;
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
        let index = members.iter().position(|(name, _)| is_pickle(name))?;
        let (name, pickle) = members.swap_remove(index);
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

/// The members in some byte ranges. One that cannot be unpacked is missing, so its tensors are.
fn unpacked(parts: &[Vec<u8>]) -> Vec<(String, Vec<u8>)> {
    let unpack = |part: &Vec<u8>| unpack_listed(part, Limits::default().of_packed(part.len())).ok();
    parts.iter().filter_map(unpack).collect()
}

/// Whether an episode with this range, whose bytes are `parts`, is a sample of a dump.
pub fn is_sample(range: &EpisodeRange, parts: &[Vec<u8>]) -> bool {
    range.packed && pickle_at(parts).is_some()
}

/// Opens a sample, as [`open`](super::open) does. `None` if it is none.
pub fn open_sample(
    file: &str,
    parts: &[Vec<u8>],
    range: &EpisodeRange,
    row: &Row,
) -> Option<Episode> {
    let pickle = pickle_at(parts)?;
    let outcome = import_sample(file, parts, pickle, range.number);
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
