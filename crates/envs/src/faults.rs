//! An environment that misbehaves on request, to demonstrate and to test error handling: failures,
//! a crash, floods of text, long waits, deep nesting, markup, invalid numbers.

use std::cell::RefCell;
use std::time::Duration;

use volary_core::exec::ExecOptions;
use volary_core::json::{Integer, Json};
use volary_core::message::{Message, ToolRequestMessage, ToolResponseMessage};
use volary_core::registry::EnvironmentEntry;
use volary_core::tool::ToolError;
use volary_core::{AnyMessage, Clock, Frame, Step, ToolSet, json, object};
use volary_macros::tool;

use crate::settings::Settings;
use crate::tool_environment::{ToolEnvironment, ToolState, answered};

/// The entry in the registry.
pub const ENTRY: EnvironmentEntry = EnvironmentEntry {
    name: "faults",
    summary: "Fails on request: errors, crashes, floods, long waits, hostile texts.",
    configuration: schema,
    make: |configuration, setting| {
        let settings = Settings::new(configuration, &["answer_failures"])?;
        let options = ExecOptions {
            handle_tool_exc: settings.boolean("answer_failures", false)?,
            ..ExecOptions::default()
        };
        let tools = TOOLS.with(ToolSet::clone);
        let environment = ToolEnvironment::new(FaultsState::default(), tools, setting);
        Ok(Box::new(environment.with_options(options)))
    },
    from_task: None,
    view: None,
    oracle: None,
};

/// The largest flood, in megabytes.
const MOST_MEGABYTES: i64 = 64;
/// The longest wait, in seconds.
const MOST_SECONDS: f64 = 3600.0;
/// The maximum nesting: slightly less than the limit of this project's JSON parsers, since
/// a frame adds levels of its own.
const MOST_LEVELS: i64 = 900;

thread_local! {
    static TOOLS: ToolSet<FaultsState> = ToolSet::new([
        fail::tool(),
        crash::tool(),
        flood::tool(),
        wait::tool(),
        nest::tool(),
        markup::tool(),
        bad_numbers::tool(),
    ]);
}

/// The state in the frame.
#[derive(Clone, Default)]
struct FaultsState {
    calls: i64,
    latest: Json,
}

impl FaultsState {
    fn show(&mut self, value: impl Into<Json>) {
        self.calls += 1;
        self.latest = value.into();
    }
}

/// Fail with a text of your choice. The step fails, unless failures are answered.
///
/// # Arguments
///
/// - `text`: What the failure says.
#[tool]
fn fail(text: String, state: &mut FaultsState) -> Result<(), ToolError> {
    state.show(format!("failed: {text}"));
    Err(ToolError::runtime(text))
}

/// Crash the environment: a real panic, which ends the episode.
#[tool]
#[expect(clippy::panic, reason = "crashing is what this tool is for")]
fn crash() {
    panic!("The tool `crash` was called.");
}

/// Reply with a huge text.
///
/// # Arguments
///
/// - `megabytes`: How many megabytes, from 1 to 64.
#[tool]
fn flood(megabytes: i64, state: &mut FaultsState) -> Result<String, ToolError> {
    let megabytes = within("megabytes", megabytes, 1, MOST_MEGABYTES)?;
    state.show(format!("a flood of {megabytes} MB"));
    // 64 bytes, so that a megabyte is a whole number of lines.
    let line = "It rains and rains and rains, and nobody knows when it will end\n";
    Ok(line.repeat((megabytes << 20) / line.len()))
}

/// Wait before replying.
///
/// # Arguments
///
/// - `seconds`: How long, from 0 to 3600 seconds.
#[tool]
async fn wait(
    seconds: f64,
    state: &RefCell<FaultsState>,
    clock: &dyn Clock,
) -> Result<String, ToolError> {
    if !(0.0..=MOST_SECONDS).contains(&seconds) {
        let text = format!("seconds must lie between 0 and {MOST_SECONDS}");
        return Err(ToolError::value(text));
    }
    clock.sleep(Duration::from_secs_f64(seconds)).await;
    let said = format!("waited {seconds} s");
    state.borrow_mut().show(said.as_str());
    Ok(said)
}

