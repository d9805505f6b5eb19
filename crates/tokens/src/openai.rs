//! Converts a parsed completion to an assistant's message of the OpenAI API.

use volary_core::json::text::strip;
use volary_core::{Json, json};

use crate::tool_parser::Parsed;

/// The message: without calls the text; with calls these, and the text unless it is blank.
pub fn message(parsed: &Parsed) -> Json {
    if parsed.calls.is_empty() {
        let content = parsed.normal_text.clone();
        return json!({"role": "assistant", "content": content, "tool_calls": null});
    }
    let is_blank = strip(&parsed.normal_text).is_empty();
    let content = (!is_blank).then(|| parsed.normal_text.clone());
    let calls = parsed.calls.iter().enumerate();
    let calls = calls.map(|(index, call)| {
        // Python formats a missing name like this.
        let shown = call.name.as_deref().unwrap_or("None");
        json!({
            "id": (format!("call_{index}_{shown}")),
            "type": "function",
            "function": {"name": (call.name.clone()), "arguments": (call.parameters.clone())}
        })
    });
    json!({"role": "assistant", "content": content, "tool_calls": (calls.collect::<Vec<_>>())})
}
