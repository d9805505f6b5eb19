//! Tokens of trainers in the place of texts, of another length, or that are no ids.

use volary_core::json;
use volary_core::json::Json;
use volary_episode::Ending;
use volary_formats::import::{NoteLevel, import};

use crate::fixture;
use crate::trainer_corners::{file, lines, parsed, rewards, roles, said, tasks};

#[test]
fn prompts_may_be_token_ids() {
    let sample = |prompt: Json| json!({"index": 0, "prompt": prompt, "tokens": [5, 6, 7, 8], "response": "It is.", "response_length": 2, "reward": 1.0, "status": "completed"});
    let outcome = lines(
        "0.jsonl",
        &[
            sample(json!([5, 6])),
            sample(json!([5, 6])),
            sample(json!([5, 7])),
        ],
    );
    for episode in &outcome.episodes {
        assert_eq!(roles(episode), ["assistant"]);
        let record = episode.tokens.as_ref().unwrap();
        assert_eq!(record.prompt, 2);
        // The prompt has as many tokens as the response, and is no stream.
        assert!(record.strip.streams().is_empty());
        assert!(episode.raw.contains_key("prompt"));
    }
    let kept = said(&outcome, NoteLevel::KeptRaw);
    assert!(
        kept[0].starts_with("The prompt of a sample has token ids"),
        "{kept:?}"
    );

    let outcome = lines(
        "1.jsonl",
        &[
            json!({"input": [5, 6], "output": [7], "score": 1.0, "step": 1}),
            json!({"input": [5, 6], "output": [8, 9], "score": 0.0, "step": 1}),
            json!({"input": [5, 7], "output": "It is.", "score": 0.0, "step": 1}),
        ],
    );
    let found = tasks(&outcome);
    assert_eq!(found[0], found[1]);
    assert_ne!(found[0], found[2]);
    let record = outcome.episodes[1].tokens.as_ref().unwrap();
    assert_eq!((record.strip.ids(), record.prompt), (&[5, 6, 8, 9][..], 2));
    assert!(!record.is_mask_known);
    let kept = outcome.episodes[2].metadata.get("input_ids");
    assert_eq!(kept, Some(&json!([5, 7])));

    let sample =
        json!({"idx": 0, "content": [[[5, 6], [7]]], "rewards": [1.0], "sample_loss_mask": [1.0]});
    let outcome = lines("train_data_step1.jsonl", &[sample.clone(), sample]);
    let episode = &outcome.episodes[0];
    assert_eq!(roles(episode), Vec::<String>::new());
    assert_eq!(episode.raw.get("content"), Some(&json!([[5, 6], [7]])));
}

#[test]
fn what_is_no_token_id_is_named_with_its_index() {
    let rollout = |response: Json| json!({"step": 1, "sample_idx": 0, "prompt_idx": 0, "prompt_tokens": [1, 2], "response_tokens": response, "reward": 0.0, "finish_reason": "stop", "dataset": "desk"});
    let outcome = lines(
        "desk_rollouts_000000.jsonl",
        &[rollout(json!([3, 4])), rollout(json!([3, "four", 5]))],
    );
    let lost = said(&outcome, NoteLevel::Unreadable);
    assert_eq!(
        lost,
        ["`response_tokens[1]` in line 2 is not a token id: \"four\"."]
    );
    let second = &outcome.episodes[1];
    assert!(second.tokens.is_none());
    assert_eq!(
        second.raw.get("response_tokens"),
        Some(&json!([3, "four", 5]))
    );
    let sample = json!({"idx": 0, "content": [["Hi."]], "rewards": [1.0], "token_ids": [[1, "x"]]});
    let outcome = lines("train_data_step1.jsonl", &[sample.clone(), sample]);
    let lost = said(&outcome, NoteLevel::Unreadable);
    assert_eq!(
        lost[0],
        "`token_ids[1]` in line 1 is not a token id: \"x\"."
    );
}

