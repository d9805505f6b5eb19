//! The keys of a tree, as the ARIA Authoring Practices describe them for tree views.

use super::TreeRow;

/// The effect of a key press in a tree.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum TreeReaction {
    /// Activates the row: opens it, closes it, or shows more entries.
    Act,
    /// Moves to the row at this index.
    Go(usize),
}

impl TreeReaction {
    /// The effect of a key in the row at an index; `None` if the key has none.
    pub fn to(rows: &[TreeRow], at: usize, key: &str) -> Option<TreeReaction> {
        let row = rows.get(at)?;
        let last = rows.len() - 1;
        let open = row.open();
        Some(match key {
            "ArrowDown" => TreeReaction::Go(last.min(at + 1)),
            "ArrowUp" => TreeReaction::Go(at.saturating_sub(1)),
            "Home" => TreeReaction::Go(0),
            "End" => TreeReaction::Go(last),
            "Enter" | " " => TreeReaction::Act,
            "ArrowRight" if open == Some(false) => TreeReaction::Act,
            "ArrowRight" => TreeReaction::Go(first_child(rows, at).unwrap_or(at)),
            "ArrowLeft" if open == Some(true) => TreeReaction::Act,
            "ArrowLeft" => TreeReaction::Go(parent(rows, at).unwrap_or(at)),
            _ => return None,
        })
    }
}

fn first_child(rows: &[TreeRow], at: usize) -> Option<usize> {
    let (row, next) = (rows.get(at)?, rows.get(at + 1)?);
    (next.level > row.level).then_some(at + 1)
}

fn parent(rows: &[TreeRow], at: usize) -> Option<usize> {
    let level = rows.get(at)?.level;
    let before = rows.get(..at)?;
    before.iter().rposition(|other| other.level < level)
}

#[cfg(test)]
mod tests {
    use volary_core::{Frame, Json, json};

    use super::super::{Expansion, rows};
    use super::*;

    /// Rows 0 to 5: state, n, list (open), 0, 1, last (closed).
    fn example() -> Vec<TreeRow> {
        let frame = Frame::new(json!({"n": 1, "list": [7, 8], "last": [9]}), Json::Null);
        let mut expansion = Expansion::default();
        expansion.set("/state/list", true);
        expansion.set("/state/last", false);
        let rows = rows(&frame, None, &expansion);
        assert_eq!(rows.len(), 6, "{rows:?}");
        rows
    }

    fn to(at: usize, key: &str) -> Option<TreeReaction> {
        TreeReaction::to(&example(), at, key)
    }

    #[test]
    fn arrows_move_by_a_row_and_stop_at_the_ends() {
        assert_eq!(to(0, "ArrowDown"), Some(TreeReaction::Go(1)));
        assert_eq!(to(5, "ArrowDown"), Some(TreeReaction::Go(5)));
        assert_eq!(to(3, "ArrowUp"), Some(TreeReaction::Go(2)));
        assert_eq!(to(0, "ArrowUp"), Some(TreeReaction::Go(0)));
        assert_eq!(to(3, "Home"), Some(TreeReaction::Go(0)));
        assert_eq!(to(3, "End"), Some(TreeReaction::Go(5)));
    }

    #[test]
    fn right_opens_and_then_moves_into_the_branch() {
        assert_eq!(to(5, "ArrowRight"), Some(TreeReaction::Act));
        assert_eq!(to(2, "ArrowRight"), Some(TreeReaction::Go(3)));
        assert_eq!(
            to(1, "ArrowRight"),
            Some(TreeReaction::Go(1)),
            "a value has nothing inside"
        );
    }

    #[test]
    fn left_closes_and_then_moves_to_the_parent() {
        assert_eq!(to(2, "ArrowLeft"), Some(TreeReaction::Act));
        assert_eq!(to(4, "ArrowLeft"), Some(TreeReaction::Go(2)));
        assert_eq!(to(5, "ArrowLeft"), Some(TreeReaction::Go(0)));
    }

    #[test]
    fn other_keys_stay_with_the_browser() {
        assert_eq!(to(0, "Enter"), Some(TreeReaction::Act));
        assert_eq!(to(0, " "), Some(TreeReaction::Act));
        assert_eq!(to(0, "Tab"), None);
        assert_eq!(to(9, "ArrowDown"), None, "the row is gone");
        assert_eq!(TreeReaction::to(&[], 0, "End"), None);
    }
}
