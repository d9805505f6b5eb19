//! Dumps of trainers: tokens, masks and streams. The figures of real files are those of `expected.json` in
//! `TRAJECTORIES_DIR`, computed without the code here; without that folder these tests print so and pass.

use std::collections::BTreeMap;
use std::path::{Path, PathBuf};
use std::sync::Arc;

use volary_analysis::table::groups::{GroupBy, Grouping, SUCCESS};
use volary_analysis::table::{Column, Row};
use volary_analysis::training::advantage::AdvantageRule;
use volary_analysis::training::{Catalog, Measure, TrainingRun};
use volary_core::json::Json;
use volary_episode::Episode;
use volary_episode::token_record::TokenRecord;
use volary_formats::import::{ImportOutcome, InputFile, import};

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
    use volary_formats::import::NoteLevel::Unreadable;
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

/// Two samples that were cut from one rollout have the same index.
#[test]
fn samples_with_one_index_are_joined_by_their_positions() {
    let files = ["slime-siblings-train.pt", "slime-siblings.pt"].map(fixture);
    let outcome = import(&files).unwrap();
    assert_eq!(lost(&outcome), [""; 0]);
    let lengths = outcome.episodes.iter().map(|episode| {
        let record = episode.tokens.as_ref().unwrap();
        (record.strip.len(), stream(episode, "log_probs").len())
    });
    assert_eq!(lengths.collect::<Vec<_>>(), [(6, 2), (7, 3), (10, 4)]);
}

/// Version 1 names no positions, and its ranks have the samples of a rollout in any order.
#[test]
fn samples_with_one_index_and_no_position_are_joined_by_their_tokens() {
    let shards = ["slime-siblings-v1-0.pt", "slime-siblings-v1-1.pt"].map(fixture);
    let mut files = shards.to_vec();
    // Another rank may have the same data.
    files.extend(shards);
    files.push(fixture("slime-siblings.pt"));
    let outcome = import(&files).unwrap();
    assert_eq!(lost(&outcome), [""; 0]);
    let advantages = outcome.episodes.iter().map(|it| stream(it, "advantages"));
    let expected = [vec![Some(0.0); 2], vec![Some(1.0); 3], vec![Some(2.0); 4]];
    assert_eq!(advantages.collect::<Vec<_>>(), expected);
}

/// Trainers count the reward of a rollout once, however many samples were cut from it.
#[test]
fn samples_of_one_rollout_count_once() {
    let outcome = import(&[fixture("slime-siblings.pt")]).unwrap();
    let rows = outcome.episodes.iter().map(|it| Row::of(it, Vec::new()));
    let rows: Vec<Arc<Row>> = rows.map(Arc::new).collect();
    let run = TrainingRun::of(&rows, None);
    assert_eq!(run.samples.len(), 3);
    assert_eq!(run.steps[0].groups[0].reward.count, 2);
    let by = GroupBy::columns(&[Column::Task]).unwrap();
    let mut grouping = Grouping::new(by, SUCCESS);
    rows.iter().for_each(|row| grouping.add(row));
    let groups = grouping.done();
    let [group] = groups.as_slice() else {
        panic!("{} groups", groups.len())
    };
    assert_eq!((group.rows.len(), group.rewards.len()), (3, 2));
}

#[test]
fn copies_of_other_ranks_are_left_out() {
    let mut copy = fixture("slime-train-v1.pt");
    copy.name = Some("3_1.pt".to_owned());
    let outcome = import(&[fixture("slime-train-v1.pt"), copy]).unwrap();
    assert_eq!(outcome.episodes.len(), 1);
    let said = "Copies that other ranks wrote are left out: 1 sample.";
    assert!(outcome.notes.iter().any(|note| *note.text == *said));
}

/// `--save-debug-rollout-data rollout_{rollout_id}.pt` makes `rollout_eval_3.pt` of an evaluation.
#[test]
fn evaluations_are_not_joined_with_training_data() {
    let mut evaluation = fixture("slime-rollout.pt");
    evaluation.name = Some("run/rollout_eval_3.pt".to_owned());
    let mut rollouts = fixture("slime-rollout.pt");
    rollouts.name = Some("run/rollout_3.pt".to_owned());
    let outcome = import(&[fixture("slime-train.pt"), rollouts, evaluation]).unwrap();
    let [first, _, other, _] = outcome.episodes.as_slice() else {
        panic!("{:?}", outcome.notes)
    };
    assert_eq!(stream(first, "advantages"), [Some(1.5); 3]);
    assert_eq!(stream(other, "advantages"), []);
    let split = |episode: &Episode| episode.metadata.get("split").cloned();
    assert_eq!(split(first), None);
    assert_eq!(split(other), Some("eval".into()));
}

