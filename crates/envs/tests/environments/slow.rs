//! The slow environment, on a virtual clock.

use std::time::Duration;

use volary_core::environment::Setting;
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

#[test]
fn the_first_task_succeeds_and_timeouts_come_later() {
    let registry = volary_envs::registry();
    let setting = Setting {
        seed: 0,
        clock: std::rc::Rc::new(volary_core::virtual_clock::VirtualClock::new()),
        outside: std::rc::Rc::new(volary_core::outside::Closed),
    };
    let dataset = registry
        .dataset_from_name("slow_calls", &object!({}), &setting)
        .unwrap();
    let outcome = |index: usize| {
        let task = dataset.task(index).unwrap();
        assert!(dataset.environment_at(index).is_ok());
        let mut player = Player::new(task.environment, task.configuration);
        let step = player.step(&[("1", "slow_tool", json!({}))]);
        step.map(|step| step.contents)
    };
    assert!(outcome(0).is_ok());
    assert!(outcome(1).is_ok());
    assert_eq!(outcome(2), Err("TimeoutError".into()));
    let answered = outcome(3).unwrap();
    assert!(
        answered[0].starts_with("Encountered exception"),
        "{answered:?}"
    );
    assert!(dataset.task(4).is_none() && dataset.environment_at(4).is_err());
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
