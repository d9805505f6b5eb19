//! OpenAI Chat Completions, and everything compatible with it: vLLM, SGLang, LM Studio, Ollama,
//! llama.cpp, OpenRouter, Groq, DeepSeek, Together.
//!
//! Compatible servers differ in what they leave out; what is read here is lenient: arguments may be
//! an object, ids and indexes may be missing, thinking is `reasoning_content` or `reasoning`.

use volary_core::json::{Json, Object, Text};
use volary_core::{json, object};

use super::draft::Draft;
use super::history::{Part, PastCall, Turn, text_of, turns};
use super::http::HeaderValue;
use super::reply::message_in;
use super::sse::SseEvent;
use super::{
    Answer, ApiKey, Delta, Finish, HttpRequest, ModelError, ModelRequest, Provider, RawCall,
    StreamReader, ToolChoice, Usage,
};

const FORMAT: &str = "an OpenAI chat completion";

/// The codec.
pub struct OpenAiChat;

impl Provider for OpenAiChat {
    fn name(&self) -> &'static str {
        "openai-chat"
    }

    fn request(&self, base_url: &str, key: &ApiKey, request: &ModelRequest) -> HttpRequest {
        let mut body = object!({
            "model": (request.model.clone()),
            "messages": (messages(&request.messages_as_turns())),
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
            // OpenAI's own reasoning models refuse the older name, and others know only that one.
            let name = if base_url.contains("api.openai.com") {
                "max_completion_tokens"
            } else {
                "max_tokens"
            };
            body.insert(name, limit);
        }
        if !request.stop.is_empty() {
            body.insert("stop", request.stop.clone());
        }
        if let Some(seed) = request.seed {
            body.insert("seed", seed);
        }
        if let Some(effort) = request.effort {
            body.insert("reasoning_effort", effort.as_str());
        }
        if request.stream {
            body.insert("stream", true);
            body.insert("stream_options", object!({"include_usage": true}));
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
    HttpRequest {
        url: format!("{base_url}/models"),
        headers: bearer(key),
        body: String::new(),
    }
}

/// The ids in `{"data": [{"id"}]}`.
pub(super) fn model_ids(body: &Json) -> Vec<Text> {
    let list = body.get("data").unwrap_or(body).as_list().unwrap_or(&[]);
    list.iter()
        .filter_map(|model| model.get("id").and_then(Json::as_text).cloned())
        .collect()
}

impl ModelRequest {
    fn messages_as_turns(&self) -> Vec<Turn> {
        turns(&self.messages, |place, id| {
            if id.is_empty() {
                format!("call_{place}")
            } else {
                id.to_owned()
            }
        })
    }
}

/// The tools, each nested under `function`.
pub(super) fn tools(request: &ModelRequest) -> Json {
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
    Json::List(tools.collect())
}

fn tool_choice(choice: &ToolChoice) -> Json {
    match choice {
        ToolChoice::Required => "required".into(),
        ToolChoice::Auto => "auto".into(),
        ToolChoice::None => "none".into(),
        ToolChoice::Tool(name) => json!({"type": "function", "function": {"name": (name.clone())}}),
    }
}

/// The turns as chat messages. A tool's answer can hold no image there, so images of answers follow
/// in a message of the user.
pub(super) fn messages(turns: &[Turn]) -> Json {
    let mut messages = Vec::new();
    for turn in turns {
        match turn {
            Turn::System(text) => {
                messages.push(json!({"role": "system", "content": (text.as_str())}))
            }
            Turn::User(parts) => messages.push(user(parts)),
            Turn::Assistant { text, calls, .. } => assistant(text, calls, &mut messages),
        }
    }
    Json::List(messages)
}

fn user(parts: &[Part]) -> Json {
    let only_text = parts.iter().all(|part| matches!(part, Part::Text(_)));
    let content = if only_text {
        Json::from(text_of(parts.to_vec()))
    } else {
        let blocks = parts.iter().map(|part| match part {
            Part::Text(text) => json!({"type": "text", "text": (text.as_str())}),
            Part::Image(url) => json!({"type": "image_url", "image_url": {"url": (url.as_str())}}),
        });
        Json::List(blocks.collect())
    };
    json!({"role": "user", "content": (content)})
}

fn assistant(text: &str, calls: &[PastCall], messages: &mut Vec<Json>) {
    let content = if text.is_empty() && !calls.is_empty() {
        Json::Null
    } else {
        Json::from(text)
    };
    let mut message = object!({"role": "assistant", "content": (content)});
    if !calls.is_empty() {
        let calls = calls.iter().map(|call| {
            json!({
                "id": (call.id.as_str()),
                "type": "function",
                "function": {
                    "name": (call.name.clone()),
                    "arguments": (call.arguments.to_python_text())
                }
            })
        });
        message.insert("tool_calls", Json::List(calls.collect()));
    }
    messages.push(Json::Object(message));
    let mut images = Vec::new();
    for call in calls {
        messages.push(json!({
            "role": "tool",
            "tool_call_id": (call.id.as_str()),
            "content": (text_of(call.answer.clone()))
        }));
        images.extend(
            call.answer
                .iter()
                .filter(|part| matches!(part, Part::Image(_)))
                .cloned(),
        );
    }
    if !images.is_empty() {
        images.insert(0, Part::Text("Images from the tools above:".into()));
        messages.push(user(&images));
    }
}

/// A whole completion.
pub(super) fn read_completion(body: &Json) -> Result<Answer, ModelError> {
    if let Some(error) = in_band_error(body) {
        return Err(error);
    }
    let Some(choices) = body.get("choices").and_then(Json::as_list) else {
        return Err(malformed("it has no `choices`."));
    };
    let [choice] = choices else {
        return Err(malformed(format!(
            "one choice is expected, not {}.",
            choices.len()
        )));
    };
    let Some(message) = choice.get("message").and_then(Json::as_object) else {
        return Err(malformed("its choice has no `message`."));
    };
    let calls: Vec<RawCall> = message
        .get("tool_calls")
        .and_then(Json::as_list)
        .unwrap_or(&[])
        .iter()
        .map(raw_call)
        .collect();
    let content = content(message.get("content"));
    Ok(Answer {
        text: content.text,
        thinking: thinking(message).or(content.thinking),
        finish: finish(choice.get("finish_reason"), &calls),
        calls,
        refusal: text_at(message, "refusal"),
        usage: body.get("usage").and_then(usage),
        model: body.get("model").and_then(Json::as_text).cloned(),
        echo: Vec::new(),
    })
}

/// What a content holds: a text, or a list of chunks of text and thinking (Mistral).
#[derive(Default)]
pub(super) struct Content {
    pub text: Option<String>,
    pub thinking: Option<String>,
}

pub(super) fn content(value: Option<&Json>) -> Content {
    let mut content = Content::default();
    match value {
        Some(Json::Text(text)) => content.text = Some(text.to_string()),
        Some(Json::List(chunks)) => {
            for chunk in chunks {
                if let Some(text) = chunk.get("text").and_then(Json::as_text) {
                    content.text.get_or_insert_default().push_str(text);
                }
                match chunk.get("thinking") {
                    Some(Json::Text(text)) => {
                        content.thinking.get_or_insert_default().push_str(text)
                    }
                    Some(inner @ Json::List(_)) => {
                        if let Some(text) = self::content(Some(inner)).text {
                            content.thinking.get_or_insert_default().push_str(&text);
                        }
                    }
                    _ => {}
                }
            }
        }
        _ => {}
    }
    content
}

fn raw_call(call: &Json) -> RawCall {
    let function = call.get("function").unwrap_or(&Json::Null);
    RawCall {
        id: call
            .get("id")
            .and_then(Json::as_text)
            .map(|id| id.to_string())
            .unwrap_or_default(),
        name: function
            .get("name")
            .and_then(Json::as_text)
            .map(|name| name.to_string())
            .unwrap_or_default(),
        arguments: arguments(function.get("arguments")),
    }
}

/// Arguments as text, whether they came as text or as an object.
pub(super) fn arguments(value: Option<&Json>) -> String {
    match value {
        Some(Json::Text(text)) => text.to_string(),
        None | Some(Json::Null) => String::new(),
        Some(value) => value.to_python_text(),
    }
}

fn thinking(message: &Object) -> Option<String> {
    text_at(message, "reasoning_content").or_else(|| text_at(message, "reasoning"))
}

fn text_at(object: &Object, key: &str) -> Option<String> {
    let text = object.get(key)?.as_text()?;
    (!text.is_empty()).then(|| text.to_string())
}

/// The reason to stop. Some servers leave it out, or say `stop` with calls: calls speak.
fn finish(value: Option<&Json>, calls: &[RawCall]) -> Finish {
    match value.and_then(Json::as_text) {
        Some(word) => Finish::from_word(word),
        None if calls.is_empty() => Finish::Stop,
        None => Finish::ToolCalls,
    }
}

pub(super) fn usage(value: &Json) -> Option<Usage> {
    let number = |value: Option<&Json>| {
        value
            .and_then(Json::as_i64)
            .and_then(|n| u64::try_from(n).ok())
    };
    Some(Usage {
        prompt: number(value.get("prompt_tokens"))?,
        completion: number(value.get("completion_tokens")).unwrap_or(0),
        cached: number(
            value
                .get("prompt_tokens_details")
                .and_then(|details| details.get("cached_tokens")),
        )
        .unwrap_or(0),
        reasoning: number(
            value
                .get("completion_tokens_details")
                .and_then(|details| details.get("reasoning_tokens")),
        )
        .unwrap_or(0),
    })
}

/// An error that came with a success status.
pub(super) fn in_band_error(body: &Json) -> Option<ModelError> {
    let error = body.get("error").filter(|error| !error.is_null())?;
    let code = error.get("code").or_else(|| error.get("type"));
    let transient = match code {
        Some(Json::Integer(code)) => matches!(code.to_i64(), Some(408 | 429 | 500..=599)),
        Some(Json::Text(code)) => ["rate_limit", "overloaded", "server_error", "timeout"]
            .iter()
            .any(|word| code.contains(word)),
        _ => false,
    };
    Some(ModelError::Reported {
        message: message_in(body)
            .unwrap_or_else(|| error.to_compact_text())
            .into(),
        transient,
    })
}

fn malformed(reason: impl Into<Text>) -> ModelError {
    ModelError::Malformed {
        format: FORMAT,
        reason: reason.into(),
    }
}

/// Reads `chat.completion.chunk`s.
#[derive(Default)]
pub(super) struct ChatStream {
    draft: Draft,
    finished: bool,
    /// The key of the call that pieces without index and id belong to.
    last_call: Option<usize>,
    /// How often an index was taken over by another call.
    generations: usize,
}

impl StreamReader for ChatStream {
    fn event(&mut self, event: &SseEvent, deltas: &mut Vec<Delta>) -> Result<(), ModelError> {
        let data = event.data.trim();
        if data.is_empty() {
            return Ok(());
        }
        if data == "[DONE]" {
            self.finished = true;
            return Ok(());
        }
        let chunk = volary_core::json::read(data)
            .map_err(|error| malformed(format!("a piece of the stream is no JSON: {error}.")))?;
        if let Some(error) = in_band_error(&chunk) {
            return Err(error);
        }
        if self.draft.answer.model.is_none() {
            self.draft.answer.model = chunk.get("model").and_then(Json::as_text).cloned();
        }
        if let Some(usage) = chunk.get("usage").and_then(usage) {
            self.draft.usage(usage, deltas);
        }
        // Further choices were not asked for.
        let choices = chunk.get("choices").and_then(Json::as_list).unwrap_or(&[]);
        if let Some(choice) = choices.first() {
            self.choice(choice, deltas);
        }
        Ok(())
    }

    fn answer(&mut self) -> (Answer, bool) {
        (self.draft.answer.clone(), self.finished)
    }
}

impl ChatStream {
    fn choice(&mut self, choice: &Json, deltas: &mut Vec<Delta>) {
        if choice.get("index").and_then(Json::as_i64).unwrap_or(0) != 0 {
            return;
        }
        if let Some(delta) = choice.get("delta").and_then(Json::as_object) {
            let content = content(delta.get("content"));
            if let Some(text) = thinking(delta).or(content.thinking) {
                self.draft.thinking(&text, deltas);
            }
            if let Some(text) = content.text {
                self.draft.text(&text, deltas);
            }
            if let Some(text) = text_at(delta, "refusal") {
                self.draft.refusal(&text, deltas);
            }
            for call in delta
                .get("tool_calls")
                .and_then(Json::as_list)
                .unwrap_or(&[])
            {
                self.call(call, deltas);
            }
        }
        if let Some(word) = choice.get("finish_reason").and_then(Json::as_text) {
            self.draft.answer.finish = Finish::from_word(word);
            self.finished = true;
        }
    }

    fn call(&mut self, piece: &Json, deltas: &mut Vec<Delta>) {
        let call = raw_call(piece);
        let index = piece.get("index").and_then(Json::as_i64);
        let place = match (index, self.last_call) {
            (Some(index), _) => self.indexed(index, &call.id),
            (None, _) if !call.id.is_empty() => self.draft.call(&format!("id {}", call.id)),
            (None, Some(last)) if call.name.is_empty() => last,
            (None, _) => {
                self.generations += 1;
                self.draft.call(&format!("new {}", self.generations))
            }
        };
        self.last_call = Some(place);
        self.draft.name_call(place, &call.id, &call.name, deltas);
        self.draft.arguments(place, &call.arguments, deltas);
    }

    /// The call at an index. Some servers give every call the index 0: another id is another call.
    fn indexed(&mut self, index: i64, id: &str) -> usize {
        let place = self.draft.call(&format!("index {index}"));
        let known = self
            .draft
            .answer
            .calls
            .get(place)
            .map_or("", |call| &call.id);
        if id.is_empty() {
            return match self.last_call {
                Some(last) if self.shares_index(last, index) => last,
                _ => place,
            };
        }
        if known.is_empty() || known == id {
            return place;
        }
        self.draft.call(&format!("index {index} id {id}"))
    }

    /// Whether the last call was begun at this index, though under another id.
    fn shares_index(&self, last: usize, index: i64) -> bool {
        self.draft
            .key(last)
            .is_some_and(|key| key.starts_with(&format!("index {index} id ")))
    }
}
