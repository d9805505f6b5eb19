//! Wire types: requests, and complete or streamed answers.

use serde::{Deserialize, Serialize};
use volary_core::json::{Json, Object, Text};

use crate::model::Usage;
use crate::model::lenient::{Lenient, LenientList};

/// A request. Members that are `None` or empty are omitted.
#[derive(Debug, Default, Serialize)]
#[serde(rename_all = "camelCase")]
#[cfg_attr(test, derive(Deserialize))]
#[cfg_attr(test, serde(default, deny_unknown_fields))]
pub(super) struct GenerateRequest {
    pub contents: Vec<SentContent>,
    #[serde(skip_serializing_if = "Option::is_none")]
    pub system_instruction: Option<SystemInstruction>,
    #[serde(skip_serializing_if = "Vec::is_empty")]
    pub tools: Vec<ToolSet>,
    #[serde(skip_serializing_if = "Option::is_none")]
    pub tool_config: Option<ToolConfig>,
    #[serde(skip_serializing_if = "GenerationConfig::is_empty")]
    pub generation_config: GenerationConfig,
}

#[derive(Debug, Serialize)]
#[cfg_attr(test, derive(Deserialize))]
pub(super) struct SentContent {
    pub role: Role,
    pub parts: Vec<SentPart>,
}

#[derive(Debug, Serialize)]
#[cfg_attr(test, derive(Deserialize))]
#[serde(rename_all = "lowercase")]
pub(super) enum Role {
    User,
    Model,
}

#[derive(Debug, Serialize)]
#[cfg_attr(test, derive(Deserialize))]
pub(super) struct SystemInstruction {
    pub parts: Vec<SentPart>,
}

/// A part of the history.
#[derive(Debug, Serialize)]
#[cfg_attr(test, derive(Deserialize))]
#[serde(untagged)]
pub(super) enum SentPart {
    Made(MadePart),
    /// The signature of a call is a sibling of the call.
    SignedCall(SignedCall),
    /// A part of an earlier answer, sent back unchanged.
    Echo(Json),
}

#[derive(Debug, Serialize)]
#[cfg_attr(test, derive(Deserialize))]
#[serde(rename_all = "camelCase")]
pub(super) enum MadePart {
    Text(Text),
    InlineData(InlineData),
    FileData(FileData),
    FunctionCall(SentCall),
    FunctionResponse(FunctionResponse),
}

#[derive(Debug, Serialize)]
#[serde(rename_all = "camelCase")]
#[cfg_attr(test, derive(Deserialize))]
#[cfg_attr(test, serde(deny_unknown_fields))]
pub(super) struct SignedCall {
    pub function_call: SentCall,
    pub thought_signature: Text,
}

#[derive(Debug, Serialize)]
#[cfg_attr(test, derive(Deserialize))]
#[serde(rename_all = "camelCase")]
pub(super) struct InlineData {
    pub mime_type: Text,
    /// Base64.
    pub data: Text,
}

#[derive(Debug, Serialize)]
#[cfg_attr(test, derive(Deserialize))]
#[serde(rename_all = "camelCase")]
pub(super) struct FileData {
    pub file_uri: Text,
    #[serde(skip_serializing_if = "Option::is_none")]
    pub mime_type: Option<Text>,
}

/// A call in the history.
#[derive(Debug, Serialize)]
#[cfg_attr(test, derive(Deserialize))]
#[cfg_attr(test, serde(deny_unknown_fields))]
pub(super) struct SentCall {
    pub name: Text,
    pub args: Object,
}

/// The result of a call.
#[derive(Debug, Serialize)]
#[cfg_attr(test, derive(Deserialize))]
pub(super) struct FunctionResponse {
    /// The id of the call, if the provider assigned one.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub id: Option<Text>,
    pub name: Text,
    pub response: ResponseOutput,
    /// Images.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub parts: Vec<SentPart>,
}

