//! Odd corners of the files of trainers: prompts with a common beginning, missing rewards, lists of another length.

use volary_analysis::table::Row;
use volary_analysis::training::Catalog;
use volary_core::AnyMessage;
use volary_core::json;
use volary_core::json::Json;
use volary_episode::{Ending, Episode};
use volary_formats::import::{ImportOutcome, InputFile, NoteLevel, import};

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

/// Newer versions of verl number the rollouts of a prompt, and their outputs.
#[test]
fn a_group_of_verl_is_a_prompt() {
    let rollout = |uid: &str| json!({"input": "2 * 3?", "output": "6", "score": 1.0, "step": 1, "gts": 6, "uid": uid});
    let uids = ["a_b_0_0", "a_b_1_0", "prompt-1", "7_1"];
    let outcome = lines("rollout_data/1.jsonl", &uids.map(rollout));
    let groups = ["a_b", "a_b", "prompt-1", "7_1"].map(|group| Some(group.into()));
    assert_eq!(metadata(&outcome, "group"), groups);
    // The ground truth is no score, even if it is a number.
    let first = &outcome.episodes[0];
    assert_eq!(first.metadata.get("gts"), Some(&6.into()));
    assert!(first.scores.is_empty());
}

#[test]
fn validations_of_verl_are_evaluations() {
    let sample = |more: Json| {
        let mut sample = json!({"input": "2 * 3?", "output": "6", "score": 0.5, "step": 1, "gts": "6", "messages": null});
        if let (Json::Object(sample), Json::Object(more)) = (&mut sample, more) {
            sample.extend(more);
        }
        sample
    };
    let split = |name: &str, more: Json| {
        let outcome = lines(name, &[sample(more)]);
        metadata(&outcome, "split").swap_remove(0).is_some()
    };
    assert!(split("run/validation_data/10.jsonl", json!({})));
    assert!(split("run/val/10.jsonl", json!({})));
    assert!(split("10.jsonl", json!({"reward": 0.5})));
    assert!(!split("10.jsonl", json!({"reward": 1.0})));
    assert!(!split("10.jsonl", json!({})));
    assert!(!split("run/rollout_data/10.jsonl", json!({"reward": 0.5})));
    for name in [
        "run/train/10.jsonl",
        "run/rollouts/10.jsonl",
        "train_10.jsonl",
        "rollout_test/10.jsonl",
    ] {
        assert!(!split(name, json!({"reward": 0.5})), "{name}");
    }
    for folder in [
        "eval",
        "evals",
        "evaluation",
        "test",
        "valid",
        "val_rollouts",
    ] {
        assert!(
            split(&format!("run/{folder}/10.jsonl"), json!({})),
            "{folder}"
        );
    }
}

#[test]
fn line_breaks_of_a_prompt_of_verl_stay() {
    let input = "system\nBe brief.\nuser\na\r\nb\nassistant\n";
    let outcome = lines(
        "1.jsonl",
        &[json!({"input": input, "output": "4", "score": 0.5, "step": 1})],
    );
    let start = outcome.episodes[0].start.iter();
    let texts: Vec<&str> = start
        .map(|message| message.body().content_or_empty())
        .collect();
    assert_eq!(texts, ["Be brief.", "a\r\nb"]);
}

#[test]
fn the_folder_of_a_skyrl_file_names_the_step() {
    let sample = json!({"input_prompt": "2 * 3?", "output_response": "6", "score": 1.0});
    let name = "dumped_evals/global_step_20_evals/gsm8k.jsonl";
    let outcome = lines(name, std::slice::from_ref(&sample));
    assert_eq!(metadata(&outcome, "step"), [Some(20.into())]);
    assert_eq!(metadata(&outcome, "split"), [Some("eval".into())]);
    let outcome = lines("eval_only/gsm8k.jsonl", &[sample]);
    assert_eq!(metadata(&outcome, "step"), [None]);
}

