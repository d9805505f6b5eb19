//! Evaluations of SkyRL, a file for each data source (`dumped_evals/global_step_N_evals/SOURCE.jsonl`): lines of
//! `{input_prompt, output_response, score, stop_reason, env_class, env_extras, data_source}`. The texts contain the
//! markup of their chat template; a score is a number, or one for each token.

use volary_core::json::{Json, Object};

use super::members::{Members, keep_rest, number};
use super::reader::{Confidence, Sink};
use super::records::Records;
use super::slime;
use super::transcript::Transcript;
use crate::episode::{Ending, Episode, Rewards, TaskReference};

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
    let is_text = |key: &str| value.get(key).is_some_and(|text| text.as_text().is_some());
    is_text("input_prompt") && is_text("output_response") && value.get("score").is_some()
}

fn sample(mut rest: Object, line: usize, sink: &mut Sink<'_>) {
    let prompt = rest.take_text("input_prompt").unwrap_or_default();
    let output = rest.take_text("output_response").unwrap_or_default();
    let source = rest.take_text("data_source");
    let stop = rest.take_text("stop_reason");
    let mut transcript = Transcript::default();
    let task = slime::push_prompt(&mut transcript, &prompt);
    slime::push_response(&mut transcript, &output);
    let reward = match rest.take("score") {
        Some(Json::List(tokens)) => {
            let rewards: Option<Vec<f64>> = tokens.iter().map(number).collect();
            rewards.map(|rewards| rewards.into_iter().sum())
        }
        Some(score) => number(&score),
        None => None,
    };
    let mut episode = Episode {
        id: format!("{}-{line}", sink.stem()).into(),
        name: format!("Sample {line}").into(),
        environment: rest.take_text("env_class"),
        task: task.map(|id| TaskReference {
            dataset: source.clone().unwrap_or_else(|| "skyrl".into()),
            id,
        }),
        rewards: reward
            .filter(|reward| reward.is_finite())
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
    if let Some(source) = source {
        episode.metadata.insert("data_source", source);
    }
    if let Some(extras) = rest.take("env_extras") {
        episode.metadata.insert("env_extras", extras);
    }
    transcript.finish(&mut episode);
    keep_rest(&mut episode, rest, sink);
    sink.episode(episode);
}
