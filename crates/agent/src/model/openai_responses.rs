//! OpenAI Responses. Nothing is stored there (`store: false`), so encrypted reasoning is asked for and
//! sent back with the history, as reasoning models want it.

use volary_core::json::{Json, Object, Text};
use volary_core::{json, object};

use super::draft::Draft;
use super::history::{Part, PastCall, Turn, turns};
use super::openai_chat::{arguments, bearer, in_band_error, model_ids, models_request};
use super::sse::SseEvent;
use super::{
    Answer, ApiKey, Delta, Finish, HttpRequest, ModelError, ModelRequest, Provider, StreamReader,
    ToolChoice, Usage,
};

const FORMAT: &str = "an OpenAI response";
const NAME: &str = "openai-responses";

/// The codec.
pub struct OpenAiResponses;

impl Provider for OpenAiResponses {
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
        let mut body = object!({
            "model": (request.model.clone()),
            "input": (input(&history)),
            "store": false,
            "include": ["reasoning.encrypted_content"],
        });
        if !request.tools.is_empty() {
            body.insert("tools", tools(request));
            if let Some(choice) = &request.tool_choice {
                body.insert("tool_choice", tool_choice(choice));
            }
        }
        if let Some(temperature) = request.temperature {
            body.insert("temperature", temperature);
        }
        if let Some(limit) = request.max_tokens {
            body.insert("max_output_tokens", limit);
        }
        if let Some(effort) = request.effort {
            body.insert(
                "reasoning",
                object!({"effort": (effort.as_str()), "summary": "auto"}),
            );
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
            "parameters": (parameters),
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
    }
}

fn input(turns: &[Turn]) -> Json {
    let mut items = Vec::new();
    for turn in turns {
        match turn {
            Turn::System(text) => items.push(json!({"role": "system", "content": (text.as_str())})),
            Turn::User(parts) => items.push(json!({"role": "user", "content": (content(parts))})),
            Turn::Assistant { text, calls, echo } => {
                if let Some(echo) = echo.as_ref().filter(|echo| &*echo.provider == NAME) {
                    items.extend(echo.parts.iter().cloned());
                }
                if !text.is_empty() {
                    items.push(json!({"role": "assistant", "content": (text.as_str())}));
                }
                items.extend(calls.iter().map(call));
                items.extend(calls.iter().map(output));
            }
        }
    }
    Json::List(items)
}

fn content(parts: &[Part]) -> Json {
    let parts = parts.iter().map(|part| match part {
        Part::Text(text) => json!({"type": "input_text", "text": (text.as_str())}),
        Part::Image(url) => {
            json!({"type": "input_image", "image_url": (url.as_str()), "detail": "auto"})
        }
    });
    Json::List(parts.collect())
}

fn call(call: &PastCall) -> Json {
    json!({
        "type": "function_call",
        "call_id": (call.id.as_str()),
        "name": (call.name.clone()),
        "arguments": (call.arguments.to_python_text())
    })
}

fn output(call: &PastCall) -> Json {
    let output = match call.answer.as_slice() {
        [Part::Text(text)] => Json::from(text.as_str()),
        parts => content(parts),
    };
    json!({"type": "function_call_output", "call_id": (call.id.as_str()), "output": (output)})
}

fn malformed(reason: impl Into<Text>) -> ModelError {
    ModelError::Malformed {
        format: FORMAT,
        reason: reason.into(),
    }
}

/// A whole response.
fn read_response(body: &Json) -> Result<Answer, ModelError> {
    if let Some(error) = in_band_error(body) {
        return Err(error);
    }
    let Some(output) = body.get("output").and_then(Json::as_list) else {
        return Err(malformed("it has no `output`."));
    };
    let mut draft = Draft::default();
    let mut unused = Vec::new();
    for (place, item) in output.iter().enumerate() {
        whole_item(&mut draft, &place.to_string(), item, &mut unused);
    }
    close(&mut draft.answer, body);
    Ok(draft.answer)
}

/// Takes in an item that is complete. What is known of it from a stream is completed, not doubled.
fn whole_item(draft: &mut Draft, key: &str, item: &Json, deltas: &mut Vec<Delta>) {
    let kind = item
        .get("type")
        .and_then(Json::as_text)
        .map_or("", |kind| kind);
    match kind {
        "message" => {
            for part in item.get("content").and_then(Json::as_list).unwrap_or(&[]) {
                if let Some(text) = part.get("text").and_then(Json::as_text) {
                    draft.text(text, deltas);
                }
                if let Some(text) = part.get("refusal").and_then(Json::as_text) {
                    draft.refusal(text, deltas);
                }
            }
        }
        "reasoning" => {
            for part in item.get("summary").and_then(Json::as_list).unwrap_or(&[]) {
                if let Some(text) = part.get("text").and_then(Json::as_text) {
                    draft.thinking(text, deltas);
                }
            }
            draft.answer.echo.push(item.clone());
        }
        "function_call" => {
            let place = begin_call(draft, key, item, deltas);
            draft.whole_arguments(place, &arguments(item.get("arguments")), deltas);
        }
        _ => {}
    }
}

