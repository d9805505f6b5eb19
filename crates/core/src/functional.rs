//! Environments made of functions: a start function that gives the first observation and some
//! state, and tools that work on that state.
//!
//! What always holds: tool failures are answered, never raised, and calls run one after the other
//! unless concurrency is allowed.

use std::cell::RefCell;
use std::rc::Rc;

use futures_util::future::LocalBoxFuture;

use crate::clock::Clock;
use crate::environment::{Environment, EnvironmentError, Reset, Setting, Step, no_tool_calls};
use crate::exec::{ExecOptions, exec_tool_calls};
use crate::frame::Frame;
use crate::json::{Json, Object, Text};
use crate::message::{AnyMessage, Message};
use crate::object;
use crate::tool::{BoundTool, ToolSet};

/// What the tools of a functional environment work on.
#[derive(Clone, Debug, Default, PartialEq)]
pub struct FunctionalState {
    /// The reward, as every step gives it until a tool changes it.
    pub reward: f64,
    /// Whether the episode is over.
    pub done: bool,
    /// What the start function gave, and tools change.
    pub extras: Object,
}

/// The first observation and the extras of the state, from the configuration.
pub type Start = Rc<dyn Fn(&Object) -> Result<(Text, Object), EnvironmentError>>;

/// Two tools of one name.
#[derive(Clone, Debug, PartialEq, Eq, thiserror::Error)]
#[error("Tool with name '{name}' already exists")]
pub struct DuplicateTool {
    /// The name.
    pub name: Text,
}

/// A kind of functional environment: its start function and its tools.
#[derive(Clone)]
pub struct FunctionalBuilder {
    start: Start,
    tools: Vec<BoundTool<FunctionalState>>,
    allow_concurrency: bool,
}

impl FunctionalBuilder {
    /// From a start function: what it gets is the configuration of the environment.
    pub fn start(
        start: impl Fn(&Object) -> Result<(Text, Object), EnvironmentError> + 'static,
    ) -> Self {
        FunctionalBuilder {
            start: Rc::new(start),
            tools: Vec::new(),
            allow_concurrency: false,
        }
    }

    /// Lets the calls of an action run beside each other.
    #[must_use]
    pub fn allow_concurrency(mut self) -> Self {
        self.allow_concurrency = true;
        self
    }

    /// Adds a tool.
    ///
    /// # Errors
    ///
    /// [`DuplicateTool`] if one of its name is there.
    pub fn tool(mut self, tool: BoundTool<FunctionalState>) -> Result<Self, DuplicateTool> {
        let name = &tool.tool.info.name;
        if self.tools.iter().any(|other| other.tool.info.name == *name) {
            return Err(DuplicateTool { name: name.clone() });
        }
        self.tools.push(tool);
        Ok(self)
    }

    /// An environment of this kind.
    pub fn make(&self, configuration: Object, setting: &Setting) -> FunctionalEnvironment {
        FunctionalEnvironment {
            start: Rc::clone(&self.start),
            configuration,
            tools: ToolSet::new(self.tools.iter().cloned()),
            options: ExecOptions {
                concurrency: self.allow_concurrency,
                handle_tool_exc: true,
                ..ExecOptions::default()
            },
            clock: Rc::clone(&setting.clock),
            state: RefCell::default(),
        }
    }
}

/// An environment made by a [`FunctionalBuilder`].
pub struct FunctionalEnvironment {
    start: Start,
    configuration: Object,
    tools: ToolSet<FunctionalState>,
    options: ExecOptions,
    clock: Rc<dyn Clock>,
    state: RefCell<FunctionalState>,
}

impl FunctionalEnvironment {
    fn begin(&mut self) -> Result<Reset, EnvironmentError> {
        let (observation, extras) = (self.start)(&self.configuration)?;
        self.state = RefCell::new(FunctionalState {
            extras,
            ..FunctionalState::default()
        });
        Ok(Reset {
            messages: vec![Message::user(observation).into()],
            tools: self.tools.definitions(),
        })
    }
}

impl Environment for FunctionalEnvironment {
    fn kind(&self) -> &'static str {
        "FunctionalEnvironment"
    }

    fn reset(&mut self) -> LocalBoxFuture<'_, Result<Reset, EnvironmentError>> {
        Box::pin(std::future::ready(self.begin()))
    }

    fn step(&mut self, action: AnyMessage) -> LocalBoxFuture<'_, Result<Step, EnvironmentError>> {
        Box::pin(async move {
            let AnyMessage::Request(request) = action else {
                return Ok(no_tool_calls());
            };
            let responses = exec_tool_calls(
                &self.tools,
                &self.state,
                &request,
                &self.options,
                &*self.clock,
            )
            .await?;
            let state = self.state.borrow();
            Ok(Step {
                messages: responses.into_iter().map(AnyMessage::from).collect(),
                reward: state.reward,
                done: state.done,
                truncated: false,
            })
        })
    }

    fn export_frame(&self) -> Frame {
        let state = self.state.borrow();
        let extras = state.extras.clone();
        let names: Vec<Json> = self.tools.names().cloned().map(Json::from).collect();
        Frame::new(
            object!({"done": (state.done), "reward": (state.reward), "extras": extras}),
            object!({"tool_names": names}),
        )
    }
}
