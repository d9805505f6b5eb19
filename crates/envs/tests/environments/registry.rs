//! The registry's statements about each environment are true.

use std::rc::Rc;

use volary_core::clock::Standstill;
use volary_core::environment::Setting;
use volary_core::json::Json;
use volary_core::registry::RegistryError;
use volary_core::schema;
use volary_core::view::ViewInput;
use volary_core::{Object, object};
use volary_envs::{described_registry_with_tau_bench, registry, registry_with_tau_bench};

fn setting() -> Setting {
    Setting {
        seed: 0,
        clock: Rc::new(Standstill),
        outside: Rc::new(volary_core::outside::Closed),
    }
}

#[test]
fn every_name_is_there_once() {
    let names: Vec<&str> = registry().available().collect();
    assert_eq!(
        names,
        [
            "calculator",
            "dummy",
            "counter",
            "hands",
            "library_desk",
            "hotpotqa",
            "slow",
            "faults"
        ]
    );
    let datasets: Vec<&str> = registry().datasets.iter().map(|entry| entry.name).collect();
    assert_eq!(
        datasets,
        [
            "word_problems",
            "gsm8k",
            "dummy",
            "library_desk",
            "two_hop_questions",
            "hotpotqa",
            "slow_calls"
        ]
    );
}

/// Every property has a description, and its default is valid.
fn assert_well_made(name: &str, schema: &Json) {
    assert_eq!(schema.get("type"), Some(&Json::from("object")), "{name}");
    let properties = schema.get("properties").and_then(Json::as_object).unwrap();
    let required = schema
        .get("required")
        .and_then(Json::as_list)
        .unwrap_or_default();
    for (key, property) in properties.iter() {
        for text in ["title", "description"] {
            let text = property.get(text).and_then(Json::as_text);
            assert!(text.is_some_and(|text| !text.is_empty()), "{name}.{key}");
        }
        match property.get("default") {
            Some(default) => assert_eq!(schema::check(property, default), [], "{name}.{key}"),
            None => assert!(required.contains(&Json::from(&**key)), "{name}.{key}"),
        }
        if property.get("properties").is_some() {
            assert_well_made(&format!("{name}.{key}"), property);
        }
    }
}

#[test]
fn configurations_describe_themselves() {
    let registry = registry();
    for entry in &registry.environments {
        assert!(entry.summary.ends_with('.'), "{}", entry.name);
        assert_well_made(entry.name, &(entry.configuration)());
    }
    for entry in &registry.datasets {
        assert!(entry.summary.ends_with('.'), "{}", entry.name);
        assert_well_made(entry.name, &(entry.configuration)());
    }
}

#[test]
fn defaults_make_every_environment_and_views_bear_an_empty_frame() {
    for entry in registry().environments {
        let schema = (entry.configuration)();
        let mut configuration = schema::with_defaults(&schema, &Object::new());
        if entry.name == "calculator" {
            configuration.insert("problem", "What is 2 + 3?");
            configuration.insert("answer", 5);
        }
        let made = (entry.make)(&configuration, &setting());
        assert!(made.is_ok(), "{}: {:?}", entry.name, made.err());
        let input = ViewInput {
            frame: &volary_core::Frame::default(),
            messages: &[],
            reward: None,
            done: true,
        };
        if let Some(view) = entry.view {
            view(&input);
        }
        assert_eq!(entry.oracle.and_then(|oracle| oracle(&input)), None);
    }
}

#[test]
fn misfits_name_the_key() {
    for (name, configuration, key) in [
        ("dummy", object!({"tasks": "x"}), "tasks"),
        (
            "dummy",
            object!({"end_immediately": "no"}),
            "end_immediately",
        ),
        ("counter", object!({"x": 1}), "x"),
        ("calculator", object!({"problem": "x"}), "answer"),
        ("calculator", object!({"answer": 5}), "problem"),
        (
            "calculator",
            object!({"problem": "x", "answer": 5, "config": {"tolerance": 1}}),
            "config.tolerance",
        ),
        ("library_desk", object!({"task": "x"}), "task"),
        ("library_desk", object!({"replies": [1]}), "replies"),
        ("hotpotqa", object!({"wiki": "wikipedia"}), "wiki"),
        ("hotpotqa", object!({"question_id": "7"}), "question_id"),
        (
            "hotpotqa",
            object!({"evaluation_mode": "llm-score"}),
            "evaluation_mode",
        ),
        (
            "hotpotqa",
            object!({"question": "x", "correct_answer": "y", "pages": {"x": 1}}),
            "pages",
        ),
        ("slow", object!({"tool_seconds": (-1)}), "tool_seconds"),
        ("slow", object!({"limit_seconds": 1e9}), "limit_seconds"),
        (
            "hands",
            object!({"right_hand_broken": 1}),
            "right_hand_broken",
        ),
        (
            "faults",
            object!({"answer_failures": null}),
            "answer_failures",
        ),
    ] {
        let registry = registry();
        let entry = registry.environment(name).unwrap();
        // On its own, and after the check against the schema.
        for made in [
            (entry.make)(&configuration, &setting()),
            entry.make(&configuration, &setting()),
        ] {
            let said = made
                .err()
                .map(|error| error.to_string())
                .unwrap_or_default();
            assert!(said.contains(key), "{name}: {said}");
        }
    }
}

