//! Charts of one table column against another: points, values by category, or counts.
//!
//! Two numeric columns are a scatter plot; a category and a numeric column are the values of each category with their
//! mean and its interval; two categories are counts. Coordinates are fractions of the drawing: 0 is left and bottom, 1
//! is right and top.
//!
//! Invariants: every coordinate is between 0 and 1; the first and the last tick of an axis are its ends; a row without
//! a value in one of the columns is counted as left out.

use std::collections::BTreeMap;
use std::sync::Arc;

use super::order::natural;
use super::{Cell, Column, Row};
use crate::statistics::{Estimate, mean};

/// The maximum number of categories on an axis: those with the most rows.
pub const MOST_CATEGORIES: usize = 12;

#[derive(Clone, Debug, PartialEq)]
pub struct Chart {
    pub kind: ChartKind,
    /// The number of rows that are not shown: a value is unknown, or its category is not among the most frequent ones.
    pub left_out: usize,
}

/// Each variant holds the data of its kind.
#[derive(Clone, Debug, PartialEq)]
pub enum ChartKind {
    /// Numbers against numbers.
    Points {
        /// Sorted by x.
        points: Vec<Point>,
        /// The horizontal axis.
        x: Axis,
        /// The vertical axis.
        y: Axis,
    },
    /// Numbers by category.
    Strips {
        /// From left to right.
        strips: Vec<Strip>,
        /// The values, strip by strip.
        points: Vec<Point>,
        /// The vertical axis.
        y: Axis,
        /// Whether the categories are those of the second column.
        is_swapped: bool,
    },
    /// The number of rows by two categories.
    Counts {
        /// The categories of the first column.
        columns: Vec<String>,
        /// The categories of the second column.
        rows: Vec<String>,
        /// For each category of the second column, the number of rows in each category of the first.
        counts: Vec<Vec<usize>>,
    },
}

/// A row of the table as a point.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct Point {
    /// The index among the rows.
    pub row: usize,
    /// From 0 (left) to 1 (right).
    pub x: f64,
    /// From 0 (bottom) to 1 (top).
    pub y: f64,
}

/// The values of a category.
#[derive(Clone, Debug, PartialEq)]
pub struct Strip {
    pub name: String,
    /// The mean with its confidence interval.
    pub mean: Estimate,
    /// The vertical positions of the mean and of the ends of its interval.
    pub at: (f64, Option<(f64, f64)>),
}

/// A numeric axis, from its first to its last tick.
#[derive(Clone, Debug, PartialEq)]
pub struct Axis {
    /// The ticks, evenly spaced.
    pub ticks: Vec<f64>,
}

impl Axis {
    /// An axis that covers all values, with round numbers as ticks.
    pub fn of(values: impl Iterator<Item = f64>) -> Axis {
        const STEPS: f64 = 4.0;
        let (low, high) = values.fold((f64::INFINITY, f64::NEG_INFINITY), |(low, high), value| {
            (low.min(value), high.max(value))
        });
        let (low, high) = match (low.is_finite() && high.is_finite(), low < high) {
            (false, _) => (0.0, 1.0),
            (true, true) => (low, high),
            (true, false) => (
                low - low.abs().max(1.0) / 2.0,
                low + low.abs().max(1.0) / 2.0,
            ),
        };
        // Halved before they are subtracted: the difference of the largest floats is infinite.
        let rough = (high / STEPS - low / STEPS).max(f64::MIN_POSITIVE * 1e20);
        let power = 10_f64.powf(rough.log10().floor());
        let step = [1.0, 2.0, 5.0, 10.0]
            .into_iter()
            .map(|factor| factor * power)
            .find(|step| *step >= rough * (1.0 - 1e-9))
            .filter(|step| step.is_finite() && *step > 0.0)
            .unwrap_or(rough);
        let first = (low / step + 1e-9).floor();
        let last = (high / step - 1e-9).ceil().max(first + 1.0);
        let count = (last - first).min(12.0) as usize;
        let ticks = (0..=count).map(|tick| rounded((first + tick as f64) * step, step));
        Axis {
            ticks: ticks.collect(),
        }
    }

