//! Imports of files as other tools write them: small ones of our own making, damaged ones, and real ones
//! where there are some.
#![allow(missing_docs, clippy::unwrap_used, clippy::expect_used, clippy::panic)]

mod agents;
mod bad;
mod codex;
mod coding;
mod collected;
mod conventions;
mod exports;
mod fixtures;
mod frameworks;
mod hostile;
mod indexes;
mod mapped;
mod nemo_rl;
mod packed;
mod raw_filter;
mod real;
mod rllm;
mod rollout_calls;
mod runs;
mod samples;
mod sessions;
mod tinker;
mod tools;
mod trainer_corners;
mod trainer_rewards;
mod trainer_tokens;
mod trainer_versions;
mod trainers;
mod trl;
mod variants;
mod writers;

use std::path::Path;

use volary_episode::Episode;
use volary_formats::import::InputFile;

/// What a table shows first of an episode: steps, calls, frames, reward.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct Shape(pub usize, pub usize, pub usize, pub Option<f64>);

pub fn shape(episode: &Episode) -> Shape {
    Shape(
        episode.steps.len(),
        episode.calls(),
        episode.frames.len(),
        episode.reward(),
    )
}

pub fn file(path: &Path) -> InputFile {
    InputFile {
        name: path
            .file_name()
            .map(|name| name.to_string_lossy().into_owned()),
        bytes: std::fs::read(path).unwrap(),
    }
}

pub fn fixture(name: &str) -> InputFile {
    let folder = Path::new(env!("CARGO_MANIFEST_DIR")).join("tests/fixtures");
    file(&folder.join(name))
}
