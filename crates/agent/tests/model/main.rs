//! Wire formats: replies of every provider from `tests/fixtures`, split at every byte; requests by their rules.
#![allow(clippy::unwrap_used, clippy::expect_used, clippy::panic)]

mod contents;
mod cuts;
mod echoes;
mod faults;
mod fixtures;
mod golden;
mod histories;
mod keys;
mod parameters;
mod properties;
mod requests;
