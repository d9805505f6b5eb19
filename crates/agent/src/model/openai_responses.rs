//! OpenAI Responses. The server stores nothing (`store: false`), so encrypted reasoning is requested, and
//! the items of an answer are sent back unchanged with the history, as reasoning models require.
//!
//! - `input`: history to input items; `output`: responses to answers; `stream`: typed events; `wire`: the wire types.

mod input;
mod output;
mod stream;
mod wire;

use volary_core::json::{Json, Text};
use volary_core::object;

use self::input::input;
use self::output::read_response;
use self::stream::ResponseStream;
use self::wire::{
    FunctionTool, Include, Reasoning, ResponseRequest, ResponseToolChoice, SummaryStyle,
    TextOptions, ToolType,
};
use super::history::turns;
use super::openai_chat::{bearer, body_text, made_id, model_ids, models_request};
use super::parameter_fallback::ParameterFallback;
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
        let fallbacks = &request.fallbacks;
        let reasoning = request.sent_effort().map(|effort| Reasoning {
            effort,
            summary: (effort != Effort::None && !fallbacks.has(ParameterFallback::NoSummary))
                .then_some(SummaryStyle::Auto),
        });
        let include = if fallbacks.has(ParameterFallback::NoEncryptedReasoning) {
            Vec::new()
        } else {
            vec![Include::EncryptedReasoning]
        };
        let body = ResponseRequest {
            model: request.model.clone(),
            input: input(&history, request),
            store: false,
            include,
            tools: tools(request),
            tool_choice: request.choice().map(tool_choice),
            temperature: request.sent_temperature(),
            max_output_tokens: request.max_tokens,
            reasoning,
            text: request.named_schema().map(|mut format| {
                format.insert("type", "json_schema");
                TextOptions { format }
            }),
            stream: request.stream,
        };
        HttpRequest {
            url: format!("{base_url}/responses"),
            headers: bearer(key),
            body: body_text(&body),
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

fn tools(request: &ModelRequest) -> Vec<FunctionTool> {
    let tools = request.tools.iter().map(|tool| FunctionTool {
        kind: ToolType::Function,
        name: tool.info.name.clone(),
        description: tool.info.description.clone(),
        parameters: match &tool.info.parameters {
            Some(parameters) => parameters.dump(true),
            None => object!({"type": "object", "properties": {}, "required": []}),
        },
        strict: false,
    });
    tools.collect()
}

fn tool_choice(choice: ToolChoice) -> ResponseToolChoice {
    match choice {
        ToolChoice::Required => ResponseToolChoice::Word("required".into()),
        ToolChoice::Auto => ResponseToolChoice::Word("auto".into()),
        ToolChoice::None => ResponseToolChoice::Word("none".into()),
        ToolChoice::Tool(name) => ResponseToolChoice::Function {
            kind: ToolType::Function,
            name,
        },
        ToolChoice::Word(word) => ResponseToolChoice::Word(word),
    }
}
