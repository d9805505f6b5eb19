//! Frames come back as they went in, at little cost.

use proptest::prelude::*;
use volary_core::Frame;
use volary_core::json::Json;
use volary_episode::diff::identical;
use volary_episode::native::{read, to_text};
use volary_episode::{Episode, FrameHistory, FramePatch};

use crate::values::{json, states};

fn same(left: &Frame, right: &Frame) -> bool {
    left.deepcopy == right.deepcopy
        && identical(&left.state, &right.state)
        && identical(&left.info, &right.info)
}

fn frames() -> impl Strategy<Value = Vec<Frame>> {
    (states(), proptest::collection::vec(json(), 1..4)).prop_map(|(states, infos)| {
        let frame = |(index, state): (usize, Json)| {
            let mut frame = Frame::new(state, infos[index % infos.len()].clone());
            frame.deepcopy = index % 5 != 4;
            frame
        };
        states.into_iter().enumerate().map(frame).collect()
    })
}

proptest! {
    #![proptest_config(ProptestConfig::with_cases(80))]

    #[test]
    fn every_frame_comes_back(frames in frames()) {
        let mut history = FrameHistory::default();
        for frame in &frames {
            history.push(frame.clone());
        }
        prop_assert_eq!(history.len(), frames.len());
        for (index, frame) in frames.iter().enumerate() {
            prop_assert!(same(&history.get(index).unwrap(), frame), "frame {}", index);
        }
        prop_assert!(history.get(frames.len()).is_none());
        let mut cursor = history.cursor();
        for frame in &frames {
            prop_assert!(same(cursor.advance().unwrap(), frame));
        }
        prop_assert!(cursor.advance().is_none());
    }

    #[test]
    fn a_truncated_history_can_grow(frames in frames(), cut in any::<prop::sample::Index>()) {
        let cut = cut.index(frames.len() + 1);
        let mut history: FrameHistory = frames.iter().cloned().collect();
        history.truncate(cut);
        prop_assert_eq!(history.len(), cut);
        for frame in &frames {
            history.push(frame.clone());
        }
        for (index, frame) in frames[..cut].iter().chain(&frames).enumerate() {
            prop_assert!(same(&history.get(index).unwrap(), frame));
        }
    }

    #[test]
    fn patches_carry_a_history(frames in frames()) {
        let history: FrameHistory = frames.iter().cloned().collect();
        let mut copy = FrameHistory::default();
        for index in 0..history.len() {
            let text = history.patch(index).unwrap().to_json().to_python_text();
            let patch = FramePatch::from_json(&Json::parse(&text).unwrap()).unwrap();
            copy.push_patch(patch).unwrap();
        }
        for (index, frame) in frames.iter().enumerate() {
            prop_assert!(same(&copy.get(index).unwrap(), frame));
        }
    }

    #[test]
    fn a_patch_that_does_not_fit_changes_nothing(old in json(), new in json(), other in json()) {
        let patch = FramePatch::between(&Frame::new(old, Json::Null), &Frame::new(new, Json::Null));
        let mut history: FrameHistory = [Frame::new(other.clone(), Json::Null)].into_iter().collect();
        if history.push_patch(patch).is_err() {
            prop_assert_eq!(history.len(), 1);
            prop_assert!(identical(&history.last().unwrap().state, &other));
        }
    }

    #[test]
    fn any_json_is_a_patch_or_an_error(value in json()) {
        if let Ok(patch) = FramePatch::from_json(&value) {
            let _ = patch.apply(&mut Frame::default());
        }
    }
}

#[test]
fn deep_states_change_at_the_bottom_and_are_saved() {
    let nested = |bottom: i64| {
        (0..900).fold(Json::from(bottom), |inner, level| match level % 2 {
            0 => Json::List(vec![inner, Json::from(1)]),
            _ => Json::Object([("deeper".into(), inner)].into_iter().collect()),
        })
    };
    let frames: FrameHistory = [1, 2, 2]
        .map(|bottom| Frame::new(nested(bottom), Json::Null))
        .into_iter()
        .collect();
    assert!(identical(&frames.get(1).unwrap().state, &nested(2)));
    let episode = Episode {
        frames,
        ..Episode::default()
    };
    let back = read(&to_text(&episode)).unwrap().episodes.remove(0);
    assert_eq!(back.frames, episode.frames);
}
