//! Measures the steps per second of the environments, natively:
//! `cargo run --release -p volary-envs --example speed`.
//!
//! The measured loop is that of a runner: construct the action, take the step, drop its result; with
//! a reset every hundred steps. A second measurement also exports the frame of every step.

use std::rc::Rc;
use std::time::{Duration, Instant};

use futures_util::FutureExt;
use volary_core::clock::Standstill;
use volary_core::environment::Setting;
use volary_core::message::ToolRequestMessage;
use volary_core::{AnyMessage, Environment, Object, object};
use volary_envs::calls::{action, argument};
use volary_envs::registry;

const STEPS_PER_EPISODE: usize = 100;
const TIME: Duration = Duration::from_secs(1);

type Failure = Box<dyn std::error::Error>;

fn main() -> Result<(), Failure> {
    println!("| environment | steps/s | with frames/s | resets/s |");
    println!("|---|---|---|---|");
    let problem = object!({"problem": "What is 18 * 4?", "answer": 72});
    for (name, configuration, call) in [
        (
            "dummy",
            object!({"end_immediately": false}),
            ("cast_float", argument("x", "1.5")),
        ),
        (
            "calculator",
            problem,
            ("calculator", argument("expr", "18 * (4 + 0.5) / 3")),
        ),
        ("counter", object!({}), ("incr", Object::new())),
    ] {
        let setting = Setting {
            seed: 0,
            clock: Rc::new(Standstill),
            outside: Rc::new(volary_core::outside::Closed),
        };
        let made = registry().environment_from_name(name, None, &configuration, &setting);
        let mut environment = made?;
        let request = action(&[], [call]);
        let steps = measure(|| episode(&mut *environment, &request, false))?;
        let framed = measure(|| episode(&mut *environment, &request, true))?;
        let resets = measure(|| {
            environment
                .reset()
                .now_or_never()
                .ok_or("The reset waits.")??;
            Ok(1)
        })?;
        println!("| {name} | {steps:.0} | {framed:.0} | {resets:.0} |");
    }
    Ok(())
}

/// A reset and a hundred steps.
fn episode(
    environment: &mut dyn Environment,
    request: &ToolRequestMessage,
    frames: bool,
) -> Result<usize, Failure> {
    environment
        .reset()
        .now_or_never()
        .ok_or("The reset waits.")??;
    for _ in 0..STEPS_PER_EPISODE {
        let action = AnyMessage::Request(request.clone());
        environment
            .step(action)
            .now_or_never()
            .ok_or("The step waits.")??;
        if frames {
            std::hint::black_box(environment.export_frame());
        }
    }
    Ok(STEPS_PER_EPISODE)
}

/// Runs `run` repeatedly; returns how often per second. `run` returns the number of measured operations.
fn measure(mut run: impl FnMut() -> Result<usize, Failure>) -> Result<f64, Failure> {
    let begun = Instant::now();
    let mut done = 0;
    while begun.elapsed() < TIME {
        done += run()?;
    }
    Ok(done as f64 / begun.elapsed().as_secs_f64())
}