    /// The position of a value on the axis, from 0 to 1.
    pub fn place(&self, value: f64) -> f64 {
        let low = self.ticks.first().copied().unwrap_or_default();
        let high = self.ticks.last().copied().unwrap_or(1.0);
        let position = (value / 2.0 - low / 2.0) / (high / 2.0 - low / 2.0);
        if position.is_finite() {
            position.clamp(0.0, 1.0)
        } else {
            0.0
        }
    }
}

/// Removes floating-point noise: `0.30000000000000004` becomes `0.3`.
fn rounded(value: f64, step: f64) -> f64 {
    let scale = 10_f64.powf((3.0 - step.log10().floor()).clamp(-300.0, 300.0));
    let rounded = (value * scale).round() / scale;
    if rounded.is_finite() {
        rounded + 0.0
    } else {
        value
    }
}

impl Chart {
    /// Charts two columns: the first is the horizontal axis, the second the vertical one, unless only the second is a
    /// category.
    pub fn of(rows: &[Arc<Row>], first: &Column, second: &Column) -> Chart {
        match (is_number(rows, first), is_number(rows, second)) {
            (true, true) => points(rows, first, second),
            (false, true) => strips(rows, first, second, false),
            (true, false) => strips(rows, second, first, true),
            (false, false) => counts(rows, first, second),
        }
    }

    /// The points, in the order of navigation with the arrow keys.
    pub fn points(&self) -> &[Point] {
        match &self.kind {
            ChartKind::Points { points, .. } | ChartKind::Strips { points, .. } => points,
            ChartKind::Counts { .. } => &[],
        }
    }

    /// The point nearest to a position, within a distance; `stretch` is the aspect ratio of the drawing, width by
    /// height.
    pub fn nearest(&self, x: f64, y: f64, stretch: f64, within: f64) -> Option<usize> {
        let distance = |point: &Point| ((point.x - x) * stretch).hypot(point.y - y);
        let points = self.points().iter().enumerate();
        let nearest = points.min_by(|one, other| distance(one.1).total_cmp(&distance(other.1)));
        nearest
            .filter(|(_, point)| distance(point) <= within)
            .map(|(index, _)| index)
    }
}

/// Whether most known values of a column are numbers.
fn is_number(rows: &[Arc<Row>], column: &Column) -> bool {
    let (mut numbers, mut texts) = (0_usize, 0_usize);
    for row in rows {
        match row.cell(column) {
            Cell::Number(_) => numbers += 1,
            Cell::Text(_) | Cell::Texts(_) => texts += 1,
            Cell::Empty => {}
        }
    }
    numbers > texts
}

fn number(row: &Row, column: &Column) -> Option<f64> {
    match row.cell(column) {
        Cell::Number(number) if number.is_finite() => Some(number),
        _ => None,
    }
}

fn category(row: &Row, column: &Column) -> Option<String> {
    match row.cell(column) {
        Cell::Empty => None,
        cell => Some(cell.to_text()),
    }
}

fn points(rows: &[Arc<Row>], first: &Column, second: &Column) -> Chart {
    let known = rows.iter().enumerate().filter_map(|(index, row)| {
        let values = (number(row, first)?, number(row, second)?);
        Some((index, values))
    });
    let known: Vec<(usize, (f64, f64))> = known.collect();
    let x = Axis::of(known.iter().map(|(_, (x, _))| *x));
    let y = Axis::of(known.iter().map(|(_, (_, y))| *y));
    let points = known.iter().map(|(row, (first, second))| Point {
        row: *row,
        x: x.place(*first),
        y: y.place(*second),
    });
    let mut points: Vec<Point> = points.collect();
    points.sort_by(|one, other| {
        let by_x = one.x.total_cmp(&other.x);
        by_x.then(one.y.total_cmp(&other.y))
    });
    Chart {
        left_out: rows.len() - points.len(),
        kind: ChartKind::Points { points, x, y },
    }
}

