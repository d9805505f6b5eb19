//! Slow tools that demonstrate timeouts, concurrency, and tools that must run alone.
//!
//! Without configuration it is the environment of aviary's own tests: each tool takes far longer than its timeout, so
//! every call fails. The tasks of [`DATASET`] first show calls that are in time.

use std::cell::RefCell;
use std::time::Duration;

use volary_core::dataset::{DatasetError, Task, TaskDataset};
use volary_core::environment::{Environment, Setting};
use volary_core::exec::ExecOptions;
use volary_core::json::{Json, Object, Text};
use volary_core::message::{ToolRequestMessage, ToolResponseMessage};
use volary_core::registry::{DatasetEntry, EnvironmentEntry, RegistryError};
use volary_core::view::{Tone, View, ViewInput};
use volary_core::{AnyMessage, Clock, Step, ToolSet, json, object};
use volary_macros::tool;

use crate::blocks::{Row, results};
use crate::calls::{Exchange, exchanges};
use crate::datasets::out_of_range;
use crate::settings::Settings;
use crate::tool_environment::{ToolEnvironment, ToolState, answered};

pub const ENTRY: EnvironmentEntry = EnvironmentEntry {
    name: "slow",
    summary: "Slow tools that show timeouts and concurrency.",
    configuration: schema,
    make: |configuration, setting| {
        let config = SlowConfig::read(configuration)?;
        let tools = if config.with_writer {
            &TOOLS_AND_WRITER
        } else {
            &TOOLS
        };
        let environment =
            ToolEnvironment::new(Pace(config.tool_time), tools.with(ToolSet::clone), setting);
        Ok(Box::new(environment.with_options(config.options())))
    },
    from_task: None,
    view: Some(view),
    oracle: None,
};

/// Tasks that demonstrate the environment: calls in time first, then calls over their limit.
pub const DATASET: DatasetEntry = DatasetEntry {
    name: "slow_calls",
    summary: "Slow calls: in time, concurrent, and over their limit.",
    configuration: || json!({"type": "object", "properties": {}, "required": [], "additionalProperties": false}),
    tasks: |arguments, _| {
        Settings::new(arguments, &[])?;
        Ok(TASKS.map(listed).to_vec())
    },
    make: |arguments, setting| {
        Settings::new(arguments, &[])?;
        Ok(Box::new(SlowCalls(setting.clone())))
    },
};

/// The maximum duration that can be configured, in seconds.
const MOST_SECONDS: f64 = 3600.0;

thread_local! {
    static TOOLS: ToolSet<Pace> = ToolSet::new([slow_tool::tool(), aslow_tool::tool()]);
    static TOOLS_AND_WRITER: ToolSet<Pace> =
        ToolSet::new([slow_tool::tool(), aslow_tool::tool(), slow_writer::tool()]);
}

/// The duration of each tool: the state of aviary's `SlowEnv`, configurable here.
#[derive(Clone)]
struct Pace(Duration);

/// I am very slow.
#[tool]
async fn slow_tool(state: &RefCell<Pace>, clock: &dyn Clock) {
    take_time(state, clock).await;
}

/// I am very slow.
#[tool]
async fn aslow_tool(state: &RefCell<Pace>, clock: &dyn Clock) {
    take_time(state, clock).await;
}

/// I am very slow, and nothing else runs beside me.
#[tool(concurrency_safe = false)]
async fn slow_writer(state: &RefCell<Pace>, clock: &dyn Clock) {
    take_time(state, clock).await;
}

async fn take_time(state: &RefCell<Pace>, clock: &dyn Clock) {
    let time = state.borrow().0;
    clock.sleep(time).await;
}

#[derive(Clone, Copy)]
struct SlowConfig {
    tool_time: Duration,
    limit: Option<Duration>,
    concurrent: bool,
    answer_timeouts: bool,
    with_writer: bool,
}

impl Default for SlowConfig {
    fn default() -> Self {
        SlowConfig {
            tool_time: Duration::from_millis(100),
            limit: Some(Duration::from_micros(100)),
            concurrent: true,
            answer_timeouts: false,
            with_writer: false,
        }
    }
}

impl SlowConfig {
    fn read(configuration: &Object) -> Result<Self, RegistryError> {
        let known = [
            "tool_seconds",
            "limit_seconds",
            "concurrent",
            "answer_timeouts",
            "with_writer",
        ];
        let settings = Settings::new(configuration, &known)?;
        let default = SlowConfig::default();
        let seconds = |key, default: Duration| {
            settings
                .seconds(key, default.as_secs_f64(), MOST_SECONDS)
                .map(Duration::from_secs_f64)
        };
        let limit = match (configuration.get("limit_seconds"), default.limit) {
            (Some(Json::Null), _) | (None, None) => None,
            (Some(_), limit) | (None, limit) => {
                Some(seconds("limit_seconds", limit.unwrap_or_default())?)
            }
        };
        Ok(SlowConfig {
            tool_time: seconds("tool_seconds", default.tool_time)?,
            limit,
            concurrent: settings.boolean("concurrent", default.concurrent)?,
            answer_timeouts: settings.boolean("answer_timeouts", default.answer_timeouts)?,
            with_writer: settings.boolean("with_writer", default.with_writer)?,
        })
    }

