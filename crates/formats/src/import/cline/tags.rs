//! Parses calls that are written as tags in a text: `<read_file><path>a</path></read_file>`.

use volary_core::json::{Key, Object, Text};
use volary_core::message::Body;
use volary_core::{AnyMessage, ToolCall, ToolRequestMessage};

use super::calling;
use crate::import::transcript::ImportedMessage;

/// The tools of Cline and Roo Code that are called by tags.
const TOOLS: [&str; 32] = [
    "execute_command",
    "read_file",
    "write_to_file",
    "replace_in_file",
    "apply_diff",
    "insert_content",
    "search_and_replace",
    "search_files",
    "list_files",
    "list_code_definition_names",
    "codebase_search",
    "browser_action",
    "use_mcp_tool",
    "access_mcp_resource",
    "ask_followup_question",
    "plan_mode_respond",
    "act_mode_respond",
    "load_mcp_documentation",
    "attempt_completion",
    "new_task",
    "condense",
    "report_bug",
    "new_rule",
    "switch_mode",
    "fetch_instructions",
    "update_todo_list",
    "run_slash_command",
    "generate_image",
    "web_fetch",
    "web_search",
    "use_skill",
    "apply_patch",
];

/// The maximum number of arguments of a call.
const MOST: usize = 32;

/// The maximum length of an argument's name, in bytes.
const LONGEST_NAME: usize = 63;

/// Moves the call that a message's text contains as tags out of the text.
pub(super) fn with_call(said: ImportedMessage) -> ImportedMessage {
    let AnyMessage::Plain(plain) = &said.message else {
        return said;
    };
    let text = plain.body.content.clone().unwrap_or_default();
    let Some((before, call)) = call(&text) else {
        return said;
    };
    let body = Body {
        content: (!before.is_empty()).then(|| Text::from(before)),
        info: plain.body.info.clone(),
        ..Body::default()
    };
    let request = ToolRequestMessage {
        body,
        tool_calls: vec![call],
    };
    calling(said, request.into())
}

/// The text before a call, and the call. A truncated call counts as well.
fn call(text: &str) -> Option<(&str, ToolCall)> {
    let (start, name, inner) = text.match_indices('<').find_map(|(start, _)| {
        let rest = &text[start + 1..];
        let name = TOOLS.iter().find(|name| {
            rest.strip_prefix(**name)
                .is_some_and(|rest| rest.starts_with('>'))
        })?;
        Some((start, *name, &rest[name.len() + 1..]))
    })?;
    let end = inner.rfind(&format!("</{name}>")).unwrap_or(inner.len());
    let arguments = arguments(&inner[..end]);
    Some((text[..start].trim_end(), ToolCall::new("", name, arguments)))
}

fn arguments(mut inner: &str) -> Object {
    let mut found: Vec<(Key, volary_core::json::Json)> = Vec::new();
    while found.len() < MOST
        && let Some((_, rest)) = inner.split_once('<')
    {
        // Only the beginning is searched: a text of many `<` would take quadratic time otherwise.
        let end = rest
            .bytes()
            .take(LONGEST_NAME + 1)
            .position(|byte| byte == b'>');
        let name = end.and_then(|end| rest.get(..end));
        let name = name.filter(|name| {
            !name.is_empty()
                && name
                    .bytes()
                    .all(|byte| byte.is_ascii_alphanumeric() || byte == b'_')
        });
        let Some(name) = name else {
            inner = rest;
            continue;
        };
        let value = &rest[name.len() + 1..];
        let close = format!("</{name}>");
        // The text of a file may contain the same tag.
        let end = match name {
            "content" | "diff" => value.rfind(&close),
            _ => value.find(&close),
        };
        let (text, after) = match end {
            Some(end) => (&value[..end], &value[end + close.len()..]),
            None => (value, ""),
        };
        found.push((name.to_owned().into(), text.trim().into()));
        inner = after;
    }
    Object::from_pairs(found)
}

#[cfg(test)]
mod tests {
    use super::*;

    fn told(text: &str) -> String {
        match call(text) {
            Some((before, call)) => {
                let function = call.function;
                let arguments = function.arguments.to_compact_text();
                format!("{before}>{}{arguments}", function.name)
            }
            None => "none".into(),
        }
    }

    #[test]
    fn calls_are_found_in_tags() {
        for (text, expected) in [
            (
                "I look.\n\n<read_file>\n<path>a.txt</path>\n</read_file>",
                "I look.>read_file{\"path\":\"a.txt\"}",
            ),
            ("a < b and <b>bold</b>", "none"),
            ("<read_files><path>a</path></read_files>", "none"),
            (
                "<write_to_file><path>a</path><content><content>x</content></content></write_to_file>",
                ">write_to_file{\"path\":\"a\",\"content\":\"<content>x</content>\"}",
            ),
            (
                "<execute_command><command>ls é",
                ">execute_command{\"command\":\"ls é\"}",
            ),
            ("<attempt_completion>", ">attempt_completion{}"),
        ] {
            assert_eq!(told(text), expected, "{text}");
        }
    }

    #[test]
    fn many_marks_take_no_time() {
        let text = format!("<read_file>{}", "<a".repeat(500_000));
        assert!(call(&text).is_some());
        let text = format!("<read_file>{}", "<a>".repeat(500_000));
        assert!(call(&text).is_some());
    }
}
