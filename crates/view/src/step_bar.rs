//! The steps of an episode as one bar, with widths proportional to their durations and a colour per kind, in a
//! box of fixed units. Long episodes are grouped into columns that show their most significant kind.

use std::fmt::Write;

use volary_analysis::timeline::{Bar, StepKind, bars};
use volary_episode::Episode;

/// The width of the box.
pub const WIDTH: f64 = 1000.0;
/// The height of the box.
pub const HEIGHT: f64 = 10.0;
/// The maximum number of columns.
const COLUMNS: usize = 1000;
#[derive(Clone, Debug, Default, PartialEq)]
pub struct StepBar {
    /// The `d` of an SVG path for each kind that occurs.
    pub paths: Vec<(StepKind, String)>,
    /// The end of each step, from 0 to 1.
    pub ends: Vec<f64>,
    /// Whether widths are proportional to durations; otherwise all are equal.
    pub timed: bool,
}

/// The bar of an episode.
pub fn step_bar(episode: &Episode) -> StepBar {
    let bars = bars(episode);
    let ends: Vec<f64> = bars.iter().map(|bar| bar.start + bar.share).collect();
    StepBar {
        paths: paths(&bars, &ends),
        ends,
        timed: bars.iter().any(|bar| bar.seconds.is_some()),
    }
}

/// The step at a position from 0 to 1. Steps count from 1.
pub fn step_at(bar: &StepBar, place: f64) -> usize {
    let before = bar.ends.partition_point(|end| *end <= place);
    (before + 1).min(bar.ends.len())
}

/// The start and end of a step, from 0 to 1. The reset is at 0.
pub fn place_of(bar: &StepBar, step: usize) -> (f64, f64) {
    let end = |step: usize| match step.checked_sub(1) {
        None => 0.0,
        Some(place) => bar.ends.get(place).copied().unwrap_or(1.0),
    };
    (end(step.saturating_sub(1)), end(step))
}

fn paths(bars: &[Bar], ends: &[f64]) -> Vec<(StepKind, String)> {
    let mut paths: Vec<(StepKind, String)> = Vec::new();
    let mut fill = |kind: StepKind, from: f64, to: f64, gap: f64| {
        let place = match paths.iter().position(|(known, _)| *known == kind) {
            Some(place) => place,
            None => {
                paths.push((kind, String::new()));
                paths.len() - 1
            }
        };
        if let Some((_, path)) = paths.get_mut(place) {
            let width = ((to - from) * WIDTH - gap).max(0.4);
            for (top, height) in bands(kind) {
                // Writing into a string can't fail.
                let _ = write!(
                    path,
                    "M{:.2} {top}h{width:.2}v{height}h-{width:.2}z",
                    from * WIDTH
                );
            }
        }
    };
    if bars.len() <= COLUMNS {
        let gap = if bars.len() <= COLUMNS / 8 { 1.5 } else { 0.0 };
        for bar in bars {
            fill(bar.kind, bar.start, bar.start + bar.share, gap);
        }
        return paths;
    }
    let (mut from, mut next) = (0.0, 0);
    for column in 1..=COLUMNS {
        let to = column as f64 / COLUMNS as f64;
        let until = ends.partition_point(|end| *end <= to).max(next);
        let within = bars.get(next..until.max(next + 1)).unwrap_or_default();
        let most = within.iter().map(|bar| bar.kind).min_by_key(telling);
        if let Some(kind) = most.or(bars.last().map(|bar| bar.kind)) {
            fill(kind, from, to, 0.0);
        }
        (from, next) = (to, until);
    }
    paths
}

/// Offset and height of each kind, so that kinds can be told apart without colour.
fn bands(kind: StepKind) -> &'static [(f64, f64)] {
    match kind {
        StepKind::Speech => &[(7.0, 3.0)],
        StepKind::Calls => &[(4.0, 6.0)],
        StepKind::Reward => &[(0.0, 10.0)],
        StepKind::Loss => &[(0.0, 2.0), (4.0, 6.0)],
        StepKind::Error => &[(0.0, 4.0), (6.0, 4.0)],
    }
}

/// The most significant kind has the smallest number.
fn telling(kind: &StepKind) -> u8 {
    match kind {
        StepKind::Error => 0,
        StepKind::Loss => 1,
        StepKind::Reward => 2,
        StepKind::Calls => 3,
        StepKind::Speech => 4,
    }
}

#[cfg(test)]
mod tests {
    use proptest::prelude::*;
    use volary_core::json::Object;
    use volary_core::message::{Message, Role};
    use volary_episode::{Outcome, StepRecord};

    use super::*;

    fn episode(steps: &[(Option<f64>, f64)]) -> Episode {
        let step = |(seconds, reward): &(Option<f64>, f64)| StepRecord {
            action: Message::new(Role::Assistant, "x").into(),
            outcome: Outcome::Observed {
                messages: Vec::new(),
                reward: *reward,
                done: false,
                truncated: false,
            },
            seconds: *seconds,
            details: Default::default(),
            extras: Object::default(),
        };
        Episode {
            steps: steps.iter().map(step).collect(),
            ..Episode::default()
        }
    }

    #[test]
    fn even_without_times() {
        let bar = step_bar(&episode(&[
            (None, 0.0),
            (None, 1.0),
            (None, 0.0),
            (None, 0.0),
        ]));
        assert!(!bar.timed);
        assert_eq!(step_at(&bar, 0.3), 2);
        assert_eq!(step_at(&bar, 1.0), 4);
        assert_eq!(place_of(&bar, 2), (0.25, 0.5));
        assert_eq!(place_of(&bar, 0), (0.0, 0.0));
        assert_eq!(bar.paths.len(), 2);
    }

    #[test]
    fn long_steps_are_wide() {
        let bar = step_bar(&episode(&[(Some(1.0), 0.0), (Some(3.0), 0.0)]));
        let (from, to) = place_of(&bar, 2);
        assert!(bar.timed && to - from > 0.6);
    }

    #[test]
    fn a_needle_is_seen_in_a_haystack() {
        let mut steps = vec![(None, 0.0); 50_000];
        steps[31_415].1 = 1.0;
        let bar = step_bar(&episode(&steps));
        assert!(bar.paths.iter().any(|(kind, _)| *kind == StepKind::Reward));
        let length: usize = bar.paths.iter().map(|(_, path)| path.len()).sum();
        assert!(length < 60_000, "{length}");
    }

    proptest! {
        #[test]
        fn every_step_that_is_seen_can_be_hit(
            times in proptest::collection::vec(proptest::option::of(0.0..1e9f64), 1..200),
        ) {
            let steps: Vec<_> = times.into_iter().map(|time| (time, 0.0)).collect();
            let bar = step_bar(&episode(&steps));
            for step in 1..=steps.len() {
                let (from, to) = place_of(&bar, step);
                if to - from > 1e-9 {
                    prop_assert_eq!(step_at(&bar, (from + to) / 2.0), step);
                }
            }
        }
    }
}
