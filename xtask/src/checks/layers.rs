//! Dependencies of crates point inward.

mod crates;
