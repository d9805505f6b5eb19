//! The slow environment, on a virtual clock.

use std::time::Duration;

use volary_core::view::Block;
use volary_core::{Frame, json, object};

use crate::player::Player;

#[test]
fn by_default_every_call_fails_at_its_limit() {
    let mut player = Player::new("slow", object!({}));
    assert_eq!(player.tools, ["slow_tool", "aslow_tool"]);
    assert!(player.messages.is_empty());
    for tool in ["slow_tool", "aslow_tool"] {
        let failed = player.step(&[("1", tool, json!({}))]);
        assert_eq!(failed, Err("TimeoutError".into()));
    }
    assert_eq!(player.elapsed(), Duration::from_micros(200));
    assert_eq!(player.frame(), Frame::default());
}

fn seconds(configuration: volary_core::Object, tools: [&str; 3]) -> f64 {
    let mut player = Player::new("slow", configuration);
    let calls = ["1", "2", "3"].into_iter().zip(tools);
    let calls: Vec<_> = calls.map(|(id, tool)| (id, tool, json!({}))).collect();
    player.step(&calls).unwrap();
    player.elapsed().as_secs_f64()
}

#[test]
fn concurrent_calls_take_the_time_of_one_and_writers_run_alone() {
    let slow = ["slow_tool", "aslow_tool", "slow_tool"];
    let patient = || object!({"tool_seconds": 2, "limit_seconds": null, "with_writer": true});
    assert_eq!(seconds(patient(), slow), 2.0);
    assert_eq!(
        seconds(patient(), ["slow_tool", "slow_writer", "slow_tool"]),
        4.0
    );
    let mut one_by_one = patient();
    one_by_one.insert("concurrent", false);
    assert_eq!(seconds(one_by_one, slow), 6.0);
}

#[test]
fn timeouts_can_be_answered_and_the_view_shows_the_times() {
    let configuration = object!({"tool_seconds": 2, "limit_seconds": 0.5, "answer_timeouts": true});
    let mut player = Player::new("slow", configuration);
    let step = player.step(&[("a", "slow_tool", json!({})), ("b", "nothing", json!({}))]);
    let contents = step.unwrap().contents;
    assert_eq!(
        contents,
        [
            "Encountered exception during tool call: TimeoutError()",
            "Invalid tool call: nothing"
        ]
    );
    let Some(Block::Results { rows, .. }) = player.view().blocks.into_iter().next() else {
        panic!("There must be results.");
    };
    let shown: Vec<(&str, &str)> = rows.iter().map(|row| (&*row.0, &*row.1)).collect();
    assert_eq!(
        shown,
        [
            ("slow_tool (a)", "0.00 s to 0.50 s (0.50 s)"),
            ("nothing (b)", "Unknown tool."),
        ]
    );
}
