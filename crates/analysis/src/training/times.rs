//! When the samples of a step or a group ran, so that the slow tail is visible, and what they spent the time on.

use std::ops::Range;

use volary_episode::episode::EndingKind;

use super::run::TrainingRun;
use crate::spans::SpanKind;

/// The time of a sample, in seconds since the first of the samples began.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct SampleTime {
    /// The index of the sample in the run.
    pub sample: usize,
    /// In seconds; only differences have a meaning.
    pub from: f64,
    pub to: f64,
    pub ending: EndingKind,
}

impl SampleTime {
    /// The seconds between its beginning and its end.
    pub fn seconds(&self) -> f64 {
        self.to - self.from
    }
}

/// How the samples of a step are sorted on the page.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub enum LaneOrder {
    /// By end, the last one first.
    #[default]
    LastFirst,
    /// By duration, the longest first.
    Longest,
    /// By start.
    Started,
}

impl LaneOrder {
    pub const ALL: [LaneOrder; 3] = [LaneOrder::LastFirst, LaneOrder::Longest, LaneOrder::Started];

    /// Identifies the order in addresses.
    pub const fn key(self) -> &'static str {
        match self {
            LaneOrder::LastFirst => "last",
            LaneOrder::Longest => "longest",
            LaneOrder::Started => "started",
        }
    }

    /// The label to show.
    pub const fn name(self) -> &'static str {
        match self {
            LaneOrder::LastFirst => "finished last",
            LaneOrder::Longest => "longest",
            LaneOrder::Started => "as started",
        }
    }

    /// The order with this key, otherwise the default.
    pub fn of_key(key: &str) -> LaneOrder {
        let mut all = LaneOrder::ALL.into_iter();
        all.find(|order| order.key() == key).unwrap_or_default()
    }
}

/// What runs at a time.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Running {
    /// The number of samples.
    pub samples: usize,
    /// The number of those with an open span of a kind.
    pub kinds: Vec<(SpanKind, usize)>,
}

/// The samples that have times, as lanes.
#[derive(Clone, Debug, PartialEq)]
pub struct StepTimes {
    /// By start, then by end.
    pub lanes: Vec<SampleTime>,
    /// Seconds from the first start to the last end.
    pub seconds: f64,
    /// The second from which only the slowest tenth of the samples ran.
    pub tail_from: f64,
    /// The share of that time in which only the slowest tenth of the samples ran.
    pub tail: f64,
    /// The number of samples without a start or a duration.
    pub untimed: usize,
    /// Seconds by kind, over all samples: those kinds that some sample has.
    pub kinds: Vec<(SpanKind, f64)>,
    /// The durations of the samples whose files have spans, summed up.
    pub with_spans: f64,
}

impl StepTimes {
    /// The times of the samples at some indices; `None` if no sample has both a start and a duration.
    pub fn of(run: &TrainingRun, samples: &Range<usize>) -> Option<StepTimes> {
        let count = samples.len();
        let timed = samples.clone().filter_map(|index| {
            let row = &run.samples.get(index)?.row;
            let start = row.started.filter(|start| start.is_finite())?;
            let seconds = row
                .seconds
                .filter(|seconds| seconds.is_finite() && *seconds >= 0.0)?;
            // Its reward may come after what the file calls its duration.
            let spans = row.spans.as_deref().map_or(0.0, |spans| spans.last());
            Some((index, start, start + seconds.max(spans)))
        });
        let timed: Vec<(usize, f64, f64)> = timed.collect();
        let first = timed.iter().map(|(_, from, _)| *from).reduce(f64::min)?;
        let mut ends: Vec<f64> = timed.iter().map(|(.., to)| to - first).collect();
        ends.sort_by(f64::total_cmp);
        let seconds = *ends.last()?;
        // Of fewer than ten samples, the slowest one.
        let before_tail = (ends.len() - ends.len().div_ceil(10)).checked_sub(1);
        let tail_from = before_tail.map_or(0.0, |index| ends[index]);
        let mut lanes: Vec<SampleTime> = timed
            .iter()
            .map(|(sample, from, to)| SampleTime {
                sample: *sample,
                from: from - first,
                to: to - first,
                ending: run.samples[*sample].ending(),
            })
            .collect();
        lanes.sort_by(|one, other| {
            one.from
                .total_cmp(&other.from)
                .then(one.to.total_cmp(&other.to))
        });
        let spans = |lane: &SampleTime| run.samples[lane.sample].row.spans.as_deref();
        let kinds = SpanKind::ALL.into_iter().filter_map(|kind| {
            let has_kind = |lane: &SampleTime| {
                let bars = spans(lane).into_iter().flat_map(|spans| &spans.bars);
                bars.into_iter().any(|bar| bar.kind == kind)
            };
            let all = lanes.iter().filter_map(spans);
            let sum = all.map(|spans| spans.seconds(kind)).sum();
            lanes.iter().any(has_kind).then_some((kind, sum))
        });
        let with_spans = lanes.iter().filter(|lane| spans(lane).is_some());
        Some(StepTimes {
            untimed: count - lanes.len(),
            seconds,
            tail_from,
            tail: if seconds > 0.0 {
                (seconds - tail_from) / seconds
            } else {
                0.0
            },
            kinds: kinds.collect(),
            with_spans: with_spans.map(SampleTime::seconds).sum(),
            lanes,
        })
    }

