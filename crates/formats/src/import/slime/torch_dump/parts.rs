//! Rollout dumps whose samples are parts of the pickle, of which only one is in memory.

use std::collections::BTreeMap;

use volary_torch::pickle::Fragments;
use volary_torch::{PickleError, Value};

use super::super::nested::PickledSample;
use super::super::train_dump;
use super::sample_reader::{SampleReader, Storages, storages};
use super::{report_pickle, report_rollouts, samples, step};
use crate::import::reader::Sink;

/// A rollout dump whose samples are parts of its pickle, read one after the other.
pub(in crate::import) struct RolloutParts {
    parts: Fragments,
    /// The sample that was parsed last.
    sample: Value,
    reader: SampleReader,
    error: Option<PickleError>,
    placeholders: BTreeMap<String, usize>,
}

impl RolloutParts {
    /// Recognises a rollout dump in a file of `size` bytes by the beginning of its pickle, which includes the first sample;
    /// `first` is its position. `None` if it is something else, or if its step comes later.
    pub fn of(beginning: &[u8], first: usize, size: usize) -> Option<RolloutParts> {
        let pickle = volary_torch::read(beginning);
        // The elements of the list would be groups.
        if samples(&pickle)?
            .iter()
            .any(|sample| sample.group.is_some())
        {
            return None;
        }
        let is_list = pickle.heap.items(pickle.root).is_none();
        let is_rollout = is_list || step(&pickle).is_some();
        (is_rollout && train_dump::Columns::of(&pickle).is_none())
            .then(|| RolloutParts::opened(beginning.get(..first).unwrap_or(beginning), size))
    }

    /// The dump whose pickle has this beginning before its first sample.
    pub fn opened(beginning: &[u8], size: usize) -> RolloutParts {
        let mut parts = Fragments::default();
        parts.share(beginning);
        RolloutParts {
            parts,
            sample: Value::None,
            reader: SampleReader::new(step(&volary_torch::read(beginning)), size),
            error: None,
            placeholders: BTreeMap::new(),
        }
    }

    /// Reads a value that samples refer to.
    pub fn share(&mut self, bytes: &[u8]) {
        self.parts.share(bytes);
    }

    /// Parses a sample. Returns the keys of its storages.
    pub fn parse(&mut self, bytes: &[u8]) -> Vec<&str> {
        let part = self.parts.read(bytes);
        self.sample = part.value;
        self.error = self.error.take().or(part.error);
        for (class, count) in part.placeholders {
            *self.placeholders.entry(class).or_default() += count;
        }
        storages(self.parts.heap(), self.sample)
    }

    /// Reads the sample that was parsed; `storages` are the bytes of its tensors.
    pub fn read_sample(&mut self, number: usize, storages: Storages<'_>, sink: &mut Sink<'_>) {
        let heap = self.parts.heap();
        let sample = PickledSample {
            value: self.sample,
            group: None,
        };
        self.reader.read(heap, sample, number, storages, sink);
    }

    /// Notes why the pickle cannot be read further.
    pub fn damaged(&mut self, error: PickleError) {
        self.error.get_or_insert(error);
    }

    /// Reports what is not in the episodes.
    pub fn report(&self, count: usize, sink: &mut Sink<'_>) {
        report_rollouts(count, &self.reader, sink);
        report_pickle(self.error.as_ref(), &self.placeholders, count, sink);
    }
}
