//! Writes slime's formats, a `Sample` or an `InteractionResult`, from an episode with recorded tokens.
//!
//! Messages are flat: the assistant's calls are markup in its text, in the sampled form if that is known.

use volary_core::json::{Json, Object, Text};
use volary_core::{AnyMessage, Role, json, object};
use volary_episode::episode::{Ending, Episode, sampled_text};
use volary_episode::token_record::{TokenRecord, TokenRecordError};

/// What readers of training runs put into the metadata: it has other members in a sample.
const POSITION_KEYS: [&str; 5] = [
    "step",
    "group",
    "sample",
    "weight_versions",
    "training_data",
];

/// The tool that answers the user; as text it is a turn without a call.
const RESPOND: &str = "respond";

/// Why an episode cannot be exported.
#[derive(Clone, Debug, PartialEq, Eq, thiserror::Error)]
#[non_exhaustive]
pub enum SlimeError {
    /// The episode has no tokens, and they cannot be computed from texts here.
    #[error("No tokens were recorded with this episode.")]
    NoTokens,
    /// The recorded tokens are damaged.
    #[error("{0}.")]
    Tokens(#[from] TokenRecordError),
}

/// A `Sample` of slime.
pub fn sample(episode: &Episode) -> Result<Json, SlimeError> {
    let record = TokenRecord::of(episode).ok_or(SlimeError::NoTokens)??;
    let index = index(episode);
    let mut sample = object!({
        "group_index": (noted(episode, "group_index", "group").unwrap_or_else(|| index.clone())),
        "index": index
    });
    sample.extend(common(episode, &record));
    let mut metadata = episode.metadata.clone();
    metadata.retain(|key, _| !POSITION_KEYS.contains(&key.as_ref()));
    sample.insert("metadata", metadata);
    for (name, values) in record.strip.streams() {
        // slime writes zeros for tokens of the environment.
        let values = values.iter().skip(record.prompt);
        let values: Vec<f64> = values.map(|value| value.unwrap_or_default()).collect();
        sample.insert(name.to_string(), values);
    }
    if let Some(versions) = noted(episode, "weight_versions", "weight_versions") {
        sample.insert("weight_versions", versions);
    }
    Ok(sample.into())
}

/// An `InteractionResult` of slime's agents.
pub fn interaction(episode: &Episode) -> Result<Json, SlimeError> {
    let record = TokenRecord::of(episode).ok_or(SlimeError::NoTokens)??;
    let mut result = common(episode, &record);
    result.insert("messages", messages(episode));
    let mut info = episode.metadata.clone();
    info.retain(|key, _| !POSITION_KEYS.contains(&key.as_ref()));
    result.insert("info", info);
    Ok(result.into())
}

/// Serializes a record as a line of JSON.
pub fn line(record: &Json) -> String {
    let mut text = record.to_python_text();
    text.push('\n');
    text
}

fn common(episode: &Episode, record: &TokenRecord) -> Object {
    let mask: Vec<i64> = record
        .strip
        .mask()
        .iter()
        .skip(record.prompt)
        .map(|on| i64::from(*on))
        .collect();
    let length = i64::try_from(mask.len()).unwrap_or(i64::MAX);
    let tokens: Vec<i64> = record.strip.ids().iter().map(|id| i64::from(*id)).collect();
    object!({
        "prompt": (prompt(episode)),
        "tokens": tokens,
        "response": (response(episode)),
        "response_length": length,
        "reward": (episode.total_reward()),
        "loss_mask": mask,
        "status": (status(episode))
    })
}

/// A member of the source: in the raw record, or under another name in the metadata.
fn noted(episode: &Episode, raw: &str, metadata: &str) -> Option<Json> {
    let raw = episode.raw.get(raw);
    raw.or_else(|| episode.metadata.get(metadata)).cloned()
}

fn index(episode: &Episode) -> Json {
    if let Some(sample @ Json::Integer(_)) = episode.metadata.get("sample") {
        return sample.clone();
    }
    let id = episode.task().map(|task| task.id.clone());
    let number = id.as_deref().and_then(|id| id.parse::<i64>().ok());
    match (number, id) {
        (Some(number), _) => number.into(),
        (None, Some(id)) => id.into(),
        (None, None) => 0.into(),
    }
}

/// The rendered prompt. For a sample without messages it is the only opening message.
fn prompt(episode: &Episode) -> Json {
    match (episode.raw.get("prompt"), episode.start.as_slice()) {
        (Some(prompt), _) => prompt.clone(),
        (None, [only]) if episode.raw.get("response").is_none() => sampled(only).into(),
        (None, start) => Json::List(start.iter().map(flat).collect()),
    }
}

fn response(episode: &Episode) -> Json {
    if let Some(response) = episode.raw.get("response") {
        return response.clone();
    }
    let said: String = episode
        .actions()
        .map(|action| sampled(action).to_string())
        .collect();
    said.into()
}

fn status(episode: &Episode) -> Text {
    const KNOWN: [&str; 5] = ["completed", "truncated", "aborted", "failed", "pending"];
    let known = episode.outcome.clone();
    let known = known.filter(|outcome| KNOWN.contains(&&**outcome));
    known.unwrap_or_else(|| {
        let status = match episode.ending {
            Ending::Done => "completed",
            Ending::Truncated { .. } => "truncated",
            Ending::Crashed { .. } | Ending::Open => "aborted",
        };
        status.into()
    })
}

pub(super) fn messages(episode: &Episode) -> Vec<Json> {
    episode.messages().map(flat).collect()
}

fn flat(message: &AnyMessage) -> Json {
    let role = match message.role() {
        Role::Function => Role::Tool,
        role => role,
    };
    // The user's reply to an answer is not a tool message, whichever tool produced it.
    if let AnyMessage::Response(response) = message
        && *response.name == *RESPOND
    {
        return json!({"role": "user", "content": (sampled(message))});
    }
    let mut flat = object!({ "role": (role.as_str()) });
    if let AnyMessage::Response(response) = message
        && !response.name.is_empty()
    {
        flat.insert("name", response.name.clone());
    }
    flat.insert("content", sampled(message));
    flat.into()
}

/// The text of a message with its calls as markup: in the sampled form if that is known, otherwise in Qwen's format.
fn sampled(message: &AnyMessage) -> Text {
    let content = message.body().content.clone().unwrap_or_default();
    let AnyMessage::Request(request) = message else {
        return content;
    };
    if let Some(text) = sampled_text(message) {
        return text.clone();
    }
    let mut parts: Vec<String> = Vec::new();
    if !content.is_empty() {
        parts.push(content.to_string());
    }
    for call in &request.tool_calls {
        let call = json!({
            "name": (call.function.name.clone()),
            "arguments": (call.function.arguments.clone())
        });
        parts.push(format!(
            "<tool_call>\n{}\n</tool_call>",
            call.to_python_text()
        ));
    }
    parts.join("\n").into()
}
