//! A policy that follows a script, and the form of scripts that people edit.
//!
//! A script is a JSON list of actions. An action is a call `{"name": ..., "arguments": {...}}`, a list of such
//! calls, or a whole message of the native format. Instead of a list, a script may contain one action per
//! line.

use futures_util::future::LocalBoxFuture;
use volary_core::json::read::ReadProblem;
use volary_core::json::{Json, Object, Text};
use volary_core::message::Body;
use volary_core::tool::ToolCallFunction;
use volary_core::{AnyMessage, ToolCall, ToolRequestMessage, json};
use volary_episode::call_id;
use volary_episode::native::{message_from_json, message_to_json};

use crate::policy::{Decision, Policy, PolicyError, PolicyInput};

/// Takes the actions of a script: the n-th in step n, even if others took the steps before.
#[derive(Clone, Debug, Default, PartialEq)]
pub struct Scripted {
    actions: Vec<ToolRequestMessage>,
}

/// Why a text is not a valid script.
#[derive(Clone, Debug, PartialEq, thiserror::Error)]
#[non_exhaustive]
pub enum ScriptError {
    /// It is not JSON.
    #[error("Line {line}, column {column}: {problem}.")]
    NotJson {
        /// The line, from 1.
        line: usize,
        /// The column, from 1.
        column: usize,
        /// The syntax error.
        problem: ReadProblem,
    },
    /// An action is invalid.
    #[error("Action {action}: {reason}.")]
    Action {
        /// The number of the action, from 1.
        action: usize,
        reason: String,
    },
}

impl Scripted {
    /// A policy that takes the given actions.
    pub fn new(actions: Vec<ToolRequestMessage>) -> Self {
        Scripted { actions }
    }

    /// Parses a script.
    pub fn parse(text: &str) -> Result<Self, ScriptError> {
        let actions = match Json::parse(text) {
            _ if text.trim().is_empty() => Vec::new(),
            Ok(Json::List(actions)) => actions,
            Ok(action) => vec![action],
            Err(error) if error.problem == ReadProblem::ExtraData => lines(text)?,
            Err(error) => {
                return Err(ScriptError::NotJson {
                    line: error.line,
                    column: error.column,
                    problem: error.problem,
                });
            }
        };
        let actions = actions.iter().enumerate();
        let actions = actions.map(|(step, value)| {
            action(step, value).map_err(|reason| ScriptError::Action {
                action: step + 1,
                reason,
            })
        });
        Ok(Scripted::new(actions.collect::<Result<_, _>>()?))
    }

    /// The actions in order.
    pub fn actions(&self) -> &[ToolRequestMessage] {
        &self.actions
    }

    /// The script as editable text, one action per line.
    pub fn to_text(&self) -> String {
        let lines: Vec<String> = self.actions.iter().enumerate().map(line).collect();
        if lines.is_empty() {
            "[]".to_owned()
        } else {
            format!("[\n  {}\n]", lines.join(",\n  "))
        }
    }
}

impl Policy for Scripted {
    fn name(&self) -> Text {
        "scripted".into()
    }

    fn act<'a>(
        &'a mut self,
        input: PolicyInput<'a>,
    ) -> LocalBoxFuture<'a, Result<Decision, PolicyError>> {
        let decision = match self.actions.get(input.episode.steps.len()) {
            Some(action) => Decision::Act(action.clone()),
            None => Decision::End {
                reason: "The script has ended.".into(),
            },
        };
        Box::pin(std::future::ready(Ok(decision)))
    }
}

fn lines(text: &str) -> Result<Vec<Json>, ScriptError> {
    let lines = text.lines().enumerate();
    lines
        .filter(|(_, line)| !line.trim().is_empty())
        .map(|(index, line)| {
            Json::parse(line).map_err(|error| ScriptError::NotJson {
                line: index + 1,
                column: error.column,
                problem: error.problem,
            })
        })
        .collect()
}

fn action(step: usize, value: &Json) -> Result<ToolRequestMessage, String> {
    if value.get("role").is_some() {
        return match message_from_json(value)
            .map_err(|error| error.to_string().trim_end_matches('.').to_owned())?
        {
            AnyMessage::Request(request) => Ok(request),
            _ => Err("a message must be of role \"assistant\" and have \"tool_calls\"".to_owned()),
        };
    }
    let calls = match value {
        Json::List(calls) => calls.as_slice(),
        one => std::slice::from_ref(one),
    };
    let calls = calls.iter().enumerate();
    let tool_calls = calls.map(|(index, value)| {
        call(step, index, value).map_err(|reason| format!("call {}: {reason}", index + 1))
    });
    Ok(ToolRequestMessage {
        body: Body::default(),
        tool_calls: tool_calls.collect::<Result<_, _>>()?,
    })
}

fn call(step: usize, index: usize, value: &Json) -> Result<ToolCall, String> {
    let object = value
        .as_object()
        .ok_or("must be an object such as {\"name\": \"calculator\", \"arguments\": {}}")?;
    if let Some(other) = object
        .keys()
        .find(|key| !["name", "arguments", "id"].contains(&key.as_ref()))
    {
        return Err(format!(
            "unknown key {other:?}; expected \"name\", \"arguments\" or \"id\""
        ));
    }
    let name = object.get("name").ok_or("lacks \"name\"")?;
    let arguments = match object.get("arguments") {
        None | Some(Json::Null) => Object::new(),
        Some(Json::Object(arguments)) => arguments.clone(),
        Some(_) => return Err("\"arguments\" must be an object".to_owned()),
    };
    let id = match object.get("id") {
        None | Some(Json::Null) => call_id(step, index),
        Some(id) => id.as_text().cloned().ok_or("\"id\" must be a string")?,
    };
    Ok(ToolCall {
        id,
        function: ToolCallFunction {
            name: name.as_text().cloned().ok_or("\"name\" must be a string")?,
            arguments,
        },
    })
}

fn line((step, action): (usize, &ToolRequestMessage)) -> String {
    if action.body != Body::default() {
        return message_to_json(&action.clone().into()).to_python_text();
    }
    let calls = action.tool_calls.iter().enumerate();
    let mut calls: Vec<Json> = calls
        .map(|(index, call)| {
            let mut short = json!({
                "name": (call.function.name.clone()),
                "arguments": (call.function.arguments.clone())
            });
            if let Json::Object(short) = &mut short
                && call.id != call_id(step, index)
            {
                short.insert("id", call.id.clone());
            }
            short
        })
        .collect();
    let value = match calls.len() {
        1 => calls.remove(0),
        _ => Json::List(calls),
    };
    value.to_python_text()
}
