//! Rollouts of AReaL (`rollout/VERSION/TASK.jsonl`, or `eval-rollout/…`): lines of `{task_id, sample_idx, seqlen, prompt_len,
//! head_version, tail_version, reward, prompt, completion}`. The texts contain the markup of their chat template.
//!
//! A file has the samples of a task; its folder is the version of the policy that wrote the last token, which the trainer
//! reaches after as many steps.

use volary_core::json::{Json, Object};
use volary_episode::episode::{Ending, Episode, Rewards, TaskReference, Usage};

use super::members::{Members, count, keep_rest};
use super::reader::{Confidence, Sink};
use super::records::Records;
use super::slime;
use super::transcript::Transcript;

pub(super) const AREAL: Records = Records {
    id: "areal",
    name: "AReaL rollouts (one per line)",
    title: "AReaL rollouts",
    record: "a sample",
    confidence: Confidence::Certain,
    is: is_sample,
    read: sample,
};

fn is_sample(value: &Json) -> bool {
    let is_text = |key| value.get(key).and_then(Json::as_text).is_some();
    is_text("prompt")
        && is_text("completion")
        && value.get("seqlen").is_some()
        && value.get("tail_version").is_some()
}

fn sample(mut rest: Object, line: usize, sink: &mut Sink<'_>) {
    let mut transcript = Transcript::default();
    let prompt = rest.take_text("prompt").unwrap_or_default();
    let task = slime::push_prompt(&mut transcript, &prompt);
    let completion = rest.take_text("completion").unwrap_or_default();
    slime::push_response(&mut transcript, &completion);
    let group = rest.take_id("task_id").unwrap_or_default();
    let sample = rest.take_id("sample_idx").unwrap_or_default();
    let mut episode = Episode {
        id: format!("{}-{line}", sink.stem()).into(),
        name: format!("Task {group}, sample {sample}").into(),
        task: task.map(|id| TaskReference {
            dataset: "areal".into(),
            id,
        }),
        rewards: rest
            .take_reward("reward")
            .map_or(Rewards::Unknown, Rewards::Whole),
        total_usage: Some(usage(&mut rest)).filter(|usage| !usage.is_empty()),
        ending: Ending::Done,
        ..Episode::default()
    };
    let head = rest.take("head_version");
    let tail = rest.take("tail_version");
    if let Some(step) = tail.clone() {
        episode.metadata.insert("step", step);
    }
    episode.metadata.insert("group", group);
    episode.metadata.insert("sample", sample);
    let tail = tail.filter(|tail| head.as_ref() != Some(tail));
    let versions: Vec<Json> = head.into_iter().chain(tail).collect();
    episode.metadata.insert("weight_versions", versions);
    if sink
        .file()
        .split('/')
        .any(|folder| folder == "eval-rollout")
    {
        episode.metadata.insert("split", "eval");
    }
    transcript.finish(&mut episode);
    keep_rest(&mut episode, rest, sink);
    sink.episode(episode);
}

/// The numbers of tokens of prompt and completion.
fn usage(rest: &mut Object) -> Usage {
    let [all, prompt] = ["seqlen", "prompt_len"].map(|key| rest.take(key).as_ref().and_then(count));
    Usage {
        input: prompt,
        output: all
            .zip(prompt)
            .map(|(all, prompt)| all.saturating_sub(prompt)),
        ..Usage::default()
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::import::{InputFile, import};

    #[test]
    fn samples_have_their_position_in_the_run() {
        let line = r#"{"task_id": 17, "sample_idx": 1, "seqlen": 12, "prompt_len": 7, "head_version": 3, "tail_version": 4, "reward": -5.0, "prompt": "<|im_start|>user\nq<|im_end|>\n<|im_start|>assistant\n", "completion": "a<|im_end|>"}"#;
        for (folder, is_eval) in [("rollout", false), ("eval-rollout", true)] {
            let file = InputFile {
                name: Some(format!("logs/{folder}/4/17.jsonl")),
                bytes: line.as_bytes().to_vec(),
            };
            let outcome = import(&[file]).unwrap();
            let episode = &outcome.episodes[0];
            assert_eq!((episode.start.len(), episode.steps.len()), (1, 1));
            assert_eq!(episode.reward(), Some(-5.0));
            assert!(episode.scores.is_empty() && episode.raw.is_empty());
            let usage = episode.usage();
            assert_eq!((usage.input, usage.output), (Some(7), Some(5)));
            let metadata = &episode.metadata;
            assert_eq!(metadata.get("step"), Some(&4.into()));
            assert_eq!(metadata.get("group"), Some(&"17".into()));
            let versions = vec![Json::from(3), Json::from(4)];
            assert_eq!(metadata.get("weight_versions"), Some(&versions.into()));
            assert_eq!(metadata.contains_key("split"), is_eval);
        }
    }
}
