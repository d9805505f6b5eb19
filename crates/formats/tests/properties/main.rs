//! What always holds, tried with random values.
#![allow(clippy::unwrap_used, clippy::expect_used, clippy::panic)]

#[path = "../../../episode/tests/properties/details.rs"]
mod details;
#[path = "../../../episode/tests/properties/episodes.rs"]
mod episodes;
mod fields;
mod imports;
mod training_rows;
#[path = "../../../episode/tests/properties/values.rs"]
mod values;
