//! Samples of EvalScope: predictions (`predictions/MODEL/DATASET.jsonl`), lines of `{index, model, model_output, messages,
//! metadata}`, and reviews (`reviews/MODEL/DATASET.jsonl`), lines of `{index, messages, sample_score, target}`.
//!
//! The messages of a line end with the model's reply. The main score of a review is the reward. `reviews` joins both files.

mod reviews;

use serde::Deserialize;
use volary_core::Role;
use volary_core::json::{Json, Object, Text};
use volary_episode::episode::{Ending, Episode, Rewards, Score, TaskReference, Usage};

use super::chat;
use super::members::{id, keep_rest, text_at};
use super::reader::{Confidence, Sink};
use super::records::Records;
use super::transcript::Transcript;
use super::typed;
pub(super) use reviews::join;

pub(super) const EVALSCOPE: Records = Records {
    id: "evalscope",
    name: "samples of EvalScope (one per line)",
    title: "EvalScope samples",
    record: "a sample",
    confidence: Confidence::Certain,
    is: is_sample,
    read: sample,
};

fn is_sample(value: &Json) -> bool {
    let has = |key: &str| value.get(key).is_some();
    let score = value
        .get("sample_score")
        .and_then(|score| score.get("score"));
    let output = value
        .get("model_output")
        .and_then(|output| output.get("choices"));
    has("index") && has("messages") && (score.is_some() || output.is_some())
}

#[derive(Default, Deserialize)]
#[serde(default)]
struct Sample {
    index: Json,
    messages: Vec<Json>,
    model: Option<Text>,
    model_output: Option<ModelOutput>,
    target: Option<Json>,
    metadata: Option<Json>,
    /// The other members.
    #[serde(skip)]
    rest: Object,
}

#[derive(Default, Deserialize)]
#[serde(default)]
struct ModelOutput {
    model: Option<Text>,
    choices: Vec<Json>,
    usage: Option<Json>,
    time: Option<f64>,
    error: Option<Text>,
}

#[derive(Default, Deserialize)]
#[serde(default)]
struct SampleScore {
    sample_id: Option<Json>,
    group_id: Option<Json>,
    sample_metadata: Option<Json>,
}

#[derive(Default, Deserialize)]
#[serde(default)]
struct Judged {
    /// The value of each metric.
    value: Object,
    main_score_name: Option<Text>,
    explanation: Option<Text>,
    extracted_prediction: Option<Json>,
}

fn sample(mut record: Object, _number: usize, sink: &mut Sink<'_>) {
    // It may be large, so it is moved and not read with the others.
    let score = record.remove("sample_score");
    let (sample, odd) = typed::record::<Sample>(record.into(), "A sample", sink);
    let dataset = sink.stem();
    let index = id(&sample.index).unwrap_or_default();
    let mut episode = Episode {
        id: format!("{dataset}-{index}").into(),
        name: format!("Sample {index}").into(),
        model: sample.model.filter(|model| !model.is_empty()),
        task: Some(TaskReference {
            dataset: dataset.clone(),
            id: index,
        }),
        rewards: Rewards::Unknown,
        ending: Ending::Done,
        ..Episode::default()
    };
    let mut rest = sample.rest;
    rest.extend(odd);
    let mut usage = None;
    let mut transcript = Transcript::default();
    let mut replies = false;
    // The last message, which the output describes. All of them at once would be twice in memory.
    let mut last = None;
    for said in chat::read_all(sample.messages) {
        replies |= said.message.role() == Role::Assistant;
        if let Some(before) = last.replace(said) {
            transcript.push(before);
        }
    }
    if let Some(output) = sample.model_output {
        usage = output.usage.as_ref().and_then(tokens);
        episode.model = output.model.or(episode.model.take());
        episode.seconds = output.time;
        if let Some(message) = output.error.filter(|error| !error.is_empty()) {
            episode.errors.push(message.clone());
            episode.ending = Ending::Crashed { message };
        }
        let first = output.choices.into_iter().next().unwrap_or_default();
        episode.outcome = text_at(&first, &["stop_reason"]);
        // Its message is the last one of the sample, unless the sample has only the prompt.
        if let Some(message) = first.get("message").filter(|_| !replies) {
            for said in chat::read(message) {
                if let Some(before) = last.replace(said) {
                    transcript.push(before);
                }
            }
        }
    }
    if let Some(mut last) = last {
        if last.message.role() == Role::Assistant {
            last.details.usage = usage;
            last.details.model = episode.model.clone();
            last.seconds = episode.seconds;
        }
        transcript.push(last);
    }
    transcript.finish(&mut episode);
    if let Some(score) = score.filter(|score| !score.is_null()) {
        judged(score, &mut episode, &mut rest, sink);
    }
    for (key, value) in [("target", sample.target), ("metadata", sample.metadata)] {
        if let Some(value) = value.filter(|value| !is_empty(value)) {
            episode.metadata.insert(key, value);
        }
    }
    rest.retain(|_, value| !is_empty(value));
    keep_rest(&mut episode, rest, sink);
    sink.episode(episode);
}

fn judged(mut score: Json, episode: &mut Episode, rest: &mut Object, sink: &mut Sink<'_>) {
    let judged = match &mut score {
        Json::Object(score) => score.remove("score"),
        _ => None,
    };
    let (score, odd) = typed::record::<SampleScore>(score, "A score", sink);
    if !odd.is_empty() {
        rest.insert("sample_score", odd);
    }
    for (key, value) in [("sample", score.sample_id), ("group", score.group_id)] {
        if let Some(value) = value {
            episode.metadata.insert(key, value);
        }
    }
    if let Some(value) = score.sample_metadata.filter(|value| !is_empty(value)) {
        episode.metadata.insert("sample_metadata", value);
    }
    let Some(judged) = judged.filter(|judged| !judged.is_null()) else {
        return;
    };
    let (judged, mut others) = typed::record::<Judged>(judged, "A score", sink);
    let main = judged.main_score_name;
    let reward = match &main {
        Some(main) => judged.value.get(main).and_then(Json::as_f64),
        None => judged.value.values().find_map(Json::as_f64),
    };
    episode.rewards = reward.map_or(Rewards::Unknown, Rewards::Whole);
    for (name, value) in judged.value {
        let name = Text::from(name.as_ref());
        let is_main = main.as_ref().is_none_or(|main| *main == name);
        episode.scores.push(Score {
            explanation: judged
                .explanation
                .clone()
                .filter(|text| is_main && !text.is_empty()),
            name,
            value,
            ..Score::default()
        });
    }
    if let Some(answer) = judged.extracted_prediction {
        episode.metadata.insert("extracted_prediction", answer);
    }
    // It repeats the reply.
    others.remove("prediction");
    others.retain(|_, value| !is_empty(value));
    if !others.is_empty() {
        rest.insert("score", others);
    }
}

fn is_empty(value: &Json) -> bool {
    match value {
        Json::Null => true,
        Json::Text(text) => text.is_empty(),
        Json::List(list) => list.is_empty(),
        Json::Object(object) => object.is_empty(),
        _ => false,
    }
}

/// Token counts. Cached input is part of the input here.
fn tokens(value: &Json) -> Option<Usage> {
    let cached = value
        .get("input_tokens_cache_read")
        .and_then(super::members::count);
    let usage = chat::usage(value)?;
    Some(Usage {
        cached: usage.cached.or(cached),
        ..usage
    })
}
