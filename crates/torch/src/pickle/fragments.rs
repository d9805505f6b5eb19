//! Reads parts of a pickle, each to a value.
//!
//! A part may refer to values outside of it through the memo. These are read first, once each, and stay; the values of
//! a part are dropped when the next one is read. So memory is that of the longest part and the shared values.

use std::collections::BTreeMap;

use super::PickleError;
use super::machine::{Machine, Part};
use crate::heap::{Heap, Value};

/// The parts of a pickle.
#[derive(Clone, Debug, Default)]
pub struct Fragments {
    heap: Heap,
    /// The number of nodes of shared values, which are the first ones of the heap.
    shared: usize,
    /// The shared values.
    memo: BTreeMap<u64, Value>,
}

/// A part of a pickle.
#[derive(Clone, Debug, PartialEq)]
pub struct Fragment {
    /// Its value. After an error it contains what was complete.
    pub value: Value,
    /// Why it ended early.
    pub error: Option<PickleError>,
    /// The names that became objects, with their counts.
    pub placeholders: BTreeMap<String, usize>,
}

impl Fragments {
    /// The values of the last part, and the shared ones.
    pub fn heap(&self) -> &Heap {
        &self.heap
    }

    /// Reads a value that others refer to. It stays.
    pub fn share(&mut self, bytes: &[u8]) {
        self.run(bytes);
        self.shared = self.heap.len();
    }

    /// Reads a part. Its values are there until the next call.
    pub fn read(&mut self, bytes: &[u8]) -> Fragment {
        let part = self.run(bytes);
        for number in &part.numbers {
            self.memo.remove(number);
        }
        Fragment {
            value: part.value,
            error: part.error,
            placeholders: part.placeholders,
        }
    }

    fn run(&mut self, bytes: &[u8]) -> Part {
        let mut heap = std::mem::take(&mut self.heap);
        heap.truncate(self.shared);
        let mut part = Machine::within(bytes, heap, std::mem::take(&mut self.memo)).run_part();
        self.heap = std::mem::take(&mut part.heap);
        self.memo = std::mem::take(&mut part.memo);
        part
    }
}
