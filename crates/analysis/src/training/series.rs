//! Curves of a run over its steps: the mean of a measure with its spread, or a share of samples or groups.

use super::measure::Measure;
use super::run::{StepSummary, TrainingRun};

/// What a curve shows.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum Series {
    Measure(Measure),
    /// The share of truncated samples.
    Truncated,
    /// The share of samples that were aborted, failed or crashed.
    Aborted,
    /// The share of groups without variance.
    Uniform,
}

/// A point of a curve.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct SeriesPoint {
    pub step: i64,
    pub mean: f64,
    /// The mean plus and minus the standard deviation, within the lowest and the highest value.
    pub band: (f64, f64),
}

impl Series {
    /// The curves of a run. Shares that are 0 at every step are left out.
    pub fn of(run: &TrainingRun) -> Vec<Series> {
        let mut measures = run.measures.iter().cloned().map(Series::Measure);
        let reward = measures.next();
        let shares = [Series::Uniform, Series::Truncated, Series::Aborted];
        let is_seen = |share: &Series| {
            run.steps
                .iter()
                .any(|step| share.share(step).is_some_and(|value| value > 0.0))
        };
        let shares = shares.into_iter().filter(is_seen);
        reward.into_iter().chain(measures).chain(shares).collect()
    }

    /// The name for display.
    pub fn name(&self) -> &str {
        match self {
            Series::Measure(measure) => measure.name(),
            Series::Truncated => "Truncated",
            Series::Aborted => "Aborted or failed",
            Series::Uniform => "Groups without variance",
        }
    }

    /// What it is, in one sentence.
    pub fn about(&self) -> &'static str {
        match self {
            Series::Measure(measure) => measure.about(),
            Series::Truncated => "The share of samples that a limit cut off.",
            Series::Aborted => "The share of samples that were aborted, failed or crashed.",
            Series::Uniform => {
                "The share of groups whose rewards are all equal. They have no gradient."
            }
        }
    }

    /// Whether it is a share of 1.
    pub fn is_share(&self) -> bool {
        match self {
            Series::Measure(measure) => measure.is_share(),
            Series::Truncated | Series::Aborted | Series::Uniform => true,
        }
    }

    fn share(&self, step: &StepSummary) -> Option<f64> {
        match self {
            Series::Measure(_) => None,
            Series::Truncated => Some(step.truncated_share()),
            Series::Aborted => Some(step.aborted_share()),
            Series::Uniform => step.uniform_share(),
        }
    }

    /// The point at a step, by its index; `None` if nothing is known there.
    pub fn point(&self, run: &TrainingRun, index: usize) -> Option<SeriesPoint> {
        let step = run.steps.get(index)?;
        let Series::Measure(measure) = self else {
            let mean = self.share(step)?;
            return Some(SeriesPoint {
                step: step.step,
                mean,
                band: (mean, mean),
            });
        };
        let spread = run.spread(index, measure)?;
        let mean = spread.mean?;
        let deviation = spread.deviation.unwrap_or_default();
        let (low, high) = spread.range().unwrap_or((mean, mean));
        Some(SeriesPoint {
            step: step.step,
            mean,
            band: ((mean - deviation).max(low), (mean + deviation).min(high)),
        })
    }

    /// The points of all steps at which something is known.
    pub fn points(&self, run: &TrainingRun) -> Vec<SeriesPoint> {
        (0..run.steps.len())
            .filter_map(|index| self.point(run, index))
            .collect()
    }
}

/// The change of a measure from the first to the last step at which it is known.
#[derive(Clone, Debug, PartialEq)]
pub struct Change {
    pub measure: Measure,
    pub first: f64,
    pub last: f64,
    /// The difference in standard deviations of the samples of both steps.
    pub effect: f64,
}

/// The changes of a run's measures other than the reward, the clearest first. Changes below half a standard deviation
/// are left out.
pub fn changes(run: &TrainingRun) -> Vec<Change> {
    let measures = run
        .measures
        .iter()
        .filter(|measure| **measure != Measure::Reward);
    let mut changes: Vec<Change> = measures
        .filter_map(|measure| change(run, measure))
        .collect();
    changes.retain(|change| change.effect.abs() >= 0.5);
    changes.sort_by(|one, other| other.effect.abs().total_cmp(&one.effect.abs()));
    changes
}

/// The change of a measure; `None` if it is known at fewer than two steps.
pub fn change(run: &TrainingRun, measure: &Measure) -> Option<Change> {
    let spreads = (0..run.steps.len()).filter_map(|index| run.spread(index, measure));
    let known: Vec<_> = spreads.filter(|spread| spread.mean.is_some()).collect();
    let ([start, .., end], true) = (known.as_slice(), known.len() > 1) else {
        return None;
    };
    let (first, last) = (start.mean?, end.mean?);
    let variance = |deviation: Option<f64>| deviation.unwrap_or_default().powi(2);
    let deviation = f64::midpoint(variance(start.deviation), variance(end.deviation)).sqrt();
    let effect = match last - first {
        difference if difference.abs() <= 1e-12 * first.abs().max(last.abs()) => 0.0,
        difference => difference / deviation,
    };
    Some(Change {
        measure: measure.clone(),
        first,
        last,
        effect,
    })
}

#[cfg(test)]
mod tests {
    use std::sync::Arc;

    use volary_core::object;
    use volary_episode::episode::EndingKind;

    use super::*;
    use crate::table::Row;

    fn run(rows: &[(i64, Option<f64>, usize)]) -> TrainingRun {
        let rows = rows
            .iter()
            .enumerate()
            .map(|(sample, (step, reward, turns))| {
                Arc::new(Row {
                    reward: *reward,
                    steps: *turns,
                    ending: Some(match turns {
                        9 => EndingKind::Truncated,
                        _ => EndingKind::Done,
                    }),
                    metadata: object!({ "step": (*step), "group": 0, "sample": (sample as i64) }),
                    ..Row::default()
                })
            });
        TrainingRun::of(&rows.collect::<Vec<_>>(), None)
    }

    #[test]
    fn points_skip_steps_without_values() {
        let run = run(&[
            (0, Some(0.0), 3),
            (0, Some(1.0), 3),
            (1, None, 9),
            (2, Some(1.0), 1),
        ]);
        let reward = Series::Measure(Measure::Reward);
        let points: Vec<(i64, f64)> = reward
            .points(&run)
            .iter()
            .map(|point| (point.step, point.mean))
            .collect();
        assert_eq!(points, [(0, 0.5), (2, 1.0)]);
        // The deviation is 0.707, but no value is below 0 or above 1.
        assert_eq!(reward.points(&run)[0].band, (0.0, 1.0));
        let names: Vec<String> = Series::of(&run)
            .iter()
            .map(|one| one.name().to_owned())
            .collect();
        assert_eq!(names, ["Reward", "Turns", "Truncated"]);
        assert_eq!(Series::Truncated.points(&run)[1].mean, 1.0);
        assert_eq!(Series::Uniform.points(&run).len(), 1);
    }

    #[test]
    fn the_clearest_change_is_first() {
        let run = run(&[
            (0, Some(0.0), 4),
            (0, Some(0.1), 6),
            (1, Some(0.8), 1),
            (1, Some(1.0), 1),
        ]);
        let found = changes(&run);
        assert_eq!(found.len(), 1);
        assert_eq!(
            (&found[0].measure, found[0].first, found[0].last),
            (&Measure::Turns, 5.0, 1.0)
        );
        assert!((found[0].effect + 4.0).abs() < 1e-12);
        assert_eq!(change(&run, &Measure::Entropy), None);
    }
}
