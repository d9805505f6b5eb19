//! The hands, whole and broken.

use volary_core::view::{Block, Shape, Tone};
use volary_core::{json, object};

use crate::player::{Player, played};

fn shapes(player: &Player) -> (String, Vec<Shape>) {
    match player.view().blocks.into_iter().next() {
        Some(Block::Drawing { label, shapes, .. }) => (label.to_string(), shapes),
        other => panic!("{other:?}"),
    }
}

#[test]
fn hands_add_to_the_reward_and_a_smile_sets_it() {
    let mut player = Player::new("hands", object!({}));
    let both = player.step(&[
        ("1", "move_left_hand", json!({"distance": 5})),
        ("2", "move_right_hand", json!({"distance": (-5)})),
    ]);
    assert_eq!(both, played(&["null", "null"], 2.0, false));
    let smile = player.step(&[("3", "smile_and_wave", json!({}))]);
    assert_eq!(smile, played(&["null"], 10.0, true));
    let left = player.step(&[("1", "move_left_hand", json!({"distance": 5}))]);
    assert_eq!(left, played(&["null"], 11.0, true));
}

#[test]
fn a_broken_hand_fails_the_step_but_the_other_one_moved() {
    let mut player = Player::new("hands", object!({"right_hand_broken": true}));
    let both = player.step(&[
        ("1", "move_right_hand", json!({"distance": 5})),
        ("2", "move_left_hand", json!({"distance": 5})),
    ]);
    assert_eq!(both, Err("Right hand is broken.".into()));
    let left = player.step(&[("3", "move_left_hand", json!({"distance": 5}))]);
    assert_eq!(left, played(&["null"], 2.0, false));
    let (label, _) = shapes(&player);
    assert!(label.contains("right hand failed"), "{label}");
    assert_eq!(player.verdicts()[0].0, Tone::Bad);
}

#[test]
fn the_drawing_follows_the_hands_and_stays_on_its_ground() {
    let mut player = Player::new("hands", object!({}));
    let (_, at_rest) = shapes(&player);
    player
        .step(&[("1", "move_left_hand", json!({"distance": 20}))])
        .unwrap();
    let (label, moved) = shapes(&player);
    assert!(
        label.contains("left hand +20 mm, right hand 0 mm"),
        "{label}"
    );
    assert_ne!(at_rest, moved);
    for distance in [json!(1e300), json!(f64::NAN), json!("far"), json!(null)] {
        player
            .step(&[("1", "move_left_hand", json!({"distance": distance}))])
            .unwrap();
    }
    player.step(&[("2", "smile_and_wave", json!({}))]).unwrap();
    let (label, shapes) = shapes(&player);
    assert!(label.starts_with("A robot, smiling and waving"), "{label}");
    for shape in shapes {
        let points = match shape {
            Shape::Circle { center, .. } => vec![center],
            Shape::Line { points, .. } => points,
            Shape::Label { at, .. } => vec![at],
            _ => Vec::new(),
        };
        for (x, y) in points {
            assert!(
                (0.0..=240.0).contains(&x) && (0.0..=200.0).contains(&y),
                "{x} {y}"
            );
        }
    }
}

#[test]
fn the_oracle_waves_even_with_a_broken_hand() {
    for broken in [false, true] {
        let mut player = Player::new("hands", object!({"right_hand_broken": broken}));
        let last = player.solve().unwrap();
        assert_eq!((last.reward, last.done), (10.0, true));
    }
}
