//! Environments played by policies: the runner, rollouts, checks, scripts.
#![allow(clippy::unwrap_used, clippy::expect_used, clippy::panic)]

mod determinism;
mod draws;
mod recordings;
mod rollouts;
mod runners;
mod scripts;
mod stages;
