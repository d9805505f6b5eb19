//! Reward curves as geometry: one bar per step and a line of the running total, in a box of fixed units.
//! The total changes at a step and not between two, so its line is a staircase.
//!
//! Long episodes are grouped into columns. Each column keeps its minimum and maximum, so that no peak is lost.

/// The width of the box.
pub const WIDTH: f64 = 600.0;
/// The height of the box.
pub const HEIGHT: f64 = 120.0;
/// The maximum number of columns; a column has at most three points of the line.
const COLUMNS: usize = 300;
/// Padding around the curve, so that nothing is clipped at the edges.
const MARGIN: f64 = 6.0;
/// Up to this number of steps, each is drawn as a point.
const POINTS: usize = 60;

/// A reward curve.
#[derive(Clone, Debug, Default, PartialEq)]
pub struct Curve {
    /// The running total as the `d` of an SVG path. It starts at 0 after the reset.
    pub total: String,
    /// The points of the line as an SVG path of zero-length strokes with round caps; empty for long episodes.
    pub points: String,
    /// The bars of the single rewards as the `d` of an SVG path.
    pub rewards: String,
    /// The height of zero.
    pub zero: f64,
}

/// The bounds of a curve.
#[derive(Clone, Debug, Default, PartialEq)]
pub struct Bounds {
    /// The highest value of all.
    pub high: f64,
    /// The lowest value of all.
    pub low: f64,
    /// The number of steps.
    pub steps: usize,
    /// The number of leading steps to draw: those that fill whole columns. The remaining ones are narrower than
    /// a line and need no redraw while they stay within the bounds, so a long curve is not redrawn with each
    /// step.
    pub drawn: usize,
}

/// The lowest and the highest of some values.
#[derive(Clone, Copy, Debug, PartialEq)]
struct Span {
    low: f64,
    high: f64,
}

impl Span {
    const NOTHING: Span = Span {
        low: f64::INFINITY,
        high: f64::NEG_INFINITY,
    };

    const ZERO: Span = Span {
        low: 0.0,
        high: 0.0,
    };

    fn add(&mut self, value: f64) {
        self.low = self.low.min(value);
        self.high = self.high.max(value);
    }
}

/// Replaces NaN with 0 and clamps infinities to finite floats.
fn shown(reward: f64) -> f64 {
    if reward.is_nan() {
        0.0
    } else {
        reward.clamp(-1e300, 1e300)
    }
}

/// The bounds of a curve of amounts by step.
pub fn bounds(amounts: &[f64]) -> Bounds {
    let steps = amounts.len();
    let settled = steps - steps % (steps / COLUMNS).max(1);
    let mut all = Span::ZERO;
    let mut total = 0.0;
    let mut last = (total, 0.0);
    let mut says_more = false;
    for (step, amount) in amounts.iter().enumerate() {
        if step == settled {
            last = (total, (all.high - all.low) / HEIGHT);
        }
        let reward = shown(*amount);
        total = shown(total + reward);
        all.add(reward);
        all.add(total);
        if step >= settled {
            let (drawn, visible) = last;
            says_more |= reward.abs() > visible || (total - drawn).abs() > visible;
        }
    }
    Bounds {
        high: all.high,
        low: all.low,
        steps,
        drawn: if says_more { steps } else { settled },
    }
}

/// The curve before there are steps.
pub fn flat() -> Curve {
    Curve {
        total: "M6 114".to_owned(),
        points: "M6 114h0".to_owned(),
        zero: HEIGHT - MARGIN,
        ..Curve::default()
    }
}