    fn options(&self) -> ExecOptions {
        ExecOptions {
            concurrency: self.concurrent,
            handle_tool_exc: self.answer_timeouts,
            exec_timeout: self.limit,
            ..ExecOptions::default()
        }
    }
}

impl ToolState for Pace {
    const KIND: &'static str = "SlowEnv";

    fn opening(&self) -> Vec<AnyMessage> {
        Vec::new()
    }

    fn step(&mut self, _: &ToolRequestMessage, replies: Vec<ToolResponseMessage>) -> Step {
        answered(replies, 0.0, false)
    }
}

/// The id and the title of each task of [`SlowCalls`], in order.
const TASKS: [(&str, &str); 4] = [
    ("in_time", "Calls that are in time"),
    ("alone", "A tool that runs alone"),
    ("over_limit", "Calls over their limit: the step fails"),
    ("answered", "Calls over their limit: the tool answers"),
];

fn listed((id, title): (&str, &str)) -> Task {
    Task {
        id: id.into(),
        title: title.into(),
        environment: ENTRY.name,
        configuration: SlowCalls::configuration(id),
    }
}

struct SlowCalls(Setting);

impl SlowCalls {
    fn configuration(id: &str) -> Object {
        let limit = match id {
            "over_limit" | "answered" => 0.1,
            _ => 2.0,
        };
        let mut configuration = object!({"tool_seconds": 0.4, "limit_seconds": limit});
        match id {
            "alone" => drop(configuration.insert("with_writer", true)),
            "answered" => drop(configuration.insert("answer_timeouts", true)),
            _ => {}
        }
        configuration
    }
}

impl TaskDataset for SlowCalls {
    fn kind(&self) -> &'static str {
        "SlowCallsDataset"
    }

    fn length(&self) -> Option<usize> {
        Some(TASKS.len())
    }

    fn task(&self, index: usize) -> Option<Task> {
        TASKS.get(index).copied().map(listed)
    }

    fn environment_at(&self, index: usize) -> Result<Box<dyn Environment>, DatasetError> {
        let (id, _) = TASKS
            .get(index)
            .ok_or_else(|| out_of_range(index, TASKS.len()))?;
        Ok(ENTRY.make(&SlowCalls::configuration(id), &self.0)?)
    }
}

/// The start and duration of each call, from the times in the replies.
fn view(input: &ViewInput<'_>) -> View {
    let exchanges = exchanges(input.messages);
    let first = exchanges
        .iter()
        .filter_map(|exchange| moment(exchange, "start_ts"))
        .fold(f64::INFINITY, f64::min);
    let row = |exchange: &Exchange<'_>| row(exchange, first);
    let latest = exchanges.iter().rev();
    View {
        blocks: results("When the calls ran", latest, row)
            .into_iter()
            .collect(),
    }
}

fn row(exchange: &Exchange<'_>, first: f64) -> Row {
    let call: Text = format!("{} ({})", exchange.tool(), exchange.call.id).into();
    let times = moment(exchange, "start_ts").zip(moment(exchange, "end_ts"));
    match (exchange.content(), times) {
        (None, _) => (call, "The step failed.".into(), Tone::Bad),
        (Some(_), None) => (call, "Unknown tool.".into(), Tone::Bad),
        (Some(content), Some((start, end))) => {
            let failed = content.starts_with("Encountered exception");
            let tone = if failed { Tone::Bad } else { Tone::Good };
            let (from, to) = (start - first, end - first);
            let text = format!("{from:.2} s to {to:.2} s ({:.2} s)", end - start);
            (call, text.into(), tone)
        }
    }
}

fn moment(exchange: &Exchange<'_>, key: &str) -> Option<f64> {
    exchange.reply?.body.info.as_ref()?.get(key)?.as_f64()
}

fn schema() -> Json {
    let default = SlowConfig::default();
    let switch = |title: &str, description: &str, default: bool| json!({"type": "boolean", "title": title, "description": description, "default": default});
    json!({
        "type": "object",
        "properties": {
            "tool_seconds": {
                "type": "number",
                "minimum": 0,
                "maximum": MOST_SECONDS,
                "title": "Time of a tool (s)",
                "description": "How long each tool takes, in seconds.",
                "default": (default.tool_time.as_secs_f64()),
            },
            "limit_seconds": {
                "anyOf": [
                    {"type": "number", "minimum": 0, "maximum": MOST_SECONDS},
                    {"type": "null"},
                ],
                "title": "Time limit of a call (s)",
                "description": "How long a call may take before it fails. Waiting for its turn \
                     does not count. Without a value, there is no limit.",
                "default": (default.limit.map(|limit| limit.as_secs_f64())),
            },
            "concurrent": (switch(
                "Concurrent calls",
                "Whether the calls of one action run concurrently.",
                default.concurrent,
            )),
            "answer_timeouts": (switch(
                "Answer timeouts",
                "Whether a call over the limit returns an error message; otherwise the step fails.",
                default.answer_timeouts,
            )),
            "with_writer": (switch(
                "A tool that runs alone",
                "Whether to add a third tool, slow_writer, which runs exclusively.",
                default.with_writer,
            )),
        },
        "required": [],
        "additionalProperties": false,
    })
}
