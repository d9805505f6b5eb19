//! Curves and histograms of training runs as geometry, and their figures as text.
//!
//! Drawings fill a square of [`SIDE`] units, which the browser stretches. Invariant: every coordinate is within it.

use volary_analysis::training::{Histogram, SeriesPoint};
use volary_core::quantity::large_count_text;

use super::summary::reward_text;

/// The side of the box.
pub const SIDE: f64 = 1000.0;
/// The gap between two bars of a histogram.
const GAP: f64 = 12.0;

/// The steps and the values that a drawing spans.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct ChartFrame {
    /// The first and the last step.
    pub steps: (i64, i64),
    /// The values at the bottom and at the top.
    pub values: (f64, f64),
}

impl ChartFrame {
    /// A frame around curves; `None` without any point. Shares start at 0.
    pub fn of(curves: &[&[SeriesPoint]], is_share: bool) -> Option<ChartFrame> {
        let points = || curves.iter().flat_map(|points| points.iter());
        let first = points().map(|point| point.step).min()?;
        let last = points().map(|point| point.step).max()?;
        let low = points().map(|point| point.band.0.min(point.mean));
        let high = points().map(|point| point.band.1.max(point.mean));
        let low = low.fold(f64::INFINITY, f64::min);
        let high = high.fold(f64::NEG_INFINITY, f64::max);
        let values = match (is_share, high > low) {
            (true, _) => (0.0, if high > 0.0 { high } else { 1.0 }),
            (false, true) => (low, high),
            (false, false) => {
                let half = low.abs().max(1.0) / 2.0;
                (low - half, low + half)
            }
        };
        Some(ChartFrame {
            steps: (first, last),
            values,
        })
    }

    /// The horizontal place of a step. A single step is in the middle.
    pub fn x(&self, step: i64) -> f64 {
        let (first, last) = self.steps;
        if first == last {
            return SIDE / 2.0;
        }
        let share = (step as f64 - first as f64) / (last as f64 - first as f64);
        (share * SIDE).clamp(0.0, SIDE)
    }

    fn y(&self, value: f64) -> f64 {
        let (low, high) = self.values;
        ((high - value) / (high - low) * SIDE).clamp(0.0, SIDE)
    }

    /// The line through the means.
    pub fn line(&self, points: &[SeriesPoint]) -> String {
        let places = points.iter().enumerate();
        let places = places.map(|(place, point)| {
            let command = if place == 0 { 'M' } else { 'L' };
            format!(
                "{command}{:.1} {:.1}",
                self.x(point.step),
                self.y(point.mean)
            )
        });
        places.collect()
    }

    /// The area of the bands.
    pub fn band(&self, points: &[SeriesPoint]) -> String {
        /// Half the width of the band of a single point.
        const HALF: f64 = 8.0;
        if let [point] = points {
            let (low, high) = (self.y(point.band.0), self.y(point.band.1));
            let left = self.x(point.step) - HALF;
            let shape = format!("M{left:.1} {high:.1}h{:.1}V{low:.1}H{left:.1}Z", HALF * 2.0);
            return if low > high { shape } else { String::new() };
        }
        if points.is_empty() {
            return String::new();
        }
        let corner = |step: i64, value: f64| format!("{:.1} {:.1}", self.x(step), self.y(value));
        let above = points.iter().map(|point| corner(point.step, point.band.1));
        let below = points
            .iter()
            .rev()
            .map(|point| corner(point.step, point.band.0));
        let corners: Vec<String> = above.chain(below).collect();
        format!("M{}Z", corners.join("L"))
    }

    /// The means as zero-length lines, which stay circular however the drawing is stretched; empty for many points.
    pub fn dots(&self, points: &[SeriesPoint]) -> String {
        /// Up to this number, points are drawn.
        const MOST: usize = 60;
        if points.len() > MOST {
            return String::new();
        }
        let dots = points.iter();
        dots.map(|point| format!("M{:.1} {:.1}h0", self.x(point.step), self.y(point.mean)))
            .collect()
    }

    /// The index of the step nearest to a horizontal place, from 0 to 1.
    pub fn nearest(&self, steps: &[i64], place: f64) -> Option<usize> {
        let distance = |step: i64| (self.x(step) / SIDE - place).abs();
        let places = steps.iter().enumerate();
        let nearest = places.min_by(|one, other| distance(*one.1).total_cmp(&distance(*other.1)));
        nearest.map(|(place, _)| place)
    }
}