#[test]
fn values_of_nemo_rl_that_cannot_be_used_are_kept() {
    let sample = |more: &str| {
        parsed(&format!(
            r#"{{"idx": 0, "content": [["Hi."]], "input_lengths": [3], "token_ids": [[5, 6, 7, 0]], {more}}}"#
        ))
    };
    let outcome = lines(
        "train_data_step1.jsonl",
        &[
            sample(r#""rewards": [1.0], "token_loss_mask": [[0, null, 1, 0]]"#),
            sample(r#""rewards": [1.0, 0.0], "token_loss_mask": [[0, 1, 1, 0]]"#),
            // Without the lists of one.
            sample(
                r#""rewards": [1.0], "token_loss_mask": [0, 1, 1, 0], "advantages": [2.0, 2.0, 2.0, 2.0]"#,
            ),
        ],
    );
    let [masked, several, flat] = outcome.episodes.as_slice() else {
        panic!("{:?}", outcome.notes)
    };
    assert!(!masked.tokens.as_ref().unwrap().is_mask_known);
    assert!(masked.raw.contains_key("token_loss_mask"));
    let lost = said(&outcome, NoteLevel::Unreadable);
    assert!(lost[0].contains("no flags"), "{lost:?}");
    assert_eq!(rewards(&outcome), [Some(1.0), None, Some(1.0)]);
    assert_eq!(several.raw.get("rewards"), Some(&parsed("[1.0, 0.0]")));
    let record = flat.tokens.as_ref().unwrap();
    let advantages: Vec<Option<f64>> = record.strip.streams()["advantages"].iter().collect();
    assert_eq!(advantages, [None, Some(2.0), Some(2.0)]);
}

#[test]
fn numbers_that_are_no_ids_are_shown_as_they_are() {
    let sample = json!({"input_prompt": (parsed("[1, 2.5]")), "output_response": "It is.", "score": 1.0, "stop_reason": "stop"});
    let outcome = lines("shed.jsonl", &[sample.clone(), sample]);
    let first = &outcome.episodes[0];
    assert_eq!(roles(first), ["user", "assistant"]);
    assert_eq!(first.start[0].body().content_or_empty(), "[1, 2.5]");
    assert_eq!(tasks(&outcome), ["[1, 2.5]", "[1, 2.5]"]);
}

#[test]
fn steps_of_rllm_need_no_conversation() {
    let episode = r#"{"episode_id": "task:0", "is_correct": true, "termination_reason": "env_done", "trajectories": [
        {"uid": "a", "name": "solver", "reward": 1.0, "steps": [
            {"observation": "What is it?", "action": "look", "model_response": "I look.", "chat_completions": [], "reward": 0.25,
                "prompt_ids": [1], "response_ids": [2, "x"]},
            {"observation": {"seen": 1}, "action": "say", "model_response": "It is one.", "chat_completions": [], "reward": 0.75}]}]}"#;
    let outcome = import(&[file("episode.json", episode.to_owned())]).unwrap();
    let first = &outcome.episodes[0];
    assert_eq!(roles(first), ["user", "assistant", "assistant"]);
    let of_steps: Vec<Option<f64>> = first.steps.iter().map(|step| step.reward()).collect();
    assert_eq!(of_steps, [Some(0.25), Some(0.75)]);
    assert_eq!(first.reward(), Some(1.0));
    let lost = said(&outcome, NoteLevel::Unreadable);
    assert_eq!(
        lost,
        ["`response_ids[1]` in step 0 is not a token id: \"x\"."]
    );
}

/// The agents that come with `rllm eval` write an input and an output per step, and a verdict per episode.
#[test]
fn evaluations_of_rllm_have_inputs_outputs_and_verdicts() {
    let episode = r#"{"id": "task:0", "is_correct": true, "session_id": "s", "termination_reason": null, "eval_idx": 4, "artifacts": {"answer": "2"},
        "metrics": {"steps": 1}, "trajectories": [{"uid": "a", "name": "solver", "reward": 1.0, "signals": {"exact": 1.0},
            "steps": [{"input": "How many?", "output": "Two.", "thought": "I count.", "chat_completions": [], "reward": 1.0}]}]}"#;
    let outcome = import(&[file("episode.json", episode.to_owned())]).unwrap();
    let first = &outcome.episodes[0];
    assert_eq!(roles(first), ["user", "assistant"]);
    let step = &first.steps[0];
    assert_eq!(step.details.reasoning.as_deref(), Some("I count."));
    assert_eq!(step.reward(), Some(1.0));
    let scores = first
        .scores
        .iter()
        .map(|score| (&*score.name, &score.value));
    assert_eq!(
        scores.collect::<Vec<_>>(),
        [
            ("is_correct", &true.into()),
            ("steps", &1.into()),
            ("exact", &1.0.into())
        ]
    );
    for (key, value) in [
        ("session_id", json!("s")),
        ("eval_idx", json!(4)),
        ("artifacts", json!({"answer": "2"})),
    ] {
        assert_eq!(first.metadata.get(key), Some(&value), "{key}");
    }
}

