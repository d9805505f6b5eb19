//! Wire types: requests, responses and stream events.

use serde::{Deserialize, Serialize};
use volary_core::json::{Json, Object, Text};

use crate::model::lenient::{Lenient, LenientList};
use crate::model::{Effort, Usage};

/// A request. Members that are `None`, empty or false are omitted.
#[derive(Debug, Default, Serialize)]
#[cfg_attr(test, derive(Deserialize))]
#[cfg_attr(test, serde(default, deny_unknown_fields))]
pub(super) struct ResponseRequest {
    pub model: Text,
    pub input: Vec<InputItem>,
    /// Always false: the server stores nothing.
    pub store: bool,
    #[serde(skip_serializing_if = "Vec::is_empty")]
    pub include: Vec<Include>,
    #[serde(skip_serializing_if = "Vec::is_empty")]
    pub tools: Vec<FunctionTool>,
    #[serde(skip_serializing_if = "Option::is_none")]
    pub tool_choice: Option<ResponseToolChoice>,
    #[serde(skip_serializing_if = "Option::is_none")]
    pub temperature: Option<f64>,
    #[serde(skip_serializing_if = "Option::is_none")]
    pub max_output_tokens: Option<u32>,
    #[serde(skip_serializing_if = "Option::is_none")]
    pub reasoning: Option<Reasoning>,
    #[serde(skip_serializing_if = "Option::is_none")]
    pub text: Option<TextOptions>,
    #[serde(skip_serializing_if = "std::ops::Not::not")]
    pub stream: bool,
}

#[derive(Debug, Serialize)]
#[cfg_attr(test, derive(Deserialize))]
pub(super) struct TextOptions {
    /// The schema with its type.
    pub format: Object,
}

#[derive(Debug, Serialize)]
#[cfg_attr(test, derive(Deserialize))]
pub(super) enum Include {
    #[serde(rename = "reasoning.encrypted_content")]
    EncryptedReasoning,
}

#[derive(Debug, Serialize)]
#[cfg_attr(test, derive(Deserialize))]
pub(super) struct Reasoning {
    pub effort: Effort,
    #[serde(skip_serializing_if = "Option::is_none")]
    pub summary: Option<SummaryStyle>,
}

#[derive(Debug, Serialize)]
#[cfg_attr(test, derive(Deserialize))]
#[serde(rename_all = "lowercase")]
pub(super) enum SummaryStyle {
    Auto,
}

/// An item of the history.
#[derive(Debug, Serialize)]
#[cfg_attr(test, derive(Deserialize))]
#[serde(untagged)]
pub(super) enum InputItem {
    Message(InputMessage),
    Call(FunctionCall),
    Output(FunctionCallOutput),
    /// An item of an earlier answer, sent back unchanged.
    Echo(Json),
}

#[derive(Debug, Serialize)]
#[cfg_attr(test, derive(Deserialize))]
#[cfg_attr(test, serde(deny_unknown_fields))]
pub(super) struct InputMessage {
    pub role: InputRole,
    pub content: InputContent,
}

#[derive(Debug, Serialize)]
#[cfg_attr(test, derive(Deserialize))]
#[serde(rename_all = "lowercase")]
pub(super) enum InputRole {
    System,
    User,
    Assistant,
}

#[derive(Debug, Serialize)]
#[cfg_attr(test, derive(Deserialize))]
#[serde(untagged)]
pub(super) enum InputContent {
    Text(Text),
    Parts(Vec<InputPart>),
}

#[derive(Debug, Serialize)]
#[cfg_attr(test, derive(Deserialize))]
#[serde(tag = "type", rename_all = "snake_case")]
pub(super) enum InputPart {
    InputText {
        text: Text,
    },
    InputImage {
        image_url: Text,
        detail: ImageDetail,
    },
}

#[derive(Debug, Serialize)]
#[cfg_attr(test, derive(Deserialize))]
#[serde(rename_all = "lowercase")]
pub(super) enum ImageDetail {
    Auto,
}

/// The only value of a `type` member.
macro_rules! type_word {
    ($name:ident, $variant:ident) => {
        #[derive(Debug, Serialize)]
        #[cfg_attr(test, derive(Deserialize))]
        #[serde(rename_all = "snake_case")]
        pub(super) enum $name {
            $variant,
        }
    };
}

type_word!(CallType, FunctionCall);
type_word!(OutputType, FunctionCallOutput);
type_word!(ToolType, Function);

/// A call in the history.
#[derive(Debug, Serialize)]
#[cfg_attr(test, derive(Deserialize))]
#[cfg_attr(test, serde(deny_unknown_fields))]
pub(super) struct FunctionCall {
    #[serde(rename = "type")]
    pub kind: CallType,
    pub call_id: Text,
    pub name: Text,
    /// JSON text.
    pub arguments: Text,
}

#[derive(Debug, Serialize)]
#[cfg_attr(test, derive(Deserialize))]
pub(super) struct FunctionCallOutput {
    #[serde(rename = "type")]
    pub kind: OutputType,
    pub call_id: Text,
    pub output: InputContent,
}

