//! Dumps of trainers: tokens, masks and streams. The figures of real files are those of `expected.json` in
//! `TRAJECTORIES_DIR`, computed without the code here; without that folder these tests print so and pass.

use std::collections::BTreeMap;
use std::path::PathBuf;

use volary_core::json::Json;
use volary_trajectory::Episode;
use volary_trajectory::import::{ImportOutcome, InputFile, import};
use volary_trajectory::token_record::TokenRecord;

use crate::{file, fixture};

/// The folder, and the figures of each of its files.
fn expected() -> Option<(PathBuf, Json)> {
    let folder = PathBuf::from(std::env::var_os("TRAJECTORIES_DIR")?).join("training");
    let text = std::fs::read_to_string(folder.join("expected.json")).ok()?;
    Some((folder, Json::parse(&text).unwrap()))
}

fn number(value: &Json, key: &str) -> Option<f64> {
    value.get(key).and_then(Json::as_f64)
}

fn text<'a>(value: &'a Json, key: &str) -> &'a str {
    value
        .get(key)
        .and_then(Json::as_text)
        .map_or("", |text| text)
}

fn metadata(episode: &Episode, key: &str) -> Option<f64> {
    episode.metadata.get(key).and_then(Json::as_f64)
}

/// The mean of a stream over the trained tokens.
fn mean(record: &TokenRecord, stream: &str) -> Option<f64> {
    let stream = record.strip.streams().get(stream)?;
    stream.figures(|token| record.is_trained(token)).mean
}

/// Means are rounded to six decimals.
fn assert_close(found: Option<f64>, expected: Option<f64>, what: &str) {
    let is_close = match (found, expected) {
        (Some(found), Some(expected)) => (found - expected).abs() < 1e-5,
        (found, expected) => found == expected,
    };
    assert!(is_close, "{what}: {found:?}, expected {expected:?}");
}

/// Compares counts of episodes, tokens, trained tokens, steps and groups, and the mean reward.
fn assert_sums(name: &str, episodes: &[Episode], expected: &Json) {
    assert_eq!(
        Some(episodes.len() as f64),
        number(expected, "samples"),
        "{name}"
    );
    let records = episodes
        .iter()
        .filter_map(|episode| episode.tokens.as_ref());
    let (mut tokens, mut trained) = (0, 0);
    for record in records {
        tokens += record.strip.len();
        trained += record.strip.trained();
    }
    if let Some(expected) = number(expected, "tokens") {
        assert_eq!(tokens as f64, expected, "tokens of {name}");
    }
    if let Some(expected) = number(expected, "trained") {
        assert_eq!(trained as f64, expected, "trained tokens of {name}");
    }
    if let Some(expected) = number(expected, "reward_mean") {
        let rewards: Vec<f64> = episodes.iter().filter_map(Episode::reward).collect();
        let mean = rewards.iter().sum::<f64>() / rewards.len() as f64;
        assert_close(Some(mean), Some(expected), name);
    }
    if let Some(expected) = number(expected, "groups") {
        let groups = episodes.iter().map(|episode| {
            let text = |key| episode.metadata.get(key).map(Json::to_display);
            (text("step"), text("group"))
        });
        let groups: std::collections::BTreeSet<_> = groups.collect();
        assert_eq!(groups.len() as f64, expected, "groups of {name}");
    }
    if let Some(Json::List(steps)) = expected.get("steps") {
        let found: BTreeMap<i64, ()> = episodes
            .iter()
            .filter_map(|episode| Some((metadata(episode, "step")? as i64, ())))
            .collect();
        let found: Vec<Json> = found.into_keys().map(Json::from).collect();
        assert_eq!(&found, steps, "steps of {name}");
    }
}

