//! Actions that the user makes by hand.

use volary_core::json::Text;
use volary_core::message::Body;
use volary_core::{AnyMessage, ToolCall, ToolRequestMessage};
use volary_episode::{Episode, call_id};

/// Builds an action from calls and a message, after `steps` steps. Call ids follow from the step and the place of the
/// call, so that the same actions make the same episode.
pub fn action(steps: usize, mut tool_calls: Vec<ToolCall>, message: &str) -> ToolRequestMessage {
    for (place, call) in tool_calls.iter_mut().enumerate() {
        call.id = call_id(steps, place);
    }
    let body = match message.trim() {
        "" => Body::default(),
        message => Body::text(message.to_owned()),
    };
    ToolRequestMessage { body, tool_calls }
}

/// An undone action that the user edits.
#[derive(Clone, Debug, PartialEq)]
pub struct TakenBack {
    /// The id of its episode.
    pub episode: Text,
    /// The number of steps before it.
    pub steps: usize,
    pub message: Option<Text>,
    pub calls: Vec<ToolCall>,
}

impl TakenBack {
    /// The last action of an episode; `None` before the first step.
    pub fn last_of(episode: &Episode) -> Option<TakenBack> {
        let action = episode.actions().last()?;
        Some(TakenBack {
            episode: episode.id.clone(),
            steps: episode.steps.len() - 1,
            message: action.body().content.clone(),
            calls: match action {
                AnyMessage::Request(request) => request.tool_calls.clone(),
                _ => Vec::new(),
            },
        })
    }

    /// Whether an episode is the one of this action, back at the step before it.
    pub fn precedes(&self, episode: &Episode) -> bool {
        self.episode == episode.id && self.steps == episode.steps.len()
    }
}

#[cfg(test)]
mod tests {
    use volary_core::{Object, object};
    use volary_episode::{Outcome, StepRecord};

    use super::*;

    fn calls() -> Vec<ToolCall> {
        vec![
            ToolCall::new("", "f", object!({"x": 1})),
            ToolCall::new("", "g", object!({})),
        ]
    }

    #[test]
    fn call_ids_follow_from_step_and_place() {
        let first = action(2, calls(), "");
        let ids = |action: &ToolRequestMessage| -> Vec<Text> {
            let calls = action.tool_calls.iter();
            calls.map(|call| call.id.clone()).collect()
        };
        assert_eq!(ids(&first), [call_id(2, 0), call_id(2, 1)]);
        assert_ne!(ids(&first), ids(&action(3, calls(), "")));
        assert_eq!(first, action(2, calls(), "  "));
    }

    #[test]
    fn the_last_action_comes_back_as_it_was_made() {
        assert_eq!(TakenBack::last_of(&Episode::default()), None);
        let taken = action(0, calls(), " Hello ");
        let mut episode = Episode::default();
        episode.steps.push(StepRecord {
            action: taken.clone().into(),
            outcome: Outcome::Failed { message: "".into() },
            seconds: None,
            details: Default::default(),
            extras: Object::new(),
        });
        let back = TakenBack::last_of(&episode).expect("an action");
        assert_eq!(back.steps, 0);
        assert_eq!(back.message.as_deref(), Some("Hello"));
        assert_eq!(back.calls, taken.tool_calls);
    }
}
