//! Conversations in OpenAI's form, `{messages, tools?}` each, one per file or one per line; in ShareGPT's form
//! `{conversations: [{from, value}]}`; or a bare list of messages. Tables of trajectories have the same contents under
//! other names, as JSON texts, or with a list for each member of the messages: `{messages: {role: […], content: […]}}`
//! (a `Sequence` of Hugging Face's `datasets`).

use volary_analysis::task::{name_of_session, task};
use volary_core::json::{Json, Object, Text};
use volary_core::object;
use volary_episode::episode::{Episode, Rewards, TaskReference, Usage};

use super::chat;
use super::describe::counted;
use super::members::{Members, keep_rest, text_at, unpacked};
use super::reader::{Confidence, Document, Grouping, Line, Reader, Sink};
use super::slime;
use super::transcript::Transcript;

pub(super) struct ChatFile;

impl Reader for ChatFile {
    fn id(&self) -> &'static str {
        "openai-chat"
    }

    fn name(&self) -> &'static str {
        "chat messages (JSON, or one conversation per line)"
    }

    fn recognise(&self, document: &Document) -> Confidence {
        if is_bare(document) || document.samples().any(is_conversation) {
            Confidence::Possible
        } else {
            Confidence::No
        }
    }

    fn grouping(&self, document: &Document) -> Grouping {
        if is_bare(document) {
            Grouping::Whole
        } else {
            Grouping::EachLine
        }
    }

    fn read(&self, document: Document, sink: &mut Sink<'_>) {
        if is_bare(&document) {
            let messages = document.into_records().into_iter().map(|line| line.value);
            let mut all = Object::new();
            all.insert("messages", messages.collect::<Vec<_>>());
            let episode = conversation(all, None, sink);
            sink.episode(episode);
            return sink.understood("Chat messages: one episode.");
        }
        let is_single = document.is_single();
        let records = document.into_records();
        let mut count = 0;
        for Line { number, value } in records {
            match value {
                value if !is_conversation(&value) => {
                    sink.lost(format!("Line {number} contains no messages."));
                }
                Json::Object(object) => {
                    count += 1;
                    let episode = conversation(object, (!is_single).then_some(number), sink);
                    sink.episode(episode);
                }
                _ => {}
            }
        }
        sink.understood(format!("Chat messages: {}.", counted(count, "episode")));
    }
}

/// Whether the document is a bare list of messages.
fn is_bare(document: &Document) -> bool {
    let several = match document {
        Document::Lines(_) | Document::Value(Json::List(_)) => true,
        Document::Value(_) => false,
    };
    let mut samples = document.samples().peekable();
    several && samples.peek().is_some() && samples.all(chat::is_message)
}

/// The members in which tools store the messages of a conversation.
const LISTS: [&str; 7] = [
    "messages",
    "conversations",
    "conversation",
    "trajectory",
    "history",
    "turns",
    "chat_history",
];

fn is_conversation(value: &Json) -> bool {
    let holds = |key: &str| match value.get(key) {
        Some(Json::List(list)) => {
            let is = |value: &Json| chat::is_message(value) || is_turn(value) || has_role(value);
            !list.is_empty() && list.iter().take(8).all(is)
        }
        // JSON text, as in the cells of tables.
        Some(Json::Text(text)) => {
            let list = text.trim_start().strip_prefix('[');
            let begins = list.is_some_and(|list| list.trim_start().starts_with('{'));
            begins && text.contains("\"role\"")
        }
        Some(Json::Object(columns)) => messages_of_columns(columns).is_some(),
        _ => false,
    };
    LISTS.iter().any(|key| holds(key))
        || value
            .get("body")
            .is_some_and(|body| body.get("messages").is_some() && is_conversation(body))
}

/// The messages of an object with a list for each of their members, all of the same length.
fn messages_of_columns(columns: &Object) -> Option<Vec<Json>> {
    let role = columns.get("role").or_else(|| columns.get("from"));
    let roles = role?.as_list()?;
    if roles.is_empty() || !roles.iter().all(|role| role.as_text().is_some()) {
        return None;
    }
    let mut messages = vec![Object::new(); roles.len()];
    for (name, values) in columns.iter() {
        let values = values.as_list().filter(|list| list.len() == roles.len())?;
        for (message, value) in messages.iter_mut().zip(values) {
            // A table has all members for every message.
            if !value.is_null() {
                message.insert(name.clone(), value.clone());
            }
        }
    }
    Some(messages.into_iter().map(Json::Object).collect())
}

