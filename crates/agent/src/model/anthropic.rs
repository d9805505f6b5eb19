//! Anthropic Messages, called directly from a page.
//!
//! Thinking blocks are signed and must come back unchanged and in place, so answers with thinking are stored unchanged
//! as an echo. By the documentation, thinking and forced tool use exclude each other: a forced call therefore disables
//! thinking. Newer models think nevertheless and reject the forced call, which a
//! [fallback](super::parameter_fallback) solves.
//!
//! - `messages`: history to messages; `answer`: messages and stream events to answers; `wire`: the wire types.

mod answer;
mod messages;
mod wire;

use volary_core::json::{Json, Text};
use volary_core::object;

use self::answer::{MessageStream, read_message};
use self::messages::{conversation, well_formed};
use self::wire::{
    MessagesRequest, OutputConfig, OutputFormat, Thinking, ThinkingDisplay, ToolDefinition,
    WireToolChoice,
};
use super::history::turns;
use super::http::HeaderValue;
use super::openai_chat::body_text;
use super::{
    Answer, ApiKey, Effort, HttpRequest, ModelError, ModelRequest, Provider, StreamReader,
    ToolChoice,
};

const NAME: &str = "anthropic";

/// The API requires a token limit; this is the default. Every model supports it.
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
        let choice = request.choice();
        let is_forced = choice.as_ref().is_some_and(ToolChoice::is_forced);
        let (effort, thinking) = match request.sent_effort() {
            None => (None, None),
            Some(Effort::None) => (None, Some(Thinking::Disabled)),
            Some(effort) => {
                let display = ThinkingDisplay::Summarized;
                let thinking = (!is_forced).then_some(Thinking::Adaptive { display });
                (Some(effort), thinking)
            }
        };
        let format = request
            .sent_schema()
            .map(|schema| OutputFormat::JsonSchema {
                schema: schema.clone(),
            });
        let has_output = effort.is_some() || format.is_some();
        let body = MessagesRequest {
            model: request.model.clone(),
            max_tokens: request.max_tokens.unwrap_or(MAX_TOKENS),
            messages,
            system,
            tools: tools(request),
            tool_choice: choice.map(tool_choice),
            temperature: request.sent_temperature(),
            stop_sequences: request.sent_stop(),
            output_config: has_output.then_some(OutputConfig { effort, format }),
            thinking,
            stream: request.stream,
        };
        let mut headers = headers(key);
        headers.push(("content-type", HeaderValue::Plain("application/json")));
        HttpRequest {
            url: format!("{base_url}/v1/messages"),
            headers,
            body: body_text(&body),
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

fn tools(request: &ModelRequest) -> Vec<ToolDefinition> {
    let tools = request.tools.iter().map(|tool| ToolDefinition {
        name: tool.info.name.clone(),
        description: tool.info.description.clone(),
        input_schema: match &tool.info.parameters {
            Some(parameters) => parameters.dump(true),
            None => object!({"type": "object", "properties": {}}),
        },
    });
    tools.collect()
}

fn tool_choice(choice: ToolChoice) -> WireToolChoice {
    match choice {
        ToolChoice::Required => WireToolChoice::Any,
        ToolChoice::Auto | ToolChoice::Word(_) => WireToolChoice::Auto,
        ToolChoice::None => WireToolChoice::None,
        ToolChoice::Tool(name) => WireToolChoice::Tool { name },
    }
}
