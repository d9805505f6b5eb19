//! The dummy environment: tell a story of five words, with a few additional tools.
//!
//! It shares [`Progress`], and thus its step and frame, with [`crate::hands`].

mod progress;
mod tools;
mod view;

use volary_core::environment::Setting;
use volary_core::exec::ExecOptions;
use volary_core::json::{Json, Object, Text};
use volary_core::message::{Message, ToolRequestMessage, ToolResponseMessage};
use volary_core::random::Random;
use volary_core::registry::{EnvironmentEntry, RegistryError};
use volary_core::{AnyMessage, Environment, Frame, Step, ToolSet, json, object};

use crate::settings::Settings;
use crate::tool_environment::{ToolEnvironment, ToolState};
pub use progress::Progress;
use tools::TOOLS;

/// The entry in the registry.
pub const ENTRY: EnvironmentEntry = EnvironmentEntry {
    name: "dummy",
    summary: "Tell a story of five words.",
    configuration: schema,
    make: |configuration, setting| {
        let config = DummyConfig::read(configuration)?;
        Ok(dummy(config, setting))
    },
    from_task: Some(|task| object!({"task": task})),
    view: Some(view::view),
    oracle: Some(view::oracle),
};

/// The configuration of a dummy environment.
#[derive(Clone, Debug, PartialEq)]
pub struct DummyConfig {
    /// The subject of the story; also the environment's id.
    pub task: Option<Text>,
    /// Whether the story ends the episode.
    pub end_immediately: bool,
    /// Whether the calls of an action run in parallel.
    pub concurrent_tool_calls: bool,
}

/// The state of aviary's `DummyEnv`.
#[derive(Clone)]
struct DummyState {
    task: Option<Text>,
    opening: Text,
    progress: Progress,
    end_immediately: bool,
    random: Random,
}

impl Default for DummyConfig {
    fn default() -> Self {
        DummyConfig {
            task: None,
            end_immediately: true,
            concurrent_tool_calls: true,
        }
    }
}

impl DummyConfig {
    /// Reads a configuration; missing keys keep their defaults.
    pub fn read(configuration: &Object) -> Result<Self, RegistryError> {
        let known = ["task", "end_immediately", "concurrent_tool_calls"];
        let settings = Settings::new(configuration, &known)?;
        let default = DummyConfig::default();
        Ok(DummyConfig {
            task: settings.text("task")?,
            end_immediately: settings.boolean("end_immediately", default.end_immediately)?,
            concurrent_tool_calls: settings
                .boolean("concurrent_tool_calls", default.concurrent_tool_calls)?,
        })
    }
}

/// A dummy environment.
pub fn dummy(config: DummyConfig, setting: &Setting) -> Box<dyn Environment> {
    let opening: Text = match config.task.as_deref() {
        None | Some("") => "Write a 5 word story via print_story".into(),
        Some(task) => format!("Write a 5 word story via print_story about {task}").into(),
    };
    let options = ExecOptions {
        concurrency: config.concurrent_tool_calls,
        ..ExecOptions::default()
    };
    let first = DummyState {
        task: config.task,
        progress: Progress::new(opening.clone()),
        opening,
        end_immediately: config.end_immediately,
        random: Random::new(setting.seed),
    };
    let tools = TOOLS.with(ToolSet::clone);
    Box::new(ToolEnvironment::new(first, tools, setting).with_options(options))
}

impl ToolState for DummyState {
    const KIND: &'static str = "DummyEnv";

    fn opening(&self) -> Vec<AnyMessage> {
        vec![Message::user(self.opening.clone()).into()]
    }

    fn step(&mut self, action: &ToolRequestMessage, replies: Vec<ToolResponseMessage>) -> Step {
        self.progress.step(action, replies)
    }

    fn frame(&self, tools: &ToolSet<Self>) -> Frame {
        self.progress.frame(tools)
    }

    fn id(&self) -> Result<Text, Text> {
        let none = || "No task (to reuse as an ID) was configured.".into();
        self.task.clone().ok_or_else(none)
    }
}

fn schema() -> Json {
    let default = DummyConfig::default();
    json!({
        "type": "object",
        "properties": {
            "task": {
                "anyOf": [{"type": "string"}, {"type": "null"}],
                "title": "Task",
                "description": "What the story should be about.",
                "default": null,
            },
            "end_immediately": {
                "type": "boolean",
                "title": "The story ends the episode",
                "description": "Whether the episode ends after one story.",
                "default": (default.end_immediately),
            },
            "concurrent_tool_calls": {
                "type": "boolean",
                "title": "Concurrent tool calls",
                "description": "Whether the calls of one action run concurrently.",
                "default": (default.concurrent_tool_calls),
            },
        },
        "required": [],
        "additionalProperties": false,
    })
}
