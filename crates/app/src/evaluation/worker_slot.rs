//! The work of one worker of an evaluation: the batches that it was sent, and the environments that it hosts for
//! models.
//!
//! Invariants:
//! - Each cell of a batch is reported once: as played, as returned, or with the loss of the worker.
//! - Events of an earlier worker of the slot, whose generation is over, change nothing.
//! - The time limit of a batch begins when it becomes the first one, and ends a worker once.

use std::collections::{BTreeSet, VecDeque};

use volary_core::json::Text;

/// Tells a worker of a slot from earlier ones.
pub type WorkerGeneration = u32;

/// The number of batches that a worker has queued, so that it continues while the page handles the results of one.
const AHEAD: usize = 3;
/// The divisor of a worker's share of the waiting cells that gives the size of a batch, so that batches get smaller at
/// the end.
const PART: usize = 2;
/// The maximum number of cells in a batch. A worker returns the cells that it could not begin in time.
const LARGEST: usize = 256;
/// The maximum of the minimum batch size: smaller batches cost more than they balance.
const SMALLEST: usize = 32;
/// The maximum number of cells in a batch on a server. They are played concurrently, and each may take long.
const ON_SERVER: usize = 4;

/// Divides the cells of an evaluation into batches.
#[derive(Clone, Copy, Debug)]
pub struct Batches {
    /// Whether the environments are on servers.
    is_remote: bool,
    /// The number of equal batches into which the waiting cells are divided.
    parts: usize,
    /// The minimum number of cells in a batch, except for the last one.
    least: usize,
}

impl Batches {
    /// Divides this number of cells among workers.
    pub fn new(is_remote: bool, cells: usize, workers: usize) -> Self {
        let parts = (workers * PART).max(1);
        // If there are few cells, each may take long.
        let least = cells.div_ceil(parts).clamp(1, SMALLEST);
        Batches {
            is_remote,
            parts,
            least,
        }
    }

    /// The number of batches that a worker has queued. If `careful`, it gets one cell at a time, so that it is known
    /// which cell breaks it.
    pub fn ahead(&self, careful: bool) -> usize {
        if careful || self.is_remote { 1 } else { AHEAD }
    }

    /// The size of the next batch when this number of cells wait. Batches get smaller at the end, so that all workers
    /// finish together.
    pub fn size(&self, careful: bool, waiting: usize) -> usize {
        match (careful, self.is_remote) {
            (true, _) => 1,
            (false, true) => ON_SERVER,
            (false, false) => waiting.div_ceil(self.parts).clamp(self.least, LARGEST),
        }
    }
}

/// A batch that was sent to a worker.
#[derive(Clone, Debug)]
struct SentBatch {
    number: u32,
    /// The remaining cells.
    cells: BTreeSet<usize>,
    /// The time limit in seconds. Requests to servers have a limit of their own.
    limit: Option<f64>,
}

/// A time limit that runs.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct Deadline {
    generation: WorkerGeneration,
    batch: u32,
    /// The limit in seconds, from now on.
    pub seconds: f64,
}

/// What was lost with a worker.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Lost {
    /// The cells of its batches.
    pub cells: BTreeSet<usize>,
    /// The ids of its environments on servers, which are to be closed without it.
    pub held: BTreeSet<Text>,
}

/// The work of the worker in a slot.
#[derive(Debug, Default)]
pub struct WorkerSlot {
    generation: WorkerGeneration,
    last_batch: u32,
    /// The queued batches; the first one is in progress.
    batches: VecDeque<SentBatch>,
    /// The number of model episodes' environments that the worker hosts.
    environments: usize,
    /// Ids of the environments that the worker holds on servers.
    held: BTreeSet<Text>,
    /// Why the last worker of this slot was lost.
    loss: String,
}

impl WorkerSlot {
    /// The generation of the current worker.
    pub fn generation(&self) -> WorkerGeneration {
        self.generation
    }

