//! The counter, up to its end and after it.

use volary_core::view::Block;
use volary_core::{Frame, json, object};

use crate::player::{Player, played};

#[test]
fn done_exactly_on_ten() {
    let mut player = Player::new("counter", object!({}));
    assert_eq!(player.tools, ["incr", "decr"]);
    let incr = || [("1", "incr", json!({}))];
    for count in 1..10 {
        let text = format!("counter={count}");
        assert_eq!(player.step(&incr()), played(&[&text], 0.0, false));
    }
    let past = player.step(&[("1", "incr", json!({})), ("2", "decr", json!({}))]);
    assert_eq!(past, played(&["counter=10", "counter=9"], 0.0, false));
    assert_eq!(player.step(&incr()), played(&["counter=10"], 1.0, true));
    assert_eq!(player.step(&[]), played(&[], 1.0, true));
    assert_eq!(player.step(&incr()), played(&["counter=11"], 0.0, false));
    assert_eq!(player.frame(), Frame::default());
}

#[test]
fn it_has_no_id() {
    let player = Player::new("counter", object!({}));
    assert_eq!(
        player.environment.id().unwrap_err().to_string(),
        "Getting ID is not yet implemented for environment CounterEnv."
    );
}

#[test]
fn the_oracle_counts_and_the_gauge_follows() {
    let mut player = Player::new("counter", object!({}));
    player.step(&[("1", "decr", json!({}))]).unwrap();
    let gauge = |player: &Player| match player.view().blocks.first() {
        Some(Block::Gauge {
            value, low, high, ..
        }) => (*value, *low, *high),
        other => panic!("{other:?}"),
    };
    assert_eq!(gauge(&player), (-1.0, -1.0, 10.0));
    assert_eq!(player.solve().map(|step| step.reward), Some(1.0));
    assert_eq!(gauge(&player), (10.0, 0.0, 10.0));
    assert_eq!(player.verdicts().len(), 1);
}
