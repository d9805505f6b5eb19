//! The calculator: rewards, endings, tolerances, its view and its oracle.

use volary_core::view::{Block, Tone};
use volary_core::{Json, Message, Object, json, object};

use crate::player::{Player, played, request};

fn problem(answer: impl Into<Json>, config: Object) -> Player {
    let configuration = object!({
        "problem_id": "p", "problem": "What is 2 + 3?", "answer": (answer.into()), "config": config,
    });
    Player::new("calculator", configuration)
}

fn submit(answer: impl Into<Json>) -> [(&'static str, &'static str, Json); 1] {
    [("s", "submit_answer", json!({"answer": (answer.into())}))]
}

fn compute(expression: impl Into<Json>) -> [(&'static str, &'static str, Json); 1] {
    [("c", "calculator", json!({"expr": (expression.into())}))]
}

#[test]
fn compute_then_submit() {
    let mut player = problem(5, object!({}));
    assert_eq!(player.tools, ["calculator", "submit_answer"]);
    assert_eq!(player.step(&compute("2 + 3")), played(&["5"], 0.0, false));
    assert_eq!(player.step(&submit("5")), played(&["True"], 1.0, true));
    assert!(
        player
            .messages
            .iter()
            .all(|message| message.body().info.is_none())
    );
    assert_eq!(player.environment.id().unwrap().as_ref(), "p");
    let state = json!({"problem_id": "p", "problem": "What is 2 + 3?", "answer": 5.0});
    assert_eq!(player.frame().state, state);
    assert_eq!(player.frame().info, Json::Null);
}

#[test]
fn answers_are_judged_by_the_tolerance() {
    for (answer, config, submitted, right) in [
        (json!(42), object!({}), json!("42.004"), true),
        (json!(42), object!({}), json!("42.0043"), false),
        (json!(42), object!({}), json!(42), true),
        (json!(1), object!({}), json!(true), true),
        (json!(0), object!({}), json!("0.00000001"), true),
        (json!(-42), object!({}), json!(" -42.0\n"), true),
        (json!(42), object!({}), json!("inf"), false),
        (json!(42), object!({}), json!("nan"), false),
        (json!(f64::INFINITY), object!({}), json!("inf"), false),
        (json!(42), object!({"rel_tol": 0}), json!(42), false),
        (json!(100), object!({"rel_tol": 0.5}), json!("149"), true),
    ] {
        let mut player = problem(answer.clone(), config);
        let step = player.step(&submit(submitted.clone()));
        let (content, reward) = if right { ("True", 1.0) } else { ("False", 0.0) };
        assert_eq!(
            step,
            played(&[content], reward, true),
            "{submitted:?} for {answer:?}"
        );
    }
}

#[test]
fn an_invalid_number_is_a_failure_or_fails_the_step() {
    let mut player = problem(5, object!({"done_on_failure": false}));
    for text in ["five", "", "$5", "1,000"] {
        assert_eq!(player.step(&submit(text)), played(&["False"], -1.0, true));
    }
    let argument = "float() argument must be a string or a real number, not ";
    for (value, failure) in [
        (json!(null), format!("{argument}'NoneType'")),
        (json!([5]), format!("{argument}'list'")),
    ] {
        assert_eq!(player.step(&submit(value)), Err(failure));
    }
    let mut player = problem(0, object!({"rel_tol": 0}));
    assert_eq!(
        player.step(&submit("0")),
        Err("float division by zero".into())
    );
}

#[test]
fn expressions_that_cannot_be_computed_are_failures() {
    let reply = "Error using calculator: ValueError('Division by zero is not allowed').";
    let mut player = problem(5, object!({}));
    assert_eq!(player.step(&compute("1 / 0")), played(&[reply], -1.0, true));
    let config = object!({"done_on_failure": false, "tool_failure_reward": (-0.25)});
    let mut player = problem(5, config);
    assert_eq!(
        player.step(&compute("1 / 0")),
        played(&[reply], -0.25, false)
    );
    for (value, kind) in [
        (json!(5), "int"),
        (json!(null), "NoneType"),
        (json!([]), "list"),
    ] {
        let reply = format!(
            "Error using calculator: AttributeError(\"'{kind}' object has no attribute 'strip'\")."
        );
        assert_eq!(
            player.step(&compute(value)),
            played(&[&reply], -0.25, false)
        );
    }
    let failed = player.step(&[("1", "calculator", json!({"expression": "1"}))]);
    assert!(failed.unwrap_err().contains("unexpected keyword argument"));
}

