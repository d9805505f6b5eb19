//! Rewards of trainers that are missing, not finite, or of parts of a rollout.

use volary_core::json;
use volary_core::json::Json;
use volary_episode::{Episode, Rewards};
use volary_formats::import::index::index;
use volary_formats::import::{ImportOutcome, NoteLevel, import};

use crate::trainer_corners::{file, lines, parsed, rewards, said};

const NOT_FINITE: &str = "A reward is NaN or infinite: it counts as missing, not as 0.";

fn score_names(outcome: &ImportOutcome) -> Vec<&str> {
    let scores = outcome.episodes[0].scores.iter();
    scores.map(|score| &*score.name).collect()
}

/// One record of each format, with a reward in the place of `#`.
const RECORDS: [(&str, &str); 8] = [
    (
        "0.jsonl",
        r##"{"index": 0, "prompt": "q", "response": "a", "response_length": 1, "tokens": [1, 2], "reward": #, "status": "completed"}"##,
    ),
    (
        "1.jsonl",
        r##"{"input": "q", "output": "a", "score": #, "step": 1}"##,
    ),
    (
        "shed.jsonl",
        r##"{"input_prompt": "q", "output_response": "a", "score": #, "stop_reason": "stop"}"##,
    ),
    (
        "train_data_step1.jsonl",
        r##"{"idx": 0, "content": [["q", "a"]], "rewards": [#], "sample_loss_mask": [1.0]}"##,
    ),
    (
        "run_rollouts_000000.jsonl",
        r##"{"step": 1, "sample_idx": 0, "prompt_idx": 0, "prompt_tokens": [1], "response_tokens": [2], "reward": #, "finish_reason": "stop"}"##,
    ),
    (
        "results.jsonl",
        r##"{"example_id": 0, "prompt": "q", "completion": "a", "reward": #}"##,
    ),
    (
        "traces.jsonl",
        r##"{"id": "e", "env": "maze", "ok": true, "errors": [], "traces": [{"id": "t", "task": {}, "agent": "solver", "nodes": [{"parent": null, "message": {"role": "user", "content": "a"}}], "rewards": {"right": {"score": #, "weight": 1.0}}}]}"##,
    ),
    (
        "completions.jsonl",
        r##"{"step": 1, "prompt": "q", "completion": "a", "accuracy": #, "advantage": 0.0}"##,
    ),
];

#[test]
fn rewards_that_are_not_finite_are_counted() {
    for (name, record) in RECORDS {
        let values = ["NaN", "0.0", "null", "-Infinity", "0.5"];
        let text: String = values
            .iter()
            .map(|value| record.replace('#', value) + "\n")
            .collect();
        let outcome = import(&[file(name, text.clone())]).unwrap();
        let expected = [None, Some(0.0), None, None, Some(0.5)];
        assert_eq!(rewards(&outcome), expected, "{name}");
        let counted = format!("{NOT_FINITE} (2 times)");
        let lost = said(&outcome, NoteLevel::Unreadable);
        assert!(lost.contains(&&*counted), "{name}: {lost:?}");
        let kept = outcome.episodes[3].raw.get("reward");
        assert_eq!(
            kept.and_then(Json::as_f64),
            Some(f64::NEG_INFINITY),
            "{name}"
        );
        let kept = outcome.episodes[0].raw.get("reward");
        assert!(
            kept.and_then(Json::as_f64).is_some_and(f64::is_nan),
            "{name}"
        );
        // Read piece by piece, they are counted over all pieces.
        let (_, _, notes) = index(name, text.as_bytes());
        assert!(
            notes.iter().any(|note| *note.text == *counted),
            "{name}: {notes:?}"
        );
    }
}

