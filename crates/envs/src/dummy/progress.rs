//! The state of the dummy environment and similar ones: messages, reward, and whether the episode is over.

use volary_core::json::{Json, Object, Text};
use volary_core::message::{Body, ToolRequestMessage, ToolResponseMessage};
use volary_core::{Frame, Step, ToolSet};

use crate::tool_environment::answered;

/// The messages so far, and the state of the story. Reward and end are kept until a reset.
#[derive(Clone, Debug, Default, PartialEq)]
pub struct Progress {
    contents: Vec<Json>,
    /// The reward of every step.
    pub reward: f64,
    /// Whether the episode is over.
    pub done: bool,
}

impl Progress {
    /// The state after a reset.
    pub fn new(opening: Text) -> Self {
        Progress {
            contents: vec![Json::Text(opening)],
            ..Progress::default()
        }
    }

    /// Adds the replies to an action, and returns the step. An action without calls is answered
    /// by a message about that.
    pub fn step(
        &mut self,
        action: &ToolRequestMessage,
        mut replies: Vec<ToolResponseMessage>,
    ) -> Step {
        if replies.is_empty() {
            let text = format!("No tool calls input in tool request {action}.");
            replies.push(ToolResponseMessage {
                body: Body::text(text),
                name: Text::default(),
                tool_call_id: Text::default(),
            });
        }
        let contents = replies
            .iter()
            .map(|reply| reply.body.content.clone().into());
        self.contents.extend(contents);
        answered(replies, self.reward, self.done)
    }

    /// The frame of aviary's `DummyEnv`.
    pub fn frame<S>(&self, tools: &ToolSet<S>) -> Frame {
        let names = tools.names().cloned().map(Json::Text).collect();
        Frame::new(
            Object::from_distinct(vec![("messages".into(), Json::List(self.contents.clone()))]),
            Object::from_distinct(vec![
                ("tool_names".into(), Json::List(names)),
                ("done".into(), self.done.into()),
                ("reward".into(), self.reward.into()),
            ]),
        )
    }
}