fn has_role(value: &Json) -> bool {
    let role = value.get("role");
    role.is_some_and(|role| role.as_text().is_some())
}

fn is_turn(value: &Json) -> bool {
    value.get("from").is_some() && value.get("value").is_some()
}

fn conversation(mut rest: Object, number: Option<usize>, sink: &mut Sink<'_>) -> Episode {
    // A request of a batch.
    if let Some(body) = rest.take_object("body") {
        rest.extend(body);
    }
    let reply = reply(&mut rest);
    let id = ["id", "custom_id", "instance_id"]
        .iter()
        .find_map(|key| rest.take_id(key));
    let numbered = |stem: Text| match number {
        Some(number) => format!("{stem}-{number}").into(),
        None => stem,
    };
    let mut episode = Episode {
        // One of many without an id is named after its task.
        name: match (&id, number) {
            (Some(id), _) => id.clone(),
            (None, None) => sink.stem(),
            (None, Some(_)) => Text::default(),
        },
        id: id.unwrap_or_else(|| numbered(sink.stem())),
        model: rest.take_text("model"),
        total_usage: rest.take("usage").and_then(|usage| chat::usage(&usage)),
        rewards: Rewards::Unknown,
        ..Episode::default()
    };
    trial(&mut episode, &mut rest, sink);
    if matches!(rest.get("reward"), Some(Json::Object(_))) {
        slime::judge(&mut episode, &mut rest);
    }
    let reward = rest
        .take_reward("reward")
        .or_else(|| rest.take_reward("score"));
    if let Some(reward) = reward {
        episode.rewards = Rewards::Whole(reward);
    }
    if let Some(id) = rest.take_id("task_id") {
        episode.task = Some(TaskReference {
            dataset: sink.stem(),
            id,
        });
    }
    for key in ["tools", "functions"] {
        // ShareGPT stores tools as JSON text.
        if let Some(text) = rest.take_text(key)
            && let Ok(value) = Json::parse(&text)
        {
            rest.insert(key, value);
        }
        let tools = rest.take_list(key).unwrap_or_default();
        episode.tools.extend(tools.iter().filter_map(chat::tool));
    }
    let mut transcript = Transcript::default();
    let system = rest.take_text("system");
    if let Some(system) = system.filter(|system| !system.is_empty()) {
        let message = Json::Object(object!({ "role": "system", "content": system }));
        chat::read(&message)
            .into_iter()
            .for_each(|said| transcript.push(said));
    }
    // Some tables have the same messages in two forms.
    let mut is_found = false;
    for key in LISTS {
        if is_found {
            break;
        }
        let list = match rest.take(key).map(unpacked) {
            Some(Json::Object(columns)) => {
                let messages = messages_of_columns(&columns);
                Some(messages.map_or(Json::Object(columns), Json::List))
            }
            other => other,
        };
        match list {
            Some(Json::List(mut messages)) => {
                is_found = !messages.is_empty();
                add_images(&mut messages, &mut rest);
                let messages = messages.into_iter().map(turn).collect();
                chat::read_all(messages).for_each(|said| transcript.push(said));
            }
            Some(other) => drop(rest.insert(key, other)),
            None => {}
        }
    }
    if let Some(reply) = reply {
        episode.model = episode.model.or(reply.model);
        let usage = episode.total_usage.or(reply.usage);
        let cost = rest.take_number("cost");
        episode.total_usage = match (usage, cost) {
            (Some(usage), Some(_)) => Some(Usage { cost, ..usage }),
            (usage, _) => usage,
        };
        chat::read_all(vec![reply.message]).for_each(|said| transcript.push(said));
    }
    transcript.finish(&mut episode);
    if let Some(number) = number
        && episode.name.is_empty()
    {
        episode.name = match task(&episode) {
            Some(_) => name_of_session(&episode).into(),
            None => format!("Conversation {number}").into(),
        };
    }
    metadata(&mut episode, &mut rest);
    keep_rest(&mut episode, rest, sink);
    episode
}

/// Puts the images of a column `images` or `image` into the messages that refer to them.
fn add_images(messages: &mut [Json], rest: &mut Object) {
    for key in ["images", "image"] {
        let images = match rest.get(key) {
            Some(Json::List(images)) => images.as_slice(),
            Some(image @ Json::Object(_)) => std::slice::from_ref(image),
            _ => continue,
        };
        if chat::place_images(messages, images) {
            rest.remove(key);
        }
    }
}

/// A reply of a model, which logs of calls record next to the input messages.
struct Reply {
    message: Json,
    model: Option<Text>,
    usage: Option<Usage>,
}