/// Reply with deeply nested JSON, and put it into the frame.
///
/// # Arguments
///
/// - `depth`: How many levels, from 1 to 900.
#[tool]
fn nest(depth: i64, state: &mut FaultsState) -> Result<Json, ToolError> {
    let depth = within("depth", depth, 1, MOST_LEVELS)?;
    let nested = (0..depth).fold(Json::from("the bottom"), |inner, level| {
        if level % 2 == 0 {
            json!({"deeper": inner})
        } else {
            json!([inner])
        }
    });
    state.show(nested.clone());
    Ok(nested)
}

/// Reply with texts that try to become markup or to change how text runs, and put them into the
/// frame.
#[tool]
fn markup(state: &mut FaultsState) -> String {
    state.show(json!({
        "<b>key</b>": "<script>document.title = 'caught'</script>",
        "image": "<img src=x onerror=\"document.title = 'caught'\">",
        "link": "javascript:document.title='caught'",
        "entities": "&lt;&amp;&#60;\"'`",
        "template": "${7*7} {{7*7}} <%= 7*7 %>",
        "bidi": "abc\u{202e}fed\u{202c} \u{2066}xyz\u{2069}",
        "invisible": "zero\u{200b}width\u{200d}joiner\u{feff}mark\u{ad}hyphen",
        "controls": "null\u{0} bell\u{7} escape\u{1b}[31m delete\u{7f}",
        "lines": "one\r\ntwo\rthree\u{2028}four\u{2029}five\u{85}six",
        "combining": "Z\u{351}\u{36b}\u{343}\u{36a}\u{302}\u{36b}\u{33d}\u{34f}\u{334}\u{319}a",
        "beyond": "\u{1f469}\u{200d}\u{1f680} \u{10ffff} \u{fffd}",
        "__proto__": "not a prototype",
    }));
    "<script>document.title = 'caught'</script><b onclick=alert(1)>\u{202e}dlob\u{202c}</b>\u{200b}"
        .to_owned()
}

/// Put numbers into the frame that other programs stumble over.
#[tool]
fn bad_numbers(state: &mut FaultsState) -> Json {
    let huge = Integer::from_digits(&"1234567890".repeat(10)).map(Json::Integer);
    let numbers = json!({
        "not_a_number": (f64::NAN),
        "infinity": (f64::INFINITY),
        "minus_infinity": (f64::NEG_INFINITY),
        "minus_zero": (-0.0),
        "smallest": (f64::from_bits(1)),
        "largest": (f64::MAX),
        "beyond_2_53": ((1_i64 << 53) + 1),
        "huge_integer": huge,
    });
    state.show(numbers.clone());
    numbers
}

fn within(name: &str, value: i64, low: i64, high: i64) -> Result<usize, ToolError> {
    usize::try_from(value)
        .ok()
        .filter(|_| (low..=high).contains(&value))
        .ok_or_else(|| ToolError::value(format!("{name} must lie between {low} and {high}")))
}

impl ToolState for FaultsState {
    const KIND: &'static str = "Faults";

    fn opening(&self) -> Vec<AnyMessage> {
        vec![Message::user("Call a tool, and see what comes of it.").into()]
    }

    fn step(&mut self, _: &ToolRequestMessage, replies: Vec<ToolResponseMessage>) -> Step {
        answered(replies, 0.0, false)
    }

    fn frame(&self, _: &ToolSet<Self>) -> Frame {
        let latest = self.latest.clone();
        Frame::new(
            object!({"calls": (self.calls), "latest": latest}),
            Json::Null,
        )
    }
}

fn schema() -> Json {
    json!({
        "type": "object",
        "properties": {
            "answer_failures": {
                "type": "boolean",
                "title": "Answer failures",
                "description": "Whether a failing tool returns an error message; otherwise the \
                     step fails.",
                "default": false,
            },
        },
        "required": [],
        "additionalProperties": false,
    })
}
