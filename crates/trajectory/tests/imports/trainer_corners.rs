//! Odd corners of the files of trainers: prompts with a common beginning, missing rewards, lists of another length.

use volary_core::json;
use volary_core::json::Json;
use volary_trajectory::import::{ImportOutcome, InputFile, NoteLevel, import};
use volary_trajectory::{Ending, Episode};

use crate::fixture;

pub fn file(name: &str, text: String) -> InputFile {
    InputFile {
        name: Some(name.to_owned()),
        bytes: text.into_bytes(),
    }
}

pub fn parsed(text: &str) -> Json {
    Json::parse(text).unwrap()
}

pub fn lines(name: &str, lines: &[Json]) -> ImportOutcome {
    let text: String = lines
        .iter()
        .map(|line| format!("{}\n", line.to_compact_text()))
        .collect();
    import(&[file(name, text)]).unwrap()
}

fn tasks(outcome: &ImportOutcome) -> Vec<&str> {
    let tasks = outcome.episodes.iter();
    tasks
        .map(|episode| episode.task.as_ref().map_or("", |task| &*task.id))
        .collect()
}

fn roles(episode: &Episode) -> Vec<String> {
    let start = episode.start.iter().map(|message| message.role());
    let steps = episode.steps.iter().map(|step| step.action.role());
    start
        .chain(steps)
        .map(|role| role.as_str().to_owned())
        .collect()
}

pub fn rewards(outcome: &ImportOutcome) -> Vec<Option<f64>> {
    outcome.episodes.iter().map(Episode::reward).collect()
}

pub fn said(outcome: &ImportOutcome, level: NoteLevel) -> Vec<&str> {
    let notes = outcome.notes.iter().filter(|note| note.level == level);
    notes.map(|note| &*note.text).collect()
}

/// Many data sets begin every prompt with the same instruction.
#[test]
fn prompts_are_one_task_only_if_they_are_equal() {
    let rollout = |question: &str| {
        json!({
            "input": (format!("system\nBe brief.\nuser\nSolve this problem:\n{question}\nassistant\n")),
            "output": "6", "score": 1.0, "step": 1,
        })
    };
    let outcome = lines(
        "1.jsonl",
        &[rollout("2 * 3"), rollout("2 * 4"), rollout("2 * 3")],
    );
    let found = tasks(&outcome);
    assert_eq!(found[0], found[2]);
    assert_ne!(found[0], found[1]);
    assert!(found[0].starts_with("Solve this problem: #"), "{found:?}");
    // A prompt of one line is its own name.
    let short = |question: &str| json!({"input": question, "output": "6", "score": 1.0, "step": 1});
    let outcome = lines(
        "2.jsonl",
        &[short("What is 2 * 3?"), short("What is 2 * 4?")],
    );
    assert_eq!(tasks(&outcome), ["What is 2 * 3?", "What is 2 * 4?"]);
}

#[test]
fn prompts_with_other_images_are_other_tasks() {
    let sample = |image: &str| {
        let content = json!([
            {"type": "image_url", "image_url": {"url": image}},
            {"type": "text", "text": "What colour is it?"},
        ]);
        json!({"prompt": [{"role": "user", "content": content}], "response": "Red.", "reward": 1.0, "index": 0, "group_index": 0, "status": "completed", "response_length": 1})
    };
    let outcome = lines(
        "0.jsonl",
        &[
            sample("data:image/png;base64,AA"),
            sample("data:image/png;base64,BB"),
        ],
    );
    let found = tasks(&outcome);
    assert_ne!(found[0], found[1]);
    assert!(found[0].starts_with("What colour is it? #"), "{found:?}");
}

