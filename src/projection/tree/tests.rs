//! Rows of frames, tested as an indented outline.

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
