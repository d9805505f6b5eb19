//! When the samples of a step or a group ran: a lane for each on one time axis, with the spans that its file records.

use std::ops::Range;
use std::sync::Arc;

use leptos::prelude::*;
use volary_trajectory::EndingKind;
use volary_trajectory::spans::SpanKind;
use volary_trajectory::training::Sample;
use volary_trajectory::training::times::{LaneOrder, SampleTime, StepTimes};

use super::{ShownRun, Training};
use crate::components::rows::Rows;
use crate::components::text::inert;
use crate::projection::summary::seconds_text;
use crate::projection::text::count_text;
use crate::projection::time_lanes::{LANE, class_of, lane_words, shapes, times_words};
use crate::projection::training::{SIDE, place_in};
use crate::route::TrainingPlace;

/// The height of a lane in pixels, as in the style sheet.
const ROW: f64 = 28.0;

/// The section about time; empty if no sample has times.
pub(super) fn times(
    training: Training,
    shown: &Arc<ShownRun>,
    samples: &Range<usize>,
) -> Option<AnyView> {
    let times = Arc::new(StepTimes::of(&shown.run, samples)?);
    let words = times_words(&times);
    let untimed =
        (times.untimed > 0).then(|| format!(" {} without times.", count_text(times.untimed)));
    let order = RwSignal::new(LaneOrder::default());
    Some(
        view! {
            <div class="run-line-of-facts">
                <h2 class="run-section">{"Time"}</h2>
                {legend(&times)}
                {choice(order)}
            </div>
            <p class="run-facts">{words} {untimed}</p>
            {lanes(training, Arc::clone(shown), times, order)}
        }
        .into_any(),
    )
}

fn legend(times: &StepTimes) -> AnyView {
    let kinds = times.kinds.iter().map(|(kind, _)| *kind);
    let kinds = kinds.chain(std::iter::once(SpanKind::Whole)).map(|kind| {
        let name = match (kind, times.kinds.is_empty()) {
            (SpanKind::Whole, true) => "a sample",
            (SpanKind::Whole, false) => "no span",
            (kind, _) => kind.name(),
        };
        view! {
            <span class=format!("lane-key {}", class_of(kind))>{name}</span>
        }
    });
    view! {
        <p class="lane-legend">
            {kinds.collect_view()} <span class="lane-key lane-tail">{"slowest tenth"}</span>
        </p>
    }
    .into_any()
}

fn choice(order: RwSignal<LaneOrder>) -> AnyView {
    let option = move |value: LaneOrder, key: &'static str, name: &'static str| {
        view! {
            <option value=key prop:selected=move || order.get() == value>
                {name}
            </option>
        }
    };
    let change = move |event| {
        order.set(match &*event_target_value(&event) {
            "longest" => LaneOrder::Longest,
            "started" => LaneOrder::Started,
            _ => LaneOrder::LastFirst,
        });
    };
    view! {
        <label class="group-choice">
            <span>{"Order of samples"}</span>
            <select on:change=change>
                {option(LaneOrder::LastFirst, "last", "finished last")}
                {option(LaneOrder::Longest, "longest", "longest")}
                {option(LaneOrder::Started, "started", "as started")}
            </select>
        </label>
    }
    .into_any()
}

fn lanes(
    training: Training,
    shown: Arc<ShownRun>,
    times: Arc<StepTimes>,
    order: RwSignal<LaneOrder>,
) -> AnyView {
    let count = times.lanes.len();
    let seconds = times.seconds;
    let ordered = {
        let times = Arc::clone(&times);
        Memo::new(move |_| Arc::new(times.ordered(order.get())))
    };
    let rows = Rows {
        count: Signal::derive(move || count),
        edition: Memo::new(move |edition: Option<&u32>| {
            ordered.track();
            edition.map_or(0, |edition| edition.wrapping_add(1))
        })
        .into(),
        height: ROW,
        seen: Signal::derive(|| None),
        role: "list",
        class: "time-lanes",
        name: Some("Samples by time"),
    };
    let axis = [0.0, 0.25, 0.5, 0.75, 1.0].map(|share| {
        let words = match share > 0.0 {
            true => seconds_text(share * seconds),
            false => "0 s".to_owned(),
        };
        view! { <span>{words}</span> }
    });
    let draw = move |place: usize| {
        let lane = ordered.with_untracked(|lanes| lanes.get(place).copied());
        lane.map(|lane| row(training, &shown, &times, &lane))
            .into_any()
    };
    // Few lanes need no scrolling.
    let small = if count <= 12 { " few" } else { "" };
    view! {
        <div class=format!("time-lanes-frame{small}")>
            {rows.view(draw)}
            <div class="time-axis" aria-hidden="true">
                {axis.into_iter().collect_view()}
            </div>
        </div>
    }
    .into_any()
}

fn row(training: Training, shown: &ShownRun, times: &StepTimes, lane: &SampleTime) -> AnyView {
    let sample = &shown.run.samples[lane.sample];
    let spans = sample.row.spans.as_deref();
    let place = TrainingPlace {
        step: Some(sample.step),
        group: Some(sample.group.as_deref().unwrap_or_default().to_owned()),
        ..training.here()
    };
    let words = lane_words(lane, spans);
    let ending = ending(sample);
    let remark = ending.map_or(String::new(), |ending| format!(", {ending}"));
    // In a group, its name would be the same in every lane.
    let is_in_group = training.here().group.is_some();
    let name = sample.name(!is_in_group);
    let label = format!("{name}, {words}{remark}");
    let tail = {
        let left = place_in((0.0, times.seconds), times.tail_from);
        format!("M{left:.1} 0h{:.1}v{LANE}H{left:.1}z", SIDE - left)
    };
    let shapes = shapes(lane, spans, times.seconds).into_iter();
    let shapes = shapes.map(|(class, path)| view! { <path class=class d=path></path> });
    let mark = ending.map(|ending| {
        view! { <abbr class="lane-ending" title=ending>{"!"}</abbr> }
    });
    view! {
        <div class="time-lane" role="listitem">
            <a href=place.episode_hash(&sample.row.id, &[]) aria-label=label.clone() title=label dir="auto">
                {inert(&name)}
            </a>
            <span class="lane-seconds" aria-hidden="true">
                {mark}
                {seconds_text(lane.seconds())}
            </span>
            <svg
                viewBox=format!("0 0 {SIDE} {LANE}")
                preserveAspectRatio="none"
                aria-hidden="true"
            >
                <path class="lane-tail" d=tail></path>
                {shapes.collect_view()}
            </svg>
        </div>
    }
    .into_any()
}

/// How a sample ended, if not as intended.
fn ending(sample: &Sample) -> Option<&'static str> {
    match sample.ending() {
        EndingKind::Truncated => Some("truncated"),
        EndingKind::Crashed => Some("aborted or failed"),
        _ => None,
    }
}
