//! The training dump of a rollout dump's step, which is read along with it: both are one file to the reader, the training
//! dump behind the rollout dump.
//!
//! Invariant: each sample is joined with at most one rollout. Those without a rollout become episodes of their own.

use std::collections::HashMap;
use std::ops::Range;

use volary_core::json::Json;
use volary_episode::episode::Episode;
use volary_episode::token_record::StreamMisfit;

use super::{BYTE_ORDER, Head, PICKLE, is_pickle, unpacked};
use crate::archive::listing::ListedMember;
use crate::import::reader::Sink;
use crate::import::slime::{
    NotJoined, SampleKey, SampleKeys, Storages, TrainingDump, index_of, is_rollout,
};

/// A torch file behind a rollout dump, whose directory was read.
pub(super) struct TrainingFile {
    /// The byte ranges of its members.
    ranges: HashMap<String, Range<u64>>,
    head: Vec<Range<u64>>,
}

impl TrainingFile {
    /// Recognises the members of a file of `size` bytes as those of a torch file; `start` is its offset behind the rollout
    /// dump.
    pub fn of(start: u64, size: u64, members: &[ListedMember]) -> Option<TrainingFile> {
        let ranges: HashMap<String, Range<u64>> = members
            .iter()
            .filter(|member| member.range.start <= member.range.end && member.range.end <= size)
            .map(|member| {
                let range = start + member.range.start..start + member.range.end;
                (member.name.clone(), range)
            })
            .collect();
        let (name, pickle) = ranges.iter().find(|(name, _)| is_pickle(name))?;
        let order = format!("{}{BYTE_ORDER}", name.strip_suffix(PICKLE)?);
        let order = ranges.get(&order).cloned();
        let head = order.into_iter().chain([pickle.clone()]).collect();
        Some(TrainingFile { ranges, head })
    }

    /// The byte ranges that [`TrainingFile::open`] needs.
    pub fn head(&self) -> &[Range<u64>] {
        &self.head
    }

    /// Opens the file; `None` if it is no training dump, or one whose samples do not say which rollouts they belong to.
    pub fn open(self, head: &[Vec<u8>]) -> Option<Training> {
        let read = Head::of(head)?;
        let dump = TrainingDump::of(&read.pickle)?;
        let samples = dump.keys()?;
        Some(Training {
            is_taken: vec![false; dump.len()],
            alone: 0,
            samples,
            dump,
            top: read.top,
            is_big_endian: read.is_big_endian,
            ranges: self.ranges,
            head: self.head,
        })
    }
}

/// A training dump that was opened.
pub(super) struct Training {
    dump: TrainingDump,
    samples: SampleKeys,
    /// Whether the sample with this number belongs to a rollout.
    is_taken: Vec<bool>,
    /// The number of samples without a rollout.
    alone: usize,
    /// The folder of all members, with a trailing slash.
    top: String,
    is_big_endian: bool,
    ranges: HashMap<String, Range<u64>>,
    head: Vec<Range<u64>>,
}

impl Training {
    /// Takes the sample of a rollout, which is at this position in its dump; returns its number.
    pub(super) fn take(&mut self, episode: &Episode, position: usize) -> Option<usize> {
        let found = numbers_of(&self.dump, &self.samples, episode, position);
        let is_free = |number: &&usize| self.is_taken.get(**number) == Some(&false);
        let number = *found.iter().find(is_free)?;
        self.is_taken[number] = true;
        Some(number)
    }

    /// Takes a sample that belongs to no rollout; returns its number.
    pub(super) fn take_alone(&mut self) -> Option<usize> {
        let number = self.is_taken.iter().position(|is_taken| !is_taken)?;
        *self.is_taken.get_mut(number)? = true;
        self.alone += 1;
        Some(number)
    }

    /// Gives back a sample, because its rollout has no tokens to compare with.
    pub(super) fn give_back(&mut self, number: usize) {
        if let Some(is_taken) = self.is_taken.get_mut(number) {
            *is_taken = false;
        }
    }

    /// The byte ranges of the byte order and of the pickle.
    pub(super) fn head(&self) -> &[Range<u64>] {
        &self.head
    }

    /// The byte ranges of the storages of a sample.
    pub(super) fn storages(&self, number: usize) -> Vec<Range<u64>> {
        let storages = self.dump.storages(number).into_iter();
        let ranges = storages.filter_map(|key| {
            let name = format!("{}data/{key}", self.top);
            self.ranges.get(&name).cloned()
        });
        ranges.collect()
    }

    /// The share of a sample in the pickle, in bytes.
    pub(super) fn bytes(&self) -> u64 {
        let pickle = self.head.last();
        let length = pickle.map_or(0, |pickle| pickle.end - pickle.start);
        length / self.dump.len().max(1) as u64
    }

    /// Adds the data of a sample to its episode. Returns what could not be aligned.
    pub(super) fn join(
        &mut self,
        number: usize,
        storages: &[Vec<u8>],
        episode: &mut Episode,
    ) -> Result<Vec<StreamMisfit>, NotJoined> {
        let storages = Storages {
            top: &self.top,
            members: unpacked(storages),
            is_big_endian: self.is_big_endian,
        };
        self.dump.join_sample(number, storages, episode)
    }

    /// Reads a sample that belongs to no rollout; `members` are its storages, unpacked.
    pub(super) fn read_alone(
        &mut self,
        number: usize,
        members: Vec<(String, Vec<u8>)>,
        sink: &mut Sink<'_>,
    ) {
        let storages = Storages {
            top: &self.top,
            members,
            is_big_endian: self.is_big_endian,
        };
        self.dump.read_sample(number, storages, sink);
    }

    /// Reports what is not in the episodes.
    pub(super) fn report(&self, sink: &mut Sink<'_>) {
        self.dump.report(self.alone, sink);
    }
}

/// The numbers of the samples of a training dump that may belong to a rollout, which is at this position in its own dump.
fn numbers_of<'a>(
    dump: &TrainingDump,
    samples: &'a SampleKeys,
    episode: &Episode,
    position: usize,
) -> &'a [usize] {
    let step = episode.metadata.get("step").and_then(Json::as_i64);
    if !is_rollout(episode) || step.is_none() || step != dump.step() {
        return &[];
    }
    samples.find(SampleKey {
        index: index_of(episode),
        position: Some(position),
    })
}

/// Joins an episode that is opened, at this position in its dump, with its training data, whose parts are these.
pub(super) fn join_opened(parts: &[Vec<u8>], episode: &mut Episode, position: usize) {
    let pickle = super::pickle_at(parts);
    let Some((head, storages)) = pickle.and_then(|pickle| parts.split_at_checked(pickle + 1))
    else {
        return;
    };
    let Some(head) = Head::of(head) else { return };
    let Some(mut dump) = TrainingDump::of(&head.pickle) else {
        return;
    };
    let Some(samples) = dump.keys() else { return };
    let members = unpacked(storages);
    // The parts are those of the sample that it was joined with when the file was read.
    let has_storages = |number: &&usize| {
        let mut keys = dump.storages(**number).into_iter();
        let is_there = |key: &str| {
            let name = format!("{}data/{key}", head.top);
            members.iter().any(|(member, _)| *member == name)
        };
        keys.all(is_there)
    };
    let found = numbers_of(&dump, &samples, episode, position).iter();
    if let Some(number) = { found }.find(has_storages).copied() {
        let storages = Storages {
            top: &head.top,
            members,
            is_big_endian: head.is_big_endian,
        };
        // It fitted when the file was read.
        let _ = dump.join_sample(number, storages, episode);
    }
}
