//! Files of slime: an InteractionResult `{prompt, reward, messages, info, response, loss_mask, tokens, status}`, or a
//! Sample `{prompt, response, reward, status, …}` without messages.
//!
//! Messages are flat: tool calls are markup in the assistant's text. They are parsed as calls, the text around
//! them becomes the content, and the complete text is preserved. `chat_markup` splits the response of a sample
//! into messages; `tokens` reads the lists with a value for each token. `torch_dump` reads rollout dumps (`.pt`),
//! `train_dump` what the trainer made of them. `nested`: rollouts that are lists of groups of samples.

mod chat_markup;
mod nested;
mod tokens;
mod torch_dump;
mod train_dump;
mod training_join;

use volary_analysis::spans::{extent, spans};
use volary_analysis::table::ROLLOUT;
use volary_analysis::timeline::first_line;
use volary_core::json::{Json, Object, Text};
use volary_core::message::Body;
use volary_core::random::stable_hash;
use volary_core::{AnyMessage, Message, Role, TokenId, ToolCall, ToolRequestMessage, object};
use volary_episode::episode::{Ending, Episode, Rewards, Score, TaskReference};

use super::chat;
use super::describe::counted;
use super::members::{Members, keep_rest, reward};
use super::reader::{Confidence, Document, Grouping, Reader, Sink};
use super::token_lists;
use super::transcript::{ImportedMessage, Transcript};
use tokens::Lists;

/// The members of an episode's metadata that say where in the run it belongs.
const POSITION_KEYS: [&str; 3] = ["step", "group", "sample"];
const OPEN: &str = "<tool_call>";
const CLOSE: &str = "</tool_call>";

pub(super) use torch_dump::{
    RolloutParts, Storages, WholeDump, dump_kind, legacy_members, read as read_torch,
};
pub(super) use train_dump::{SampleKey, SampleKeys, TrainSample, TrainingDump};
pub(super) use training_join::{NotJoined, Tally, index_of, is_rollout, join};

pub(super) struct Slime;

impl Reader for Slime {
    fn id(&self) -> &'static str {
        "slime"
    }

    fn name(&self) -> &'static str {
        "slime interactions or samples (JSON, or one per line)"
    }

    fn recognise(&self, document: &Document) -> Confidence {
        let confidence = |value: &Json| {
            let has = |key| value.get(key).is_some();
            let is_sample = (has("loss_mask") || has("response_length"))
                && has("response")
                && (has("tokens") || has("messages") || has("status"));
            if is_sample {
                Confidence::Likely
            } else {
                Confidence::No
            }
        };
        let samples = of_dump(document.head()).into_iter().flatten().take(8);
        let samples = document.samples().chain(samples).map(nested::first);
        samples.map(confidence).max().unwrap_or_default()
    }

    /// A line may be a group, whose number is that of the line.
    fn grouping(&self, document: &Document) -> Grouping {
        if document.samples().any(|value| value.as_list().is_some()) {
            Grouping::Whole
        } else {
            Grouping::EachLine
        }
    }

    fn read(&self, document: Document, sink: &mut Sink<'_>) {
        let before = sink.episodes();
        match document {
            Document::Lines(lines) if lines.iter().any(|line| of_dump(&line.value).is_some()) => {
                for line in lines {
                    read_samples(Document::Value(line.value), sink);
                }
            }
            document => read_samples(document, sink),
        }
        let count = sink.episodes() - before;
        sink.understood(format!("slime: {}.", counted(count, "episode")));
    }
}

fn read_samples(document: Document, sink: &mut Sink<'_>) {
    let (step, document) = of_step(document);
    for sample in nested::samples(document.into_records()) {
        let label = sample.label;
        match sample.value {
            Json::Object(mut object) => {
                nested::set_step_and_group(&mut object, step.as_ref(), sample.group);
                let lists = Lists::take(&mut object);
                let episode = interaction(object, lists, &label, sink);
                sink.episode(episode);
            }
            _ => sink.lost(format!("Line {label} is not an interaction.")),
        }
    }
}

