//! Spans of time as geometry: a lane for each sample, with its spans on a common time axis.
//!
//! Kinds differ in height as well as in colour: generation fills the lane, prefill and decode its lower half, tools its
//! middle, the reward the upper half. Invariants: every coordinate is within the lane; spans without an end reach the end
//! of their lane and are drawn as outlines.

use volary_analysis::spans::{Span, SpanBars, SpanKind};
use volary_analysis::training::times::{Running, SampleTime, StepTimes};
use volary_episode::EndingKind;

use super::summary::seconds_text;
use super::training::{SIDE, figure_text, place_in};

/// The height of a lane in units of its view box, whose width is [`SIDE`].
pub const LANE: f64 = 20.0;
/// The narrowest bar.
const NARROWEST: f64 = 1.5;

/// A shape and the class that draws it.
pub type DrawnShape = (&'static str, String);

/// The vertical range of a kind, and its class.
fn form(kind: SpanKind) -> (f64, f64, &'static str) {
    match kind {
        SpanKind::Generation => (3.0, 17.0, "lane-generation"),
        SpanKind::Prefill => (10.0, 17.0, "lane-prefill"),
        SpanKind::Decode => (10.0, 17.0, "lane-decode"),
        SpanKind::Tool => (6.0, 14.0, "lane-tool"),
        SpanKind::Reward => (1.0, 10.0, "lane-reward"),
        SpanKind::Whole => (9.0, 11.0, "lane-whole"),
        SpanKind::Other => (8.0, 12.0, "lane-other"),
    }
}

/// The class of a kind, for legends.
pub fn class_of(kind: SpanKind) -> &'static str {
    form(kind).2
}

/// The bar of a kind between two times, on an axis that shows a range of times; empty outside of it.
pub fn bar(kind: SpanKind, from: f64, to: f64, range: (f64, f64)) -> String {
    if to < range.0 || from > range.1 {
        return String::new();
    }
    let (top, bottom, _) = form(kind);
    let place = |time: f64| place_in(range, time);
    let width = (place(to) - place(from)).max(NARROWEST);
    let left = place(from).min(SIDE - width);
    format!("M{left:.1} {top}h{width:.1}v{}h-{width:.1}z", bottom - top)
}

/// The shapes of a sample, from the back to the front: a line for the whole, then its spans, those of one kind if it is
/// given.
pub fn shapes(
    lane: &SampleTime,
    spans: Option<&SpanBars>,
    range: (f64, f64),
    only: Option<SpanKind>,
) -> Vec<DrawnShape> {
    let whole = bar(SpanKind::Whole, lane.from, lane.to, range);
    let mut shapes = vec![(class_of(SpanKind::Whole), whole)];
    let bars = || spans.into_iter().flat_map(|spans| &spans.bars);
    let is_shown = |kind: &SpanKind| only.is_none_or(|only| *kind == only);
    for kind in SpanKind::ALL.into_iter().filter(is_shown) {
        let mut closed = String::new();
        let mut open = String::new();
        for span in bars().filter(|span| span.kind == kind) {
            let path = match span.to {
                Some(_) => &mut closed,
                None => &mut open,
            };
            let to = span.to.map_or(lane.to, |to| lane.from + to);
            path.push_str(&bar(kind, lane.from + span.from, to, range));
        }
        let found = [(class_of(kind), closed), ("lane-open", open)];
        shapes.extend(found.into_iter().filter(|(_, path)| !path.is_empty()));
    }
    shapes
}

/// The seconds of a sample in words: "4.1 s: generation 3.2 s, tools 0.5 s".
pub fn lane_words(lane: &SampleTime, spans: Option<&SpanBars>) -> String {
    let whole = seconds_text(lane.seconds());
    let Some(spans) = spans else {
        return whole;
    };
    let has = |kind: SpanKind| {
        let mut closed = spans.bars.iter().filter(|bar| bar.to.is_some());
        closed.any(|bar| bar.kind == kind)
    };
    let kinds = SpanKind::ALL.into_iter().filter(|kind| has(*kind));
    let mut parts: Vec<String> = kinds
        .map(|kind| format!("{} {}", kind.name(), seconds_text(spans.seconds(kind))))
        .collect();
    let open = spans.bars.iter().filter(|bar| bar.to.is_none()).count();
    if open > 0 {
        parts.push(format!("{open} without an end"));
    }
    if spans.left_out > 0 {
        parts.push(format!("{} shorter spans not drawn", spans.left_out));
    }
    format!("{whole}: {}", parts.join(", "))
}