#[test]
fn tasks_and_unknown_names() {
    let make = |name: &str, task: Option<&str>, configuration: Object| {
        let registry = registry();
        let made = registry.environment_from_name(name, task, &configuration, &setting());
        made.map(|environment| environment.id().map_err(|error| error.to_string()))
    };
    let dummy = make("dummy", Some("owls"), object!({}));
    assert_eq!(dummy, Ok(Ok("owls".into())));
    let calculator = make("calculator", Some("What is 18 * 4?"), object!({}));
    assert_eq!(calculator, Ok(Err("No problem ID was configured.".into())));
    let both = make("dummy", Some("a"), object!({"end_immediately": false}));
    assert_eq!(both, Err(RegistryError::TaskAndSettings));
    let unknown = make("nothing", None, object!({})).unwrap_err();
    assert_eq!(unknown.to_string(), "Unknown environment name: nothing");
    assert!(make("counter", Some("x"), object!({})).is_err());
}

#[test]
fn a_step_before_the_reset_is_an_error() {
    use futures_util::FutureExt;
    let registry = registry();
    for name in registry.available() {
        let configuration = match name {
            "calculator" => object!({"problem": "x", "answer": 1}),
            _ => object!({}),
        };
        let made = registry.environment_from_name(name, None, &configuration, &setting());
        let mut environment = made.unwrap();
        // Without calls the calculator still replies.
        let calls = [("1", "nothing", Json::Null)];
        let calls = &calls[..usize::from(name == "calculator")];
        let step = environment.step(crate::player::request(calls).into());
        let error = step.now_or_never().unwrap().unwrap_err();
        assert_eq!(error, volary_core::EnvironmentError::NotReset, "{name}");
    }
}

/// Arguments for each dataset, with a file where it needs one.
fn arguments(name: &str) -> Object {
    match name {
        "gsm8k" => object!({
            "split": "val",
            "jsonl": "{\"question\": \"q\", \"answer\": \"#### 1\"}",
            "config": {"correct_reward": 2.0},
        }),
        "hotpotqa" => object!({
            "split": "train",
            "json": "[{\"id\": \"5a8b57f25542995d1e6f1371\", \"question\": \"q\", \"answer\": \"a\"}]",
            "config": {"correct_reward": 2.0},
        }),
        _ => Object::new(),
    }
}

#[test]
fn the_list_of_tasks_is_that_of_the_dataset() {
    for entry in &registry().datasets {
        let arguments = arguments(entry.name);
        let listed = registry().tasks(entry.name, &arguments).unwrap();
        let dataset = registry().dataset_from_name(entry.name, &arguments, &setting());
        let dataset = dataset.unwrap();
        let tasks: Vec<_> = (0..).map_while(|index| dataset.task(index)).collect();
        assert_eq!(listed, tasks, "{}", entry.name);
        assert_eq!(
            listed.len(),
            dataset.length().unwrap_or_default(),
            "{}",
            entry.name
        );
    }
}

#[test]
fn a_described_registry_says_all_but_makes_nothing() {
    let (whole, described) = (
        registry_with_tau_bench(),
        described_registry_with_tau_bench(),
    );
    assert!(whole.available().eq(described.available()));
    for (entry, other) in whole.environments.iter().zip(&described.environments) {
        assert_eq!(
            (entry.summary, (entry.configuration)()),
            (other.summary, (other.configuration)())
        );
        assert_eq!(entry.view.is_some(), other.view.is_some());
        assert_eq!(entry.oracle.is_some(), other.oracle.is_some());
        let made = (other.make)(&Object::new(), &setting());
        assert_eq!(made.err(), Some(RegistryError::Described));
    }
    for entry in &described.datasets {
        let arguments = arguments(entry.name);
        assert_eq!(
            described.tasks(entry.name, &arguments),
            whole.tasks(entry.name, &arguments)
        );
        let made = described.dataset_from_name(entry.name, &arguments, &setting());
        assert_eq!(made.err(), Some(RegistryError::Described));
    }
}
