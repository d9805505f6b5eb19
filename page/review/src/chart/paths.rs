//! The labels and SVG paths of a chart. Coordinates are in the chart's square view box, with the origin at the top left. Pure.

use volary_analysis::table::Column;
use volary_analysis::table::chart::{Axis, Point, Strip};
use volary_view::library::date_text;

use crate::groups::rounded;

/// The side of the view box in its own units; the browser stretches it to the size of the chart.
pub(super) const SIDE: f64 = 1000.0;

/// Labels of an axis, formatted as the cells of its column.
pub(super) fn ticks(axis: &Axis, column: &Column) -> Vec<String> {
    let times = matches!(column, Column::Started | Column::Added);
    let is_whole = axis.ticks.iter().all(|tick| tick.fract() == 0.0);
    let ticks = axis.ticks.iter();
    ticks
        .map(|tick| match (times, is_whole) {
            (true, _) => date_text(*tick),
            (false, true) => format!("{tick}"),
            (false, false) => rounded(*tick),
        })
        .collect()
}

/// Zero-length lines with round caps: they stay circular however the drawing is stretched.
pub(super) fn dots<'a>(points: impl Iterator<Item = &'a Point>) -> String {
    points
        .map(|point| format!("M{:.1} {:.1}h0", point.x * SIDE, (1.0 - point.y) * SIDE))
        .collect()
}

/// Horizontal lines at the ticks.
pub(super) fn grid(y: &Axis) -> String {
    let last = y.ticks.len().saturating_sub(1).max(1);
    let lines = (0..=last).map(|tick| {
        let height = tick as f64 / last as f64 * SIDE;
        format!("M0 {height:.1}h{SIDE}")
    });
    lines.collect()
}

/// Paths of the strips' means and of the ends of their intervals.
pub(super) fn means(strips: &[Strip]) -> (String, String) {
    let width = SIDE / strips.len().max(1) as f64;
    let mut means = String::new();
    let mut ends = String::new();
    for (place, strip) in strips.iter().enumerate() {
        let middle = width * (place as f64 + 0.5);
        let (mean, interval) = strip.at;
        let (from, height) = (middle - width * 0.3, (1.0 - mean) * SIDE);
        means.push_str(&format!("M{from:.1} {height:.1}h{:.1}", width * 0.6));
        if let Some((low, high)) = interval {
            let (low, high) = ((1.0 - low) * SIDE, (1.0 - high) * SIDE);
            ends.push_str(&format!("M{middle:.1} {low:.1}V{high:.1}"));
        }
    }
    (means, ends)
}

#[cfg(test)]
mod tests {
    use volary_analysis::statistics::Estimate;

    use super::*;

    fn strip(at: (f64, Option<(f64, f64)>)) -> Strip {
        Strip {
            name: "a".to_owned(),
            mean: Estimate {
                mean: 1.0,
                low: None,
                high: None,
                count: 1,
            },
            at,
        }
    }

    #[test]
    fn points_are_measured_from_the_top() {
        let point = |x, y| Point { row: 0, x, y };
        let points = [point(0.0, 0.0), point(0.25, 1.0)];
        assert_eq!(dots(points.iter()), "M0.0 1000.0h0M250.0 0.0h0");
        assert_eq!(dots([].iter()), "");
    }

    #[test]
    fn lines_are_drawn_at_the_ticks() {
        let axis = |ticks: &[f64]| Axis {
            ticks: ticks.to_vec(),
        };
        assert_eq!(
            grid(&axis(&[0.0, 1.0, 2.0])),
            "M0 0.0h1000M0 500.0h1000M0 1000.0h1000"
        );
        // An axis of one tick has a line at both ends.
        assert_eq!(grid(&axis(&[3.0])), "M0 0.0h1000M0 1000.0h1000");
    }

    #[test]
    fn an_unknown_interval_has_no_ends() {
        let strips = [strip((0.5, Some((0.25, 0.75)))), strip((1.0, None))];
        let (means, ends) = means(&strips);
        assert_eq!(means, "M100.0 500.0h300.0M600.0 0.0h300.0");
        assert_eq!(ends, "M250.0 750.0V250.0");
        assert_eq!(super::means(&[]), (String::new(), String::new()));
    }

    #[test]
    fn ticks_are_written_as_the_cells_of_their_column() {
        let axis = |ticks: &[f64]| Axis {
            ticks: ticks.to_vec(),
        };
        assert_eq!(ticks(&axis(&[0.0, 5.0]), &Column::Steps), ["0", "5"]);
        let rewards = ticks(&axis(&[0.0, 0.5]), &Column::Reward);
        assert_eq!(rewards.len(), 2);
        assert!(rewards[1].starts_with("0.5"), "{rewards:?}");
        let days = ticks(&axis(&[0.0]), &Column::Started);
        assert!(days[0].starts_with("1970"), "{days:?}");
    }
}
