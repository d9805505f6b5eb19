//! Files that other tools wrote, where there are some: `TRAJECTORIES_DIR` says where.

use std::path::{Path, PathBuf};

use volary_core::json::Json;
use volary_formats::import::import;

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
fn real_files_match_their_tools() {
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

/// Dumps of trainers have as many episodes, and the mean reward, that the file of expected figures says.
#[test]
fn dumps_of_trainers_have_what_is_expected() {
    let Some(folder) = folder().map(|folder| folder.join("training")) else {
        return;
    };
    let Ok(text) = std::fs::read_to_string(folder.join("expected.json")) else {
        return println!("There are no dumps of trainers.");
    };
    let expected = Json::parse(&text).unwrap();
    let mut seen = 0;
    for (name, about) in expected.as_object().unwrap().iter() {
        let text = |key: &str| about.get(key).and_then(Json::as_text).cloned();
        let number = |key: &str| about.get(key).and_then(Json::as_f64);
        let known = [
            ("skyrl", "skyrl"),
            ("tinker", "tinker-cookbook"),
            ("verl", "verl"),
        ];
        let format = text("format").unwrap_or_default();
        let Some((_, reader)) = known.iter().find(|(known, _)| **known == *format) else {
            continue;
        };
        let outcome = import(&[file(&folder.join(&**name))]).unwrap();
        let episodes = &outcome.episodes;
        let source = episodes[0].source.as_ref().unwrap();
        assert_eq!(&*source.format, *reader, "{name}");
        assert_eq!(Some(episodes.len() as f64), number("samples"), "{name}");
        let sum: f64 = episodes
            .iter()
            .map(volary_episode::Episode::total_reward)
            .sum();
        let mean = sum / episodes.len() as f64;
        assert!(
            (mean - number("reward_mean").unwrap()).abs() < 1e-5,
            "{name}: {mean}"
        );
        if let Some(trained) = number("trained") {
            let output = episodes.iter().filter_map(|episode| episode.usage().output);
            assert_eq!(output.sum::<u64>() as f64, trained, "{name}");
        }
        let groups: std::collections::BTreeSet<_> = episodes
            .iter()
            .filter_map(|episode| Some(episode.task()?.id.clone()))
            .collect();
        if let Some(expected) = number("groups") {
            assert_eq!(groups.len() as f64, expected, "{name}");
        }
        seen += 1;
    }
    assert!(seen > 5, "{seen} dumps");
}