/// The curve of an amount by step.
pub fn of_amounts(amounts: &[f64]) -> Curve {
    let steps = amounts.len();
    let columns = steps.min(COLUMNS);
    let mut totals = Vec::with_capacity(columns);
    let mut bars = Vec::with_capacity(columns);
    let mut all = Span::ZERO;
    let mut total = 0.0;
    for column in 0..columns {
        let mut total_span = Span::NOTHING;
        let mut bar_span = Span::ZERO;
        let start = column * steps / columns;
        let end = (column + 1) * steps / columns;
        for amount in amounts.get(start..end).unwrap_or_default() {
            let reward = shown(*amount);
            total = shown(total + reward);
            total_span.add(total);
            bar_span.add(reward);
        }
        for value in [total_span.low, total_span.high, bar_span.low, bar_span.high] {
            all.add(value);
        }
        totals.push((total_span, total));
        bars.push(bar_span);
    }
    let scale = Scale::over(all);
    let points = match steps {
        ..=POINTS => point_path(&totals, &scale, steps),
        _ => String::new(),
    };
    Curve {
        points,
        total: total_path(&totals, &scale, steps),
        rewards: reward_path(&bars, &scale),
        zero: scale.y(0.0),
    }
}

/// The horizontal position of a step. The reset is at the left edge.
pub fn x_of_step(step: usize, steps: usize) -> f64 {
    MARGIN + step as f64 / steps.max(1) as f64 * (WIDTH - 2.0 * MARGIN)
}

/// The step at a position between 0 (left edge) and 1 (right edge).
pub fn step_at(place: f64, steps: usize) -> usize {
    let inside = (place * WIDTH - MARGIN) / (WIDTH - 2.0 * MARGIN);
    (inside.clamp(0.0, 1.0) * steps as f64).round() as usize
}

/// Maps values to heights.
struct Scale {
    high: f64,
    units: f64,
}

impl Scale {
    fn over(span: Span) -> Self {
        let range = span.high - span.low;
        Scale {
            high: span.high,
            units: if range > 0.0 {
                (HEIGHT - 2.0 * MARGIN) / range
            } else {
                0.0
            },
        }
    }

    fn y(&self, value: f64) -> f64 {
        if self.units == 0.0 {
            return HEIGHT - MARGIN;
        }
        MARGIN + (self.high - value) * self.units
    }
}

fn total_path(totals: &[(Span, f64)], scale: &Scale, steps: usize) -> String {
    let mut path = Path::default();
    let mut before = 0.0;
    path.go('M', x_of_step(0, steps), scale.y(before));
    for (column, (span, last)) in totals.iter().enumerate() {
        let step = (column + 1) * steps / totals.len();
        let x = x_of_step(step, steps);
        if before != *last || span.low < span.high {
            path.go('L', x, scale.y(before));
        }
        if span.low < span.high {
            // Up and down within the column, ending where the next one begins.
            let other = if *last == span.high {
                span.low
            } else {
                span.high
            };
            path.go('L', x, scale.y(other));
        }
        path.go('L', x, scale.y(*last));
        before = *last;
    }
    path.0
}

fn point_path(totals: &[(Span, f64)], scale: &Scale, steps: usize) -> String {
    let mut path = Path::default();
    let ends = totals.iter().map(|(_, last)| *last);
    for (step, total) in std::iter::once(0.0).chain(ends).enumerate() {
        path.go('M', x_of_step(step, steps), scale.y(total));
        path.0.push_str("h0");
    }
    path.0
}

fn reward_path(bars: &[Span], scale: &Scale) -> String {
    let mut path = Path::default();
    for (column, span) in bars.iter().enumerate() {
        if span.low == 0.0 && span.high == 0.0 {
            continue;
        }
        let x = x_of_step(column + 1, bars.len());
        path.go('M', x, scale.y(span.low));
        path.go('L', x, scale.y(span.high));
    }
    path.0
}

/// Formats coordinates with one decimal for the `d` of an SVG path.
#[derive(Default)]
struct Path(String);

impl Path {
    fn go(&mut self, command: char, x: f64, y: f64) {
        self.0.push(command);
        self.tenths(x);
        self.0.push(' ');
        self.tenths(y);
    }

    fn tenths(&mut self, value: f64) {
        let text = format!("{value:.1}");
        self.0.push_str(text.strip_suffix(".0").unwrap_or(&text));
    }
}

