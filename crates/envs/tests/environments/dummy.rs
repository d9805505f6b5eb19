//! The dummy: its options, tools, state and view.

use volary_core::view::Block;
use volary_core::{Message, json, object};

use crate::player::{Player, played, request};

const OPENING: &str = "Write a 5 word story via print_story";

fn said(player: &Player) -> Vec<String> {
    let frame = player.frame();
    let messages = frame.state.get("messages").unwrap().as_list().unwrap();
    messages.iter().map(|text| text.to_display()).collect()
}

#[test]
fn a_story_ends_it_and_the_frame_tells_all() {
    let mut player = Player::new("dummy", object!({"task": "owls"}));
    let opening = format!("{OPENING} about owls");
    assert_eq!(said(&player), [opening.as_str()]);
    assert_eq!(
        player.tools,
        ["print_story", "cast_float", "cast_int", "get_random_int"]
    );
    let step = player.step(&[("1", "print_story", json!({"story": "a b"}))]);
    assert_eq!(step, played(&["null"], 1.0, true));
    assert_eq!(said(&player), [opening.as_str(), "null"]);
    assert_eq!(player.environment.id().unwrap().as_ref(), "owls");
    assert_eq!(
        player.frame().info,
        json!({
            "tool_names": ["print_story", "cast_float", "cast_int", "get_random_int"],
            "done": true,
            "reward": 1.0,
        })
    );
}

#[test]
fn an_empty_task_is_not_mentioned_but_is_an_id() {
    let player = Player::new("dummy", object!({"task": ""}));
    assert_eq!(said(&player), [OPENING]);
    assert_eq!(player.environment.id().unwrap().as_ref(), "");
    let player = Player::new("dummy", object!({}));
    assert_eq!(
        player.environment.id().unwrap_err().to_string(),
        "No task (to reuse as an ID) was configured."
    );
}

#[test]
fn reward_and_end_stay_until_the_reset() {
    let mut player = Player::new("dummy", object!({}));
    let cast = || [("2", "cast_int", json!({"x": (-3.7)}))];
    assert_eq!(player.step(&cast()), played(&["-3"], 0.0, false));
    player
        .step(&[("1", "print_story", json!({"story": ""}))])
        .unwrap();
    assert_eq!(player.step(&cast()), played(&["-3"], 1.0, true));
    player.reset();
    assert_eq!(said(&player), [OPENING]);
    assert_eq!(player.step(&cast()), played(&["-3"], 0.0, false));

    let mut player = Player::new("dummy", object!({"end_immediately": false}));
    let step = player.step(&[("1", "print_story", json!({"story": ""}))]);
    assert_eq!(step, played(&["null"], 1.0, false));
}

#[test]
fn actions_without_calls_are_answered() {
    let mut player = Player::new("dummy", object!({}));
    let plain = player.act(Message::user("hello").into());
    let text = "No tool calls received. Please call one or more tools to proceed.";
    assert_eq!(plain, played(&[text], 0.0, false));
    assert_eq!(said(&player), [OPENING]);
    let mut empty = request(&[]);
    empty.body.content = Some("thinking".into());
    let answer = "No tool calls input in tool request thinking.";
    assert_eq!(player.act(empty.into()), played(&[answer], 0.0, false));
    assert_eq!(said(&player), [OPENING, answer]);
}

#[test]
fn casts_fail_as_python_does_and_fail_the_step() {
    let mut player = Player::new("dummy", object!({}));
    for (tool, argument, failure) in [
        (
            "cast_float",
            json!("abc"),
            "could not convert string to float: 'abc'",
        ),
        (
            "cast_int",
            json!("1.5"),
            "invalid literal for int() with base 10: '1.5'",
        ),
        (
            "cast_int",
            json!(f64::INFINITY),
            "cannot convert float infinity to integer",
        ),
    ] {
        let failed = player.step(&[("1", tool, json!({"x": argument}))]);
        assert_eq!(failed, Err(failure.into()));
    }
    assert_eq!(said(&player), [OPENING]);
    let kinds = player.step(&[
        ("1", "cast_float", json!({"x": " 1_0 "})),
        ("2", "cast_float", json!({"x": "1e999"})),
        ("3", "cast_int", json!({"x": "١٢"})),
        ("4", "cast_int", json!({"x": true})),
        ("5", "nothing", json!({})),
    ]);
    let replies = ["10.0", "Infinity", "12", "1", "Invalid tool call: nothing"];
    assert_eq!(kinds, played(&replies, 0.0, false));
}

#[test]
fn random_numbers_follow_from_the_seed_and_restart_with_a_reset() {
    let draw = |player: &mut Player| -> Vec<String> {
        let call = |id| (id, "get_random_int", json!({}));
        let step = player.step(&[call("1"), call("2"), call("3"), call("4"), call("5")]);
        step.unwrap().contents
    };
    let mut player = Player::with_seed("dummy", object!({}), 7);
    let drawn = draw(&mut player);
    assert!(
        drawn
            .iter()
            .all(|number| (1..=10).contains(&number.parse::<i64>().unwrap()))
    );
    assert_ne!(draw(&mut player), drawn);
    player.reset();
    assert_eq!(draw(&mut player), drawn);
    let mut other = Player::with_seed("dummy", object!({}), 8);
    assert_ne!(draw(&mut other), drawn);
}

#[test]
fn the_oracle_tells_a_story_of_five_words_and_the_view_shows_it() {
    for end_immediately in [true, false] {
        let mut player = Player::new("dummy", object!({"end_immediately": end_immediately}));
        let last = player.solve().unwrap();
        assert_eq!((last.reward, last.done), (1.0, end_immediately));
        let labels = player
            .view()
            .blocks
            .into_iter()
            .filter_map(|block| match block {
                Block::Passage { label, .. } => Some(label.to_string()),
                _ => None,
            });
        assert_eq!(labels.collect::<Vec<_>>(), ["Story (5 words)"]);
        assert_eq!(player.verdicts().len(), usize::from(end_immediately));
    }
}
