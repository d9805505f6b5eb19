//! Anthropic Messages, called straight from a page.
//!
//! Thinking is signed there and must come back unchanged with the history, so answers keep their
//! thinking blocks as an echo.

use volary_core::json::{Json, Object, Text};
use volary_core::{json, object};

use super::draft::Draft;
use super::history::{Part, PastCall, Turn, image_data, turns};
use super::http::HeaderValue;
use super::reply::message_in;
use super::sse::SseEvent;
use super::{
    Answer, ApiKey, Delta, Finish, HttpRequest, ModelError, ModelRequest, Provider, StreamReader,
    ToolChoice, Usage,
};

const FORMAT: &str = "an Anthropic message";
const NAME: &str = "anthropic";

/// The protocol demands a limit; this one is sent where the user gave none.
const MAX_TOKENS: u32 = 8192;

/// The codec.
pub struct Anthropic;

impl Provider for Anthropic {
    fn name(&self) -> &'static str {
        NAME
    }

    fn request(&self, base_url: &str, key: &ApiKey, request: &ModelRequest) -> HttpRequest {
        let history = turns(&request.messages, well_formed);
        let mut body = object!({
            "model": (request.model.clone()),
            "max_tokens": (request.max_tokens.unwrap_or(MAX_TOKENS)),
            "messages": (messages(&history)),
        });
        let system = system(&history);
        if !system.is_empty() {
            body.insert("system", system);
        }
        if !request.tools.is_empty() {
            body.insert("tools", tools(request));
            if let Some(choice) = &request.tool_choice {
                body.insert("tool_choice", tool_choice(choice));
            }
        }
        if let Some(temperature) = request.temperature {
            body.insert("temperature", temperature);
        }
        if !request.stop.is_empty() {
            body.insert("stop_sequences", request.stop.clone());
        }
        if let Some(effort) = request.effort {
            body.insert("output_config", object!({"effort": (effort.as_str())}));
        }
        if request.stream {
            body.insert("stream", true);
        }
        HttpRequest {
            url: format!("{base_url}/v1/messages"),
            headers: headers(key),
            body: Json::Object(body).to_compact_text(),
        }
    }

    fn read(&self, body: &Json) -> Result<Answer, ModelError> {
        if let Some(error) = reported(body) {
            return Err(error);
        }
        let Some(blocks) = body.get("content").and_then(Json::as_list) else {
            return Err(malformed("it has no `content`."));
        };
        let mut reader = MessageStream::default();
        let mut unused = Vec::new();
        reader.start(body, &mut unused);
        for (index, block) in blocks.iter().enumerate() {
            reader.begin(&index.to_string(), block, &mut unused);
        }
        reader.stop_reason(body.get("stop_reason"));
        Ok(reader.answer().0)
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
    vec![
        ("content-type", HeaderValue::Plain("application/json")),
        ("anthropic-version", HeaderValue::Plain("2023-06-01")),
        (
            "anthropic-dangerous-direct-browser-access",
            HeaderValue::Plain("true"),
        ),
        (
            "x-api-key",
            HeaderValue::Secret {
                prefix: "",
                key: key.clone(),
            },
        ),
    ]
}

/// Ids there are letters, digits, `_` and `-`.
fn well_formed(place: usize, id: &str) -> String {
    let fits = !id.is_empty()
        && id
            .bytes()
            .all(|byte| byte.is_ascii_alphanumeric() || b"_-".contains(&byte));
    if fits {
        id.to_owned()
    } else {
        format!("call_{place}")
    }
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
            "input_schema": (schema)
        })
    });
    Json::List(tools.collect())
}

fn tool_choice(choice: &ToolChoice) -> Json {
    match choice {
        ToolChoice::Required => json!({"type": "any"}),
        ToolChoice::Auto => json!({"type": "auto"}),
        ToolChoice::None => json!({"type": "none"}),
        ToolChoice::Tool(name) => json!({"type": "tool", "name": (name.clone())}),
    }
}

/// Instructions stand outside the conversation there.
fn system(turns: &[Turn]) -> String {
    let texts: Vec<&str> = turns
        .iter()
        .filter_map(|turn| match turn {
            Turn::System(text) => Some(text.as_str()),
            _ => None,
        })
        .collect();
    texts.join("\n\n")
}

