//! Lines that trainers and harnesses dump: a prompt, an answer and a score each.

use volary_analysis::result::EpisodeResult;
use volary_core::json;
use volary_episode::{Ending, Episode, Rewards};
use volary_formats::import::{InputFile, import};

use crate::tools::{assert_linked, format, shapes, told};
use crate::{Shape, fixture};

#[test]
fn verl_rollouts() {
    let outcome = import(&[fixture("verl.jsonl")]).unwrap();
    assert_eq!(format(&outcome.episodes[0]), "verl");
    assert_eq!(
        shapes(&outcome),
        [Shape(2, 1, 0, Some(1.0)), Shape(1, 0, 0, Some(0.0))]
    );
    let [chat, plain] = outcome.episodes.as_slice() else {
        panic!("{:?}", outcome.notes);
    };
    assert_linked(chat);
    assert_eq!(
        told(chat),
        "I look.>look{\"at\":\"box\"} | look<two | assistant:Two."
    );
    assert_eq!(chat.start.len(), 2);
    assert_eq!(&*chat.name, "Step 5, sample 1");
    assert_eq!(chat.task().map(|task| &*task.id), Some("How many boxes?"));
    assert_eq!(chat.scores.len(), 1);
    let result = EpisodeResult::of(chat);
    assert_eq!(result.expected, [("gts".to_owned(), "2".into())]);
    // Without the roles of a template, a line `user` is a word like any other.
    assert_eq!(
        told(plain),
        "assistant:user\nis a word, and this is no chat."
    );
}

fn read(name: &str, text: &str) -> Vec<Episode> {
    let file = InputFile {
        name: Some(name.to_owned()),
        bytes: text.into(),
    };
    import(&[file]).unwrap().episodes
}