fn begin_call(draft: &mut Draft, key: &str, item: &Json, deltas: &mut Vec<Delta>) -> usize {
    let text = |key: &str| {
        item.get(key)
            .and_then(Json::as_text)
            .map_or("", |text| text)
    };
    let place = draft.call(key);
    draft.name_call(place, text("call_id"), text("name"), deltas);
    place
}

/// Status, usage and model.
fn close(answer: &mut Answer, response: &Json) {
    let reason = response
        .get("incomplete_details")
        .and_then(|details| details.get("reason"))
        .and_then(Json::as_text);
    answer.finish = match reason.map(|reason| &**reason) {
        Some("max_output_tokens") => Finish::Length,
        Some("content_filter") => Finish::ContentFilter,
        Some(other) => Finish::Other(other.into()),
        None if answer.calls.is_empty() => Finish::Stop,
        None => Finish::ToolCalls,
    };
    answer.model = response.get("model").and_then(Json::as_text).cloned();
    if let Some(usage) = response.get("usage").and_then(usage) {
        answer.usage = Some(usage);
    }
}

fn usage(value: &Json) -> Option<Usage> {
    let at = |path: &[&str]| {
        let found = path.iter().try_fold(value, |value, key| value.get(key))?;
        u64::try_from(found.as_i64()?).ok()
    };
    Some(Usage {
        prompt: at(&["input_tokens"])?,
        completion: at(&["output_tokens"]).unwrap_or(0),
        cached: at(&["input_tokens_details", "cached_tokens"]).unwrap_or(0),
        reasoning: at(&["output_tokens_details", "reasoning_tokens"]).unwrap_or(0),
    })
}

/// Reads typed events. The response that closes the stream holds the answer whole, and is what
/// counts: pieces that came twice or in another order then do no harm.
#[derive(Default)]
struct ResponseStream {
    draft: Draft,
    whole: Option<Answer>,
}

impl StreamReader for ResponseStream {
    fn event(&mut self, event: &SseEvent, deltas: &mut Vec<Delta>) -> Result<(), ModelError> {
        let data = event.data.trim();
        if data.is_empty() || data == "[DONE]" {
            return Ok(());
        }
        let value = volary_core::json::read(data)
            .map_err(|error| malformed(format!("a piece of the stream is no JSON: {error}.")))?;
        let empty = Object::new();
        let fields = value.as_object().unwrap_or(&empty);
        let text = |key: &str| {
            fields
                .get(key)
                .and_then(Json::as_text)
                .map_or("", |text| text)
        };
        let key = fields
            .get("output_index")
            .map(Json::to_compact_text)
            .unwrap_or_else(|| text("item_id").to_owned());
        match text("type") {
            "response.output_text.delta" => self.draft.text(text("delta"), deltas),
            "response.refusal.delta" => self.draft.refusal(text("delta"), deltas),
            "response.reasoning_summary_text.delta" | "response.reasoning_text.delta" => {
                self.draft.thinking(text("delta"), deltas);
            }
            "response.output_item.added" => {
                let item = fields.get("item").unwrap_or(&Json::Null);
                if item
                    .get("type")
                    .and_then(Json::as_text)
                    .is_some_and(|kind| &**kind == "function_call")
                {
                    begin_call(&mut self.draft, &key, item, deltas);
                }
            }
            "response.function_call_arguments.delta" => {
                let place = self.draft.call(&key);
                self.draft.arguments(place, text("delta"), deltas);
            }
            "response.function_call_arguments.done" => {
                let place = self.draft.call(&key);
                self.draft.whole_arguments(place, text("arguments"), deltas);
            }
            "response.completed" | "response.incomplete" => {
                let answer = read_response(fields.get("response").unwrap_or(&Json::Null))?;
                if let Some(usage) = answer.usage {
                    deltas.push(Delta::Usage(usage));
                }
                self.whole = Some(answer);
            }
            "response.failed" => {
                let response = fields.get("response").unwrap_or(&Json::Null);
                return Err(in_band_error(response).unwrap_or(ModelError::Reported {
                    message: "the response failed without a reason.".into(),
                    transient: true,
                }));
            }
            "error" => {
                return Err(ModelError::Reported {
                    message: text("message").into(),
                    transient: matches!(text("code"), "rate_limit_exceeded" | "server_error"),
                });
            }
            _ => {}
        }
        Ok(())
    }

    fn answer(&mut self) -> (Answer, bool) {
        match &self.whole {
            Some(answer) => (answer.clone(), true),
            None => (self.draft.answer.clone(), false),
        }
    }
}