/// Compares an episode with its row.
fn assert_row(name: &str, episode: &Episode, row: &Json, logprob: &str) {
    let what = format!("{name}, {}", row.get("key").unwrap().to_display());
    let record = episode.tokens.as_ref();
    let count = |count: fn(&TokenRecord) -> usize| record.map(|record| count(record) as f64);
    if row.get("tokens").is_some() {
        assert_eq!(count(|it| it.strip.len()), number(row, "tokens"), "{what}");
    }
    if row.get("trained").is_some() {
        assert_eq!(
            count(|it| it.strip.trained()),
            number(row, "trained"),
            "{what}"
        );
    }
    if row.get("mean_logprob").is_some() {
        let found = record.and_then(|record| mean(record, logprob));
        assert_close(found, number(row, "mean_logprob"), &what);
    }
    for key in ["step", "sample"] {
        if let Some(expected) = number(row, key) {
            assert_eq!(metadata(episode, key), Some(expected), "{key} of {what}");
        }
    }
    if row.get("reward").is_some() {
        assert_close(episode.reward(), number(row, "reward"), &what);
    }
}

fn of_format<'a>(
    expected: &'a Json,
    formats: &'a [&str],
) -> impl Iterator<Item = (&'a str, &'a Json, &'a [Json])> {
    let files = expected.as_object().unwrap().iter();
    files
        .filter(|(_, about)| formats.contains(&text(about, "format")))
        .map(|(name, about)| {
            let rows = about.get("rows").and_then(Json::as_list);
            (name.as_ref(), about, rows.unwrap_or_default())
        })
}

fn lost(outcome: &ImportOutcome) -> Vec<&str> {
    use volary_trajectory::import::NoteLevel::Unreadable;
    let notes = outcome.notes.iter();
    notes
        .filter(|note| note.level == Unreadable)
        .map(|note| &*note.text)
        .collect()
}

fn stream(episode: &Episode, name: &str) -> Vec<Option<f64>> {
    let record = episode.tokens.as_ref().unwrap();
    let stream = record.strip.streams().get(name);
    stream
        .map(|stream| stream.iter().skip(record.prompt).collect())
        .unwrap_or_default()
}

/// A training dump of version 2: views of shared storages, a stride of 0, NaN, and a stream that is too short. Its second
/// sample has other tokens than the rollout.
#[test]
fn a_training_dump_joins_samples_with_equal_tokens_only() {
    let outcome = import(&[fixture("slime-train.pt"), fixture("slime-rollout.pt")]).unwrap();
    assert_eq!(outcome.episodes.len(), 2);
    let [first, second] = outcome.episodes.as_slice() else {
        panic!("{:?}", outcome.notes)
    };
    assert_eq!(
        stream(first, "rollout_log_probs"),
        [Some(-0.25), Some(-0.5), None]
    );
    assert_eq!(
        stream(first, "log_probs"),
        [Some(-0.375), Some(-0.75), None]
    );
    assert_eq!(stream(first, "advantages"), [Some(1.5); 3]);
    let entropy = stream(first, "entropy");
    assert_eq!((entropy[0], entropy[2]), (Some(0.125), None));
    assert!(entropy[1].is_some_and(f64::is_nan));
    let record = first.tokens.as_ref().unwrap();
    let entropy = record.strip.streams()["entropy"].figures(|token| record.is_trained(token));
    assert_eq!((entropy.mean, entropy.not_finite), (Some(0.125), 1));
    assert_eq!(stream(second, "log_probs"), []);
    let lost = lost(&outcome).join(" ");
    assert!(lost.contains("`kl` has 2 values for 3 tokens"), "{lost}");
    assert!(
        lost.contains("The training data of 1 sample is left out"),
        "{lost}"
    );
}

#[test]
fn a_training_dump_of_version_1_has_a_file_for_each_rank() {
    let train = fixture("slime-train-v1.pt");
    let outcome = import(&[fixture("slime-rollout.pt"), train.clone()]).unwrap();
    let first = &outcome.episodes[0];
    assert_eq!(
        stream(first, "log_probs"),
        [Some(-0.375), Some(-0.75), None]
    );
    // Context parallelism divides a response among ranks.
    let lost = lost(&outcome);
    assert_eq!(
        lost,
        ["A stream is left out: `ref_log_probs` has 2 values for 3 tokens."]
    );
    // Without the rollout there are tokens, and no messages.
    let outcome = import(&[train]).unwrap();
    let [alone] = outcome.episodes.as_slice() else {
        panic!("{:?}", outcome.notes)
    };
    assert_eq!(&*alone.name, "Step 3, sample 0, training data");
    assert_eq!(alone.tokens.as_ref().unwrap().strip.len(), 6);
    assert_eq!(
        stream(alone, "log_probs"),
        [Some(-0.375), Some(-0.75), None]
    );
}

