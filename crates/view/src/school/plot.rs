//! The curves of a run as geometry: shares from 0 to 1 over updates, in a box of fixed units.

use std::fmt::Write as _;

use volary_school::{Behaviour, UpdateMetrics};

/// The width of the box.
pub const WIDTH: f64 = 600.0;
/// The height of the box.
pub const HEIGHT: f64 = 200.0;
/// The axis has room for this many updates before it grows.
const FIRST_UPDATES: usize = 120;
/// The most points of a curve: neighbours are drawn as their mean, so that drawing costs the same however long a run is.
const POINTS: usize = 480;
/// A smoothed value is the mean of this many updates.
const SMOOTHED: usize = 5;

/// The number of updates that the axis spans: room ahead, so that a curve does not shrink with each update.
pub fn span(updates: usize) -> usize {
    let mut span = FIRST_UPDATES;
    while span < updates {
        span *= 2;
    }
    span
}

/// The horizontal place of an update.
pub fn x_of(update: usize, span: usize) -> f64 {
    update as f64 / span.max(1) as f64 * WIDTH
}

/// The update nearest to a share of the width.
pub fn update_at(share: f64, span: usize, updates: usize) -> Option<u32> {
    let nearest = (share.clamp(0.0, 1.0) * span as f64).round() as usize;
    let last = updates.checked_sub(1)?;
    u32::try_from(nearest.min(last)).ok()
}

/// The line of a figure as the `d` of an SVG path; empty without updates. Figures outside of 0 to 1 are drawn at the edge.
pub fn line(history: &[UpdateMetrics], figure: impl Fn(&UpdateMetrics) -> f64) -> String {
    path(history.iter().map(figure).collect(), span(history.len()))
}

/// Like [`line`], of means over the last updates: batches are small, so single ones jump.
pub fn smoothed(history: &[UpdateMetrics], figure: impl Fn(&UpdateMetrics) -> f64) -> String {
    let figures: Vec<f64> = history.iter().map(figure).collect();
    let means = (0..figures.len()).map(|update| {
        let from = (update + 1).saturating_sub(SMOOTHED);
        let window = &figures[from..=update];
        window.iter().sum::<f64>() / window.len() as f64
    });
    path(means.collect(), span(history.len()))
}

fn path(figures: Vec<f64>, span: usize) -> String {
    let mut path = String::new();
    for (update, figure) in thinned(&figures, span) {
        let command = if update == 0 { 'M' } else { 'L' };
        let (x, y) = (x_of(update, span), y_of(figure));
        // Writing to a string does not fail.
        let _ = write!(path, "{command}{x:.1} {y:.1}");
    }
    path
}

/// Means of neighbours, each with the first of their updates. A point stays where it is while the axis does.
fn thinned(figures: &[f64], span: usize) -> impl DoubleEndedIterator<Item = (usize, f64)> {
    let together = span.div_ceil(POINTS).max(1);
    figures
        .chunks(together)
        .enumerate()
        .map(move |(place, figures)| {
            let mean = figures.iter().sum::<f64>() / figures.len() as f64;
            (place * together, mean)
        })
}

fn y_of(share: f64) -> f64 {
    let share = if share.is_nan() { 0.0 } else { share };
    (1.0 - share.clamp(0.0, 1.0)) * HEIGHT
}

/// The shares of what samples did, stacked: an area for each behaviour, in the order of [`Behaviour::ALL`] from the top, so
/// that what is right grows from the bottom.
pub fn areas(history: &[UpdateMetrics]) -> Vec<(Behaviour, String)> {
    let span = span(history.len());
    let shares: Vec<Vec<f64>> = history.iter().map(shares).collect();
    let area = |(index, behaviour)| {
        let edge = |until: usize| -> Vec<f64> {
            let sums = shares
                .iter()
                .map(move |shares| shares[..until].iter().sum::<f64>());
            sums.map(|sum| 1.0 - sum).collect()
        };
        let mut area = path(edge(index), span);
        for (update, share) in thinned(&edge(index + 1), span).rev() {
            let _ = write!(area, "L{:.1} {:.1}", x_of(update, span), y_of(share));
        }
        if !area.is_empty() {
            area.push('Z');
        }
        (behaviour, area)
    };
    Behaviour::ALL.into_iter().enumerate().map(area).collect()
}

fn shares(update: &UpdateMetrics) -> Vec<f64> {
    let samples = update.samples.max(1) as f64;
    let share =
        |behaviour| update.behaviours.get(&behaviour).copied().unwrap_or(0) as f64 / samples;
    Behaviour::ALL.into_iter().map(share).collect()
}

#[cfg(test)]
mod tests {
    use std::collections::BTreeMap;

    use super::*;

    fn update(success: f64, right: usize) -> UpdateMetrics {
        UpdateMetrics {
            samples: 4,
            success,
            behaviours: BTreeMap::from([(Behaviour::NoTool, 4 - right), (Behaviour::Right, right)]),
            ..UpdateMetrics::default()
        }
    }

    #[test]
    fn the_axis_grows_rarely() {
        assert_eq!(
            [span(0), span(120), span(121), span(500)],
            [120, 120, 240, 960]
        );
    }

    #[test]
    fn a_line_goes_through_all_updates() {
        let history = [
            update(0.0, 0),
            update(0.5, 2),
            update(1.5, 4),
            update(f64::NAN, 0),
        ];
        let drawn = line(&history, |update| update.success);
        assert_eq!(drawn, "M0.0 200.0L5.0 100.0L10.0 0.0L15.0 200.0");
        let mean = smoothed(&history[..2], |update| update.success);
        assert_eq!(mean, "M0.0 200.0L5.0 150.0");
        assert_eq!(line(&[], |update| update.success), "");
    }

    #[test]
    fn long_runs_are_drawn_with_few_points() {
        let mut history = vec![update(0.5, 2); 10_000];
        history[9_999] = update(1.0, 4);
        let drawn = line(&history, |update| update.success);
        assert!(drawn.matches('L').count() < POINTS, "{}", drawn.len());
        assert!(drawn.starts_with("M0.0 100.0L"), "{drawn}");
        let (_, area) = &areas(&history)[4];
        assert!(area.matches('L').count() < 2 * POINTS, "{}", area.len());
        assert!(area.ends_with("L0.0 200.0Z"), "{area}");
    }

    #[test]
    fn areas_fill_the_box_from_right_at_the_bottom() {
        let areas = areas(&[update(0.25, 1), update(0.75, 3)]);
        let of = |wanted| {
            let found = areas.iter().find(|(behaviour, _)| *behaviour == wanted);
            found.map(|(_, area)| area.as_str())
        };
        assert_eq!(
            of(Behaviour::Right),
            Some("M0.0 150.0L5.0 50.0L5.0 200.0L0.0 200.0Z")
        );
        assert_eq!(
            of(Behaviour::NoTool),
            Some("M0.0 0.0L5.0 0.0L5.0 50.0L0.0 150.0Z")
        );
    }

    #[test]
    fn a_click_selects_an_update_that_exists() {
        assert_eq!(update_at(0.5, 120, 100), Some(60));
        assert_eq!(update_at(1.0, 120, 100), Some(99));
        assert_eq!(update_at(0.2, 120, 0), None);
    }
}