/// The number of the step may be anywhere in `--save-debug-rollout-data`.
#[test]
fn the_path_of_a_dump_says_whether_it_is_of_an_evaluation() {
    for (name, is_evaluation) in [
        ("run/eval_3/samples.pt", true),
        ("run/stepeval_3.pt", true),
        ("run/debug.eval_3.pt", true),
        ("run/3/samples.pt", false),
        ("run/retrieval_3.pt", false),
        ("eval_1/rollout_data/3.pt", false),
    ] {
        let mut dump = fixture("slime-rollout.pt");
        dump.name = Some(name.to_owned());
        let outcome = import(&[fixture("slime-train.pt"), dump]).unwrap();
        let first = &outcome.episodes[0];
        let split = first.metadata.get("split").cloned();
        assert_eq!(split, is_evaluation.then(|| "eval".into()), "{name}");
        assert_eq!(
            stream(first, "advantages").is_empty(),
            is_evaluation,
            "{name}"
        );
    }
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

/// Samples as pickled objects, after a missing one, in two protocols: with `__slots__`, a model of pydantic, and a subclass of
/// `dict`. Their lists are subclasses of `list`, arrays of Python, and mixed from numbers, tensors and `None`.
#[test]
fn samples_of_any_class_are_read() {
    for name in ["slime-objects-2.pt", "slime-objects-4.pt"] {
        let outcome = import(&[fixture(name)]).unwrap();
        let [first, second, third] = outcome.episodes.as_slice() else {
            panic!("{name}: {:?}", outcome.notes)
        };
        for (number, episode) in outcome.episodes.iter().enumerate() {
            let record = episode.tokens.as_ref().unwrap();
            assert_eq!(record.strip.ids(), [5, 6, 7 + number as u32, 8], "{name}");
            assert_eq!(record.strip.mask(), [false, true, false, true], "{name}");
            assert_eq!(metadata(episode, "step"), Some(3.0), "{name}");
            let sample = episode.metadata.get("sample");
            assert_eq!(sample, Some(&(number as i64).into()), "{name}");
        }
        let logprobs = [Some(-0.5), None, Some(-0.25)];
        for episode in [second, third] {
            assert_eq!(stream(episode, "rollout_log_probs"), logprobs, "{name}");
        }
        let gap = [None, None, Some(-0.25)];
        assert_eq!(stream(first, "rollout_log_probs"), gap, "{name}");
        assert_eq!(first.reward(), Some(0.25), "{name}");
        assert_eq!(first.outcome.as_deref(), Some("truncated"), "{name}");
        let expected = [
            ("seed", "4611686018427387905"),
            ("big", "18446744073709551615"),
            ("names", r#"["desk", "\u00e9"]"#),
            ("raw", r#"["ab", "c"]"#),
            ("device", r#""cuda:1""#),
            ("lone", r#""a\ufffdb""#),
            ("at", r#""2026-01-02T03:04:05.000000-03:30""#),
        ];
        for (key, text) in expected {
            let found = first.metadata.get(key).map(Json::to_python_text);
            assert_eq!(found.as_deref(), Some(text), "{name}: {key}");
        }
    }
}

#[test]
fn a_removed_sample_trains_nothing_and_nan_is_not_a_reward() {
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

/// Reads the files of one format, each by itself, and compares sums and rows. Episodes and rows have the same order.
fn assert_format(format: &str, logprob: &str, more: fn(&str, &Episode, &Json)) {
    let Some((folder, expected)) = expected() else {
        return println!("There are no dumps of trainers.");
    };
    let mut files = 0;
    for (name, about, rows) in of_format(&expected, &[format]) {
        let outcome = import(&[file(&folder.join(name))]).unwrap();
        assert_eq!(lost(&outcome), Vec::<&str>::new(), "{name}");
        assert_sums(name, &outcome.episodes, about);
        for (episode, row) in outcome.episodes.iter().zip(rows) {
            assert_row(name, episode, row, logprob);
            more(name, episode, row);
        }
        files += 1;
    }
    assert!(files > 0, "no files of {format}");
}

fn assert_mean(name: &str, episode: &Episode, stream: &str, row: &Json, key: &str) {
    if row.get(key).is_some() {
        let record = episode.tokens.as_ref();
        let found = record.and_then(|record| mean(record, stream));
        assert_close(found, number(row, key), &format!("{key} of {name}"));
    }
}

/// The number of messages, those of several results of tools counted each.
fn messages(episode: &Episode) -> usize {
    episode.messages().count()
}

#[test]
fn nemo_rl() {
    assert_format("nemo-rl", "generation_logprobs", |name, episode, row| {
        assert_eq!(
            Some(messages(episode) as f64),
            number(row, "messages"),
            "{name}"
        );
        assert_mean(name, episode, "prev_logprobs", row, "mean_prev_logprob");
        assert_mean(name, episode, "advantages", row, "advantage");
        assert_eq!(
            metadata(episode, "sample_loss_mask"),
            number(row, "sample_mask")
        );
    });
}

#[test]
fn open_instruct() {
    assert_format("open-instruct", "", |name, episode, row| {
        let record = episode.tokens.as_ref().unwrap();
        assert!(!record.is_mask_known);
        assert_eq!(
            Some((record.strip.len() - record.prompt) as f64),
            number(row, "response")
        );
        let logprobs = record.strip.streams().get("logprobs");
        let all = logprobs.and_then(|stream| stream.figures(|token| token >= record.prompt).mean);
        assert_close(all, number(row, "mean_logprob_all_response"), name);
        assert_close(
            metadata(episode, "advantage"),
            number(row, "advantage"),
            name,
        );
        assert_eq!(episode.outcome.as_deref(), Some(text(row, "status")));
    });
}

#[test]
fn token_exports_of_prime_rl() {
    assert_format(
        "prime-rl-token-export",
        "inference_logprobs",
        |name, episode, row| {
            assert_mean(name, episode, "advantages", row, "mean_advantage");
            assert_mean(
                name,
                episode,
                "trainer_logprobs",
                row,
                "mean_trainer_logprob",
            );
            assert_mean(name, episode, "entropy", row, "mean_entropy");
        },
    );
}

#[test]
fn batches_of_prime_rl() {
    assert_format(
        "prime-rl-rank",
        "inference_logprobs",
        |name, episode, row| {
            assert_mean(name, episode, "advantages", row, "mean_advantage");
            assert_eq!(
                episode.environment.as_deref(),
                Some(text(row, "environment"))
            );
        },
    );
}

#[test]
fn rllm() {
    assert_format("rllm", "logprobs", |name, episode, row| {
        assert_eq!(
            Some(messages(episode) as f64),
            number(row, "messages"),
            "{name}"
        );
        assert_eq!(episode.outcome.as_deref(), Some(text(row, "status")));
    });
}

#[test]
fn rollouts_of_verifiers_v0() {
    assert_format("verifiers-v0", "logprobs", |name, episode, row| {
        assert_eq!(
            Some(messages(episode) as f64),
            number(row, "messages"),
            "{name}"
        );
        assert_eq!(episode.outcome.as_deref(), Some(text(row, "status")));
    });
}

/// What traces have in addition: the tokens that are content, the messages, parts of the reward.
fn assert_trace(name: &str, episode: &Episode, row: &Json) {
    let record = episode.tokens.as_ref().unwrap();
    let content = record.strip.streams()["is_content"].iter();
    let content = content.filter(|value| *value == Some(1.0)).count();
    assert_eq!(Some(content as f64), number(row, "content"), "{name}");
    assert_eq!(
        Some(messages(episode) as f64),
        number(row, "messages"),
        "{name}"
    );
    let group = episode.metadata.get("group").and_then(Json::as_text);
    assert_eq!(
        group.map_or("", |group| group),
        text(row, "group"),
        "{name}"
    );
    assert_eq!(
        episode.outcome.as_deref(),
        Some(text(row, "status")),
        "{name}"
    );
    assert_mean(name, episode, "advantages", row, "mean_advantages");
}

#[test]
fn traces_of_verifiers() {
    assert_format("verifiers-traces", "logprobs", assert_trace);
}

/// The files of a monitor, in chunks, belong together.
#[test]
fn traces_of_a_monitor_and_their_annotations() {
    let Some((folder, expected)) = expected() else {
        return println!("There are no dumps of trainers.");
    };
    for (name, about, rows) in of_format(&expected, &["prime-rl-monitor"]) {
        let outcome = import(&below(&folder.join(name))).unwrap();
        assert_eq!(lost(&outcome), Vec::<&str>::new(), "{name}");
        assert_sums(name, &outcome.episodes, about);
        for row in rows {
            let key = row.get("key").and_then(Json::as_list).unwrap();
            let (trace, branch) = (key[0].as_text().unwrap(), key[1].as_i64().unwrap());
            let id = match branch {
                0 => trace.to_string(),
                branch => format!("{trace}-branch-{}", branch + 1),
            };
            let episode = outcome
                .episodes
                .iter()
                .find(|episode| *episode.id == *id)
                .unwrap();
            assert_row(name, episode, row, "logprobs");
            assert_trace(name, episode, row);
            for stream in ["trainer_logprobs", "entropies", "is_masked"] {
                assert_mean(name, episode, stream, row, &format!("mean_{stream}"));
            }
            assert_close(
                metadata(episode, "advantage"),
                number(row, "advantage"),
                name,
            );
            assert_eq!(
                metadata(episode, "ship_step"),
                number(row, "ship_step"),
                "{name}"
            );
        }
    }
}

/// All files below a folder, with their paths.
fn below(folder: &Path) -> Vec<InputFile> {
    let mut files = Vec::new();
    for entry in std::fs::read_dir(folder).unwrap() {
        let path = entry.unwrap().path();
        if path.is_dir() {
            files.extend(below(&path));
        } else {
            let mut read = file(&path);
            read.name = Some(path.to_string_lossy().trim_start_matches('/').to_owned());
            files.push(read);
        }
    }
    files.sort_by(|one, other| one.name.cmp(&other.name));
    files
}

fn only(name: &str, text: &str) -> Episode {
    let file = InputFile {
        name: Some(name.to_owned()),
        bytes: text.into(),
    };
    import(&[file]).unwrap().episodes.remove(0)
}

#[test]
fn padded_arrays_of_nemo_rl_are_cut() {
    let episode = only(
        "train_data_step4.jsonl",
        r#"{"content": [["<|im_start|>user\nHi<|im_end|>\n", "<|im_start|>assistant\nHo<|im_end|>\n"]], "rewards": [0.5], "input_lengths": [4], "token_ids": [[1, 2, 3, 4, 0, 0]], "token_loss_mask": [[0, 0, 1, 1, 0, 0]], "sample_loss_mask": [1.0], "advantages": [[2.0, 2.0, 2.0, 2.0, 2.0, 2.0]], "generation_logprobs": [[0.0, 0.0, -0.5, NaN, 0.0, 0.0]], "idx": 3}"#,
    );
    let record = episode.tokens.as_ref().unwrap();
    assert_eq!((record.strip.len(), record.strip.trained()), (4, 2));
    assert_eq!(stream(&episode, "advantages"), [Some(2.0), Some(2.0)]);
    let logprobs = record.strip.streams()["generation_logprobs"].figures(|_| true);
    assert_eq!((logprobs.count, logprobs.not_finite), (1, 1));
    assert_eq!((messages(&episode), episode.steps.len()), (2, 1));
    assert_eq!(
        (metadata(&episode, "step"), metadata(&episode, "sample")),
        (Some(4.0), Some(3.0))
    );
}

#[test]
fn a_sample_that_nemo_rl_left_out_keeps_the_mask_of_its_tokens() {
    let line = r#"{"rewards": [0.5], "input_lengths": [3], "token_ids": [[1, 2, 3, 0]], "token_loss_mask": [[0, 1, 1, 0]], "sample_loss_mask": [0.0], "advantages": [[2.0, 2.0, 2.0, 2.0]], "idx": 3}"#;
    let file = InputFile {
        name: Some("train_data_step4.jsonl".to_owned()),
        bytes: line.into(),
    };
    let outcome = import(&[file]).unwrap();
    let [episode] = outcome.episodes.as_slice() else {
        panic!("{:?}", outcome.notes);
    };
    let record = episode.tokens.as_ref().unwrap();
    assert!(record.is_mask_known);
    assert_eq!((record.strip.len(), record.strip.trained()), (3, 2));
    assert_eq!(record.prompt, 1);
    assert_eq!(metadata(episode, "sample_loss_mask"), Some(0.0));
    let is_told = |note: &volary_formats::import::Note| note.text.contains("left out of the loss");
    assert!(outcome.notes.iter().any(is_told), "{:?}", outcome.notes);
}

#[test]
fn open_instruct_has_an_unknown_mask() {
    let episode = only(
        "run_rollouts_000000.jsonl",
        r#"{"step": 2, "sample_idx": 1, "prompt_idx": 0, "prompt_tokens": [1, 2], "response_tokens": [3, 4], "reward": 0.0, "advantage": -1.0, "finish_reason": "length", "dataset": "d", "logprobs": [-0.5, 0.0]}"#,
    );
    let record = episode.tokens.as_ref().unwrap();
    assert_eq!(
        (record.is_mask_known, record.prompt, record.counts().trained),
        (false, 2, None)
    );
    // Without a mask, 0 is a value.
    assert_eq!(stream(&episode, "logprobs"), [Some(-0.5), Some(0.0)]);
    assert_eq!(episode.reward(), Some(0.0));
}

#[test]
fn a_token_export_has_arrays_over_all_tokens() {
    let episode = only(
        "rank_0.jsonl",
        r#"{"schema_version": 1, "step": 5, "rank": 0, "micro_step": 0, "micro_sequence_idx": 1, "export_sequence_idx": 1, "env_name": "desk", "token_ids": [1, 2, 3], "position_ids": [0, 1, 2], "loss_mask": [false, true, true], "advantages": [0.0, 1.0, 1.0], "entropy": [null, 0.5, 0.25], "new_figure": [0, 7, 0], "short": [1.0]}"#,
    );
    assert_eq!(stream(&episode, "new_figure"), [Some(7.0), Some(0.0)]);
    assert_eq!(stream(&episode, "entropy"), [Some(0.5), Some(0.25)]);
    let misfits = &episode.tokens.as_ref().unwrap().misfits;
    assert_eq!(misfits[0].to_string(), "`short` has 1 values for 3 tokens");
}

#[test]
fn calls_of_rllm_are_joined() {
    let episode = only(
        "episode_000000_t_0.json",
        r#"{"id": "t:0", "termination_reason": "env_done", "is_correct": true, "trajectories": [{"uid": "u", "name": "desk", "reward": 1.0, "steps": [{"prompt_ids": [1], "response_ids": [2], "logprobs": [-0.5], "weight_version": 1, "chat_completions": [{"role": "user", "content": "Hi"}, {"role": "assistant", "content": "Ho"}]}, {"prompt_ids": [1, 2, 3], "response_ids": [4], "logprobs": [-0.25], "weight_version": 2, "chat_completions": [{"role": "user", "content": "Hi"}, {"role": "assistant", "content": "Ho"}, {"role": "user", "content": "So"}, {"role": "assistant", "content": "No"}]}]}], "metrics": {}}"#,
    );
    assert_eq!(
        stream(&episode, "logprobs"),
        [Some(-0.5), None, Some(-0.25)]
    );
    assert_eq!((messages(&episode), episode.reward()), (4, Some(1.0)));
    let versions = episode
        .metadata
        .get("weight_versions")
        .and_then(Json::as_list);
    assert_eq!(versions.map(<[Json]>::len), Some(2));
}

#[test]
fn annotations_fill_the_messages_that_they_cover() {
    let trace = r#"{"id": "e", "env": {"id": "x"}, "task": {"key": "k"}, "group": {"id": "g"}, "run": {"work": {"type": "train", "step": 3, "policy": {"start": 1, "end": 2}}}, "ok": true, "traces": [{"id": "t", "task": {"key": "k"}, "agent": {"name": "a"}, "rewards": {"r": {"score": 1.0, "weight": 0.5}}, "nodes": [{"message": {"role": "user", "content": "Hi"}, "sampled": false, "token_ids": [1, 2], "mask": [false, false]}, {"parent": 0, "message": {"role": "assistant", "content": "Ho"}, "sampled": true, "token_ids": [3, 4], "mask": [false, true], "logprobs": [-0.5]}, {"parent": 1, "message": {"role": "assistant", "content": "No"}, "sampled": true, "token_ids": [5], "mask": [true], "logprobs": [-1.0]}]}]}"#;
    let annotation = r#"{"version": 1, "trace_id": "t", "info": {"advantage": 0.25, "ship": {"step": 4}}, "branches": [{"index": 0, "trainer_logprobs": [null, 0.0, 0.0, -0.75]}]}
{"version": 1, "trace_id": "other", "info": {}, "branches": []}"#;
    let files =
        [("00000.jsonl", annotation), ("stream.jsonl", trace)].map(|(name, text)| InputFile {
            name: Some(name.to_owned()),
            bytes: text.into(),
        });
    let outcome = import(&files).unwrap();
    let episode = &outcome.episodes[0];
    assert_eq!(stream(episode, "logprobs"), [Some(-0.5), Some(-1.0)]);
    assert_eq!(stream(episode, "trainer_logprobs"), [Some(-0.75), None]);
    assert_eq!(
        (metadata(episode, "step"), metadata(episode, "ship_step")),
        (Some(3.0), Some(4.0))
    );
    assert_eq!(metadata(episode, "advantage"), Some(0.25));
    let parts = &episode.tokens.as_ref().unwrap().parts;
    let parts: Vec<_> = parts
        .iter()
        .map(|part| (part.step, part.message, part.range.clone()))
        .collect();
    assert_eq!(parts, [(0, 0, 0..2), (1, 0, 2..4), (2, 0, 4..5)]);
    let lost = lost(&outcome).join(" ");
    assert!(
        lost.contains("4 values for 5 tokens") && lost.contains("1 annotation belong"),
        "{lost}"
    );
}

/// All files below a folder, with their paths from its parent.
fn files_below(folder: &Path, parent: &Path, found: &mut Vec<InputFile>) {
    let entries = std::fs::read_dir(folder).unwrap();
    let mut paths: Vec<PathBuf> = entries.map(|entry| entry.unwrap().path()).collect();
    paths.sort();
    for path in paths {
        if path.is_dir() {
            files_below(&path, parent, found);
        } else {
            found.push(InputFile {
                name: Some(path.strip_prefix(parent).unwrap().display().to_string()),
                bytes: std::fs::read(&path).unwrap(),
            });
        }
    }
}

#[test]
fn the_files_of_a_run_become_its_steps() {
    let Some((folder, _)) = expected() else {
        return println!("TRAJECTORIES_DIR is not set.");
    };
    let catalog = |name: &str| {
        let mut files = Vec::new();
        files_below(&folder.join(name), &folder, &mut files);
        let episodes = import(&files).unwrap().episodes;
        let rows: Vec<_> = episodes
            .iter()
            .map(|episode| std::sync::Arc::new(Row::of(episode, Vec::new())))
            .collect();
        Catalog::of(&rows)
    };
    let ids = |name: &str| {
        let catalog = catalog(name);
        let runs = catalog.runs.iter();
        runs.map(|run| (run.id(), run.rows.len(), run.steps))
            .collect::<Vec<_>>()
    };
    let run = |id: &str, rows, steps| (id.to_owned(), rows, steps);
    assert_eq!(ids("slime"), [run("slime", 24, 3), run("eval:slime", 2, 1)]);
    assert_eq!(
        ids("nemo-rl"),
        [run("nemo-rl", 16, 3), run("eval:nemo-rl", 3, 1)]
    );
    assert_eq!(ids("tinker"), [run("tinker", 24, 3)]);
    let prime = ids("prime-rl");
    assert!(
        prime
            .iter()
            .any(|(id, _, steps)| id == "air-desk-grpo" && *steps == 3),
        "{prime:?}"
    );

    // prime-rl leaves the deviation out, and counts the branches of a rollout once.
    let prime = catalog("prime-rl");
    let prime = TrainingRun::of(&prime.run("air-desk-grpo").unwrap().rows, None);
    for step in &prime.steps {
        for group in &step.groups {
            let (rule, _) = AdvantageRule::of(&prime, group);
            let expected = if group.is_uniform() {
                AdvantageRule::NoSignal
            } else {
                AdvantageRule::Centered
            };
            assert_eq!(rule, expected, "step {}, {}", step.step, group.name());
        }
    }

    let slime = catalog("slime");
    let slime = TrainingRun::of(&slime.first().unwrap().rows, None);
    assert_eq!(slime.steps.len(), 3);
    for step in &slime.steps {
        assert_eq!((step.samples.len(), step.group_count()), (8, 2));
        for group in &step.groups {
            let (rule, _) = AdvantageRule::of(&slime, group);
            let expected = if group.is_uniform() {
                AdvantageRule::NoSignal
            } else {
                AdvantageRule::Standardized {
                    is_of_samples: true,
                }
            };
            assert_eq!(rule, expected, "step {}, {}", step.step, group.name());
        }
    }
    for measure in [Measure::Length, Measure::Mismatch, Measure::Entropy] {
        assert!(slime.measures.contains(&measure), "{measure:?}");
    }
}

fn ids(episode: &Episode) -> &[u32] {
    let record = episode.tokens.as_ref();
    record.map_or(&[], |record| record.strip.ids())
}

/// The sentence about a list that does not fit.
fn left_out(outcome: &ImportOutcome, list: &str) -> bool {
    lost(outcome).iter().any(|text| text.contains(list))
}

fn text_file(name: &str, text: &str) -> InputFile {
    InputFile {
        name: Some(name.to_owned()),
        bytes: text.into(),
    }
}

/// The ids stay, and both numbers are reported.
#[test]
fn a_mask_of_another_length_is_left_out() {
    let slime = r#"{"index": 0, "prompt": "Q", "response": "A", "tokens": [1, 2, 3, 4], "response_length": 3, "loss_mask": [1, 0], "rollout_log_probs": [-0.5, 0.0, -1.0], "status": "completed"}"#;
    let outcome = import(&[text_file("a.json", slime)]).unwrap();
    let episode = &outcome.episodes[0];
    let record = episode.tokens.as_ref().unwrap();
    assert_eq!((record.prompt, record.is_mask_known), (1, false));
    let logprobs = [Some(-0.5), Some(0.0), Some(-1.0)];
    assert_eq!(stream(episode, "rollout_log_probs"), logprobs);
    assert!(left_out(&outcome, "`loss_mask` has 2 values for 3 tokens"));

    let export = r#"{"schema_version": 1, "step": 1, "token_ids": [1, 2], "loss_mask": [true]}"#;
    let outcome = import(&[text_file("rank_0.jsonl", export)]).unwrap();
    assert_eq!(ids(&outcome.episodes[0]), [1, 2]);
    assert!(left_out(&outcome, "`loss_mask` has 1 values for 2 tokens"));

    let trace = r#"{"id": "t", "task": {"id": "a"}, "rewards": {}, "nodes": [{"message": {"role": "user", "content": "Q"}, "sampled": false, "token_ids": [1, 2], "mask": [false]}, {"parent": 0, "message": {"role": "assistant", "content": "A"}, "sampled": true, "token_ids": [3, 4], "mask": [true, true], "logprobs": [-1.0, -2.0]}]}"#;
    let outcome = import(&[text_file("traces.jsonl", trace)]).unwrap();
    let episode = &outcome.episodes[0];
    assert_eq!(ids(episode), [1, 2, 3, 4]);
    assert_eq!(stream(episode, "logprobs"), [Some(-1.0), Some(-2.0)]);
    assert!(left_out(&outcome, "`mask` has 1 values for 2 tokens"));
}

#[test]
fn a_rollout_dump_may_be_converted_to_json() {
    let dump = r#"{"samples": [{"index": 0.0, "prompt": "Q", "response": "A", "tokens": [1, 2], "response_length": 1, "status": "completed"}], "rollout_id": 6}"#;
    let episode = only("6.json", dump);
    assert_eq!(metadata(&episode, "step"), Some(6.0));
    assert_eq!(episode.metadata.get("sample"), Some(&0.into()));
    assert_eq!(ids(&episode), [1, 2]);
}

#[test]
fn numbers_that_went_through_tables_are_read() {
    let line = r#"{"idx": 0, "content": [["Q"]], "rewards": [1.0], "input_lengths": [2.0], "token_ids": [[1, 2, 0]], "token_loss_mask": [[0.0, 1.0, 0.0]]}"#;
    assert_eq!(ids(&only("train_data_step1.jsonl", line)), [1, 2]);
}

/// A writer that was stopped while it sealed a chunk leaves it twice.
#[test]
fn a_chunk_that_is_also_sealed_is_read_once() {
    let trace = r#"{"id": "t", "task": {"id": "a"}, "rewards": {}, "nodes": [{"message": {"role": "user", "content": "Q"}, "token_ids": [1], "mask": [false]}]}"#;
    let line = format!("{trace}\n");
    // What a file is shows in its bytes, not in its name.
    let names = ["00001.jsonl", "00001.jsonl.zst", "00002.jsonl.zst"];
    let files = names.map(|name| text_file(&format!("traces/stream/{name}"), &line));
    let outcome = import(&files).unwrap();
    assert_eq!(outcome.episodes.len(), 2);
}
