//! OpenAI Chat Completions, and everything compatible with it: vLLM, SGLang, LM Studio, Ollama,
//! llama.cpp, OpenRouter, Groq, DeepSeek, Together.
//!
//! Compatible servers differ in what they leave out; what is read here is lenient: arguments may be
//! an object, ids and indexes may be missing, thinking goes by several names.
//!
//! - `messages`: history as chat messages; Mistral uses it too.
//! - `completion`: whole completions; `stream`: chunks.

pub(super) mod completion;
pub(super) mod messages;
pub(super) mod stream;

use volary_core::json::{Json, Text};
use volary_core::{json, object};

use self::completion::read_completion;
use self::messages::{ChatStyle, messages};
use self::stream::ChatStream;
use super::history::turns;
use super::http::HeaderValue;
use super::lenient::{list, some_text};
use super::parameter_fallback::Concession;
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
            bridge: request.concessions.has(Concession::Bridge),
        };
        let mut body = object!({
            "model": (request.model.clone()),
            "messages": (messages(&history, request, &style)),
        });
        add_tools(&mut body, request, "required");
        if let Some(temperature) = request.sent_temperature() {
            body.insert("temperature", temperature);
        }
        if let Some(limit) = request.max_tokens {
            // OpenAI's own reasoning models refuse the older name, and others know only that one.
            let newer = base_url.contains("api.openai.com")
                || request.concessions.has(Concession::NewLimitName);
            body.insert(
                if newer {
                    "max_completion_tokens"
                } else {
                    "max_tokens"
                },
                limit,
            );
        }
        if let Some(stop) = request.sent_stop() {
            body.insert("stop", stop);
        }
        if let Some(seed) = request.sent_seed() {
            body.insert("seed", seed);
        }
        if let Some(effort) = request.sent_effort() {
            body.insert("reasoning_effort", effort.as_str());
        }
        if request.stream {
            body.insert("stream", true);
            if !request.concessions.has(Concession::NoStreamUsage) {
                body.insert("stream_options", object!({"include_usage": true}));
            }
        }
        HttpRequest {
            url: format!("{base_url}/chat/completions"),
            headers: bearer(key),
            body: Json::Object(body).to_compact_text(),
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

/// An id for a call that has none.
pub(super) fn made_id(place: usize, id: &str) -> String {
    if id.is_empty() {
        format!("call_{place}")
    } else {
        id.to_owned()
    }
}

/// The headers of providers that take the key as a bearer token; none where there is no key.
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

/// The ids in `{"data": [{"id"}]}`.
pub(super) fn model_ids(body: &Json) -> Vec<Text> {
    let models = body.as_list().unwrap_or_else(|| list(body, "data"));
    models
        .iter()
        .filter_map(|model| some_text(model, "id"))
        .collect()
}

/// The tools and what to do with them; `forced` is the word for having to call one.
pub(super) fn add_tools(
    body: &mut volary_core::Object,
    request: &ModelRequest,
    forced: &'static str,
) {
    if request.tools.is_empty() {
        return;
    }
    let tools = request.tools.iter().map(|tool| {
        let mut function = object!({
            "name": (tool.info.name.clone()),
            "description": (tool.info.description.clone()),
        });
        if let Some(parameters) = &tool.info.parameters {
            function.insert("parameters", parameters.dump(true));
        }
        json!({"type": "function", "function": (function)})
    });
    body.insert("tools", Json::List(tools.collect()));
    if let Some(choice) = request.choice() {
        let choice = match choice {
            ToolChoice::Required => forced.into(),
            ToolChoice::Auto => "auto".into(),
            ToolChoice::None => "none".into(),
            ToolChoice::Tool(name) => json!({"type": "function", "function": {"name": name}}),
            ToolChoice::Word(word) => word.into(),
        };
        body.insert("tool_choice", choice);
    }
}
