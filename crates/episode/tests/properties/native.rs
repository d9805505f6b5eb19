//! Episodes in our own format come back as they were.

use proptest::prelude::*;
use volary_core::Message;
use volary_core::json::{Json, Object};
use volary_episode::diff::identical;
use volary_episode::native::{episode_from_json, episode_to_json, read, to_text};
use volary_episode::{Episode, Outcome, StepRecord};

use crate::details;
use crate::episodes::episode;
use crate::values::json;

proptest! {
    #![proptest_config(ProptestConfig::with_cases(40))]

    #[test]
    fn an_episode_comes_back(episode in episode()) {
        // Compared as JSON, in which NaN is itself.
        let written = episode_to_json(&episode);
        let back = read(&to_text(&episode)).unwrap();
        prop_assert!(back.faults.is_empty());
        prop_assert_eq!(back.episodes.len(), 1);
        prop_assert!(identical(&written, &episode_to_json(&back.episodes[0])));
        prop_assert_eq!(back.episodes[0].frames.len(), episode.frames.len());
        for index in 0..episode.frames.len() {
            let (left, right) = (episode.frames.get(index), back.episodes[0].frames.get(index));
            prop_assert!(identical(&left.unwrap().state, &right.unwrap().state));
        }
    }

    #[test]
    fn the_text_is_that_of_the_tree(episode in episode()) {
        prop_assert_eq!(to_text(&episode), episode_to_json(&episode).to_python_text());
    }

    #[test]
    fn extra_facts_round_trip(episode in details::of_episode(), step in details::of_step()) {
        let step = StepRecord {
            details: step,
            ..StepRecord::new(Message::user("x").into(), Outcome::Failed { message: "y".into() })
        };
        let episode = Episode { steps: vec![step], ..episode };
        let back = episode_from_json(&episode_to_json(&episode)).unwrap();
        // Values may hold NaN, which never equals itself, so they are compared as JSON above.
        let bare = |mut episode: Episode| {
            episode.raw = Object::new();
            for score in &mut episode.scores {
                (score.value, score.extras) = (Json::Null, Object::new());
            }
            episode
        };
        prop_assert_eq!(bare(back), bare(episode));
    }

    #[test]
    fn changed_values_are_read_or_rejected(
        episode in episode(), noise in json(), at in any::<prop::sample::Index>()
    ) {
        let mut value = episode_to_json(&episode);
        let count = count(&value);
        replace(&mut value, &mut (at.index(count)), &noise);
        if let Err(error) = episode_from_json(&value) {
            prop_assert!(!error.to_string().is_empty());
        }
    }

    #[test]
    fn any_text_is_read_or_refused(text in any::<String>()) {
        prop_assert!(read(&text).is_err());
    }
}

fn count(value: &Json) -> usize {
    1 + match value {
        Json::List(list) => list.iter().map(count).sum::<usize>(),
        Json::Object(object) => object.values().map(count).sum(),
        _ => 0,
    }
}

/// Puts the noise in place of the n-th value within.
fn replace(value: &mut Json, left: &mut usize, noise: &Json) {
    if *left == 0 {
        *value = noise.clone();
        *left = usize::MAX;
        return;
    }
    *left -= 1;
    match value {
        Json::List(list) => list
            .iter_mut()
            .for_each(|value| replace(value, left, noise)),
        Json::Object(object) => {
            let keys: Vec<_> = object.keys().cloned().collect();
            for key in keys {
                replace(object.get_mut(&key).unwrap(), left, noise);
            }
        }
        _ => {}
    }
}

#[test]
fn lines_and_lists_are_read_and_faults_named() {
    let mut episode = Episode {
        id: "a".into(),
        ..Episode::default()
    };
    let first = to_text(&episode);
    episode.id = "b".into();
    let second = to_text(&episode);

    let lines = read(&format!("{first}\n\n{second}\n{{\"format\"\n")).unwrap();
    assert_eq!(lines.episodes.len(), 2);
    assert_eq!(lines.faults.len(), 1);
    assert!(
        lines.faults[0]
            .to_string()
            .starts_with("Line 4: This is not valid JSON: Expecting ':'")
    );

    let list = read(&format!("{{\"episodes\": [{first}, 5, {second}]}}")).unwrap();
    assert_eq!(&*list.episodes[1].id, "b");
    assert!(
        list.faults[0]
            .to_string()
            .starts_with("Episode 2: This is not a Volary episode")
    );
}

#[test]
fn refusals_name_the_path() {
    let refusal = |text: &str| {
        let head = r#"{"format": "volary-episode", "version": 1"#;
        read(&format!("{head}, {text}}}")).unwrap_err().to_string()
    };
    assert_eq!(
        refusal(r#""steps": [{"action": {"role": "user"}, "observation": 3}]"#),
        "steps[0].observation: must be a list, is a number."
    );
    assert_eq!(
        refusal(r#""start": [{"role": "robot"}]"#),
        "start[0].role: is \"robot\", which is not one of user, system, tool, assistant, function."
    );
    assert_eq!(
        refusal(r#""recipe": {"environment": "dummy", "seed": 9007199254740992}"#),
        "recipe.seed: must be a whole number from 0 to 2^53 - 1."
    );
    assert_eq!(
        refusal(r#""frames": [{"state": {"members": {"remove": ["a"]}}}]"#),
        "frames[0]: A change does not match the state before it: it was made for a different object."
    );
    assert!(
        read(r#"{"format": "volary-episode", "version": 2}"#)
            .unwrap_err()
            .to_string()
            .contains("version 2")
    );
}

#[test]
fn unknown_members_are_kept() {
    let text = r#"{"format": "volary-episode", "version": 1, "colour": "red",
        "steps": [{"action": {"role": "user", "content": "x"}, "observation": [], "weight": 2}]}"#;
    let episode = &read(text).unwrap().episodes[0];
    assert_eq!(episode.metadata.get("colour"), Some(&Json::from("red")));
    assert_eq!(episode.steps[0].extras.get("weight"), Some(&Json::from(2)));
}
