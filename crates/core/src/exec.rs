//! Runs tool calls: response order, reader/writer rule, timeouts, handling of failures.
//!
//! [`exec_tool_calls`] documents the rules; [`lock`] implements the reader/writer rule, `call` runs one call,
//! `order` sorts the responses.

mod call;
pub mod lock;
mod order;

use std::cell::RefCell;
use std::time::Duration;

use futures_util::StreamExt;
use futures_util::stream::FuturesUnordered;

use call::Calls;
use lock::CallLock;

use crate::clock::Clock;
use crate::json::Text;
use crate::json::repr::text_repr;
use crate::message::{ToolRequestMessage, ToolResponseMessage};
use crate::tool::{ToolError, ToolSet};

/// Options for running calls. The default is aviary's.
#[derive(Clone, Debug)]
pub struct ExecOptions {
    /// Whether calls run concurrently; else one after the other.
    pub concurrency: bool,
    /// Whether a failing tool becomes a response; else the first failure is the result.
    pub handle_tool_exc: bool,
    /// Whether calls of unknown tools become responses; else they are an error.
    pub handle_invalid_tool_calls: bool,
    /// The time limit of each call, not counting the wait for admission.
    pub exec_timeout: Option<Duration>,
}

impl Default for ExecOptions {
    fn default() -> Self {
        ExecOptions {
            concurrency: true,
            handle_tool_exc: false,
            handle_invalid_tool_calls: true,
            exec_timeout: None,
        }
    }
}

/// Why running the calls failed.
#[derive(Clone, Debug, PartialEq, thiserror::Error)]
#[non_exhaustive]
pub enum ExecError {
    /// A tool failed, and failures are not converted to responses.
    #[error("{error}")]
    Tool {
        /// The tool.
        name: Text,
        /// Its failure.
        error: ToolError,
    },
    /// An unknown tool was called, and such calls are not converted to responses.
    #[error("{} not a valid name in {{{}}}.", text_repr(name), list(names))]
    InvalidTool {
        /// The called name.
        name: Text,
        /// The names of the tools.
        names: Vec<Text>,
    },
}

fn list(names: &[Text]) -> String {
    let names: Vec<String> = names.iter().map(|name| text_repr(name)).collect();
    names.join(", ")
}

/// Runs the calls of a message and returns one response for each.
///
/// - A call of an unknown tool is answered with `Invalid tool call: {name}`, or is an error.
/// - Calls run concurrently by default, under the rule of [`lock`]. Synchronous tools run immediately, in call
///   order.
/// - A call over the time limit (counted from the moment it may run) fails with `TimeoutError`.
/// - A failure becomes a response if the options say so; otherwise the first failure in time is the error. The
///   other calls still finish before it is returned, unless calls run one after the other.
/// - A message without content fails in either case.
/// - A response has the info `{start_ts, end_ts}` in seconds of the clock; waiting counts from the start.
/// - Responses are in the order of the calls; calls that share an id are grouped at the first one's position,
///   calls of unknown tools first.
///
/// # Errors
///
/// See [`ExecError`] and the options.
pub async fn exec_tool_calls<S>(
    tools: &ToolSet<S>,
    state: &RefCell<S>,
    message: &ToolRequestMessage,
    options: &ExecOptions,
    clock: &dyn Clock,
) -> Result<Vec<ToolResponseMessage>, ExecError> {
    let calls = Calls {
        tools,
        state,
        options,
        clock,
    };
    let mut responses = if calls.never_wait(message) {
        at_once(&calls, message)?
    } else if options.concurrency {
        beside_each_other(&calls, message).await?
    } else {
        one_by_one(&calls, message).await?
    };
    order::by_first_index(&mut responses);
    Ok(responses)
}

type Outcome = Result<Vec<ToolResponseMessage>, ExecError>;

fn at_once<S>(calls: &Calls<'_, S>, message: &ToolRequestMessage) -> Outcome {
    let mut responses = Vec::with_capacity(message.tool_calls.len());
    let mut failure = None;
    for call in &message.tool_calls {
        match calls.run_at_once(call) {
            Ok(response) => responses.push(response),
            Err(error) if calls.options.concurrency => {
                failure.get_or_insert(error);
            }
            Err(error) => return Err(error),
        }
    }
    failure.map_or(Ok(responses), Err)
}

async fn one_by_one<S>(calls: &Calls<'_, S>, message: &ToolRequestMessage) -> Outcome {
    let lock = CallLock::new();
    let mut responses = Vec::with_capacity(message.tool_calls.len());
    for call in &message.tool_calls {
        responses.push(calls.run(call, &lock).await?);
    }
    Ok(responses)
}

async fn beside_each_other<S>(calls: &Calls<'_, S>, message: &ToolRequestMessage) -> Outcome {
    let lock = CallLock::new();
    // Polled in call order first, then in the order of wake-ups, like aviary's event loop.
    let mut running: FuturesUnordered<_> = message
        .tool_calls
        .iter()
        .enumerate()
        .map(|(index, call)| {
            let run = calls.run(call, &lock);
            async move { (index, run.await) }
        })
        .collect();
    let mut ended = Vec::with_capacity(message.tool_calls.len());
    let mut failure = None;
    while let Some((index, outcome)) = running.next().await {
        match outcome {
            Ok(response) => ended.push((index, response)),
            Err(error) => {
                failure.get_or_insert(error);
            }
        }
    }
    ended.sort_unstable_by_key(|(index, _)| *index);
    let responses = ended.into_iter().map(|(_, response)| response).collect();
    failure.map_or(Ok(responses), Err)
}

#[cfg(test)]
mod tests;