/// The bars of a histogram, whose highest count `most` reaches the top. Intervals with values are visible, however few.
pub fn bars(histogram: &Histogram, most: usize) -> String {
    /// The lowest bar.
    const LOWEST: f64 = 25.0;
    let width = SIDE / histogram.counts.len().max(1) as f64;
    let gap = if width > GAP * 2.0 { GAP } else { 0.0 };
    let counts = histogram.counts.iter().enumerate();
    let bars = counts.filter(|(_, count)| **count > 0).map(|(bin, count)| {
        let height = (*count as f64 / most.max(1) as f64 * SIDE).clamp(LOWEST, SIDE);
        let left = bin as f64 * width + gap / 2.0;
        format!(
            "M{left:.1} {SIDE}v{:.1}h{:.1}v{height:.1}Z",
            -height,
            width - gap
        )
    });
    bars.collect()
}

/// The outline of a histogram, for a comparison with bars.
pub fn outline(histogram: &Histogram, most: usize) -> String {
    let width = SIDE / histogram.counts.len().max(1) as f64;
    let mut path = format!("M0 {SIDE}");
    for count in &histogram.counts {
        let height = (*count as f64 / most.max(1) as f64 * SIDE).min(SIDE);
        path.push_str(&format!("V{:.1}h{width:.1}", SIDE - height));
    }
    path + &format!("V{SIDE}")
}

/// The horizontal place of a value in a histogram's range.
pub fn place_in((low, high): (f64, f64), value: f64) -> f64 {
    if high > low {
        ((value - low) / (high - low) * SIDE).clamp(0.0, SIDE)
    } else {
        SIDE / 2.0
    }
}

/// Formats a figure with three digits, and shares as percent.
pub fn figure_text(value: f64, is_share: bool) -> String {
    let with_decimals = |value: f64, decimals: i32| {
        let scale = 10_f64.powi(decimals);
        reward_text((value * scale).round() / scale)
    };
    let size = value.abs();
    if !value.is_finite() {
        return reward_text(value);
    }
    if is_share {
        return if size > 0.0 && size < 0.095 {
            format!("{}%", with_decimals(value * 100.0, 1))
        } else {
            format!("{:.0}%", value * 100.0)
        };
    }
    if size >= 99.95 {
        let sign = if value < 0.0 { "-" } else { "" };
        return if size < 1e9 {
            format!("{sign}{}", large_count_text(size.round() as u64))
        } else {
            format!("{value:.2e}")
        };
    }
    match size {
        0.0 => with_decimals(0.0, 0),
        tiny if tiny < 1e-4 => format!("{value:.1e}"),
        _ => with_decimals(value, 2 - size.log10().floor() as i32),
    }
}

/// The number of decimals with which the figures of a column line up, each with about three digits.
pub fn column_decimals(values: impl IntoIterator<Item = f64>) -> usize {
    /// A tiny value does not lengthen all others.
    const MOST: usize = 4;
    let texts = values.into_iter().map(|value| figure_text(value, false));
    let decimals = texts.map(|text| match text.split_once('.') {
        Some((_, decimals)) if !text.contains('e') => decimals.len(),
        _ => 0,
    });
    decimals.max().unwrap_or_default().min(MOST)
}

/// Formats a figure of a column. Sizes that these decimals do not suit are formatted on their own.
pub fn column_text(value: f64, decimals: usize) -> String {
    let least = 0.5 * 0.1_f64.powi(i32::try_from(decimals).unwrap_or_default());
    match value.abs() {
        0.0 => format!("{:.decimals$}", 0.0),
        size if size >= least && size < 999.5 => format!("{value:.decimals$}"),
        _ => figure_text(value, false),
    }
}

/// Formats a figure of a sample, such as a number of tokens. `is_count` means that it is a whole number.
pub fn sample_figure_text(value: f64, is_share: bool, is_count: bool) -> String {
    if is_count && value.fract() == 0.0 && (0.0..1e9).contains(&value) {
        large_count_text(value as u64)
    } else {
        figure_text(value, is_share)
    }
}

