//! The environment that misbehaves does so only on request.

use std::panic::{AssertUnwindSafe, catch_unwind};
use std::time::Duration;

use volary_core::json::{Json, read};
use volary_core::{json, object};

use crate::player::{Player, played};

#[test]
fn failures_fail_the_step_or_are_answered() {
    let fail = || [("1", "fail", json!({"text": "<b>no</b>"}))];
    let mut player = Player::new("faults", object!({}));
    assert_eq!(player.step(&fail()), Err("<b>no</b>".into()));
    assert_eq!(
        player.frame().state,
        json!({"calls": 1, "latest": "failed: <b>no</b>"})
    );
    let mut player = Player::new("faults", object!({"answer_failures": true}));
    let reply = "Encountered exception during tool call: RuntimeError('<b>no</b>')";
    assert_eq!(player.step(&fail()), played(&[reply], 0.0, false));
}

#[test]
fn a_crash_is_a_panic() {
    let mut player = Player::new("faults", object!({}));
    let crashed = catch_unwind(AssertUnwindSafe(|| {
        player.step(&[("1", "crash", json!({}))])
    }));
    assert!(crashed.is_err());
}

#[test]
fn floods_have_the_size_that_was_asked_for() {
    let mut player = Player::new("faults", object!({}));
    let flood = |megabytes: i64| [("1", "flood", json!({"megabytes": megabytes}))];
    let step = player.step(&flood(3)).unwrap();
    assert_eq!(step.contents[0].len(), 3 << 20);
    for megabytes in [0, 65, -1] {
        let failed = player.step(&flood(megabytes));
        assert_eq!(failed, Err("megabytes must lie between 1 and 64".into()));
    }
}

#[test]
fn waiting_takes_its_time() {
    let mut player = Player::new("faults", object!({}));
    let wait = |seconds: f64| [("1", "wait", json!({"seconds": seconds}))];
    assert_eq!(
        player.step(&wait(1.5)),
        played(&["waited 1.5 s"], 0.0, false)
    );
    assert_eq!(player.elapsed(), Duration::from_millis(1500));
    for seconds in [-1.0, 3601.0, f64::NAN] {
        assert!(player.step(&wait(seconds)).is_err());
    }
}

#[test]
fn the_deepest_nesting_can_still_be_read() {
    let mut player = Player::new("faults", object!({}));
    let nest = |depth: i64| [("1", "nest", json!({"depth": depth}))];
    let step = player.step(&nest(900)).unwrap();
    let reply = read(&step.contents[0]).unwrap();
    assert_eq!(Some(&reply), player.frame().state.get("latest"));
    let frame = Json::from(player.frame().dump()).to_python_text();
    assert!(read(&frame).is_ok());
    assert!(player.step(&nest(901)).is_err());
}

#[test]
fn markup_and_bad_numbers_reach_the_frame() {
    let mut player = Player::new("faults", object!({}));
    let step = player.step(&[("1", "markup", json!({}))]).unwrap();
    assert!(step.contents[0].contains("<script>"));
    assert!(step.contents[0].contains('\u{202e}'));
    let latest = |player: &Player, key: &str| player.frame().state.get("latest")?.get(key).cloned();
    assert!(latest(&player, "<b>key</b>").is_some());
    player.step(&[("1", "bad_numbers", json!({}))]).unwrap();
    let number = latest(&player, "not_a_number").and_then(|value| value.as_f64());
    assert!(number.is_some_and(f64::is_nan));
    let huge = latest(&player, "huge_integer").map(|value| value.to_python_text().len());
    assert_eq!(huge, Some(100));
}
