//! Parses actions in lessons: one per line, a tool's name and its arguments as JSON, joined by `&` if an action has
//! several calls. `--` starts the message of the action.
//!
//! ```text
//! calculator {"expr": "48 * 7"} -- First I multiply.
//! incr & incr
//! -- I give up.
//! ```

use volary_core::json::{Json, Object};
use volary_core::message::Body;
use volary_core::tool::ToolCallFunction;
use volary_core::{ToolCall, ToolRequestMessage};
use volary_episode::call_id;

use crate::block::Field;
use crate::lesson::Problem;

/// Parses the actions of a field, one per line.
pub fn actions(field: &Field) -> Result<Vec<ToolRequestMessage>, Problem> {
    let lines = field.value.lines().enumerate();
    let lines = lines.filter(|(_, line)| !line.trim().is_empty());
    let lines = lines.enumerate();
    lines
        .map(|(step, (place, line))| {
            action(step, line.trim())
                .map_err(|message| Problem::new(field.value_line + place, message))
        })
        .collect()
}

fn action(step: usize, line: &str) -> Result<ToolRequestMessage, String> {
    let mut calls = Vec::new();
    let mut rest = line;
    let mut words = None;
    if let Some(said) = rest.strip_prefix("--") {
        words = Some(said.trim());
        rest = "";
    }
    while !rest.is_empty() {
        let end = rest
            .find(|character: char| !(character.is_alphanumeric() || "_-.".contains(character)))
            .unwrap_or(rest.len());
        let (name, after) = rest.split_at(end);
        if name.is_empty() {
            return Err(format!(
                "expected the name of a tool, found \"{rest}\"; an action looks like calculator {{\"expr\": \"1 + 1\"}}"
            ));
        }
        let after = after.trim_start();
        let (arguments, after) = arguments(name, after)?;
        calls.push(ToolCall {
            id: call_id(step, calls.len()),
            function: ToolCallFunction {
                name: name.into(),
                arguments,
            },
        });
        rest = match after.trim_start() {
            "" => "",
            after if after.starts_with("--") => {
                words = after.strip_prefix("--").map(str::trim);
                ""
            }
            after => match after.strip_prefix('&') {
                Some(next) => next.trim_start(),
                None => return Err(format!("expected \"&\" or \"--\" before \"{after}\"")),
            },
        };
    }
    Ok(ToolRequestMessage {
        body: words.map_or_else(Body::default, Body::text),
        tool_calls: calls,
    })
}

/// The arguments at the start of a text, and the rest. They may be omitted.
fn arguments<'a>(name: &str, text: &'a str) -> Result<(Object, &'a str), String> {
    if !text.starts_with('{') {
        return Ok((Object::new(), text));
    }
    let end = object_end(text)
        .ok_or_else(|| format!("the arguments of {name} have no closing \"}}\""))?;
    let (json, rest) = text.split_at(end);
    match Json::parse(json) {
        Ok(Json::Object(arguments)) => Ok((arguments, rest)),
        Ok(_) => Err(format!("the arguments of {name} must be an object")),
        Err(error) => Err(format!(
            "the arguments of {name} are not JSON: {} at character {}",
            error.problem, error.column
        )),
    }
}

/// The end of the object at the start of a text; `None` if it is unclosed.
fn object_end(text: &str) -> Option<usize> {
    let (mut depth, mut in_text, mut escaped) = (0_usize, false, false);
    for (place, character) in text.char_indices() {
        match character {
            _ if escaped => escaped = false,
            '\\' if in_text => escaped = true,
            '"' => in_text = !in_text,
            '{' if !in_text => depth += 1,
            '}' if !in_text => {
                depth = depth.checked_sub(1)?;
                if depth == 0 {
                    return Some(place + 1);
                }
            }
            _ => {}
        }
    }
    None
}

#[cfg(test)]
mod tests {
    use super::*;

    fn read(text: &str) -> Result<Vec<ToolRequestMessage>, Problem> {
        actions(&Field {
            key: "actions".into(),
            value: text.into(),
            line: 4,
            value_line: 5,
        })
    }

    #[test]
    fn calls_arguments_and_words() {
        let made =
            read("calculator {\"expr\": \"{2} * 3\"} -- I multiply.\nincr & incr\n-- I give up.")
                .unwrap();
        let shown = |step: usize| -> Vec<String> {
            let calls = made[step].tool_calls.iter();
            calls.map(|call| call.function.to_string()).collect()
        };
        assert_eq!(shown(0), ["calculator(expr='{2} * 3')"]);
        assert_eq!(made[0].body.content_or_empty(), "I multiply.");
        assert_eq!(shown(1), ["incr()", "incr()"]);
        assert!(shown(2).is_empty());
        assert_eq!(made[2].body.content_or_empty(), "I give up.");
        assert_eq!(made[1].tool_calls[1].id, call_id(1, 1));
    }

    #[test]
    fn faults_name_their_line() {
        for (text, line, part) in [
            ("incr\n{\"a\": 1}", 6, "name of a tool"),
            ("incr {\"a\": 1", 5, "closing"),
            ("incr {\"a\" 1}", 5, "not JSON"),
            ("incr\n\nincr incr", 7, "expected \"&\""),
        ] {
            let problem = read(text).unwrap_err();
            assert_eq!(problem.line, line, "{problem}");
            assert!(problem.message.contains(part), "{problem}");
        }
    }
}