/// A rollout that failed before its first step is one of the samples of its group.
#[test]
fn failed_episodes_of_rllm_are_kept() {
    let episode = r#"{"id": "task:1", "is_correct": false, "termination_reason": "error", "trajectories": [], "metrics": {}}"#;
    let outcome = import(&[file("episode.json", episode.to_owned())]).unwrap();
    let failed = &outcome.episodes[0];
    assert_eq!(
        (&*failed.id, &*failed.task().unwrap().id),
        ("task:1", "task")
    );
    assert!(matches!(failed.ending, Ending::Crashed { .. }));
    assert_eq!((failed.reward(), failed.steps.len()), (None, 0));
}

#[test]
fn folders_of_rllm_tell_evaluations_from_training() {
    let split = |folder: &str| {
        let episode = r#"{"training_step": 3, "episode_id": "task:0", "termination_reason": "env_done", "trajectories": []}"#;
        let name = format!("episodes/{folder}/episode.json");
        let outcome = import(&[file(&name, episode.to_owned())]).unwrap();
        outcome.episodes[0].metadata.get("split").cloned()
    };
    assert_eq!(split("val_step_3_epoch_0"), Some("eval".into()));
    assert_eq!(split("train_step_3_epoch_0"), None);
}

#[test]
fn nodes_of_verifiers_with_other_tokens_are_reported() {
    let nodes = |answer: &str| {
        parsed(&format!(
            r#"{{"id": "e", "env": "desk", "ok": true, "errors": [], "traces": [{{"id": "t", "task": {{}}, "agent": "solver", "nodes": [
                {{"parent": null, "message": {{"role": "user", "content": "Hi."}}, "token_ids": [1, 2], "mask": [false, false]}},
                {{"parent": 0, "message": {{"role": "assistant", "content": "Ho."}}, "sampled": true, {answer}}}], "rewards": {{}}}}]}}"#
        ))
    };
    for (answer, has_tokens, expected) in [
        (
            r#""token_ids": [3, "x"], "mask": [true, true]"#,
            false,
            "The tokens of a branch can't be used: `token_ids[1]` in a node is not a token id: \"x\".",
        ),
        (
            r#""token_ids": []"#,
            true,
            "A message of the model has no token ids, unlike others of its branch.",
        ),
    ] {
        let outcome = lines("traces.jsonl", &[nodes(answer)]);
        assert_eq!(said(&outcome, NoteLevel::Unreadable), [expected]);
        assert_eq!(outcome.episodes[0].tokens.is_some(), has_tokens);
    }
}

#[test]
fn annotations_with_gaps_are_reported() {
    let annotation = r#"{"version": 1, "trace_id": "tr1", "info": {}, "branches": [
        {"index": 0, "entropies": [null, null, null, 0.1, null, null, 0.3]}]}"#;
    let traces = fixture("verifiers-traces-tokens.jsonl");
    let gaps = file("annotations.jsonl", annotation.replace('\n', ""));
    let outcome = import(&[traces, gaps]).unwrap();
    let lost = said(&outcome, NoteLevel::Unreadable);
    assert!(
        lost.iter()
            .any(|text| text.contains("`entropies` has no values for some trained tokens")),
        "{lost:?}"
    );
}

