//! Serializes messages to JSON.

use super::error::MessageError;
use super::{AnyMessage, Body, Message, ToolRequestMessage, ToolResponseMessage};
use crate::json::{Json, Key, Object, read};
use crate::tool::ToolCall;

/// Options for dumping messages. The default is aviary's.
#[derive(Clone, Copy, Debug)]
pub struct DumpOptions<'a> {
    /// Whether to include `info`, even if null, and `content_is_json_str` if true. Such a dump reads
    /// back as the same message, unless it has a cache breakpoint.
    pub include_info: bool,
    /// Whether to decode multimodal content into a list.
    pub deserialize_content: bool,
    /// Whether to omit null fields.
    pub exclude_none: bool,
    /// Fields to omit.
    pub exclude: &'a [&'a str],
}

impl Default for DumpOptions<'_> {
    fn default() -> Self {
        DumpOptions {
            include_info: false,
            deserialize_content: true,
            exclude_none: false,
            exclude: &[],
        }
    }
}

impl DumpOptions<'_> {
    /// The default options, with the info.
    pub fn with_info() -> Self {
        DumpOptions {
            include_info: true,
            ..DumpOptions::default()
        }
    }
}

impl Message {
    /// The message as JSON. Fails if flagged content has to be decoded and is not valid JSON.
    pub fn dump(&self, options: &DumpOptions<'_>) -> Result<Object, MessageError> {
        dump(self.role.as_str(), &self.body, Vec::new(), options)
    }
}

impl ToolRequestMessage {
    /// The message as JSON; see [`Message::dump`].
    pub fn dump(&self, options: &DumpOptions<'_>) -> Result<Object, MessageError> {
        let calls = self.tool_calls.iter().map(ToolCall::dump).map(Json::Object);
        let fields = vec![
            ("function_call".into(), Json::Null),
            ("tool_calls".into(), Json::List(calls.collect())),
        ];
        dump("assistant", &self.body, fields, options)
    }
}

impl ToolResponseMessage {
    /// The message as JSON; see [`Message::dump`].
    pub fn dump(&self, options: &DumpOptions<'_>) -> Result<Object, MessageError> {
        let fields = vec![
            ("name".into(), self.name.clone().into()),
            ("tool_call_id".into(), self.tool_call_id.clone().into()),
        ];
        dump("tool", &self.body, fields, options)
    }
}

impl AnyMessage {
    /// The message as JSON; see [`Message::dump`].
    pub fn dump(&self, options: &DumpOptions<'_>) -> Result<Object, MessageError> {
        match self {
            AnyMessage::Request(message) => message.dump(options),
            AnyMessage::Response(message) => message.dump(options),
            AnyMessage::Plain(message) => message.dump(options),
        }
    }
}

fn dump(
    role: &'static str,
    body: &Body,
    own: Vec<(Key, Json)>,
    options: &DumpOptions<'_>,
) -> Result<Object, MessageError> {
    let wanted = |key: &str| !options.exclude.contains(&key);
    let mut pairs: Vec<(Key, Json)> = Vec::with_capacity(6);
    if wanted("role") {
        pairs.push(("role".into(), role.into()));
    }
    if wanted("content") && !(options.exclude_none && body.content.is_none()) {
        pairs.push(("content".into(), content(body, options)?));
    }
    pairs.extend(
        own.into_iter()
            .filter(|(key, value)| wanted(key) && !(options.exclude_none && value.is_null())),
    );
    if options.include_info {
        pairs.push(("info".into(), body.info.clone().into()));
        if body.content_is_json_str {
            pairs.push(("content_is_json_str".into(), true.into()));
        }
    }
    Ok(Object::from_distinct(pairs))
}

/// The content in a dump. A cache breakpoint marks its last block; without `deserialize_content` there are no
/// blocks to mark, so it is omitted.
fn content(body: &Body, options: &DumpOptions<'_>) -> Result<Json, MessageError> {
    let stored = Json::from(body.content.clone());
    if !options.deserialize_content {
        return Ok(stored);
    }
    let blocks = if body.content_is_json_str {
        let text = body.content.as_ref().ok_or(MessageError::ContentNull)?;
        let value = read(text).map_err(|error| MessageError::ContentNotJson { error })?;
        blocks(value)?
    } else {
        None
    };
    match (blocks, body.content.is_some() && body.cache_breakpoint) {
        (None, false) => Ok(stored),
        (None, true) => Ok(Json::List(vec![marked(text_block(stored))])),
        (Some(blocks), false) => Ok(Json::List(blocks)),
        (Some(mut blocks), true) => {
            if let Some(last) = blocks.pop() {
                blocks.push(marked(last));
            }
            Ok(Json::List(blocks))
        }
    }
}

impl Body {
    /// The blocks of multimodal content: a non-empty list of objects whose type is `text` or
    /// `image_url`. `None` for any other content, including content that is not valid JSON.
    pub fn blocks(&self) -> Option<Vec<Json>> {
        if !self.content_is_json_str {
            return None;
        }
        blocks(read(self.content.as_ref()?).ok()?).ok()?
    }

    /// Whether the content is multimodal.
    pub fn is_multimodal(&self) -> bool {
        self.blocks().is_some()
    }
}

fn blocks(value: Json) -> Result<Option<Vec<Json>>, MessageError> {
    let Json::List(list) = value else {
        return Ok(None);
    };
    for block in &list {
        match block.get("type") {
            Some(Json::Text(kind)) if matches!(&**kind, "text" | "image_url") => {}
            Some(Json::List(_)) => return Err(MessageError::BlockType { found: "a list" }),
            Some(Json::Object(_)) => return Err(MessageError::BlockType { found: "an object" }),
            _ => return Ok(None),
        }
    }
    Ok((!list.is_empty()).then_some(list))
}

pub(super) fn text_block(text: Json) -> Json {
    Json::Object(Object::from_distinct(vec![
        ("type".into(), "text".into()),
        ("text".into(), text),
    ]))
}

fn marked(mut block: Json) -> Json {
    if let Json::Object(object) = &mut block {
        object.insert("cache_control", crate::object!({"type": "ephemeral"}));
    }
    block
}