/// Whether the file at a path is of an evaluation. The trainer puts `eval_` before the number of the step, which may be
/// anywhere in the path: `eval_3.pt`, `stepeval_3.pt`, `eval_3/samples.pt`. The last part with a number names the step.
pub(super) fn is_evaluation(path: &str) -> bool {
    let name = path.rsplit(['/', '\\']).next().unwrap_or_default();
    let mut parts = path.rsplit(['/', '\\']);
    let numbered = parts.find(|part| part.contains(|sign: char| sign.is_ascii_digit()));
    name.starts_with(EVALUATION) || numbered.is_some_and(is_named_for_evaluation)
}

/// What the trainer puts before the number of a step that is evaluated.
const EVALUATION: &str = "eval_";

fn is_named_for_evaluation(name: &str) -> bool {
    name.match_indices(EVALUATION).any(|(offset, _)| {
        let after = name[offset + EVALUATION.len()..].chars().next();
        // `retrieval_3.pt` is a dump of training.
        !name[..offset].ends_with("retri") && after.is_some_and(|sign| sign.is_ascii_digit())
    })
}

/// The samples of a rollout dump that was converted to JSON: `{rollout_id, samples: [sample]}`.
fn of_dump(value: &Json) -> Option<&[Json]> {
    value.get("samples")?.as_list()
}

/// Replaces a rollout dump by its samples. Also returns its step.
fn of_step(document: Document) -> (Option<Json>, Document) {
    let Document::Value(mut dump) = document else {
        return (None, document);
    };
    let step = dump.get("rollout_id").cloned();
    let samples = match &mut dump {
        Json::Object(members) if !members.contains_key("response") => members.take_list("samples"),
        _ => None,
    };
    match samples {
        Some(samples) => (step, Document::Value(Json::List(samples))),
        None => (None, Document::Value(dump)),
    }
}

/// The episode of a sample. `label` says where in the file it is.
fn interaction(mut rest: Object, lists: Lists, label: &str, sink: &mut Sink<'_>) -> Episode {
    let index = rest.take_id("index");
    let group = rest.take_id("group_index");
    let step = rest.take("step");
    let status = rest.take_text("status");
    let shown = |id: &Text| number_of(id).to_display();
    let sample = index.as_ref().map_or_else(|| label.to_owned(), shown);
    let mut episode = Episode {
        id: format!("{}-{label}", sink.stem()).into(),
        name: match (&step, &group) {
            (Some(step), Some(group)) => {
                let (step, group) = (step.to_display(), shown(group));
                format!("Step {step}, group {group}, sample {sample}").into()
            }
            _ => format!("Sample {sample}").into(),
        },
        ending: ending(status.as_deref()),
        outcome: status,
        ..Episode::default()
    };
    judge(&mut episode, &mut rest);
    let mut transcript = Transcript::default();
    // The samples of a group have the same prompt. The numbers of groups and samples count on over the steps, but an
    // interaction, which has messages, has the number of its task.
    let is_interaction = rest.contains_key("messages") && group.is_none();
    let task = match (task(&rest), index.clone()) {
        (_, Some(index)) if is_interaction => Some(index),
        (asked, index) => asked.or(index),
    };
    episode.task = task.map(|id| TaskReference {
        dataset: "slime".into(),
        id,
    });
    match rest.take_list("messages") {
        Some(messages) => {
            chat::read_all(messages).for_each(|said| transcript.push(with_calls(said)));
        }
        None => {
            let prompt = rest.get("prompt").cloned().unwrap_or_default();
            let response = rest.take_text("response").unwrap_or_default();
            push_sample(&mut transcript, prompt, &response, sink);
        }
    }
    transcript.finish(&mut episode);
    for member in ["info", "metadata"] {
        for (key, value) in rest.take_object(member).unwrap_or_default() {
            // These say where in the run it belongs. The task may have members of the same names.
            if POSITION_KEYS.contains(&key.as_ref()) {
                episode.metadata.insert(format!("{member}.{key}"), value)
            } else {
                episode.metadata.insert(key, value)
            };
        }
    }
    let members = [
        ("step", step),
        ("group", group.map(|group| number_of(&group))),
        ("sample", index.map(|index| number_of(&index))),
        // Several samples may be cut from one rollout.
        (ROLLOUT, rest.take_id("rollout_id").map(|id| number_of(&id))),
        ("weight_versions", rest.take("weight_versions")),
    ];
    for (key, value) in members {
        if let Some(value) = value {
            episode.metadata.insert(key, value);
        }
    }
    if is_evaluation(sink.file()) {
        episode.metadata.insert("split", "eval");
    }
    lists.record(&mut episode, &mut rest, sink);
    keep_rest(&mut episode, rest, sink);
    if let Some((started, seconds)) = extent(&spans(&episode)) {
        (episode.started, episode.seconds) = (Some(started), Some(seconds));
    }
    episode
}

