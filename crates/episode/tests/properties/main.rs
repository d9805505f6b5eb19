//! What always holds, tried with random values.
#![allow(clippy::unwrap_used, clippy::expect_used, clippy::panic)]

mod details;
mod diffs;
mod episodes;
mod frames;
mod history;
mod native;
mod share;
mod values;
