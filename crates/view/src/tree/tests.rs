//! Rows of frames, tested as an indented outline.

use proptest::prelude::*;
use volary_core::{Json, json};

use super::*;

fn outline(rows: &[TreeRow]) -> Vec<String> {
    rows.iter()
        .map(|row| {
            let value = match &row.kind {
                RowKind::Leaf { text, .. } => text.clone(),
                RowKind::LongText { preview, .. } => preview.clone(),
                RowKind::Branch {
                    open: true, count, ..
                } => format!("({count})"),
                RowKind::Branch { preview, .. } => format!("> {preview}"),
                RowKind::More { hidden, .. } => format!("{hidden} more"),
            };
            let mark = match &row.mark {
                Mark::Same => String::new(),
                Mark::Added => " added".into(),
                Mark::Removed => " removed".into(),
                Mark::Changed { was } => format!(" changed, was {was}"),
                Mark::Edited { removed, added } => format!(" -{removed}- +{added}+"),
                Mark::Inside => " inside".into(),
            };
            let indent = "  ".repeat(row.level - 1);
            format!("{indent}{}: {value}{mark}", row.name)
        })
        .collect()
}

fn compared(old: Json, new: Json, expansion: &Expansion) -> Vec<String> {
    let (old, new) = (Frame::new(old, Json::Null), Frame::new(new, Json::Null));
    let changes = FrameChanges::between(&old, &new);
    outline(&rows(&new, Some((&old, &changes)), expansion))
}

#[test]
fn an_empty_frame_has_no_rows() {
    assert!(rows(&Frame::default(), None, &Expansion::default()).is_empty());
}

#[test]
fn state_and_info_are_the_roots() {
    let frame = Frame::new(json!({"n": 1, "deep": {"a": [1, 2]}}), json!({"x": []}));
    assert_eq!(
        outline(&rows(&frame, None, &Expansion::default())),
        [
            "state: (2 keys)",
            "  n: 1",
            "  deep: (1 key)",
            "    a: > [1, 2]",
            "info: (1 key)",
            "  x: []",
        ]
    );
}

#[test]
fn changes_are_marked() {
    let old = json!({"n": 1, "list": ["a", "b"], "same": {"x": 1}, "gone": true});
    let new = json!({"n": 2, "list": ["a", "b", "c"], "same": {"x": 1}, "new": null});
    assert_eq!(
        compared(old, new, &Expansion::default()),
        [
            "state: (4 keys) inside",
            "  n: 2 changed, was 1",
            "  list: (3 items) inside",
            "    0: \"a\"",
            "    1: \"b\"",
            "    2: \"c\" added",
            "  same: (1 key)",
            "    x: 1",
            "  gone: true removed",
            "  new: null added",
        ]
    );
}

#[test]
fn a_changed_element_has_its_previous_value_when_others_moved() {
    let old = json!({"list": [1, 2, 3, {"a": 1}]});
    let new = json!({"list": [0, 1, 2, 3, {"a": 2}]});
    let mut expansion = Expansion::default();
    expansion.set("/state/list/4", true);
    let rows = compared(old, new, &expansion);
    assert_eq!(rows[2], "    0: 0 added");
    assert_eq!(rows[7], "      a: 2 changed, was 1");
}

#[test]
fn a_replaced_branch_is_marked_as_a_whole() {
    assert_eq!(
        compared(
            json!({"a": 1}),
            json!({"a": {"b": 1}}),
            &Expansion::default()
        ),
        [
            "state: (1 key) inside",
            "  a: (1 key) changed, was 1",
            "    b: 1",
        ]
    );
}

#[test]
fn changes_of_long_texts_are_described() {
    let start = "word ".repeat(30);
    let old = Json::from(format!("{start}red end"));
    let new = Json::from(format!("{start}blue end"));
    let rows = compared(old, new, &Expansion::default());
    assert!(rows[0].ends_with("-red- +blue+"), "{rows:?}");
}

#[test]
fn a_root_that_was_null_is_shown() {
    assert_eq!(
        compared(json!({"a": 1}), Json::Null, &Expansion::default()),
        ["state: null changed, was {\"a\": 1}"]
    );
}

#[test]
fn long_lists_are_shown_in_slices() {
    let frame = Frame::new(Json::from((0..350).collect::<Vec<i32>>()), Json::Null);
    let mut expansion = Expansion::default();
    let first = rows(&frame, None, &expansion);
    assert_eq!(first.len(), 1 + FIRST + 1 + LAST);
    assert_eq!(
        outline(&first[FIRST..FIRST + 3]),
        ["  9: 9", "  : 330 more", "  340: 340"]
    );
    let last = first.last().map(|row| (row.position, row.siblings));
    assert_eq!(last, Some((351, 351)));
    expansion.show_more("/state");
    let second = rows(&frame, None, &expansion);
    assert_eq!(second.len(), first.len() + SLICE);
    for _ in 0..3 {
        expansion.show_more("/state");
    }
    assert_eq!(rows(&frame, None, &expansion).len(), 351);
}

#[test]
fn hidden_changes_are_counted() {
    let old: Vec<i32> = (0..350).collect();
    let mut new = old.clone();
    new[100] = -1;
    new.push(350);
    let rows = compared(old.into(), new.into(), &Expansion::default());
    assert_eq!(rows[FIRST + 1], "  : 331 more inside");
    assert_eq!(rows.last().map(|row| &**row), Some("  350: 350 added"));
}

