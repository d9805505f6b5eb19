//! Reads the parts of a message: texts, images, reasoning, calls and their results, in the forms of OpenAI, Anthropic,
//! Gemini, Bedrock, Inspect and others.

use volary_core::json::{Json, Object, Text};
use volary_core::message::Body;
use volary_core::{
    AnyMessage, Message, Role, ToolCall, ToolRequestMessage, ToolResponseMessage, object,
};
use volary_episode::episode::{StepDetails, StepError};
use volary_episode::passages::REDACTED_REASONING;

use super::with_info;
use crate::import::members::{Members, at, id};
use crate::import::transcript::ImportedMessage;

/// The parts of a message, by kind.
#[derive(Default)]
pub(super) struct Parts {
    /// All parts except reasoning, calls and responses.
    blocks: Vec<Json>,
    /// The content, if it is not a list.
    single: Option<Json>,
    pub reasoning: Vec<Text>,
    pub calls: Vec<ToolCall>,
    answers: Vec<ImportedMessage>,
    /// Blocks of audio, which have a text instead.
    audio: Vec<Json>,
    /// Blocks of reasoning that the provider encrypted.
    redacted: Vec<Json>,
}

impl Parts {
    pub fn content(&mut self, content: Json) {
        match content {
            Json::List(list) => list.into_iter().for_each(|block| self.block(block)),
            Json::Null => {}
            other => self.single = Some(other),
        }
    }

    fn block(&mut self, block: Json) {
        let text = |key: &str| block.get(key).and_then(Json::as_text).cloned();
        let kind = text("type").or_else(|| untyped(&block).map(Text::from));
        match kind.as_deref() {
            Some("input_text" | "output_text" | "text") => self.blocks.push(text_block(block)),
            Some("redacted_thinking") => self.redacted.push(block),
            Some("thinking" | "reasoning") => match reasoning(&block) {
                Some(text) => self.reasoning.push(text),
                None if is_redacted(&block) => self.redacted.push(block),
                None => {}
            },
            Some("message") => match block.get("content").cloned().unwrap_or_default() {
                // One of several parts, so it is not the whole content.
                text @ Json::Text(_) => self.block(text),
                content => self.content(content),
            },
            // Gemini's names, also as its Python SDK writes them.
            Some(key @ ("functionCall" | "function_call")) if block.get(key).is_some() => {
                let call = block.get(key).unwrap_or(&Json::Null);
                self.calls.push(super::call(call));
            }
            Some(key @ ("functionResponse" | "function_response")) if block.get(key).is_some() => {
                let answer = block.get(key).unwrap_or(&Json::Null);
                self.answers.push(answered(answer));
            }
            Some("tool_use" | "tool-call" | "tool_call" | "function_call" | "custom_tool_call") => {
                self.calls.push(super::call(&block));
                self.answered_at_once(&block);
            }
            Some("tool_result" | "tool-result" | "tool_call_response") => {
                self.answers.push(answered(&block));
            }
            Some("toolUse") => {
                let call = block.get("toolUse").unwrap_or(&Json::Null);
                self.calls.push(super::call(call));
            }
            Some("toolResult") => {
                let answer = block.get("toolResult").unwrap_or(&Json::Null);
                self.answers.push(answered(answer));
            }
            Some("reasoningContent") => {
                let thought = at(&block, &["reasoningContent", "reasoningText"]);
                self.reasoning.extend(thought.and_then(reasoning));
            }
            Some("image" | "input_image" | "inlineData") => {
                let image = image(&block);
                self.blocks.push(image.unwrap_or(block));
            }
            Some("input_audio" | "audio" | "audio_url") => {
                let text = audio_text(&block);
                self.blocks
                    .push(object!({"type": "text", "text": text}).into());
                self.audio.push(block);
            }
            _ => match block {
                Json::Text(text) => {
                    let block = object!({"type": "text", "text": text});
                    self.blocks.push(block.into());
                }
                block => self.blocks.push(block),
            },
        }
    }