    /// What runs at a time. Of the kinds of spans, those that some sample has then.
    pub fn running(&self, run: &TrainingRun, at: f64) -> Running {
        /// More than what rows round the times of spans by, in seconds.
        const ROUNDED: f64 = 2e-4;
        // At the end of everything, what ends there.
        let at = at.min(self.seconds - ROUNDED);
        let is_on = |lane: &&SampleTime| lane.from <= at && at < lane.to;
        let lanes: Vec<&SampleTime> = self.lanes.iter().filter(is_on).collect();
        let has_kind = |lane: &SampleTime, kind: SpanKind| {
            let spans = run.samples.get(lane.sample);
            let spans = spans.and_then(|sample| sample.row.spans.as_deref());
            let within = at - lane.from;
            let mut bars = spans.into_iter().flat_map(|spans| &spans.bars);
            bars.any(|bar| {
                let is_open = bar.to.is_none_or(|to| within < to);
                bar.kind == kind && bar.from <= within && is_open
            })
        };
        let kinds = SpanKind::ALL.into_iter().map(|kind| {
            let having = lanes.iter().filter(|lane| has_kind(lane, kind));
            (kind, having.count())
        });
        Running {
            samples: lanes.len(),
            kinds: kinds.filter(|(_, samples)| *samples > 0).collect(),
        }
    }

    /// The endings of the samples, with the number of samples of each.
    pub fn endings(&self) -> Vec<(EndingKind, usize)> {
        let endings = EndingKind::ALL.into_iter().map(|ending| {
            let lanes = self.lanes.iter();
            (ending, lanes.filter(|lane| lane.ending == ending).count())
        });
        endings.filter(|(_, samples)| *samples > 0).collect()
    }

    /// The lanes in another order, of all samples or of those with one ending.
    pub fn ordered(&self, order: LaneOrder, ending: Option<EndingKind>) -> Vec<SampleTime> {
        let is_wanted = |lane: &&SampleTime| ending.is_none_or(|ending| lane.ending == ending);
        let mut lanes: Vec<SampleTime> = self.lanes.iter().filter(is_wanted).copied().collect();
        match order {
            LaneOrder::Started => {}
            LaneOrder::LastFirst => lanes.sort_by(|one, other| other.to.total_cmp(&one.to)),
            LaneOrder::Longest => {
                lanes.sort_by(|one, other| other.seconds().total_cmp(&one.seconds()));
            }
        }
        lanes
    }
}

#[cfg(test)]
mod tests {
    use std::sync::Arc;

    use volary_core::json::Json;
    use volary_core::object;

    use super::*;
    use crate::spans::SpanBars;
    use crate::table::Row;

    fn row(sample: usize, started: Option<f64>, seconds: Option<f64>, spans: &str) -> Arc<Row> {
        let spans = Json::parse(spans).ok();
        Arc::new(Row {
            started,
            seconds,
            spans: spans.and_then(|spans| SpanBars::read(&spans)).map(Box::new),
            metadata: object!({ "step": 0, "sample": (sample as i64) }),
            ..Row::default()
        })
    }

    fn times_of(rows: Vec<Arc<Row>>) -> Option<StepTimes> {
        let run = TrainingRun::of(&rows, None);
        StepTimes::of(&run, &run.steps[0].samples)
    }

