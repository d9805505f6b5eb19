//! What goes over the wire: requests, responses and the events of a stream.

use serde::{Deserialize, Serialize};
use volary_core::json::{Json, Object, Text};

use crate::model::lenient::{Lenient, LenientList};
use crate::model::{Effort, Usage};

/// A request. Members that are `None`, empty or false are left out.
#[derive(Debug, Default, Serialize)]
#[cfg_attr(test, derive(Deserialize))]
#[cfg_attr(test, serde(default, deny_unknown_fields))]
pub(super) struct ResponseRequest {
    pub model: Text,
    pub input: Vec<InputItem>,
    /// Always false: nothing is stored there.
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
    #[serde(skip_serializing_if = "std::ops::Not::not")]
    pub stream: bool,
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
    /// An item of an answer, which goes back as it came.
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

/// A tool on offer.
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

/// A whole response, or the one that an event of a stream carries.
#[derive(Default, Deserialize)]
#[cfg_attr(test, derive(Debug, PartialEq, Serialize))]
#[serde(default)]
pub(super) struct Response {
    /// [`OutputItem`]s as they came, for they may have to go back.
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
    /// Of a message, or of reasoning.
    pub content: LenientList<OutputPart>,
    /// Of reasoning.
    pub summary: LenientList<OutputPart>,
    pub encrypted_content: Lenient<Text>,
    /// Of a call.
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

/// An event of a stream. Its type says which of the members it has.
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
    /// A number; another value still tells items apart.
    pub output_index: Json,
    /// A [`Response`], or an error in place of one.
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
    /// `None` if the tokens of the request are not counted.
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
