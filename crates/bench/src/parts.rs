//! The parts of the benchmark, one per file.

pub mod behaviour;
pub mod codecs;
pub mod command;
pub mod environments;
pub mod evaluate;
pub mod first_load;
pub mod library;
pub mod long_episode;
pub mod python;
pub mod review;
pub mod school;
pub mod server;
pub mod streaming;
pub mod tau_bench;
pub mod tokens;
pub mod training;
