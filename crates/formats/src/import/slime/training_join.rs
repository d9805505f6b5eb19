//! Joins the samples of training dumps with the rollouts of the same step, by their position or their index.
//!
//! Invariant: a pair whose tokens differ is refused and reported, never merged.

use std::collections::HashMap;
use std::fmt;
use std::sync::Arc;

use volary_core::json::Json;
use volary_episode::episode::Episode;
use volary_episode::token_record::{Alignment, StreamMisfit};

use super::is_evaluation;
use super::tokens::token_id;
use super::train_dump::{ALONE, SampleKey, SampleKeys, TrainSample};
use crate::import::describe::counted;
use crate::import::reader::Sink;
use crate::import::{ImportOutcome, NoteLevel};

/// Why a sample was not joined with an episode.
#[derive(Clone, Debug, PartialEq)]
pub(in crate::import) enum NotJoined {
    /// The episode has no tokens.
    NoTokens(Box<TrainSample>),
    /// They have other tokens.
    OtherTokens,
}

/// What became of the samples that have a rollout.
#[derive(Clone, Debug, Default, PartialEq)]
pub(in crate::import) struct Tally {
    joined: usize,
    refused: usize,
    misfits: Vec<Misfits>,
}

/// The streams of a name that could not be aligned.
#[derive(Clone, Debug, PartialEq)]
struct Misfits {
    first: StreamMisfit,
    count: usize,
    /// Whether all of them have the lengths of the first one.
    are_equal: bool,
}

impl Misfits {
    fn add(&mut self, misfit: &StreamMisfit) {
        self.count += 1;
        self.are_equal &= self.first == *misfit;
    }
}

impl fmt::Display for Misfits {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "A stream is left out: {}", self.first)?;
        match (self.are_equal, self.count) {
            (_, 1) => write!(f, "."),
            (true, count) => write!(f, ". ({count} times)"),
            (false, count) => write!(f, " in the first of {count} samples."),
        }
    }
}

impl Tally {
    /// The maximum number of names of streams that are reported.
    const MOST: usize = 200;

    /// Counts a sample, by the result of joining it.
    pub fn count(&mut self, result: Result<Vec<StreamMisfit>, NotJoined>) {
        match result {
            Ok(misfits) => {
                self.joined += 1;
                misfits.into_iter().for_each(|misfit| self.add(misfit));
            }
            Err(NotJoined::OtherTokens) => self.refused += 1,
            Err(NotJoined::NoTokens(_)) => {}
        }
    }

    fn add(&mut self, misfit: StreamMisfit) {
        let has_room = self.misfits.len() < Self::MOST;
        let mut known = self.misfits.iter_mut();
        match known.find(|known| known.first.name == misfit.name) {
            Some(known) => known.add(&misfit),
            None if !has_room => {}
            None => self.misfits.push(Misfits {
                first: misfit,
                count: 1,
                are_equal: true,
            }),
        }
    }

    /// Reports it.
    pub fn report(&self, outcome: &mut ImportOutcome) {
        if self.joined > 0 {
            let samples = counted(self.joined, "sample");
            let text = format!("Joined with their training data: {samples}.");
            outcome.note(NoteLevel::Read, "", text);
        }
        if self.refused > 0 {
            let samples = counted(self.refused, "sample");
            let text = format!(
                "The training data of {samples} is left out: its tokens differ from those of the rollout \
                 with the same index."
            );
            outcome.note(NoteLevel::Unreadable, "", text);
        }
        for misfits in &self.misfits {
            outcome.note(NoteLevel::Unreadable, "", misfits.to_string());
        }
    }
}

/// The maximum number of samples of one index that are compared. Few are cut from one rollout; a hostile file has
/// thousands.
const MOST_ALIKE: usize = 32;

/// Joins the samples of training dumps with the episodes of rollout dumps. Those without one become episodes of tokens.
pub(in crate::import) fn join(outcome: &mut ImportOutcome) {
    let samples = std::mem::take(&mut outcome.train);
    if samples.is_empty() {
        return;
    }
    let mut rollouts: HashMap<i64, Vec<(usize, SampleKey)>> = HashMap::new();
    for (number, episode) in outcome.episodes.iter().enumerate() {
        let step = episode.metadata.get("step").and_then(Json::as_i64);
        if let Some(step) = step.filter(|_| is_rollout(episode)) {
            let of_step = rollouts.entry(step).or_default();
            let key = SampleKey {
                index: index_of(episode),
                position: Some(of_step.len()),
            };
            of_step.push((number, key));
        }
    }
    let steps = rollouts.into_iter().map(|(step, rollouts)| {
        let (numbers, keys): (Vec<usize>, Vec<SampleKey>) = rollouts.into_iter().unzip();
        (step, (numbers, SampleKeys::of(keys)))
    });
    let steps: HashMap<i64, (Vec<usize>, SampleKeys)> = steps.collect();
    let (mut tally, mut alone) = (Tally::default(), Vec::new());
    let mut is_joined = vec![false; outcome.episodes.len()];
    for sample in samples {
        let of_step = sample.step.and_then(|step| steps.get(&step));
        let found = of_step.map(|(numbers, keys)| {
            let found = keys.find(sample.key).iter();
            found.filter_map(|at| numbers.get(*at).copied()).collect()
        });
        let found: Vec<usize> = found.unwrap_or_default();
        // Samples that were cut from one rollout have one index. Ranks have them in any order.
        let has_tokens = |number: &&usize| {
            let episode = outcome.episodes.get(**number);
            episode.is_some_and(|episode| has_same_tokens(episode, &sample))
        };
        let fits = || found.iter().take(MOST_ALIKE).filter(has_tokens);
        // Ranks that share their data repeat all samples.
        let free = fits().find(|number| !is_joined[**number]);
        let number = free.or_else(|| fits().next()).or(found.first()).copied();
        let Some(number) = number else {
            alone.push(sample);
            continue;
        };
        is_joined[number] = true;
        let episode = &mut outcome.episodes[number];
        match attach(episode, sample) {
            Err(NotJoined::NoTokens(sample)) => alone.push(*sample),
            result => tally.count(result),
        }
    }
    tally.report(outcome);
    drop_copies(&mut alone, outcome);
    if let Some(first) = alone.first() {
        outcome.note(NoteLevel::KeptRaw, &first.file.clone(), ALONE);
    }
    for sample in alone {
        let file = sample.file.clone();
        let mut sink = Sink::new(outcome, "slime", &file);
        let episode = sample.into_episode(&mut sink);
        sink.episode(episode);
    }
}

