//! Episodes as OpenAI-style messages, out: one line an episode, `{"messages": [...], "tools": [...]}`,
//! as chat APIs take them and fine-tuning files hold them.

use volary_core::json::{Json, Key, Object};
use volary_core::tool::wire::ToolDumpOptions;
use volary_core::{AnyMessage, object};

use crate::episode::{Episode, Outcome, StepRecord};
use crate::export::parts::dumped;

/// The lines of the episodes, each with its line break.
pub fn to_text<'a>(episodes: impl IntoIterator<Item = &'a Episode>) -> String {
    let mut text = String::new();
    for episode in episodes {
        Json::Object(line(episode)).write_python_text(&mut text);
        text.push('\n');
    }
    text
}

/// One episode: its messages in order, and its tools if it has any.
pub fn line(episode: &Episode) -> Object {
    let mut messages: Vec<Json> = episode.start.iter().map(message).collect();
    for step in &episode.steps {
        messages.push(message(&step.action));
        messages.extend(observed(step));
    }
    let mut line = object!({ "messages": messages });
    if !episode.tools.is_empty() {
        let tools = episode.tools.iter();
        let tools: Vec<Object> = tools.map(|tool| tool.dump(ToolDumpOptions::WIRE)).collect();
        line.insert("tools", tools);
    }
    line
}

/// A failed step leaves each of its calls answered by the failure: chat APIs refuse calls without
/// an answer.
fn observed(step: &StepRecord) -> Vec<Json> {
    match (&step.outcome, &step.action) {
        (Outcome::Observed { messages, .. }, _) => messages.iter().map(message).collect(),
        (Outcome::Failed { message }, AnyMessage::Request(request)) => {
            let calls = request.tool_calls.iter();
            calls
                .map(|call| {
                    Json::Object(object!({
                        "role": "tool",
                        "content": (message.clone()),
                        "name": (call.function.name.clone()),
                        "tool_call_id": (call.id.clone())
                    }))
                })
                .collect()
        }
        (Outcome::Failed { .. }, _) => Vec::new(),
    }
}

fn message(message: &AnyMessage) -> Json {
    let exclude: &[&str] = match message {
        // Refused by chat APIs: an empty list.
        AnyMessage::Request(request) if request.tool_calls.is_empty() => {
            &["function_call", "tool_calls"]
        }
        _ => &["function_call"],
    };
    let dumped = dumped(message, exclude);
    dumped
        .unwrap_or_else(|| {
            Object::from_distinct(vec![(Key::from("role"), message.role().as_str().into())])
        })
        .into()
}

#[cfg(test)]
mod tests {
    use super::*;
    use volary_core::message::Body;
    use volary_core::tool::ToolCallFunction;
    use volary_core::{
        FunctionInfo, Message, Parameters, Tool, ToolCall, ToolRequestMessage, ToolResponseMessage,
    };

    #[test]
    fn a_line_is_what_chat_apis_take() {
        let action = ToolRequestMessage {
            body: Body::default(),
            tool_calls: vec![ToolCall {
                id: "c1".into(),
                function: ToolCallFunction {
                    name: "add".into(),
                    arguments: object!({ "x": 1.5 }),
                },
            }],
        };
        let answer = ToolResponseMessage {
            body: Body::text("2"),
            name: "add".into(),
            tool_call_id: "c1".into(),
        };
        let step = |outcome| StepRecord {
            action: action.clone().into(),
            outcome,
            seconds: None,
            details: Default::default(),
            extras: Object::new(),
        };
        let episode = Episode {
            tools: vec![Tool {
                info: FunctionInfo {
                    name: "add".into(),
                    description: "Adds.".into(),
                    parameters: Some(Parameters::default()),
                },
                concurrency_safe: true,
            }],
            start: vec![Message::user("Hi").into()],
            steps: vec![
                step(Outcome::Observed {
                    messages: vec![answer.into()],
                    reward: 0.0,
                    done: false,
                    truncated: false,
                }),
                step(Outcome::Failed {
                    message: "broken".into(),
                }),
            ],
            ..Episode::default()
        };
        let call = r#"{"role": "assistant", "content": null, "tool_calls": [{"id": "c1", "type": "function", "function": {"arguments": "{\"x\": 1.5}", "name": "add"}}]}"#;
        let answer = |text| {
            format!(
                r#"{{"role": "tool", "content": "{text}", "name": "add", "tool_call_id": "c1"}}"#
            )
        };
        let tool = r#"{"type": "function", "function": {"name": "add", "description": "Adds.", "parameters": {"type": "object", "properties": {}, "required": []}}}"#;
        let expected = format!(
            r#"{{"messages": [{{"role": "user", "content": "Hi"}}, {call}, {}, {call}, {}], "tools": [{tool}]}}"#,
            answer("2"),
            answer("broken"),
        );
        assert_eq!(to_text([&episode]), expected + "\n");
    }
}
