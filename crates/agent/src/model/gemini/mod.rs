//! Google Gemini, in its native form: its OpenAI-compatible one does not answer pages.
//!
//! Models with thinking sign the parts of their answers (`thoughtSignature`) and want them back, so answers
//! keep their parts as an echo. Models from 3 on refuse calls in the history that they did not sign; calls made
//! by hand, or by another model, then bear the signature that says so.
//!
//! - `contents`: history as contents; `answer`: answers, whole and in pieces.

mod answer;
mod contents;

use volary_core::json::{Json, Object, Text};
use volary_core::{json, object};

use self::answer::{ContentStream, read_answer};
use self::contents::contents;
use super::history::{Turn, turns};
use super::http::HeaderValue;
use super::lenient::{list, some_text};
use super::openai_chat::made_id;
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
        let mut body = object!({"contents": (contents(talk, request))});
        if !system.is_empty() {
            let parts = system.iter().filter_map(|turn| match turn {
                Turn::System(text) => Some(json!({"text": (text.as_str())})),
                _ => None,
            });
            let parts = Json::List(parts.collect());
            body.insert("systemInstruction", object!({"parts": parts}));
        }
        if !request.tools.is_empty() {
            let declarations = declarations(request);
            body.insert("tools", json!([{"functionDeclarations": declarations}]));
        }
        if let Some(choice) = request.choice() {
            let calling = calling(&choice);
            body.insert("toolConfig", object!({"functionCallingConfig": calling}));
        }
        let generation = generation(request);
        if !generation.is_empty() {
            body.insert("generationConfig", generation);
        }
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
            body: Json::Object(body).to_compact_text(),
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
        let generates = |model: &&Json| {
            let methods = list(model, "supportedGenerationMethods");
            methods.is_empty() || methods.contains(&Json::from("generateContent"))
        };
        let models = list(body, "models").iter().filter(generates);
        models
            .filter_map(|model| some_text(model, "name"))
            .map(|name| name.strip_prefix("models/").unwrap_or(&name).into())
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

/// Whether a model is of a generation before 3: those count thinking in tokens, sign nothing that must come
/// back, and take no images in the answers of tools.
fn is_before_3(model: &str) -> bool {
    model.contains("gemini-1") || model.contains("gemini-2") || model.contains("gemma")
}

fn declarations(request: &ModelRequest) -> Json {
    let declarations = request.tools.iter().map(|tool| {
        let mut declaration = object!({
            "name": (tool.info.name.clone()),
            "description": (tool.info.description.clone()),
        });
        // An object without properties was refused by older models; none at all says the same.
        if let Some(parameters) = &tool.info.parameters
            && !parameters.properties.is_empty()
        {
            declaration.insert("parametersJsonSchema", parameters.dump(true));
        }
        Json::Object(declaration)
    });
    Json::List(declarations.collect())
}

fn calling(choice: &ToolChoice) -> Json {
    match choice {
        ToolChoice::Required => json!({"mode": "ANY"}),
        ToolChoice::Auto | ToolChoice::Word(_) => json!({"mode": "AUTO"}),
        ToolChoice::None => json!({"mode": "NONE"}),
        ToolChoice::Tool(name) => json!({"mode": "ANY", "allowedFunctionNames": [(name.clone())]}),
    }
}

fn generation(request: &ModelRequest) -> Object {
    let mut generation = Object::new();
    if let Some(temperature) = request.sent_temperature() {
        generation.insert("temperature", temperature);
    }
    if let Some(limit) = request.max_tokens {
        generation.insert("maxOutputTokens", limit);
    }
    if let Some(stop) = request.sent_stop() {
        generation.insert("stopSequences", stop);
    }
    if let Some(seed) = request.sent_seed() {
        generation.insert("seed", seed);
    }
    if let Some(effort) = request.sent_effort() {
        generation.insert("thinkingConfig", thinking(effort, &request.model));
    }
    generation
}

/// How much to think: in levels, or in tokens for models before 3 (within what all of those allow).
fn thinking(effort: Effort, model: &str) -> Object {
    let shown = effort != Effort::None;
    if is_before_3(model) {
        let budget = match effort {
            Effort::None => 0,
            Effort::Low => 1024,
            Effort::Medium => 8192,
            Effort::High => 24_576,
        };
        return object!({"thinkingBudget": budget, "includeThoughts": shown});
    }
    let level = match effort {
        Effort::None => "MINIMAL",
        Effort::Low => "LOW",
        Effort::Medium => "MEDIUM",
        Effort::High => "HIGH",
    };
    object!({"thinkingLevel": level, "includeThoughts": shown})
}
