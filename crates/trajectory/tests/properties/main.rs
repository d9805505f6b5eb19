//! What always holds, tried with random values.
#![allow(clippy::unwrap_used, clippy::expect_used, clippy::panic)]

mod align;
mod annotations;
mod details;
mod diffs;
mod fields;
mod frames;
mod history;
mod imports;
mod native;
mod search;
mod share;
mod table;
mod training_rows;
mod values;
