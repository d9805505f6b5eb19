use proptest::prelude::*;
use volary_core::json::Json;
use volary_trace::diff::{Child, Diff, diff, identical, text_difference};
use volary_trace::patch::Patch;

use crate::values::{change, edit, json, text};

fn pairs() -> impl Strategy<Value = (Json, Json)> {
    let edited = (json(), proptest::collection::vec(edit(), 1..5)).prop_map(|(old, edits)| {
        let mut new = old.clone();
        edits.iter().for_each(|edit| change(&mut new, edit));
        (old, new)
    });
    prop_oneof![3 => edited, 1 => (json(), json())]
}

/// What the diff says of each child is true.
fn check(diff: &Diff, old: &Json, new: &Json) {
    assert_eq!(diff.is_same(), identical(old, new));
    match (diff, old, new) {
        (Diff::Object(_), Json::Object(old), Json::Object(new)) => {
            for (place, (key, value)) in new.iter().enumerate() {
                match diff.child(place) {
                    Child::Same => assert!(identical(old.get(key).unwrap(), value)),
                    Child::Added => assert!(!old.contains_key(key)),
                    Child::Changed(inner) => check(inner, old.get(key).unwrap(), value),
                }
            }
            let removed: Vec<_> = diff.removed().iter().map(|removed| removed.old).collect();
            for (place, key) in old.keys().enumerate() {
                assert_eq!(removed.contains(&place), !new.contains_key(key));
            }
        }
        (Diff::List(_), Json::List(old), Json::List(new)) => {
            let removed = diff.removed();
            let mut gone = removed.iter().peekable();
            let mut from = 0;
            for (place, value) in new.iter().enumerate() {
                while gone.next_if(|removed| removed.old == from).is_some() {
                    from += 1;
                }
                match diff.child(place) {
                    Child::Same => assert!(identical(&old[from], value)),
                    Child::Added => continue,
                    Child::Changed(inner) => check(inner, &old[from], value),
                }
                from += 1;
            }
            assert_eq!(from + gone.count(), old.len());
        }
        _ => {}
    }
}

proptest! {
    #[test]
    fn a_diff_is_true((old, new) in pairs()) {
        check(&diff(&old, &new), &old, &new);
    }

    #[test]
    fn a_patch_makes_the_new_value((old, new) in pairs()) {
        let mut value = old.clone();
        Patch::between(&old, &new).apply(&mut value).unwrap();
        prop_assert!(identical(&value, &new), "{value:?} is not {new:?}");
    }

    #[test]
    fn parts_of_texts_fit_together(old in text(), new in text()) {
        let parts = text_difference(&old, &new);
        let before = [&old[parts.start.clone()], &old[parts.removed], &new[parts.end.clone()]];
        let after = [&new[parts.start], &new[parts.added], &new[parts.end]];
        prop_assert_eq!(before.concat(), &*old);
        prop_assert_eq!(after.concat(), &*new);
    }
}
