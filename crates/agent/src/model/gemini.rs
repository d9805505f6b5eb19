//! Google Gemini in its native format: the OpenAI-compatible API does not allow calls from pages (CORS).
//!
//! Models with thinking sign the parts of their answers (`thoughtSignature`) and require them back, so answers
//! keep their parts as an echo. Models from 3 on reject calls in the history that they did not sign; calls made
//! by hand, or by another model, carry a placeholder signature for that purpose.
//!
//! - `contents`: history to contents; `answer`: complete and streamed answers; `wire`: the wire types.

mod answer;
mod contents;
mod wire;

use volary_core::json::{Json, Text};

use self::answer::{ContentStream, read_answer};
use self::contents::contents;
use self::wire::{
    CallingMode, FunctionCalling, FunctionDeclaration, GenerateRequest, GenerationConfig,
    ListedModel, ModelList, SentPart, SystemInstruction, ThinkingConfig, ThinkingLevel, ToolConfig,
    ToolSet,
};
use super::history::{Turn, turns};
use super::http::HeaderValue;
use super::lenient::read_or_default;
use super::openai_chat::{body_text, made_id};
use super::{
    Answer, ApiKey, Effort, HttpRequest, ModelError, ModelRequest, Provider, StreamReader,
    ToolChoice,
};

const NAME: &str = "gemini";

/// The codec.
pub struct Gemini;

impl Provider for Gemini {
    fn name(&self) -> &'static str {
        NAME
    }

    fn request(&self, base_url: &str, key: &ApiKey, request: &ModelRequest) -> HttpRequest {
        let history = turns(&request.messages, made_id);
        let begin = history
            .iter()
            .take_while(|turn| matches!(turn, Turn::System(_)))
            .count();
        let (system, talk) = history.split_at(begin);
        let instructions: Vec<SentPart> = system
            .iter()
            .filter_map(|turn| match turn {
                Turn::System(text) => Some(SentPart::text(text)),
                _ => None,
            })
            .collect();
        let body = GenerateRequest {
            contents: contents(talk, request),
            system_instruction: (!instructions.is_empty()).then_some(SystemInstruction {
                parts: instructions,
            }),
            tools: tools(request),
            tool_config: request.choice().map(|choice| ToolConfig {
                function_calling_config: calling(choice),
            }),
            generation_config: generation(request),
        };
        let method = if request.stream {
            "streamGenerateContent?alt=sse"
        } else {
            "generateContent"
        };
        let model = request
            .model
            .strip_prefix("models/")
            .unwrap_or(&request.model);
        let mut headers = headers(key);
        headers.push(("content-type", HeaderValue::Plain("application/json")));
        HttpRequest {
            url: format!("{base_url}/v1beta/models/{model}:{method}"),
            headers,
            body: body_text(&body),
        }
    }

    fn read(&self, body: &Json) -> Result<Answer, ModelError> {
        read_answer(body)
    }

    fn stream(&self) -> Box<dyn StreamReader> {
        Box::new(ContentStream::default())
    }

    fn models(&self, base_url: &str, key: &ApiKey) -> HttpRequest {
        HttpRequest {
            url: format!("{base_url}/v1beta/models?pageSize=200"),
            headers: headers(key),
            body: String::new(),
        }
    }

    fn read_models(&self, body: &Json) -> Vec<Text> {
        let list: ModelList = read_or_default(body);
        let generates = |model: &&ListedModel| {
            let mut methods = model.supported_generation_methods.iter();
            methods.len() == 0 || methods.any(|method| method.or_empty() == "generateContent")
        };
        let models = list.models.iter().filter(generates);
        models
            .filter_map(|model| model.name.not_empty())
            .map(|name| name.strip_prefix("models/").unwrap_or(name).into())
            .collect()
    }
}

fn headers(key: &ApiKey) -> Vec<(&'static str, HeaderValue)> {
    if key.is_empty() {
        return Vec::new();
    }
    let value = HeaderValue::Secret {
        prefix: "",
        key: key.clone(),
    };
    vec![("x-goog-api-key", value)]
}

/// Whether a model is of a generation before 3: those measure thinking in tokens, require no signatures back,
/// and accept no images in tool results.
fn is_before_3(model: &str) -> bool {
    model.contains("gemini-1") || model.contains("gemini-2") || model.contains("gemma")
}

fn tools(request: &ModelRequest) -> Vec<ToolSet> {
    if request.tools.is_empty() {
        return Vec::new();
    }
    let declarations = request.tools.iter().map(|tool| {
        // Older models reject an object without properties; omitting the parameters is equivalent.
        let parameters = tool.info.parameters.as_ref();
        let parameters = parameters.filter(|parameters| !parameters.properties.is_empty());
        FunctionDeclaration {
            name: tool.info.name.clone(),
            description: tool.info.description.clone(),
            parameters_json_schema: parameters.map(|parameters| parameters.dump(true)),
        }
    });
    vec![ToolSet {
        function_declarations: declarations.collect(),
    }]
}

fn calling(choice: ToolChoice) -> FunctionCalling {
    let (mode, allowed_function_names) = match choice {
        ToolChoice::Required => (CallingMode::Any, Vec::new()),
        ToolChoice::Auto | ToolChoice::Word(_) => (CallingMode::Auto, Vec::new()),
        ToolChoice::None => (CallingMode::None, Vec::new()),
        ToolChoice::Tool(name) => (CallingMode::Any, vec![name]),
    };
    FunctionCalling {
        mode,
        allowed_function_names,
    }
}

fn generation(request: &ModelRequest) -> GenerationConfig {
    GenerationConfig {
        temperature: request.sent_temperature(),
        max_output_tokens: request.max_tokens,
        stop_sequences: request.sent_stop(),
        seed: request.sent_seed(),
        thinking_config: request
            .sent_effort()
            .map(|effort| thinking(effort, &request.model)),
        response_mime_type: request.sent_schema().map(|_| "application/json".into()),
        response_json_schema: request.sent_schema().cloned(),
    }
}

/// The thinking budget: a level, or tokens for models before 3 (within the range that all of them allow).
fn thinking(effort: Effort, model: &str) -> ThinkingConfig {
    let (budget, level) = match effort {
        Effort::None => (0, ThinkingLevel::Minimal),
        Effort::Low => (1024, ThinkingLevel::Low),
        Effort::Medium => (8192, ThinkingLevel::Medium),
        Effort::High => (24_576, ThinkingLevel::High),
    };
    let is_budget = is_before_3(model);
    ThinkingConfig {
        thinking_budget: is_budget.then_some(budget),
        thinking_level: (!is_budget).then_some(level),
        include_thoughts: effort != Effort::None,
    }
}
