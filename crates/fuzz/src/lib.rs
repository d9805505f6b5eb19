//! Damaged and hostile files for every importer: for any input, an import neither panics nor hangs nor uses
//! excessive memory, and its episodes can be written and read again.
//!
//! - `seeds`: valid files, by format. `tree`: JSON that need not be valid (duplicate keys, broken escapes).
//! - `mutate`: a seed to a case, derived from the format and a number. `bytes`: damage to bytes. `packing`:
//!   members of archives.
//! - `judge`: the properties of any input.
//! - `growth`: small files that expand, and what importing and showing them costs.
//!
//! `cargo xtask fuzz` runs millions of cases; the tests of this crate run some hundreds, and every file under
//! `tests/found/`, each of which once failed.

use cap::Cap;
use peak_alloc::PeakAlloc;

mod bytes;
pub mod growth;
pub mod judge;
pub mod mutate;
mod packing;
pub mod seeds;
mod tree;

/// Measures the peak memory.
pub(crate) static PEAK: PeakAlloc = PeakAlloc;

/// Counts the total allocation.
#[global_allocator]
pub(crate) static ALLOCATOR: Cap<PeakAlloc> = Cap::new(PeakAlloc, usize::MAX);