#[derive(Debug, Serialize)]
#[cfg_attr(test, derive(Deserialize))]
pub(super) struct ResponseOutput {
    pub output: Text,
}

#[derive(Debug, Serialize)]
#[cfg_attr(test, derive(Deserialize))]
#[serde(rename_all = "camelCase")]
pub(super) struct ToolSet {
    pub function_declarations: Vec<FunctionDeclaration>,
}

/// A tool definition.
#[derive(Debug, Serialize)]
#[cfg_attr(test, derive(Deserialize))]
#[serde(rename_all = "camelCase")]
pub(super) struct FunctionDeclaration {
    pub name: Text,
    pub description: Text,
    #[serde(skip_serializing_if = "Option::is_none")]
    pub parameters_json_schema: Option<Object>,
}

#[derive(Debug, Serialize)]
#[cfg_attr(test, derive(Deserialize))]
#[serde(rename_all = "camelCase")]
pub(super) struct ToolConfig {
    pub function_calling_config: FunctionCalling,
}

#[derive(Debug, Serialize)]
#[cfg_attr(test, derive(Deserialize))]
#[serde(rename_all = "camelCase")]
pub(super) struct FunctionCalling {
    pub mode: CallingMode,
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub allowed_function_names: Vec<Text>,
}

#[derive(Debug, Serialize)]
#[cfg_attr(test, derive(Deserialize))]
#[serde(rename_all = "UPPERCASE")]
pub(super) enum CallingMode {
    Any,
    Auto,
    None,
}

#[derive(Debug, Default, Serialize)]
#[serde(rename_all = "camelCase")]
#[cfg_attr(test, derive(Deserialize))]
#[cfg_attr(test, serde(default, deny_unknown_fields))]
pub(super) struct GenerationConfig {
    #[serde(skip_serializing_if = "Option::is_none")]
    pub temperature: Option<f64>,
    #[serde(skip_serializing_if = "Option::is_none")]
    pub max_output_tokens: Option<u32>,
    #[serde(skip_serializing_if = "Option::is_none")]
    pub stop_sequences: Option<Vec<Text>>,
    #[serde(skip_serializing_if = "Option::is_none")]
    pub seed: Option<i64>,
    #[serde(skip_serializing_if = "Option::is_none")]
    pub thinking_config: Option<ThinkingConfig>,
    #[serde(skip_serializing_if = "Option::is_none")]
    pub response_mime_type: Option<Text>,
    #[serde(skip_serializing_if = "Option::is_none")]
    pub response_json_schema: Option<Json>,
}

/// The thinking budget: a level, or tokens for models before 3.
#[derive(Debug, Serialize)]
#[serde(rename_all = "camelCase")]
#[cfg_attr(test, derive(Deserialize))]
pub(super) struct ThinkingConfig {
    #[serde(skip_serializing_if = "Option::is_none")]
    pub thinking_budget: Option<u32>,
    #[serde(skip_serializing_if = "Option::is_none")]
    pub thinking_level: Option<ThinkingLevel>,
    pub include_thoughts: bool,
}

#[derive(Debug, Serialize)]
#[cfg_attr(test, derive(Deserialize))]
#[serde(rename_all = "UPPERCASE")]
pub(super) enum ThinkingLevel {
    Minimal,
    Low,
    Medium,
    High,
}

/// An answer, or a chunk of one.
#[derive(Default, Deserialize)]
#[cfg_attr(test, derive(Debug, PartialEq, Serialize))]
#[serde(default, rename_all = "camelCase")]
pub(super) struct GenerateResponse {
    pub candidates: LenientList<Candidate>,
    pub prompt_feedback: Lenient<PromptFeedback>,
    pub model_version: Lenient<Text>,
    pub usage_metadata: Lenient<UsageMetadata>,
}

#[derive(Default, Deserialize)]
#[cfg_attr(test, derive(Debug, PartialEq, Serialize))]
#[serde(default, rename_all = "camelCase")]
pub(super) struct Candidate {
    pub content: Lenient<ReplyContent>,
    pub finish_reason: Lenient<Text>,
    pub finish_message: Lenient<Text>,
}

