//! Runs a pickle, without executing anything.
//!
//! - `reader`: the bytes, with checked lengths.
//! - `machine`: the stack machine, one method per group of opcodes.
//! - `construct`: the values that `REDUCE`, `NEWOBJ` and `BUILD` construct for known names.
//! - `outline`: the byte ranges of the elements of a long list. `fragments`: such an element to a value.
//!
//! Invariants: there is no recursion, whatever the nesting; an opcode adds a bounded number of nodes;
//! a truncated pickle keeps the values that were complete.

mod construct;
mod fragments;
mod machine;
mod outline;
mod reader;

use std::collections::BTreeMap;

use crate::heap::{Heap, Value};
pub use fragments::{Fragment, Fragments};
pub use outline::Outline;

/// The result of a pickle.
#[derive(Clone, Debug)]
pub struct Unpickled {
    /// All values.
    pub heap: Heap,
    /// The pickled object. After an error it contains what was complete: open lists and dictionaries
    /// have the elements so far.
    pub root: Value,
    /// Why the pickle ended early.
    pub error: Option<PickleError>,
    /// The number of bytes read. A legacy file contains several pickles.
    pub length: usize,
    /// The names that became objects, with their counts.
    pub placeholders: BTreeMap<String, usize>,
}

/// Why a pickle cannot be read further.
#[derive(Clone, Debug, PartialEq, Eq, thiserror::Error)]
pub enum PickleError {
    /// The bytes end within the pickle.
    #[error("the pickle is truncated after {at} bytes")]
    Truncated {
        /// The length in bytes.
        at: usize,
    },
    /// An opcode that does not exist, or that refers to code outside of the file.
    #[error("byte {at} has the unsupported opcode {opcode:#04x}")]
    Opcode {
        opcode: u8,
        /// Its position.
        at: usize,
    },
    /// An opcode whose operands are missing or have the wrong type.
    #[error("byte {at}: {problem}")]
    Invalid {
        problem: &'static str,
        /// The position of the opcode.
        at: usize,
    },
}

/// Reads a pickle.
pub fn read(bytes: &[u8]) -> Unpickled {
    machine::Machine::new(bytes).run()
}

#[cfg(test)]
mod tests;
