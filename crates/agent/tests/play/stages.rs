//! Shared test support: time, registries, and a small environment that misbehaves on demand.

use std::rc::Rc;

use futures_util::future::LocalBoxFuture;
use volary_agent::{Cancel, Limits, Policy, RolloutError, Runner, RunnerError, rollout};
use volary_core::environment::Setting;
use volary_core::json::{Json, Object};
use volary_core::registry::{EnvironmentEntry, Registry, RegistryError};
use volary_core::virtual_clock::VirtualClock;
use volary_core::{
    AnyMessage, Environment, EnvironmentError, Frame, Message, Reset, Step, json, object,
};
use volary_episode::{Episode, Recipe};

/// Runs a future that waits only for the clock.
pub fn run<F: Future>(play: impl FnOnce(VirtualClock) -> F) -> F::Output {
    let clock = VirtualClock::new();
    clock
        .run(play(clock.clone()))
        .expect("only the clock is waited for")
}

pub fn recipe(environment: &str, seed: u64) -> Recipe {
    Recipe {
        environment: environment.into(),
        seed,
        ..Recipe::default()
    }
}

/// Plays a new episode until it ends, its environment crashes, or this many steps were taken.
pub fn play(
    registry: &Registry,
    recipe: Recipe,
    policy: &mut dyn Policy,
    max_steps: usize,
) -> Result<Episode, RunnerError> {
    run(|clock| async move {
        let (mut runner, opening) = Runner::open(registry, &recipe, Rc::new(clock)).await?;
        let mut episode = opening.episode(recipe);
        let limits = Limits { max_steps };
        let (cancel, mut on_step) = (Cancel::default(), |_: &Episode| {});
        let played = rollout(
            &mut runner,
            &mut episode,
            policy,
            &limits,
            &cancel,
            &mut on_step,
        );
        match played.await {
            Ok(_) | Err(RolloutError::Runner(RunnerError::Crashed { .. })) => {}
            Err(other) => panic!("{other}"),
        }
        runner.close().await?;
        Ok(episode)
    })
}

/// Repeats its input; fails, panics, never answers or ends on request.
struct Parrot {
    said: Vec<Json>,
}

impl Environment for Parrot {
    fn kind(&self) -> &'static str {
        "Parrot"
    }

    fn reset(&mut self) -> LocalBoxFuture<'_, Result<Reset, EnvironmentError>> {
        Box::pin(std::future::ready(Ok(Reset {
            messages: vec![Message::user("Say something.").into()],
            tools: Vec::new(),
        })))
    }

    fn step(&mut self, action: AnyMessage) -> LocalBoxFuture<'_, Result<Step, EnvironmentError>> {
        Box::pin(async move {
            let text = action.body().content.clone().unwrap_or_default();
            self.said.push(text.clone().into());
            match &*text {
                "fail" => Err(EnvironmentError::Failed {
                    message: "told to fail".into(),
                }),
                "lose" => Err(EnvironmentError::Lost {
                    message: "told to get lost".into(),
                }),
                "panic" => panic!("told to panic"),
                "hang" => std::future::pending().await,
                _ => Ok(Step {
                    messages: vec![Message::user(text.clone()).into()],
                    reward: 0.5,
                    done: &*text == "done",
                    truncated: &*text == "truncate",
                }),
            }
        })
    }

    fn export_frame(&self) -> Frame {
        Frame::new(self.said.clone(), Json::Null)
    }
}

pub fn parrots() -> Registry {
    fn make(_: &Object, _: &Setting) -> Result<Box<dyn Environment>, RegistryError> {
        Ok(Box::new(Parrot { said: Vec::new() }))
    }
    let entry = EnvironmentEntry {
        name: "parrot",
        summary: "Repeats.",
        configuration: || json!({ "type": "object", "properties": (object!({})) }),
        make,
        from_task: None,
        view: None,
        oracle: None,
    };
    Registry {
        environments: vec![entry],
        datasets: Vec::new(),
    }
}

pub fn say(text: &str) -> AnyMessage {
    Message::user(text).into()
}