/// Drops copies of samples: ranks that share their data write the same ones.
fn drop_copies(samples: &mut Vec<TrainSample>, outcome: &mut ImportOutcome) {
    let mut known: HashMap<(Option<i64>, i64), Vec<&TrainSample>> = HashMap::new();
    let is_new = samples.iter().map(|sample| {
        let Some(index) = sample.key.index else {
            return true;
        };
        let same = known.entry((sample.step, index)).or_default();
        let mut compared = same.iter().take(MOST_ALIKE);
        let is_new = compared.all(|known| known.lists != sample.lists);
        if is_new {
            same.push(sample);
        }
        is_new
    });
    let is_new: Vec<bool> = is_new.collect();
    let copies = is_new.iter().filter(|is_new| !**is_new).count();
    let mut is_new = is_new.into_iter();
    samples.retain(|_| is_new.next().unwrap_or(true));
    if copies > 0 {
        let copies = counted(copies, "sample");
        let text = format!("Copies that other ranks wrote are left out: {copies}.");
        outcome.note(NoteLevel::Read, "", text);
    }
}

/// Whether an episode is a rollout of training, not of an evaluation.
pub(in crate::import) fn is_rollout(episode: &Episode) -> bool {
    let source = episode.source.as_ref();
    source.is_some_and(|source| {
        // The path says it. The metadata may name a split of the data set.
        &*source.format == "slime" && !is_evaluation(&source.file)
    })
}

/// The index of a rollout.
pub(in crate::import) fn index_of(episode: &Episode) -> Option<i64> {
    episode.metadata.get("sample").and_then(Json::as_i64)
}

fn has_same_tokens(episode: &Episode, sample: &TrainSample) -> bool {
    let (Some(record), Some(ids)) = (&episode.tokens, sample.lists.get("tokens")) else {
        return false;
    };
    let known = record.strip.ids().iter().map(|id| Some(*id));
    ids.len() == record.strip.len() && ids.iter().map(token_id).eq(known)
}

/// Adds training data to the episode of the same sample. Returns what could not be aligned.
pub(super) fn attach(
    episode: &mut Episode,
    sample: TrainSample,
) -> Result<Vec<StreamMisfit>, NotJoined> {
    let is_same = has_same_tokens(episode, &sample);
    let Some(record) = episode.tokens.take() else {
        return Err(NotJoined::NoTokens(Box::new(sample)));
    };
    if !is_same {
        episode.tokens = Some(record);
        return Err(NotJoined::OtherTokens);
    }
    let mut record = Arc::unwrap_or_clone(record);
    let before = record.misfits.len();
    for (name, values) in sample.lists.into_streams() {
        // The sampler's stream is the same in both.
        if !record.strip.streams().contains_key(&name) {
            record.add_stream(name, &values, Alignment::Response);
        }
    }
    let misfits = record.misfits.iter().skip(before).cloned().collect();
    episode.tokens = Some(Arc::new(record));
    episode.metadata.insert("training_data", sample.figures);
    Ok(misfits)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn streams_that_are_left_out_are_counted_by_name() {
        let misfit = |name: &str, values: usize| StreamMisfit {
            name: name.into(),
            values,
            expected: 4,
        };
        let mut tally = Tally::default();
        for values in [2, 3] {
            let misfits = [misfit("kl", 2), misfit("entropy", values)];
            tally.count(Ok(misfits.into()));
        }
        tally.count(Ok(vec![misfit("values", 1)]));
        let mut outcome = ImportOutcome::default();
        tally.report(&mut outcome);
        let lost = outcome
            .notes
            .iter()
            .filter(|note| note.level == NoteLevel::Unreadable);
        let lost: Vec<&str> = lost.map(|note| &*note.text).collect();
        assert_eq!(
            lost,
            [
                "A stream is left out: `kl` has 2 values for 4 tokens. (2 times)",
                "A stream is left out: `entropy` has 2 values for 4 tokens in the first of 2 samples.",
                "A stream is left out: `values` has 1 values for 4 tokens.",
            ]
        );
    }
}