/// The conversation: user and assistant take turns, and the answers to calls come first in the
/// user's turn.
fn messages(turns: &[Turn]) -> Json {
    let mut messages = Conversation::default();
    for turn in turns {
        match turn {
            Turn::System(_) => {}
            Turn::User(parts) => messages.add("user", parts.iter().filter_map(block)),
            Turn::Assistant { text, calls, echo } => {
                let mut blocks = Vec::new();
                if let Some(echo) = echo.as_ref().filter(|echo| &*echo.provider == NAME) {
                    blocks.extend(echo.parts.iter().cloned());
                }
                // Text that is nothing but white space is refused.
                if !text.trim().is_empty() {
                    blocks.push(json!({"type": "text", "text": (text.as_str())}));
                }
                blocks.extend(calls.iter().map(tool_use));
                messages.add("assistant", blocks);
                messages.add("user", calls.iter().map(tool_result));
            }
        }
    }
    messages.finish()
}

#[derive(Default)]
struct Conversation {
    messages: Vec<(&'static str, Vec<Json>)>,
}

impl Conversation {
    fn add(&mut self, role: &'static str, blocks: impl IntoIterator<Item = Json>) {
        let mut blocks = blocks.into_iter().peekable();
        if blocks.peek().is_none() {
            return;
        }
        match self.messages.last_mut() {
            Some((last, known)) if *last == role => known.extend(blocks),
            _ => self.messages.push((role, blocks.collect())),
        }
    }

    fn finish(self) -> Json {
        let messages = self
            .messages
            .into_iter()
            .map(|(role, blocks)| json!({"role": (role), "content": (Json::List(blocks))}));
        Json::List(messages.collect())
    }
}

/// A part as a block; empty texts are refused there.
fn block(part: &Part) -> Option<Json> {
    match part {
        Part::Text(text) if text.trim().is_empty() => None,
        Part::Text(text) => Some(json!({"type": "text", "text": (text.as_str())})),
        Part::Image(url) => {
            let source = match image_data(url) {
                Some((kind, data)) => {
                    json!({"type": "base64", "media_type": (kind), "data": (data)})
                }
                None => json!({"type": "url", "url": (url.as_str())}),
            };
            Some(json!({"type": "image", "source": (source)}))
        }
    }
}

fn tool_use(call: &PastCall) -> Json {
    json!({
        "type": "tool_use",
        "id": (call.id.as_str()),
        "name": (call.name.clone()),
        "input": (call.arguments.clone())
    })
}

fn tool_result(call: &PastCall) -> Json {
    let content: Vec<Json> = call.answer.iter().filter_map(block).collect();
    json!({"type": "tool_result", "tool_use_id": (call.id.as_str()), "content": (Json::List(content))})
}

fn malformed(reason: impl Into<Text>) -> ModelError {
    ModelError::Malformed {
        format: FORMAT,
        reason: reason.into(),
    }
}

fn reported(body: &Json) -> Option<ModelError> {
    let kind = body
        .get("error")?
        .get("type")
        .and_then(Json::as_text)
        .cloned();
    Some(ModelError::Reported {
        message: message_in(body).unwrap_or_default().into(),
        transient: kind.is_some_and(|kind| {
            matches!(
                &*kind,
                "overloaded_error" | "rate_limit_error" | "api_error" | "timeout_error"
            )
        }),
    })
}

/// Reads message events. Whole messages go through it as well, block by block.
#[derive(Default)]
struct MessageStream {
    draft: Draft,
    /// Thinking blocks by index, to be sent back.
    echo: Vec<(String, Object)>,
    input: Input,
    finished: bool,
}

/// Tokens of the request: what was not cached is counted apart from what was.
#[derive(Default)]
struct Input {
    fresh: u64,
    cached: u64,
    written: u64,
}

impl StreamReader for MessageStream {
    fn event(&mut self, event: &SseEvent, deltas: &mut Vec<Delta>) -> Result<(), ModelError> {
        if event.data.trim().is_empty() {
            return Ok(());
        }
        let value = volary_core::json::read(&event.data)
            .map_err(|error| malformed(format!("a piece of the stream is no JSON: {error}.")))?;
        let index = value
            .get("index")
            .map(Json::to_compact_text)
            .unwrap_or_default();
        match value
            .get("type")
            .and_then(Json::as_text)
            .map_or("", |kind| kind)
        {
            "message_start" => self.start(value.get("message").unwrap_or(&Json::Null), deltas),
            "content_block_start" => {
                self.begin(
                    &index,
                    value.get("content_block").unwrap_or(&Json::Null),
                    deltas,
                );
            }
            "content_block_delta" => {
                self.piece(&index, value.get("delta").unwrap_or(&Json::Null), deltas);
            }
            "message_delta" => {
                self.stop_reason(
                    value
                        .get("delta")
                        .and_then(|delta| delta.get("stop_reason")),
                );
                self.usage(value.get("usage"), deltas);
            }
            "message_stop" => self.finished = true,
            "error" => {
                return Err(reported(&value).unwrap_or_else(|| malformed("an error without text.")));
            }
            _ => {}
        }
        Ok(())
    }