    fn times(samples: &[(Option<f64>, Option<f64>)]) -> Option<StepTimes> {
        let rows = samples.iter().enumerate();
        let rows = rows.map(|(sample, (started, seconds))| row(sample, *started, *seconds, ""));
        times_of(rows.collect())
    }

    #[test]
    fn the_tail_is_the_time_of_the_slowest_tenth() {
        let found = times(&[
            (Some(100.0), Some(2.0)),
            (Some(101.0), Some(9.0)),
            (Some(100.5), Some(9.2)),
            (Some(100.0), None),
        ]);
        let found = found.unwrap();
        let samples = |order| -> Vec<usize> {
            let lanes = found.ordered(order, None).into_iter();
            lanes.map(|lane| lane.sample).collect()
        };
        assert_eq!(samples(LaneOrder::Started), [0, 2, 1]);
        assert_eq!(samples(LaneOrder::LastFirst), [1, 2, 0]);
        assert_eq!(samples(LaneOrder::Longest), [2, 1, 0]);
        assert_eq!(found.lanes[2].from, 1.0);
        assert_eq!((found.seconds, found.untimed), (10.0, 1));
        assert!((found.tail_from - 9.7).abs() < 1e-9 && (found.tail - 0.03).abs() < 1e-9);
        assert!(found.kinds.is_empty());
    }

    #[test]
    fn lanes_of_one_ending_keep_the_times_of_the_step() {
        let rows = [
            ("completed", 2.0),
            ("truncated", 10.0),
            ("aborted", 6.0),
            ("length", 9.0),
        ];
        let rows = rows
            .into_iter()
            .enumerate()
            .map(|(sample, (outcome, seconds))| {
                let mut row = (*row(sample, Some(5.0), Some(seconds), "")).clone();
                row.outcome = outcome.into();
                Arc::new(row)
            });
        let found = times_of(rows.collect()).unwrap();
        let endings = [
            (EndingKind::Done, 1),
            (EndingKind::Truncated, 2),
            (EndingKind::Crashed, 1),
        ];
        assert_eq!(found.endings(), endings);
        let cut = found.ordered(LaneOrder::LastFirst, Some(EndingKind::Truncated));
        let cut: Vec<(usize, f64)> = cut.iter().map(|lane| (lane.sample, lane.to)).collect();
        assert_eq!(cut, [(1, 10.0), (3, 9.0)]);
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

    #[test]
    fn what_runs_at_a_time_is_counted() {
        let rows = vec![
            row(0, Some(10.0), Some(2.0), "[0, 0, 0, 1.5, 4, 1.5, 2.5]"),
            row(1, Some(10.0), Some(4.0), "[0, 0, 0, 0.5, 3, 0.5, null]"),
            row(2, Some(11.0), Some(3.0), ""),
        ];
        let run = TrainingRun::of(&rows, None);
        let times = StepTimes::of(&run, &run.steps[0].samples).unwrap();
        let at = |time| {
            let Running { samples, kinds } = times.running(&run, time);
            (samples, kinds)
        };
        assert_eq!(at(0.0), (2, vec![(SpanKind::Generation, 2)]));
        let both = vec![(SpanKind::Generation, 1), (SpanKind::Tool, 1)];
        assert_eq!(at(1.0), (3, both));
        assert_eq!(at(2.5).0, 2);
        // The end of everything is a time, too.
        assert_eq!(at(4.0), (2, vec![(SpanKind::Tool, 1)]));
        assert_eq!(at(-1.0), (0, Vec::new()));
    }

    #[test]
    fn kinds_of_spans_add_up_over_samples() {
        let found = times_of(vec![
            row(0, Some(10.0), Some(2.0), "[0, 0, 0, 1.5, 4, 1.5, 2.5]"),
            row(1, Some(10.0), Some(1.0), "[0, 0, 0, 0.5, 3, 0.5, null]"),
            row(2, Some(10.0), Some(8.0), ""),
        ]);
        let found = found.unwrap();
        assert_eq!(
            found.kinds,
            [
                (SpanKind::Generation, 2.0),
                (SpanKind::Tool, 0.0),
                (SpanKind::Reward, 1.0),
            ]
        );
        // The reward of the first sample came after its duration.
        assert_eq!(found.with_spans, 3.5);
    }
}
