//! Encodes a recipe and the actions as a short text for links, and decodes it. A replay reproduces the whole episode.
//!
//! The text is a version, `1`, and then JSON, compressed with zlib (with a checksum), in the URL-safe base64 alphabet:
//! `{"e": environment, "c": configuration, "s": seed, "t": [dataset, id], "a": [action]}`. An action that only has
//! calls is a list of `[name, arguments]`, or `[name, arguments, id]` if the id is not the one that [`call_id`]
//! derives; any other action is a message of the native format.
//!
//! Invariants: decoding an encoded text returns the same recipe and actions; a truncated or altered text is an error.

use base64ct::{Base64UrlUnpadded, Encoding};
use miniz_oxide::deflate::compress_to_vec_zlib;
use miniz_oxide::inflate::{TINFLStatus, decompress_to_vec_zlib_with_limit};
use volary_core::json::{Json, Object};
use volary_core::message::Body;
use volary_core::tool::ToolCallFunction;
use volary_core::{AnyMessage, ToolCall, ToolRequestMessage, json, object};

use crate::diff::identical;
use crate::episode::{Recipe, call_id};
use crate::native::{self, NativeError, message_to_json, recipe_from_json, recipe_to_json};

/// The maximum length of the text, in characters: longer links break in mails and chats.
pub const LIMIT: usize = 8_000;

/// The maximum size of the decompressed text, in bytes.
const UNPACKED_LIMIT: usize = 4 << 20;

const VERSION: char = '1';

/// The contents of a link.
#[derive(Clone, Debug, Default, PartialEq)]
pub struct Shared {
    /// The input to recreate the environment.
    pub recipe: Recipe,
    /// The actions, in order.
    pub actions: Vec<AnyMessage>,
}

/// Error encoding an episode as a link, or decoding a link.
#[derive(Clone, Debug, PartialEq, thiserror::Error)]
#[non_exhaustive]
pub enum ShareError {
    /// The episode is too long for a link.
    #[error(
        "The episode is too long for a link: it would have {length} characters, and many programs \
         break links of more than {limit}. Share it as a file instead."
    )]
    TooLong {
        /// The length of the text.
        length: usize,
        /// The maximum length.
        limit: usize,
    },
    /// The text is truncated.
    #[error("The link is incomplete: its end is missing. Copy the whole link again.")]
    Cut,
    /// The text is not a valid episode.
    #[error(
        "The link does not contain an episode: it was altered or is not from Volary. Copy it again."
    )]
    Damaged,
    /// The link was made by a later version of Volary.
    #[error(
        "The link was made by a newer Volary (link format {version}), which this version \
         cannot read."
    )]
    Newer {
        /// The first character.
        version: char,
    },
    /// The decompressed text exceeds the limit.
    #[error("The link unpacks to more than {} MB, so it is not read.", .limit >> 20)]
    TooLarge {
        /// In bytes.
        limit: usize,
    },
    /// The contents do not match the format.
    #[error("The link contains no episode that can be run: {0}")]
    Misfit(#[from] NativeError),
}

/// Encodes a recipe and actions as the text of a link.
pub fn encode<'a>(
    recipe: &Recipe,
    actions: impl IntoIterator<Item = &'a AnyMessage>,
) -> Result<String, ShareError> {
    let actions = actions.into_iter().enumerate();
    let actions: Vec<Json> = actions
        .map(|(step, action)| shorten(step, action))
        .collect();
    let mut object = object!({ "e": (recipe.environment.clone()) });
    if !recipe.configuration.is_empty() {
        object.insert("c", recipe.configuration.clone());
    }
    let Json::Object(full) = recipe_to_json(recipe) else {
        return Err(ShareError::Damaged);
    };
    object.insert("s", full.get("seed").cloned().unwrap_or_default());
    if let Some(task) = &recipe.task {
        object.insert("t", json!([(task.dataset.clone()), (task.id.clone())]));
    }
    object.insert("a", actions);
    pack(&shortest_text(object.into()))
}

/// Packs a text in the format of a link: with a version and a checksum, compressed at the highest level.
pub fn pack(text: &str) -> Result<String, ShareError> {
    let packed = compress_to_vec_zlib(text.as_bytes(), 9);
    let text = format!("{VERSION}{}", Base64UrlUnpadded::encode_string(&packed));
    match text.len() {
        length if length > LIMIT => Err(ShareError::TooLong {
            length,
            limit: LIMIT,
        }),
        _ => Ok(text),
    }
}