    /// The number of queued batches.
    pub fn queued(&self) -> usize {
        self.batches.len()
    }

    /// The number of environments that the worker hosts for models.
    pub fn environments(&self) -> usize {
        self.environments
    }

    /// Queues a batch. Returns its time limit if it begins at once.
    pub fn send(
        &mut self,
        cells: impl IntoIterator<Item = usize>,
        limit: Option<f64>,
    ) -> Option<Deadline> {
        self.last_batch = self.last_batch.wrapping_add(1);
        self.batches.push_back(SentBatch {
            number: self.last_batch,
            cells: cells.into_iter().collect(),
            limit,
        });
        match self.batches.len() {
            1 => self.deadline(),
            _ => None,
        }
    }

    /// Removes cells that were played or returned. Returns the time limit of the next batch, if one begins.
    pub fn tick_off(&mut self, cells: impl IntoIterator<Item = usize>) -> Option<Deadline> {
        let first = self.batches.front().map(|batch| batch.number);
        for cell in cells {
            let mut batches = self.batches.iter_mut();
            batches.any(|batch| batch.cells.remove(&cell));
        }
        while self
            .batches
            .front()
            .is_some_and(|batch| batch.cells.is_empty())
        {
            self.batches.pop_front();
        }
        let begun = self.batches.front().map(|batch| batch.number);
        (begun != first).then(|| self.deadline()).flatten()
    }

    fn deadline(&self) -> Option<Deadline> {
        let first = self.batches.front()?;
        Some(Deadline {
            generation: self.generation,
            batch: first.number,
            seconds: first.limit?,
        })
    }

    /// Lifts the time limits: the batches now wait for a person or a model, which may take long.
    pub fn lift_limits(&mut self) {
        self.batches.iter_mut().for_each(|batch| batch.limit = None);
    }

    /// Whether the batch of a time limit that has passed is still in progress.
    pub fn is_overdue(&self, deadline: &Deadline) -> bool {
        self.deadline().as_ref() == Some(deadline)
    }

    /// Whether the worker has no batch, so that another evaluation can use it. Its later events are for that one.
    pub fn give_away(&mut self) -> bool {
        let is_idle = self.batches.is_empty();
        if is_idle {
            self.generation = self.generation.wrapping_add(1);
        }
        is_idle
    }

    /// Ignores the events of the worker from now on.
    pub fn leave(&mut self) {
        self.generation = self.generation.wrapping_add(1);
    }

    /// Handles the loss of the worker.
    pub fn lose(&mut self, message: &str) -> Lost {
        message.clone_into(&mut self.loss);
        self.generation = self.generation.wrapping_add(1);
        let batches = std::mem::take(&mut self.batches);
        Lost {
            cells: batches.into_iter().flat_map(|batch| batch.cells).collect(),
            held: self.release(),
        }
    }

    /// Returns the environments on servers that the worker has not closed. They are returned once.
    pub fn release(&mut self) -> BTreeSet<Text> {
        std::mem::take(&mut self.held)
    }

    /// Notes that the worker opened an environment on a server.
    pub fn opened(&mut self, id: Text) {
        self.held.insert(id);
    }

    /// Notes that the worker closed an environment on a server.
    pub fn closed(&mut self, id: &Text) {
        self.held.remove(id);
    }

    /// Reserves an environment for a model. Returns the generation that hosts it.
    pub fn lease(&mut self) -> WorkerGeneration {
        self.environments += 1;
        self.generation
    }

    /// Gives an environment back. Returns whether its worker is the current one, which must close it.
    pub fn end_lease(&mut self, generation: WorkerGeneration) -> bool {
        self.environments = self.environments.saturating_sub(1);
        self.generation == generation
    }

    /// Whether the worker of an environment works; otherwise why it was lost.
    pub fn check(&self, generation: WorkerGeneration) -> Result<(), &str> {
        if self.generation == generation {
            Ok(())
        } else {
            Err(&self.loss)
        }
    }
}

#[cfg(test)]
mod tests;
