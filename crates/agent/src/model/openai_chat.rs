//! OpenAI Chat Completions, and everything compatible with it: vLLM, SGLang, LM Studio, Ollama,
//! llama.cpp, OpenRouter, Groq, DeepSeek, Together.
//!
//! Compatible servers omit different fields, so parsing is lenient: arguments may be
//! an object, ids and indexes may be missing, and thinking has several names.
//!
//! - `messages`: history to chat messages; Mistral uses it too.
//! - `completion`: complete completions; `stream`: chunks.
//! - `wire`: the types of requests, completions and chunks.

pub(super) mod completion;
pub(super) mod messages;
pub(super) mod stream;
pub(super) mod wire;

use serde::Serialize;
use volary_core::json::{Json, Text, to_json};

use self::completion::read_completion;
use self::messages::{ChatStyle, messages};
use self::stream::ChatStream;
use self::wire::{
    ChatRequest, ChatToolChoice, FunctionDefinition, FunctionName, FunctionType, ListedModel,
    ModelList, ResponseFormat, StreamOptions, ToolDefinition,
};
use super::history::turns;
use super::http::HeaderValue;
use super::lenient::read_or_default;
use super::parameter_fallback::ParameterFallback;
use super::{
    Answer, ApiKey, HttpRequest, ModelError, ModelRequest, Provider, StreamReader, ToolChoice,
};

const NAME: &str = "openai-chat";

/// The codec.
pub struct OpenAiChat;

impl Provider for OpenAiChat {
    fn name(&self) -> &'static str {
        NAME
    }

    fn request(&self, base_url: &str, key: &ApiKey, request: &ModelRequest) -> HttpRequest {
        let history = turns(&request.messages, made_id);
        let style = ChatStyle {
            provider: NAME,
            images_in_answers: false,
            system_anywhere: true,
            bridge: request.fallbacks.has(ParameterFallback::Bridge),
        };
        // OpenAI's own reasoning models reject the older name, and other servers know only that one.
        let is_newer_limit = base_url.contains("api.openai.com")
            || request.fallbacks.has(ParameterFallback::NewLimitName);
        let (newer, older) = if is_newer_limit {
            (request.max_tokens, None)
        } else {
            (None, request.max_tokens)
        };
        let has_usage = request.stream && !request.fallbacks.has(ParameterFallback::NoStreamUsage);
        let body = ChatRequest {
            model: request.model.clone(),
            messages: messages(&history, request, &style),
            tools: tools(request),
            tool_choice: tool_choice(request, "required"),
            temperature: request.sent_temperature(),
            max_tokens: older,
            max_completion_tokens: newer,
            stop: request.sent_stop(),
            seed: request.sent_seed(),
            reasoning_effort: request.sent_effort(),
            response_format: response_format(request),
            stream: request.stream,
            stream_options: has_usage.then_some(StreamOptions {
                include_usage: true,
            }),
            ..ChatRequest::default()
        };
        HttpRequest {
            url: format!("{base_url}/chat/completions"),
            headers: bearer(key),
            body: body_text(&body),
        }
    }

    fn read(&self, body: &Json) -> Result<Answer, ModelError> {
        read_completion(body)
    }

    fn stream(&self) -> Box<dyn StreamReader> {
        Box::new(ChatStream::default())
    }

    fn models(&self, base_url: &str, key: &ApiKey) -> HttpRequest {
        models_request(base_url, key)
    }

    fn read_models(&self, body: &Json) -> Vec<Text> {
        model_ids(body)
    }
}

/// The form of the answer, if there is a schema.
pub(super) fn response_format(request: &ModelRequest) -> Option<ResponseFormat> {
    let json_schema = request.named_schema()?;
    Some(ResponseFormat::JsonSchema { json_schema })
}

/// The id of a call, generated from its index if it is missing.
pub(super) fn made_id(index: usize, id: &str) -> String {
    if id.is_empty() {
        format!("call_{index}")
    } else {
        id.to_owned()
    }
}

/// The headers of providers that accept the key as a bearer token; empty without a key.
pub(super) fn bearer(key: &ApiKey) -> Vec<(&'static str, HeaderValue)> {
    let mut headers = vec![("content-type", HeaderValue::Plain("application/json"))];
    if !key.is_empty() {
        headers.push((
            "authorization",
            HeaderValue::Secret {
                prefix: "Bearer ",
                key: key.clone(),
            },
        ));
    }
    headers
}

/// A GET of `/models`, with a bearer token.
pub(super) fn models_request(base_url: &str, key: &ApiKey) -> HttpRequest {
    let mut headers = bearer(key);
    headers.retain(|(name, _)| *name != "content-type");
    HttpRequest {
        url: format!("{base_url}/models"),
        headers,
        body: String::new(),
    }
}

/// The JSON text of a request's body.
pub(super) fn body_text(body: &impl Serialize) -> String {
    // Only maps with non-string keys fail to serialize, and wire types have none.
    to_json(body).unwrap_or_default().to_compact_text()
}

/// The ids in `{"data": [{"id"}]}`, or in a bare list.
pub(super) fn model_ids(body: &Json) -> Vec<Text> {
    let listed: Vec<ListedModel> = match body {
        Json::List(models) => models.iter().map(read_or_default).collect(),
        body => {
            let list: ModelList = read_or_default(body);
            list.data.0.unwrap_or_default()
        }
    };
    let ids = listed.iter().filter_map(|model| model.id.not_empty());
    ids.cloned().collect()
}

/// The tool definitions.
pub(super) fn tools(request: &ModelRequest) -> Vec<ToolDefinition> {
    let tools = request.tools.iter().map(|tool| ToolDefinition {
        kind: FunctionType::Function,
        function: FunctionDefinition {
            name: tool.info.name.clone(),
            description: tool.info.description.clone(),
            parameters: tool.info.parameters.as_ref().map(|it| it.dump(true)),
        },
    });
    tools.collect()
}

/// The tool choice; `forced` is the provider's word for a required call.
pub(super) fn tool_choice(request: &ModelRequest, forced: &str) -> Option<ChatToolChoice> {
    Some(match request.choice()? {
        ToolChoice::Required => ChatToolChoice::Word(forced.into()),
        ToolChoice::Auto => ChatToolChoice::Word("auto".into()),
        ToolChoice::None => ChatToolChoice::Word("none".into()),
        ToolChoice::Tool(name) => ChatToolChoice::Function {
            kind: FunctionType::Function,
            function: FunctionName { name },
        },
        ToolChoice::Word(word) => ChatToolChoice::Word(word),
    })
}