    /// Reads the result next to a call that the server executed itself.
    fn answered_at_once(&mut self, call: &Json) {
        let has = |key| call.get(key).is_some_and(|value| !value.is_null());
        if has("result") || has("error") {
            let mut answer = answered(call);
            if let Some(error) = call.get("error").filter(|error| !error.is_null()) {
                answer.details.errors.push(StepError {
                    call: None,
                    message: error.to_display().into(),
                });
            }
            self.answers.push(answer);
        }
    }

    pub fn body(&mut self) -> Body {
        let mut body = self.content_body();
        let kept = [
            ("audio", &mut self.audio),
            (REDACTED_REASONING, &mut self.redacted),
        ];
        for (key, blocks) in kept {
            if !blocks.is_empty() {
                let blocks = Json::List(std::mem::take(blocks));
                body.info.get_or_insert_default().insert(key, blocks);
            }
        }
        body
    }

    fn content_body(&mut self) -> Body {
        if let Some(single) = self.single.take() {
            return match single {
                Json::Text(text) => Body::text(text),
                other => Body::json(&other),
            };
        }
        match self.blocks.as_slice() {
            [] => Body::default(),
            [block] if is_plain_text(block) => Body {
                content: block.get("text").and_then(Json::as_text).cloned(),
                ..Body::default()
            },
            _ => Body::json(&Json::List(std::mem::take(&mut self.blocks))),
        }
    }

    pub fn said(mut self, role: Role, mut rest: Object) -> Vec<ImportedMessage> {
        let mut body = self.body();
        let reasoning = (!self.reasoning.is_empty()).then(|| self.reasoning.join("\n\n").into());
        let mut said = self.answers;
        let message = match role {
            Role::Tool | Role::Function if body.content.is_none() && !said.is_empty() => {
                return said;
            }
            Role::Tool | Role::Function => {
                let ids = ["tool_call_id", "call_id", "toolCallId"];
                let id = ids.into_iter().find_map(|key| rest.take_id(key));
                let id = id.or_else(|| only_id(&mut rest));
                let names = ["name", "tool_name", "toolName", "function"];
                let name = names.into_iter().find_map(|key| rest.take_text(key));
                body.content.get_or_insert_with(Text::default);
                AnyMessage::Response(ToolResponseMessage {
                    body,
                    name: name.unwrap_or_default(),
                    tool_call_id: id.unwrap_or_default(),
                })
            }
            Role::Assistant if !self.calls.is_empty() => AnyMessage::Request(ToolRequestMessage {
                body,
                tool_calls: self.calls,
            }),
            role => {
                // Calls count as actions only in an assistant's message.
                if !self.calls.is_empty() {
                    let calls = self.calls.iter().map(|call| Json::Object(call.dump()));
                    rest.insert("tool_calls", calls.collect::<Vec<_>>());
                }
                let is_empty = body.content.is_none() && rest.is_empty() && reasoning.is_none();
                if is_empty && !said.is_empty() {
                    return said;
                }
                AnyMessage::Plain(Message { role, body })
            }
        };
        let details = StepDetails {
            reasoning,
            ..StepDetails::default()
        };
        let message = ImportedMessage {
            details,
            ..with_info(message, rest).into()
        };
        let index = if role == Role::Assistant {
            0
        } else {
            said.len()
        };
        said.insert(index, message);
        said
    }
}

/// The text in place of audio, with its format. Messages consist of texts and images.
fn audio_text(block: &Json) -> String {
    let data = ["input_audio", "audio"].into_iter();
    let data = data.filter_map(|key| block.get(key)).next();
    let format = data.and_then(|data| data.get("format")?.as_text());
    match format {
        Some(format) => format!("[audio: {format}]"),
        None => "[audio]".to_owned(),
    }
}

/// The id of the answered call, if a list contains only that one, as in SWE-agent.
fn only_id(rest: &mut Object) -> Option<Text> {
    let list = rest.get("tool_call_ids")?.as_list()?;
    let [only] = list else {
        return None;
    };
    let only = id(only)?;
    rest.remove("tool_call_ids");
    Some(only)
}

