//! Environments under load in a browser, for `cargo xtask bench`: the same crates, compiled with the
//! same profile as the page, stepped as its worker steps them.
//!
//! Each function does its work `count` times and says how many times it did it as it should: fewer
//! than asked for means that the environment did not behave.

use std::rc::Rc;
use std::time::Duration;

use futures_util::FutureExt;
use futures_util::future::LocalBoxFuture;
use volary_core::environment::Setting;
use volary_core::message::ToolRequestMessage;
use volary_core::{Clock, Environment, Object, object};
use volary_envs::calls::{action, argument};
use volary_envs::registry;
use wasm_bindgen::prelude::wasm_bindgen;

#[wasm_bindgen]
extern "C" {
    #[wasm_bindgen(js_namespace = performance)]
    fn now() -> f64;
}

/// The browser's clock, which timings in infos cost as they do in the page.
struct Performance;

impl Clock for Performance {
    fn now(&self) -> f64 {
        now() / 1000.0
    }

    fn sleep(&self, _duration: Duration) -> LocalBoxFuture<'static, ()> {
        Box::pin(std::future::ready(()))
    }
}

/// Steps between two resets, so that the state of a story-teller stays that of an episode.
const STEPS_PER_EPISODE: u32 = 100;

fn made(name: &str, configuration: &Object) -> Option<Box<dyn Environment>> {
    let setting = Setting {
        seed: 0,
        clock: Rc::new(Performance),
        outside: Rc::new(volary_core::outside::Closed),
    };
    let registry = registry();
    registry
        .environment_from_name(name, None, configuration, &setting)
        .ok()
}

fn reset(environment: &mut dyn Environment) -> bool {
    matches!(environment.reset().now_or_never(), Some(Ok(_)))
}

fn step(environment: &mut dyn Environment, request: &ToolRequestMessage) -> bool {
    let step = environment.step(request.clone().into()).now_or_never();
    matches!(step, Some(Ok(step)) if !step.messages.is_empty())
}

fn steps(name: &str, configuration: &Object, request: &ToolRequestMessage, count: u32) -> u32 {
    let Some(mut environment) = made(name, configuration) else {
        return 0;
    };
    (0..count)
        .filter(|number| {
            if number % STEPS_PER_EPISODE == 0 && !reset(&mut *environment) {
                return false;
            }
            step(&mut *environment, request)
        })
        .count() as u32
}

fn story() -> ToolRequestMessage {
    action(
        &[],
        [("print_story", argument("story", "Once upon a time done"))],
    )
}

/// Steps of the dummy environment.
#[wasm_bindgen]
pub fn dummy_steps(count: u32) -> u32 {
    steps(
        "dummy",
        &object!({"end_immediately": false}),
        &story(),
        count,
    )
}

/// Resets of the dummy environment.
#[wasm_bindgen]
pub fn dummy_resets(count: u32) -> u32 {
    let Some(mut environment) = made("dummy", &Object::new()) else {
        return 0;
    };
    (0..count).filter(|_| reset(&mut *environment)).count() as u32
}

/// Whole episodes of the dummy environment: made, reset, stepped once.
#[wasm_bindgen]
pub fn dummy_episodes(count: u32) -> u32 {
    let request = story();
    (0..count)
        .filter(|_| {
            made("dummy", &Object::new())
                .is_some_and(|mut made| reset(&mut *made) && step(&mut *made, &request))
        })
        .count() as u32
}

/// Steps of the calculator.
#[wasm_bindgen]
pub fn calculator_steps(count: u32) -> u32 {
    let problem = object!({"problem_id": "p", "problem": "What is 2 + 3?", "answer": 5});
    let request = action(
        &[],
        [("calculator", argument("expr", "(2 + 3) * 7 - 4 / 2"))],
    );
    steps("calculator", &problem, &request, count)
}
