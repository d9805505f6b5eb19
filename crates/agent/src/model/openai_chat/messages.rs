//! Converts history to chat messages.

use volary_core::json::{Json, Object};

use super::completion::content;
use super::wire::{
    AssistantMessage, Block, ChatContent, ChatMessage, FunctionType, ImageUrl, SentCall,
    SentFunction,
};
use crate::model::ModelRequest;
use crate::model::history::{ContentPart, Echo, PastCall, Turn, text_of};
use crate::model::parameter_fallback::ParameterFallback;

/// The differences between providers of chat completions.
pub(in crate::model) struct ChatStyle {
    /// The provider name of its own echoes.
    pub provider: &'static str,
    /// Whether a tool result can contain images; else they follow in a user message.
    pub images_in_answers: bool,
    /// Whether instructions may occur after the beginning; else they become user text.
    pub system_anywhere: bool,
    /// Whether a message of the model must separate a tool result from a user message.
    pub bridge: bool,
}

/// The text of that message.
const BRIDGE: &str = "OK.";

/// The turns as chat messages.
pub(in crate::model) fn messages(
    turns: &[Turn],
    request: &ModelRequest,
    style: &ChatStyle,
) -> Vec<ChatMessage> {
    let mut messages = Vec::new();
    let mut begins = true;
    for turn in turns {
        begins &= matches!(turn, Turn::System(_));
        match turn {
            Turn::System(text) if begins || style.system_anywhere => {
                let content = text.as_str().into();
                messages.push(ChatMessage::System { content });
            }
            Turn::System(text) => user(&[ContentPart::Text(text.clone())], style, &mut messages),
            Turn::User(parts) => user(parts, style, &mut messages),
            Turn::Assistant { text, calls, echo } => {
                messages.push(assistant(text, calls, echo.as_ref(), request, style));
                answers(calls, style, &mut messages);
            }
        }
    }
    messages
}

fn user(parts: &[ContentPart], style: &ChatStyle, messages: &mut Vec<ChatMessage>) {
    if style.bridge && matches!(messages.last(), Some(ChatMessage::Tool { .. })) {
        messages.push(ChatMessage::Assistant(AssistantMessage {
            content: BRIDGE.into(),
            tool_calls: Vec::new(),
            echo: Object::new(),
        }));
    }
    let content = content_of(parts);
    messages.push(ChatMessage::User { content });
}

/// Parts as blocks, or as one text if there is no image.
fn content_of(parts: &[ContentPart]) -> ChatContent {
    if parts
        .iter()
        .all(|part| matches!(part, ContentPart::Text(_)))
    {
        return ChatContent::Text(text_of(parts.to_vec()).into());
    }
    let blocks = parts.iter().map(|part| match part {
        ContentPart::Text(text) => Block::Text {
            text: text.as_str().into(),
        },
        ContentPart::Image(url) => Block::ImageUrl {
            image_url: ImageUrl {
                url: url.as_str().into(),
            },
        },
    });
    ChatContent::Blocks(blocks.collect())
}

fn assistant(
    text: &str,
    calls: &[PastCall],
    echo: Option<&Echo>,
    request: &ModelRequest,
    style: &ChatStyle,
) -> ChatMessage {
    let mut message = AssistantMessage {
        content: if text.is_empty() && !calls.is_empty() {
            Json::Null
        } else {
            Json::from(text)
        },
        tool_calls: calls.iter().map(call).collect(),
        echo: Object::new(),
    };
    let parts = echo.and_then(|echo| echo.parts_for(style.provider, request));
    for fields in parts.unwrap_or(&[]).iter().filter_map(Json::as_object) {
        add_echo(&mut message, fields, text);
    }
    let wants_thought =
        request.fallbacks.has(ParameterFallback::EmptyReasoning) && !calls.is_empty();
    if wants_thought && !message.echo.contains_key("reasoning_content") {
        message.echo.insert("reasoning_content", "");
    }
    ChatMessage::Assistant(message)
}

/// Sends the echoed fields back with the message; its content (of thinking and text) only if the text is unedited.
fn add_echo(message: &mut AssistantMessage, fields: &Object, text: &str) {
    for (key, value) in fields.iter() {
        if &**key != "content" {
            message.echo.insert(key.clone(), value.clone());
        } else if content(value).text.as_deref().unwrap_or("") == text {
            message.content = value.clone();
        }
    }
}

fn call(call: &PastCall) -> SentCall {
    SentCall {
        id: call.id.as_str().into(),
        kind: FunctionType::Function,
        function: SentFunction {
            name: call.name.clone(),
            arguments: call.arguments.to_python_text().into(),
        },
    }
}

fn answers(calls: &[PastCall], style: &ChatStyle, messages: &mut Vec<ChatMessage>) {
    let mut images = Vec::new();
    for call in calls {
        let content = if style.images_in_answers {
            content_of(&call.answer)
        } else {
            let inside = call.answer.iter();
            images.extend(
                inside
                    .filter(|part| matches!(part, ContentPart::Image(_)))
                    .cloned(),
            );
            ChatContent::Text(text_of(call.answer.clone()).into())
        };
        messages.push(ChatMessage::Tool {
            tool_call_id: call.id.as_str().into(),
            content,
        });
    }
    if !images.is_empty() {
        images.insert(0, ContentPart::Text("Images from the tools above:".into()));
        user(&images, style, messages);
    }
}