/// A table gives all calls of a column the members of all of them.
#[test]
fn arguments_that_a_table_adds_are_dropped() {
    let call = |arguments: Json| {
        let call =
            json!({"type": "function", "function": {"name": "find", "arguments": arguments}});
        json!({"role": "assistant", "content": "", "tool_calls": [call]})
    };
    let padded = call(json!({"code": "B8", "route": null, "seats": [{"row": 3, "column": null}]}));
    let own = call(Json::from("{\"code\": null}"));
    let row = json!({
        "step": 5, "prompt": [{"role": "user", "content": "Find it."}], "completion": [padded, own],
        "find_reward": 0.5, "advantage": 0.1,
    });
    let outcome = lines("completions_00005.jsonl", &[row]);
    let steps = outcome.episodes[0].steps.iter();
    let calls = steps.flat_map(|step| match &step.action {
        AnyMessage::Request(request) => request.tool_calls.clone(),
        _ => Vec::new(),
    });
    let arguments: Vec<String> = calls
        .map(|call| Json::Object(call.function.arguments).to_compact_text())
        .collect();
    let expected = [r#"{"code":"B8","seats":[{"row":3}]}"#, r#"{"code":null}"#];
    assert_eq!(arguments, expected);
}

fn slime_sample(more: Json) -> Json {
    let mut sample = json!({
        "index": 7, "prompt": "2 * 3?", "response": "6", "response_length": 4.0, "tokens": [1, 2, 3, 4, 5, 6],
        "loss_mask": [1, 1, 0, 1], "reward": 1.0, "status": "completed",
    });
    if let (Json::Object(sample), Json::Object(more)) = (&mut sample, more) {
        sample.extend(more);
    }
    sample
}

/// Before there were groups, indices counted all samples.
#[test]
fn samples_of_slime_with_one_prompt_are_trials_of_a_task() {
    let samples = [6, 7].map(|index| slime_sample(json!({"index": index})));
    assert_eq!(tasks(&lines("3.jsonl", &samples)), ["2 * 3?", "2 * 3?"]);
    // That of an interaction is the number of its task.
    let messages = json!([{"role": "user", "content": "2 * 3?"}]);
    let interaction = slime_sample(json!({"messages": messages}));
    assert_eq!(tasks(&lines("3.jsonl", &[interaction])), ["7"]);
}

#[test]
fn a_text_in_the_rewards_of_slime_is_no_reward() {
    let samples = [
        json!({"reward": {"pred": "42", "gold": "four"}}),
        json!({"reward": {"reward": null, "score": 0.5}}),
        json!({"reward": {"pred": "42", "acc": true}}),
        json!({"reward": {"score": "0.25", "acc": true}}),
    ];
    let outcome = lines("3.jsonl", &samples.map(slime_sample));
    let expected = [None, Some(0.5), Some(1.0), Some(0.25)];
    assert_eq!(rewards(&outcome), expected);
}

/// A task may have steps of its own.
#[test]
fn metadata_of_slime_does_not_name_the_position_in_the_run() {
    let sample = slime_sample(json!({"metadata": {"step": 12, "level": 3}}));
    let outcome = lines("3.jsonl", &[sample]);
    assert_eq!(metadata(&outcome, "step"), [None]);
    assert_eq!(metadata(&outcome, "metadata.step"), [Some(12.into())]);
    assert_eq!(metadata(&outcome, "level"), [Some(3.into())]);
}

#[test]
fn lists_of_slime_that_are_as_long_as_the_response_may_be_no_streams() {
    let sample = slime_sample(json!({
        "rollout_top_p_token_ids": [11, 12, 13, 14], "weight_versions": [1, 1, 2, 2], "surprise": [0.5, 1, 2, 4],
    }));
    let outcome = lines("3.jsonl", &[sample]);
    let record = outcome.episodes[0].tokens.as_ref().unwrap();
    let streams: Vec<&str> = record.strip.streams().keys().map(|name| &**name).collect();
    assert_eq!(streams, ["surprise"]);
    assert_eq!((record.strip.len(), record.prompt), (6, 2));
}

#[test]
fn lines_of_slime_may_be_dumps() {
    let dump = |step: i64| {
        let samples = Json::List(vec![
            slime_sample(json!({})),
            slime_sample(json!({"index": 8})),
        ]);
        json!({"rollout_id": step, "samples": samples})
    };
    let outcome = lines("run.jsonl", &[dump(1), dump(2)]);
    let steps = [1, 1, 2, 2].map(|step| Some(Json::from(step)));
    assert_eq!(metadata(&outcome, "step"), steps);
    assert_eq!(rewards(&outcome), [Some(1.0); 4]);
}

fn verifiers_line(more: Json) -> Json {
    let mut line = json!({
        "id": "e1", "env": {"id": "count"}, "task": {"data": {"idx": 3}}, "group": {"id": "g1"}, "ok": false,
        "run": {"work": {"type": "train", "step": 4}}, "errors": [{"type": "SandboxError", "message": "gone"}],
        "traces": [],
    });
    if let (Json::Object(line), Json::Object(more)) = (&mut line, more) {
        line.extend(more);
    }
    line
}

#[test]
fn a_run_of_verifiers_without_a_trace_is_in_its_group() {
    let outcome = lines(
        "traces.jsonl",
        &[
            verifiers_line(json!({"id": "e1"})),
            verifiers_line(json!({"id": "e2"})),
        ],
    );
    assert_eq!(
        metadata(&outcome, "group"),
        [Some("g1".into()), Some("g1".into())]
    );
    assert_eq!(metadata(&outcome, "step"), [Some(4.into()), Some(4.into())]);
}

/// A judge may fail after the agent has finished.
#[test]
fn a_trace_of_verifiers_with_an_error_has_crashed() {
    let node = |role: &str| json!({"message": {"role": role, "content": "Hi."}, "parent": null});
    let trace = |stop: Json, errors: Json| {
        let mut answer = node("assistant");
        if let Json::Object(answer) = &mut answer {
            answer.insert("parent", 0);
        }
        json!({
            "id": "t1", "nodes": (Json::List(vec![node("user"), answer])), "ok": false, "stop_condition": stop,
            "errors": errors, "rewards": {},
        })
    };
    let ending = |stop: Json, errors: Json| {
        let traces = Json::List(vec![trace(stop, errors)]);
        let outcome = lines(
            "traces.jsonl",
            &[verifiers_line(json!({"traces": traces, "errors": []}))],
        );
        outcome.episodes[0].ending.clone()
    };
    let failed = json!([{"type": "JudgeError", "message": "no answer"}]);
    let crashed = ending("agent_completed".into(), failed);
    assert!(
        matches!(&crashed, Ending::Crashed { message } if message.contains("no answer")),
        "{crashed:?}"
    );
    assert_eq!(ending(Json::Null, json!([])), Ending::Open);
    assert_eq!(ending("agent_completed".into(), json!([])), Ending::Done);
}

#[test]
fn messages_as_text_may_have_white_space() {
    let text = "[ {\"role\": \"user\", \"content\": \"Hi.\"}, {\"role\": \"assistant\", \"content\": \"Hello.\"} ]";
    let outcome = lines(
        "chats.jsonl",
        &[json!({"messages": text}), json!({"messages": text})],
    );
    assert_eq!(roles(&outcome.episodes[0]), ["user", "assistant"]);
}

/// The numbers of prompts start again at each step and in each run.
#[test]
fn the_task_of_open_instruct_is_the_prompt() {
    let rollout = |step: u32, group: u32, prompt: Json| json!({"step": step, "sample_idx": 0, "prompt_idx": group, "prompt_tokens": prompt, "response_tokens": [9], "reward": 1.0, "finish_reason": "stop", "dataset": "desk"});
    let outcome = lines(
        "desk_rollouts_000000.jsonl",
        &[
            rollout(1, 0, json!([1, 2])),
            rollout(1, 1, json!([1, 3])),
            rollout(2, 0, json!([1, 3])),
        ],
    );
    let [first, second, again] = tasks(&outcome)[..] else {
        panic!("{:?}", outcome.notes)
    };
    assert!(first.starts_with("2 tokens #"), "{first}");
    assert!(first != second && second == again, "{second}, {again}");
    let groups = outcome.episodes.iter();
    let groups: Vec<_> = groups
        .map(|episode| episode.metadata.get("group").and_then(Json::as_i64))
        .collect();
    assert_eq!(groups, [Some(0), Some(1), Some(0)]);
    let task = outcome.episodes[0].task.as_ref();
    assert_eq!(task.map(|task| &*task.dataset), Some("desk"));
}

/// Each file has several steps, and the files of all runs are in one folder by default.
/// A prompt may have several verifiers, each of which names its data set.
#[test]
fn data_sets_of_open_instruct_may_be_a_list() {
    let line = parsed(
        r#"{"step": 1, "sample_idx": 0, "prompt_idx": 0, "prompt_tokens": [1], "response_tokens": [2], "reward": 1.0, "finish_reason": "stop", "dataset": ["math", "ifeval"]}"#,
    );
    let outcome = lines("r_rollouts_000000.jsonl", &[line]);
    let task = outcome.episodes[0].task().unwrap();
    assert_eq!(&*task.dataset, "math, ifeval");
    assert!(!outcome.episodes[0].raw.contains_key("dataset"));
}

#[test]
fn the_files_of_a_run_of_open_instruct_are_one_run() {
    let rollouts = |name: &str, steps: [u32; 2]| {
        let rollout = |step: u32| {
            format!(
                "{{\"step\": {step}, \"sample_idx\": 0, \"prompt_idx\": 0, \"prompt_tokens\": [1], \"response_tokens\": [2], \"reward\": 1.0}}\n"
            )
        };
        file(name, steps.map(rollout).concat())
    };
    let metadata = r#"{"run_name": "desk", "git_commit": "0f4a", "model_name": "northwind-1.5b", "timestamp": "2026-11-24T19:17:17+00:00"}"#;
    let outcome = import(&[
        rollouts("runs/desk_rollouts_000000.jsonl", [1, 2]),
        rollouts("runs/desk_rollouts_000001.jsonl", [2, 3]),
        rollouts("runs/shed_rollouts_000000.jsonl", [1, 2]),
        file("runs/desk_metadata.jsonl", format!("{metadata}\n")),
    ])
    .unwrap();
    let rows = outcome.episodes.iter();
    let rows: Vec<_> = rows
        .map(|episode| std::sync::Arc::new(Row::of(episode, Vec::new())))
        .collect();
    let catalog = Catalog::of(&rows);
    let runs = catalog.runs.iter();
    let runs: Vec<_> = runs
        .map(|run| (run.id(), run.rows.len(), run.steps))
        .collect();
    assert_eq!(runs, [("desk".to_owned(), 4, 3), ("shed".to_owned(), 2, 2)]);
    assert!(said(&outcome, NoteLevel::Unreadable).is_empty());
    let told = "open-instruct: the run desk trains northwind-1.5b (commit 0f4a).";
    assert!(said(&outcome, NoteLevel::Read).contains(&told));
}

/// TRL writes texts in the markup of the model's template.
#[test]
fn texts_of_trl_are_divided_by_the_marks_of_their_template() {
    let llama = "<|begin_of_text|><|start_header_id|>user<|end_header_id|>\n\nHi.<|eot_id|><|start_header_id|>assistant<|end_header_id|>\n\n";
    let gemma = "<start_of_turn>user\nHi.<end_of_turn>\n<start_of_turn>model\n";
    let row = |prompt: &str, completion: &str| json!({"step": 5, "prompt": prompt, "completion": completion, "accuracy": 0.5, "advantage": 0.5});
    let outcome = lines(
        "c.jsonl",
        &[row(llama, "Ho.<|eot_id|>"), row(gemma, "Ho.<end_of_turn>")],
    );
    assert_eq!(tasks(&outcome), ["Hi.", "Hi."]);
    for episode in &outcome.episodes {
        assert_eq!(roles(episode), ["user", "assistant"]);
        let said = episode.messages().map(|message| message.body());
        let said: Vec<&str> = said.map(|body| body.content_or_empty()).collect();
        assert_eq!(said, ["Hi.", "Ho."]);
    }
}

#[test]
fn the_role_ipython_is_that_of_a_result() {
    let call = json!({"role": "assistant", "tool_calls": [{"id": "c1", "function": {"name": "add", "arguments": "{}"}}]});
    let chat = json!({"messages": [{"role": "user", "content": "1+1?"}, call, {"role": "ipython", "content": "2"}]});
    let outcome = lines("chat.jsonl", &[chat]);
    let step = outcome.episodes[0].steps.first().unwrap();
    let [AnyMessage::Response(result)] = step.messages() else {
        panic!("{:?}", step.messages())
    };
    assert_eq!((&*result.name, &*result.tool_call_id), ("add", "c1"));
}

/// A prompt may begin the turn of the assistant, such as with a mark of thinking.
#[test]
fn what_the_prompt_begins_the_turn_with_is_part_of_it() {
    let prompt =
        |begun: &str| format!("<|im_start|>user\nHi<|im_end|>\n<|im_start|>assistant\n{begun}");
    let cases = [
        (
            "<think>\n",
            "Hm.\n</think>\n\nHo",
            "<think>\nHm.\n</think>\n\nHo",
        ),
        ("<think>\n\n</think>\n\n", "Ho", "<think>\n\n</think>\n\nHo"),
        ("Sure: ", "Ho", "Sure: Ho"),
        ("", "Ho", "Ho"),
    ];
    for (begun, response, expected) in cases {
        let prompt = prompt(begun);
        let (prompt, response) = (prompt.as_str(), response);
        let rows = [
            json!({"step": 1, "prompt": prompt, "completion": response, "right": 0.5}),
            json!({"input_prompt": prompt, "output_response": response, "score": 0.5}),
            json!({"prompt": prompt, "response": response, "reward": 0.5, "response_length": 1, "status": "completed"}),
        ];
        for row in rows {
            let outcome = lines("rows.jsonl", &[row]);
            let episode = &outcome.episodes[0];
            assert_eq!(roles(episode), ["user", "assistant"]);
            let action = episode.steps[0].action.body();
            assert_eq!(action.content_or_empty(), expected);
            assert_eq!(tasks(&outcome), ["Hi"]);
        }
    }
}

/// A message that has ended is not begun, even if the next one has the same speaker.
#[test]
fn an_ended_message_of_a_prompt_stays() {
    let prompt = "<|im_start|>user\nHi<|im_end|>\n<|im_start|>assistant\nHo<|im_end|>\n<|im_start|>assistant\n";
    let row = json!({"step": 1, "prompt": prompt, "completion": "So", "right": 0.5});
    let outcome = lines("rows.jsonl", &[row]);
    assert_eq!(
        roles(&outcome.episodes[0]),
        ["user", "assistant", "assistant"]
    );
}