fn is_plain_text(block: &Json) -> bool {
    let is_text = block.get("type").and_then(Json::as_text);
    is_text.is_some_and(|kind| &**kind == "text")
        && block.get("text").and_then(Json::as_text).is_some()
        && block.as_object().is_some_and(|block| block.len() == 2)
}

/// A text block in OpenAI's form. Transport members and empty members are dropped.
fn text_block(block: Json) -> Json {
    const SENT: [&str; 3] = ["cache_control", "thoughtSignature", "thought"];
    let Json::Object(mut block) = block else {
        return block;
    };
    let Some(text) = block
        .take_text("text")
        .or_else(|| block.take_text("content"))
    else {
        return block.into();
    };
    let mut plain = object!({"type": "text", "text": text});
    block.retain(|key, value| {
        let is_empty = value.is_null() || value.as_list().is_some_and(<[Json]>::is_empty);
        !is_empty && !SENT.contains(&key.as_ref())
    });
    plain.extend_missing(block);
    plain.into()
}

/// The kind of a block without `type`, as in Gemini and Bedrock: the name of the member that determines it.
fn untyped(block: &Json) -> Option<&'static str> {
    const KINDS: [&str; 9] = [
        "functionCall",
        "functionResponse",
        "function_call",
        "function_response",
        "toolUse",
        "toolResult",
        "reasoningContent",
        "inlineData",
        "text",
    ];
    let block = block.as_object()?;
    // Pydantic writes members without a value as null.
    let is_there = |kind: &&str| block.get(kind).is_some_and(|value| !value.is_null());
    let kind = KINDS.into_iter().find(is_there)?;
    let is_thought = block.get("thought").and_then(Json::as_bool) == Some(true);
    Some(if is_thought { "thinking" } else { kind })
}

/// Whether a block without readable reasoning contains encrypted reasoning.
fn is_redacted(block: &Json) -> bool {
    let has = |key| {
        let text = block.get(key).and_then(Json::as_text);
        text.is_some_and(|text| !text.is_empty())
    };
    let is_flagged = block.get("redacted").and_then(Json::as_bool) == Some(true);
    is_flagged || has("encrypted_content") || has("signature") || has("data")
}

/// The reasoning, or its summaries if it is hidden or there are several of them.
fn reasoning(block: &Json) -> Option<Text> {
    let text = |key: &str| {
        let text = block.get(key).and_then(Json::as_text);
        text.filter(|text| !text.is_empty()).cloned()
    };
    let summary = || match block.get("summary")? {
        Json::Text(text) => Some(text.clone()),
        Json::List(parts) => {
            let parts = parts.iter().filter_map(|part| part.get("text")?.as_text());
            let parts: Vec<&str> = parts.map(AsRef::as_ref).collect();
            (!parts.is_empty()).then(|| parts.join("\n\n").into())
        }
        _ => None,
    };
    let is_hidden = block.get("redacted").and_then(Json::as_bool) == Some(true);
    let said = || {
        ["thinking", "reasoning", "text", "content"]
            .into_iter()
            .find_map(text)
    };
    if is_hidden {
        summary()
    } else {
        said().or_else(summary)
    }
}

