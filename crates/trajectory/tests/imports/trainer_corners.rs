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

pub fn tasks(outcome: &ImportOutcome) -> Vec<&str> {
    let tasks = outcome.episodes.iter();
    tasks
        .map(|episode| episode.task.as_ref().map_or("", |task| &*task.id))
        .collect()
}

pub fn roles(episode: &Episode) -> Vec<String> {
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
        // Tables with gaps make floats of steps.
        let rollout = json!({"input": input, "output": "It is one.", "score": 0.0, "step": 1.0});
        let outcome = lines("1.jsonl", &[rollout.clone(), rollout]);
        let first = &outcome.episodes[0];
        assert_eq!(roles(first), ["user", "assistant", "user", "assistant"]);
        assert_eq!(first.metadata.get("step"), Some(&"1".into()));
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
fn distillation_of_nemo_rl_has_no_rewards() {
    let sample = json!({"content": [["<|im_start|>user\nHow many?<|im_end|>\n", "Two.<|im_end|>\n"]], "input_lengths": [9], "idx": 0});
    let outcome = lines("train_data_step4.jsonl", &[sample]);
    let episode = &outcome.episodes[0];
    assert_eq!(
        episode.source.as_ref().map(|source| &*source.format),
        Some("nemo-rl")
    );
    assert_eq!(rewards(&outcome), [None]);
    assert_eq!(roles(episode), ["user", "assistant"]);
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
fn exceptions_of_skyrl_are_how_a_sample_ended() {
    let sample = |stop: &str, exception: Json| json!({"input_prompt": "q", "output_response": "a", "score": 0.0, "stop_reason": stop, "exception_type": exception, "env_class": "gsm8k", "env_extras": {}, "data_source": null});
    let outcome = lines(
        "gsm8k.jsonl",
        &[
            sample("error", "TimeoutError".into()),
            sample("stop", Json::Null),
        ],
    );
    let [failed, done] = outcome.episodes.as_slice() else {
        panic!("{:?}", outcome.notes)
    };
    assert!(
        matches!(&failed.ending, Ending::Crashed { message } if message.contains("TimeoutError"))
    );
    assert_eq!(done.ending, Ending::Done);
    assert!(
        said(&outcome, NoteLevel::KeptRaw).is_empty(),
        "{:?}",
        outcome.notes
    );
}
