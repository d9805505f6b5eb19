//! Files that other tools wrote, where there are some: `TRAJECTORIES_DIR` says where.

use std::path::{Path, PathBuf};

use volary_trajectory::import::import;

use crate::{Shape, file, shape};

fn folder() -> Option<PathBuf> {
    let folder = std::env::var_os("TRAJECTORIES_DIR").map(PathBuf::from);
    if folder.is_none() {
        println!("TRAJECTORIES_DIR is not set: no real files are tried.");
    }
    folder
}

/// Episodes, and the sums of their steps, calls and rewards.
fn sums(path: &Path) -> (usize, Shape) {
    let outcome = import(&[file(path)]).unwrap();
    let mut sum = Shape(0, 0, 0, None);
    for one in outcome.episodes.iter().map(shape) {
        let reward = match (sum.3, one.3) {
            (Some(a), Some(b)) => Some(a + b),
            (a, b) => a.or(b),
        };
        sum = Shape(sum.0 + one.0, sum.1 + one.1, sum.2 + one.2, reward);
    }
    (outcome.episodes.len(), sum)
}

#[test]
fn real_files_have_what_their_tools_say() {
    let Some(folder) = folder() else {
        return;
    };
    for (name, episodes, expected) in [
        ("inspect-popularity.eval", 100, Shape(100, 0, 0, Some(63.0))),
        ("inspect-ais-decoder.eval", 1, Shape(9, 13, 10, Some(0.0))),
        ("inspect-chunked.eval", 1, Shape(1, 0, 0, Some(1.0))),
        ("atif-pass.json", 1, Shape(11, 12, 0, None)),
        ("atif-mini-swe.json", 1, Shape(3, 3, 0, None)),
        ("atif-openhands.json", 1, Shape(2, 2, 0, None)),
        ("mini-swe-local.json", 1, Shape(2, 2, 0, None)),
        ("openhands-sample.json", 1, Shape(3, 3, 0, None)),
        ("swe-agent-katy.traj", 1, Shape(18, 18, 19, None)),
        ("swe-agent-pydicom.traj", 1, Shape(12, 12, 13, None)),
        ("tau-few-shot-airline.jsonl", 19, Shape(222, 0, 0, None)),
        (
            "tau-gpt-4o-airline.json",
            200,
            Shape(2454, 1164, 0, Some(84.0)),
        ),
    ] {
        let path = folder.join(name);
        if path.exists() {
            assert_eq!(sums(&path), (episodes, expected), "{name}");
        } else {
            println!("{name} is not there.");
        }
    }
}

/// Every file that is there is understood, whatever it is.
#[test]
fn every_real_file_is_read() {
    let Some(folder) = folder() else {
        return;
    };
    for entry in std::fs::read_dir(folder).unwrap() {
        let path = entry.unwrap().path();
        if path.extension().is_some_and(|ending| ending == "md") || path.is_dir() {
            continue;
        }
        let outcome = import(&[file(&path)]);
        assert!(outcome.is_ok(), "{}: {:?}", path.display(), outcome.err());
    }
}