/// A tool definition.
#[derive(Debug, Serialize)]
#[cfg_attr(test, derive(Deserialize))]
pub(super) struct FunctionTool {
    #[serde(rename = "type")]
    pub kind: ToolType,
    pub name: Text,
    pub description: Text,
    /// A JSON Schema.
    pub parameters: Object,
    pub strict: bool,
}

#[derive(Debug, Serialize)]
#[cfg_attr(test, derive(Deserialize))]
#[serde(untagged)]
pub(super) enum ResponseToolChoice {
    Word(Text),
    Function {
        #[serde(rename = "type")]
        kind: ToolType,
        name: Text,
    },
}

/// A complete response, or the one in a stream event.
#[derive(Default, Deserialize)]
#[cfg_attr(test, derive(Debug, PartialEq, Serialize))]
#[serde(default)]
pub(super) struct Response {
    /// [`OutputItem`]s, unparsed because they may have to be sent back unchanged.
    pub output: LenientList<Json>,
    pub incomplete_details: Lenient<IncompleteDetails>,
    pub model: Lenient<Text>,
    pub usage: Lenient<ResponseUsage>,
}

#[derive(Default, Deserialize)]
#[cfg_attr(test, derive(Debug, PartialEq, Serialize))]
#[serde(default)]
pub(super) struct IncompleteDetails {
    pub reason: Lenient<Text>,
}

/// An item of a response: a message, reasoning, or a call.
#[derive(Default, Deserialize)]
#[cfg_attr(test, derive(Debug, PartialEq, Serialize))]
#[serde(default)]
pub(super) struct OutputItem {
    #[serde(rename = "type")]
    pub kind: Lenient<Text>,
    pub phase: Lenient<Text>,
    /// Used by messages and reasoning.
    pub content: LenientList<OutputPart>,
    /// Used by reasoning.
    pub summary: LenientList<OutputPart>,
    pub encrypted_content: Lenient<Text>,
    /// Used by calls.
    pub call_id: Lenient<Text>,
    pub name: Lenient<Text>,
    /// JSON text, or the object itself.
    pub arguments: Json,
}

#[derive(Default, Deserialize)]
#[cfg_attr(test, derive(Debug, PartialEq, Serialize))]
#[serde(default)]
pub(super) struct OutputPart {
    pub text: Lenient<Text>,
    pub refusal: Lenient<Text>,
}

/// A stream event. Its type determines which members are present.
#[derive(Default, Deserialize)]
#[cfg_attr(test, derive(Debug, PartialEq, Serialize))]
#[serde(default)]
pub(super) struct StreamEvent {
    #[serde(rename = "type")]
    pub kind: Lenient<Text>,
    pub delta: Lenient<Text>,
    pub arguments: Lenient<Text>,
    pub item: Json,
    pub item_id: Lenient<Text>,
    /// Usually a number; any value identifies the item.
    pub output_index: Json,
    /// A [`Response`], or an error.
    pub response: Json,
    pub code: Lenient<Text>,
}

#[derive(Clone, Copy, Default, Deserialize)]
#[cfg_attr(test, derive(Debug, PartialEq, Serialize))]
#[serde(default)]
pub(super) struct ResponseUsage {
    input_tokens: Lenient<u64>,
    input_tokens_details: Lenient<InputDetails>,
    output_tokens: Lenient<u64>,
    output_tokens_details: Lenient<OutputDetails>,
    /// US dollars.
    cost: Lenient<f64>,
}

#[derive(Clone, Copy, Default, Deserialize)]
#[cfg_attr(test, derive(Debug, PartialEq, Serialize))]
#[serde(default)]
struct InputDetails {
    cached_tokens: Lenient<u64>,
    cache_write_tokens: Lenient<u64>,
}

#[derive(Clone, Copy, Default, Deserialize)]
#[cfg_attr(test, derive(Debug, PartialEq, Serialize))]
#[serde(default)]
struct OutputDetails {
    reasoning_tokens: Lenient<u64>,
}

impl ResponseUsage {
    /// `None` if the tokens of the request are missing.
    pub(super) fn to_usage(self) -> Option<Usage> {
        let input = self.input_tokens_details.unwrap_or_default();
        let output = self.output_tokens_details.unwrap_or_default();
        Some(Usage {
            prompt: (*self.input_tokens)?,
            completion: self.output_tokens.unwrap_or(0),
            cached: input.cached_tokens.unwrap_or(0),
            cache_written: input.cache_write_tokens.unwrap_or(0),
            reasoning: output.reasoning_tokens.unwrap_or(0),
            charged: *self.cost,
        })
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::model::wire_tests::{replies_come_back, requests_come_back};

    #[test]
    fn golden_requests_come_back() {
        requests_come_back::<ResponseRequest>("openai-responses");
    }

    #[test]
    fn recorded_replies_come_back() {
        replies_come_back::<Response>("openai-responses", "json");
        replies_come_back::<StreamEvent>("openai-responses", "sse");
    }
}