/// Adds the prompt and the response of a sample.
fn push_sample(transcript: &mut Transcript, prompt: Json, response: &str, sink: &mut Sink<'_>) {
    match prompt {
        Json::Text(prompt) => return drop(push_rollout(transcript, &prompt, response)),
        prompt if is_ids(&prompt) => {
            sink.kept("The prompt of a sample has token ids, and its text is not in the file.");
        }
        Json::List(messages) => messages
            .iter()
            .flat_map(chat::read)
            .for_each(|said| transcript.observe(said)),
        Json::Null => {}
        other => transcript.observe(chat::plain(Role::User, chat::body(other))),
    }
    push_response(transcript, response);
}

/// A whole number, if the text is one. Tables with gaps make floats of all numbers of a column.
fn number_of(id: &Text) -> Json {
    let whole = id.strip_suffix(".0").unwrap_or(id);
    whole
        .parse::<i64>()
        .map_or_else(|_| id.clone().into(), Json::from)
}

/// The name of the task: the last message of the user in the prompt.
fn task(sample: &Object) -> Option<Text> {
    match sample.get("prompt")? {
        Json::Text(prompt) => task_of(&prompt_messages(prompt).0),
        prompt if is_ids(prompt) => task_of_ids(&token_lists::ids(prompt)?),
        Json::List(messages) => {
            let said = messages.iter().flat_map(chat::read);
            let said: Vec<Message> = said.map(|said| plain(&said.message)).collect();
            task_of(&said)
        }
        _ => None,
    }
}

/// Adds a prompt and the response to it, and returns the name of its task. What the prompt began the assistant's turn with,
/// such as `<think>`, begins the response.
pub(super) fn push_rollout(
    transcript: &mut Transcript,
    prompt: &str,
    response: &str,
) -> Option<Text> {
    let (messages, begun) = prompt_messages(prompt);
    let task = task_of(&messages);
    observe_all(messages, transcript);
    if begun.is_empty() {
        push_response(transcript, response)
    } else {
        push_response(transcript, &format!("{begun}{response}"))
    }
    task
}

/// Adds a prompt whose response is no text, and returns the name of its task.
pub(super) fn push_prompt(transcript: &mut Transcript, prompt: &str) -> Option<Text> {
    let (mut messages, begun) = prompt_messages(prompt);
    let task = task_of(&messages);
    messages.extend((!begun.is_empty()).then(|| Message::new(Role::Assistant, begun)));
    observe_all(messages, transcript);
    task
}

fn observe_all(messages: Vec<Message>, transcript: &mut Transcript) {
    for message in messages {
        transcript.observe(message.into());
    }
}

/// The messages of a prompt, those separated by their markup or one of the user; and what it began the assistant's turn with.
fn prompt_messages(prompt: &str) -> (Vec<Message>, &str) {
    if chat_markup::is_marked(prompt) {
        let (messages, begun) = marked_messages(prompt);
        (messages, begun.map_or("", |begun| end_from(prompt, &begun)))
    } else {
        (vec![Message::user(prompt)], "")
    }
}

/// The end of a text, with its line breaks, that begins with a part of it.
fn end_from<'a>(text: &'a str, part: &str) -> &'a str {
    let before = text.trim_end_matches('\n').strip_suffix(part);
    before.map_or("", |before| &text[before.len()..])
}