#[test]
fn rewards_add_up_and_invalid_calls_come_last() {
    let config = object!({"correct_reward": 10, "tool_success_reward": 0.5});
    let mut player = problem(5, config);
    let step = player.step(&[
        ("a", "nothing", json!({})),
        ("b", "calculator", json!({"expr": "1"})),
        ("c", "calculator", json!({"expr": "7 / 2"})),
        ("d", "submit_answer", json!({"answer": "5"})),
    ]);
    assert_eq!(step, played(&["1", "3.5", "True", ""], 11.0, true));
    // Rewards are those of the step, not of the episode.
    assert_eq!(player.step(&compute("1")), played(&["1"], 0.5, false));
    let step = player.step(&[("a", "x", json!({})), ("b", "y", json!({}))]);
    assert_eq!(step, played(&["", ""], -2.0, true));
}

#[test]
fn replies_belong_to_their_calls_even_where_ids_repeat() {
    let mut player = problem(5, object!({}));
    let step = player.step(&[
        ("a", "calculator", json!({"expr": "1"})),
        ("b", "calculator", json!({"expr": "2"})),
        ("a", "calculator", json!({"expr": "3"})),
    ]);
    assert_eq!(step, played(&["1", "2", "3"], 0.0, false));
}

#[test]
fn actions_without_calls_are_failures_and_plain_messages_are_not() {
    let mut player = problem(5, object!({}));
    let text = "Must call one of the provided tools (calculator or submit_answer).";
    assert_eq!(player.step(&[]), played(&[text], -1.0, true));
    let text = "No tool calls received. Please call one or more tools to proceed.";
    let plain = player.act(Message::user("five").into());
    assert_eq!(plain, played(&[text], 0.0, false));
}

#[test]
fn a_missing_id_is_reported() {
    let configuration = object!({"problem": "?", "answer": 1});
    let player = Player::new("calculator", configuration);
    assert_eq!(
        player.environment.id().unwrap_err().to_string(),
        "No problem ID was configured."
    );
}

#[test]
fn the_oracle_is_right_and_the_view_confirms_it() {
    for (answer, shown) in [(5.0, "5"), (2.5, "2.5"), (1e22, "1e+22"), (-3.0, "-3")] {
        let mut player = problem(answer, object!({}));
        assert_eq!(player.solve().map(|step| step.reward), Some(1.0));
        let verdict = (Tone::Good, format!("{shown} is right."));
        assert_eq!(player.verdicts(), [verdict]);
    }
}

#[test]
fn the_view_shows_problem_calculations_and_verdict() {
    let mut player = problem(5, object!({"done_on_failure": false}));
    player
        .step(&[
            ("a", "calculator", json!({"expr": "2 + 3"})),
            ("b", "calculator", json!({"expr": "1 / 0"})),
            ("c", "other", json!({})),
        ])
        .unwrap();
    for (answer, verdict) in [
        (json!("6"), "6 is wrong."),
        (json!("six"), "“six” is not a number."),
        (json!(null), "“None” could not be judged: the step failed."),
    ] {
        let _ = player.step(&submit(answer));
        assert_eq!(player.verdicts(), [(Tone::Bad, verdict.into())]);
    }
    let blocks = player.view().blocks;
    let Block::Results { rows, .. } = &blocks[0] else {
        panic!("{blocks:?}");
    };
    let tones: Vec<(&str, Tone)> = rows.iter().map(|row| (&*row.0, row.2)).collect();
    assert_eq!(
        tones,
        [
            ("2 + 3", Tone::Plain),
            ("1 / 0", Tone::Bad),
            ("other", Tone::Bad)
        ]
    );
    let mut player = problem(5, object!({}));
    player.act(request(&compute("x")).into()).unwrap();
    assert_eq!(player.verdicts()[0].0, Tone::Bad);
}
