//! When the samples of a step ran, so that the slow tail is visible.

use super::run::{StepSummary, TrainingRun};

/// The time of a sample, in seconds since the first sample of its step began.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct SampleTime {
    /// The index of the sample in the run.
    pub sample: usize,
    pub from: f64,
    pub to: f64,
}

/// The samples of a step that have times, as lanes.
#[derive(Clone, Debug, PartialEq)]
pub struct StepTimes {
    /// By start, then by end.
    pub lanes: Vec<SampleTime>,
    /// Seconds from the first start to the last end.
    pub seconds: f64,
    /// The share of that time in which only the slowest tenth of the samples ran.
    pub tail: f64,
    /// The number of samples without a start or a duration.
    pub untimed: usize,
}

impl StepTimes {
    /// The times of a step; `None` if no sample has both a start and a duration.
    pub fn of(run: &TrainingRun, step: &StepSummary) -> Option<StepTimes> {
        let places = step.samples.clone();
        let timed = places.filter_map(|place| {
            let row = &run.samples.get(place)?.row;
            let start = row.started.filter(|start| start.is_finite())?;
            let seconds = row
                .seconds
                .filter(|seconds| seconds.is_finite() && *seconds >= 0.0)?;
            Some((place, start, start + seconds))
        });
        let timed: Vec<(usize, f64, f64)> = timed.collect();
        let first = timed.iter().map(|(_, from, _)| *from).reduce(f64::min)?;
        let mut ends: Vec<f64> = timed.iter().map(|(.., to)| to - first).collect();
        ends.sort_by(f64::total_cmp);
        let seconds = *ends.last()?;
        // Of fewer than ten samples, the slowest one.
        let before_tail = (ends.len() - ends.len().div_ceil(10)).checked_sub(1);
        let before_tail = before_tail.map_or(0.0, |place| ends[place]);
        let mut lanes: Vec<SampleTime> = timed
            .iter()
            .map(|(sample, from, to)| SampleTime {
                sample: *sample,
                from: from - first,
                to: to - first,
            })
            .collect();
        lanes.sort_by(|one, other| {
            one.from
                .total_cmp(&other.from)
                .then(one.to.total_cmp(&other.to))
        });
        Some(StepTimes {
            untimed: step.samples.len() - lanes.len(),
            lanes,
            seconds,
            tail: if seconds > 0.0 {
                (seconds - before_tail) / seconds
            } else {
                0.0
            },
        })
    }
}

#[cfg(test)]
mod tests {
    use std::sync::Arc;

    use volary_core::object;

    use super::*;
    use crate::table::Row;

    fn times(samples: &[(Option<f64>, Option<f64>)]) -> Option<StepTimes> {
        let rows = samples
            .iter()
            .enumerate()
            .map(|(sample, (started, seconds))| {
                Arc::new(Row {
                    started: *started,
                    seconds: *seconds,
                    metadata: object!({ "step": 0, "sample": (sample as i64) }),
                    ..Row::default()
                })
            });
        let run = TrainingRun::of(&rows.collect::<Vec<_>>(), None);
        StepTimes::of(&run, &run.steps[0])
    }

    #[test]
    fn the_tail_is_the_time_of_the_slowest_tenth() {
        let found = times(&[
            (Some(100.0), Some(2.0)),
            (Some(101.0), Some(9.0)),
            (Some(100.5), Some(3.5)),
            (Some(100.0), None),
        ]);
        let found = found.unwrap();
        let lanes: Vec<(usize, f64, f64)> = found
            .lanes
            .iter()
            .map(|lane| (lane.sample, lane.from, lane.to))
            .collect();
        assert_eq!(lanes, [(0, 0.0, 2.0), (2, 0.5, 4.0), (1, 1.0, 10.0)]);
        assert_eq!((found.seconds, found.tail, found.untimed), (10.0, 0.6, 1));
    }

    #[test]
    fn without_times_there_are_none() {
        assert_eq!(
            times(&[(None, Some(1.0)), (Some(f64::NAN), Some(1.0))]),
            None
        );
        let single = times(&[(Some(5.0), Some(0.0))]).unwrap();
        assert_eq!((single.seconds, single.tail), (0.0, 0.0));
    }
}
