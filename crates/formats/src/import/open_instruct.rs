//! Rollouts of open-instruct (`--save_traces`): lines of `{step, sample_idx, prompt_idx, prompt_tokens, response_tokens,
//! reward, advantage, finish_reason, logprobs, …}`. There are ids and no texts, and the mask is not written: tokens of
//! tools are among the response.
//!
//! A run writes `RUN_rollouts_000000.jsonl` and a file for every further 10,000 samples, by default next to the files of other
//! runs, and `RUN_metadata.jsonl`, a line that names its model.

use volary_core::json::{Json, Object, Text};
use volary_episode::episode::{Ending, Episode, Rewards, TaskReference};
use volary_episode::token_record::{Alignment, LossMask, TokenRecordBuilder};

use super::members::{Members, keep_rest};
use super::reader::{Confidence, Document, Reader, Sink};
use super::records::Records;
use super::slime;
use super::token_lists::{attach, ids, not_ids, stream};

pub(super) const OPEN_INSTRUCT: Records = Records {
    id: "open-instruct",
    name: "open-instruct rollouts (one per line)",
    title: "open-instruct rollouts",
    record: "a rollout",
    confidence: Confidence::Likely,
    is: is_rollout,
    read: rollout,
};

fn is_rollout(value: &Json) -> bool {
    let is_list = |key: &str| value.get(key).is_some_and(|list| list.as_list().is_some());
    is_list("prompt_tokens") && is_list("response_tokens")
}

fn rollout(mut rest: Object, line: usize, sink: &mut Sink<'_>) {
    let step = rest.take("step");
    let sample = rest.take("sample_idx");
    let group = rest.take("prompt_idx");
    let shown = |value: &Option<Json>| {
        value
            .as_ref()
            .map_or_else(|| "?".to_owned(), Json::to_display)
    };
    let stop = rest.take_text("finish_reason");
    let prompt = rest.get("prompt_tokens").and_then(ids);
    let task = prompt.and_then(|prompt| slime::task_of_ids(&prompt));
    let mut episode = Episode {
        id: format!("{}-{line}", sink.stem()).into(),
        name: format!(
            "Step {}, group {}, sample {}",
            shown(&step),
            shown(&group),
            shown(&sample)
        )
        .into(),
        // The numbers of prompts start again at each step, so only the prompt itself names the task.
        task: task.map(|id| TaskReference {
            dataset: data_set(&mut rest).unwrap_or_else(|| "open-instruct".into()),
            id,
        }),
        rewards: rest
            .take_reward("reward")
            .map_or(Rewards::Unknown, Rewards::Whole),
        ending: match stop.as_deref() {
            Some("length") => Ending::Truncated {
                reason: "The limit of tokens was reached.".into(),
            },
            Some("abort" | "error") => Ending::Crashed {
                message: "The generation was aborted.".into(),
            },
            _ => Ending::Done,
        },
        outcome: stop,
        ..Episode::default()
    };
    if let Some(run) = run_of(&sink.stem()) {
        episode.metadata.insert("run", run);
    }
    let members = [
        ("step", step),
        ("group", group),
        ("sample", sample),
        ("advantage", rest.take("advantage")),
    ];
    for (key, value) in members {
        if let Some(value) = value {
            episode.metadata.insert(key, value);
        }
    }
    tokens(&mut rest, line, &mut episode, sink);
    keep_rest(&mut episode, rest, sink);
    sink.episode(episode);
}

/// The data set: a name, or a list of those whose verifiers give the reward.
fn data_set(rest: &mut Object) -> Option<Text> {
    let is_name = |value: &Json| value.as_text().is_some();
    let is_names = |value: &Json| {
        let names = value.as_list().unwrap_or_default();
        is_name(value) || !names.is_empty() && names.iter().all(is_name)
    };
    match rest.take_if("dataset", is_names)? {
        Json::List(names) => {
            let names: Vec<&str> = names
                .iter()
                .filter_map(|name| Some(&**name.as_text()?))
                .collect();
            Some(names.join(", ").into())
        }
        name => name.as_text().cloned(),
    }
}

/// The run in the name of a file.
fn run_of(stem: &str) -> Option<&str> {
    let (run, number) = stem.rsplit_once("_rollouts_")?;
    let is_number = !number.is_empty() && number.bytes().all(|digit| digit.is_ascii_digit());
    (is_number && !run.is_empty()).then_some(run)
}

/// Reads the tokens. Those that cannot be used stay as they are.
fn tokens(rest: &mut Object, line: usize, episode: &mut Episode, sink: &mut Sink<'_>) {
    const LISTS: [&str; 2] = ["prompt_tokens", "response_tokens"];
    let lists = LISTS.map(|key| rest.get(key).and_then(ids));
    let [Some(mut all), Some(response)] = lists else {
        let wrong = LISTS.iter().filter_map(|key| Some((key, rest.get(key)?)));
        for (key, value) in wrong.filter(|(_, value)| ids(value).is_none()) {
            sink.lost(not_ids(key, value, &format!("line {line}")));
        }
        return;
    };
    for key in LISTS {
        rest.remove(key);
    }
    let length = response.len();
    all.extend(response);
    // The response is a part of all tokens.
    let Ok(mut builder) = TokenRecordBuilder::new(all, LossMask::Unknown(length)) else {
        return;
    };
    if let Some(values) = rest.get("logprobs").and_then(stream) {
        rest.remove("logprobs");
        builder.stream("logprobs", &values, Alignment::Response);
    }
    attach(builder.divided(episode), episode, sink);
}

/// The file that names the model and the commit of a run. It is only reported: the rollouts are in other files, and large ones
/// are read apart from it.
pub(super) struct RunMetadata;

impl Reader for RunMetadata {
    fn id(&self) -> &'static str {
        "open-instruct-metadata"
    }

    fn name(&self) -> &'static str {
        "open-instruct run metadata"
    }

    fn recognise(&self, document: &Document) -> Confidence {
        const MEMBERS: [&str; 4] = ["run_name", "git_commit", "model_name", "timestamp"];
        let members = document.head().as_object();
        let is_metadata = members.is_some_and(|members| {
            members.len() == MEMBERS.len() && MEMBERS.iter().all(|key| members.contains_key(key))
        });
        if is_metadata {
            Confidence::Likely
        } else {
            Confidence::No
        }
    }

    fn read(&self, document: Document, sink: &mut Sink<'_>) {
        let head = document.head();
        let shown = |key: &str| head.get(key).map_or_else(String::new, Json::to_display);
        sink.understood(format!(
            "open-instruct: the run {} trains {} (commit {}).",
            shown("run_name"),
            shown("model_name"),
            shown("git_commit")
        ));
    }
}