fn strips(rows: &[Arc<Row>], by: &Column, of: &Column, is_swapped: bool) -> Chart {
    const CONFIDENCE: f64 = 0.95;
    let mut known: BTreeMap<String, Vec<(usize, f64)>> = BTreeMap::new();
    for (index, row) in rows.iter().enumerate() {
        if let (Some(name), Some(value)) = (category(row, by), number(row, of)) {
            known.entry(name).or_default().push((index, value));
        }
    }
    let names = most_frequent(known.iter().map(|(name, values)| (name, values.len())));
    let shown: Vec<(&String, &Vec<(usize, f64)>)> = names
        .iter()
        .filter_map(|name| known.get_key_value(name))
        .collect();
    let values = shown.iter().flat_map(|(_, values)| values.iter());
    let y = Axis::of(values.map(|(_, value)| *value));
    let width = 1.0 / shown.len().max(1) as f64;
    let mut points = Vec::new();
    let mut strips = Vec::new();
    for (number, (name, values)) in shown.into_iter().enumerate() {
        for (index, (row, value)) in values.iter().enumerate() {
            // Jitter over half of the strip, deterministic.
            let spread = (index as f64 * 0.618_033_988_75).fract() - 0.5;
            points.push(Point {
                row: *row,
                x: width * (number as f64 + 0.5 + spread * 0.5),
                y: y.place(*value),
            });
        }
        let samples: Vec<f64> = values.iter().map(|(_, value)| *value).collect();
        if let Some(mean) = mean(&samples, CONFIDENCE) {
            let ends = mean.low.zip(mean.high);
            strips.push(Strip {
                name: name.clone(),
                at: (
                    y.place(mean.mean),
                    ends.map(|(low, high)| (y.place(low), y.place(high))),
                ),
                mean,
            });
        }
    }
    Chart {
        left_out: rows.len() - points.len(),
        kind: ChartKind::Strips {
            strips,
            points,
            y,
            is_swapped,
        },
    }
}

fn counts(rows: &[Arc<Row>], first: &Column, second: &Column) -> Chart {
    let known = rows
        .iter()
        .filter_map(|row| Some((category(row, first)?, category(row, second)?)));
    let known: Vec<(String, String)> = known.collect();
    let names = |of: fn(&(String, String)) -> &String| {
        let mut counts: BTreeMap<&String, usize> = BTreeMap::new();
        known
            .iter()
            .for_each(|pair| *counts.entry(of(pair)).or_default() += 1);
        most_frequent(counts.into_iter())
    };
    let (columns, lines) = (names(|pair| &pair.0), names(|pair| &pair.1));
    let mut counts = vec![vec![0; columns.len()]; lines.len()];
    let mut shown = 0;
    for (first, second) in &known {
        let column = columns.iter().position(|name| name == first);
        let line = lines.iter().position(|name| name == second);
        if let (Some(column), Some(line)) = (column, line) {
            counts[line][column] += 1;
            shown += 1;
        }
    }
    Chart {
        left_out: rows.len() - shown,
        kind: ChartKind::Counts {
            columns,
            rows: lines,
            counts,
        },
    }
}

/// The categories with the most rows, in natural order.
fn most_frequent<'a>(counts: impl Iterator<Item = (&'a String, usize)>) -> Vec<String> {
    let mut counts: Vec<(&String, usize)> = counts.collect();
    counts.sort_by_key(|(_, count)| std::cmp::Reverse(*count));
    let names = counts.into_iter().take(MOST_CATEGORIES);
    let mut names: Vec<String> = names.map(|(name, _)| name.clone()).collect();
    names.sort_by(|one, other| natural(one, other));
    names
}

#[cfg(test)]
mod tests {
    use proptest::prelude::*;

    use super::*;

