//! Completions logged by TRL's trainers (`log_completions`), as JSON rows: `{step, prompt, completion, <rewards>,
//! advantage, …}`. Prompt and completion are texts, or lists of messages. Each reward function has a column between
//! `completion` and `advantage`; null means no reward.

use volary_core::json::{Json, Object, Text};

use super::chat;
use super::members::{Members, keep_rest, number, unpacked};
use super::reader::{Confidence, Sink};
use super::records::Records;
use super::slime;
use super::transcript::Transcript;
use crate::episode::{Ending, Episode, Rewards, Score, TaskReference};

pub(super) const TRL: Records = Records {
    id: "trl",
    name: "TRL completions (rows of JSON)",
    title: "TRL completions",
    record: "a completion",
    confidence: Confidence::Likely,
    is: is_row,
    read: row,
};

fn is_row(value: &Json) -> bool {
    let is_said = |key: &str| {
        value
            .get(key)
            .is_some_and(|said| said.as_text().is_some() || said.as_list().is_some())
    };
    let is_number = |key: &str| value.get(key).is_some_and(|it| it.as_f64().is_some());
    // Tables write NaN as null.
    let has_advantage = value.get("advantage").is_some_and(Json::is_null) || is_number("advantage");
    is_said("prompt") && is_said("completion") && is_number("step") && has_advantage
}

fn row(mut rest: Object, line: usize, sink: &mut Sink<'_>) {
    let step = rest.take_id("step").unwrap_or_default();
    let scores = scores(&rest);
    for score in &scores {
        rest.remove(&score.name);
    }
    let prompt = rest.take("prompt").map(unpacked).unwrap_or_default();
    let completion = rest.take("completion").map(unpacked).unwrap_or_default();
    let mut transcript = Transcript::default();
    let task = match prompt {
        Json::List(messages) => asked(messages, &mut transcript),
        prompt => slime::push_prompt(&mut transcript, &text(&prompt)),
    };
    match completion {
        Json::List(messages) => {
            let messages = chat::read_all(messages);
            messages.for_each(|said| transcript.push(slime::with_calls(said)));
        }
        completion => slime::push_response(&mut transcript, &text(&completion)),
    }
    let judged: Vec<f64> = scores
        .iter()
        .filter_map(|score| number(&score.value))
        .filter(|worth| worth.is_finite())
        .collect();
    let mut episode = Episode {
        id: format!("{}-{line}", sink.stem()).into(),
        name: format!("Step {step}, sample {line}").into(),
        task: task.map(|id| TaskReference {
            dataset: "trl".into(),
            id,
        }),
        // With several, their weights are not in the file.
        rewards: match (judged.as_slice(), scores.len()) {
            ([only], 1) => Rewards::Whole(*only),
            _ => Rewards::Unknown,
        },
        scores,
        ending: Ending::Done,
        ..Episode::default()
    };
    episode.metadata.insert("step", step);
    for (key, value) in std::mem::take(&mut rest) {
        match value {
            Json::Null => {}
            Json::List(_) | Json::Object(_) => drop(rest.insert(key, value)),
            value => drop(episode.metadata.insert(key, value)),
        }
    }
    transcript.finish(&mut episode);
    keep_rest(&mut episode, rest, sink);
    sink.episode(episode);
}

fn text(value: &Json) -> Text {
    match value {
        Json::Text(text) => text.clone(),
        other => other.to_compact_text().into(),
    }
}

/// Adds the messages of a prompt, and returns the name of its task.
fn asked(messages: Vec<Json>, transcript: &mut Transcript) -> Option<Text> {
    let mut prompt = Vec::new();
    for said in chat::read_all(messages) {
        prompt.push(slime::plain(&said.message));
        transcript.observe(said);
    }
    slime::task_of(&prompt)
}

/// The columns of the reward functions: numbers and nulls after the completion.
fn scores(row: &Object) -> Vec<Score> {
    let after = row
        .iter()
        .skip_while(|(key, _)| key.as_ref() != "completion");
    let columns = after
        .skip(1)
        .take_while(|(key, _)| key.as_ref() != "advantage");
    // Rewards are written as floats; whole numbers and texts are other columns.
    let columns = columns.filter(|(_, value)| value.is_null() || matches!(value, Json::Float(_)));
    let score = |(key, value): (&volary_core::json::Key, &Json)| Score {
        name: key.as_ref().into(),
        value: value.clone(),
        ..Score::default()
    };
    columns.map(score).collect()
}