#[test]
fn a_prompt_of_verl_may_end_where_thinking_begins() {
    let rollout = |number: u32| {
        json!({
            "input": (format!("user\nWhat is {number}?\nassistant\n<think>\n")),
            "output": "A number.\n</think>\nIt is one.", "score": 0.0, "step": 1, "uid": (format!("prompt-{number}")),
        })
    };
    let outcome = lines("1.jsonl", &[rollout(1), rollout(2)]);
    let [first, _] = outcome.episodes.as_slice() else {
        panic!("{:?}", outcome.notes)
    };
    assert_eq!(roles(first), ["user", "assistant"]);
    let reply = first
        .steps
        .first()
        .unwrap()
        .action
        .body()
        .content_or_empty();
    assert!(reply.starts_with("<think>\nA number."), "{reply}");
    assert_eq!(first.metadata.get("group"), Some(&"prompt-1".into()));
    let guess = said(&outcome, NoteLevel::KeptRaw);
    assert!(
        guess.iter().any(|text| text.contains("a guess")),
        "{guess:?}"
    );
}

/// The last header may have lost its line break, and earlier turns have headers, too.
#[test]
fn a_prompt_of_verl_may_have_several_turns() {
    let input = "user\nHi.\nassistant\nHello.\nuser\nWhat is it?\nassistant";
    for input in [input.to_owned(), format!("{input}\n")] {
        let rollout = json!({"input": input, "output": "It is one.", "score": 0.0, "step": 1});
        let outcome = lines("1.jsonl", &[rollout.clone(), rollout]);
        let first = &outcome.episodes[0];
        assert_eq!(roles(first), ["user", "assistant", "user", "assistant"]);
        let reply = first.steps.first().unwrap().action.body();
        assert_eq!(reply.content_or_empty(), "It is one.");
    }
}

#[test]
fn a_text_after_the_prompt_of_nemo_rl_is_the_answer() {
    let sample = |number: u32| {
        json!({
            "idx": number,
            "content": [["<|im_start|>user\nWhat is it?<|im_end|>\n<|im_start|>assistant\n", "It is one."]],
            "rewards": [1.0], "sample_loss_mask": [1.0],
        })
    };
    let outcome = lines("train_data_step1.jsonl", &[sample(0), sample(1)]);
    assert_eq!(roles(&outcome.episodes[0]), ["user", "assistant"]);
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
fn missing_rewards_of_tinker_are_not_zero() {
    let summary = |steps: &str| {
        let head = r#""schema_version": 1, "split": "train", "iteration": 3, "group_idx": 0, "traj_idx": 0"#;
        parsed(&format!(
            r#"{{{head}, "tags": [], "steps": {steps}, "total_reward": null, "final_reward": null}}"#
        ))
    };
    let step = |reward: &str| {
        summary(&format!(
            r#"[{{"step_idx": 0, "reward": {reward}, "episode_done": true}}]"#
        ))
    };
    let outcome = lines(
        "rollouts.jsonl",
        &[summary("[]"), step("null"), step("NaN"), step("0.0")],
    );
    assert_eq!(rewards(&outcome), [None, None, None, Some(0.0)]);
}

#[test]
fn rewards_of_trl_are_the_columns_of_floats() {
    let row = |advantage: Json, tokens: Json| json!({"step": 5, "prompt": "q", "completion": "a", "accuracy": 0.0, "tokens": tokens, "advantage": advantage});
    // Tables write NaN as null.
    let outcome = lines(
        "c.jsonl",
        &[row((-0.5).into(), 10.into()), row(Json::Null, 20.into())],
    );
    assert_eq!(rewards(&outcome), [Some(0.0), Some(0.0)]);
    assert_eq!(outcome.episodes[0].metadata.get("tokens"), Some(&10.into()));
}

#[test]
fn a_score_that_is_no_number_is_kept() {
    let rollout = |score: Json| json!({"input": "q", "output": "a", "score": score, "step": 1});
    let outcome = lines(
        "1.jsonl",
        &[rollout(json!({"acc": 1.0})), rollout(1.0.into())],
    );
    assert_eq!(rewards(&outcome), [None, Some(1.0)]);
    let kept = outcome.episodes[0].metadata.get("score");
    assert_eq!(kept, Some(&json!({"acc": 1.0})));
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

#[test]
fn an_aborted_sample_is_not_done() {
    let sample = |reason: &str| {
        parsed(&format!(
            r#"{{"step": 1, "sample_idx": 0, "prompt_idx": 0, "prompt_tokens": [1], "response_tokens": [2], "reward": 0.0,
                "advantage": 0.0, "finish_reason": "{reason}", "dataset": "desk", "logprobs": [-0.5]}}"#
        ))
    };
    let outcome = lines(
        "desk_grpo_rollouts_000000.jsonl",
        &[sample("abort"), sample("stop")],
    );
    let endings = outcome.episodes.iter().map(|episode| &episode.ending);
    let is_done: Vec<bool> = endings.map(|ending| *ending == Ending::Done).collect();
    assert_eq!(is_done, [false, true]);
}

