//! Wire types: requests, completions and chunks.
//!
//! Golden files cover requests in both directions (`tests/golden/requests`); recorded replies are in `tests/fixtures`.

use serde::{Deserialize, Serialize};
use volary_core::json::{Json, Object, Text};

use crate::model::lenient::{Lenient, LenientList, read_or_default};
use crate::model::{Effort, RawCall, Usage};

/// A request. Members that are `None`, empty or false are omitted.
#[derive(Debug, Default, Serialize)]
#[cfg_attr(test, derive(Deserialize))]
#[cfg_attr(test, serde(default, deny_unknown_fields))]
pub(in crate::model) struct ChatRequest {
    pub model: Text,
    pub messages: Vec<ChatMessage>,
    #[serde(skip_serializing_if = "Vec::is_empty")]
    pub tools: Vec<ToolDefinition>,
    #[serde(skip_serializing_if = "Option::is_none")]
    pub tool_choice: Option<ChatToolChoice>,
    #[serde(skip_serializing_if = "Option::is_none")]
    pub temperature: Option<f64>,
    #[serde(skip_serializing_if = "Option::is_none")]
    pub max_tokens: Option<u32>,
    /// The name that OpenAI's reasoning models require.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub max_completion_tokens: Option<u32>,
    #[serde(skip_serializing_if = "Option::is_none")]
    pub stop: Option<Vec<Text>>,
    #[serde(skip_serializing_if = "Option::is_none")]
    pub seed: Option<i64>,
    /// Mistral's name for the seed.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub random_seed: Option<i64>,
    #[serde(skip_serializing_if = "Option::is_none")]
    pub reasoning_effort: Option<Effort>,
    #[serde(skip_serializing_if = "Option::is_none")]
    pub response_format: Option<ResponseFormat>,
    #[serde(skip_serializing_if = "std::ops::Not::not")]
    pub stream: bool,
    #[serde(skip_serializing_if = "Option::is_none")]
    pub stream_options: Option<StreamOptions>,
}

/// The form of the answer.
#[derive(Debug, Serialize)]
#[cfg_attr(test, derive(Deserialize))]
#[serde(tag = "type", rename_all = "snake_case")]
pub(in crate::model) enum ResponseFormat {
    JsonSchema { json_schema: Object },
}

#[derive(Debug, Serialize)]
#[cfg_attr(test, derive(Deserialize))]
pub(in crate::model) struct StreamOptions {
    pub include_usage: bool,
}

/// A message of a request.
#[derive(Debug, Serialize)]
#[cfg_attr(test, derive(Deserialize))]
#[serde(tag = "role", rename_all = "lowercase")]
pub(in crate::model) enum ChatMessage {
    System {
        content: Text,
    },
    User {
        content: ChatContent,
    },
    Assistant(AssistantMessage),
    Tool {
        tool_call_id: Text,
        content: ChatContent,
    },
}

/// A message of the model.
#[derive(Debug, Serialize)]
#[cfg_attr(test, derive(Deserialize))]
pub(in crate::model) struct AssistantMessage {
    /// A text, `null` next to calls, or the chunks as received.
    pub content: Json,
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub tool_calls: Vec<SentCall>,
    /// Additional fields of the received message, sent back with it.
    #[serde(flatten)]
    pub echo: Object,
}

#[derive(Debug, Serialize)]
#[cfg_attr(test, derive(Deserialize))]
#[serde(untagged)]
pub(in crate::model) enum ChatContent {
    Text(Text),
    Blocks(Vec<Block>),
}

#[derive(Debug, Serialize)]
#[cfg_attr(test, derive(Deserialize))]
#[serde(tag = "type", rename_all = "snake_case")]
pub(in crate::model) enum Block {
    Text { text: Text },
    ImageUrl { image_url: ImageUrl },
}

#[derive(Debug, Serialize)]
#[cfg_attr(test, derive(Deserialize))]
pub(in crate::model) struct ImageUrl {
    pub url: Text,
}

/// `function`, the only tool type used here.
#[derive(Debug, Default, Serialize)]
#[cfg_attr(test, derive(Deserialize))]
#[serde(rename_all = "lowercase")]
pub(in crate::model) enum FunctionType {
    #[default]
    Function,
}

