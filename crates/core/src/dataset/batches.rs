//! Iterates over a dataset in batches.

use super::{DatasetError, TaskDataset};
use crate::environment::Environment;
use crate::random::Random;

/// The environments of a dataset in batches. A finite dataset returns each environment once, and its last batch may be
/// smaller; an endless one never ends.
pub struct Batches<'a> {
    dataset: &'a dyn TaskDataset,
    size: usize,
    /// The remaining indices; `None` for endless datasets.
    indices: Option<std::vec::IntoIter<usize>>,
}

impl<'a> Batches<'a> {
    /// Iterates over a dataset in batches of a size, which must not be zero. With a source of
    /// randomness a finite dataset is shuffled; it has no effect on an endless one.
    pub fn new(
        dataset: &'a dyn TaskDataset,
        size: usize,
        shuffle: Option<&mut Random>,
    ) -> Result<Self, DatasetError> {
        if size == 0 {
            return Err(DatasetError::EmptyBatches);
        }
        let indices = dataset.length().map(|length| {
            let mut indices: Vec<usize> = (0..length).collect();
            if let Some(random) = shuffle {
                random.shuffle(&mut indices);
            }
            indices.into_iter()
        });
        Ok(Batches {
            dataset,
            size,
            indices,
        })
    }
}

impl Iterator for Batches<'_> {
    type Item = Result<Vec<Box<dyn Environment>>, DatasetError>;

    fn next(&mut self) -> Option<Self::Item> {
        let Some(indices) = &mut self.indices else {
            return Some((0..self.size).map(|_| self.dataset.environment()).collect());
        };
        let batch: Vec<usize> = indices.take(self.size).collect();
        if batch.is_empty() {
            return None;
        }
        let environments = batch.into_iter();
        Some(
            environments
                .map(|index| self.dataset.environment_at(index))
                .collect(),
        )
    }
}