/// Formats a mean with its deviation.
pub fn spread_text(mean: Option<f64>, deviation: Option<f64>, is_share: bool) -> String {
    match (mean, deviation) {
        (None, _) => "–".to_owned(),
        (Some(mean), None) => figure_text(mean, is_share),
        (Some(mean), Some(deviation)) => {
            format!(
                "{} ± {}",
                figure_text(mean, is_share),
                figure_text(deviation, is_share)
            )
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn point(step: i64, mean: f64, half: f64) -> SeriesPoint {
        SeriesPoint {
            step,
            mean,
            band: (mean - half, mean + half),
        }
    }

    #[test]
    fn curves_span_their_frame() {
        let points = [point(0, 0.0, 0.0), point(10, 1.0, 0.0), point(20, 0.5, 0.5)];
        let frame = ChartFrame::of(&[&points], true).unwrap();
        assert_eq!(frame.steps, (0, 20));
        assert_eq!(frame.values, (0.0, 1.0));
        assert_eq!(frame.line(&points), "M0.0 1000.0L500.0 0.0L1000.0 500.0");
        assert_eq!(frame.band(&points[..1]), "");
        assert_eq!(frame.band(&points[2..]), "M992.0 0.0h16.0V1000.0H992.0Z");
        assert_eq!(
            frame.band(&points[1..]),
            "M500.0 0.0L1000.0 0.0L1000.0 1000.0L500.0 0.0Z"
        );
        assert_eq!(frame.dots(&points[..1]), "M0.0 1000.0h0");
        assert_eq!(frame.nearest(&[0, 10, 20], 0.6), Some(1));
        assert_eq!(frame.nearest(&[], 0.6), None);
        assert_eq!(ChartFrame::of(&[&[]], true), None);
        let flat = ChartFrame::of(&[&[point(3, 2.0, 0.0)]], false).unwrap();
        assert_eq!((flat.values, flat.x(3)), ((1.0, 3.0), 500.0));
    }

    #[test]
    fn bars_of_few_values_are_visible() {
        let histogram = Histogram {
            range: (0.0, 1.0),
            counts: vec![1000, 0, 1, 0],
        };
        assert_eq!(
            bars(&histogram, 1000),
            "M6.0 1000v-1000.0h238.0v1000.0ZM506.0 1000v-25.0h238.0v25.0Z"
        );
        assert_eq!(
            outline(&histogram, 2000),
            "M0 1000V500.0h250.0V1000.0h250.0V999.5h250.0V1000.0h250.0V1000"
        );
        assert_eq!(place_in((0.0, 2.0), 0.5), 250.0);
        assert_eq!(place_in((2.0, 2.0), 2.0), 500.0);
    }

    #[test]
    fn figures_of_a_column_line_up() {
        let texts = |values: &[f64]| {
            let decimals = column_decimals(values.iter().copied());
            let texts = values.iter().map(|value| column_text(*value, decimals));
            texts.collect::<Vec<_>>()
        };
        assert_eq!(texts(&[0.5, 0.302, -1.05]), ["0.500", "0.302", "-1.050"]);
        assert_eq!(texts(&[1.0, 0.0]), ["1.0", "0.0"]);
        assert_eq!(texts(&[87.0, 106.25]), ["87.0", "106.2"]);
        assert_eq!(texts(&[0.5, 1e-7, 12345.0]), ["0.5", "1.0e-7", "12,345"]);
        assert_eq!(texts(&[f64::NAN]), ["nan"]);
    }

    #[test]
    fn figures_have_about_three_digits() {
        for (value, is_share, text) in [
            (0.0, false, "0.0"),
            (0.12345, false, "0.123"),
            (12.345, false, "12.3"),
            (1.2345, false, "1.23"),
            (-0.5, false, "-0.5"),
            (1234.5, false, "1,235"),
            (-1234.4, false, "-1,234"),
            (0.000_123_4, false, "0.000123"),
            (0.000_000_123, false, "1.2e-7"),
            (0.5, true, "50%"),
            (0.0123, true, "1.2%"),
            (0.0, true, "0%"),
        ] {
            assert_eq!(figure_text(value, is_share), text);
        }
        assert_eq!(spread_text(Some(0.5), Some(0.25), false), "0.5 ± 0.25");
        assert_eq!(sample_figure_text(87.0, false, true), "87");
        assert_eq!(sample_figure_text(87.0, false, false), "87.0");
        assert_eq!(spread_text(None, None, false), "–");
    }
}
