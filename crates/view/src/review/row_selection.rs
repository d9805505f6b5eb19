//! The selected rows of the table: which are selected, in what order actions take them, and what is said before they are
//! deleted. Pure.

use std::collections::{BTreeSet, HashSet};
use std::sync::Arc;

use volary_analysis::table::Row;
use volary_core::json::Text;
use volary_core::quantity::{count_text, plural, size_text};

use volary_app::library::PUBLISHED;

/// The ids of the selected rows. Rows that a filter hides stay selected.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct RowSelection(BTreeSet<Text>);

impl RowSelection {
    pub fn len(&self) -> usize {
        self.0.len()
    }

    pub fn is_empty(&self) -> bool {
        self.0.is_empty()
    }

    pub fn contains(&self, id: &Text) -> bool {
        self.0.contains(id)
    }

    /// Selects or deselects a row.
    pub fn choose(&mut self, id: &Text, chosen: bool) {
        if chosen {
            self.0.insert(id.clone())
        } else {
            self.0.remove(id)
        };
    }

    /// Selects exactly the rows that the table shows.
    pub fn choose_all(&mut self, shown: &[Arc<Row>]) {
        self.0 = shown.iter().map(|row| row.id.clone()).collect();
    }

    pub fn clear(&mut self) {
        self.0.clear();
    }

    /// Returns whether the table shows rows and all of them are selected.
    pub fn has_all(&self, shown: &[Arc<Row>]) -> bool {
        let has_row = |row: &Arc<Row>| self.contains(&row.id);
        !shown.is_empty() && self.len() >= shown.len() && shown.iter().all(has_row)
    }

    /// The selected rows in the order of the table; rows hidden by a filter come last.
    pub fn rows(&self, shown: &[Arc<Row>], all: &[Arc<Row>]) -> Vec<Arc<Row>> {
        let mut left: HashSet<&Text> = self.0.iter().collect();
        let rows = shown.iter().chain(all);
        rows.filter(|row| left.remove(&row.id)).cloned().collect()
    }

    /// Says what a deletion of the selected rows removes.
    pub fn deletion_text(&self, all: &[Arc<Row>]) -> String {
        let chosen = all.iter().filter(|row| self.contains(&row.id));
        let (kept, deleted): (Vec<_>, Vec<_>) =
            chosen.partition(|row| row.origin.as_deref() == Some(PUBLISHED));
        let bytes = deleted.iter().filter_map(|row| row.bytes);
        let bytes = bytes.fold(0_u64, u64::saturating_add);
        let stay = match kept.len() {
            0 => String::new(),
            1 => " 1 of this site is kept.".to_owned(),
            kept => format!(" {} of this site are kept.", count_text(kept)),
        };
        format!(
            "This deletes {} ({}) from this browser.{stay}",
            plural(deleted.len(), "trajectory"),
            size_text(bytes)
        )
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn rows(ids: &[&str]) -> Vec<Arc<Row>> {
        let rows = ids.iter().map(|id| {
            Arc::new(Row {
                id: (*id).into(),
                bytes: Some(1_000),
                ..Row::default()
            })
        });
        rows.collect()
    }

    fn selected(ids: &[&str]) -> RowSelection {
        let mut selection = RowSelection::default();
        for id in ids {
            selection.choose(&(*id).into(), true);
        }
        selection
    }

    fn ids(rows: &[Arc<Row>]) -> Vec<&str> {
        rows.iter().map(|row| &*row.id).collect()
    }

    #[test]
    fn rows_are_selected_one_by_one_or_all_at_once() {
        let mut selection = selected(&["a", "b", "a"]);
        assert_eq!(selection.len(), 2);
        selection.choose(&"a".into(), false);
        selection.choose(&"z".into(), false);
        assert_eq!(selection, selected(&["b"]));
        // Those that a filter hides are deselected, because the user sees what "all" are.
        selection.choose_all(&rows(&["c", "d"]));
        assert_eq!(selection, selected(&["c", "d"]));
        selection.clear();
        assert!(selection.is_empty());
    }

    #[test]
    fn all_are_selected_only_if_each_shown_row_is() {
        let shown = rows(&["a", "b"]);
        assert!(selected(&["a", "b"]).has_all(&shown));
        assert!(selected(&["a", "b", "hidden"]).has_all(&shown));
        assert!(!selected(&["a"]).has_all(&shown));
        // As many rows, but hidden ones.
        assert!(!selected(&["x", "y", "z"]).has_all(&shown));
        assert!(!selected(&["a"]).has_all(&[]), "there is nothing to select");
    }

    #[test]
    fn selected_rows_follow_the_table() {
        let all = rows(&["a", "b", "c", "d"]);
        let shown = rows(&["d", "b", "a"]);
        let selection = selected(&["a", "c", "d", "deleted"]);
        assert_eq!(ids(&selection.rows(&shown, &all)), ["d", "a", "c"]);
        assert_eq!(ids(&selection.rows(&[], &all)), ["a", "c", "d"]);
        assert_eq!(ids(&selection.rows(&[], &[])), [] as [&str; 0]);
    }

    #[test]
    fn the_question_says_what_a_deletion_removes() {
        let mut all = rows(&["a", "b", "c"]);
        let text = selected(&["a"]).deletion_text(&all);
        assert_eq!(
            text,
            "This deletes 1 trajectory (1.0 kB) from this browser."
        );
        let of_site = Row {
            origin: Some(PUBLISHED.into()),
            ..Row::clone(&all[2])
        };
        all[2] = Arc::new(of_site);
        let text = selected(&["a", "b", "c"]).deletion_text(&all);
        assert_eq!(
            text,
            "This deletes 2 trajectories (2.0 kB) from this browser. 1 of this site is kept."
        );
        all.extend(rows(&["e"]));
        all[1] = Arc::new(Row {
            origin: Some(PUBLISHED.into()),
            ..Row::clone(&all[1])
        });
        // A row whose size is unknown, and one that exists no longer.
        all[3] = Arc::new(Row {
            bytes: None,
            ..Row::clone(&all[3])
        });
        let text = selected(&["b", "c", "e", "gone"]).deletion_text(&all);
        assert_eq!(
            text,
            "This deletes 1 trajectory (0 B) from this browser. 2 of this site are kept."
        );
    }
}