#[test]
fn verl_rollouts_of_other_versions() {
    let old = r#"{"input": "Q", "output": "A", "gts": "7", "score": 0.5}"#;
    let odd = [r#"null"#, r#"true"#, r#""0.25""#, r#""None""#]
        .map(|score| format!(r#"{{"input": "Q", "output": "A", "score": {score}, "step": 3}}"#));
    let episodes = read("12.jsonl", &format!("{old}\n{old}\n"));
    let steps: Vec<_> = episodes
        .iter()
        .map(|one| one.metadata.get("step"))
        .collect();
    assert_eq!(steps, [Some(&"12".into()); 2]);
    let episodes = read("3.jsonl", &odd.join("\n"));
    assert_eq!(rewards(&episodes), [None, Some(1.0), Some(0.25), None]);
    let skyrl =
        r#"{"input_prompt": "Q", "output_response": "A", "score": [], "stop_reason": "stop"}"#;
    assert_eq!(rewards(&read("d.jsonl", skyrl)), [None]);
}

/// Python writes NaN for a sample without a score. It is no reward, and kept out of means.
#[test]
fn nan_is_no_reward() {
    let line =
        r#"{"input": "Q", "output": "A", "gts": "4", "score": NaN, "step": 1, "acc": Infinity}"#;
    let file = InputFile {
        name: Some("1.jsonl".to_owned()),
        bytes: format!("\u{feff}{line}\r\n\r\n{line}").into_bytes(),
    };
    let outcome = import(&[file]).unwrap();
    let rewards: Vec<&Rewards> = outcome.episodes.iter().map(|one| &one.rewards).collect();
    assert_eq!(rewards, [&Rewards::Unknown; 2], "{:?}", outcome.notes);
}

#[test]
fn samples_of_lm_evaluation_harness() {
    let name = "samples_birds_2026-01-02T03-04-05.123456.jsonl";
    let outcome = import(&[fixture(name)]).unwrap();
    assert_eq!(format(&outcome.episodes[0]), "lm-eval");
    let rewards = outcome.episodes.iter().map(|episode| episode.reward());
    assert_eq!(
        rewards.collect::<Vec<_>>(),
        [Some(1.0), Some(1.0), Some(0.0)]
    );
    let [generated, rated, chat] = outcome.episodes.as_slice() else {
        panic!("{:?}", outcome.notes);
    };
    assert_eq!(told(generated), "assistant:There are 2.");
    assert_eq!(&*generated.name, "Document 0, strict-match");
    assert_eq!(
        generated.task().map(|task| (&*task.dataset, &*task.id)),
        Some(("birds", "0"))
    );
    let result = EpisodeResult::of(generated);
    assert_eq!(result.expected, [("target".to_owned(), "2".into())]);
    assert_eq!(result.given, [("exact_match".to_owned(), "2".into())]);
    assert_eq!(
        (told(rated), rated.scores.len()),
        ("assistant: yes".into(), 2)
    );
    assert_eq!((told(chat), chat.start.len()), ("assistant:4".into(), 2));
}

/// The rewards of all episodes.
fn rewards(episodes: &[Episode]) -> Vec<Option<f64>> {
    episodes.iter().map(Episode::reward).collect()
}

#[test]
fn skyrl_evaluations() {
    let outcome = import(&[fixture("skyrl.jsonl")]).unwrap();
    let [whole, cut] = outcome.episodes.as_slice() else {
        panic!("{:?}", outcome.notes);
    };
    assert_eq!(format(whole), "skyrl");
    assert_linked(whole);
    assert_eq!(
        told(whole),
        "I look.>look{\"at\":\"shed\"} | look<two | assistant:Two."
    );
    assert_eq!(rewards(&outcome.episodes), [Some(0.75), None]);
    assert_eq!(
        whole.task().map(|task| (&*task.dataset, &*task.id)),
        Some(("shed", "How many boxes?"))
    );
    assert_eq!(
        (whole.start.len(), whole.environment().map(|name| &**name)),
        (2, Some("boxes"))
    );
    let result = EpisodeResult::of(whole);
    let answer = "env_extras.reward_spec.ground_truth";
    assert_eq!(result.expected, [(answer.to_owned(), "2".into())]);
    assert_eq!(told(cut), "assistant:An answer that is");
    assert!(matches!(cut.ending, Ending::Truncated { .. }));
}

#[test]
fn skyrl_evaluations_of_lists() {
    let lines = r#"{"input_prompt": [{"role": "system", "content": "Be brief."}, {"role": "user", "content": "How many?"}], "output_response": "Two.", "score": 1.0}
{"input_prompt": ["<|im_start|>user\nHow many?<|im_end|>\n<|im_start|>assistant\n"], "output_response": ["Two.<|im_end|>"], "score": 1.0}
{"input_prompt": [1, 2, 3], "output_response": [4, 5], "score": [0.0, 0.5]}
{"input_prompt": [1, 2, 3], "output_response": "Two.", "score": 0.25}"#;
    let file = InputFile {
        name: Some("shed.jsonl".to_owned()),
        bytes: lines.into(),
    };
    let outcome = import(&[file]).unwrap();
    let [messages, texts, ids, half] = outcome.episodes.as_slice() else {
        panic!("{:?}", outcome.notes);
    };
    assert_eq!(format(messages), "skyrl");
    let tasks = [messages, texts].map(|episode| episode.task().map(|task| &*task.id));
    assert_eq!(tasks, [Some("How many?"); 2]);
    assert_eq!([told(messages), told(texts)], ["assistant:Two."; 2]);
    assert_eq!((messages.start.len(), texts.start.len()), (2, 1));
    // Which of the ids are trained is not written.
    let record = ids.tokens.as_ref().unwrap();
    assert_eq!(
        (record.strip.ids(), record.prompt),
        (&[1, 2, 3, 4, 5][..], 3)
    );
    assert!(!record.is_mask_known && record.misfits.is_empty());
    assert_eq!(record.value("score", 4), Some(0.5));
    assert_eq!(
        rewards(&outcome.episodes),
        [Some(1.0), Some(1.0), Some(0.5), Some(0.25)]
    );
    assert!(half.tokens.is_none());
    assert!(
        outcome
            .notes
            .iter()
            .any(|note| note.text.contains("prompt_ids"))
    );
}

#[test]
fn tinker_rollout_summaries() {
    let outcome = import(&[fixture("tinker.jsonl")]).unwrap();
    let [whole, bare] = outcome.episodes.as_slice() else {
        panic!("{:?}", outcome.notes);
    };
    assert_eq!(format(whole), "tinker-cookbook");
    assert_eq!(told(whole), ">look{} | assistant:Two.");
    let logs = whole.steps[1].extras.get("logs");
    assert_eq!(logs, Some(&json!({"termination": "stop_sequence"})));
    // The final reward is one of the last step, unless the total says otherwise.
    assert_eq!(whole.rewards, Rewards::Steps);
    let steps = whole.steps.iter().map(|step| step.reward());
    assert_eq!(steps.collect::<Vec<_>>(), [Some(0.25), Some(1.0)]);
    assert_eq!(rewards(&outcome.episodes), [Some(1.25), Some(2.0)]);
    let usage = whole.usage();
    assert_eq!((usage.input, usage.output), (Some(55), Some(10)));
    assert_eq!(whole.task(), bare.task());
    assert_eq!(
        (&*whole.name, &*whole.scores[0].name),
        ("Iteration 3, group 0, trial 1", "solved")
    );
    assert!(
        outcome
            .notes
            .iter()
            .any(|note| note.text.contains("no texts"))
    );
}

/// Logs hold what a recipe wants to know of a step, such as why it ended.
#[test]
fn texts_in_the_logs_of_tinker_are_said_by_the_model_only_under_known_names() {
    for (key, is_said) in [
        ("guess", true),
        ("response", true),
        ("truncated_turn", false),
        ("expected_answer", false),
        ("error", false),
    ] {
        let line = format!(
            r#"{{"schema_version": 1, "split": "train", "iteration": 1, "group_idx": 0, "traj_idx": 0, "total_reward": 0.0, "steps": [{{"reward": 0.0, "episode_done": true, "logs": {{"{key}": "x"}}}}]}}"#
        );
        let episode = &read("train_rollout_summaries.jsonl", &line)[0];
        let step = &episode.steps[0];
        let content = step.action.body().content.as_deref();
        assert_eq!(content, is_said.then_some("x"), "{key}");
        assert_eq!(step.extras.contains_key("logs"), !is_said, "{key}");
    }
}

#[test]
fn trl_completions() {
    let outcome = import(&[fixture("trl.jsonl")]).unwrap();
    let [chat, text] = outcome.episodes.as_slice() else {
        panic!("{:?}", outcome.notes);
    };
    assert_eq!(format(chat), "trl");
    assert_linked(chat);
    assert_eq!(
        told(chat),
        ">look{\"at\":\"shed\"} | look<two | assistant:Two."
    );
    assert_eq!(told(text), ">look{}");
    // The other function has no values in this file.
    assert_eq!(rewards(&outcome.episodes), [Some(1.0), Some(0.0)]);
    let names = chat.scores.iter().map(|score| &*score.name);
    assert_eq!(names.collect::<Vec<_>>(), ["count_reward", "style_reward"]);
    assert_eq!(chat.task(), text.task());
    let result = EpisodeResult::of(chat);
    assert_eq!(result.expected, [("target".to_owned(), "2".into())]);
}
