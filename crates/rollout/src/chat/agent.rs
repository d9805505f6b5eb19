//! The agents of tau-bench: their system messages, and how they read the answer.

use volary_core::json::ReadError;
use volary_core::json::text::strip;
use volary_core::{Json, Text, json, object};
use volary_tokens::{Action, ChatMessage, ChatRole};

use super::ChatReply;

/// The format instructions of act and react agents. React includes a thought.
const ACT_RULES: &str = "\n# How to answer\n\
Write one action after the label `Action:`, as a JSON object with the keys `name` and `arguments`, and nothing after it.\n\
To write to the user, take the action `respond` with the text under `content`:\n\
Action:\n{\"name\": \"respond\", \"arguments\": {\"content\": \"...\"}}\n\
The result of a tool comes as the next message and begins with `API output:`. Take one action at a time.\n";
const REACT_RULES: &str = "\n# How to answer\n\
First write what you think, in a line or two after the label `Thought:`. Then write one action after the label \
`Action:`, as a JSON object with the keys `name` and `arguments`, and nothing after it.\n\
To write to the user, take the action `respond` with the text under `content`:\n\
Thought:\nThe order is found; now I need a confirmation.\nAction:\n\
{\"name\": \"respond\", \"arguments\": {\"content\": \"...\"}}\n\
The result of a tool comes as the next message and begins with `API output:`. Take one action at a time.\n";

/// An agent of tau-bench.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub enum ChatAgent {
    /// Calls tools through the provider's API.
    #[default]
    ToolCalling,
    /// Like tool-calling, with examples after the policy.
    FewShot(Vec<Text>),
    /// Writes actions as text.
    Act,
    /// Writes a thought and an action as text.
    React,
}

/// A parsed answer.
#[derive(Clone, Debug, PartialEq)]
pub(super) struct Turn {
    /// The message in later requests.
    pub(super) sent: Json,
    /// The message as text, for tokenization.
    pub(super) said: Text,
    pub(super) action: Action,
    /// The id of the call to which the observation belongs.
    call: Option<Text>,
}

/// Why an answer is not a turn.
#[derive(Clone, Debug, PartialEq, Eq, thiserror::Error)]
pub(super) enum TurnError {
    /// The arguments of the first call are not JSON.
    #[error("the arguments of {name} are not valid JSON: {error}")]
    Json {
        /// The tool.
        name: Text,
        /// The syntax error.
        error: ReadError,
    },
    /// The arguments are JSON, but not an object.
    #[error("the arguments of {0} are not an object")]
    NoObject(Text),
}

impl ChatAgent {
    /// Whether tools are declared and called in text.
    pub fn calls_in_text(&self) -> bool {
        matches!(self, ChatAgent::Act | ChatAgent::React)
    }

    /// The system message.
    pub(super) fn system(&self, wiki: &str, tools: &[Json]) -> String {
        let rules = match self {
            ChatAgent::ToolCalling => return wiki.to_owned(),
            ChatAgent::FewShot(examples) => {
                let shown = examples.iter().enumerate();
                let shown = shown.map(|(index, text)| format!("Example {}:\n{text}", index + 1));
                let shown: Vec<String> = shown.collect();
                return format!("{wiki}\n\n{}", shown.join("\n\n"));
            }
            ChatAgent::Act => ACT_RULES,
            ChatAgent::React => REACT_RULES,
        };
        let tools = Json::List(tools.to_vec()).to_python_text();
        format!("{wiki}\n#Available tools\n{tools}{rules}")
    }

