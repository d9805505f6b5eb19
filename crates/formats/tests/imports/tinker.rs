//! Evaluations and captured calls of tinker-cookbook.

use volary_core::json;
use volary_core::json::Json;
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
    let values: Vec<_> = (0..5).map(|index| stream.get(index)).collect();
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

/// A summary of version 3, with these members in place of the usual ones.
fn summary(members: &str) -> Json {
    let Json::Object(mut summary) = parsed(
        r#"{"schema_version": 3, "split": "eval/birds", "iteration": 4, "group_idx": 1, "traj_idx": 0, "tags": ["birds"],
        "sampling_client_step": 4, "model_name": "maker/model-a", "total_reward": 1.5, "final_reward": 1.0,
        "trajectory_metrics": {"correct": 1.0}, "final_ob_len": 30, "status": "ok", "error_type": null, "error_message": null,
        "stop_reason": "stop", "conversation": [{"role": "user", "content": "How many birds?"},
        {"role": "assistant", "content": [{"type": "thinking", "thinking": "I look first."}, {"type": "text", "text": "I look."}],
        "tool_calls": [{"id": "c", "type": "function", "function": {"name": "look", "arguments": "{}"}}]},
        {"role": "tool", "tool_call_id": "c", "content": "two"}, {"role": "assistant", "content": "Two."}],
        "steps": [{"step_idx": 0, "ob_len": 7, "ac_len": 12, "reward": 0.5, "episode_done": false, "metrics": {"calls": 1}, "logs": {}},
        {"step_idx": 1, "ob_len": 24, "ac_len": 3, "reward": 0.0, "episode_done": true, "metrics": {}, "logs": {"expected": "2"}}]}"#,
    ) else {
        panic!("no object")
    };
    if let Json::Object(members) = parsed(members) {
        for (key, value) in members {
            summary.insert(key, value);
        }
    }
    summary.into()
}

#[test]
fn newer_summaries_have_conversations() {
    let outcome = lines("eval_birds_rollout_summaries.jsonl", &[summary("{}")]);
    assert_eq!(said(&outcome, NoteLevel::Unreadable), [""; 0]);
    let episode = &outcome.episodes[0];
    assert_eq!(told(episode), "I look.>look{} | look<two | assistant:Two.");
    assert_eq!(episode.start.len(), 1);
    let reasoning = episode.steps[0].details.reasoning.as_deref();
    assert_eq!(reasoning, Some("I look first."));
    assert_eq!(episode.model.as_deref(), Some("maker/model-a"));
    assert_eq!(episode.rewards, Rewards::Steps);
    let rewards = episode.steps.iter().map(|step| step.reward().unwrap());
    assert_eq!(rewards.collect::<Vec<_>>(), [0.5, 1.0]);
    let usages = episode.steps.iter().map(|step| step.details.usage.unwrap());
    let counts = usages.map(|usage| (usage.input, usage.output));
    assert_eq!(
        counts.collect::<Vec<_>>(),
        [(Some(7), Some(12)), (Some(24), Some(3))]
    );
    assert_eq!(episode.ending, Ending::Done);
    assert_eq!(episode.outcome.as_deref(), Some("stop"));
    let logs = &episode.steps[1].extras;
    assert_eq!(logs.get("logs"), Some(&json!({"expected": "2"})));
}

#[test]
fn messages_may_be_in_the_logs_of_steps() {
    let members = r#"{"conversation": null, "steps": [{"ob_len": 7, "ac_len": 3, "reward": 0.5, "episode_done": true, "metrics": {},
        "logs": {"_conversation": [{"role": "user", "content": "How many?"}, {"role": "assistant", "content": "Two."}], "seed": 7}}]}"#;
    let outcome = lines("train.jsonl", &[summary(members)]);
    let episode = &outcome.episodes[0];
    assert_eq!(told(episode), "assistant:Two.");
    let logs = episode.steps[0].extras.get("logs");
    assert_eq!(logs, Some(&json!({"seed": 7})));
}