/// How long a span took, as far as the file says.
pub fn span_duration(span: &Span) -> String {
    match span.seconds() {
        Some(seconds) => seconds_text(seconds),
        None => "no end".to_owned(),
    }
}

/// A span in a sentence: its name, when it was, and its other members.
pub fn span_text(span: &Span, started: f64) -> String {
    let facts = span.facts.iter();
    let facts: Vec<String> = facts
        .map(|(key, value)| format!("{key} {}", value.to_display()))
        .collect();
    let from = seconds_text((span.from - started).max(0.0));
    let when = format!("{}: {}, from {from}", span.name, span_duration(span));
    if facts.is_empty() {
        when
    } else {
        format!("{when}. {}", facts.join(", "))
    }
}

/// What runs at a time: "At 4.1 s, 3 of 8 samples are running: generation 2, tools 1."
pub fn running_words(at: f64, running: &Running, all: usize) -> String {
    let kinds = running.kinds.iter();
    let kinds: Vec<String> = kinds
        .map(|(kind, samples)| format!("{} {samples}", kind.name()))
        .collect();
    let kinds = if kinds.is_empty() {
        String::new()
    } else {
        format!(": {}", kinds.join(", "))
    };
    let samples = volary_core::quantity::plural(all, "sample");
    let are = match running.samples {
        1 => "is",
        _ => "are",
    };
    format!(
        "At {}, {} of {samples} {are} running{kinds}.",
        clock(at),
        running.samples
    )
}

/// How samples ended, in the terms of trainers.
pub fn ending_name(ending: EndingKind) -> &'static str {
    match ending {
        EndingKind::Open => "not ended",
        EndingKind::Done => "completed",
        EndingKind::Truncated => "truncated",
        EndingKind::Crashed => "aborted or failed",
    }
}

/// A time on the axis. Its start has a name of its own.
pub fn clock(at: f64) -> String {
    if at > 0.0 {
        seconds_text(at)
    } else {
        "0 s".to_owned()
    }
}

/// What a step or a group took, and how long its tail was.
pub fn times_words(times: &StepTimes) -> String {
    let samples = volary_core::quantity::plural(times.lanes.len(), "sample");
    let mut words = format!("{samples} in {}.", seconds_text(times.seconds));
    if times.lanes.len() > 1 {
        words.push_str(&format!(
            " In the last {} of the time, only the slowest 10% of the samples were still running.",
            figure_text(times.tail, true)
        ));
    }
    let is_known = |seconds: f64| seconds > 0.0 && times.with_spans > 0.0;
    let kinds = times.kinds.iter();
    let kinds: Vec<(SpanKind, f64)> = kinds.filter(|(_, sum)| is_known(*sum)).copied().collect();
    let share = |(kind, seconds): &(SpanKind, f64)| {
        let share = figure_text(seconds / times.with_spans, true);
        format!("{} {share}", kind.name())
    };
    // Prefill and decode are parts of the generation, if the file has it.
    let has_generation = kinds.iter().any(|(kind, _)| *kind == SpanKind::Generation);
    let is_part = |kind| has_generation && matches!(kind, SpanKind::Prefill | SpanKind::Decode);
    let parts = kinds.iter().filter(|(kind, _)| is_part(*kind)).map(share);
    let parts = parts.collect::<Vec<_>>().join(", ");
    let shares = kinds.iter().filter(|(kind, _)| !is_part(*kind));
    let shares = shares.map(|known| match known.0 {
        SpanKind::Generation if !parts.is_empty() => format!("{} ({parts})", share(known)),
        _ => share(known),
    });
    let shares: Vec<String> = shares.collect();
    if !shares.is_empty() {
        words.push_str(&format!(" Share of sample time: {}.", shares.join(", ")));
    }
    words
}

#[cfg(test)]
mod tests {
    use volary_analysis::spans::Bar;

    use super::*;

    fn spans(bars: &[(SpanKind, f64, Option<f64>)]) -> SpanBars {
        let bars = bars.iter().map(|(kind, from, to)| Bar {
            kind: *kind,
            from: *from,
            to: *to,
        });
        SpanBars {
            bars: bars.collect(),
            left_out: 0,
        }
    }

