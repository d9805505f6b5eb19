//! The rules of `exec_tool_calls`, one by one, on a virtual clock. This file has the tools and the test runner.

mod answers;
mod schedule;

use std::cell::RefCell;
use std::time::Duration;

use super::{ExecError, ExecOptions, exec_tool_calls};
use crate::clock::Clock;
use crate::json::{Json, Object};
use crate::message::{Message, ToolRequestMessage, ToolResponseMessage};
use crate::object;
use crate::tool::{
    BoundTool, IntoToolResult, ToolBuilder, ToolCall, ToolCallFunction, ToolError, ToolSet,
    ToolValue,
};
use crate::virtual_clock::VirtualClock;

/// The log of started tools: tag, number of running calls, and time in milliseconds.
#[derive(Default)]
struct Log {
    active: usize,
    began: Vec<(String, usize, u64)>,
}

fn text(arguments: &Object, key: &str) -> String {
    let value = arguments.get(key).and_then(Json::as_text);
    value.map(ToString::to_string).unwrap_or_default()
}

fn millis(clock: &dyn Clock) -> u64 {
    (clock.now() * 1000.0).round() as u64
}

/// An async tool that takes `ms` and then returns its `tag`, or fails.
fn wait(name: &str, safe: bool) -> BoundTool<Log> {
    ToolBuilder::new(name)
        .description("Wait.")
        .allow_missing_descriptions()
        .concurrency_safe(safe)
        .typed::<String>("tag", "")
        .typed::<i64>("ms", "")
        .typed::<bool>("fails", "")
        .default(false)
        .async_handler::<Log>(|context, arguments| {
            Box::pin(async move {
                let tag = text(arguments, "tag");
                let ms = arguments.get("ms").and_then(Json::as_i64).unwrap_or(0);
                {
                    let mut log = context.state.borrow_mut();
                    log.active += 1;
                    let active = log.active;
                    log.began.push((tag.clone(), active, millis(context.clock)));
                }
                let _leaving = Leaving(context.state);
                if ms > 0 {
                    context.clock.sleep(Duration::from_millis(ms as u64)).await;
                }
                match arguments.get("fails") {
                    Some(Json::Bool(true)) => Err(ToolError::runtime(format!("{tag} failed"))),
                    _ => tag.into_tool_result(),
                }
            })
        })
        .unwrap()
}

struct Leaving<'a>(&'a RefCell<Log>);

impl Drop for Leaving<'_> {
    fn drop(&mut self) {
        self.0.borrow_mut().active -= 1;
    }
}

/// A synchronous tool that returns its `tag`, or fails with it.
fn at_once(name: &str, safe: bool, fails: bool) -> BoundTool<Log> {
    ToolBuilder::new(name)
        .description("Do.")
        .allow_missing_descriptions()
        .concurrency_safe(safe)
        .typed::<String>("tag", "")
        .handler::<Log, _>(move |context, arguments| {
            let tag = text(arguments, "tag");
            let mut log = context.state_mut()?;
            let active = log.active + 1;
            log.began.push((tag.clone(), active, millis(context.clock)));
            if fails {
                return Err(ToolError::value(tag));
            }
            Ok(tag)
        })
        .unwrap()
}

fn give(name: &str, value: ToolValue) -> BoundTool<Log> {
    ToolBuilder::new(name)
        .description("Give.")
        .handler(move |_, _| Ok(value.clone()))
        .unwrap()
}

fn tools() -> ToolSet<Log> {
    ToolSet::new([
        wait("read", true),
        wait("write", false),
        at_once("now", true, false),
        at_once("now_alone", false, false),
        at_once("fail", true, true),
        give("silent", ToolValue::Message(Message::default())),
        give("record", ToolValue::Record(object!({"a": 1, "b": null}))),
        // Never found: the first of equal names wins.
        give("now", ToolValue::Json(Json::Null)),
    ])
}

fn call(id: &str, name: &str, arguments: Object) -> ToolCall {
    ToolCall {
        id: id.into(),
        function: ToolCallFunction {
            name: name.into(),
            arguments,
        },
    }
}

/// A call whose id is its tag.
fn tagged(tag: &str, name: &str) -> ToolCall {
    call(tag, name, object!({"tag": tag}))
}

/// A call that takes this time, whose id is its tag.
fn waiting(tag: &str, name: &str, ms: i64) -> ToolCall {
    call(tag, name, object!({"tag": tag, "ms": ms}))
}

fn failing(tag: &str, name: &str, ms: i64) -> ToolCall {
    call(tag, name, object!({"tag": tag, "ms": ms, "fails": true}))
}

struct Run {
    outcome: Result<Vec<ToolResponseMessage>, ExecError>,
    log: Log,
    took_ms: u64,
}

fn run(calls: Vec<ToolCall>, options: ExecOptions) -> Run {
    let clock = VirtualClock::new();
    let state = RefCell::new(Log::default());
    let message = ToolRequestMessage {
        tool_calls: calls,
        ..ToolRequestMessage::default()
    };
    let tools = tools();
    let outcome = clock
        .run(exec_tool_calls(&tools, &state, &message, &options, &clock))
        .unwrap();
    Run {
        outcome,
        log: state.into_inner(),
        took_ms: clock.elapsed().as_millis() as u64,
    }
}

impl Run {
    fn contents(&self) -> Vec<&str> {
        let responses = self.outcome.as_ref().unwrap().iter();
        responses
            .map(|response| response.body.content.as_deref().unwrap())
            .collect()
    }

    fn error(&self) -> String {
        self.outcome.as_ref().unwrap_err().to_string()
    }

    fn began(&self) -> Vec<(&str, usize, u64)> {
        self.log
            .began
            .iter()
            .map(|(tag, active, at)| (tag.as_str(), *active, *at))
            .collect()
    }
}

fn answering() -> ExecOptions {
    ExecOptions {
        handle_tool_exc: true,
        ..ExecOptions::default()
    }
}

fn one_by_one() -> ExecOptions {
    ExecOptions {
        concurrency: false,
        ..ExecOptions::default()
    }
}

fn limited(ms: u64) -> ExecOptions {
    ExecOptions {
        exec_timeout: Some(Duration::from_millis(ms)),
        ..answering()
    }
}