    fn rows(list: &[(&str, Option<f64>, usize)]) -> Vec<Arc<Row>> {
        let rows = list.iter().map(|(model, reward, steps)| {
            Arc::new(Row {
                model: (!model.is_empty()).then(|| (*model).into()),
                reward: *reward,
                steps: *steps,
                outcome: if *steps > 3 { "long" } else { "short" }.into(),
                ..Row::default()
            })
        });
        rows.collect()
    }

    fn table() -> Vec<Arc<Row>> {
        rows(&[
            ("b", Some(1.0), 2),
            ("a", Some(0.0), 8),
            ("b", Some(0.5), 4),
            ("", Some(1.0), 3),
            ("a", None, 5),
            ("b", Some(f64::NAN), 1),
        ])
    }

    #[test]
    fn numbers_against_numbers_are_points() {
        let chart = Chart::of(&table(), &Column::Steps, &Column::Reward);
        let ChartKind::Points { points, x, y } = &chart.kind else {
            panic!("{chart:?}");
        };
        assert_eq!(x.ticks, [2.0, 4.0, 6.0, 8.0]);
        assert_eq!(y.ticks, [0.0, 0.5, 1.0]);
        let order: Vec<usize> = points.iter().map(|point| point.row).collect();
        assert_eq!(order, [0, 3, 2, 1], "by x");
        assert_eq!(chart.left_out, 2);
        assert_eq!((points[0].x, points[0].y), (0.0, 1.0));
        assert_eq!(chart.nearest(0.9, 0.1, 2.0, 0.5), Some(3));
        assert_eq!(chart.nearest(0.9, 0.9, 2.0, 0.1), None);
    }

    #[test]
    fn numbers_by_category_have_means() {
        for (first, second, swapped) in [
            (Column::Model, Column::Reward, false),
            (Column::Reward, Column::Model, true),
        ] {
            let chart = Chart::of(&table(), &first, &second);
            let ChartKind::Strips {
                strips, is_swapped, ..
            } = &chart.kind
            else {
                panic!("{chart:?}");
            };
            let names: Vec<(&str, f64, usize)> = strips
                .iter()
                .map(|strip| (&*strip.name, strip.mean.mean, strip.mean.count))
                .collect();
            assert_eq!(names, [("a", 0.0, 1), ("b", 0.75, 2)]);
            assert_eq!((strips[0].at, *is_swapped), ((0.0, None), swapped));
            assert_eq!(chart.left_out, 3);
        }
    }

    #[test]
    fn categories_against_categories_are_counts() {
        let chart = Chart::of(&table(), &Column::Model, &Column::Outcome);
        let ChartKind::Counts {
            columns,
            rows,
            counts,
        } = &chart.kind
        else {
            panic!("{chart:?}");
        };
        assert_eq!(
            (columns.join(" "), rows.join(" ")),
            ("a b".into(), "long short".into())
        );
        assert_eq!(counts, &[vec![2, 1], vec![0, 2]]);
        assert_eq!(chart.left_out, 1);
        let none = Chart::of(&[], &Column::Model, &Column::Reward);
        assert!(none.points().is_empty());
    }

    proptest! {
        #[test]
        fn every_value_is_on_its_axis(
            values in prop::collection::vec(prop_oneof![-10.0..10.0_f64, any::<f64>()], 0..20),
        ) {
            let values: Vec<f64> = values.into_iter().filter(|value: &f64| value.is_finite()).collect();
            let axis = Axis::of(values.iter().copied());
            prop_assert!(axis.ticks.len() >= 2);
            for value in values {
                let position = axis.place(value);
                prop_assert!((0.0..=1.0).contains(&position), "{value} {axis:?}");
            }
            let rows: Vec<Arc<Row>> = axis
                .ticks
                .iter()
                .map(|tick| Arc::new(Row { reward: Some(*tick), ..Row::default() }))
                .collect();
            let chart = Chart::of(&rows, &Column::Reward, &Column::Reward);
            prop_assert!(chart.points().iter().all(|point| (0.0..=1.0).contains(&point.x)));
        }
    }
}
