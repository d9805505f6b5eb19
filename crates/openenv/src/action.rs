//! An action: a list of the tools, one call, or a message with any number of calls.

use volary_core::fields::{self, FieldError};
use volary_core::json::{Json, Object, Text};
use volary_core::message::{Body, ToolRequestMessage};
use volary_core::tool::{ToolCall, ToolCallFunction};
use volary_core::{AnyMessage, object};

/// What the data of a step ask for.
#[derive(Clone, Debug, PartialEq)]
pub enum Action {
    /// OpenEnv's `list_tools`, which is no step of the episode.
    ListTools,
    /// OpenEnv's `call_tool`: one call.
    Call(ToolCallFunction),
    /// A message of an agent: text, and any number of calls.
    Message {
        content: Option<Text>,
        /// The calls; those without an id get one.
        calls: Vec<(Option<Text>, ToolCallFunction)>,
    },
}

impl Action {
    /// Reads an action. `type` may be missing where the other members tell it.
    pub fn read(data: &Object) -> Result<Action, FieldError> {
        let kind = match data.get("type") {
            Some(kind) => fields::text("type", kind)?,
            None if data.contains_key("tool_name") || data.contains_key("name") => {
                "call_tool".into()
            }
            None if data.contains_key("content") || data.contains_key("tool_calls") => {
                "message".into()
            }
            None => {
                let reason = "an action needs tool_name and arguments, or tool_calls";
                return Err(FieldError::new("data", reason));
            }
        };
        match &*kind {
            "list_tools" => {
                only(data, &[])?;
                Ok(Action::ListTools)
            }
            "call_tool" => {
                only(data, &["tool_name", "name", "arguments"])?;
                function(data).map(Action::Call)
            }
            "message" => {
                only(data, &["role", "content", "tool_calls"])?;
                message(data)
            }
            unknown => Err(FieldError::new(
                "type",
                format!("{unknown} is unknown; known are call_tool, message, list_tools"),
            )),
        }
    }

    /// The message for the environment; `None` for a list of tools. `step` makes the ids of calls distinct.
    pub fn into_message(self, step: u64) -> Option<AnyMessage> {
        let with_id = |place: usize, id: Option<Text>, function| ToolCall {
            id: id.unwrap_or_else(|| format!("call-{step}-{place}").into()),
            function,
        };
        let message = match self {
            Action::ListTools => return None,
            Action::Call(function) => ToolRequestMessage {
                body: Body::default(),
                tool_calls: vec![with_id(0, None, function)],
            },
            Action::Message { content, calls } => ToolRequestMessage {
                body: Body {
                    content,
                    ..Body::default()
                },
                tool_calls: calls
                    .into_iter()
                    .enumerate()
                    .map(|(place, (id, function))| with_id(place, id, function))
                    .collect(),
            },
        };
        Some(message.into())
    }
}

/// Fails for members other than these: a misspelt one would be ignored silently.
fn only(data: &Object, known: &[&str]) -> Result<(), FieldError> {
    let is_known = |key: &str| matches!(key, "type" | "metadata") || known.contains(&key);
    match data.keys().find(|key| !is_known(key)) {
        Some(unknown) => Err(FieldError::new(&**unknown, "is unknown in this action")),
        None => Ok(()),
    }
}

/// A function and its arguments, which may be missing, an object, or the text of one.
fn function(data: &Object) -> Result<ToolCallFunction, FieldError> {
    let name = data.get("tool_name").or_else(|| data.get("name"));
    let name = name.ok_or_else(|| FieldError::new("tool_name", "is required"))?;
    let name = fields::text("tool_name", name)?;
    let arguments = data.get("arguments").cloned().unwrap_or_default();
    let function = object!({"name": name, "arguments": arguments});
    ToolCallFunction::read(&Json::Object(function))
}

fn message(data: &Object) -> Result<Action, FieldError> {
    if let Some(role) = data.get("role") {
        fields::constant("role", role, "assistant")?;
    }
    let content = match data.get("content") {
        None | Some(Json::Null) => None,
        Some(content) => Some(fields::text("content", content)?),
    };
    let calls = match data.get("tool_calls") {
        None | Some(Json::Null) => Vec::new(),
        Some(calls) => fields::list("tool_calls", calls)?
            .iter()
            .enumerate()
            .map(|(place, call)| {
                call_of(call).map_err(|error| error.within(&format!("tool_calls[{place}]")))
            })
            .collect::<Result<_, _>>()?,
    };
    Ok(Action::Message { content, calls })
}

/// One of several calls: `{"tool_name", "arguments"}`, or OpenAI's form with `function`.
fn call_of(call: &Json) -> Result<(Option<Text>, ToolCallFunction), FieldError> {
    let call = fields::object("", call)?;
    let id = match call.get("id") {
        None | Some(Json::Null) => None,
        Some(id) => Some(fields::text("id", id)?),
    };
    let read = match call.get("function") {
        Some(inner) => {
            let inner = fields::object("function", inner)?;
            function(inner).map_err(|error| error.within("function"))?
        }
        None => function(call)?,
    };
    Ok((id, read))
}

#[cfg(test)]
mod tests {
    use super::*;

    fn calls(data: Object) -> Vec<(String, String)> {
        match Action::read(&data).unwrap().into_message(7) {
            Some(AnyMessage::Request(message)) => message
                .tool_calls
                .iter()
                .map(|call| (call.id.to_string(), call.to_string()))
                .collect(),
            other => panic!("no request: {other:?}"),
        }
    }

    fn one(id: &str, call: &str) -> Vec<(String, String)> {
        vec![(id.to_owned(), call.to_owned())]
    }

    #[test]
    fn calls_in_every_form() {
        for data in [
            object!({"type": "call_tool", "tool_name": "add", "arguments": {"a": 1}, "metadata": {}}),
            object!({"tool_name": "add", "arguments": {"a": 1}}),
            object!({"name": "add", "arguments": "{\"a\": 1}"}),
            object!({"type": "message", "tool_calls": [{"tool_name": "add", "arguments": {"a": 1}}]}),
        ] {
            assert_eq!(calls(data), one("call-7-0", "add(a='1')"));
        }
        let openai = object!({
            "role": "assistant",
            "content": null,
            "tool_calls": [{
                "id": "x",
                "type": "function",
                "function": {"name": "add", "arguments": "{\"a\": 1}"}
            }]
        });
        assert_eq!(calls(openai), one("x", "add(a='1')"));
        assert_eq!(
            calls(object!({"tool_name": "incr"})),
            one("call-7-0", "incr()")
        );
        assert_eq!(calls(object!({"content": "I give up."})), []);
        let list = Action::read(&object!({"type": "list_tools"})).unwrap();
        assert_eq!(list.into_message(0), None);
    }

    #[test]
    fn actions_that_do_not_fit_are_named() {
        for (data, path) in [
            (object!({}), "data"),
            (object!({"type": "jump"}), "type"),
            (object!({"type": "call_tool"}), "tool_name"),
            (object!({"tool_name": "a", "argument": {}}), "argument"),
            (object!({"tool_name": "a", "arguments": []}), "arguments"),
            (
                object!({"tool_calls": [{"id": 1, "name": "a"}]}),
                "tool_calls[0].id",
            ),
            (object!({"role": "user", "content": "hi"}), "role"),
        ] {
            let read = Action::read(&data).map_err(|error| error.path);
            assert_eq!(read, Err(path.to_owned()), "{data:?}");
        }
    }
}
