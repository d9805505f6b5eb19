//! The counter of aviary's read-me: count to 10.

use volary_core::message::{Message, ToolRequestMessage, ToolResponseMessage};
use volary_core::registry::EnvironmentEntry;
use volary_core::view::{Block, Tone, View, ViewInput};
use volary_core::{AnyMessage, Object, Step, ToolSet, json};
use volary_macros::tool;

use crate::blocks::verdict;
use crate::calls::{action, latest_exchanges};
use crate::settings::Settings;
use crate::tool_environment::{ToolEnvironment, ToolState, answered};

/// The entry in the registry.
pub const ENTRY: EnvironmentEntry = EnvironmentEntry {
    name: "counter",
    summary: "Count to 10: the smallest possible environment.",
    configuration: || json!({"type": "object", "properties": {}, "additionalProperties": false}),
    make: |configuration, setting| {
        Settings::new(configuration, &[])?;
        let tools = TOOLS.with(ToolSet::clone);
        Ok(Box::new(ToolEnvironment::new(Count(0), tools, setting)))
    },
    from_task: None,
    view: Some(view),
    oracle: Some(oracle),
};

const TARGET: i64 = 10;

thread_local! {
    static TOOLS: ToolSet<Count> = ToolSet::new([incr::tool(), decr::tool()]);
}

/// The state of aviary's `CounterEnv`, which is mutable here. Its frame is empty, as there.
#[derive(Clone)]
struct Count(i64);

/// Increment the counter.
#[tool]
fn incr(state: &mut Count) -> String {
    state.0 += 1;
    state.shown()
}

/// Decrement the counter.
#[tool]
fn decr(state: &mut Count) -> String {
    state.0 -= 1;
    state.shown()
}

impl Count {
    fn shown(&self) -> String {
        format!("counter={}", self.0)
    }
}

impl ToolState for Count {
    const KIND: &'static str = "CounterEnv";

    fn opening(&self) -> Vec<AnyMessage> {
        vec![Message::user(format!("Count to {TARGET}. {}", self.shown())).into()]
    }

    fn step(&mut self, _: &ToolRequestMessage, replies: Vec<ToolResponseMessage>) -> Step {
        let done = self.0 == TARGET;
        answered(replies, f64::from(u8::from(done)), done)
    }
}

/// The count in the last reply. The frame does not contain it.
fn count(input: &ViewInput<'_>) -> i64 {
    latest_exchanges(input.messages)
        .find_map(|exchange| exchange.content()?.strip_prefix("counter=")?.parse().ok())
        .unwrap_or_default()
}

fn view(input: &ViewInput<'_>) -> View {
    let count = count(input);
    let mut blocks = vec![Block::Gauge {
        label: "Counter".into(),
        value: count as f64,
        low: count.min(0) as f64,
        high: count.max(TARGET) as f64,
        target: Some(TARGET as f64),
    }];
    if input.done {
        blocks.push(verdict(Tone::Good, format!("Counted to {TARGET}.")));
    }
    View { blocks }
}

/// Takes a step towards the target.
fn oracle(input: &ViewInput<'_>) -> Option<ToolRequestMessage> {
    let name = match count(input).cmp(&TARGET) {
        _ if input.done => return None,
        std::cmp::Ordering::Less => "incr",
        std::cmp::Ordering::Greater => "decr",
        // The count is already at the target, so no action is left.
        std::cmp::Ordering::Equal => return None,
    };
    Some(action(input.messages, [(name, Object::new())]))
}