#[test]
fn an_incomplete_annotation_leaves_the_older_values_of_other_messages() {
    let annotation = |values: &str| {
        r#"{"version": 1, "trace_id": "tr1", "info": {}, "branches": [{"index": 0, "entropies": [null, null, null, VALUES]}]}"#
            .replace("VALUES", values)
    };
    let annotation = [
        annotation("0.1, 0.2, null, 0.3"),
        // It ends before the second message of the model.
        annotation("0.4, 0.5, null"),
        // It has a gap in the first one.
        annotation("0.6, null, null, 0.7"),
    ];
    let traces = fixture("verifiers-traces-tokens.jsonl");
    let annotations = file("annotations.jsonl", annotation.join("\n"));
    let outcome = import(&[traces, annotations]).unwrap();
    let record = outcome.episodes[0].tokens.as_ref().unwrap();
    let entropies: Vec<Option<f64>> = record.strip.streams()["entropies"].iter().collect();
    let rounded = entropies
        .iter()
        .map(|value| value.map(|value| (value * 10.0).round()));
    assert_eq!(
        rounded.collect::<Vec<_>>(),
        [None, None, None, Some(4.0), Some(5.0), None, Some(7.0)]
    );
}

#[test]
fn traces_without_tokens_are_joined_with_the_info_of_their_annotations() {
    let trace = r#"{"id": "tr1", "task": {"key": "k"}, "agent": {"name": "a"}, "nodes": [
        {"message": {"role": "user", "content": "Hi"}, "sampled": false},
        {"parent": 0, "message": {"role": "assistant", "content": "Ho"}, "sampled": true}]}"#;
    let annotations = r#"{"version": 1, "trace_id": "tr1", "info": {"effective": true, "ship": {"step": 6}}, "branches": []}
{"version": 1, "trace_id": "tr1", "info": {}, "branches": [{"index": 0, "entropies": [null, 0.5]}]}"#;
    let outcome = import(&[
        file("stream.jsonl", trace.replace('\n', "")),
        file("annotations.jsonl", annotations.to_owned()),
    ])
    .unwrap();
    let metadata = &outcome.episodes[0].metadata;
    assert_eq!(metadata.get("effective"), Some(&true.into()));
    assert_eq!(metadata.get("ship_step"), Some(&6.into()));
    let expected = "Left out: 1 annotated stream of branches without token ids.";
    assert_eq!(said(&outcome, NoteLevel::Unreadable), [expected]);
}

#[test]
fn the_info_of_annotations_is_merged() {
    let annotations = r#"{"version": 1, "trace_id": "tr1", "info": {"ship": {"step": 6, "time": 9.0}, "filters": {"zero": true, "long": true}}, "branches": []}
{"version": 1, "trace_id": "tr1", "info": {"effective": false, "filters": {"long": false}, "reject_reason": "stale"}, "branches": []}"#;
    let traces = fixture("verifiers-traces-tokens.jsonl");
    let outcome = import(&[traces, file("annotations.jsonl", annotations.to_owned())]).unwrap();
    let metadata = &outcome.episodes[0].metadata;
    let info = metadata.get("annotation_info").map(Json::to_compact_text);
    let expected =
        r#"{"ship":{"time":9.0},"filters":{"zero":true,"long":false},"reject_reason":"stale"}"#;
    assert_eq!(info.as_deref(), Some(expected));
    assert_eq!(metadata.get("ship_step"), Some(&6.into()));
    assert_eq!(metadata.get("effective"), Some(&false.into()));
}

#[test]
fn tokens_of_nemo_rl_without_a_mask_have_an_unknown_one() {
    let sample = json!({
        "idx": 0, "content": [["Hi.", "Hello."]], "rewards": [1.0], "sample_loss_mask": [1.0],
        "input_lengths": [9], "token_ids": [[1, 2, 3]],
    });
    let masked = json!({
        "idx": 1, "content": [["Hi.", "Hello."]], "rewards": [1.0], "sample_loss_mask": [1.0],
        "token_loss_mask": [[0, 1]],
    });
    let outcome = lines("train_data_step1.jsonl", &[sample, masked]);
    let [first, second] = outcome.episodes.as_slice() else {
        panic!("{:?}", outcome.notes)
    };
    let record = first.tokens.as_ref().unwrap();
    assert_eq!(record.strip.ids(), [1, 2, 3]);
    assert!(!record.is_mask_known);
    assert!(second.tokens.is_none());
    let lost = said(&outcome, NoteLevel::Unreadable);
    assert_eq!(lost, ["`input_lengths` is 9, but there are 3 tokens."]);
}

