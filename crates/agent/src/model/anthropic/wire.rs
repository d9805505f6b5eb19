//! Wire types: requests, messages and stream events.

use serde::{Deserialize, Serialize};
use volary_core::json::{Json, Object, Text};

use crate::model::Effort;
use crate::model::lenient::{Lenient, LenientList};

/// A request. Members that are `None`, empty or false are omitted.
#[derive(Debug, Default, Serialize)]
#[cfg_attr(test, derive(Deserialize))]
#[cfg_attr(test, serde(default, deny_unknown_fields))]
pub(super) struct MessagesRequest {
    pub model: Text,
    pub max_tokens: u32,
    pub messages: Vec<SentMessage>,
    #[serde(skip_serializing_if = "String::is_empty")]
    pub system: String,
    #[serde(skip_serializing_if = "Vec::is_empty")]
    pub tools: Vec<ToolDefinition>,
    #[serde(skip_serializing_if = "Option::is_none")]
    pub tool_choice: Option<WireToolChoice>,
    #[serde(skip_serializing_if = "Option::is_none")]
    pub temperature: Option<f64>,
    #[serde(skip_serializing_if = "Option::is_none")]
    pub stop_sequences: Option<Vec<Text>>,
    #[serde(skip_serializing_if = "Option::is_none")]
    pub output_config: Option<OutputConfig>,
    #[serde(skip_serializing_if = "Option::is_none")]
    pub thinking: Option<Thinking>,
    #[serde(skip_serializing_if = "std::ops::Not::not")]
    pub stream: bool,
}

#[derive(Debug, Serialize)]
#[cfg_attr(test, derive(Deserialize))]
pub(super) struct SentMessage {
    pub role: Role,
    pub content: Vec<SentBlock>,
}

#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize)]
#[cfg_attr(test, derive(Deserialize))]
#[serde(rename_all = "lowercase")]
pub(super) enum Role {
    User,
    Assistant,
}

/// A block of the history.
#[derive(Debug, Serialize)]
#[cfg_attr(test, derive(Deserialize))]
#[serde(untagged)]
pub(super) enum SentBlock {
    Made(MadeBlock),
    /// A block of an earlier answer, sent back unchanged.
    Echo(Json),
}

#[derive(Debug, Serialize)]
#[cfg_attr(test, derive(Deserialize))]
#[serde(tag = "type", rename_all = "snake_case")]
#[cfg_attr(test, serde(deny_unknown_fields))]
pub(super) enum MadeBlock {
    Text {
        text: Text,
        /// Asks the provider to cache the request up to here.
        #[serde(default, skip_serializing_if = "Option::is_none")]
        cache_control: Option<CacheControl>,
    },
    Image {
        source: ImageSource,
    },
    ToolUse {
        id: Text,
        name: Text,
        input: Object,
    },
    ToolResult {
        tool_use_id: Text,
        content: Vec<MadeBlock>,
    },
}

#[derive(Debug, Serialize)]
#[cfg_attr(test, derive(Deserialize))]
#[serde(tag = "type", rename_all = "lowercase")]
pub(super) enum CacheControl {
    Ephemeral,
}

#[derive(Debug, Serialize)]
#[cfg_attr(test, derive(Deserialize))]
#[serde(tag = "type", rename_all = "lowercase")]
pub(super) enum ImageSource {
    Base64 { media_type: Text, data: Text },
    Url { url: Text },
}

#[derive(Debug, Serialize)]
#[cfg_attr(test, derive(Deserialize))]
pub(super) struct ToolDefinition {
    pub name: Text,
    pub description: Text,
    /// A JSON Schema.
    pub input_schema: Object,
}

#[derive(Debug, Serialize)]
#[cfg_attr(test, derive(Deserialize))]
#[serde(tag = "type", rename_all = "lowercase")]
pub(super) enum WireToolChoice {
    Any,
    Auto,
    None,
    Tool { name: Text },
}

#[derive(Debug, Serialize)]
#[cfg_attr(test, derive(Deserialize))]
pub(super) struct OutputConfig {
    #[serde(skip_serializing_if = "Option::is_none")]
    pub effort: Option<Effort>,
    #[serde(skip_serializing_if = "Option::is_none")]
    pub format: Option<OutputFormat>,
}

