//! Bounds the memory of an import.
//!
//! A value takes many times the bytes of its text: `[],` is three bytes of JSON and 24 bytes of memory, and three bytes
//! of JSON compress to almost nothing. The limits of unpacking count bytes only, so a few small archives could fill
//! gigabytes. Invariants: the memory of a document is estimated before it is parsed, from above; all documents of an
//! import and the data that readers create in addition share one budget, which grows with the size of the given files.

use std::cell::Cell;
use std::rc::Rc;

use memchr::{memchr_iter, memchr3_iter};

/// The memory that any import may take, however small its files.
const ALWAYS: usize = 256 << 20;
/// The largest ratio of memory to given bytes. Files may unpack to a hundred times their size, and the values of messages
/// take up to four times their text. Token lists, the densest values of real files, take ten times, but do not compress
/// that well.
const MOST_RATIO: usize = 400;
/// The memory that no import may exceed, half of what can be addressed: an import is copied once when it is stored. In a
/// browser these are two gigabytes; natively only the ratio counts.
const MOST: usize = usize::MAX / 2;
/// The approximate memory of a value or key in addition to its text.
const VALUE: usize = 32;

/// The remaining memory of an import. Clones share it.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(super) struct Memory {
    left: Rc<Cell<usize>>,
    limit: usize,
}

/// The import would take too much memory.
#[derive(Clone, Debug, PartialEq, Eq, thiserror::Error)]
#[error(
    "It is not read: its values would take about {} MB of memory, and the files of one import may \
     take {} MB. Import fewer files at once; unpack a compressed file first, because the limit \
     grows with the size of the files; or divide the file.",
    .needed >> 20, .limit >> 20
)]
pub(crate) struct TooMuchMemory {
    needed: usize,
    limit: usize,
}

impl Memory {
    /// The memory of an import of files of this many bytes.
    pub fn of_given(bytes: usize) -> Memory {
        let limit = bytes.saturating_mul(MOST_RATIO).clamp(ALWAYS, MOST);
        Memory {
            left: Rc::new(Cell::new(limit)),
            limit,
        }
    }

    /// Takes this many bytes. Returns false, and takes nothing, if they do not fit.
    pub fn take(&self, bytes: usize) -> bool {
        let left = self.left.get().checked_sub(bytes);
        if let Some(left) = left {
            self.left.set(left);
        }
        left.is_some()
    }

    /// Takes what a JSON text will take when it is parsed.
    pub fn take_json(&self, text: &[u8]) -> Result<(), TooMuchMemory> {
        let needed = estimate(text);
        if self.take(needed) {
            Ok(())
        } else {
            Err(TooMuchMemory {
                needed,
                limit: self.limit,
            })
        }
    }
}

impl Default for Memory {
    fn default() -> Self {
        Memory::of_given(usize::MAX)
    }
}

/// The memory of a JSON text as values, from above: marks within strings count too.
fn estimate(text: &[u8]) -> usize {
    let marks = memchr3_iter(b',', b'[', b'{', text).count() + memchr_iter(b':', text).count();
    text.len() + marks * VALUE
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn clones_share_what_is_left() {
        let memory = Memory::of_given(0);
        let other = memory.clone();
        assert!(memory.take(ALWAYS - 1));
        assert!(!other.take(2));
        assert!(other.take(1));
    }

    #[test]
    fn the_limit_grows_with_the_files_up_to_a_maximum() {
        assert!(Memory::of_given(10 << 20).take(1000 << 20));
        assert!(!Memory::of_given(1 << 20).take(1000 << 20));
        assert!(Memory::of_given(1 << 20).take(400 << 20));
        assert!(Memory::of_given(usize::MAX).take(MOST));
        assert!(!Memory::of_given(usize::MAX).take(MOST + 1));
    }
}
