//! Evaluations of SkyRL, a file for each data source (`dumped_evals/global_step_N_evals/SOURCE.jsonl`): lines of
//! `{input_prompt, output_response, score, stop_reason, env_class, env_extras, data_source}`. The texts contain the
//! markup of their chat template; a score is a number, or one for each token.
//!
//! The prompt and the response are texts in SkyRL's own files. Generators that keep conversations or ids write lists:
//! messages, texts of a batch (which is what newer tokenizers decode to), or token ids. Which ids are trained is not written.

use volary_core::TokenId;
use volary_core::json::{Json, Object, Text};

use super::chat;
use super::members::{Members, keep_rest, number, reward};
use super::reader::{Confidence, Sink};
use super::records::Records;
use super::slime;
use super::token_lists::{attach, ids, stream};
use super::transcript::Transcript;
use crate::episode::{Ending, Episode, Rewards, TaskReference};
use crate::token_record::{Alignment, LossMask, TokenRecordBuilder};

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

/// A prompt or a response.
enum Said {
    Text(Text),
    Messages(Vec<Json>),
    Ids(Vec<TokenId>),
}

impl Said {
    fn of(value: Option<Json>) -> Said {
        let Some(Json::List(list)) = value else {
            let text = value.as_ref().and_then(Json::as_text).cloned();
            return Said::Text(text.unwrap_or_default());
        };
        let texts: Option<Vec<&str>> = list.iter().map(|text| Some(&**text.as_text()?)).collect();
        if let Some(texts) = texts {
            return Said::Text(texts.concat().into());
        }
        let list = Json::List(list);
        match (ids(&list), list) {
            (Some(ids), _) => Said::Ids(ids),
            (None, Json::List(messages)) => Said::Messages(messages),
            (None, _) => Said::Text(Text::default()),
        }
    }

    fn ids(&self) -> Option<&[TokenId]> {
        match self {
            Said::Ids(ids) => Some(ids),
            _ => None,
        }
    }
}

/// Adds the messages of a list. Returns the name of the task in the last one of the user.
fn push_messages(transcript: &mut Transcript, messages: Vec<Json>) -> Option<Text> {
    let mut all = Vec::new();
    for said in chat::read_all(messages) {
        all.push(slime::plain(&said.message));
        transcript.push(slime::with_calls(said));
    }
    slime::task_of(&all)
}

fn sample(mut rest: Object, line: usize, sink: &mut Sink<'_>) {
    let prompt = Said::of(rest.take("input_prompt"));
    let output = Said::of(rest.take("output_response"));
    let source = rest.take_text("data_source");
    let stop = rest.take_text("stop_reason");
    let mut transcript = Transcript::default();
    let tokens = prompt.ids().zip(output.ids());
    let tokens = tokens.map(|(prompt, output)| ([prompt, output].concat(), output.len()));
    for (name, said) in [("prompt_ids", &prompt), ("response_ids", &output)] {
        // Ids of one of the two are no record of tokens.
        if let (Some(ids), None) = (said.ids(), &tokens) {
            sink.kept(format!(
                "A sample has ids of tokens in one of `input_prompt` and `output_response` only; they are kept as \
                 `{name}`."
            ));
            let ids = ids.iter().map(|id| i64::from(*id).into()).collect();
            rest.insert(name, Json::List(ids));
        }
    }
    let task = match prompt {
        Said::Text(prompt) => slime::push_prompt(&mut transcript, &prompt),
        Said::Messages(messages) => push_messages(&mut transcript, messages),
        Said::Ids(_) => None,
    };
    match output {
        Said::Text(output) => slime::push_response(&mut transcript, &output),
        Said::Messages(messages) => drop(push_messages(&mut transcript, messages)),
        Said::Ids(_) => {}
    }
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