/// Takes the reply out of a logged call (LiteLLM's, OpenHands'), with the available tools. `None` if the last message
/// is the same.
fn reply(rest: &mut Object) -> Option<Reply> {
    let response = rest.take("response").map(unpacked)?;
    let choice = response.get("choices").and_then(Json::as_list);
    let message = choice.and_then(|choices| choices.first()?.get("message"));
    let Some(message @ Json::Object(_)) = message.cloned() else {
        rest.insert("response", response);
        return None;
    };
    let options = rest.get("kwargs").or_else(|| rest.get("optional_params"));
    if let Some(tools) = options.and_then(|options| options.get("tools")).cloned()
        && !rest.contains_key("tools")
    {
        rest.insert("tools", tools);
    }
    let said = |message: &Json| {
        let part = |key| message.get(key).filter(|value| !value.is_null()).cloned();
        (part("content"), part("tool_calls"))
    };
    let last = rest.get("messages").and_then(Json::as_list);
    let last = last.and_then(|messages| messages.last());
    let is_assistant =
        |message: &&Json| text_at(message, &["role"]).as_deref() == Some("assistant");
    if last.filter(is_assistant).map(said) == Some(said(&message)) {
        return None;
    }
    Some(Reply {
        message,
        model: text_at(&response, &["model"]),
        usage: response.get("usage").and_then(chat::usage),
    })
}

/// Reads the columns of a table of traces (of terminus-2 and others that Harbor runs) besides the messages: task,
/// agent, and the reward or the error as the result.
fn trial(episode: &mut Episode, rest: &mut Object, sink: &Sink<'_>) {
    let is_trace = rest.contains_key("agent") && rest.contains_key("task");
    if !is_trace
        || !["trial_name", "run_id", "episode"]
            .iter()
            .any(|key| rest.contains_key(key))
    {
        return;
    }
    episode.policy = rest.take_text("agent");
    if let Some(id) = rest.take_id("task") {
        let dataset = sink.stem();
        episode.task = Some(TaskReference { dataset, id });
    }
    match rest.take("result") {
        Some(Json::Text(text)) => match text.trim().parse::<f64>() {
            Ok(reward) if reward.is_finite() => episode.rewards = Rewards::Whole(reward),
            _ if text.is_empty() => {}
            _ => episode.outcome = Some(text),
        },
        Some(result) => match result.as_f64() {
            Some(reward) => episode.rewards = Rewards::Whole(reward),
            None => drop(rest.insert("result", result)),
        },
        None => {}
    }
    let text = |key: &str| {
        rest.get(key)
            .and_then(Json::as_text)
            .filter(|text| !text.is_empty())
    };
    if let Some(name) = text("trial_name") {
        // A trial has one trace per model call.
        episode.name = match text("episode") {
            Some(part) => format!("{name}, {part}").into(),
            None => name.clone(),
        };
    }
}

/// Short values of the whole conversation become metadata; the rest is raw.
fn metadata(episode: &mut Episode, rest: &mut Object) {
    if let Some(metadata) = rest.take_object("metadata") {
        episode.metadata = metadata;
    }
    let mut found = Vec::new();
    rest.retain(|key, value| {
        let is_short = match value {
            Json::Text(text) => text.len() <= 200,
            Json::Bool(_) | Json::Integer(_) | Json::Float(_) => true,
            _ => false,
        };
        if is_short {
            found.push((key.clone(), value.clone()));
        }
        !is_short
    });
    episode
        .metadata
        .extend_missing(Object::from_distinct(found));
}

/// Converts a turn of ShareGPT to a message; returns other messages unchanged.
pub(super) fn turn(value: Json) -> Json {
    let mut turn = match value {
        Json::Object(turn) if turn.contains_key("from") && !turn.contains_key("role") => turn,
        other => return other,
    };
    let from = turn.take_text("from").unwrap_or_default();
    let said = turn.take("value").unwrap_or_default();
    match &*from {
        "function_call" => {
            let call = match &said {
                Json::Text(text) => Json::parse(text).unwrap_or(said.clone()),
                _ => said,
            };
            let calls = if matches!(call, Json::List(_)) {
                call
            } else {
                Json::List(vec![call])
            };
            turn.insert("role", "assistant");
            turn.insert("tool_calls", calls);
        }
        other => {
            let role = match other {
                "gpt" | "bot" | "chatgpt" => "assistant",
                "observation" | "function_response" => "tool",
                other => other,
            };
            turn.insert("role", role);
            turn.insert("content", said);
        }
    }
    turn.into()
}