fn metadata(outcome: &ImportOutcome, key: &str) -> Vec<Option<Json>> {
    let episodes = outcome.episodes.iter();
    episodes
        .map(|episode| episode.metadata.get(key).cloned())
        .collect()
}

/// Rollouts are lists of groups before the trainer flattens them, and samples that were divided are lists, too.
#[test]
fn samples_of_slime_may_be_in_groups() {
    let outcome = import(&[fixture("slime-nested.pt")]).unwrap();
    let groups = [0, 0, 1, 1, 2].map(|group| Some(Json::from(group)));
    assert_eq!(metadata(&outcome, "group"), groups);
    assert_eq!(metadata(&outcome, "step"), vec![Some(Json::from(7)); 5]);
    let missing = [Some(1.0), Some(0.0), None, None, Some(1.0)];
    assert_eq!(rewards(&outcome), missing);

    let sample = |index: u32| json!({"index": index, "prompt": "Count.", "response": "one", "response_length": 1, "tokens": [1, 2], "reward": 1.0, "status": "completed"});
    let nested = json!([[(sample(0)), (sample(1))], [], [(sample(2))]]);
    let dump = json!({"rollout_id": 3, "samples": (nested.clone())});
    let groups = [0, 0, 2].map(|group| Some(Json::from(group)));
    for text in [dump.to_compact_text(), nested.to_compact_text()] {
        let outcome = import(&[file("3.json", text)]).unwrap();
        assert_eq!(metadata(&outcome, "group"), groups);
        let ids = outcome.episodes.iter().map(|episode| &*episode.id);
        assert_eq!(ids.collect::<Vec<_>>(), ["3-1-1", "3-1-2", "3-3-1"]);
        assert!(said(&outcome, NoteLevel::Unreadable).is_empty());
    }
    let outcome = lines("3.jsonl", nested.as_list().unwrap());
    assert_eq!(metadata(&outcome, "group"), groups);
}

#[test]
fn a_dump_that_ends_early_tells_how_many_samples_were_read() {
    let mut cut = fixture("slime-nested.pt");
    // In the lists of the third sample.
    cut.bytes.truncate(640);
    let outcome = import(&[cut.clone()]).unwrap();
    let lost = said(&outcome, NoteLevel::Unreadable);
    let count = outcome.episodes.len();
    let expected = format!("The file ends early: {count} samples could be read");
    assert!((2..5).contains(&count), "{count}");
    assert!(
        lost.iter().any(|text| text.starts_with(&expected)),
        "{lost:?}"
    );
    cut.bytes.truncate(120);
    let error = import(&[cut]).unwrap_err().to_string();
    assert!(
        error.contains("before its first sample is complete"),
        "{error}"
    );
    // The numbers of a training dump are behind its pickle.
    let mut cut = fixture("slime-train.pt");
    cut.bytes.truncate(cut.bytes.len() * 3 / 4);
    let outcome = import(&[cut]).unwrap();
    let lost = said(&outcome, NoteLevel::Unreadable);
    assert!(
        lost.iter()
            .any(|text| text.contains("could not be read: the bytes are missing")),
        "{lost:?}"
    );
}

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
fn what_is_no_token_id_is_named_with_its_place() {
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
