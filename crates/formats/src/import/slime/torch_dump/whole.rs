//! Dumps whose pickle is read as a whole, because it cannot be divided or has little but references to tensors.

use volary_torch::Unpickled;

use super::super::nested::PickledSample;
use super::super::train_dump::{self, TrainingDump};
use super::sample_reader::{SampleReader, Storages, storages};
use super::{report_pickle, report_rollouts, samples, step};
use crate::import::reader::Sink;

/// A dump whose pickle is read as a whole.
pub(in crate::import) enum WholeDump {
    Rollout(RolloutDump),
    Training(TrainingDump),
}

impl WholeDump {
    /// Reads the pickle of a torch file; `None` if it is no dump.
    pub fn of(bytes: &[u8]) -> Option<WholeDump> {
        let rollout = RolloutDump::of(bytes).map(WholeDump::Rollout);
        rollout.or_else(|| TrainingDump::of(bytes).map(WholeDump::Training))
    }

    /// The number of samples.
    pub fn len(&self) -> usize {
        match self {
            WholeDump::Rollout(dump) => dump.len(),
            WholeDump::Training(dump) => dump.len(),
        }
    }

    /// The keys of the storages of a sample.
    pub fn storages(&self, number: usize) -> Vec<&str> {
        match self {
            WholeDump::Rollout(dump) => dump.storages(number),
            WholeDump::Training(dump) => dump.storages(number),
        }
    }

    /// Reads a sample; `storages` are the bytes of its tensors.
    pub fn read_sample(&mut self, number: usize, storages: Storages<'_>, sink: &mut Sink<'_>) {
        match self {
            WholeDump::Rollout(dump) => dump.read_sample(number, storages, sink),
            WholeDump::Training(dump) => dump.read_sample(number, storages, sink),
        }
    }

    /// Reports what is not in the episodes.
    pub fn report(&self, count: usize, sink: &mut Sink<'_>) {
        match self {
            WholeDump::Rollout(dump) => dump.report(count, sink),
            WholeDump::Training(dump) => dump.report(count, sink),
        }
    }
}

/// A rollout dump whose pickle is read as a whole.
pub(in crate::import) struct RolloutDump {
    pickle: Unpickled,
    samples: Vec<PickledSample>,
    reader: SampleReader,
}

impl RolloutDump {
    /// Reads the pickle of a torch file; `None` if it is no rollout dump.
    pub fn of(bytes: &[u8]) -> Option<RolloutDump> {
        let pickle = volary_torch::read(bytes);
        if train_dump::Columns::of(&pickle).is_some() {
            return None;
        }
        Some(RolloutDump {
            samples: samples(&pickle)?,
            reader: SampleReader::new(step(&pickle), bytes.len()),
            pickle,
        })
    }

    /// The number of samples.
    pub fn len(&self) -> usize {
        self.samples.len()
    }

    /// The keys of the storages of a sample.
    pub fn storages(&self, number: usize) -> Vec<&str> {
        let sample = self.samples.get(number);
        sample.map_or_else(Vec::new, |sample| storages(&self.pickle.heap, sample.value))
    }

    /// Reads a sample; `storages` are the bytes of its tensors.
    pub fn read_sample(&mut self, number: usize, storages: Storages<'_>, sink: &mut Sink<'_>) {
        let heap = &self.pickle.heap;
        if let Some(sample) = self.samples.get(number) {
            self.reader.read(heap, *sample, number, storages, sink);
        }
    }

    /// Reports what is not in the episodes.
    pub fn report(&self, count: usize, sink: &mut Sink<'_>) {
        report_rollouts(count, &self.reader, sink);
        let error = self.pickle.error.as_ref();
        report_pickle(error, &self.pickle.placeholders, count, sink);
    }
}
