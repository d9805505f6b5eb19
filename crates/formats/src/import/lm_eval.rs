//! Samples of lm-evaluation-harness (`samples_<task>_<date>.jsonl`, written by `--log_samples`): lines of `{doc_id,
//! doc, target, arguments, resps, filtered_resps, filter, metrics, doc_hash, …}` with a member for each metric.
//!
//! A generated reply is a message. If only the choices of a question were rated, the message is the most likely one.

use volary_core::json::{Json, Object, Text};
use volary_core::{Message, Role};
use volary_episode::episode::{Ending, Episode, Rewards, Score, TaskReference};

use super::chat;
use super::members::{Members, keep_rest, number, reward};
use super::reader::{Confidence, Sink};
use super::records::Records;
use super::transcript::Transcript;

pub(super) const LM_EVAL: Records = Records {
    id: "lm-eval",
    name: "lm-evaluation-harness samples (one per line)",
    title: "lm-evaluation-harness samples",
    record: "a sample",
    confidence: Confidence::Likely,
    is: is_sample,
    read: sample,
};

fn is_sample(value: &Json) -> bool {
    let has = |key| value.get(key).is_some();
    has("doc_id") && has("doc") && has("arguments") && has("resps") && has("filtered_resps")
}

fn sample(mut rest: Object, line: usize, sink: &mut Sink<'_>) {
    let document = rest.take_id("doc_id").unwrap_or_default();
    let filter = rest
        .take_text("filter")
        .filter(|filter| &**filter != "none");
    let requests = requests(&rest.take("arguments").unwrap_or_default());
    let responses = rest.take_list("resps").unwrap_or_default();
    let mut transcript = Transcript::default();
    if let Some((prompt, _)) = requests.first() {
        for message in prompt_messages(prompt) {
            transcript.observe(message);
        }
    }
    if let Some(answer) = answer(&requests, &responses) {
        transcript.push(Message::new(Role::Assistant, answer).into());
    }
    let mut episode = Episode {
        id: format!("{}-{line}", sink.stem()).into(),
        name: match &filter {
            Some(filter) => format!("Document {document}, {filter}").into(),
            None => format!("Document {document}").into(),
        },
        task: Some(TaskReference {
            dataset: task_of(&sink.stem()).into(),
            id: document,
        }),
        rewards: Rewards::Unknown,
        ending: Ending::Done,
        ..Episode::default()
    };
    let filtered = rest
        .take("filtered_resps")
        .and_then(|filtered| leaf(&filtered));
    let target = rest.get("target").cloned();
    for metric in rest.take_list("metrics").unwrap_or_default() {
        let Some(name) = metric.as_text() else {
            continue;
        };
        let Some(value) = rest.take(name) else {
            continue;
        };
        // The first metric is the task's main one.
        if let (Rewards::Unknown, Some(worth)) = (episode.rewards, reward(&value)) {
            episode.rewards = Rewards::Whole(worth);
        }
        let mut extras = Object::new();
        if let Some(answer) = &filtered {
            extras.insert("answer", answer.clone());
        }
        episode.scores.push(Score {
            name: name.clone(),
            value,
            explanation: None,
            extras,
        });
    }
    if let Some(filter) = filter {
        episode.metadata.insert("filter", filter);
    }
    if let Some(target) = target {
        rest.remove("target");
        episode.metadata.insert("target", target);
    }
    if let Some(document) = rest.take_object("doc") {
        episode.metadata.insert("doc", document);
    }
    transcript.finish(&mut episode);
    keep_rest(&mut episode, rest, sink);
    sink.episode(episode);
}

/// The task in a file name: `samples_gsm8k_2026-01-02T03-04-05.123456`.
fn task_of(stem: &str) -> String {
    let name = stem.strip_prefix("samples_").unwrap_or(stem);
    match name.rsplit_once('_') {
        Some((task, date)) if date.starts_with("20") => task.to_owned(),
        _ => name.to_owned(),
    }
}

/// The prompt and the second argument of each request: `{gen_args_0: {arg_0, arg_1}}`, or a list of lists.
fn requests(arguments: &Json) -> Vec<(Text, Json)> {
    let request = |values: &mut dyn Iterator<Item = &Json>| {
        let prompt = values.next()?;
        let prompt = match prompt {
            // Messages of a chat.
            Json::List(list) => match list.first() {
                Some(Json::Text(text)) => text.clone(),
                _ => prompt.to_compact_text().into(),
            },
            other => other.as_text()?.clone(),
        };
        Some((prompt, values.next().cloned().unwrap_or_default()))
    };
    match arguments {
        Json::Object(object) => {
            let requests = object.values().filter_map(Json::as_object);
            requests
                .filter_map(|arguments| request(&mut arguments.values()))
                .collect()
        }
        Json::List(list) => {
            let requests = list.iter().filter_map(Json::as_list);
            requests
                .filter_map(|arguments| request(&mut arguments.iter()))
                .collect()
        }
        _ => Vec::new(),
    }
}

/// The messages of a prompt: a chat in JSON, or otherwise one message of the user.
fn prompt_messages(prompt: &str) -> Vec<super::transcript::ImportedMessage> {
    if prompt.trim_start().starts_with("[{")
        && let Ok(Json::List(messages)) = Json::parse(prompt)
        && messages.iter().all(chat::is_message)
    {
        return messages.iter().flat_map(chat::read).collect();
    }
    vec![Message::user(prompt).into()]
}

/// The reply of the model: the generated text, or the choice with the highest likelihood.
fn answer(requests: &[(Text, Json)], responses: &[Json]) -> Option<Text> {
    let rated = requests
        .iter()
        .zip(responses)
        .filter_map(|((_, choice), response)| Some((choice.as_text()?, likelihood(response)?)));
    let best = rated.max_by(|one, other| one.1.total_cmp(&other.1));
    match best {
        Some((choice, _)) => Some(choice.clone()),
        None => leaf(responses.first()?),
    }
}

/// The log-likelihood, followed by whether the choice was the greedy one: `[["-1.25", "False"]]`.
fn likelihood(response: &Json) -> Option<f64> {
    match response {
        Json::List(list) => match list.as_slice() {
            [likelihood, greedy] if is_flag(greedy) => number(likelihood),
            [inner, ..] => likelihood_within(inner),
            [] => None,
        },
        _ => None,
    }
}

fn likelihood_within(inner: &Json) -> Option<f64> {
    matches!(inner, Json::List(_))
        .then(|| likelihood(inner))
        .flatten()
}

fn is_flag(value: &Json) -> bool {
    match value {
        Json::Bool(_) => true,
        value => matches!(value.as_text().map(|text| &**text), Some("True" | "False")),
    }
}

/// The first text within nested lists.
fn leaf(value: &Json) -> Option<Text> {
    match value {
        Json::List(list) => list.iter().find_map(leaf),
        value => value.as_text().cloned(),
    }
}