/// Reads a block with a tool's result.
fn answered(block: &Json) -> ImportedMessage {
    const IDS: [&str; 6] = [
        "tool_use_id",
        "call_id",
        "tool_call_id",
        "toolCallId",
        "toolUseId",
        "id",
    ];
    const CONTENTS: [&str; 5] = ["content", "output", "response", "result", "error"];
    let call = IDS.into_iter().find_map(|key| id(block.get(key)?));
    let content = CONTENTS
        .into_iter()
        .find_map(|key| block.get(key).filter(|it| !it.is_null()));
    // Some writers wrap the content with its type.
    let inner = content.filter(|content| content.get("type").is_some());
    let content = inner.and_then(|content| content.get("value")).or(content);
    let mut body = super::body(content.cloned().unwrap_or_default());
    let said = body.content.get_or_insert_with(Text::default).clone();
    let name = ["name", "toolName"].into_iter();
    let name = name.filter_map(|key| block.get(key)?.as_text()).next();
    let flag = |key: &str| block.get(key).and_then(Json::as_bool) == Some(true);
    let says_error = block
        .get("status")
        .and_then(Json::as_text)
        .map(AsRef::as_ref)
        == Some("error");
    let failed = flag("is_error") || flag("isError") || says_error;
    let mut answer = ImportedMessage::from(AnyMessage::Response(ToolResponseMessage {
        body,
        name: name.cloned().unwrap_or_default(),
        tool_call_id: call.clone().unwrap_or_default(),
    }));
    if failed {
        answer.details.errors.push(StepError {
            call,
            message: said,
        });
    }
    answer
}

/// Converts an image from Anthropic's, Inspect's, ATIF's, Gemini's, Hugging Face's or OpenAI's newer form to OpenAI's older
/// one.
fn image(block: &Json) -> Option<Json> {
    let source = block.get("source").or_else(|| block.get("inlineData"));
    let url: Text = match (
        block.get("image").or_else(|| block.get("image_url")),
        source,
    ) {
        (Some(Json::Text(url)), _) => url.clone(),
        (Some(file @ Json::Object(_)), _) if file.get("bytes").is_some() => data_url(file)?,
        (_, Some(source)) => {
            let data = source.get("data").and_then(Json::as_text);
            let kind = ["media_type", "mimeType"].into_iter();
            let kind = kind.filter_map(|key| source.get(key)?.as_text()).next();
            let url = ["url", "path"]
                .iter()
                .find_map(|key| source.get(key)?.as_text());
            match (data, kind, url) {
                (Some(data), Some(kind), _) => format!("data:{kind};base64,{data}").into(),
                (_, _, Some(url)) => url.clone(),
                _ => return None,
            }
        }
        _ => return None,
    };
    Some(object!({"type": "image_url", "image_url": {"url": url}}).into())
}

/// The address of an image of Hugging Face's `datasets`: `{bytes, path}`, whose bytes JSON has as Base64.
fn data_url(file: &Json) -> Option<Text> {
    /// The beginnings of Base64, which are those of the formats' first bytes.
    const KINDS: [(&str, &str); 4] = [
        ("iVBORw0KGgo", "image/png"),
        ("/9j/", "image/jpeg"),
        ("R0lGOD", "image/gif"),
        ("UklGR", "image/webp"),
    ];
    let data = file.get("bytes")?.as_text()?;
    let (_, kind) = KINDS.iter().find(|(start, _)| data.starts_with(start))?;
    Some(format!("data:{kind};base64,{data}").into())
}

/// Replaces the placeholders of images, which say only that there is one, by the images that a data set has next to its
/// messages, in order. Returns whether there are as many placeholders as images.
pub(in crate::import) fn place_images(messages: &mut [Json], images: &[Json]) -> bool {
    let is_placeholder = |block: &&mut Json| {
        let kind = block.get("type").and_then(Json::as_text);
        kind.is_some_and(|kind| &**kind == "image")
            && block.as_object().is_some_and(|block| {
                let mut others = block.iter().filter(|(key, _)| key.as_ref() != "type");
                others.all(|(_, value)| value.is_null())
            })
    };
    let contents = messages.iter_mut().filter_map(|message| match message {
        Json::Object(message) => message.get_mut("content"),
        _ => None,
    });
    let blocks = contents.filter_map(|content| match content {
        Json::List(blocks) => Some(blocks),
        _ => None,
    });
    let mut placeholders: Vec<&mut Json> = blocks.flatten().filter(is_placeholder).collect();
    if placeholders.len() != images.len() {
        return false;
    }
    for (placeholder, image) in placeholders.iter_mut().zip(images) {
        **placeholder = object!({"type": "image", "image": (image.clone())}).into();
    }
    true
}
