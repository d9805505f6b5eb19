//! Google Gemini, in its native form: its OpenAI-compatible one does not answer pages.
//!
//! Models with thinking sign the parts of their answers (`thoughtSignature`) and want them back, so answers
//! keep their parts as an echo.

use volary_core::json::{Json, Text};
use volary_core::{json, object};

use super::draft::Draft;
use super::history::{Part, PastCall, Turn, image_data, text_of, turns};
use super::http::HeaderValue;
use super::openai_chat::in_band_error;
use super::sse::SseEvent;
use super::{
    Answer, ApiKey, Delta, Effort, Finish, HttpRequest, ModelError, ModelRequest, Provider,
    StreamReader, ToolChoice, Usage,
};

const FORMAT: &str = "a Gemini answer";
const NAME: &str = "gemini";

/// The codec.
pub struct Gemini;

impl Provider for Gemini {
    fn name(&self) -> &'static str {
        NAME
    }

    fn request(&self, base_url: &str, key: &ApiKey, request: &ModelRequest) -> HttpRequest {
        let history = turns(&request.messages, |place, id| {
            if id.is_empty() {
                format!("call_{place}")
            } else {
                id.to_owned()
            }
        });
        let mut body = object!({"contents": (contents(&history))});
        let system: Vec<Json> = history
            .iter()
            .filter_map(|turn| match turn {
                Turn::System(text) => Some(json!({"text": (text.as_str())})),
                _ => None,
            })
            .collect();
        if !system.is_empty() {
            body.insert(
                "systemInstruction",
                object!({"parts": (Json::List(system))}),
            );
        }
        if !request.tools.is_empty() {
            body.insert(
                "tools",
                json!([{"functionDeclarations": (declarations(request))}]),
            );
            if let Some(choice) = &request.tool_choice {
                body.insert(
                    "toolConfig",
                    object!({"functionCallingConfig": (calling(choice))}),
                );
            }
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
        HttpRequest {
            url: format!("{base_url}/v1beta/models/{model}:{method}"),
            headers: headers(key),
            body: Json::Object(body).to_compact_text(),
        }
    }

    fn read(&self, body: &Json) -> Result<Answer, ModelError> {
        let mut reader = ContentStream::default();
        reader.chunk(body, &mut Vec::new())?;
        Ok(reader.answer().0)
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
        let models = body.get("models").and_then(Json::as_list).unwrap_or(&[]);
        models
            .iter()
            .filter_map(|model| model.get("name")?.as_text())
            .map(|name| name.strip_prefix("models/").unwrap_or(name).into())
            .collect()
    }
}

fn headers(key: &ApiKey) -> Vec<(&'static str, HeaderValue)> {
    vec![
        ("content-type", HeaderValue::Plain("application/json")),
        (
            "x-goog-api-key",
            HeaderValue::Secret {
                prefix: "",
                key: key.clone(),
            },
        ),
    ]
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
        ToolChoice::Auto => json!({"mode": "AUTO"}),
        ToolChoice::None => json!({"mode": "NONE"}),
        ToolChoice::Tool(name) => json!({"mode": "ANY", "allowedFunctionNames": [(name.clone())]}),
    }
}

fn generation(request: &ModelRequest) -> volary_core::Object {
    let mut generation = volary_core::Object::new();
    if let Some(temperature) = request.temperature {
        generation.insert("temperature", temperature);
    }
    if let Some(limit) = request.max_tokens {
        generation.insert("maxOutputTokens", limit);
    }
    if !request.stop.is_empty() {
        generation.insert("stopSequences", request.stop.clone());
    }
    if let Some(seed) = request.seed {
        generation.insert("seed", seed);
    }
    if let Some(effort) = request.effort {
        let level = match effort {
            Effort::Low => "LOW",
            Effort::Medium => "MEDIUM",
            Effort::High => "HIGH",
        };
        generation.insert(
            "thinkingConfig",
            object!({"thinkingLevel": (level), "includeThoughts": true}),
        );
    }
    generation
}

fn contents(turns: &[Turn]) -> Json {
    let mut contents = Vec::new();
    for turn in turns {
        match turn {
            Turn::System(_) => {}
            Turn::User(parts) => contents.push(said("user", parts.iter().map(part).collect())),
            Turn::Assistant { text, calls, echo } => {
                let parts = match echo.as_ref().filter(|echo| &*echo.provider == NAME) {
                    Some(echo) => echo.parts.clone(),
                    None => model_parts(text, calls),
                };
                if !parts.is_empty() {
                    contents.push(said("model", parts));
                }
                if !calls.is_empty() {
                    contents.push(said("user", calls.iter().flat_map(responses).collect()));
                }
            }
        }
    }
    Json::List(contents)
}

fn said(role: &str, parts: Vec<Json>) -> Json {
    json!({"role": (role), "parts": (Json::List(parts))})
}

fn model_parts(text: &str, calls: &[PastCall]) -> Vec<Json> {
    let mut parts = Vec::new();
    if !text.is_empty() {
        parts.push(json!({"text": (text)}));
    }
    parts.extend(calls.iter().map(
        |call| json!({"functionCall": {"name": (call.name.clone()), "args": (call.arguments.clone())}}),
    ));
    parts
}