#[test]
fn many_branches_are_not_opened_by_themselves() {
    let inner = json!({"a": 1, "b": 2, "c": 3});
    let frame = Frame::new(Json::List(vec![inner; 100]), Json::Null);
    let rows = rows(&frame, None, &Expansion::default());
    assert!(rows.len() < OPENED_ROWS + SLICE, "{}", rows.len());
}

#[test]
fn paths_are_unique() {
    let old = json!({"a": [1, 2, 3], "/": 1, "~": 2});
    let new = json!({"a": [3], "/": 2, "b/c": 1});
    let (old, new) = (Frame::new(old, Json::Null), Frame::new(new, Json::Null));
    let changes = FrameChanges::between(&old, &new);
    let rows = rows(&new, Some((&old, &changes)), &Expansion::default());
    let mut paths: Vec<_> = rows.iter().map(|row| &row.path).collect();
    paths.sort();
    paths.dedup();
    assert_eq!(paths.len(), rows.len());
}

#[test]
fn siblings_are_counted() {
    let old = Frame::new(json!({"a": 1, "b": 2}), Json::Null);
    let new = Frame::new(json!({"b": 2, "c": 3}), Json::Null);
    let changes = FrameChanges::between(&old, &new);
    let rows = rows(&new, Some((&old, &changes)), &Expansion::default());
    let places: Vec<_> = rows
        .iter()
        .map(|row| (row.position, row.siblings))
        .collect();
    assert_eq!(places, [(1, 1), (1, 3), (2, 3), (3, 3)]);
}

fn any_json() -> impl Strategy<Value = Json> {
    let leaf = prop_oneof![
        Just(Json::Null),
        any::<bool>().prop_map(Json::from),
        (0_i64..4).prop_map(Json::from),
        "[a~/]{0,3}".prop_map(|text| Json::from(text.as_str())),
        "(ab\n){0,90}".prop_map(|text| Json::from(text.as_str())),
    ];
    leaf.prop_recursive(3, 60, 40, |inner| {
        prop_oneof![
            prop::collection::vec(inner.clone(), 0..40).prop_map(Json::List),
            prop::collection::vec(("[a-c~/]{1,2}", inner), 0..6).prop_map(|members| {
                let mut object = volary_core::json::Object::new();
                for (key, value) in members {
                    object.insert(key, value);
                }
                Json::Object(object)
            }),
        ]
    })
}

/// Opens, closes and lengthens rows as a reader would, at the rows that are shown.
fn read(old: &Frame, new: &Frame, choices: &[u8]) -> (Vec<TreeRow>, Expansion) {
    let changes = FrameChanges::between(old, new);
    let mut expansion = Expansion::default();
    for choice in choices {
        let shown = rows(new, Some((old, &changes)), &expansion);
        let Some(row) = shown.get(usize::from(*choice) % shown.len().max(1)) else {
            break;
        };
        match &row.kind {
            RowKind::Branch { open, .. } | RowKind::LongText { open, .. } => {
                expansion.set(&row.path, !open);
            }
            RowKind::More { parent, .. } => expansion.show_more(parent),
            RowKind::Leaf { .. } => {}
        }
    }
    (rows(new, Some((old, &changes)), &expansion), expansion)
}

proptest! {
    #![proptest_config(ProptestConfig::with_cases(96))]

    /// The ARIA attributes of the rows are consistent, whichever branches are open.
    #[test]
    fn rows_form_a_tree(old in any_json(), new in any_json(), choices in prop::collection::vec(any::<u8>(), 0..8)) {
        let (old, new) = (Frame::new(old, Json::Null), Frame::new(new, Json::Null));
        let (shown, _) = read(&old, &new, &choices);
        let paths: std::collections::HashSet<&str> = shown.iter().map(|row| &*row.path).collect();
        prop_assert_eq!(paths.len(), shown.len(), "paths are unique");
        let mut above: Vec<&TreeRow> = Vec::new();
        for row in &shown {
            prop_assert!(row.level <= above.len() + 1, "{} skips a level", row.path);
            if let Some(sibling) = above.get(row.level - 1) {
                prop_assert!(row.position > sibling.position, "{}", row.path);
                prop_assert_eq!(row.siblings, sibling.siblings, "{}", &row.path);
            } else {
                prop_assert_eq!(row.position, 1, "{}", &row.path);
            }
            prop_assert!(row.position <= row.siblings, "{}", row.path);
            above.truncate(row.level - 1);
            if let Some(parent) = above.last() {
                prop_assert_eq!(parent.open(), Some(true), "{}", &row.path);
                let start = format!("{}/", parent.path);
                prop_assert!(row.path.starts_with(&start), "{}", row.path);
            }
            above.push(row);
        }
    }

    #[test]
    fn equal_frames_have_no_marks(value in any_json(), choices in prop::collection::vec(any::<u8>(), 0..8)) {
        let frame = Frame::new(value, Json::Null);
        let (shown, expansion) = read(&frame, &frame, &choices);
        prop_assert!(shown.iter().all(|row| row.mark == Mark::Same));
        prop_assert_eq!(shown, rows(&frame, None, &expansion), "as without a comparison");
    }

    /// A closed branch must not hide that something in it changed.
    #[test]
    fn a_change_is_marked_at_a_row_that_is_shown(
        old in any_json(), new in any_json(), choices in prop::collection::vec(any::<u8>(), 0..8),
    ) {
        prop_assume!(old != new);
        let (old, new) = (Frame::new(old, Json::Null), Frame::new(new, Json::Null));
        let (shown, _) = read(&old, &new, &choices);
        // Nothing is shown of a state that is empty and was empty.
        let is_marked = shown.iter().any(|row| row.mark != Mark::Same);
        prop_assert!(is_marked || shown.is_empty(), "{shown:?}");
    }
}