/// A call in the history.
#[derive(Debug, Serialize)]
#[cfg_attr(test, derive(Deserialize))]
pub(in crate::model) struct SentCall {
    pub id: Text,
    #[serde(rename = "type")]
    pub kind: FunctionType,
    pub function: SentFunction,
}

#[derive(Debug, Serialize)]
#[cfg_attr(test, derive(Deserialize))]
pub(in crate::model) struct SentFunction {
    pub name: Text,
    /// JSON text.
    pub arguments: Text,
}

/// A tool definition.
#[derive(Debug, Serialize)]
#[cfg_attr(test, derive(Deserialize))]
pub(in crate::model) struct ToolDefinition {
    #[serde(rename = "type")]
    pub kind: FunctionType,
    pub function: FunctionDefinition,
}

#[derive(Debug, Serialize)]
#[cfg_attr(test, derive(Deserialize))]
pub(in crate::model) struct FunctionDefinition {
    pub name: Text,
    pub description: Text,
    /// A JSON Schema.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub parameters: Option<Object>,
}

#[derive(Debug, Serialize)]
#[cfg_attr(test, derive(Deserialize))]
#[serde(untagged)]
pub(in crate::model) enum ChatToolChoice {
    Word(Text),
    Function {
        #[serde(rename = "type")]
        kind: FunctionType,
        function: FunctionName,
    },
}

#[derive(Debug, Serialize)]
#[cfg_attr(test, derive(Deserialize))]
pub(in crate::model) struct FunctionName {
    pub name: Text,
}

/// A complete completion.
#[derive(Default, Deserialize)]
#[cfg_attr(test, derive(Debug, PartialEq, Serialize))]
#[serde(default)]
pub(in crate::model) struct Completion {
    pub choices: LenientList<Choice>,
    pub usage: Lenient<ChatUsage>,
    pub model: Lenient<Text>,
}

#[derive(Default, Deserialize)]
#[cfg_attr(test, derive(Debug, PartialEq, Serialize))]
#[serde(default)]
pub(in crate::model) struct Choice {
    pub message: Lenient<ReplyMessage>,
    pub finish_reason: Lenient<Text>,
}

/// A chunk of a stream.
#[derive(Default, Deserialize)]
#[cfg_attr(test, derive(Debug, PartialEq, Serialize))]
#[serde(default)]
pub(in crate::model) struct Chunk {
    pub choices: LenientList<ChunkChoice>,
    pub usage: Lenient<ChatUsage>,
    pub model: Lenient<Text>,
}

#[derive(Default, Deserialize)]
#[cfg_attr(test, derive(Debug, PartialEq, Serialize))]
#[serde(default)]
pub(in crate::model) struct ChunkChoice {
    pub index: Lenient<i64>,
    pub delta: Lenient<ReplyMessage>,
    pub finish_reason: Lenient<Text>,
}

/// A message of a completion, or a piece of it.
#[derive(Default, Deserialize)]
#[cfg_attr(test, derive(Debug, PartialEq, Serialize))]
#[serde(default)]
pub(in crate::model) struct ReplyMessage {
    /// A text, or a list of [`ContentChunk`]s, which may have to be sent back unchanged.
    pub content: Json,
    pub reasoning_content: Lenient<Text>,
    pub reasoning: Lenient<Text>,
    /// Unparsed (OpenRouter), because they are sent back unchanged.
    pub reasoning_details: LenientList<Json>,
    pub refusal: Lenient<Text>,
    pub tool_calls: LenientList<ReplyCall>,
}

/// A chunk of content: of text or of thinking (Mistral).
#[derive(Default, Deserialize)]
#[cfg_attr(test, derive(Debug, PartialEq, Serialize))]
#[serde(default)]
pub(in crate::model) struct ContentChunk {
    #[serde(rename = "type")]
    pub kind: Lenient<Text>,
    pub text: Lenient<Text>,
    /// A text, or a list of chunks of text.
    pub thinking: Json,
    pub signature: Json,
}

/// A call, or a piece of it.
#[derive(Default, Deserialize)]
#[cfg_attr(test, derive(Debug, PartialEq, Serialize))]
#[serde(default)]
pub(in crate::model) struct ReplyCall {
    pub index: Lenient<i64>,
    pub id: Lenient<Text>,
    pub function: Lenient<ReplyFunction>,
}