fn part(part: &Part) -> Json {
    match part {
        Part::Text(text) => json!({"text": (text.as_str())}),
        Part::Image(url) => match image_data(url) {
            Some((kind, data)) => json!({"inlineData": {"mimeType": (kind), "data": (data)}}),
            None => json!({"fileData": {"fileUri": (url.as_str())}}),
        },
    }
}

/// The answer to a call, and its images beside it.
fn responses(call: &PastCall) -> Vec<Json> {
    let result = text_of(call.answer.clone());
    let response = json!({
        "functionResponse": {"name": (call.name.clone()), "response": {"result": (result)}}
    });
    let images = call
        .answer
        .iter()
        .filter(|part| matches!(part, Part::Image(_)));
    std::iter::once(response).chain(images.map(part)).collect()
}

/// Reads answers: a whole one is a stream of one piece.
#[derive(Default)]
struct ContentStream {
    draft: Draft,
    finished: bool,
}

impl StreamReader for ContentStream {
    fn event(&mut self, event: &SseEvent, deltas: &mut Vec<Delta>) -> Result<(), ModelError> {
        if event.data.trim().is_empty() {
            return Ok(());
        }
        let chunk =
            volary_core::json::read(&event.data).map_err(|error| ModelError::Malformed {
                format: FORMAT,
                reason: format!("a piece of the stream is no JSON: {error}.").into(),
            })?;
        self.chunk(&chunk, deltas)
    }

    fn answer(&mut self) -> (Answer, bool) {
        (self.draft.answer.clone(), self.finished)
    }
}

impl ContentStream {
    fn chunk(&mut self, chunk: &Json, deltas: &mut Vec<Delta>) -> Result<(), ModelError> {
        if let Some(error) = in_band_error(chunk) {
            return Err(error);
        }
        let blocked = chunk
            .get("promptFeedback")
            .and_then(|feedback| feedback.get("blockReason"));
        if let Some(reason) = blocked.and_then(Json::as_text) {
            return Err(ModelError::Reported {
                message: format!("the request was blocked ({reason}).").into(),
                transient: false,
            });
        }
        if let Some(model) = chunk.get("modelVersion").and_then(Json::as_text) {
            self.draft.answer.model = Some(model.clone());
        }
        if let Some(usage) = chunk.get("usageMetadata").and_then(usage) {
            self.draft.usage(usage, deltas);
        }
        let candidates = chunk
            .get("candidates")
            .and_then(Json::as_list)
            .unwrap_or(&[]);
        let Some(candidate) = candidates.first() else {
            return Ok(());
        };
        let parts = candidate
            .get("content")
            .and_then(|content| content.get("parts"));
        for part in parts.and_then(Json::as_list).unwrap_or(&[]) {
            self.part(part, deltas);
        }
        if let Some(reason) = candidate.get("finishReason").and_then(Json::as_text) {
            self.finish(reason);
        }
        Ok(())
    }

    fn part(&mut self, part: &Json, deltas: &mut Vec<Delta>) {
        let thought = part.get("thought").and_then(Json::as_bool) == Some(true);
        if let Some(text) = part.get("text").and_then(Json::as_text) {
            if thought {
                self.draft.thinking(text, deltas);
            } else {
                self.draft.text(text, deltas);
            }
        }
        if let Some(call) = part.get("functionCall") {
            let text = |key: &str| {
                call.get(key)
                    .and_then(Json::as_text)
                    .map_or("", |text| text)
            };
            let place = self
                .draft
                .call(&format!("part {}", self.draft.answer.calls.len()));
            self.draft
                .name_call(place, text("id"), text("name"), deltas);
            let arguments = super::openai_chat::arguments(call.get("args"));
            self.draft.arguments(place, &arguments, deltas);
        }
        // Thoughts themselves are not sent back, only what is signed or said.
        if !thought {
            self.draft.answer.echo.push(part.clone());
        }
    }

    fn finish(&mut self, reason: &str) {
        self.finished = true;
        let answer = &mut self.draft.answer;
        answer.finish = match reason {
            "STOP" if answer.calls.is_empty() => Finish::Stop,
            "STOP" => Finish::ToolCalls,
            "MAX_TOKENS" => Finish::Length,
            "SAFETY" | "RECITATION" | "BLOCKLIST" | "PROHIBITED_CONTENT" | "SPII" => {
                Finish::ContentFilter
            }
            other => Finish::Other(other.into()),
        };
    }
}

fn usage(value: &Json) -> Option<Usage> {
    let at = |key: &str| u64::try_from(value.get(key)?.as_i64()?).ok();
    let thoughts = at("thoughtsTokenCount").unwrap_or(0);
    Some(Usage {
        prompt: at("promptTokenCount")?,
        completion: at("candidatesTokenCount").unwrap_or(0) + thoughts,
        cached: at("cachedContentTokenCount").unwrap_or(0),
        reasoning: thoughts,
    })
}