#[cfg(test)]
mod tests {
    use proptest::prelude::*;

    use super::*;

    #[test]
    fn nothing_yet() {
        assert_eq!(of_amounts(&[]), flat());
    }

    #[test]
    fn totals_and_rewards_share_a_scale() {
        let amounts = [1.0, 1.0, 0.0];
        let (curve, bounds) = (of_amounts(&amounts), bounds(&amounts));
        assert_eq!((bounds.low, bounds.high, bounds.steps), (0.0, 2.0, 3));
        assert_eq!(curve.total, "M6 114L202 114L202 60L398 60L398 6L594 6");
        assert_eq!(curve.points, "M6 114h0M202 60h0M398 6h0M594 6h0");
        assert_eq!(curve.rewards, "M202 114L202 60M398 114L398 60");
    }

    #[test]
    fn a_peak_among_many_steps_is_kept() {
        let mut rewards = vec![0.0; 10_000];
        rewards[5_001] = 7.0;
        rewards[5_002] = -7.0;
        let (curve, bounds) = (of_amounts(&rewards), bounds(&rewards));
        assert_eq!((bounds.low, bounds.high), (-7.0, 7.0));
        assert_eq!(curve.total.matches('L').count(), 302);
    }

    #[test]
    fn a_long_episode_loses_less_than_a_column() {
        let drawn = |steps: usize| bounds(&vec![1.0; steps]).drawn;
        for steps in [0, 1, 59, 299, 300, 301, 599] {
            assert_eq!(drawn(steps), steps);
        }
        assert_eq!(drawn(10_031), 10_032 - 33);
        let changes = (10_000..10_100).filter(|steps| drawn(*steps) != drawn(steps + 1));
        assert!(changes.count() <= 4);
    }

    #[test]
    fn the_last_step_is_drawn_if_it_can_be_seen() {
        let mut rewards = vec![0.0; 10_030];
        assert_eq!(bounds(&rewards).drawn, 9_999);
        for last in [1.0, -1.0, 1e300, f64::INFINITY] {
            *rewards.last_mut().unwrap() = last;
            assert_eq!(bounds(&rewards).drawn, 10_030, "{last}");
        }
        *rewards.last_mut().unwrap() = f64::NAN;
        assert_eq!(bounds(&rewards).drawn, 9_999);
        rewards[0] = 200.0;
        *rewards.last_mut().unwrap() = 1.0;
        assert_eq!(bounds(&rewards).drawn, 9_999);
    }

    #[test]
    fn nan_is_tolerated() {
        let curve = of_amounts(&[f64::NAN, f64::INFINITY, f64::NEG_INFINITY]);
        assert!(curve.zero.is_finite());
        assert!(!curve.total.contains("NaN"));
    }

    #[test]
    fn clicks_find_steps() {
        assert_eq!(step_at(0.0, 10), 0);
        assert_eq!(step_at(0.52, 10), 5);
        assert_eq!(step_at(7.0, 10), 10);
        assert_eq!(step_at(0.5, 0), 0);
    }

    proptest! {
        #[test]
        fn stays_in_its_box(rewards in prop::collection::vec(-1e6f64..1e6, 0..1_000)) {
            let curve = of_amounts(&rewards);
            let numbers: Vec<f64> = curve
                .total
                .split(['M', 'L', ' '])
                .filter(|number| !number.is_empty())
                .map(|number| number.parse().unwrap())
                .collect();
            prop_assert!(numbers.len() <= 6 * COLUMNS + 2);
            let bounds = bounds(&rewards);
            prop_assert!(bounds.low <= 0.0 && 0.0 <= bounds.high);
            for (place, number) in numbers.iter().enumerate() {
                let most = if place % 2 == 0 { WIDTH } else { HEIGHT };
                prop_assert!((0.0..=most).contains(number), "{number}");
            }
        }
    }
}
