//! Splits the text of a response at ChatML markup: `<|im_start|>role` and `<|im_end|>`.
//!
//! A multi-turn response contains the environment's messages between the turns. The first part has no delimiter: it
//! continues the assistant's header at the end of the prompt.

use volary_core::json::Text;
use volary_core::{Message, Role};

const START: &str = "<|im_start|>";
const END: &str = "<|im_end|>";
const RESULT_OPEN: &str = "<tool_response>";
const RESULT_CLOSE: &str = "</tool_response>";

/// Whether a prompt starts with ChatML markup.
pub(super) fn is_marked(prompt: &str) -> bool {
    prompt.trim_start().starts_with(START)
}

/// Splits a response into messages. A response without markup is one message of the assistant.
///
/// Qwen's template writes results of tools as a user message with `<tool_response>` blocks; each block
/// becomes a message of role tool.
pub(super) fn messages(response: &str) -> Vec<Message> {
    let mut messages = Vec::new();
    for (place, part) in response.split(START).enumerate() {
        let part = part.trim_end_matches('\n');
        let part = part.strip_suffix(END).unwrap_or(part);
        if place == 0 {
            messages.push(message(Role::Assistant, part));
            continue;
        }
        let (role, content) = part.split_once('\n').unwrap_or((part, ""));
        match role.trim() {
            "assistant" => messages.push(message(Role::Assistant, content)),
            "system" => messages.push(message(Role::System, content)),
            "tool" => messages.push(message(Role::Tool, content)),
            _ => user(content, &mut messages),
        }
    }
    // The model generated nothing after an empty header at the end of a response.
    let is_blank = |message: &Message| {
        let content = message.body.content.as_deref();
        content.is_none_or(|content| content.trim().is_empty())
    };
    if messages.len() > 1 && messages.last().is_some_and(is_blank) {
        messages.pop();
    }
    messages
}

fn message(role: Role, content: &str) -> Message {
    Message::new(role, Text::from(content))
}

fn user(content: &str, messages: &mut Vec<Message>) {
    let mut rest = content;
    while let Some((before, after)) = rest.split_once(RESULT_OPEN) {
        let Some((result, after)) = after.split_once(RESULT_CLOSE) else {
            break;
        };
        if !before.trim().is_empty() {
            messages.push(message(Role::User, before.trim()));
        }
        messages.push(message(Role::Tool, result.trim_matches('\n')));
        rest = after;
    }
    if !rest.trim().is_empty() || content.trim().is_empty() {
        messages.push(message(Role::User, rest.trim()));
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn split(response: &str) -> Vec<(Role, String)> {
        let text = |message: Message| message.body.content.unwrap_or_default().to_string();
        let each = messages(response).into_iter();
        each.map(|message| (message.role, text(message))).collect()
    }

    #[test]
    fn a_response_without_marks_is_one_message() {
        assert_eq!(split("4<|im_end|>"), [(Role::Assistant, "4".to_owned())]);
        assert_eq!(split("4"), [(Role::Assistant, "4".to_owned())]);
        assert_eq!(split(""), [(Role::Assistant, String::new())]);
    }

    #[test]
    fn turns_and_results_are_separated() {
        let response = "<tool_call>\n{}\n</tool_call><|im_end|>\n<|im_start|>user\n<tool_response>\n1\n</tool_response>\n\
             <tool_response>\n2\n</tool_response><|im_end|>\n<|im_start|>assistant\nDone.<|im_end|>\n<|im_start|>user\n\
             Thanks<|im_end|>\n<|im_start|>assistant\n";
        let expected = [
            (Role::Assistant, "<tool_call>\n{}\n</tool_call>"),
            (Role::Tool, "1"),
            (Role::Tool, "2"),
            (Role::Assistant, "Done."),
            (Role::User, "Thanks"),
        ];
        let expected = expected.map(|(role, text)| (role, text.to_owned()));
        assert_eq!(split(response), expected);
    }

    #[test]
    fn text_after_an_unclosed_result_stays() {
        let response = "a<|im_end|>\n<|im_start|>user\n<tool_response>\n1";
        let expected = [
            (Role::Assistant, "a".to_owned()),
            (Role::User, "<tool_response>\n1".to_owned()),
        ];
        assert_eq!(split(response), expected);
    }
}
