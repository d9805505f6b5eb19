//! Files that somebody damaged, or made to break something, for every importer: whatever they hold, an
//! import neither panics nor hangs nor takes memory out of proportion, and what it gives can be written and
//! read again.
//!
//! - `seeds`: whole files, by format. `tree`: JSON that need not be right (keys twice, broken escapes).
//! - `mutate`: a seed to a case, which follows from the format and a number. `bytes`: damage to bytes. `packing`: members of archives.
//! - `judge`: what must hold of any input.
//! - `growth`: small files that become large, and what importing and showing them costs.
//!
//! `cargo xtask fuzz` runs millions; the tests of this crate some hundreds, and every file under
//! `tests/found/`, each of which once broke something.

use cap::Cap;
use peak_alloc::PeakAlloc;

mod bytes;
pub mod growth;
pub mod judge;
pub mod mutate;
mod packing;
pub mod seeds;
mod tree;

/// Counts the most memory that is taken at any time.
pub(crate) static PEAK: PeakAlloc = PeakAlloc;

/// Counts all that is allocated.
#[global_allocator]
pub(crate) static ALLOCATOR: Cap<PeakAlloc> = Cap::new(PeakAlloc, usize::MAX);
