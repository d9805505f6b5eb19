//! What a diff says is what changed.

use proptest::prelude::*;
use volary_core::json::Json;
use volary_episode::diff::{Child, Diff, Segment, diff, differences, identical, text_difference};
use volary_episode::patch::Patch;

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
            for (index, (key, value)) in new.iter().enumerate() {
                match diff.child(index) {
                    Child::Same => assert!(identical(old.get(key).unwrap(), value)),
                    Child::Added => assert!(!old.contains_key(key)),
                    Child::Changed(inner) => check(inner, old.get(key).unwrap(), value),
                }
            }
            let removed: Vec<_> = diff.removed().iter().map(|removed| removed.old).collect();
            for (index, key) in old.keys().enumerate() {
                assert_eq!(removed.contains(&index), !new.contains_key(key));
            }
        }
        (Diff::List(_), Json::List(old), Json::List(new)) => {
            let removed = diff.removed();
            let mut gone = removed.iter().peekable();
            let mut from = 0;
            for (index, value) in new.iter().enumerate() {
                while gone.next_if(|removed| removed.old == from).is_some() {
                    from += 1;
                }
                match diff.child(index) {
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
    fn a_difference_names_the_value_at_its_path((old, new) in pairs()) {
        for difference in differences(&old, &new, 50) {
            let at = difference.path.iter().try_fold(&new, |value, segment| match segment {
                Segment::Key(key) => value.get(key),
                Segment::Index(index) => value.as_list()?.get(*index),
            });
            match (&difference.old, &difference.new) {
                (Some(before), Some(now)) => {
                    prop_assert!(!identical(before, now) && identical(now, at.unwrap()));
                }
                (None, Some(now)) => prop_assert!(identical(now, at.unwrap())),
                (Some(_), None) => {}
                (None, None) => prop_assert!(false, "it tells nothing"),
            }
        }
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

/// The changes in words: `+[3]` is new, `-[0]` is gone, `~a.b` changed.
fn told(old: &str, new: &str) -> String {
    let (old, new) = (Json::parse(old).unwrap(), Json::parse(new).unwrap());
    let told = differences(&old, &new, 20).into_iter().map(|difference| {
        let sign = match (&difference.old, &difference.new) {
            (None, _) => '+',
            (_, None) => '-',
            _ => '~',
        };
        let path = difference.path.iter().map(|segment| match segment {
            Segment::Key(key) => format!(".{key}"),
            Segment::Index(index) => format!("[{index}]"),
        });
        format!("{sign}{}", path.collect::<String>())
    });
    told.collect::<Vec<_>>().join(" ")
}

#[test]
fn changes_are_described_for_people() {
    let cases = [
        ("[1, 2]", "[1, 2]", ""),
        (r#"["a", "b"]"#, r#"["a", "b", "c", "d"]"#, "+[2] +[3]"),
        (r#"["a", "b"]"#, r#"["z", "a", "b"]"#, "+[0]"),
        (r#"["a", "b", "c"]"#, r#"["a", "c"]"#, "-[1]"),
        // A window that slides.
        (
            r#"["a", "b", "c", "d"]"#,
            r#"["b", "c", "d", "e"]"#,
            "-[0] +[3]",
        ),
        // A grid: the cells changed, none moved.
        (
            "[[0, 1, 0], [0, 0, 0]]",
            "[[0, 0, 0], [0, 1, 0]]",
            "~[0][1] ~[1][1]",
        ),
        ("[0, 1, 0, 0]", "[0, 0, 1, 0]", "~[1] ~[2]"),
        // One element changed inside, others came before and after.
        (
            r#"[{"n": 1}, {"n": 2}, {"n": 3}]"#,
            r#"[{"n": 0}, {"n": 1}, {"n": 2}, {"n": 4}]"#,
            "+[0] ~[3].n",
        ),
        (r#"{"a": 1, "b": 2}"#, r#"{"b": 3, "c": 1}"#, "~.b +.c -.a"),
        // Order alone changes no member.
        (r#"{"a": 1, "b": 2}"#, r#"{"b": 2, "a": 1}"#, ""),
        (r#"{"a": [1]}"#, r#"{"a": {"0": 1}}"#, "~.a"),
        ("1", "1.0", "~"),
    ];
    for (old, new, expected) in cases {
        assert_eq!(told(old, new), expected, "{old} to {new}");
    }
}

#[test]
fn long_lists_that_differ_throughout_take_no_long_time() {
    let list = |step: i64| Json::List((0..20_000).map(|n| Json::from(n * step)).collect());
    let mut longer = list(3);
    if let Json::List(longer) = &mut longer {
        longer.push(Json::Null);
    }
    assert_eq!(differences(&list(2), &longer, 10).len(), 10);
}

#[test]
fn words_that_changed_are_whole_words() {
    let told = |old: &'static str, new: &'static str| {
        let parts = text_difference(old, new);
        [
            &old[parts.start],
            &old[parts.removed],
            &new[parts.added],
            &new[parts.end],
        ]
    };
    assert_eq!(
        told("the red lamp", "the rod lamp"),
        ["the ", "red", "rod", " lamp"]
    );
    assert_eq!(told("one", "one two"), ["one", "", " two", ""]);
    assert_eq!(told("step 10", "step 19."), ["step ", "10", "19.", ""]);
    assert_eq!(told("naïve", "naive"), ["", "naïve", "naive", ""]);
    assert_eq!(told("same", "same"), ["same", "", "", ""]);
}
