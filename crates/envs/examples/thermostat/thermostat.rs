//! Bring a room to 21 °C.

use volary_core::message::{Message, ToolRequestMessage, ToolResponseMessage};
use volary_core::registry::EnvironmentEntry;
use volary_core::tool::ToolError;
use volary_core::{AnyMessage, Frame, Json, Step, ToolSet, json, object};
use volary_macros::tool;

use volary_envs::tool_environment::{ToolEnvironment, ToolState, answered};

#[derive(Clone)]
struct Room(i64);

/// Heat or cool the room.
///
/// # Arguments
///
/// - `by`: Degrees Celsius, negative to cool. At most 5 at once.
#[tool]
fn change(by: i64, state: &mut Room) -> Result<String, ToolError> {
    if by.abs() > 5 {
        return Err(ToolError::value("The thermostat can do 5 degrees at once."));
    }
    state.0 += by;
    Ok(format!("It is {} °C now.", state.0))
}

impl ToolState for Room {
    const KIND: &'static str = "Thermostat";

    fn opening(&self) -> Vec<AnyMessage> {
        vec![Message::user(format!("It is {} °C. Make it 21.", self.0)).into()]
    }

    fn step(&mut self, _: &ToolRequestMessage, replies: Vec<ToolResponseMessage>) -> Step {
        let done = self.0 == 21;
        answered(replies, if done { 1.0 } else { 0.0 }, done)
    }

    fn frame(&self, _: &ToolSet<Self>) -> Frame {
        Frame::new(object!({"degrees": (self.0)}), Json::Null)
    }
}

/// Its entry in the registry.
pub const ENTRY: EnvironmentEntry = EnvironmentEntry {
    name: "thermostat",
    summary: "Bring a room to 21 °C.",
    configuration: || json!({"type": "object", "properties": {}}),
    make: |_configuration, setting| {
        let tools = ToolSet::new([change::tool()]);
        Ok(Box::new(ToolEnvironment::new(Room(15), tools, setting)))
    },
    from_task: None,
    view: None,
    oracle: None,
};
