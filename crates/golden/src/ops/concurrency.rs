//! Which calls run concurrently, and the times at which they begin.

use std::cell::RefCell;

use volary_core::tool::ToolSet;
use volary_core::{Clock, Json, Object, ToolCall, ToolError, ToolRequestMessage, json, object};
use volary_macros::tool;

use super::exec::{exec_options, milliseconds, run};
use super::input::{World, flag, list, required, text};

/// The started calls, and the number of those still running.
#[derive(Default)]
struct Log {
    entered: Vec<Json>,
    active: i64,
}

pub(super) fn exec_concurrency(input: &Json) -> Result<Json, String> {
    let mut message = ToolRequestMessage::default();
    for (index, call) in list(input, "calls")?.iter().enumerate() {
        let name = if flag(call, "safe", true)? {
            "beside_others"
        } else {
            "alone"
        };
        let arguments: Object = object!({
            "tag": (text(call, "tag")?),
            "ms": (required(call, "ms")?.clone()),
            "fails": (flag(call, "fails", false)?)
        });
        let id = format!("call{index}");
        message.tool_calls.push(ToolCall::new(id, name, arguments));
    }
    let none = Json::Null;
    let options = exec_options(input.get("options").unwrap_or(&none))?;
    let tools = ToolSet::new([beside_others::tool(), alone::tool()]);
    let log = RefCell::new(Log::default());
    let responses = run(&World::new(), &tools, &log, &message, &options)?;
    let contents: Vec<Json> = responses
        .into_iter()
        .map(|response| response.body.content.into())
        .collect();
    Ok(json!({"entered": (log.into_inner().entered), "contents": contents}))
}

/// Waits concurrently with others.
#[tool(allow_missing_descriptions)]
async fn beside_others(
    tag: &str,
    ms: f64,
    fails: bool,
    state: &RefCell<Log>,
    clock: &dyn Clock,
) -> Result<String, ToolError> {
    wait(tag, ms, fails, state, clock).await
}

/// Wait alone.
#[tool(allow_missing_descriptions, concurrency_safe = false)]
async fn alone(
    tag: &str,
    ms: f64,
    fails: bool,
    state: &RefCell<Log>,
    clock: &dyn Clock,
) -> Result<String, ToolError> {
    wait(tag, ms, fails, state, clock).await
}

/// Logs the call, waits, and returns its tag or fails.
async fn wait(
    tag: &str,
    ms: f64,
    fails: bool,
    log: &RefCell<Log>,
    clock: &dyn Clock,
) -> Result<String, ToolError> {
    let _entered = Entered::new(tag, log, clock);
    clock.sleep(milliseconds(ms)).await;
    if fails {
        Err(ToolError::runtime(format!("{tag} failed")))
    } else {
        Ok(tag.to_owned())
    }
}

/// A running call. Its time limit may drop it, so leaving is implemented by `Drop`.
struct Entered<'a>(&'a RefCell<Log>);

impl<'a> Entered<'a> {
    fn new(tag: &str, log: &'a RefCell<Log>, clock: &dyn Clock) -> Self {
        let at_ms = (clock.now() * 1000.0).round_ties_even() as i64;
        let mut entry = log.borrow_mut();
        entry.active += 1;
        let active = entry.active;
        entry
            .entered
            .push(json!({"tag": tag, "active": active, "at_ms": at_ms}));
        Entered(log)
    }
}

impl Drop for Entered<'_> {
    fn drop(&mut self) {
        self.0.borrow_mut().active -= 1;
    }
}
