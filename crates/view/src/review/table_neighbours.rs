//! The neighbours of the open trajectory among the rows of the table. Pure.

use std::sync::Arc;

use volary_analysis::table::Row;
use volary_core::quantity::count_text;

/// The next or the previous row that is wanted. `at` is the index of the open trajectory; `None` if the table does not show
/// it.
pub fn neighbour(
    rows: &[Arc<Row>],
    at: Option<usize>,
    forward: bool,
    wanted: impl Fn(&Row) -> bool,
) -> Option<&Arc<Row>> {
    let is_wanted = |row: &&Arc<Row>| wanted(row);
    match (at, forward) {
        // From outside the table, the next trajectory is the first one.
        (None, true) => rows.iter().find(is_wanted),
        (None, false) => None,
        (Some(at), true) => rows.iter().skip(at + 1).find(is_wanted),
        (Some(at), false) => rows.iter().take(at).rfind(is_wanted),
    }
}

/// Returns whether there is a next or a previous row.
pub fn has_neighbour(count: usize, at: Option<usize>, forward: bool) -> bool {
    match (at, forward) {
        (Some(at), true) => at + 1 < count,
        (Some(at), false) => at > 0,
        (None, forward) => forward && count > 0,
    }
}

/// Why there is no next or previous failure. `None` if there is one.
pub fn no_failure_text(
    rows: &[Arc<Row>],
    at: Option<usize>,
    forward: bool,
) -> Option<&'static str> {
    if neighbour(rows, at, forward, Row::failed).is_some() {
        return None;
    }
    Some(match (rows.iter().any(|row| row.failed()), forward) {
        (false, _) => "No trajectory of the table failed.",
        (true, true) => "No failure after this one.",
        (true, false) => "No failure before this one.",
    })
}

/// The position in the table, for the user.
pub fn position_text(count: usize, at: Option<usize>) -> String {
    let count = count_text(count);
    match at {
        Some(at) => format!("{} of {count}", count_text(at + 1)),
        None => format!("not among {count}"),
    }
}

#[cfg(test)]
mod tests {
    use proptest::prelude::*;

    use super::*;

    /// Rows of which the marked ones failed.
    fn rows(failed: &[bool]) -> Vec<Arc<Row>> {
        let rows = failed.iter().enumerate().map(|(place, failed)| {
            Arc::new(Row {
                id: place.to_string().into(),
                reward: Some(if *failed { 0.0 } else { 1.0 }),
                ..Row::default()
            })
        });
        rows.collect()
    }

    fn each(_: &Row) -> bool {
        true
    }

    fn id(row: Option<&Arc<Row>>) -> Option<&str> {
        row.map(|row| &*row.id)
    }

    #[test]
    fn neighbours_follow_the_order_of_the_table() {
        let rows = rows(&[false; 3]);
        assert_eq!(id(neighbour(&rows, Some(1), true, each)), Some("2"));
        assert_eq!(id(neighbour(&rows, Some(1), false, each)), Some("0"));
        assert_eq!(id(neighbour(&rows, Some(2), true, each)), None);
        assert_eq!(id(neighbour(&rows, Some(0), false, each)), None);
        // From outside the table.
        assert_eq!(id(neighbour(&rows, None, true, each)), Some("0"));
        assert_eq!(id(neighbour(&rows, None, false, each)), None);
        assert_eq!(id(neighbour(&[], None, true, each)), None);
        // The rows changed a moment ago.
        assert_eq!(id(neighbour(&rows, Some(9), true, each)), None);
        assert_eq!(id(neighbour(&rows, Some(9), false, each)), Some("2"));
    }

    #[test]
    fn failures_skip_what_went_well() {
        let rows = rows(&[true, false, false, true, false]);
        let failed: Vec<bool> = rows.iter().map(|row| row.failed()).collect();
        assert_eq!(failed, [true, false, false, true, false]);
        assert_eq!(id(neighbour(&rows, Some(0), true, Row::failed)), Some("3"));
        assert_eq!(id(neighbour(&rows, Some(4), false, Row::failed)), Some("3"));
        assert_eq!(id(neighbour(&rows, Some(3), true, Row::failed)), None);
        assert_eq!(id(neighbour(&rows, None, true, Row::failed)), Some("0"));
    }

    #[test]
    fn it_is_said_why_there_is_no_failure() {
        let table = rows(&[false, true, false]);
        assert_eq!(no_failure_text(&table, Some(0), true), None);
        assert_eq!(no_failure_text(&table, Some(2), false), None);
        assert_eq!(no_failure_text(&table, None, true), None);
        // The open trajectory itself is not the next one.
        for at in [1, 2] {
            let text = no_failure_text(&table, Some(at), true);
            assert_eq!(text, Some("No failure after this one."), "{at}");
        }
        for at in [Some(0), Some(1), None] {
            let text = no_failure_text(&table, at, false);
            assert_eq!(text, Some("No failure before this one."), "{at:?}");
        }
        for forward in [true, false] {
            let text = no_failure_text(&rows(&[false; 2]), Some(0), forward);
            assert_eq!(text, Some("No trajectory of the table failed."));
        }
    }

    #[test]
    fn positions_count_from_one() {
        assert_eq!(position_text(1_200, Some(0)), "1 of 1,200");
        assert_eq!(position_text(1_200, Some(1_199)), "1,200 of 1,200");
        assert_eq!(position_text(3, None), "not among 3");
    }

    proptest! {
        #[test]
        fn a_button_is_enabled_if_there_is_a_neighbour(
            count in 0_usize..6,
            at in proptest::option::of(0_usize..6),
            forward: bool,
        ) {
            let at = at.filter(|at| *at < count);
            let rows = rows(&vec![false; count]);
            let neighbour = neighbour(&rows, at, forward, each);
            prop_assert_eq!(has_neighbour(count, at, forward), neighbour.is_some());
        }

        #[test]
        fn the_way_back_leads_to_the_same_failure(failed in proptest::collection::vec(any::<bool>(), 1..12)) {
            let rows = rows(&failed);
            let place = |row: &Arc<Row>| rows.iter().position(|other| other.id == row.id);
            let mut at = None;
            let mut visited = Vec::new();
            while let Some(next) = neighbour(&rows, at, true, Row::failed) {
                at = place(next);
                visited.extend(at);
            }
            let expected: Vec<usize> = (0..failed.len()).filter(|place| failed[*place]).collect();
            prop_assert_eq!(&visited, &expected);
            let mut back = Vec::from_iter(at);
            while let Some(former) = neighbour(&rows, at, false, Row::failed) {
                at = place(former);
                back.extend(at);
            }
            back.reverse();
            prop_assert_eq!(back, expected);
        }
    }
}