#[test]
fn steps_of_tinker_without_a_finite_reward_are_counted() {
    let record = r#"{"schema_version": 1, "split": "train", "iteration": 3, "group_idx": 0, "traj_idx": 0, "tags": [], "steps":
        [{"step_idx": 0, "reward": NaN}, {"step_idx": 1, "reward": 0.5}], "total_reward": NaN, "final_reward": 0.0}"#;
    let record = record.replace('\n', "");
    let outcome = import(&[file("rollouts.jsonl", format!("{record}\n{record}\n"))]).unwrap();
    assert_eq!(rewards(&outcome), [None, None]);
    let lost = said(&outcome, NoteLevel::Unreadable);
    assert!(
        lost.contains(&&*format!("{NOT_FINITE} (4 times)")),
        "{lost:?}"
    );
}

/// A function may return nothing for all samples; the trainer leaves it out of the sum.
#[test]
fn a_reward_of_trl_without_values_is_missing() {
    let row = |accuracy: Json, number: u32| json!({"step": 5, "prompt": "q", "completion": "a", "style_reward": null, "remark": null, "accuracy": accuracy, "answer": (if number == 0 { Json::Null } else { "4".into() }), "advantage": null});
    let rows = [row(0.0.into(), 0), row(1.0.into(), 1)];
    let outcome = lines("completions.jsonl", &rows);
    assert_eq!(rewards(&outcome), [Some(0.0), Some(1.0)]);
    // What is null in one row only is no reward.
    assert_eq!(score_names(&outcome), ["style_reward", "accuracy"]);
    assert_eq!(outcome.episodes[0].scores[0].value, Json::Null);
    let kept = said(&outcome, NoteLevel::KeptRaw);
    assert_eq!(
        kept,
        ["The reward `style_reward` is null in all rows: it is missing, not 0."]
    );

    let outcome = lines(
        "completions.jsonl",
        &[row(Json::Null, 1), row(Json::Null, 1)],
    );
    assert_eq!(rewards(&outcome), [None, None]);
    assert_eq!(score_names(&outcome), ["style_reward", "accuracy"]);
}

/// Tools that rewrite JSON may turn 1.0 into 1, which looks like a count.
#[test]
fn whole_numbers_are_rewards_of_trl_by_name_or_next_to_others() {
    let row = |one: Json, two: u32| json!({"step": 5, "prompt": "q", "completion": "a", "format_reward": (two), "judge": one, "length": (two), "advantage": 0.5});
    let outcome = lines("completions.jsonl", &[row(0.5.into(), 0), row(1.into(), 1)]);
    assert_eq!(score_names(&outcome), ["format_reward", "judge"]);
    assert_eq!(outcome.episodes[1].metadata.get("length"), Some(&1.into()));
}

fn rollout(reward: &str, calls: [&str; 2]) -> Json {
    let [first, second] = calls;
    parsed(&format!(
        r#"{{"example_id": 0, "prompt": [{{"role": "user", "content": "q"}}], "completion": [
            {{"role": "assistant", "content": "a"}}, {{"role": "user", "content": "b"}}, {{"role": "assistant", "content": "c"}}],
            "reward": {reward}, "trajectory": [
            {{"tokens": {{"prompt_ids": [1], "completion_ids": [2, 3], "completion_mask": [1, 1], "completion_logprobs": [-0.5, -0.5]}}, {first}}},
            {{"tokens": {{"prompt_ids": [1, 2, 3, 4], "completion_ids": [5], "completion_mask": [1], "completion_logprobs": [-0.5]}}, {second}}}]}}"#
    ))
}

