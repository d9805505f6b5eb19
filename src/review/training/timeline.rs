//! When the samples of a step ran: one lane for each, and links to the slowest ones.

use std::sync::Arc;

use leptos::prelude::*;
use volary_trajectory::EndingKind;
use volary_trajectory::training::times::StepTimes;
use volary_trajectory::training::{Sample, StepSummary};

use super::{ShownRun, Training};
use crate::components::text::inert;
use crate::projection::summary::seconds_text;
use crate::projection::text::{count_text, plural};
use crate::projection::training::{SIDE, figure_text, place_in};
use crate::route::TrainingPlace;

/// When the samples ran, one lane each, and the slowest ones.
pub(super) fn times(
    training: Training,
    shown: &Arc<ShownRun>,
    step: &StepSummary,
) -> Option<AnyView> {
    /// The height of a lane in units of the view box, and the bounds of the drawing in pixels.
    const LANE: f64 = 10.0;
    const LANE_PIXELS: usize = 7;
    const HEIGHT: (usize, usize) = (42, 336);
    /// The number of samples that are named.
    const SLOWEST: usize = 5;
    let times = StepTimes::of(&shown.run, step)?;
    let is_cut =
        |sample: &Sample| matches!(sample.ending(), EndingKind::Truncated | EndingKind::Crashed);
    let path = |cut: bool| {
        let lanes = times.lanes.iter().enumerate();
        let lanes = lanes.filter(|(_, lane)| is_cut(&shown.run.samples[lane.sample]) == cut);
        let bars = lanes.map(|(row, lane)| {
            let place = |seconds: f64| place_in((0.0, times.seconds), seconds);
            let (from, top) = (place(lane.from), row as f64 * LANE + 1.0);
            let width = (place(lane.to) - from).max(1.0);
            format!("M{from:.1} {top}h{width:.1}v8h-{width:.1}z")
        });
        bars.collect::<String>()
    };
    let mut slowest = times.lanes.clone();
    slowest.sort_by(|one, other| (other.to - other.from).total_cmp(&(one.to - one.from)));
    let here = training.here();
    let slowest = slowest.into_iter().take(SLOWEST).map(|lane| {
        let sample = &shown.run.samples[lane.sample];
        let place = TrainingPlace {
            step: Some(sample.step),
            group: Some(sample.group.as_deref().unwrap_or_default().to_owned()),
            ..here.clone()
        };
        let name = format!(
            "Sample {} ({})",
            sample.label(),
            seconds_text(lane.to - lane.from)
        );
        view! {
            <li>
                <a href=place.episode_hash(&sample.row.id, &[]) dir="auto">
                    {inert(&name)}
                </a>
            </li>
        }
    });
    let about = format!(
        "{} in {}. The slowest tenth of the samples took the last {} of the time alone.",
        plural(times.lanes.len(), "sample"),
        seconds_text(times.seconds),
        figure_text(times.tail, true)
    );
    let untimed =
        (times.untimed > 0).then(|| format!(" {} without times.", count_text(times.untimed)));
    let height = (times.lanes.len() * LANE_PIXELS).clamp(HEIGHT.0, HEIGHT.1);
    let has_cut = !path(true).is_empty();
    let legend = has_cut.then(|| {
        view! {
            <p class="run-legend">
                <span class="run-key">{"completed"}</span>
                <span class="run-key other">{"truncated, aborted or failed"}</span>
            </p>
        }
    });
    Some(
        view! {
            <h2 class="run-section">{"Time"}</h2>
            <p class="run-facts">{about.clone()} {untimed}</p>
            {legend}
            <div class="run-times" role="img" aria-label=about>
                <svg
                    viewBox=format!("0 0 {SIDE} {}", times.lanes.len() as f64 * LANE)
                    height=height.to_string()
                    preserveAspectRatio="none"
                    aria-hidden="true"
                >
                    <path class="run-span" d=path(false)></path>
                    <path class="run-span cut" d=path(true)></path>
                </svg>
            </div>
            <div class="run-changes">
                <span class="faint">{"Slowest:"}</span>
                <ul aria-label="Slowest samples">{slowest.collect_view()}</ul>
            </div>
        }
        .into_any(),
    )
}
