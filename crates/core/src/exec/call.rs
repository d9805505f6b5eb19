//! One tool call: looks up its tool, runs it, and makes its response.

use std::cell::RefCell;
use std::future::{Future, poll_fn};
use std::pin::pin;
use std::task::Poll;
use std::time::Duration;

use super::lock::{Access, CallLock};
use super::{ExecError, ExecOptions};
use crate::clock::Clock;
use crate::json::{Json, Key, Object};
use crate::message::{Body, ToolRequestMessage, ToolResponseMessage};
use crate::tool::{
    BoundTool, CallContext, Handler, ToolCall, ToolError, ToolResult, ToolSet, ToolValue,
};

/// The state shared by all calls of a message.
pub(super) struct Calls<'a, S> {
    pub(super) tools: &'a ToolSet<S>,
    pub(super) state: &'a RefCell<S>,
    pub(super) options: &'a ExecOptions,
    pub(super) clock: &'a dyn Clock,
}

type Outcome = Result<ToolResponseMessage, ExecError>;

impl<'a, S> Calls<'a, S> {
    /// Whether no call of the message can wait: each has a synchronous tool, or none, and there is no
    /// time limit.
    pub(super) fn never_wait(&self, message: &ToolRequestMessage) -> bool {
        self.options.exec_timeout.is_none()
            && message.tool_calls.iter().all(|call| {
                self.find(call)
                    .is_none_or(|tool| matches!(tool.handler, Handler::Sync(_)))
            })
    }

    /// Runs a call that never waits, without lock or future.
    pub(super) fn run_at_once(&self, call: &ToolCall) -> Outcome {
        let start = self.clock.now();
        let Some(tool) = self.find(call) else {
            return self.unknown(call);
        };
        match &tool.handler {
            Handler::Sync(handler) => {
                let result = handler(self.context(call), &call.function.arguments);
                self.respond(call, start, result)
            }
            // Unreachable: `never_wait` was checked.
            Handler::Async(_) => self.respond(
                call,
                start,
                Err(ToolError::runtime("This tool takes its time.")),
            ),
        }
    }

    /// Runs a call when the lock admits it, within the time limit.
    pub(super) async fn run(&self, call: &'a ToolCall, lock: &CallLock) -> Outcome {
        let start = self.clock.now();
        let Some(tool) = self.find(call) else {
            return self.unknown(call);
        };
        let access = if tool.tool.concurrency_safe {
            Access::Read
        } else {
            Access::Write
        };
        let guard = lock.enter(access).await;
        let result = self.handle(tool, call).await;
        drop(guard);
        self.respond(call, start, result)
    }

    fn find(&self, call: &ToolCall) -> Option<&'a BoundTool<S>> {
        self.tools.get(&call.function.name)
    }

    fn context(&self, call: &'a ToolCall) -> CallContext<'a, S> {
        CallContext {
            state: self.state,
            tool_call_id: &call.id,
            clock: self.clock,
        }
    }

    async fn handle(&self, tool: &BoundTool<S>, call: &'a ToolCall) -> ToolResult {
        // With a limit of zero the tool does not even start, as in asyncio.
        if self.options.exec_timeout == Some(Duration::ZERO) {
            return Err(ToolError::timeout());
        }
        let arguments = &call.function.arguments;
        match &tool.handler {
            Handler::Sync(handler) => handler(self.context(call), arguments),
            Handler::Async(handler) => {
                let running = handler(self.context(call), arguments);
                match self.options.exec_timeout {
                    Some(limit) => within(running, self.clock, limit).await,
                    None => running.await,
                }
            }
        }
    }

    fn unknown(&self, call: &ToolCall) -> Outcome {
        let name = &call.function.name;
        if self.options.handle_invalid_tool_calls {
            let body = Body::text(format!("Invalid tool call: {name}"));
            Ok(response(call, body))
        } else {
            Err(ExecError::InvalidTool {
                name: name.clone(),
                names: self.tools.names().cloned().collect(),
            })
        }
    }

    fn respond(&self, call: &ToolCall, start: f64, result: ToolResult) -> Outcome {
        let raise = |error| ExecError::Tool {
            name: call.function.name.clone(),
            error,
        };
        let result = match result {
            Err(error) if self.options.handle_tool_exc => Ok(ToolValue::Text(
                format!(
                    "Encountered exception during tool call: {}",
                    error.to_repr()
                )
                .into(),
            )),
            other => other,
        };
        let mut body = result.and_then(ToolValue::into_body).map_err(raise)?;
        body.info = Some(Object::from_distinct(vec![
            (Key::Borrowed("start_ts"), Json::Float(start)),
            (Key::Borrowed("end_ts"), Json::Float(self.clock.now())),
        ]));
        Ok(response(call, body))
    }
}

fn response(call: &ToolCall, body: Body) -> ToolResponseMessage {
    ToolResponseMessage {
        body,
        name: call.function.name.clone(),
        tool_call_id: call.id.clone(),
    }
}

/// Waits for a tool up to the time limit. A tool that ends exactly at the limit is late,
/// but a tool that never waited is not.
async fn within(
    tool: impl Future<Output = ToolResult>,
    clock: &dyn Clock,
    limit: Duration,
) -> ToolResult {
    let mut tool = pin!(tool);
    let mut limit = clock.sleep(limit);
    let mut begun = false;
    poll_fn(|context| {
        if !begun {
            begun = true;
            if let Poll::Ready(result) = tool.as_mut().poll(context) {
                return Poll::Ready(result);
            }
        }
        if limit.as_mut().poll(context).is_ready() {
            return Poll::Ready(Err(ToolError::timeout()));
        }
        tool.as_mut().poll(context)
    })
    .await
}
