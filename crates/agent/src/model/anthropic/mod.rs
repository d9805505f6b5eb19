//! Anthropic Messages, called straight from a page.
//!
//! Thinking is signed there and must come back unchanged and in place, so answers with thinking are kept
//! whole as an echo. The protocol says thinking and a demanded call exclude each other: then the call is
//! demanded and no thinking asked for; newer models think all the same and refuse the demand, which a
//! [concession](super::concession) mends.
//!
//! - `messages`: history as messages; `answer`: messages and their events to answers.

mod answer;
mod messages;

use volary_core::json::{Json, Text};
use volary_core::{json, object};

use self::answer::{MessageStream, read_message};
use self::messages::{conversation, well_formed};
use super::history::turns;
use super::http::HeaderValue;
use super::{
    Answer, ApiKey, Effort, HttpRequest, ModelError, ModelRequest, Provider, StreamReader,
    ToolChoice,
};

const NAME: &str = "anthropic";

/// The protocol demands a limit; this one is sent where the user gave none. Every model has that much.
const MAX_TOKENS: u32 = 16_000;

/// The codec.
pub struct Anthropic;

impl Provider for Anthropic {
    fn name(&self) -> &'static str {
        NAME
    }

    fn request(&self, base_url: &str, key: &ApiKey, request: &ModelRequest) -> HttpRequest {
        let history = turns(&request.messages, well_formed);
        let (system, messages) = conversation(&history, request);
        let mut body = object!({
            "model": (request.model.clone()),
            "max_tokens": (request.max_tokens.unwrap_or(MAX_TOKENS)),
            "messages": messages,
        });
        if !system.is_empty() {
            body.insert("system", system);
        }
        if !request.tools.is_empty() {
            body.insert("tools", tools(request));
        }
        let choice = request.choice();
        if let Some(choice) = &choice {
            body.insert("tool_choice", tool_choice(choice));
        }
        if let Some(temperature) = request.sent_temperature() {
            body.insert("temperature", temperature);
        }
        if let Some(stop) = request.sent_stop() {
            body.insert("stop_sequences", stop);
        }
        match request.sent_effort() {
            Some(Effort::None) => {
                body.insert("thinking", object!({"type": "disabled"}));
            }
            Some(effort) => {
                body.insert("output_config", object!({"effort": (effort.as_str())}));
                if !choice.is_some_and(|choice| choice.is_forced()) {
                    let thinking = object!({"type": "adaptive", "display": "summarized"});
                    body.insert("thinking", thinking);
                }
            }
            None => {}
        }
        if request.stream {
            body.insert("stream", true);
        }
        let mut headers = headers(key);
        headers.push(("content-type", HeaderValue::Plain("application/json")));
        HttpRequest {
            url: format!("{base_url}/v1/messages"),
            headers,
            body: Json::Object(body).to_compact_text(),
        }
    }

    fn read(&self, body: &Json) -> Result<Answer, ModelError> {
        read_message(body)
    }

    fn stream(&self) -> Box<dyn StreamReader> {
        Box::new(MessageStream::default())
    }

    fn models(&self, base_url: &str, key: &ApiKey) -> HttpRequest {
        HttpRequest {
            url: format!("{base_url}/v1/models?limit=200"),
            headers: headers(key),
            body: String::new(),
        }
    }

    fn read_models(&self, body: &Json) -> Vec<Text> {
        super::openai_chat::model_ids(body)
    }
}

fn headers(key: &ApiKey) -> Vec<(&'static str, HeaderValue)> {
    let mut headers = vec![
        ("anthropic-version", HeaderValue::Plain("2023-06-01")),
        (
            "anthropic-dangerous-direct-browser-access",
            HeaderValue::Plain("true"),
        ),
    ];
    if !key.is_empty() {
        headers.push((
            "x-api-key",
            HeaderValue::Secret {
                prefix: "",
                key: key.clone(),
            },
        ));
    }
    headers
}

fn tools(request: &ModelRequest) -> Json {
    let tools = request.tools.iter().map(|tool| {
        let schema = match &tool.info.parameters {
            Some(parameters) => Json::Object(parameters.dump(true)),
            None => json!({"type": "object", "properties": {}}),
        };
        json!({
            "name": (tool.info.name.clone()),
            "description": (tool.info.description.clone()),
            "input_schema": schema
        })
    });
    Json::List(tools.collect())
}

fn tool_choice(choice: &ToolChoice) -> Json {
    match choice {
        ToolChoice::Required => json!({"type": "any"}),
        ToolChoice::Auto | ToolChoice::Word(_) => json!({"type": "auto"}),
        ToolChoice::None => json!({"type": "none"}),
        ToolChoice::Tool(name) => json!({"type": "tool", "name": (name.clone())}),
    }
}
