//! What always holds, tried with random values.
#![allow(clippy::unwrap_used, clippy::expect_used, clippy::panic)]

mod align;
mod annotations;
mod search;
mod table;
#[expect(dead_code, reason = "the tests of volary-episode use the rest")]
#[path = "../../../episode/tests/properties/values.rs"]
mod values;
