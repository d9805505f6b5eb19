//! The student's faults in real environments: they occur, are reproducible for a seed, and are named.

use std::rc::Rc;

use volary_core::json::Object;
use volary_core::object;
use volary_core::virtual_clock::VirtualClock;
use volary_episode::{Ending, Recipe};

use super::*;
use crate::{Cancel, Limits, Runner, Stop, rollout};

fn task() -> Object {
    object!({"problem": "A ferry carries 48 cars. It made 7 crossings. How many cars?", "answer": 336.0})
}

fn played(environment: &str, configuration: Object, mut student: Student) -> (Episode, Stop) {
    let clock = VirtualClock::new();
    let registry = volary_envs::registry();
    let recipe = Recipe {
        environment: environment.into(),
        configuration,
        ..Recipe::default()
    };
    clock
        .run(async {
            let (mut runner, opening) = Runner::open(&registry, &recipe, Rc::new(clock.clone()))
                .await
                .unwrap();
            let mut episode = opening.episode(recipe.clone());
            let limits = Limits { max_steps: 6 };
            let stop = rollout(
                &mut runner,
                &mut episode,
                &mut student,
                &limits,
                &Cancel::default(),
                &mut |_| {},
            )
            .await
            .unwrap();
            (episode, stop)
        })
        .unwrap()
}

fn student(environment: &str, fault: Fault, seed: u64) -> Student {
    let registry = volary_envs::registry();
    let oracle = Oracle::new(registry.environment(environment).unwrap()).ok();
    Student::new(fault, seed, oracle)
}

fn noted(episode: &Episode) -> Vec<usize> {
    let steps = episode.steps.iter().enumerate();
    steps
        .filter(|(_, step)| !step.details.errors.is_empty())
        .map(|(index, _)| index + 1)
        .collect()
}

fn calls(episode: &Episode, step: usize) -> Vec<String> {
    match &episode.steps[step].action {
        volary_core::AnyMessage::Request(request) => {
            let calls = request.tool_calls.iter();
            calls.map(|call| call.function.to_string()).collect()
        }
        _ => Vec::new(),
    }
}

#[test]
fn a_loop_repeats_one_call_until_the_limit() {
    for seed in 0..5 {
        let (episode, _) = played(
            "calculator",
            task(),
            student("calculator", Fault::Loop, seed),
        );
        assert!(
            matches!(episode.ending, Ending::Truncated { .. }),
            "{episode:?}"
        );
        assert_eq!(noted(&episode), [2, 3, 4, 5, 6]);
        assert!((1..6).all(|step| calls(&episode, step) == calls(&episode, 0)));
        assert_eq!(episode.total_reward(), 0.0);
    }
}

#[test]
fn each_other_fault_is_made_once_and_named() {
    for (fault, step, message) in [
        (Fault::WrongTool, 1, "wrong tool"),
        (Fault::MalformedJson, 1, "malformed JSON"),
        (Fault::GivesUp, 2, "gives up"),
        (Fault::ConfidentlyWrong, 1, "confident and wrong"),
    ] {
        for seed in 0..5 {
            let (episode, _) = played("calculator", task(), student("calculator", fault, seed));
            assert_eq!(noted(&episode), [step], "{fault:?}");
            let note = &episode.steps[step - 1].details.errors[0].message;
            assert!(note.contains(message), "{note}");
            assert!(episode.total_reward() < 1.0, "{fault:?}");
        }
    }
}

#[test]
fn a_fault_that_does_not_end_the_episode_is_made_good() {
    let gentle = object!({
        "problem": "A ferry carries 48 cars. It made 7 crossings. How many cars?",
        "answer": 336.0,
        "config": {"done_on_failure": false}
    });
    for fault in [Fault::WrongTool, Fault::MalformedJson] {
        let (episode, _) = played(
            "calculator",
            gentle.clone(),
            student("calculator", fault, 3),
        );
        assert_eq!(episode.ending, Ending::Done, "{fault:?}");
        assert_eq!(episode.steps.len(), 2);
        assert_eq!(
            episode.total_reward(),
            0.0,
            "-1 for the fault, 1 for the answer"
        );
    }
}

#[test]
fn the_same_seed_plays_the_same_in_every_environment() {
    for entry in volary_envs::registry().environments {
        // One waits, one fetches pages, and one crashes on purpose.
        if ["slow", "hotpotqa", "faults"].contains(&entry.name) {
            continue;
        }
        for fault in Fault::ALL {
            let play = || {
                let configuration = match entry.name {
                    "calculator" => task(),
                    _ => Object::new(),
                };
                played(entry.name, configuration, student(entry.name, fault, 7)).0
            };
            let (one, two) = (play(), play());
            let actions = |episode: &Episode| episode.actions().cloned().collect::<Vec<_>>();
            assert_eq!(actions(&one), actions(&two), "{} {fault:?}", entry.name);
        }
    }
}

#[test]
fn varied_students_make_all_faults_and_none() {
    let faults: std::collections::HashSet<_> = (0..200)
        .map(|seed| Student::varied(seed, None).fault())
        .collect();
    assert_eq!(faults.len(), Fault::ALL.len() + 1);
    assert_eq!(Fault::of_name("Malformed json"), Some(Fault::MalformedJson));
    assert_eq!(Fault::of_name("laziness"), None);
}