/// An agent may have had helpers: then nobody knows whose steps the messages are.
#[test]
fn other_messages_than_steps_are_kept_beside_them() {
    let members = r#"{"steps": [{"ob_len": 7, "ac_len": 3, "reward": 1.5, "logs": {"_conversation": [{"role": "user", "content": "Other."}]}}]}"#;
    let outcome = lines("train.jsonl", &[summary(members)]);
    let episode = &outcome.episodes[0];
    assert_eq!(episode.steps.len(), 2);
    assert_eq!(episode.rewards, Rewards::Whole(1.5));
    assert!(episode.raw.contains_key("steps"));
    assert_eq!(
        episode.raw.get("step_conversations"),
        Some(&json!([{"role": "user", "content": "Other."}]))
    );
}

#[test]
fn newer_summaries_say_how_rollouts_ended() {
    let ending = |members: &str| {
        let episode = lines("train.jsonl", &[summary(members)]).episodes.remove(0);
        (EndingKind::of(&episode.ending), episode.errors)
    };
    let failed = r#"{"status": "error", "error_type": "TimeoutError", "error_message": "no reply", "stop_reason": null}"#;
    let message = "TimeoutError: no reply".into();
    assert_eq!(ending(failed), (EndingKind::Crashed, vec![message]));
    let cut = r#"{"status": "timeout", "stop_reason": "length"}"#;
    assert_eq!(ending(cut), (EndingKind::Truncated, vec![]));
}

#[test]
fn steps_with_tokens_are_one_sequence() {
    let steps = r#"{"steps": [
        {"reward": 0.5, "episode_done": false, "ob_tokens": [1, 2], "ac_tokens": [3], "ac_logprobs": [-0.5], "logs": {}},
        {"reward": 0.0, "episode_done": true, "ob_tokens": [4, 5], "ob_is_delta": true, "ac_tokens": [6, 7],
        "ac_logprobs": [-0.25, null], "token_metrics": {"kl": [1, 2]}, "logs": {}}]}"#;
    let outcome = lines("eval.jsonl", &[summary(steps)]);
    assert_eq!(said(&outcome, NoteLevel::Unreadable), [""; 0]);
    let episode = &outcome.episodes[0];
    let record = episode.tokens.as_ref().unwrap();
    assert_eq!(record.strip.ids(), [1, 2, 3, 4, 5, 6, 7]);
    assert_eq!(
        record.strip.mask(),
        [false, false, true, false, false, true, true]
    );
    let stream = |name: &str| record.strip.streams()[name].iter().collect::<Vec<_>>();
    let (a, b, kl) = (Some(-0.5), Some(-0.25), [Some(1.0), Some(2.0)]);
    assert_eq!(stream("logprobs"), [None, None, a, None, None, b, None]);
    assert_eq!(stream("kl"), [None, None, None, None, None, kl[0], kl[1]]);
    let usages = episode.steps.iter().map(|step| step.details.usage.unwrap());
    let counts = usages.map(|usage| (usage.input, usage.output));
    assert_eq!(
        counts.collect::<Vec<_>>(),
        [(Some(2), Some(1)), (Some(5), Some(2))]
    );
    let wrong = r#"{"steps": [{"ob_tokens": [1, "x"], "ac_tokens": [2]}, {"ob_tokens": [1], "ac_tokens": [2], "ac_logprobs": [1, 2]}]}"#;
    let outcome = lines("eval.jsonl", &[summary(wrong)]);
    let lost = said(&outcome, NoteLevel::Unreadable).join(" ");
    assert!(lost.contains("`ob_tokens[1]` in a step"), "{lost}");
    assert!(lost.contains("A stream is left out"), "{lost}");
}

