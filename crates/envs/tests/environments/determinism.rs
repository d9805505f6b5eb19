//! The same configuration, seed and actions reproduce the same observations and frames.

use proptest::prelude::*;
use volary_core::json::Json;
use volary_core::{Object, json, object};

use crate::player::Player;

type Call = (usize, Json);

/// Tools by index, with arguments that are sometimes valid.
fn calls() -> impl Strategy<Value = Vec<Vec<Call>>> {
    let argument = prop_oneof![
        any::<i32>().prop_map(Json::from),
        any::<f64>().prop_map(Json::from),
        "[0-9+*/ .-]{0,6}".prop_map(Json::from),
        Just(Json::Null),
    ];
    let arguments = (0_usize..6, argument).prop_map(|(key, value)| {
        let mut arguments = Object::new();
        let keys = ["x", "expr", "answer", "distance", "story", ""];
        if let Some(key) = keys.get(key).filter(|key| !key.is_empty()) {
            arguments.insert(*key, value);
        }
        Json::from(arguments)
    });
    let call = (0_usize..5, arguments);
    prop::collection::vec(prop::collection::vec(call, 0..4), 0..6)
}

/// All observable results, except for times.
fn play(name: &'static str, configuration: Object, seed: u64, actions: &[Vec<Call>]) -> String {
    let mut player = Player::with_seed(name, configuration, seed);
    let mut seen = Vec::new();
    for action in actions {
        let tools: Vec<String> = player.tools.clone();
        let name = |index: usize| tools.get(index).map_or("nothing", String::as_str);
        let action: Vec<(&str, &str, Json)> = action
            .iter()
            .map(|(index, arguments)| ("id", name(*index), arguments.clone()))
            .collect();
        seen.push(format!("{:?}", player.step(&action)));
        seen.push(player.frame().dump().to_python_text());
        seen.push(format!("{:?}", player.oracle()));
    }
    seen.join("\n")
}

proptest! {
    #[test]
    fn episodes_repeat(actions in calls(), seed in any::<u64>()) {
        for (name, configuration) in [
            ("dummy", object!({})),
            ("calculator", object!({"problem": "?", "answer": 5})),
            ("counter", object!({})),
            ("hands", object!({"right_hand_broken": true})),
            ("library_desk", object!({"task": "library_20"})),
            ("hotpotqa", object!({})),
            ("slow", object!({"limit_seconds": null, "with_writer": true})),
        ] {
            let play = || play(name, configuration.clone(), seed, &actions);
            prop_assert_eq!(play(), play());
        }
    }

    #[test]
    fn a_reset_is_a_new_beginning(actions in calls(), seed in any::<u64>()) {
        let mut player = Player::with_seed("dummy", object!({}), seed);
        let fresh = player.frame();
        for action in &actions {
            let action: Vec<_> = action.iter().map(|_| ("1", "get_random_int", json!({}))).collect();
            let _ = player.step(&action);
        }
        player.reset();
        prop_assert_eq!(player.frame(), fresh);
        let draw = |player: &mut Player| player.step(&[("1", "get_random_int", json!({}))]);
        let mut other = Player::with_seed("dummy", object!({}), seed);
        prop_assert_eq!(draw(&mut player), draw(&mut other));
    }
}
