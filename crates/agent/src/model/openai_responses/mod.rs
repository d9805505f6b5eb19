//! OpenAI Responses. Nothing is stored there (`store: false`), so encrypted reasoning is asked for, and
//! the items of an answer go back whole with the history, as reasoning models want it.
//!
//! - `input`: history as input items; `output`: responses to answers; `stream`: typed events.

mod input;
mod output;
mod stream;

use volary_core::json::{Json, Text};
use volary_core::{json, object};

use self::input::input;
use self::output::read_response;
use self::stream::ResponseStream;
use super::history::turns;
use super::openai_chat::{bearer, made_id, model_ids, models_request};
use super::parameter_fallback::Concession;
use super::{
    Answer, ApiKey, Effort, HttpRequest, ModelError, ModelRequest, Provider, StreamReader,
    ToolChoice,
};

const NAME: &str = "openai-responses";

/// The codec.
pub struct OpenAiResponses;

impl Provider for OpenAiResponses {
    fn name(&self) -> &'static str {
        NAME
    }

    fn request(&self, base_url: &str, key: &ApiKey, request: &ModelRequest) -> HttpRequest {
        let history = turns(&request.messages, made_id);
        let mut body = object!({
            "model": (request.model.clone()),
            "input": (input(&history, request)),
            "store": false,
        });
        if !request.concessions.has(Concession::NoEncryptedReasoning) {
            body.insert("include", json!(["reasoning.encrypted_content"]));
        }
        if !request.tools.is_empty() {
            body.insert("tools", tools(request));
        }
        if let Some(choice) = request.choice() {
            body.insert("tool_choice", tool_choice(&choice));
        }
        if let Some(temperature) = request.sent_temperature() {
            body.insert("temperature", temperature);
        }
        if let Some(limit) = request.max_tokens {
            body.insert("max_output_tokens", limit);
        }
        if let Some(effort) = request.sent_effort() {
            let mut reasoning = object!({"effort": (effort.as_str())});
            if effort != Effort::None && !request.concessions.has(Concession::NoSummary) {
                reasoning.insert("summary", "auto");
            }
            body.insert("reasoning", reasoning);
        }
        if request.stream {
            body.insert("stream", true);
        }
        HttpRequest {
            url: format!("{base_url}/responses"),
            headers: bearer(key),
            body: Json::Object(body).to_compact_text(),
        }
    }

    fn read(&self, body: &Json) -> Result<Answer, ModelError> {
        read_response(body)
    }

    fn stream(&self) -> Box<dyn StreamReader> {
        Box::new(ResponseStream::default())
    }

    fn models(&self, base_url: &str, key: &ApiKey) -> HttpRequest {
        models_request(base_url, key)
    }

    fn read_models(&self, body: &Json) -> Vec<Text> {
        model_ids(body)
    }
}

fn tools(request: &ModelRequest) -> Json {
    let tools = request.tools.iter().map(|tool| {
        let parameters = match &tool.info.parameters {
            Some(parameters) => Json::Object(parameters.dump(true)),
            None => json!({"type": "object", "properties": {}, "required": []}),
        };
        json!({
            "type": "function",
            "name": (tool.info.name.clone()),
            "description": (tool.info.description.clone()),
            "parameters": parameters,
            "strict": false
        })
    });
    Json::List(tools.collect())
}

fn tool_choice(choice: &ToolChoice) -> Json {
    match choice {
        ToolChoice::Required => "required".into(),
        ToolChoice::Auto => "auto".into(),
        ToolChoice::None => "none".into(),
        ToolChoice::Tool(name) => json!({"type": "function", "name": (name.clone())}),
        ToolChoice::Word(word) => word.clone().into(),
    }
}
