//! A new environment in about 40 lines: bring a room to 21 °C. `docs/new-environment.md` walks
//! through it. Running this example plays it.

use std::rc::Rc;

use futures_util::FutureExt;
use volary_core::clock::Standstill;
use volary_core::environment::Setting;
use volary_core::message::{Message, ToolRequestMessage, ToolResponseMessage};
use volary_core::registry::{EnvironmentEntry, Registry};
use volary_core::tool::ToolError;
use volary_core::{AnyMessage, Frame, Json, Object, Step, ToolSet, json, object};
use volary_envs::calls::{action, argument};
use volary_envs::tool_environment::{ToolEnvironment, ToolState, answered};
use volary_macros::tool;

// The environment begins here.

/// What the registry knows of it.
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

// The environment ends here; what follows plays it.

fn main() -> Result<(), Box<dyn std::error::Error>> {
    for line in play(&[4, 9, 2])? {
        println!("{line}");
    }
    Ok(())
}

/// Plays the environment: one change a step. Gives what was said, and how each step came out.
fn play(changes: &[i64]) -> Result<Vec<String>, Box<dyn std::error::Error>> {
    let registry = Registry {
        environments: vec![ENTRY],
        datasets: Vec::new(),
    };
    let setting = Setting {
        seed: 0,
        clock: Rc::new(Standstill),
    };
    let mut environment =
        registry.environment_from_name("thermostat", None, &Object::new(), &setting)?;
    let reset = environment.reset().now_or_never().ok_or("reset waits")??;
    let mut messages = reset.messages;
    let mut lines: Vec<String> = messages.iter().map(AnyMessage::to_string).collect();
    for by in changes {
        let request = action(&messages, [("change", argument("by", *by))]);
        messages.push(request.clone().into());
        let step = environment.step(request.into()).now_or_never();
        lines.push(match step.ok_or("step waits")? {
            Err(error) => format!("failed: {error}"),
            Ok(step) => {
                let said: Vec<String> = step.messages.iter().map(AnyMessage::to_string).collect();
                messages.extend(step.messages);
                format!(
                    "{} reward={} done={}",
                    said.join(" "),
                    step.reward,
                    step.done
                )
            }
        });
    }
    lines.push(environment.export_frame().dump().to_python_text());
    Ok(lines)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn it_can_be_played() {
        let lines = play(&[4, 9, 2]).unwrap_or_default();
        assert_eq!(lines.len(), 5);
        assert_eq!(lines[0], "It is 15 °C. Make it 21.");
        assert!(lines[1].ends_with("reward=0 done=false"), "{}", lines[1]);
        assert_eq!(lines[2], "failed: The thermostat can do 5 degrees at once.");
        assert!(lines[3].ends_with("reward=1 done=true"), "{}", lines[3]);
        assert_eq!(
            lines[4],
            r#"{"deepcopy": true, "state": {"degrees": 21}, "info": null}"#
        );
    }
}
