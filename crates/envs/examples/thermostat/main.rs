//! Plays the environment that `docs/new-environment.md` walks through.

mod thermostat;

use std::rc::Rc;

use futures_util::FutureExt;
use volary_core::clock::Standstill;
use volary_core::environment::Setting;
use volary_core::registry::Registry;
use volary_core::{AnyMessage, Object};
use volary_envs::calls::{action, argument};

fn main() -> Result<(), Box<dyn std::error::Error>> {
    for line in play(&[4, 9, 2])? {
        println!("{line}");
    }
    Ok(())
}

/// Plays the environment, one change per step. Returns the messages and the result of each step.
fn play(changes: &[i64]) -> Result<Vec<String>, Box<dyn std::error::Error>> {
    let registry = Registry {
        environments: vec![thermostat::ENTRY],
        datasets: Vec::new(),
    };
    let setting = Setting {
        seed: 0,
        clock: Rc::new(Standstill),
        outside: Rc::new(volary_core::outside::Closed),
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