/// Whether a text starts with the markup of a message.
pub(super) fn is_marked(text: &str) -> bool {
    chat_markup::is_marked(text)
}

/// The messages of a text with markup; and what its template began the assistant's turn with, if the text ends in one.
pub(super) fn marked_messages(text: &str) -> (Vec<Message>, Option<Text>) {
    let mut messages = chat_markup::marked_messages(text);
    let is_last = |content: &str| text.trim_end_matches('\n').ends_with(content);
    let is_begun = |last: &mut Message| {
        last.role == Role::Assistant
            && chat_markup::is_open(text)
            && is_last(last.body.content_or_empty())
    };
    let begun = messages.pop_if(is_begun);
    (messages, begun.and_then(|last| last.body.content))
}

/// The name of the task of a prompt: the first line of the last message of the user. Rollouts are trials of one task if
/// their prompts are equal, so if there is more in the prompt, a hash of it follows. Messages of the system do not count.
pub(super) fn task_of(prompt: &[Message]) -> Option<Text> {
    /// The maximum length of the line, in characters.
    const LONGEST: usize = 80;
    let said = prompt.iter().filter(|message| message.role != Role::System);
    let asked = said.clone().rfind(|message| message.role == Role::User)?;
    let content = asked.body.content_or_empty();
    let texts = texts_of(content);
    let text = texts.as_deref().unwrap_or(content);
    let line = first_line(&Message::user(text).into(), LONGEST);
    if said.clone().count() == 1 && texts.is_none() && text.trim() == line {
        return Some(line.into());
    }
    let bytes = said.flat_map(|message| {
        let role = message.role.as_str().bytes();
        role.chain(message.body.content_or_empty().bytes())
    });
    let hash = short_hash(bytes);
    Some(format!("{line} #{hash}").trim_start().into())
}

/// Whether a prompt is a list of token ids.
fn is_ids(prompt: &Json) -> bool {
    token_lists::ids(prompt).is_some_and(|ids| !ids.is_empty())
}

/// The name of the task of a prompt of which only the tokens are known.
pub(super) fn task_of_ids(prompt: &[TokenId]) -> Option<Text> {
    let hash = short_hash(prompt.iter().flat_map(|id| id.to_le_bytes()));
    (!prompt.is_empty()).then(|| format!("{} #{hash}", counted(prompt.len(), "token")).into())
}

fn short_hash(bytes: impl Iterator<Item = u8>) -> String {
    let hash = stable_hash(bytes);
    let hash = (hash >> 32) ^ (hash & u64::from(u32::MAX));
    format!("{hash:08x}")
}

/// The texts of a message that consists of blocks, such as images and texts; `None` for a plain one.
fn texts_of(content: &str) -> Option<String> {
    let blocks = content
        .starts_with('[')
        .then(|| Json::parse(content).ok())??;
    let blocks = blocks.as_list()?.iter();
    if blocks.clone().any(|block| block.as_object().is_none()) {
        // It is the text of a list.
        return None;
    }
    let texts = blocks.filter_map(|block| Some(&**block.get("text")?.as_text()?));
    Some(texts.collect::<Vec<_>>().join("\n"))
}

/// A message without its calls.
pub(super) fn plain(message: &AnyMessage) -> Message {
    Message::new(message.role(), message.body().content_or_empty())
}

/// Adds the messages of a response with markup. Calls in the assistant's text become calls.
pub(super) fn push_response(transcript: &mut Transcript, response: &str) {
    for message in chat_markup::messages(response) {
        push_message(transcript, message);
    }
}

/// Adds a message, whatever its role. Calls in the assistant's text become calls.
pub(super) fn push_message(transcript: &mut Transcript, message: Message) {
    match message.role {
        Role::Assistant => transcript.push(with_calls(message.into())),
        Role::Tool => {
            let content = message.body.content.unwrap_or_default();
            let result = object!({ "role": "tool", "content": content });
            chat::read(&result.into())
                .into_iter()
                .for_each(|said| transcript.push(said));
        }
        _ => transcript.observe(message.into()),
    }
}

