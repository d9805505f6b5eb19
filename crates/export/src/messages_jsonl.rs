//! Writes episodes as OpenAI-style messages: one line per episode, `{"messages": [...], "tools": [...]}`, as accepted
//! by chat APIs and fine-tuning files. [`chat_rules`](crate::chat_rules) says what they refuse nevertheless.

use std::borrow::Cow;

use volary_core::json::{Json, Key, Object};
use volary_core::message::Body;
use volary_core::tool::wire::ToolDumpOptions;
use volary_core::{AnyMessage, object};
use volary_episode::episode::{Episode, Outcome, StepRecord};

use crate::chat_rules;
use crate::parts::dumped;

/// The lines of the episodes, each with a trailing line break.
pub fn to_text<'a>(episodes: impl IntoIterator<Item = &'a Episode>) -> String {
    let mut text = String::new();
    for episode in episodes {
        Json::Object(accepted_line(episode)).write_python_text(&mut text);
        text.push('\n');
    }
    text
}

/// One episode as chat APIs accept it, as far as that is possible without a loss.
pub fn accepted_line(episode: &Episode) -> Object {
    let mut line = line(episode);
    chat_rules::repair(&mut line);
    line
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

/// The results of a step. If it failed, each of its calls is answered by the failure, because chat APIs reject calls
/// without a response.
pub(crate) fn observed(step: &StepRecord) -> Vec<Json> {
    match (&step.outcome, &step.action) {
        (Outcome::Observed { messages, .. }, _) => {
            let answers = messages.iter();
            let answers = answers.filter(|message| matches!(message, AnyMessage::Response(_)));
            let is_only = answers.count() == 1;
            let said = |message: &AnyMessage| self::message(&with_error(message, step, is_only));
            messages.iter().map(said).collect()
        }
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

/// Uses the error as the content of a failed tool's empty response. An error without a call belongs to the only
/// response.
fn with_error<'a>(
    message: &'a AnyMessage,
    step: &StepRecord,
    is_only: bool,
) -> Cow<'a, AnyMessage> {
    let AnyMessage::Response(response) = message else {
        return Cow::Borrowed(message);
    };
    let says_nothing = response.body.content.as_deref().is_none_or(str::is_empty);
    let errors = &mut step.details.errors.iter();
    let error = errors.find(|error| match &error.call {
        Some(call) => *call == response.tool_call_id,
        None => is_only,
    });
    match error {
        Some(error) if says_nothing => {
            let mut response = response.clone();
            response.body = Body::text(error.message.clone());
            Cow::Owned(AnyMessage::Response(response))
        }
        _ => Cow::Borrowed(message),
    }
}

/// A message in the form of chat APIs.
pub(crate) fn message(message: &AnyMessage) -> Json {
    let exclude: &[&str] = match message {
        // Chat APIs reject an empty list of calls.
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
    use volary_core::tool::ToolCallFunction;
    use volary_core::{
        FunctionInfo, Message, Parameters, Tool, ToolCall, ToolRequestMessage, ToolResponseMessage,
    };
    use volary_episode::episode::StepError;

    use super::*;

    #[test]
    fn the_error_of_a_tool_is_what_it_answers() {
        let answer = |id: &str, text: &str| {
            AnyMessage::Response(ToolResponseMessage {
                body: Body::text(text),
                name: "run".into(),
                tool_call_id: id.into(),
            })
        };
        let error = |call: Option<&str>| StepError {
            call: call.map(Into::into),
            message: "It timed out.".into(),
        };
        let contents = |answers: Vec<AnyMessage>, error: StepError| {
            let mut step = StepRecord::new(
                Message::user("act").into(),
                Outcome::Observed {
                    messages: answers,
                    reward: 0.0,
                    done: false,
                    truncated: false,
                },
            );
            step.details.errors.push(error);
            let content = |message: &Json| message.get("content").cloned();
            observed(&step)
                .iter()
                .filter_map(content)
                .collect::<Vec<_>>()
        };
        let two = || vec![answer("a", ""), answer("b", "")];
        assert_eq!(
            contents(two(), error(Some("b"))),
            ["".into(), "It timed out.".into()]
        );
        assert_eq!(contents(two(), error(None)), ["".into(), "".into()]);
        assert_eq!(
            contents(vec![answer("a", "")], error(None)),
            ["It timed out.".into()]
        );
        let said = contents(vec![answer("a", "exit 1")], error(Some("a")));
        assert_eq!(said, ["exit 1".into()]);
    }

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
        let call = |id| {
            format!(
                r#"{{"role": "assistant", "content": null, "tool_calls": [{{"id": "{id}", "type": "function", "function": {{"arguments": "{{\"x\": 1.5}}", "name": "add"}}}}]}}"#
            )
        };
        let answer = |id, text| {
            format!(
                r#"{{"role": "tool", "content": "{text}", "name": "add", "tool_call_id": "{id}"}}"#
            )
        };
        let tool = r#"{"type": "function", "function": {"name": "add", "description": "Adds.", "parameters": {"type": "object", "properties": {}, "required": []}}}"#;
        let expected = format!(
            r#"{{"messages": [{{"role": "user", "content": "Hi"}}, {}, {}, {}, {}], "tools": [{tool}]}}"#,
            call("c1"),
            answer("c1", "2"),
            call("c1-2"),
            answer("c1-2", "broken"),
        );
        assert_eq!(to_text([&episode]), expected + "\n");
    }
}
