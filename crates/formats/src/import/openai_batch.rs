//! Batches of OpenAI's API: requests, lines of `{custom_id, method, url, body}`, and results, lines of `{id, custom_id,
//! response: {status_code, request_id, body}, error}`. A body is one of chat completions or of the Responses API. Files
//! of both kinds that are imported together become episodes with request and reply.

use std::collections::HashMap;

use volary_core::json::{Json, Object, Text};
use volary_core::{Message, Role, object};
use volary_episode::episode::{Ending, Episode, Rewards};

use super::ImportOutcome;
use super::chat;
use super::describe::counted;
use super::expansion;
use super::files::Files;
use super::members::{Members, keep_rest, remove_secrets, text_at};
use super::reader::{Confidence, Document, Line, Reader, Sink};
use super::transcript::Transcript;

pub(super) struct OpenAiBatch;

impl Reader for OpenAiBatch {
    fn id(&self) -> &'static str {
        "openai-batch"
    }

    fn name(&self) -> &'static str {
        "OpenAI batches (requests, results, or both)"
    }

    /// Reads results together with their requests, if those are present.
    fn gather(&self, files: &mut Files<'_>, outcome: &mut ImportOutcome) {
        let mut candidates = files.open();
        candidates.retain(|index| files.starts_with_quoted(*index, "custom_id"));
        // Requests and results are in different files: a file alone is read as a document.
        if candidates.len() < 2 {
            return;
        }
        let (mut asked, mut answered) = (Vec::new(), Vec::new());
        for index in candidates {
            let Ok(read) = files.read_document(index) else {
                continue;
            };
            let holds = |is: fn(&Json) -> bool| read.document.samples().any(is);
            if holds(is_result) {
                answered.push((index, read));
            } else if holds(is_request) {
                asked.push((index, read));
            }
        }
        if asked.is_empty() || answered.is_empty() {
            return;
        }
        let mut requests: HashMap<Text, Object> = HashMap::new();
        let mut files_of: HashMap<Text, usize> = HashMap::new();
        for (index, read) in asked {
            files.take(index);
            for line in read.document.into_records() {
                if let Json::Object(mut request) = line.value
                    && let Some(id) = request.take_id("custom_id")
                {
                    files_of.insert(id.clone(), index);
                    requests.insert(id, request);
                }
            }
        }
        for (index, read) in answered {
            files.take(index);
            let name = files.name(index).to_owned();
            let size: usize = requests.values().map(expansion::size_of_object).sum();
            let size = size.saturating_add(read.document.size());
            let mut sink = Sink::new(outcome, self.id(), &name).within(size);
            read.losses.into_iter().for_each(|loss| sink.lost(loss));
            records(read.document, &mut requests, &mut sink);
        }
        if !requests.is_empty() {
            let mut names: Vec<&str> = (requests.keys())
                .filter_map(|id| Some(files.name(*files_of.get(id)?)))
                .collect();
            names.sort_unstable();
            let name = names.first().copied().unwrap_or_default().to_owned();
            let mut sink = Sink::new(outcome, self.id(), &name);
            let count = counted(requests.len(), "request");
            sink.lost(format!("Without a result, and omitted: {count}."));
        }
    }

    fn recognise(&self, document: &Document) -> Confidence {
        let mut samples = document.samples();
        if samples.any(|value| is_request(value) || is_result(value)) {
            Confidence::Certain
        } else {
            Confidence::No
        }
    }

    fn read(&self, document: Document, sink: &mut Sink<'_>) {
        records(document, &mut HashMap::new(), sink);
    }
}

fn is_request(value: &Json) -> bool {
    let has = |key| value.get(key).is_some();
    let body = value.get("body");
    let asks = |body: &Json| {
        ["messages", "input", "prompt"]
            .iter()
            .any(|key| body.get(key).is_some())
    };
    has("custom_id") && has("method") && has("url") && body.is_some_and(asks)
}

fn is_result(value: &Json) -> bool {
    let has = |key| value.get(key).is_some();
    let response = value.get("response");
    let is_response = |response: &Json| response.is_null() || response.get("status_code").is_some();
    has("custom_id") && has("error") && response.is_some_and(is_response)
}

fn records(document: Document, requests: &mut HashMap<Text, Object>, sink: &mut Sink<'_>) {
    let before = sink.episodes();
    for Line { number, value } in document.into_records() {
        let is_known = is_request(&value) || is_result(&value);
        match value {
            Json::Object(line) if is_known => {
                let episode = exchange(line, requests, sink);
                sink.episode(episode);
            }
            _ => sink.lost(format!("Line {number} is not of a batch.")),
        }
    }
    let count = counted(sink.episodes() - before, "episode");
    sink.understood(format!("OpenAI batch: {count}."));
}

