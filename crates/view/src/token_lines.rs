//! Tokens as lines of a fixed width, so that a long strip can be scrolled by rows.

use std::ops::Range;

/// The characters between two tokens.
const GAP: usize = 1;

/// Divides tokens of these widths into lines. A line has at least one token; a token that breaks the line is the last
/// of its line.
pub fn lines(tokens: impl IntoIterator<Item = (usize, bool)>, columns: usize) -> Vec<Range<usize>> {
    let mut lines: Vec<Range<usize>> = Vec::new();
    let mut used = 0;
    let mut is_broken = true;
    for (place, (width, breaks)) in tokens.into_iter().enumerate() {
        let needed = width.max(1) + GAP;
        match lines.last_mut() {
            Some(line) if !is_broken && used + needed <= columns => {
                line.end += 1;
                used += needed;
            }
            _ => {
                lines.push(place..place + 1);
                used = needed;
            }
        }
        is_broken = breaks;
    }
    lines
}

/// The index of the line that a token is in.
pub fn line_of(lines: &[Range<usize>], token: usize) -> Option<usize> {
    let after = lines.partition_point(|line| line.end <= token);
    lines
        .get(after)
        .filter(|line| line.contains(&token))
        .map(|_| after)
}

/// The token that a navigation key selects.
pub fn go(lines: &[Range<usize>], from: Option<usize>, key: &str) -> Option<usize> {
    let count = lines
        .last()
        .map(|line| line.end)
        .filter(|count| *count > 0)?;
    let Some(from) = from else {
        return [
            "ArrowRight",
            "ArrowLeft",
            "ArrowDown",
            "ArrowUp",
            "Home",
            "End",
        ]
        .contains(&key)
        .then_some(if key == "End" { count - 1 } else { 0 });
    };
    let line = line_of(lines, from)?;
    let column = from - lines.get(line)?.start;
    let in_line = |line: usize| {
        let line = lines.get(line)?;
        Some((line.start + column).min(line.end - 1))
    };
    match key {
        "ArrowRight" => Some((from + 1).min(count - 1)),
        "ArrowLeft" => Some(from.saturating_sub(1)),
        "ArrowDown" => in_line((line + 1).min(lines.len() - 1)),
        "ArrowUp" => in_line(line.saturating_sub(1)),
        "PageDown" => in_line((line + PAGE).min(lines.len() - 1)),
        "PageUp" => in_line(line.saturating_sub(PAGE)),
        "Home" => Some(0),
        "End" => Some(count - 1),
        _ => None,
    }
}

/// The place in a ranking of `count` tokens that follows or precedes the last one, around its ends; `None` without tokens.
pub fn next_in_ranking(last: Option<usize>, count: usize, forward: bool) -> Option<usize> {
    let end = count.checked_sub(1)?;
    Some(match (last, forward) {
        (None, true) => 0,
        (None, false) => end,
        (Some(at), true) => (at + 1) % count,
        (Some(at), false) => (at + end) % count,
    })
}

/// The number of lines that a page key skips.
const PAGE: usize = 8;

#[cfg(test)]
mod tests {
    use proptest::prelude::*;

    use super::*;

    #[test]
    fn a_line_ends_at_its_width_or_at_a_break() {
        let tokens = [(3, false), (3, false), (3, true), (1, false), (40, false)];
        assert_eq!(lines(tokens, 8), [0..2, 2..3, 3..4, 4..5]);
        assert_eq!(lines([], 8), Vec::<Range<usize>>::new());
    }

    #[test]
    fn keys_move_by_token_and_by_line() {
        let lines = [0..3, 3..4, 4..8];
        let go = |from, key| go(&lines, Some(from), key);
        assert_eq!(go(7, "ArrowRight"), Some(7));
        assert_eq!(go(0, "ArrowLeft"), Some(0));
        assert_eq!(go(2, "ArrowDown"), Some(3));
        assert_eq!(go(6, "ArrowUp"), Some(3));
        assert_eq!(go(6, "Home"), Some(0));
        assert_eq!(go(0, "End"), Some(7));
        assert_eq!(go(0, "PageDown"), Some(4));
        assert_eq!(go(0, "x"), None);
        assert_eq!(super::go(&lines, None, "ArrowDown"), Some(0));
        assert_eq!(super::go(&[], None, "End"), None);
    }

    #[test]
    fn a_ranking_is_followed_around_its_ends() {
        for (last, forward, next) in [
            (None, true, 0),
            (None, false, 2),
            (Some(0), true, 1),
            (Some(2), true, 0),
            (Some(0), false, 2),
            (Some(2), false, 1),
        ] {
            assert_eq!(next_in_ranking(last, 3, forward), Some(next));
        }
        assert_eq!(next_in_ranking(Some(1), 0, true), None);
    }

    proptest! {
        #[test]
        fn lines_cover_all_tokens(
            tokens in proptest::collection::vec((0usize..30, any::<bool>()), 0..200), columns in 1usize..100,
        ) {
            let lines = lines(tokens.clone(), columns);
            let mut next = 0;
            for (place, line) in lines.iter().enumerate() {
                prop_assert_eq!(line.start, next);
                prop_assert!(line.end > line.start);
                prop_assert_eq!(line_of(&lines, line.start), Some(place));
                prop_assert_eq!(line_of(&lines, line.end - 1), Some(place));
                next = line.end;
            }
            prop_assert_eq!(next, tokens.len());
        }
    }
}