#[test]
fn a_sample_that_was_removed_trains_nothing_and_nan_is_no_reward() {
    let sample = r#"{"index": 4, "group_index": 1, "prompt": "Q", "response": "A", "tokens": [1, 2, 3], "response_length": 2, "loss_mask": null, "rollout_log_probs": [-0.5, NaN], "reward": NaN, "status": "aborted", "remove_sample": true}"#;
    let input = InputFile {
        name: Some("samples.json".to_owned()),
        bytes: sample.into(),
    };
    let episode = import(&[input]).unwrap().episodes.remove(0);
    let record = episode.tokens.as_ref().unwrap();
    assert_eq!((record.strip.trained(), record.prompt), (0, 1));
    assert_eq!(episode.reward(), None);
    assert_eq!(metadata(&episode, "group"), Some(1.0));
}

#[test]
fn rollout_dumps_of_slime() {
    let Some((folder, expected)) = expected() else {
        return println!("There are no dumps of trainers.");
    };
    for (name, about, rows) in of_format(&expected, &["slime-rollout"]) {
        let outcome = import(&[file(&folder.join(name))]).unwrap();
        assert_eq!(lost(&outcome), Vec::<&str>::new(), "{name}");
        assert_sums(name, &outcome.episodes, about);
        for (episode, row) in outcome.episodes.iter().zip(rows) {
            assert_row(name, episode, row, "rollout_log_probs");
            let record = episode.tokens.as_ref().unwrap();
            assert_eq!(metadata(episode, "sample"), number(row, "key"), "{name}");
            assert_eq!(metadata(episode, "group"), number(row, "group"), "{name}");
            assert_eq!(
                Some(record.prompt as f64),
                number(row, "prompt_tokens"),
                "{name}"
            );
            assert_eq!(
                episode.outcome.as_deref(),
                Some(text(row, "status")),
                "{name}"
            );
            let mut versions = episode.metadata.get("weight_versions").cloned().unwrap();
            if let Json::List(versions) = &mut versions {
                versions.dedup();
            }
            assert_eq!(Some(&versions), row.get("weight_versions"), "{name}");
            assert!(record.is_divided, "{name}");
        }
    }
}

#[test]
fn training_dumps_of_slime_join_their_rollouts() {
    let Some((folder, expected)) = expected() else {
        return println!("There are no dumps of trainers.");
    };
    for (name, about, rows) in of_format(&expected, &["slime-train"]) {
        let train = file(&folder.join(name));
        let alone = import(std::slice::from_ref(&train)).unwrap();
        assert_eq!(lost(&alone), Vec::<&str>::new(), "{name}");
        assert_sums(name, &alone.episodes, about);
        let rollout = file(&folder.join(name.replace("train_data", "rollout_data")));
        let both = import(&[train, rollout]).unwrap();
        assert_eq!(lost(&both), Vec::<&str>::new(), "{name}");
        assert_eq!(both.episodes.len(), rows.len());
        for (episodes, is_joined) in [(&alone.episodes, false), (&both.episodes, true)] {
            for row in rows {
                let is_it = |episode: &&Episode| metadata(episode, "sample") == number(row, "key");
                let episode = episodes.iter().find(is_it).unwrap();
                assert_row(name, episode, row, "rollout_log_probs");
                assert_eq!(is_joined, !episode.steps.is_empty());
                let record = episode.tokens.as_ref().unwrap();
                for (stream, expected) in row.get("means").unwrap().as_object().unwrap().iter() {
                    assert_close(mean(record, stream), expected.as_f64(), stream);
                }
                let normalised = episode
                    .metadata
                    .get("training_data")
                    .and_then(|it| it.get("normalised_reward"));
                assert_close(
                    normalised.and_then(Json::as_f64),
                    number(row, "normalised"),
                    name,
                );
            }
        }
    }
}