    #[test]
    fn a_span_says_when_it_was_and_what_the_file_says_of_it() {
        let mut span = Span {
            kind: SpanKind::Tool,
            name: "search".into(),
            from: 1_002.0,
            to: Some(1_003.5),
            depth: 0,
            is_part: false,
            facts: volary_core::object!({}),
        };
        assert_eq!(span_text(&span, 1_000.0), "search: 1.5 s, from 2.0 s");
        span.facts = volary_core::object!({ "tool": "web", "tries": 2 });
        assert_eq!(
            span_text(&span, 1_000.0),
            "search: 1.5 s, from 2.0 s. tool web, tries 2"
        );
        span.to = None;
        assert_eq!(span_duration(&span), "no end");
        // Clocks of several machines may differ a little.
        assert!(span_text(&span, 1_002.5).starts_with("search: no end, from under 0.1 ms."));
    }

    #[test]
    fn kinds_differ_in_form() {
        let lane = SampleTime {
            sample: 0,
            from: 1.0,
            to: 9.0,
            ending: EndingKind::Done,
        };
        let bars = spans(&[
            (SpanKind::Generation, 0.0, Some(4.0)),
            (SpanKind::Decode, 1.0, Some(4.0)),
            (SpanKind::Tool, 4.0, Some(5.0)),
            (SpanKind::Reward, 7.0, None),
        ]);
        assert_eq!(
            shapes(&lane, Some(&bars), (0.0, 10.0), None),
            [
                ("lane-whole", "M100.0 9h800.0v2h-800.0z".to_owned()),
                ("lane-generation", "M100.0 3h400.0v14h-400.0z".to_owned()),
                ("lane-decode", "M200.0 10h300.0v7h-300.0z".to_owned()),
                ("lane-tool", "M500.0 6h100.0v8h-100.0z".to_owned()),
                ("lane-open", "M800.0 1h100.0v9h-100.0z".to_owned()),
            ]
        );
        assert_eq!(
            lane_words(&lane, Some(&bars)),
            "8.0 s: generation 4.0 s, decode 3.0 s, tools 1.0 s, 1 without an end"
        );
        assert_eq!(lane_words(&lane, None), "8.0 s");
    }

    #[test]
    fn a_part_of_the_time_and_one_kind_can_be_shown() {
        let lane = SampleTime {
            sample: 0,
            from: 0.0,
            to: 8.0,
            ending: EndingKind::Done,
        };
        let bars = spans(&[
            (SpanKind::Generation, 0.0, Some(3.0)),
            (SpanKind::Tool, 3.0, Some(5.0)),
            (SpanKind::Tool, 7.0, Some(8.0)),
        ]);
        assert_eq!(
            shapes(&lane, Some(&bars), (4.0, 6.0), Some(SpanKind::Tool)),
            [
                ("lane-whole", "M0.0 9h1000.0v2h-1000.0z".to_owned()),
                ("lane-tool", "M0.0 6h500.0v8h-500.0z".to_owned()),
            ]
        );
        let running = Running {
            samples: 3,
            kinds: vec![(SpanKind::Generation, 2), (SpanKind::Tool, 1)],
        };
        assert_eq!(
            running_words(4.06, &running, 8),
            "At 4.1 s, 3 of 8 samples are running: generation 2, tools 1."
        );
        assert_eq!(
            running_words(0.0, &Running::default(), 1),
            "At 0 s, 0 of 1 sample are running."
        );
    }

    #[test]
    fn bars_stay_within_the_lane() {
        assert_eq!(
            bar(SpanKind::Tool, 10.0, 10.0, (0.0, 10.0)),
            "M998.5 6h1.5v8h-1.5z"
        );
        assert_eq!(
            bar(SpanKind::Tool, -5.0, 50.0, (0.0, 10.0)),
            "M0.0 6h1000.0v8h-1000.0z"
        );
    }

    #[test]
    fn the_words_name_the_tail_and_the_shares() {
        let mut times = StepTimes {
            lanes: vec![
                SampleTime {
                    sample: 0,
                    from: 0.0,
                    to: 2.0,
                    ending: EndingKind::Done,
                };
                2
            ],
            seconds: 2.0,
            tail_from: 1.5,
            tail: 0.25,
            untimed: 0,
            kinds: vec![(SpanKind::Generation, 3.0), (SpanKind::Reward, 0.0)],
            with_spans: 4.0,
        };
        assert_eq!(
            times_words(&times),
            "2 samples in 2.0 s. In the last 25% of the time, only the slowest 10% of the samples were \
             still running. Share of sample time: generation 75%."
        );
        times.kinds = vec![
            (SpanKind::Generation, 2.0),
            (SpanKind::Prefill, 0.5),
            (SpanKind::Decode, 1.0),
            (SpanKind::Tool, 1.0),
        ];
        assert!(times_words(&times).ends_with(
            "Share of sample time: generation 50% (prefill 12%, decode 25%), tools 25%."
        ));
    }
}
