//! Tools that can run: a definition with its handler, typed by the state that it works on.

use std::borrow::Cow;
use std::cell::RefCell;
use std::rc::Rc;
use std::sync::Arc;

use futures_util::future::LocalBoxFuture;

use super::Tool;
use crate::clock::Clock;
use crate::json::{Json, Object, Text};
use crate::message::{Body, Message};

/// What a handler gets besides the arguments.
pub struct CallContext<'a, S> {
    /// The state of the environment. Borrowed for the time of a synchronous tool; an async tool
    /// must not hold a borrow over an await.
    pub state: &'a RefCell<S>,
    /// The id of the call.
    pub tool_call_id: &'a Text,
    /// Time.
    pub clock: &'a dyn Clock,
}

impl<S> Clone for CallContext<'_, S> {
    fn clone(&self) -> Self {
        *self
    }
}

impl<S> Copy for CallContext<'_, S> {}

/// What a tool gives back.
#[derive(Clone, Debug, PartialEq)]
pub enum ToolValue {
    /// A text: becomes the content as it is.
    Text(Text),
    /// A JSON value, null included: becomes its JSON text, flagged.
    Json(Json),
    /// A record (a model in aviary): becomes compact JSON without nulls, flagged.
    Record(Object),
    /// A message: its stored content and flag; a message without content fails.
    Message(Message),
}

/// What a tool gives: a value, or why it failed.
pub type ToolResult = Result<ToolValue, ToolError>;

/// A failed call, with the name of the class under which aviary reports it.
#[derive(Clone, Debug, PartialEq)]
pub struct ToolError {
    /// Such as `ValueError`. Replies show `Class('text')`.
    pub class: Cow<'static, str>,
    /// What went wrong. `None` for exceptions without arguments (`TimeoutError()`).
    pub text: Option<Text>,
    /// The parts of a group of failures; empty otherwise.
    pub parts: Vec<ToolError>,
}

/// Runs a call at once.
pub type SyncHandler<S> = Rc<dyn Fn(CallContext<'_, S>, Object) -> ToolResult>;

/// Runs a call over time.
pub type AsyncHandler<S> =
    Rc<dyn for<'a> Fn(CallContext<'a, S>, Object) -> LocalBoxFuture<'a, ToolResult>>;

/// How a tool runs.
pub enum Handler<S> {
    /// At once; several run in call order.
    Sync(SyncHandler<S>),
    /// Over time.
    Async(AsyncHandler<S>),
}

impl<S> Clone for Handler<S> {
    fn clone(&self) -> Self {
        match self {
            Handler::Sync(handler) => Handler::Sync(Rc::clone(handler)),
            Handler::Async(handler) => Handler::Async(Rc::clone(handler)),
        }
    }
}

/// A tool with its handler.
pub struct BoundTool<S> {
    /// The definition.
    pub tool: Arc<Tool>,
    /// How it runs.
    pub handler: Handler<S>,
}

impl<S> Clone for BoundTool<S> {
    fn clone(&self) -> Self {
        BoundTool {
            tool: Arc::clone(&self.tool),
            handler: self.handler.clone(),
        }
    }
}

/// The tools of an environment, in order. Cloning is cheap; the first of equal names wins.
pub struct ToolSet<S> {
    tools: Rc<[BoundTool<S>]>,
}

impl<S> Clone for ToolSet<S> {
    fn clone(&self) -> Self {
        ToolSet {
            tools: Rc::clone(&self.tools),
        }
    }
}

impl<S> ToolSet<S> {
    /// A set of tools.
    pub fn new(tools: impl IntoIterator<Item = BoundTool<S>>) -> Self {
        ToolSet {
            tools: tools.into_iter().collect(),
        }
    }

    /// The tool of exactly this name.
    pub fn get(&self, name: &str) -> Option<&BoundTool<S>> {
        self.iter().find(|bound| &*bound.tool.info.name == name)
    }

    /// The tools in order.
    pub fn iter(&self) -> std::slice::Iter<'_, BoundTool<S>> {
        self.tools.iter()
    }

    /// The names in order.
    pub fn names(&self) -> impl Iterator<Item = &Text> {
        self.iter().map(|bound| &bound.tool.info.name)
    }

    /// The definitions in order, as `reset` gives them.
    pub fn definitions(&self) -> Vec<Arc<Tool>> {
        self.iter().map(|bound| Arc::clone(&bound.tool)).collect()
    }
}

impl ToolError {
    /// A failure of a class, with its text.
    pub fn new(class: impl Into<Cow<'static, str>>, text: impl Into<Text>) -> Self {
        ToolError {
            class: class.into(),
            text: Some(text.into()),
            parts: Vec::new(),
        }
    }

    /// A bad value.
    pub fn value(text: impl Into<Text>) -> Self {
        ToolError::new("ValueError", text)
    }

    /// Arguments that the tool does not take.
    pub fn arguments(text: impl Into<Text>) -> Self {
        ToolError::new("TypeError", text)
    }

    /// Anything that went wrong while running.
    pub fn runtime(text: impl Into<Text>) -> Self {
        ToolError::new("RuntimeError", text)
    }

    /// The time limit was over.
    pub fn timeout() -> Self {
        ToolError {
            class: "TimeoutError".into(),
            text: None,
            parts: Vec::new(),
        }
    }
}

impl ToolValue {
    /// The content that the value becomes in a response; fails for a message without content.
    pub fn into_body(self) -> Result<Body, ToolError> {
        match self {
            ToolValue::Text(text) => Ok(Body::text(text)),
            ToolValue::Json(value) => Ok(Body::json(&value)),
            ToolValue::Record(record) => Ok(Body {
                content: Some(Json::Object(record).to_compact_text_without_nulls().into()),
                content_is_json_str: true,
                ..Body::default()
            }),
            ToolValue::Message(message) if message.body.content.is_none() => Err(
                ToolError::value("A tool returned a message without content."),
            ),
            ToolValue::Message(message) => Ok(Body {
                content: message.body.content,
                content_is_json_str: message.body.content_is_json_str,
                ..Body::default()
            }),
        }
    }
}
