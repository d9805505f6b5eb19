//! A domain: tools on a database, a policy, and tasks.

use std::sync::Arc;

use volary_core::json::Text;
use volary_core::{Json, Object, Tool, json};

use super::database::Database;
use super::tool::TauTool;

/// The name of the action that says something to the customer.
pub const RESPOND: &str = "respond";

/// The reply of a customer that needs nothing more.
pub const STOP: &str = "###STOP###";

/// A domain.
#[derive(Clone)]
pub struct Domain {
    /// Its name.
    pub name: &'static str,
    /// The tools, in the order in which a model sees them.
    pub tools: &'static [TauTool],
    /// The descriptions of the tools for a model, in the same order.
    pub definitions: Vec<Arc<Tool>>,
    /// The data that every episode begins with.
    pub database: Arc<Database>,
    /// What the agent has to keep to: the system prompt.
    pub policy: Text,
    /// The tasks.
    pub tasks: Vec<Task>,
}

/// A task: what a customer wants, and what a right agent does to the data and says.
#[derive(Clone, Debug, Default, PartialEq)]
pub struct Task {
    /// The customer's id in the data.
    pub user_id: Text,
    /// What the customer knows and wants. Never shown to the agent.
    pub instruction: Text,
    /// One way to do it right; the data that it leaves are the right ones.
    pub actions: Vec<Action>,
    /// What the agent has to have said.
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
    /// The tool of a name.
    pub fn tool(&self, name: &str) -> Option<&'static TauTool> {
        self.tools.iter().find(|tool| tool.name == name)
    }
}

impl Action {
    /// An action that says something to the customer.
    pub fn respond(content: impl Into<Json>) -> Self {
        Action {
            name: RESPOND.into(),
            kwargs: Object::from_distinct(vec![("content".into(), content.into())]),
        }
    }

    /// The action as files have it.
    pub fn to_json(&self) -> Json {
        json!({"name": (self.name.clone()), "kwargs": (self.kwargs.clone())})
    }
}