#[test]
fn lists_of_another_length_are_named_with_both_numbers() {
    let episode = r#"{"episode_id": "task:0", "is_correct": true, "termination_reason": "env_done", "trajectories": [
        {"uid": "a", "name": "solver", "reward": 1.0, "steps": [{
            "chat_completions": [{"role": "user", "content": "Hi."}, {"role": "assistant", "content": "Hello."}],
            "prompt_ids": [1, 2], "response_ids": [3, 4], "logprobs": [-0.5], "advantage": 0.25}]}]}"#;
    let outcome = import(&[file("episode.json", episode.to_owned())]).unwrap();
    let lost = said(&outcome, NoteLevel::Unreadable);
    assert_eq!(
        lost,
        ["A stream is left out: `logprobs` has 1 values for 2 tokens."]
    );
    let record = outcome.episodes[0].tokens.as_ref().unwrap();
    let advantage: Vec<Option<f64>> = record.strip.streams()["advantage"].iter().collect();
    assert_eq!(advantage, [None, None, Some(0.25), Some(0.25)]);
}

/// Judges are recorded with the tokens that they sampled, which no loss counts.
#[test]
fn tokens_of_an_agent_that_is_not_trained_count_for_no_loss() {
    let trace = |trainable: &str| {
        parsed(&format!(
            r#"{{"id": "t", "task": {{"key": "k"}}, "agent": {{"name": "judge", "trainable": {trainable}}}, "rewards": {{}}, "nodes": [
                {{"message": {{"role": "user", "content": "Q"}}, "sampled": false, "token_ids": [1, 2], "mask": [false, false]}},
                {{"parent": 0, "message": {{"role": "assistant", "content": "A"}}, "sampled": true, "token_ids": [3, 4], "mask": [true, true], "logprobs": [-1.0, -2.0]}}]}}"#
        ))
    };
    for (trainable, trained) in [("true", 2), ("false", 0)] {
        let outcome = lines("traces.jsonl", &[trace(trainable)]);
        let episode = &outcome.episodes[0];
        let record = episode.tokens.as_ref().unwrap();
        assert_eq!((record.prompt, record.strip.trained()), (2, trained));
        assert_eq!(record.strip.streams()["logprobs"].get(3), Some(-2.0));
        let is_said = said(&outcome, NoteLevel::Read)
            .iter()
            .any(|note| note.contains("is not trained"));
        assert_eq!(is_said, trained == 0);
        assert_eq!(episode.metadata.contains_key("trainable"), trained == 0);
    }
}

/// The branch of an attempt that failed is a leaf that the trainer leaves out.
#[test]
fn a_compaction_from_which_nothing_resumed_is_not_trained() {
    let trace = |link: &str| {
        parsed(&format!(
            r#"{{"id": "t", "task": {{"key": "k"}}, "agent": {{"name": "solver"}}, "rewards": {{}}, "nodes": [
                {{"message": {{"role": "user", "content": "Q"}}, "sampled": false, "token_ids": [1], "mask": [false]}},
                {{"parent": 0, "message": {{"role": "assistant", "content": "summary"}}, "sampled": true, "token_ids": [2, 3], "mask": [true, true],
                  "semantic_parents": [{{"node": 0, "type": "compaction_attempt"}}]}},
                {{"message": {{"role": "user", "content": "go on"}}, "sampled": false, "token_ids": [4], "mask": [false], "semantic_parents": [{link}]}},
                {{"parent": 2, "message": {{"role": "assistant", "content": "A"}}, "sampled": true, "token_ids": [5], "mask": [true]}}]}}"#
        ))
    };
    for (link, expected) in [
        ("", [0, 1]),
        (r#"{"node": 1, "type": "compaction"}"#, [2, 1]),
    ] {
        let outcome = lines("traces.jsonl", &[trace(link)]);
        let trained = outcome.episodes.iter().map(|episode| {
            let record = episode.tokens.as_ref().unwrap();
            (
                record.strip.trained(),
                episode.metadata.contains_key("trainable"),
            )
        });
        let expected = expected.map(|count| (count, count == 0));
        assert_eq!(trained.collect::<Vec<_>>(), expected, "{link}");
    }
}