#[derive(Default, Deserialize)]
#[cfg_attr(test, derive(Debug, PartialEq, Serialize))]
#[serde(default)]
pub(in crate::model) struct ReplyFunction {
    pub name: Lenient<Text>,
    /// JSON text, or (Ollama) the object itself.
    pub arguments: Json,
}

#[derive(Clone, Copy, Default, Deserialize)]
#[cfg_attr(test, derive(Debug, PartialEq, Serialize))]
#[serde(default)]
pub(in crate::model) struct ChatUsage {
    prompt_tokens: Lenient<u64>,
    completion_tokens: Lenient<u64>,
    prompt_tokens_details: Lenient<PromptDetails>,
    /// DeepSeek's name for tokens read from the cache.
    prompt_cache_hit_tokens: Lenient<u64>,
    completion_tokens_details: Lenient<CompletionDetails>,
    /// US dollars (OpenRouter).
    cost: Lenient<f64>,
}

#[derive(Clone, Copy, Default, Deserialize)]
#[cfg_attr(test, derive(Debug, PartialEq, Serialize))]
#[serde(default)]
struct PromptDetails {
    cached_tokens: Lenient<u64>,
    cache_write_tokens: Lenient<u64>,
}

#[derive(Clone, Copy, Default, Deserialize)]
#[cfg_attr(test, derive(Debug, PartialEq, Serialize))]
#[serde(default)]
struct CompletionDetails {
    reasoning_tokens: Lenient<u64>,
}

/// A list of models, under `data` or bare.
#[derive(Default, Deserialize)]
#[serde(default)]
pub(in crate::model) struct ModelList {
    pub data: LenientList<ListedModel>,
}

#[derive(Default, Deserialize)]
#[serde(default)]
pub(in crate::model) struct ListedModel {
    pub id: Lenient<Text>,
}

impl ReplyMessage {
    /// The thinking, which has one of two names; a server that sends both repeats the text.
    pub(in crate::model) fn thinking(&self) -> Option<String> {
        let texts = [&self.reasoning_content, &self.reasoning];
        let thought = texts.into_iter().find_map(Lenient::not_empty);
        thought.map(|text| text.to_string())
    }
}

impl ContentChunk {
    /// The chunks of a list content.
    pub(in crate::model) fn of(content: &Json) -> Vec<ContentChunk> {
        let chunks = content.as_list().unwrap_or_default();
        chunks.iter().map(read_or_default).collect()
    }

    pub(in crate::model) fn is_thinking(&self) -> bool {
        self.kind.or_empty() == "thinking"
    }
}

impl ReplyCall {
    pub(in crate::model) fn to_raw(&self) -> RawCall {
        let function = self.function.as_ref();
        RawCall {
            id: self.id.or_empty().to_owned(),
            name: function
                .map_or("", |function| function.name.or_empty())
                .to_owned(),
            arguments: function.map_or_else(String::new, |function| arguments(&function.arguments)),
        }
    }
}

/// Arguments as text, whether received as text or as an object.
pub(in crate::model) fn arguments(value: &Json) -> String {
    match value {
        Json::Text(text) => text.to_string(),
        Json::Null => String::new(),
        value => value.to_python_text(),
    }
}

impl ChatUsage {
    /// `None` if the tokens of the request are missing.
    pub(in crate::model) fn to_usage(self) -> Option<Usage> {
        let prompt = self.prompt_tokens_details.unwrap_or_default();
        let completion = self.completion_tokens_details.unwrap_or_default();
        Some(Usage {
            prompt: (*self.prompt_tokens)?,
            completion: self.completion_tokens.unwrap_or(0),
            cached: prompt
                .cached_tokens
                .or(*self.prompt_cache_hit_tokens)
                .unwrap_or(0),
            cache_written: prompt.cache_write_tokens.unwrap_or(0),
            reasoning: completion.reasoning_tokens.unwrap_or(0),
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
        requests_come_back::<ChatRequest>("openai-chat");
        requests_come_back::<ChatRequest>("mistral");
    }

    #[test]
    fn recorded_replies_come_back() {
        for provider in ["openai-chat", "mistral"] {
            replies_come_back::<Completion>(provider, "json");
            replies_come_back::<Chunk>(provider, "sse");
        }
    }
}
