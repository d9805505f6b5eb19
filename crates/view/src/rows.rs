//! Virtual scrolling of a long list whose rows have the same height.

use std::ops::Range;

/// Extra rows rendered above and below the viewport, so that scrolling shows no gaps.
const MARGIN: usize = 12;
/// The window moves in steps of this many rows, so that it changes rarely.
const GRAIN: usize = 8;

/// The rows to render if `top` pixels of `count` rows are scrolled out of view, with a margin on each side.
pub fn window(top: f64, viewport: f64, row: f64, count: usize) -> Range<usize> {
    if row <= 0.0 || !row.is_finite() {
        return 0..count.min(MARGIN);
    }
    // Both are small and not negative; the cast clamps anything else.
    let first = (top / row).floor() as usize;
    let seen = (viewport / row).ceil() as usize + 1;
    let start = first.saturating_sub(MARGIN) / GRAIN * GRAIN;
    let end = (first + seen + MARGIN).div_ceil(GRAIN) * GRAIN;
    let end = end.min(count);
    start.min(end)..end
}

/// The scroll offset that brings a row into view, if it is not visible.
pub fn reveal(at: usize, top: f64, viewport: f64, row: f64) -> Option<f64> {
    let (start, end) = (at as f64 * row, (at + 1) as f64 * row);
    if start < top {
        Some((start - row).max(0.0))
    } else if end > top + viewport {
        Some(end + row - viewport)
    } else {
        None
    }
}

#[cfg(test)]
mod tests {
    use proptest::prelude::*;

    use super::*;

    proptest! {
        #[test]
        fn only_visible_rows_are_drawn(
            top in 0.0..1e7f64, viewport in 0.0..3e3f64, count in 0usize..500_000,
        ) {
            let row = 28.0;
            let window = window(top, viewport, row, count);
            prop_assert!(window.start <= window.end && window.end <= count);
            let seen = viewport / row;
            prop_assert!((window.len() as f64) < seen + 60.0);
            for place in [top, top + viewport] {
                let at = (place / row) as usize;
                prop_assert!(at >= count || window.contains(&at), "{at} in {window:?}");
            }
        }

        #[test]
        fn revealed_rows_are_seen(at in 0usize..10_000, top in 0.0..1e5f64) {
            let (row, viewport) = (28.0, 400.0);
            let top = reveal(at, top, viewport, row).unwrap_or(top);
            prop_assert!(at as f64 * row >= top - 1e-6);
            prop_assert!((at + 1) as f64 * row <= top + viewport + 1e-6);
        }
    }

    #[test]
    fn nonsense_is_bounded() {
        assert_eq!(window(f64::NAN, f64::NAN, 28.0, 0), 0..0);
        assert_eq!(window(0.0, 100.0, 0.0, 1_000_000).len(), MARGIN);
    }
}
