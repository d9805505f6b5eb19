//! The calculator: a problem, a tool that computes, and a tool that submits the answer.
//!
//! - [`config`]: the problem, rewards and tolerance.
//! - [`tools`]: the two tools and their rewards.
//! - [`expression`]: the expression language, with Python's semantics.
//! - [`view`]: the rich view, and the oracle.

mod config;
pub mod expression;
mod tools;
mod view;

use std::cell::RefCell;

use futures_util::future::LocalBoxFuture;
use volary_core::environment::{Setting, no_tool_calls};
use volary_core::exec::{ExecOptions, exec_tool_calls};
use volary_core::json::{Json, Object, Text};
use volary_core::message::{Body, Message, ToolRequestMessage, ToolResponseMessage};
use volary_core::registry::EnvironmentEntry;
use volary_core::{AnyMessage, Environment, EnvironmentError, Frame, Reset, Step, ToolSet};

pub use config::{CalculatorConfig, Problem};
use tools::{TOOLS, Tally};
pub use view::{plain, view};

/// The entry in the registry.
pub const ENTRY: EnvironmentEntry = EnvironmentEntry {
    name: "calculator",
    summary: "Solve a word problem: compute with expressions, then submit the answer.",
    configuration: config::schema,
    make: |configuration, setting| {
        let (problem, config) = config::read(configuration)?;
        Ok(Box::new(Calculator::new(problem, config, setting)))
    },
    from_task: Some(config::from_task),
    view: Some(view::view),
    oracle: Some(view::oracle),
};

/// aviary's `CalculatorEnv`. A reset only enables steps: the problem is the whole
/// state.
pub struct Calculator {
    problem: Problem,
    config: CalculatorConfig,
    tools: ToolSet<Tally>,
    tally: Option<RefCell<Tally>>,
    setting: Setting,
}

impl Calculator {
    /// A calculator with a problem.
    pub fn new(problem: Problem, config: CalculatorConfig, setting: &Setting) -> Self {
        Calculator {
            problem,
            config,
            tools: TOOLS.with(ToolSet::clone),
            tally: None,
            setting: setting.clone(),
        }
    }

    /// The result of an action without calls, or with calls of unknown tools only.
    fn failed(&self, failures: f64, messages: Vec<AnyMessage>) -> Step {
        Step {
            messages,
            reward: self.config.tool_failure_reward * failures,
            done: self.config.done_on_failure,
            truncated: false,
        }
    }

    async fn act(&self, action: ToolRequestMessage) -> Result<Step, EnvironmentError> {
        if action.tool_calls.is_empty() {
            let text = "Must call one of the provided tools (calculator or submit_answer).";
            return Ok(self.failed(1.0, vec![Message::user(text).into()]));
        }
        let tally = self.tally.as_ref().ok_or(EnvironmentError::NotReset)?;
        tally.borrow_mut().begin();
        let options = ExecOptions::default();
        let clock = &*self.setting.clock;
        let mut messages = Vec::with_capacity(action.tool_calls.len());
        let mut invalid = Vec::new();
        // One at a time, so that a reply is assigned to its call even with repeated ids.
        for call in action.tool_calls {
            if self.tools.get(&call.function.name).is_none() {
                invalid.push(AnyMessage::Response(ToolResponseMessage {
                    body: Body::text(""),
                    name: call.function.name,
                    tool_call_id: call.id,
                }));
                continue;
            }
            let request = ToolRequestMessage {
                body: Body::default(),
                tool_calls: vec![call],
            };
            let replies = exec_tool_calls(&self.tools, tally, &request, &options, clock).await?;
            messages.extend(replies.into_iter().map(|mut reply| {
                reply.body.info = None;
                AnyMessage::Response(reply)
            }));
        }
        if messages.is_empty() {
            return Ok(self.failed(invalid.len() as f64, invalid));
        }
        messages.append(&mut invalid);
        let tally = tally.borrow();
        Ok(Step {
            messages,
            reward: tally.reward,
            done: tally.done,
            truncated: false,
        })
    }
}

impl Environment for Calculator {
    fn kind(&self) -> &'static str {
        "CalculatorEnv"
    }

    fn reset(&mut self) -> LocalBoxFuture<'_, Result<Reset, EnvironmentError>> {
        self.tally = Some(RefCell::new(Tally::new(self.problem.answer, self.config)));
        let reset = Reset {
            messages: vec![Message::user(self.problem.text.clone()).into()],
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
        Frame::new(self.problem.configuration(), Json::Null)
    }

    fn id(&self) -> Result<Text, EnvironmentError> {
        self.problem
            .id
            .clone()
            .ok_or_else(|| EnvironmentError::NoId {
                reason: "No problem ID was configured.".into(),
            })
    }
}

impl Problem {
    /// The problem in the format of frames and configurations.
    pub fn configuration(&self) -> Object {
        Object::from_distinct(vec![
            ("problem_id".into(), self.id.clone().into()),
            ("problem".into(), self.text.clone().into()),
            ("answer".into(), self.answer.into()),
        ])
    }
}