/// Reads the reward: a number; or several named ones, of which the settings of the run, not the file, determine the
/// effective one.
pub(super) fn judge(episode: &mut Episode, rest: &mut Object) {
    const COUNTS: [&str; 3] = ["reward", "score", "total"];
    let several = match rest.get("reward") {
        Some(Json::Object(several)) => several.clone(),
        _ => Object::new(),
    };
    // A text with a number may be an answer.
    let numbers = several.values().filter(|value| value.as_text().is_none());
    let worth: Vec<f64> = numbers.filter_map(reward).collect();
    let only = worth.first().copied().filter(|_| worth.len() == 1);
    let named = COUNTS
        .iter()
        .find_map(|key| several.get(key).filter(|value| !value.is_null()));
    // A list or a vector of one number.
    if let Some(Json::List(list)) = rest.get("reward")
        && let [only] = list.as_slice()
        && reward(only).is_some()
    {
        let only = only.clone();
        rest.insert("reward", only);
    }
    let counts = rest.take_reward("reward").or_else(|| match named {
        Some(named) => reward(named),
        None => only,
    });
    episode.rewards = counts.map_or(Rewards::Unknown, Rewards::Whole);
    if !several.is_empty() {
        rest.remove("reward");
    }
    episode.scores = several
        .into_iter()
        .map(|(name, value)| Score {
            name: name.as_ref().into(),
            value,
            ..Score::default()
        })
        .collect();
}

fn ending(status: Option<&str>) -> Ending {
    // Some writers include the name of the enumeration.
    let status = status.map(|status| status.rsplit('.').next().unwrap_or(status));
    match status.map(str::to_lowercase).as_deref() {
        Some("completed") => Ending::Done,
        Some("truncated") => Ending::Truncated {
            reason: "The limit of steps or tokens was reached.".into(),
        },
        Some(status @ ("aborted" | "failed")) => Ending::Crashed {
            message: format!("The rollout was {status}.").into(),
        },
        _ => Ending::Open,
    }
}

/// Parses the calls in an assistant's text. Calls that cannot be parsed stay text.
pub(super) fn with_calls(mut said: ImportedMessage) -> ImportedMessage {
    let AnyMessage::Plain(Message {
        role: Role::Assistant,
        body,
    }) = &said.message
    else {
        return said;
    };
    let Some(text) = body.content.clone().filter(|_| !body.content_is_json_str) else {
        return said;
    };
    let (spoken, calls) = calls(&text);
    if calls.is_empty() {
        return said;
    }
    let body = Body {
        content: (!spoken.is_empty()).then(|| spoken.into()),
        info: Some(object!({ "text": text })),
        ..Body::default()
    };
    said.message = ToolRequestMessage {
        body,
        tool_calls: calls,
    }
    .into();
    said
}

/// The text around the calls, in lines, and the calls. What cannot be parsed stays text.
fn calls(text: &str) -> (String, Vec<ToolCall>) {
    let mut spoken: Vec<&str> = Vec::new();
    let mut calls = Vec::new();
    let mut rest = text;
    while let Some((before, marked)) = rest.split_once(OPEN) {
        let (inside, after) = marked.split_once(CLOSE).unwrap_or((marked, ""));
        let parsed = parsed_calls(inside);
        spoken.push(before);
        if parsed.is_empty() {
            let markup = &rest[before.len()..rest.len() - after.len()];
            spoken.push(markup);
        }
        calls.extend(parsed);
        rest = after;
    }
    spoken.push(rest);
    let lines = spoken.into_iter().map(str::trim);
    let lines: Vec<&str> = lines.filter(|line| !line.is_empty()).collect();
    (lines.join("\n"), calls)
}

/// The calls between two marks: one, or a list of which all are calls.
fn parsed_calls(inside: &str) -> Vec<ToolCall> {
    match Json::parse(inside.trim()) {
        Ok(Json::List(several)) if several.iter().all(is_call) => {
            several.iter().map(chat::call).collect()
        }
        Ok(value) if is_call(&value) => vec![chat::call(&value)],
        _ => Vec::new(),
    }
}

fn is_call(value: &Json) -> bool {
    value
        .get("name")
        .is_some_and(|name| name.as_text().is_some())
}
