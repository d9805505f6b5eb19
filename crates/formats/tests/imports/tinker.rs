//! Evaluations and captured calls of tinker-cookbook.

use volary_core::json;
use volary_episode::{Ending, EndingKind, Episode, Rewards};
use volary_formats::import::{NoteLevel, import};

use crate::fixture;
use crate::tools::{format, told};
use crate::trainer_corners::{lines, parsed, rewards, said};

fn evaluated() -> Vec<Episode> {
    let outcome = import(&[fixture("tinker-evaluation.jsonl")]).unwrap();
    assert_eq!(said(&outcome, NoteLevel::Unreadable), Vec::<&str>::new());
    outcome.episodes
}

#[test]
fn evaluations_have_texts_scores_and_usage() {
    let episodes = evaluated();
    let whole = &episodes[0];
    assert_eq!(format(whole), "tinker-cookbook-evaluation");
    assert_eq!(
        told(whole),
        ">look{\"at\":\"shed\"} | user:two | assistant:Two."
    );
    assert_eq!(whole.rewards, Rewards::Whole(1.0));
    let task = whole.task().unwrap();
    assert_eq!((&*task.dataset, &*task.id), ("birds", "birds-1a2b"));
    assert_eq!(
        (whole.ending.clone(), whole.seconds),
        (Ending::Done, Some(3.5))
    );
    let usages = whole.steps.iter().map(|step| step.details.usage.unwrap());
    let counts = usages.map(|usage| (usage.input, usage.output));
    assert_eq!(
        counts.collect::<Vec<_>>(),
        [(Some(7), Some(12)), (Some(24), Some(3))],
        "an observation is counted with all that is before it"
    );
    let scores = whole
        .scores
        .iter()
        .map(|score| (&*score.name, score.explanation.as_deref()));
    assert_eq!(
        scores.collect::<Vec<_>>(),
        [("correct", None), ("grader", Some("Correct."))],
        "the judge is not a part of the conversation"
    );
    assert_eq!(
        whole.metadata.get("logs"),
        Some(&json!({"expected": "2", "extracted": "2"}))
    );
}

#[test]
fn limits_end_evaluations() {
    let cut = &evaluated()[1];
    assert_eq!(
        cut.ending,
        Ending::Truncated {
            reason: "The limit of tokens was reached.".into()
        }
    );
    assert_eq!(
        &*cut.task().unwrap().id,
        "1",
        "an example without an id has its index"
    );
    assert_eq!(cut.reward(), Some(0.0));
}

/// The score of a benchmark counts examples that failed with the reward 0.
#[test]
fn failed_examples_are_kept_with_their_reward() {
    let failed = &evaluated()[2];
    assert_eq!(EndingKind::of(&failed.ending), EndingKind::Crashed);
    assert_eq!(failed.errors, ["TimeoutError: no reply in 300 s".into()]);
    assert_eq!((failed.reward(), failed.steps.len()), (Some(0.0), 0));
}

#[test]
fn each_sample_of_a_captured_call_is_an_episode() {
    let outcome = import(&[fixture("tinker-capture.jsonl")]).unwrap();
    let names = outcome.episodes.iter().map(|episode| &*episode.name);
    assert_eq!(
        names.collect::<Vec<_>>(),
        ["Sample 1.0", "Sample 1.1", "Sample 2", "Sample 3"]
    );
    let [first, cut, _, failed] = outcome.episodes.as_slice() else {
        panic!("{:?}", outcome.notes);
    };
    assert_eq!(format(first), "tinker-cookbook-capture");
    assert_eq!(rewards(&outcome), [None; 4]);
    let record = first.tokens.as_ref().unwrap();
    assert_eq!(record.strip.ids(), [5, 6, 7, 8, 9]);
    let stream = &record.strip.streams()["logprobs"];
    let values: Vec<_> = (0..5).map(|place| stream.get(place)).collect();
    assert_eq!(values, [None, None, None, Some(-0.5), Some(-0.25)]);
    assert_eq!(EndingKind::of(&cut.ending), EndingKind::Truncated);
    assert_eq!(failed.errors, ["RuntimeError('stopped')".into()]);
    let task = first.task().unwrap();
    assert_eq!(
        (&*task.dataset, &*task.id),
        ("birds-run", "train 3, group 1")
    );
    assert_eq!(
        first.model.as_deref(),
        Some("tinker://run/sampler_weights/3")
    );
}

#[test]
fn tokens_of_captured_calls_that_are_no_ids_are_named() {
    let call = r#"{"kind": "sample", "scope": {}, "num_samples": 1, "prompt_tokens": [1, "x"],
        "samples": [{"tokens": [2], "logprobs": [-1, -2], "stop_reason": "stop"}], "status": "ok"}"#;
    let outcome = lines("sample.jsonl", &[parsed(call)]);
    let notes = outcome
        .notes
        .iter()
        .map(|note| &*note.text)
        .collect::<Vec<_>>();
    assert!(
        notes.iter().any(|note| note.contains("`prompt_tokens[1]`")),
        "{notes:?}"
    );
    assert!(
        notes
            .iter()
            .any(|note| note.contains("A stream is left out")),
        "{notes:?}"
    );
    assert_eq!(
        outcome.episodes[0].tokens.as_ref().unwrap().strip.ids(),
        [2]
    );
}

/// Readers compare runs of all trainers by their steps.
#[test]
fn iterations_of_tinker_are_steps() {
    let summary = r#"{"schema_version": 1, "split": "train", "iteration": 7, "group_idx": 2, "traj_idx": 0, "tags": [], "steps": [],
        "total_reward": 1.0, "final_reward": 1.0, "trajectory_metrics": {}}"#;
    let call = r#"{"kind": "sample", "scope": {"iteration": 7}, "num_samples": 1, "prompt_tokens": [1],
        "samples": [{"tokens": [2], "stop_reason": "stop"}], "status": "ok"}"#;
    for (record, iteration) in [(summary, json!("7")), (call, json!(7))] {
        let metadata = &lines("rollouts.jsonl", &[parsed(record)]).episodes[0].metadata;
        assert_eq!(metadata.get("step"), Some(&7.into()));
        assert_eq!(metadata.get("iteration"), Some(&iteration));
    }
}

/// The prompt is left out of a capture if it is long.
#[test]
fn a_captured_call_may_have_the_length_of_its_prompt_only() {
    let line = r#"{"kind": "sample", "num_samples": 1, "status": "ok", "prompt_length": 1500, "samples": [{"tokens": [4], "stop_reason": "stop"}]}"#;
    let outcome = lines("sample.jsonl", &[parsed(line)]);
    let episode = &outcome.episodes[0];
    assert_eq!(episode.metadata.get("prompt_length"), Some(&1500.into()));
    let notes = &outcome.notes;
    assert!(notes.iter().any(|note| note.text.contains("prompt_length")));
}
