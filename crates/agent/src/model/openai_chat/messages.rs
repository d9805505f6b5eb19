//! History as chat messages.

use volary_core::json::{Json, Object};
use volary_core::{json, object};

use super::completion::content;
use crate::model::ModelRequest;
use crate::model::history::{Echo, Part, PastCall, Turn, text_of};
use crate::model::parameter_fallback::Concession;

/// What differs from one provider of chat completions to another.
pub(in crate::model) struct ChatStyle {
    /// Under which name echoes are its own.
    pub provider: &'static str,
    /// Whether a tool's answer can hold images; else they follow in a message of the user.
    pub images_in_answers: bool,
    /// Whether instructions may stand elsewhere than at the beginning; else the user says them.
    pub system_anywhere: bool,
    /// Whether the model's words must stand between a tool's answer and the user's.
    pub bridge: bool,
}

/// What the model says where it must say something.
const BRIDGE: &str = "OK.";

/// The turns as chat messages.
pub(in crate::model) fn messages(
    turns: &[Turn],
    request: &ModelRequest,
    style: &ChatStyle,
) -> Json {
    let mut messages = Vec::new();
    let mut begins = true;
    for turn in turns {
        begins &= matches!(turn, Turn::System(_));
        match turn {
            Turn::System(text) if begins || style.system_anywhere => {
                messages.push(json!({"role": "system", "content": (text.as_str())}))
            }
            Turn::System(text) => user(&[Part::Text(text.clone())], style, &mut messages),
            Turn::User(parts) => user(parts, style, &mut messages),
            Turn::Assistant { text, calls, echo } => {
                messages.push(assistant(text, calls, echo.as_ref(), request, style));
                answers(calls, style, &mut messages);
            }
        }
    }
    Json::List(messages)
}

fn user(parts: &[Part], style: &ChatStyle, messages: &mut Vec<Json>) {
    let after_tool = messages
        .last()
        .and_then(|last| last.get("role"))
        .is_some_and(|role| *role == Json::from("tool"));
    if style.bridge && after_tool {
        messages.push(json!({"role": "assistant", "content": BRIDGE}));
    }
    messages.push(json!({"role": "user", "content": (blocks(parts))}));
}

/// Parts as blocks, or as one text if there is no image.
fn blocks(parts: &[Part]) -> Json {
    if parts.iter().all(|part| matches!(part, Part::Text(_))) {
        return Json::from(text_of(parts.to_vec()));
    }
    let blocks = parts.iter().map(|part| match part {
        Part::Text(text) => json!({"type": "text", "text": (text.as_str())}),
        Part::Image(url) => json!({"type": "image_url", "image_url": {"url": (url.as_str())}}),
    });
    Json::List(blocks.collect())
}

fn assistant(
    text: &str,
    calls: &[PastCall],
    echo: Option<&Echo>,
    request: &ModelRequest,
    style: &ChatStyle,
) -> Json {
    let said = if text.is_empty() && !calls.is_empty() {
        Json::Null
    } else {
        Json::from(text)
    };
    let mut message = object!({"role": "assistant", "content": said});
    if !calls.is_empty() {
        message.insert("tool_calls", Json::List(calls.iter().map(call).collect()));
    }
    let echo = echo.and_then(|echo| echo.parts_for(style.provider, request));
    for fields in echo.unwrap_or(&[]).iter().filter_map(Json::as_object) {
        add_echo(&mut message, fields, text);
    }
    let wants_thought = request.concessions.has(Concession::EmptyReasoning) && !calls.is_empty();
    if wants_thought && !message.contains_key("reasoning_content") {
        message.insert("reasoning_content", "");
    }
    Json::Object(message)
}

/// Fields that came with the message go back with it; its content (of thinking and text) only if the text is
/// still the same.
fn add_echo(message: &mut Object, fields: &Object, text: &str) {
    for (key, value) in fields.iter() {
        let is_stale =
            &**key == "content" && content(Some(value)).text.as_deref().unwrap_or("") != text;
        if !is_stale {
            message.insert(key.clone(), value.clone());
        }
    }
}

fn call(call: &PastCall) -> Json {
    json!({
        "id": (call.id.as_str()),
        "type": "function",
        "function": {
            "name": (call.name.clone()),
            "arguments": (call.arguments.to_python_text())
        }
    })
}

fn answers(calls: &[PastCall], style: &ChatStyle, messages: &mut Vec<Json>) {
    let mut images = Vec::new();
    for call in calls {
        let content = if style.images_in_answers {
            blocks(&call.answer)
        } else {
            let inside = call.answer.iter();
            images.extend(
                inside
                    .filter(|part| matches!(part, Part::Image(_)))
                    .cloned(),
            );
            text_of(call.answer.clone()).into()
        };
        messages.push(json!({
            "role": "tool",
            "tool_call_id": (call.id.as_str()),
            "content": content
        }));
    }
    if !images.is_empty() {
        images.insert(0, Part::Text("Images from the tools above:".into()));
        user(&images, style, messages);
    }
}
