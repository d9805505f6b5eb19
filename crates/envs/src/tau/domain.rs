//! A domain: tools on a database, a policy, and tasks.

use std::sync::Arc;

use volary_core::json::Text;
use volary_core::{Json, Object, Tool, json};

use super::database::Database;
use super::tool::TauTool;

/// The name of the action that answers the customer.
pub const RESPOND: &str = "respond";

/// The message with which a satisfied customer ends the conversation.
pub const STOP: &str = "###STOP###";

#[derive(Clone)]
pub struct Domain {
    pub name: &'static str,
    /// The tools, in the order presented to a model.
    pub tools: &'static [TauTool],
    /// The definitions of the tools for a model, in the same order.
    pub definitions: Vec<Arc<Tool>>,
    /// The initial data of every episode.
    pub database: Arc<Database>,
    /// The policy that the agent must follow: the system prompt.
    pub policy: Text,
    pub tasks: Vec<Task>,
}

/// A task: the customer's wish, and the expected changes and outputs of the agent.
#[derive(Clone, Debug, Default, PartialEq)]
pub struct Task {
    /// The customer's id in the data.
    pub user_id: Text,
    /// The customer's knowledge and wish. Never shown to the agent.
    pub instruction: Text,
    /// One correct sequence of actions, which defines the correct data.
    pub actions: Vec<Action>,
    /// The texts that the agent must mention.
    pub outputs: Vec<Text>,
}

/// An action of an agent: a call of a tool, or [`RESPOND`] with a `content`.
#[derive(Clone, Debug, Default, PartialEq)]
pub struct Action {
    /// The name of the tool.
    pub name: Text,
    /// The arguments.
    pub kwargs: Object,
}

impl Domain {
    /// The tool with this name.
    pub fn tool(&self, name: &str) -> Option<&'static TauTool> {
        self.tools.iter().find(|tool| tool.name == name)
    }
}

impl Action {
    /// An action that answers the customer.
    pub fn respond(content: impl Into<Json>) -> Self {
        Action {
            name: RESPOND.into(),
            kwargs: Object::from_distinct(vec![("content".into(), content.into())]),
        }
    }

    /// The serialized action.
    pub fn to_json(&self) -> Json {
        json!({"name": (self.name.clone()), "kwargs": (self.kwargs.clone())})
    }
}
