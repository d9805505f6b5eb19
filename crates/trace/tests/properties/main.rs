//! What always holds, tried with random values.
#![allow(clippy::unwrap_used, clippy::expect_used, clippy::panic)]

mod diffs;
mod frames;
mod imports;
mod native;
mod share;
mod values;