#[derive(Default, Deserialize)]
#[cfg_attr(test, derive(Debug, PartialEq, Serialize))]
#[serde(default)]
pub(super) struct ReplyContent {
    /// [`ReplyPart`]s, unparsed because they may have to be sent back unchanged.
    pub parts: LenientList<Json>,
}

#[derive(Default, Deserialize)]
#[cfg_attr(test, derive(Debug, PartialEq, Serialize))]
#[serde(default, rename_all = "camelCase")]
pub(super) struct ReplyPart {
    /// Whether the text is thinking.
    pub thought: Lenient<bool>,
    pub text: Lenient<Text>,
    pub function_call: Lenient<ReplyCall>,
}

#[derive(Default, Deserialize)]
#[cfg_attr(test, derive(Debug, PartialEq, Serialize))]
#[serde(default)]
pub(super) struct ReplyCall {
    pub id: Lenient<Text>,
    pub name: Lenient<Text>,
    pub args: Json,
}

#[derive(Default, Deserialize)]
#[cfg_attr(test, derive(Debug, PartialEq, Serialize))]
#[serde(default, rename_all = "camelCase")]
pub(super) struct PromptFeedback {
    pub block_reason: Lenient<Text>,
}

#[derive(Clone, Copy, Default, Deserialize)]
#[cfg_attr(test, derive(Debug, PartialEq, Serialize))]
#[serde(default, rename_all = "camelCase")]
pub(super) struct UsageMetadata {
    prompt_token_count: Lenient<u64>,
    tool_use_prompt_token_count: Lenient<u64>,
    candidates_token_count: Lenient<u64>,
    thoughts_token_count: Lenient<u64>,
    cached_content_token_count: Lenient<u64>,
}

#[derive(Default, Deserialize)]
#[serde(default)]
pub(super) struct ModelList {
    pub models: LenientList<ListedModel>,
}

#[derive(Default, Deserialize)]
#[serde(default, rename_all = "camelCase")]
pub(super) struct ListedModel {
    pub name: Lenient<Text>,
    pub supported_generation_methods: LenientList<Lenient<Text>>,
}

impl SentPart {
    pub(super) fn text(text: &str) -> SentPart {
        SentPart::Made(MadePart::Text(text.into()))
    }
}

impl GenerationConfig {
    pub(super) fn is_empty(&self) -> bool {
        let GenerationConfig {
            temperature,
            max_output_tokens,
            stop_sequences,
            seed,
            thinking_config,
            response_mime_type,
            response_json_schema,
        } = self;
        temperature.is_none()
            && max_output_tokens.is_none()
            && stop_sequences.is_none()
            && seed.is_none()
            && thinking_config.is_none()
            && response_mime_type.is_none()
            && response_json_schema.is_none()
    }
}

impl UsageMetadata {
    /// `None` if the tokens of the request are missing.
    pub(super) fn to_usage(self) -> Option<Usage> {
        let tool_use = self.tool_use_prompt_token_count.unwrap_or(0);
        let thoughts = self.thoughts_token_count.unwrap_or(0);
        let candidates = self.candidates_token_count.unwrap_or(0);
        Some(Usage {
            prompt: (*self.prompt_token_count)?.saturating_add(tool_use),
            completion: candidates.saturating_add(thoughts),
            cached: self.cached_content_token_count.unwrap_or(0),
            reasoning: thoughts,
            ..Usage::default()
        })
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::model::wire_tests::{replies_come_back, requests_come_back};

    #[test]
    fn golden_requests_come_back() {
        requests_come_back::<GenerateRequest>("gemini");
    }

    #[test]
    fn recorded_replies_come_back() {
        replies_come_back::<GenerateResponse>("gemini", "json");
        replies_come_back::<GenerateResponse>("gemini", "sse");
    }
}