/// The form of the answer.
#[derive(Debug, Serialize)]
#[cfg_attr(test, derive(Deserialize))]
#[serde(tag = "type", rename_all = "snake_case")]
pub(super) enum OutputFormat {
    JsonSchema { schema: Json },
}

#[derive(Debug, Serialize)]
#[cfg_attr(test, derive(Deserialize))]
#[serde(tag = "type", rename_all = "lowercase")]
pub(super) enum Thinking {
    Disabled,
    Adaptive { display: ThinkingDisplay },
}

#[derive(Debug, Serialize)]
#[cfg_attr(test, derive(Deserialize))]
#[serde(rename_all = "lowercase")]
pub(super) enum ThinkingDisplay {
    Summarized,
}

/// A complete message, or the one at the start of a stream.
#[derive(Default, Deserialize)]
#[cfg_attr(test, derive(Debug, PartialEq, Serialize))]
#[serde(default)]
pub(super) struct ReplyMessage {
    /// [`ReplyBlock`]s, unparsed because they may have to be sent back unchanged.
    pub content: LenientList<Json>,
    pub model: Lenient<Text>,
    pub usage: Lenient<WireUsage>,
    pub stop_reason: Lenient<Text>,
    pub stop_details: Lenient<StopDetails>,
}

/// Details of the stop reason.
#[derive(Default, Deserialize)]
#[cfg_attr(test, derive(Debug, PartialEq, Serialize))]
#[serde(default)]
pub(super) struct StopDetails {
    pub explanation: Lenient<Text>,
    pub category: Lenient<Text>,
}

/// A block of text, thinking, or a call.
#[derive(Default, Deserialize)]
#[cfg_attr(test, derive(Debug, PartialEq, Serialize))]
#[serde(default)]
pub(super) struct ReplyBlock {
    #[serde(rename = "type")]
    pub kind: Lenient<Text>,
    pub text: Lenient<Text>,
    pub thinking: Lenient<Text>,
    pub signature: Lenient<Text>,
    pub id: Lenient<Text>,
    pub name: Lenient<Text>,
    pub input: Json,
}

/// A stream event. Its type determines which members are present.
#[derive(Default, Deserialize)]
#[cfg_attr(test, derive(Debug, PartialEq, Serialize))]
#[serde(default)]
pub(super) struct StreamEvent {
    #[serde(rename = "type")]
    pub kind: Lenient<Text>,
    pub message: Lenient<ReplyMessage>,
    /// Identifies the block.
    pub index: Json,
    pub content_block: Json,
    pub delta: Lenient<WireDelta>,
    pub usage: Lenient<WireUsage>,
}

/// A piece of a block, or of the message itself.
#[derive(Default, Deserialize)]
#[cfg_attr(test, derive(Debug, PartialEq, Serialize))]
#[serde(default)]
pub(super) struct WireDelta {
    #[serde(rename = "type")]
    pub kind: Lenient<Text>,
    pub text: Lenient<Text>,
    pub thinking: Lenient<Text>,
    pub signature: Lenient<Text>,
    pub partial_json: Lenient<Text>,
    pub stop_reason: Lenient<Text>,
    pub stop_details: Lenient<StopDetails>,
}

#[derive(Clone, Copy, Default, Deserialize)]
#[cfg_attr(test, derive(Debug, PartialEq, Serialize))]
#[serde(default)]
pub(super) struct WireUsage {
    pub input_tokens: Lenient<u64>,
    pub cache_read_input_tokens: Lenient<u64>,
    pub cache_creation_input_tokens: Lenient<u64>,
    pub output_tokens: Lenient<u64>,
    pub output_tokens_details: Lenient<OutputDetails>,
}

#[derive(Clone, Copy, Default, Deserialize)]
#[cfg_attr(test, derive(Debug, PartialEq, Serialize))]
#[serde(default)]
pub(super) struct OutputDetails {
    pub thinking_tokens: Lenient<u64>,
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::model::wire_tests::{replies_come_back, requests_come_back};

    #[test]
    fn golden_requests_come_back() {
        requests_come_back::<MessagesRequest>("anthropic");
    }

    #[test]
    fn recorded_replies_come_back() {
        replies_come_back::<ReplyMessage>("anthropic", "json");
        replies_come_back::<StreamEvent>("anthropic", "sse");
    }
}
