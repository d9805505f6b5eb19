//! The history of a part of the state is what a comparison of all frames says.

use proptest::prelude::*;
use volary_core::Frame;
use volary_core::json::Json;
use volary_episode::FrameHistory;
use volary_episode::diff::{DifferenceKind, Segment, identical};
use volary_episode::history::{Root, StatePath, changes};

use crate::values::{change, edit, json};

fn paths(value: &Json, path: &mut Vec<Segment>, all: &mut Vec<Vec<Segment>>) {
    all.push(path.clone());
    let mut go = |segment: Segment, value: &Json| {
        path.push(segment);
        paths(value, path, all);
        path.pop();
    };
    match value {
        Json::Object(object) => object
            .iter()
            .for_each(|(key, value)| go(Segment::Key(key.clone()), value)),
        Json::List(list) => list
            .iter()
            .enumerate()
            .for_each(|(index, value)| go(Segment::Index(index), value)),
        _ => {}
    }
}

proptest! {
    #[test]
    fn every_change_is_named_and_nothing_else(first in json(), edits in prop::collection::vec(edit(), 0..8), root in prop::bool::ANY) {
        let mut value = first;
        let mut values = vec![value.clone()];
        for edit in &edits {
            change(&mut value, edit);
            values.push(value.clone());
        }
        let frame = |value: &Json| if root { Frame::new(value.clone(), Json::Null) } else { Frame::new(Json::Null, value.clone()) };
        let history: FrameHistory = values.iter().map(frame).collect();
        let mut all = Vec::new();
        values.iter().for_each(|value| paths(value, &mut Vec::new(), &mut all));
        for path in all.into_iter().take(40) {
            let part = StatePath { root: if root { Root::State } else { Root::Info }, path };
            let mut expected = Vec::new();
            let mut before = None;
            for (index, value) in values.iter().enumerate() {
                let frame = frame(value);
                let now = part.value(&frame).cloned();
                let kind = match (&before, &now) {
                    (None, Some(_)) => Some(DifferenceKind::Added),
                    (Some(_), None) => Some(DifferenceKind::Removed),
                    (Some(before), Some(now)) if !identical(before, now) => Some(DifferenceKind::Changed),
                    _ => None,
                };
                expected.extend(kind.map(|kind| (index, kind)));
                before = now;
            }
            let found: Vec<_> = changes(&history, &part).iter().map(|change| (change.frame, change.kind)).collect();
            prop_assert_eq!(found, expected, "{:?}", part);
        }
    }
}
