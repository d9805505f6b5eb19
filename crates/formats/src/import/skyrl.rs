//! Evaluations of SkyRL, a file for each data source (`dumped_evals/global_step_N_evals/SOURCE.jsonl`): lines of
//! `{input_prompt, output_response, score, stop_reason, env_class, env_extras, data_source}`. The texts contain the
//! markup of their chat template; a score is a number, or one for each token.
//!
//! The prompt and the response are texts in SkyRL's own files. Generators that keep conversations or ids write lists:
//! messages, texts of a batch (which is what newer tokenizers decode to), or token ids. Which ids are trained is not written.

use volary_core::json::{Json, Object};
use volary_episode::episode::{Ending, Episode, Rewards, TaskReference};
use volary_episode::token_record::{Alignment, LossMask, TokenRecordBuilder};

use super::members::{Members, keep_rest, number, reward};
use super::reader::{Confidence, Sink};
use super::records::Records;
use super::said::{Said, ids_of_both, keep_ids};
use super::slime;
use super::token_lists::{attach, stream};
use super::transcript::Transcript;

pub(super) const SKYRL: Records = Records {
    id: "skyrl",
    name: "SkyRL evaluations (one per line)",
    title: "SkyRL evaluation",
    record: "a sample",
    confidence: Confidence::Likely,
    is: is_sample,
    read: sample,
};

fn is_sample(value: &Json) -> bool {
    let is_said = |key: &str| matches!(value.get(key), Some(Json::Text(_) | Json::List(_)));
    is_said("input_prompt") && is_said("output_response") && value.get("score").is_some()
}

/// The step in the name of a folder, such as `global_step_20_evals`.
fn step_of(folder: &str) -> Option<i64> {
    let (_, after) = folder.split_once("global_step_")?;
    let digits = after.find(|sign: char| !sign.is_ascii_digit());
    after[..digits.unwrap_or(after.len())].parse().ok()
}

fn sample(mut rest: Object, line: usize, sink: &mut Sink<'_>) {
    let prompt = Said::of(rest.take("input_prompt"));
    let output = Said::of(rest.take("output_response"));
    let source = rest.take_text("data_source");
    let stop = rest.take_text("stop_reason");
    let exception = rest.take_text("exception_type");
    // It is null for samples that did not fail.
    rest.retain(|key, value| *key != "exception_type" || !value.is_null());
    let mut transcript = Transcript::default();
    let tokens = ids_of_both(&prompt, &output);
    if tokens.is_none() {
        keep_ids(&prompt, ("input_prompt", "prompt_ids"), &mut rest, sink);
        keep_ids(
            &output,
            ("output_response", "response_ids"),
            &mut rest,
            sink,
        );
    }
    let task = match (prompt, output) {
        (Said::Text(prompt), Said::Text(output)) => {
            slime::push_rollout(&mut transcript, &prompt, &output)
        }
        (prompt, output) => {
            let task = match prompt {
                Said::Text(prompt) => slime::push_prompt(&mut transcript, &prompt),
                prompt => prompt.push(&mut transcript),
            };
            match output {
                Said::Text(output) => slime::push_response(&mut transcript, &output),
                output => drop(output.push(&mut transcript)),
            }
            task
        }
    };
    let scores = rest.get("score").and_then(stream);
    let score = rest.take("score");
    let worth = match &score {
        // Without tokens there is no score.
        Some(Json::List(tokens)) if tokens.is_empty() => None,
        Some(Json::List(tokens)) => {
            let rewards: Option<Vec<f64>> = tokens.iter().map(number).collect();
            rewards.map(|rewards| rewards.into_iter().sum())
        }
        Some(score) => reward(score),
        None => None,
    };
    let is_missing = matches!(&score, Some(Json::List(tokens)) if tokens.is_empty());
    if worth.is_none()
        && !is_missing
        && let Some(score @ (Json::Object(_) | Json::List(_) | Json::Text(_))) = score
    {
        sink.kept("A score that is no number is kept as `score`, and is no reward.");
        rest.insert("score", score);
    }
    let mut episode = Episode {
        id: format!("{}-{line}", sink.stem()).into(),
        name: format!("Sample {line}").into(),
        environment: rest.take_text("env_class"),
        task: task.map(|id| TaskReference {
            dataset: source.clone().unwrap_or_else(|| "skyrl".into()),
            id,
        }),
        rewards: worth.map_or(Rewards::Unknown, Rewards::Whole),
        ending: match (stop.as_deref(), exception) {
            (_, Some(exception)) => Ending::Crashed {
                message: format!("The generation failed: {exception}.").into(),
            },
            (Some("length"), None) => Ending::Truncated {
                reason: "The limit of tokens was reached.".into(),
            },
            (Some("abort" | "error"), None) => Ending::Crashed {
                message: "The generation was aborted.".into(),
            },
            _ => Ending::Done,
        },
        outcome: stop,
        ..Episode::default()
    };
    // The files are those of evaluations, and their folder names the step.
    episode.metadata.insert("split", "eval");
    if let Some(step) = step_of(sink.folder()) {
        episode.metadata.insert("step", step);
    }
    if let Some(source) = source {
        episode.metadata.insert("data_source", source);
    }
    if let Some(extras) = rest.take("env_extras") {
        episode.metadata.insert("env_extras", extras);
    }
    transcript.finish(&mut episode);
    if let Some((ids, response)) = tokens
        && let Ok(mut builder) = TokenRecordBuilder::new(ids, LossMask::Unknown(response))
    {
        if let Some(scores) = scores {
            builder.stream("score", &scores, Alignment::Response);
        }
        attach(builder.divided(&episode), &mut episode, sink);
    }
    keep_rest(&mut episode, rest, sink);
    sink.episode(episode);
}