    /// Parses an answer. Of several calls only the first one counts.
    pub(super) fn turn(&self, reply: &ChatReply) -> Result<Turn, TurnError> {
        let content = reply.content.clone().unwrap_or_else(|| "".into());
        if self.calls_in_text() {
            return Ok(Turn {
                sent: json!({"role": "assistant", "content": (content.clone())}),
                action: action_of_text(&content),
                said: content,
                call: None,
            });
        }
        let Some(call) = reply.calls.first() else {
            return Ok(Turn {
                sent: json!({"role": "assistant", "content": (content.clone())}),
                action: Action::respond(content.clone()),
                said: content,
                call: None,
            });
        };
        let name = call.name.clone();
        let kwargs = match Json::parse(&call.arguments) {
            Ok(Json::Object(kwargs)) => kwargs,
            Ok(_) => return Err(TurnError::NoObject(name)),
            Err(error) => return Err(TurnError::Json { name, error }),
        };
        let function = json!({"name": (name.clone()), "arguments": (call.arguments.clone())});
        let calls = json!([{"id": (call.id.clone()), "type": "function", "function": function}]);
        let shown = Json::Object(object!({"name": name, "arguments": (kwargs.clone())}));
        let gap = if content.is_empty() { "" } else { "\n" };
        let said = format!(
            "{content}{gap}<tool_call>\n{}\n</tool_call>",
            shown.to_python_text()
        );
        Ok(Turn {
            sent: json!({
                "role": "assistant",
                "content": (reply.content.clone()),
                "tool_calls": calls
            }),
            said: said.into(),
            action: Action {
                name: call.name.clone(),
                kwargs,
            },
            call: Some(call.id.clone()),
        })
    }

    /// The observation as sent to the model, and as recorded.
    pub(super) fn observation(&self, turn: &Turn, observation: &Text) -> (Json, ChatMessage) {
        let action = &turn.action;
        if self.calls_in_text() {
            let text: Text = if action.is_respond() {
                observation.clone()
            } else {
                format!("API output: {observation}").into()
            };
            let message = ChatMessage::new(ChatRole::User, text);
            return (message.to_json(), message);
        }
        match &turn.call {
            Some(id) if !action.is_respond() => (
                json!({
                    "role": "tool",
                    "tool_call_id": (id.clone()),
                    "name": (action.name.clone()),
                    "content": (observation.clone())
                }),
                ChatMessage::tool(action.name.clone(), observation.clone()),
            ),
            _ => {
                let message = ChatMessage::new(ChatRole::User, observation.clone());
                (message.to_json(), message)
            }
        }
    }
}

/// The action after the last label, or else the text itself as an answer to the user.
fn action_of_text(content: &str) -> Action {
    let written = content
        .rsplit_once("Action:")
        .map_or(content, |(_, written)| written);
    let written = strip(written);
    let read = || {
        let value = Json::parse(written).ok()?;
        let kwargs = value.get("arguments")?.as_object()?.clone();
        let name = value.get("name")?.as_text()?.clone();
        Some(Action { name, kwargs })
    };
    read().unwrap_or_else(|| Action::respond(written))
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::chat::ChatCall;

    #[test]
    fn react_takes_the_last_action_or_says_the_text() {
        let read = |content: &str| {
            let reply = ChatReply {
                content: Some(content.into()),
                ..ChatReply::default()
            };
            ChatAgent::React.turn(&reply).map(|turn| turn.action)
        };
        let found = read("Thought:\nAction: no\nAction:\n {\"name\": \"f\", \"arguments\": {}} \n");
        assert_eq!(found.map(|action| action.name), Ok("f".into()));
        assert_eq!(read("Action: hello "), Ok(Action::respond("hello")));
        assert_eq!(read("{\"name\": 1}"), Ok(Action::respond("{\"name\": 1}")));
    }

    #[test]
    fn only_the_first_call_stays_in_the_history() {
        let call = |name: &str| ChatCall {
            id: "c".into(),
            name: name.into(),
            arguments: "{\"a\": 1}".into(),
        };
        let reply = ChatReply {
            content: None,
            calls: vec![call("f"), call("g")],
            is_cut: false,
        };
        let turn = ChatAgent::ToolCalling.turn(&reply);
        let sent = turn.as_ref().map(|turn| turn.sent.to_python_text());
        assert_eq!(sent.map(|sent| sent.matches("\"id\"").count()), Ok(1));
        assert_eq!(
            turn.map(|turn| turn.said),
            Ok("<tool_call>\n{\"name\": \"f\", \"arguments\": {\"a\": 1}}\n</tool_call>".into())
        );
    }
}
