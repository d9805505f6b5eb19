//! Robot hands that move in parallel: two calls in one action, and a right hand that may be
//! broken.

mod view;

use volary_core::json::{Json, Text};
use volary_core::message::{Message, ToolRequestMessage, ToolResponseMessage};
use volary_core::registry::EnvironmentEntry;
use volary_core::tool::ToolError;
use volary_core::{AnyMessage, Frame, Step, ToolSet, json};
use volary_macros::tool;

use crate::dummy::Progress;
use crate::settings::Settings;
use crate::tool_environment::{ToolEnvironment, ToolState};

/// The entry in the registry.
pub const ENTRY: EnvironmentEntry = EnvironmentEntry {
    name: "hands",
    summary: "Move both hands of a robot at the same time, then smile and wave.",
    configuration: schema,
    make: |configuration, setting| {
        let settings = Settings::new(configuration, &["right_hand_broken"])?;
        let first = HandsState {
            progress: Progress::new(OPENING.into()),
            right_hand_broken: settings.boolean("right_hand_broken", false)?,
        };
        let tools = TOOLS.with(ToolSet::clone);
        Ok(Box::new(ToolEnvironment::new(first, tools, setting)))
    },
    from_task: None,
    view: Some(view::view),
    oracle: Some(view::oracle),
};

const OPENING: &str = "You are the president of the United States of America. Please move both \
                       hands at the same time, and then smile and wave.";

thread_local! {
    static TOOLS: ToolSet<HandsState> = ToolSet::new([
        move_left_hand::tool(),
        move_right_hand::tool(),
        smile_and_wave::tool(),
    ]);
}

/// The state of the environment with this name in aviary's own tests.
#[derive(Clone)]
struct HandsState {
    progress: Progress,
    right_hand_broken: bool,
}

/// Move your left hand forward or backward.
///
/// # Arguments
///
/// - `distance`: Integer distance to move (mm), where forward is positive.
#[tool]
fn move_left_hand(#[tool(schema = i64)] _distance: &Json, state: &mut HandsState) {
    state.progress.reward += 1.0;
}

/// Move your right hand forward or backward.
///
/// # Arguments
///
/// - `distance`: Integer distance to move (mm), where forward is positive.
#[tool]
fn move_right_hand(
    #[tool(schema = i64)] _distance: &Json,
    state: &mut HandsState,
) -> Result<(), ToolError> {
    if state.right_hand_broken {
        return Err(ToolError::runtime("Right hand is broken."));
    }
    state.progress.reward += 1.0;
    Ok(())
}

/// Smile and wave.
#[tool]
fn smile_and_wave(state: &mut HandsState) {
    state.progress.reward = 10.0;
    state.progress.done = true;
}

impl ToolState for HandsState {
    const KIND: &'static str = "ParallelizedDummyEnv";

    fn opening(&self) -> Vec<AnyMessage> {
        vec![Message::user(OPENING).into()]
    }

    fn step(&mut self, action: &ToolRequestMessage, replies: Vec<ToolResponseMessage>) -> Step {
        self.progress.step(action, replies)
    }

    fn frame(&self, tools: &ToolSet<Self>) -> Frame {
        self.progress.frame(tools)
    }

    fn id(&self) -> Result<Text, Text> {
        Err("No task (to reuse as an ID) was configured.".into())
    }
}

fn schema() -> Json {
    json!({
        "type": "object",
        "properties": {
            "right_hand_broken": {
                "type": "boolean",
                "title": "The right hand is broken",
                "description": "Whether moving the right hand fails, which fails the step.",
                "default": false,
            },
        },
        "required": [],
        "additionalProperties": false,
    })
}
