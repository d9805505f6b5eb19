//! Native recordings of every environment, in a file that a browser checks as well
//! (`tests/e2e/determinism.spec.mjs`): the same calls return the same results there, bit for bit.

use volary_agent::draw::draw_object;
use volary_agent::{Policy, RandomPolicy, Scripted};
use volary_core::json::{Json, Object};
use volary_core::random::Random;
use volary_core::{json, object};
use volary_episode::{Episode, Recipe, native};

use crate::stages::{play, recipe};

const RECORDED: &str = include_str!("../../../../tests/e2e/fixtures/recorded_natively.jsonl");

/// Expressions most likely to differ between machines: powers, roundings, exact quotients, integers of any size.
const EXPRESSIONS: [&str; 16] = [
    "2 ** 0.5",
    "1.1 ** 77.7",
    "7.3 ** -12.9",
    "1e-320 ** 0.97",
    "(-8) ** (1 / 3)",
    "0.1 + 0.2",
    "1 / 3 - 5e-324",
    "2 ** 2000 / 3 ** 1200",
    "2 ** 200 // -7",
    "-7.5 % 2.3",
    "1e308 * 10",
    "round(2.675, 2)",
    "round(-1234.5678, -2)",
    "abs(-0.0) * 1e16",
    "max(2 ** 53 + 1, 9007199254740992.0)",
    "123456789.123456789 * 987654321.987654321",
];

fn calculations() -> Episode {
    let calls = EXPRESSIONS.map(
        |expression| json!({ "name": "calculator", "arguments": (object!({ "expr": expression })) }),
    );
    let mut script = Scripted::parse(&Json::from(calls.to_vec()).to_python_text()).unwrap();
    let recipe = Recipe {
        configuration: object!({ "problem": "Calculate.", "answer": 1.5, "config": (object!({ "done_on_failure": false })) }),
        ..recipe("calculator", 7)
    };
    named("calculations", recipe, &mut script)
}

fn at_random(environment: &'static str, schema: &Json) -> Episode {
    // A schema does not state every requirement of a configuration, so some seeds are invalid.
    let registry = volary_envs::registry();
    let seed = (1..).find(|seed| {
        let recipe = drawn(environment, schema, *seed);
        play(&registry, recipe, &mut RandomPolicy::new(*seed), 1).is_ok()
    });
    let seed = seed.unwrap();
    let recipe = drawn(environment, schema, seed);
    named(environment, recipe, &mut RandomPolicy::new(seed))
}

fn drawn(environment: &'static str, schema: &Json, seed: u64) -> Recipe {
    let configuration: Object = draw_object(schema, &mut Random::new(seed));
    Recipe {
        configuration,
        ..recipe(environment, seed)
    }
}

fn named(name: &str, recipe: Recipe, policy: &mut dyn Policy) -> Episode {
    const STEPS: usize = 20;
    let mut episode = play(&volary_envs::registry(), recipe, policy, STEPS).unwrap();
    episode.id = name.into();
    episode.name = format!("{name}, recorded natively").into();
    episode
}

/// Set `UPDATE_RECORDED` to rewrite the file.
#[test]
fn native_recordings_are_up_to_date() {
    let registry = volary_envs::registry();
    // Slow environments wait for a clock, and faults crash their worker.
    let entries = registry.environments.iter();
    let entries = entries.filter(|entry| !["slow", "faults"].contains(&entry.name));
    let episodes = entries.map(|entry| at_random(entry.name, &(entry.configuration)()));
    let lines = episodes
        .chain([calculations()])
        .map(|episode| native::to_text(&episode).trim_end().to_owned() + "\n");
    let text: String = lines.collect();
    if std::env::var_os("UPDATE_RECORDED").is_some() {
        let path = concat!(
            env!("CARGO_MANIFEST_DIR"),
            "/../../tests/e2e/fixtures/recorded_natively.jsonl"
        );
        std::fs::write(path, &text).unwrap();
    } else {
        assert_eq!(RECORDED, text, "run this test with UPDATE_RECORDED=1");
    }
}