    fn answer(&mut self) -> (Answer, bool) {
        let mut answer = self.draft.answer.clone();
        answer.echo = self
            .echo
            .iter()
            .map(|(_, block)| Json::Object(block.clone()))
            .collect();
        (answer, self.finished)
    }
}

impl MessageStream {
    fn start(&mut self, message: &Json, deltas: &mut Vec<Delta>) {
        self.draft.answer.model = message.get("model").and_then(Json::as_text).cloned();
        self.usage(message.get("usage"), deltas);
    }

    fn begin(&mut self, index: &str, block: &Json, deltas: &mut Vec<Delta>) {
        let text = |key: &str| {
            block
                .get(key)
                .and_then(Json::as_text)
                .map_or("", |text| text)
        };
        match text("type") {
            "text" => self.draft.text(text("text"), deltas),
            "thinking" | "redacted_thinking" => {
                self.draft.thinking(text("thinking"), deltas);
                let block = block.as_object().cloned().unwrap_or_default();
                self.echo.push((index.to_owned(), block));
            }
            "tool_use" => {
                let place = self.draft.call(index);
                self.draft
                    .name_call(place, text("id"), text("name"), deltas);
                // Streams begin with an empty input and send it in pieces.
                let input = block
                    .get("input")
                    .and_then(Json::as_object)
                    .filter(|input| !input.is_empty());
                if let Some(input) = input {
                    self.draft
                        .whole_arguments(place, &input.to_python_text(), deltas);
                }
            }
            _ => {}
        }
    }

    fn piece(&mut self, index: &str, delta: &Json, deltas: &mut Vec<Delta>) {
        let text = |key: &str| {
            delta
                .get(key)
                .and_then(Json::as_text)
                .map_or("", |text| text)
        };
        match text("type") {
            "text_delta" => self.draft.text(text("text"), deltas),
            "thinking_delta" => {
                self.draft.thinking(text("thinking"), deltas);
                self.extend_echo(index, "thinking", text("thinking"));
            }
            "signature_delta" => self.extend_echo(index, "signature", text("signature")),
            "input_json_delta" => {
                let place = self.draft.call(index);
                self.draft.arguments(place, text("partial_json"), deltas);
            }
            _ => {}
        }
    }

    fn extend_echo(&mut self, index: &str, key: &'static str, more: &str) {
        if let Some((_, block)) = self.echo.iter_mut().find(|(known, _)| known == index) {
            let known = block
                .get(key)
                .and_then(Json::as_text)
                .map_or("", |text| text);
            let longer = format!("{known}{more}");
            block.insert(key, longer);
        }
    }

    fn stop_reason(&mut self, reason: Option<&Json>) {
        let Some(reason) = reason.and_then(Json::as_text) else {
            return;
        };
        self.draft.answer.finish = match &**reason {
            "end_turn" | "stop_sequence" => Finish::Stop,
            "tool_use" => Finish::ToolCalls,
            "max_tokens" | "model_context_window_exceeded" => Finish::Length,
            "refusal" => Finish::ContentFilter,
            other => Finish::Other(other.into()),
        };
    }

    fn usage(&mut self, usage: Option<&Json>, deltas: &mut Vec<Delta>) {
        let Some(usage) = usage else {
            return;
        };
        let at = |key: &str| u64::try_from(usage.get(key)?.as_i64()?).ok();
        let input = &mut self.input;
        input.fresh = at("input_tokens").unwrap_or(input.fresh);
        input.cached = at("cache_read_input_tokens").unwrap_or(input.cached);
        input.written = at("cache_creation_input_tokens").unwrap_or(input.written);
        let usage = Usage {
            prompt: input.fresh + input.cached + input.written,
            completion: at("output_tokens").unwrap_or(0),
            cached: input.cached,
            reasoning: 0,
        };
        self.draft.usage(usage, deltas);
    }
}