#[test]
fn rows_of_the_token_database_are_turns() {
    let row = |trajectory: u64, step: u64, members: &str| {
        parsed(&format!(
            r#"{{"run_id": "r", "run_attempt": 1, "writer_id": "w", "split": "eval/birds", "iteration": 4, "sampling_client_step": 4,
            "group_idx": 1, "traj_idx": {trajectory}, "step_idx": {step}, "tags": ["birds"], "env_row_id": null, "ts": "2026-03-01T10:00:0{step}Z",
            "source": "rollout", "has_images": false, "total_reward": 1.5, "final_reward": 1.0, "metrics": {{"calls": 1.0}}, "attrs": {{}},
            "token_metrics": {{}}, "tool_calls": null, "logs": "{{\"expected\": \"2\"}}", "extra": "{{}}", "filtered_reason": null, {members}}}"#
        ))
    };
    let first = r#""ob_tokens": [1, 2], "ob_is_delta": false, "ac_tokens": [3], "ac_logprobs": [-0.5], "stop_reason": "stop", "reward": 0.5,
        "episode_done": false, "ob_text": "How many?", "ac_text": "I look.""#;
    let second = r#""ob_tokens": [4], "ob_is_delta": true, "ac_tokens": [5], "ac_logprobs": [-0.25], "stop_reason": "length", "reward": 0.0,
        "episode_done": true, "ob_text": "two", "ac_text": "Two.""#;
    let rows = [
        row(0, 0, first),
        row(1, 0, first),
        row(0, 1, second),
        row(1, 1, second),
    ];
    let outcome = lines("seg-a-1-000000.jsonl", &rows);
    assert_eq!(said(&outcome, NoteLevel::Unreadable), [""; 0]);
    let names = outcome.episodes.iter().map(|episode| &*episode.name);
    assert_eq!(
        names.collect::<Vec<_>>(),
        [
            "Iteration 4, group 1, trial 0",
            "Iteration 4, group 1, trial 1"
        ]
    );
    let episode = &outcome.episodes[1];
    assert_eq!(format(episode), "tinker-cookbook-tokens");
    assert_eq!(
        told(episode),
        "assistant:I look. | user:two | assistant:Two."
    );
    let rewards = episode.steps.iter().map(|step| step.reward().unwrap());
    assert_eq!(rewards.collect::<Vec<_>>(), [0.5, 1.0]);
    assert_eq!(EndingKind::of(&episode.ending), EndingKind::Truncated);
    let record = episode.tokens.as_ref().unwrap();
    assert_eq!(record.strip.ids(), [1, 2, 3, 4, 5]);
    assert_eq!(record.strip.mask(), [false, false, true, false, true]);
    assert_eq!(episode.seconds, Some(1.0));
    assert_eq!(episode.metadata.get("run_id"), Some(&"r".into()));
    let logs = episode.steps[0].extras.get("logs");
    assert_eq!(logs, Some(&json!({"expected": "2"})));
    assert!(episode.raw.is_empty(), "{:?}", episode.raw);
}

/// The first version of the evaluations had neither texts nor `reward`.
#[test]
fn first_evaluations_have_numbers_of_tokens() {
    let line = r#"{"idx": 3, "benchmark": "birds", "total_reward": 1.0, "num_turns": 2, "turns": [
        {"ob_len": 7, "ac_len": 12, "reward": 0.0, "episode_done": false, "metrics": {}, "logs": {}},
        {"ob_len": 24, "ac_len": 3, "reward": 1.0, "episode_done": true, "metrics": {"correct": 1.0}, "logs": {"expected": "2"}}],
        "timestamp": 1770000000.5}"#;
    let outcome = lines("trajectories.jsonl", &[parsed(line)]);
    assert_eq!(
        said(&outcome, NoteLevel::Unreadable),
        ["The trajectories have no texts: the turns have rewards and lengths alone."]
    );
    let episode = &outcome.episodes[0];
    assert_eq!(format(episode), "tinker-cookbook-evaluation");
    assert_eq!((episode.steps.len(), episode.reward()), (2, Some(1.0)));
    assert_eq!(&*episode.task().unwrap().id, "3");
    let usage = episode.usage();
    assert_eq!((usage.input, usage.output), (Some(31), Some(15)));
    assert_eq!(episode.started, Some(1770000000.5));
    assert!(episode.raw.is_empty());
}