/// Reads a request, its result, or both.
fn exchange(
    mut rest: Object,
    requests: &mut HashMap<Text, Object>,
    sink: &mut Sink<'_>,
) -> Episode {
    let id = rest.take_id("custom_id").unwrap_or_default();
    let asked = requests
        .remove(&id)
        .and_then(|mut request| request.take_object("body"));
    let asked = asked
        .or_else(|| rest.take_object("body"))
        .unwrap_or_default();
    let mut episode = Episode {
        id: id.clone(),
        name: id,
        rewards: Rewards::Unknown,
        ..Episode::default()
    };
    let mut transcript = Transcript::default();
    request(asked, &mut transcript, &mut episode);
    let error = rest.take("error");
    if let Some(Json::Object(mut response)) = rest.take("response") {
        episode.ending = Ending::Done;
        let status = response.take_number("status_code");
        match response.take_object("body") {
            Some(body) if status.is_none_or(|status| status < 400.0) => {
                answer(body, &mut transcript, &mut episode);
            }
            body => crashed(&mut episode, body.map(Json::from).unwrap_or_default()),
        }
        for (key, value) in response {
            episode.metadata.insert(key, value);
        }
    }
    if let Some(error) = error {
        crashed(&mut episode, error);
    }
    for key in ["id", "url"] {
        if let Some(value) = rest.take_text(key) {
            episode.metadata.insert(key, value);
        }
    }
    rest.remove("method");
    transcript.finish(&mut episode);
    keep_rest(&mut episode, rest, sink);
    episode
}

fn crashed(episode: &mut Episode, error: Json) {
    let message = text_at(&error, &["error", "message"])
        .or_else(|| text_at(&error, &["message"]))
        .unwrap_or_else(|| error.to_compact_text().into());
    episode.errors.push(message.clone());
    episode.ending = Ending::Crashed { message };
}

/// Reads the body of a request: its messages are inputs, even those of an assistant.
fn request(mut body: Object, transcript: &mut Transcript, episode: &mut Episode) {
    episode.model = body.take_text("model");
    let tools = body.take_list("tools").unwrap_or_default();
    episode.tools = tools.iter().filter_map(chat::tool).collect();
    if let Some(instructions) = body.take_text("instructions") {
        transcript.observe(Message::new(Role::System, instructions).into());
    }
    for key in ["messages", "input", "prompt"] {
        match body.take(key) {
            Some(Json::List(messages)) => {
                chat::read_all(messages).for_each(|said| transcript.observe(said));
            }
            Some(text) => transcript.observe(chat::plain(Role::User, chat::body(text))),
            None => {}
        }
    }
    body.retain(|_, value| !value.is_null());
    remove_secrets(&mut body);
    if !body.is_empty() {
        episode.metadata.insert("parameters", body);
    }
}

/// Reads the body of a response: one of the Responses API, or the first choice of a completion.
fn answer(mut body: Object, transcript: &mut Transcript, episode: &mut Episode) {
    let model = body.take_text("model");
    let usage = body.take("usage").and_then(|usage| chat::usage(&usage));
    episode.started = ["created_at", "created"]
        .iter()
        .find_map(|key| body.take_time(key));
    let stop;
    let messages = match body.take_list("choices") {
        Some(mut choices) if !choices.is_empty() => {
            let first = choices.remove(0);
            stop = text_at(&first, &["finish_reason"]);
            if !choices.is_empty() {
                episode.raw.insert("choices", choices);
            }
            match first.get("message").cloned() {
                Some(message) => vec![message],
                None => {
                    let text = first.get("text").cloned().unwrap_or_default();
                    vec![object!({ "role": "assistant", "content": text }).into()]
                }
            }
        }
        _ => {
            let details = body.get("incomplete_details");
            stop = details.and_then(|details| text_at(details, &["reason"]));
            let output = body.take_list("output").unwrap_or_default();
            vec![object!({ "role": "assistant", "content": output }).into()]
        }
    };
    for mut said in chat::read_all(messages) {
        if said.message.role() == Role::Assistant {
            said.details.model = model.clone();
            said.details.usage = usage;
        }
        transcript.push(said);
    }
    if matches!(stop.as_deref(), Some("length" | "max_output_tokens")) {
        episode.ending = Ending::Truncated {
            reason: "The limit of the model's answer was reached.".into(),
        };
    }
    episode.outcome = stop;
    episode.model = model.or(episode.model.take());
}
