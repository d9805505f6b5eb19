//! Hand-ins that fit and that do not, and what they teach.

use volary_core::json::Json;
use volary_core::message::ToolRequestMessage;
use volary_core::object;
use volary_core::tool::ToolCall;
use volary_episode::episode::{Outcome, Recipe, StepRecord};
use volary_policy::Network;

use super::*;
use crate::courses::learnable;
use crate::inspect::examine;
use crate::learnable::Difficulty;
use crate::shipped;

fn work(pupil: &str, configuration: Object, calls: &[(&str, &str, &str)]) -> PupilWork {
    work_in("calculator", pupil, configuration, calls)
}

fn work_in(
    environment: &str,
    pupil: &str,
    configuration: Object,
    calls: &[(&str, &str, &str)],
) -> PupilWork {
    let steps = calls.iter().map(|(tool, key, value)| {
        let mut arguments = Object::new();
        arguments.insert((*key).to_owned(), Json::from(Text::from(*value)));
        let action = ToolRequestMessage {
            tool_calls: vec![ToolCall::new("1", Text::from(*tool), arguments)],
            ..ToolRequestMessage::default()
        };
        StepRecord::new(
            action.into(),
            Outcome::Observed {
                messages: Vec::new(),
                // A pupil may claim anything.
                reward: 1.0,
                done: true,
                truncated: false,
            },
        )
    });
    PupilWork {
        pupil: pupil.to_owned(),
        title: "Sums".to_owned(),
        episode: Episode {
            recipe: Some(Recipe {
                environment: environment.into(),
                configuration,
                ..Recipe::default()
            }),
            steps: steps.collect(),
            ..Episode::default()
        },
    }
}

fn asked(left: i64, right: i64) -> Object {
    object!({
        "problem": (format!("What is {left}*{right}?")),
        "answer": (left * right)
    })
}

fn solved(pupil: &str, left: i64, right: i64) -> PupilWork {
    let (expression, answer) = (format!("{left} * {right}"), (left * right).to_string());
    work(
        pupil,
        asked(left, right),
        &[
            ("calculator", "expr", &expression),
            ("submit_answer", "answer", &answer),
        ],
    )
}

/// A class of three, with four tasks each.
fn class() -> Vec<PupilWork> {
    let pupils = ["Ada", "Ben", "Cleo"].into_iter().enumerate();
    pupils
        .flat_map(|(number, pupil)| {
            let number = i64::try_from(number).unwrap();
            (0..4).map(move |task| solved(pupil, 12 + 7 * task + number, 31 + 11 * task - number))
        })
        .collect()
}

#[test]
fn work_that_does_not_fit_is_named_and_left_out() {
    let calculator = learnable("calculator").unwrap();
    let word_problem =
        object!({"problem": "A train runs 22 km in an hour. And in 3 hours?", "answer": 66});
    let works = [
        solved("Ada", 37, 48),
        work(
            "Ben",
            word_problem.clone(),
            &[
                ("calculator", "expr", "22 * 3"),
                ("submit_answer", "answer", "66"),
            ],
        ),
        work("Cleo", asked(37, 48), &[("submit_answer", "answer", "1")]),
        work("Dora", word_problem, &[("submit_answer", "answer", "66")]),
        work("Emil", asked(37, 48), &[]),
        work_in("counter", "Finn", Object::new(), &[("incr", "x", "1")]),
    ];
    let classwork = Classwork::read(&*calculator, &works);
    assert_eq!(
        classwork.pupils(),
        [("Ada".to_owned(), 1), ("Ben".to_owned(), 1)]
    );
    let reasons: Vec<(&str, &str)> = classwork
        .left_out
        .iter()
        .map(|left_out| (&*left_out.pupil, &*left_out.reason))
        .collect();
    assert_eq!(reasons.len(), 4, "{reasons:?}");
    for ((pupil, reason), (expected, part)) in reasons.into_iter().zip([
        ("Cleo", "did not solve its task"),
        ("Dora", "cannot write it"),
        ("Emil", "Nothing was played"),
        ("Finn", "played in `counter`"),
    ]) {
        assert_eq!(pupil, expected);
        assert!(reason.contains(part), "{pupil}: {reason}");
    }
    let alphabet = calculator.alphabet();
    let texts: Vec<String> = classwork
        .of(None)
        .map(|example| alphabet.text(&example.tokens))
        .collect();
    assert_eq!(
        texts,
        ["?37*48=c37*48)>1776;a1776.", "?22*3=c22*3)>66;a66."]
    );
}

#[test]
fn a_class_teaches_the_use_of_the_tool_and_each_pupil_counts() {
    let calculator = learnable("calculator").unwrap();
    let classwork = Classwork::read(&*calculator, &class());
    assert_eq!((classwork.count(None), classwork.left_out.len()), (12, 0));
    assert_eq!(classwork.count(Some("Ben")), 8);
    let start = shipped("calculator").unwrap();
    let success = |weights: Weights| {
        let network = Network::new(weights);
        let exam = examine(&*calculator, &network, Difficulty::Trained, 500, 1.0, 1);
        exam.unwrap().success
    };
    let teach = |without| {
        let taught = classwork.teach(&*calculator, start.clone(), without);
        taught.unwrap()
    };
    let (all, again) = (teach(None), teach(None));
    assert_eq!(all.hash(), again.hash());
    let without = teach(Some("Ben"));
    assert_ne!(all.hash(), without.hash());
    let before = success(start.clone());
    let (all, without) = (success(all), success(without));
    println!("before {before}, all {all}, without one {without}");
    assert!(all > before + 0.1, "{before} {all}");
    // A pupil of whom nothing is there changes nothing.
    assert_eq!(teach(Some("Nobody")).hash(), teach(None).hash());
}

#[test]
fn a_class_without_usable_work_leaves_the_warm_start_as_it_is() {
    let calculator = learnable("calculator").unwrap();
    let start = shipped("calculator").unwrap();
    let taught = Classwork::default().teach(&*calculator, start.clone(), None);
    assert_eq!(taught.unwrap().hash(), start.hash());
}
