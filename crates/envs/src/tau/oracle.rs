//! The oracle: takes the task's own actions, then sends the required outputs.

use volary_core::json::{Object, Text};
use volary_core::message::ToolRequestMessage;
use volary_core::object;
use volary_core::view::ViewInput;

use super::domain::{RESPOND, Task};
use crate::calls::{action, exchanges};

/// The next of the task's own actions that was not taken yet, else the closing message. `None` after the end.
///
/// An action that occurs twice in the task is taken twice.
pub fn next_action(input: &ViewInput<'_>, task: &Task) -> Option<ToolRequestMessage> {
    if input.done {
        return None;
    }
    let mut taken = exchanges(input.messages);
    let mut gold = task.actions.iter();
    let next = gold.find(|action| {
        let index = taken.iter().position(|one| {
            one.tool() == &*action.name && one.call.function.arguments == action.kwargs
        });
        index.map(|index| taken.swap_remove(index)).is_none()
    });
    let (name, arguments): (Text, Object) = match next {
        Some(action) => (action.name.clone(), action.kwargs.clone()),
        None => (RESPOND.into(), object!({"content": (closing(task))})),
    };
    Some(action(input.messages, [(name, arguments)]))
}

/// A message with all required outputs.
pub fn closing(task: &Task) -> String {
    match &*task.outputs {
        [] => "That is done. Is there anything else?".to_owned(),
        outputs => format!("The answer is: {}.", outputs.join("; ")),
    }
}

#[cfg(test)]
mod tests {
    use volary_core::message::AnyMessage;
    use volary_core::{Frame, Json};

    use super::super::domain::Action;
    use super::*;

    #[test]
    fn an_action_that_is_there_twice_is_taken_twice() {
        let think = Action {
            name: "think".into(),
            kwargs: object!({"thought": "x"}),
        };
        let task = Task {
            actions: vec![think.clone(), think],
            outputs: vec!["7".into()],
            ..Task::default()
        };
        let frame = Frame::new(Object::new(), Json::Null);
        let mut messages = Vec::new();
        let mut named = Vec::new();
        for done in [false, false, false, true] {
            let next = next_action(
                &ViewInput {
                    frame: &frame,
                    messages: &messages,
                    reward: None,
                    done,
                },
                &task,
            );
            let Some(next) = next else { break };
            let call = &next.tool_calls[0].function;
            named.push(call.name.to_string());
            if *call.name == *RESPOND {
                let content = call.arguments.get("content").and_then(Json::as_text);
                assert_eq!(content.map(|text| &**text), Some("The answer is: 7."));
            }
            messages.push(AnyMessage::Request(next));
        }
        assert_eq!(named, ["think", "think", "respond"]);
    }
}
