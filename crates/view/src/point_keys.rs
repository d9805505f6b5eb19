//! The keys of a chart whose points are visited one by one, as in a slider.

/// What a key does.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum PointKey {
    /// Point at this one.
    GoTo(usize),
    /// Open this one.
    Open(usize),
}

/// Where the first press of an arrow key starts if no point is selected.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum PointStart {
    /// At the first point in either direction.
    First,
    /// At the end from which the key leads away.
    NearEnd,
}

/// What a key does with `count` points, of which `at` is selected. `None` if it has no function here.
///
/// The selected point may be gone, because the data changed; then the last one counts.
pub fn point_key(
    key: &str,
    at: Option<usize>,
    count: usize,
    start: PointStart,
) -> Option<PointKey> {
    let last = count.checked_sub(1)?;
    let at = at.map(|at| at.min(last));
    let go = |place| Some(PointKey::GoTo(place));
    match key {
        "ArrowRight" | "ArrowUp" => go(at.map_or(0, |at| (at + 1).min(last))),
        "ArrowLeft" | "ArrowDown" => go(match (at, start) {
            (Some(at), _) => at.saturating_sub(1),
            (None, PointStart::First) => 0,
            (None, PointStart::NearEnd) => last,
        }),
        "Home" => go(0),
        "End" => go(last),
        "Enter" => match (at, start) {
            (Some(at), _) => Some(PointKey::Open(at)),
            // The last point is described as long as none is selected.
            (None, PointStart::NearEnd) => Some(PointKey::Open(last)),
            (None, PointStart::First) => None,
        },
        _ => None,
    }
}

#[cfg(test)]
mod tests {
    use proptest::prelude::*;

    use super::PointKey::{GoTo, Open};
    use super::*;

    fn press(key: &str, at: Option<usize>) -> Option<PointKey> {
        point_key(key, at, 3, PointStart::First)
    }

    #[test]
    fn arrows_lead_through_the_points() {
        assert_eq!(press("ArrowRight", Some(0)), Some(GoTo(1)));
        assert_eq!(press("ArrowUp", Some(1)), Some(GoTo(2)));
        assert_eq!(press("ArrowRight", Some(2)), Some(GoTo(2)), "it ends there");
        assert_eq!(press("ArrowLeft", Some(2)), Some(GoTo(1)));
        assert_eq!(press("ArrowDown", Some(0)), Some(GoTo(0)));
        assert_eq!(press("Home", Some(2)), Some(GoTo(0)));
        assert_eq!(press("End", None), Some(GoTo(2)));
    }

    #[test]
    fn the_first_press_selects_a_point() {
        assert_eq!(press("ArrowRight", None), Some(GoTo(0)));
        assert_eq!(press("ArrowLeft", None), Some(GoTo(0)));
        let near = |key| point_key(key, None, 3, PointStart::NearEnd);
        assert_eq!(near("ArrowRight"), Some(GoTo(0)));
        assert_eq!(near("ArrowLeft"), Some(GoTo(2)));
    }

    #[test]
    fn enter_opens_what_is_described() {
        assert_eq!(press("Enter", Some(1)), Some(Open(1)));
        assert_eq!(press("Enter", None), None);
        let near = point_key("Enter", None, 3, PointStart::NearEnd);
        assert_eq!(near, Some(Open(2)));
    }

    #[test]
    fn a_point_that_is_gone_is_the_last_one() {
        assert_eq!(press("Enter", Some(9)), Some(Open(2)));
        assert_eq!(press("ArrowLeft", Some(9)), Some(GoTo(1)));
        assert_eq!(press("ArrowRight", Some(9)), Some(GoTo(2)));
    }

    #[test]
    fn other_keys_and_empty_charts_do_nothing() {
        for key in ["j", " ", "Tab", "PageUp", "Escape", ""] {
            assert_eq!(press(key, Some(1)), None, "{key:?}");
        }
        for key in ["ArrowLeft", "End", "Enter"] {
            assert_eq!(point_key(key, Some(0), 0, PointStart::NearEnd), None);
        }
    }

    proptest! {
        #[test]
        fn no_key_leaves_the_chart(
            key in "ArrowRight|ArrowLeft|ArrowUp|ArrowDown|Home|End|Enter",
            at in proptest::option::of(any::<usize>()),
            count in 0_usize..9,
            near: bool,
        ) {
            let start = if near { PointStart::NearEnd } else { PointStart::First };
            if let Some(GoTo(place) | Open(place)) = point_key(&key, at, count, start) {
                prop_assert!(place < count);
            }
        }
    }
}