#[test]
fn calls_of_verifiers_have_rewards_and_advantages() {
    let own = rollout(
        "0.75",
        [
            r#""reward": 0.25, "advantage": -1.0"#,
            r#""reward": 0.5, "advantage": 2.0"#,
        ],
    );
    // The reward of the rollout, copied to its calls.
    let copied = rollout(
        "1.0",
        [
            r#""reward": 1.0, "advantage": 0.5"#,
            r#""reward": 1.0, "advantage": 0.5"#,
        ],
    );
    let outcome = lines("results.jsonl", &[own, copied]);
    let [own, copied] = outcome.episodes.as_slice() else {
        panic!("{:?}", outcome.notes)
    };
    assert_eq!(own.rewards, Rewards::Steps);
    let of_steps: Vec<Option<f64>> = own.steps.iter().map(|step| step.reward()).collect();
    assert_eq!(of_steps, [Some(0.25), Some(0.5)]);
    let record = own.tokens.as_ref().unwrap();
    let advantage: Vec<Option<f64>> = record.strip.streams()["advantage"].iter().collect();
    assert_eq!(advantage, [None, Some(-1.0), Some(-1.0), None, Some(2.0)]);
    assert_eq!(copied.rewards, Rewards::Whole(1.0));
    let extras = copied.steps.iter().map(|step| &step.extras);
    for extras in extras {
        assert_eq!(extras.get("reward"), Some(&1.0.into()));
        assert_eq!(extras.get("advantage"), Some(&0.5.into()));
    }
    assert!(said(&outcome, NoteLevel::Unreadable).is_empty());
}

#[test]
fn credits_of_calls_that_are_no_steps_are_kept() {
    let mut rollout = rollout("1.0", [r#""reward": 1.0"#, r#""reward": 0.0"#]);
    if let Json::Object(members) = &mut rollout {
        members.insert("completion", "a");
    }
    let outcome = lines("results.jsonl", &[rollout.clone(), rollout]);
    assert_eq!(rewards(&outcome), [Some(1.0), Some(1.0)]);
    let kept = outcome.episodes[0].raw.get("call_credits");
    assert_eq!(kept, Some(&parsed(r#"[{"reward": 1.0}, {"reward": 0.0}]"#)));
}

/// Templates drop the reasoning of earlier turns from the prompts of later calls.
#[test]
fn calls_of_verifiers_that_continue_no_tokens_start_branches() {
    let text = rollout("1.0", [r#""reward": 0.0"#, r#""reward": 1.0"#]).to_compact_text();
    let rewritten = parsed(&text.replace("[1,2,3,4]", "[1,9,4]"));
    let outcome = lines("results.jsonl", &[rewritten.clone(), rewritten.clone()]);
    assert_eq!(said(&outcome, NoteLevel::Unreadable), Vec::<&str>::new());
    let ids = outcome.episodes.iter().map(|episode| &*episode.id);
    assert_eq!(
        ids.collect::<Vec<_>>(),
        [
            "results-1",
            "results-1-branch-2",
            "results-2",
            "results-2-branch-2"
        ]
    );
    let texts = |episode: &Episode| {
        let texts = episode
            .messages()
            .map(|message| message.body().content_or_empty().to_string());
        texts.collect::<Vec<_>>()
    };
    let tokens = |episode: &Episode| {
        let record = episode.tokens.as_ref().unwrap();
        assert!(record.is_divided);
        let ids = record.strip.ids().iter().zip(record.strip.mask());
        ids.map(|(id, mask)| (*id, *mask)).collect::<Vec<_>>()
    };
    let [first, second] = [&outcome.episodes[0], &outcome.episodes[1]];
    assert_eq!(
        (texts(first), first.steps.len()),
        (vec!["q".into(), "a".into()], 1)
    );
    assert_eq!(tokens(first), [(1, false), (2, true), (3, true)]);
    assert_eq!(
        (texts(second).join(" "), second.steps.len()),
        ("q a b c".into(), 1)
    );
    assert_eq!(
        tokens(second),
        [(1, false), (9, false), (4, false), (5, true)]
    );
    assert_eq!(rewards(&outcome), [Some(1.0); 4]);
    // Without a message for each call, it is unknown where the branches begin.
    let mut unknown = rewritten;
    if let Json::Object(members) = &mut unknown {
        members.insert("completion", "a");
    }
    let outcome = lines("results.jsonl", &[unknown.clone(), unknown]);
    assert_eq!(outcome.episodes.len(), 2);
    assert_eq!(
        said(&outcome, NoteLevel::Unreadable),
        [
            "2 trained tokens of 1 call are left out: they are not part of the tokens of the last call of the rollout. (2 times)"
        ]
    );
}
