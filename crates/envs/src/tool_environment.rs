//! Helpers for the usual structure of environments: a state, tools that work on it, and a rule for the reward.
//! [`ToolState`] is the trait of the state; [`ToolEnvironment`] makes an environment of it.

use std::cell::RefCell;

use futures_util::future::LocalBoxFuture;
use volary_core::environment::{Setting, no_tool_calls};
use volary_core::exec::{ExecOptions, exec_tool_calls};
use volary_core::json::Text;
use volary_core::message::{ToolRequestMessage, ToolResponseMessage};
use volary_core::{AnyMessage, Environment, EnvironmentError, Frame, Reset, Step, ToolSet};

/// A state that tools modify. Every reset begins with a clone of the
/// initial state, so its random numbers are repeated as well.
pub trait ToolState: Clone + 'static {
    /// The name of the kind of environment in error messages.
    const KIND: &'static str;

    /// The first observations.
    fn opening(&self) -> Vec<AnyMessage>;

    /// The result of the step, once the calls of the action are answered.
    fn step(&mut self, action: &ToolRequestMessage, replies: Vec<ToolResponseMessage>) -> Step;

    /// A snapshot of the state. Empty by default.
    fn frame(&self, tools: &ToolSet<Self>) -> Frame {
        let _ = tools;
        Frame::default()
    }

    /// The id of the task, or the reason for its absence.
    fn id(&self) -> Result<Text, Text> {
        let kind = Self::KIND;
        let reason = format!("Getting ID is not yet implemented for environment {kind}.");
        Err(reason.into())
    }
}

/// An environment with a [`ToolState`].
pub struct ToolEnvironment<S> {
    first: S,
    /// `None` before the first reset.
    state: Option<RefCell<S>>,
    tools: ToolSet<S>,
    options: ExecOptions,
    setting: Setting,
}

impl<S: ToolState> ToolEnvironment<S> {
    /// An environment with an initial state.
    pub fn new(first: S, tools: ToolSet<S>, setting: &Setting) -> Self {
        ToolEnvironment {
            first,
            state: None,
            tools,
            options: ExecOptions::default(),
            setting: setting.clone(),
        }
    }

    /// Sets the options for running calls.
    #[must_use]
    pub fn with_options(mut self, options: ExecOptions) -> Self {
        self.options = options;
        self
    }

    async fn act(&self, action: ToolRequestMessage) -> Result<Step, EnvironmentError> {
        let state = self.state.as_ref().ok_or(EnvironmentError::NotReset)?;
        let clock = &*self.setting.clock;
        let replies = exec_tool_calls(&self.tools, state, &action, &self.options, clock).await?;
        Ok(state.borrow_mut().step(&action, replies))
    }
}

impl<S: ToolState> Environment for ToolEnvironment<S> {
    fn kind(&self) -> &'static str {
        S::KIND
    }

    fn reset(&mut self) -> LocalBoxFuture<'_, Result<Reset, EnvironmentError>> {
        self.state = Some(RefCell::new(self.first.clone()));
        let reset = Reset {
            messages: self.first.opening(),
            tools: self.tools.definitions(),
        };
        Box::pin(std::future::ready(Ok(reset)))
    }

    fn step(&mut self, action: AnyMessage) -> LocalBoxFuture<'_, Result<Step, EnvironmentError>> {
        Box::pin(async move {
            match action {
                AnyMessage::Request(request) => self.act(request).await,
                AnyMessage::Response(_) | AnyMessage::Plain(_) => Ok(no_tool_calls()),
            }
        })
    }

    fn export_frame(&self) -> Frame {
        match &self.state {
            Some(state) => state.borrow().frame(&self.tools),
            None => self.first.frame(&self.tools),
        }
    }

    fn id(&self) -> Result<Text, EnvironmentError> {
        self.first
            .id()
            .map_err(|reason| EnvironmentError::NoId { reason })
    }
}

/// A step whose observations are the replies.
pub fn answered(replies: Vec<ToolResponseMessage>, reward: f64, done: bool) -> Step {
    Step {
        messages: replies.into_iter().map(AnyMessage::Response).collect(),
        reward,
        done,
        truncated: false,
    }
}