/// Decodes the text of a link.
pub fn decode(text: &str) -> Result<Shared, ShareError> {
    let unpacked = unpack(text)?;
    let value = Json::parse(&unpacked).map_err(|_| ShareError::Damaged)?;
    read(&value)
}

/// Unpacks a text packed by [`pack`].
pub fn unpack(text: &str) -> Result<String, ShareError> {
    let text = text.trim();
    let packed = match text.chars().next() {
        None => return Err(ShareError::Cut),
        Some(VERSION) => &text[VERSION.len_utf8()..],
        Some(version @ '2'..='9') => return Err(ShareError::Newer { version }),
        Some(_) => return Err(ShareError::Damaged),
    };
    let packed = unpack_alphabet(packed)?;
    let unpacked = decompress_to_vec_zlib_with_limit(&packed, UNPACKED_LIMIT);
    let unpacked = unpacked.map_err(|error| match error.status {
        TINFLStatus::HasMoreOutput => ShareError::TooLarge {
            limit: UNPACKED_LIMIT,
        },
        TINFLStatus::FailedCannotMakeProgress | TINFLStatus::NeedsMoreInput => ShareError::Cut,
        _ => ShareError::Damaged,
    })?;
    String::from_utf8(unpacked).map_err(|_| ShareError::Damaged)
}

fn unpack_alphabet(text: &str) -> Result<Vec<u8>, ShareError> {
    let known = |byte: u8| byte.is_ascii_alphanumeric() || byte == b'-' || byte == b'_';
    if !text.bytes().all(known) {
        return Err(ShareError::Damaged);
    }
    // The alphabet is valid, so only an incomplete byte at the end is an error.
    Base64UrlUnpadded::decode_vec(text).map_err(|_| ShareError::Cut)
}

/// Compact JSON is shorter, but cannot represent `NaN`.
fn shortest_text(value: Json) -> String {
    let compact = value.to_compact_text();
    match Json::parse(&compact) {
        Ok(back) if identical(&back, &value) => compact,
        _ => value.to_python_text(),
    }
}

fn shorten(step: usize, action: &AnyMessage) -> Json {
    let AnyMessage::Request(request) = action else {
        return message_to_json(action);
    };
    if request.body != Body::default() {
        return message_to_json(action);
    }
    let calls = request.tool_calls.iter().enumerate();
    let calls = calls.map(|(index, call)| {
        let mut short = vec![
            Json::from(call.function.name.clone()),
            Json::from(call.function.arguments.clone()),
        ];
        if call.id != call_id(step, index) {
            short.push(call.id.clone().into());
        }
        Json::List(short)
    });
    Json::List(calls.collect())
}

fn read(value: &Json) -> Result<Shared, ShareError> {
    let part = |key: &str| value.get(key).cloned();
    let task = match value.get("t").and_then(Json::as_list) {
        Some([dataset, id]) => json!({ "dataset": (dataset.clone()), "id": (id.clone()) }),
        Some(_) => return Err(ShareError::Damaged),
        None => Json::Null,
    };
    let recipe = json!({
        "environment": (part("e").unwrap_or_default()),
        "configuration": (part("c").unwrap_or_else(|| Object::new().into())),
        "seed": (part("s").unwrap_or_default()),
        "task": task
    });
    let actions = value.get("a").and_then(Json::as_list).unwrap_or_default();
    let actions = actions.iter().enumerate();
    Ok(Shared {
        recipe: recipe_from_json(&recipe)?,
        actions: actions
            .map(|(step, action)| lengthen(step, action))
            .collect::<Result<_, _>>()?,
    })
}

fn lengthen(step: usize, action: &Json) -> Result<AnyMessage, ShareError> {
    let Json::List(calls) = action else {
        return Ok(native::message_from_json(action)?);
    };
    let calls = calls.iter().enumerate();
    let tool_calls = calls
        .map(|(index, call)| match call.as_list() {
            Some([Json::Text(name), Json::Object(arguments), id @ ..]) if id.len() < 2 => {
                let id = id.first().map(|id| id.as_text().ok_or(ShareError::Damaged));
                Ok(ToolCall {
                    id: id
                        .transpose()?
                        .cloned()
                        .unwrap_or_else(|| call_id(step, index)),
                    function: ToolCallFunction {
                        name: name.clone(),
                        arguments: arguments.clone(),
                    },
                })
            }
            _ => Err(ShareError::Damaged),
        })
        .collect::<Result<_, _>>()?;
    Ok(AnyMessage::Request(ToolRequestMessage {
        body: Body::default(),
        tool_calls,
    }))
}
