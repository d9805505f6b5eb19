//! The distribution of a measure over the samples of a step, as a histogram.

use std::sync::Arc;

use leptos::prelude::*;
use volary_analysis::training::spread::correlation;
use volary_analysis::training::{Histogram, Measure, StepSummary};
use volary_core::quantity::{count_text, plural};
use volary_view::training::{SIDE, bars, outline, place_in, sample_figure_text, spread_text};

use super::ShownRun;
use volary_ui::text::inert;

/// The number of intervals of a histogram.
const BINS: usize = 20;
/// The smallest correlation that is named.
const CLEAR: f64 = 0.3;

/// The distribution of a measure, with that of the first step as an outline.
pub(super) fn card(
    shown: &Arc<ShownRun>,
    at: usize,
    step: &StepSummary,
    measure: &Measure,
) -> Option<AnyView> {
    let run = &shown.run;
    let spread = run.spread(at, measure)?;
    let range = run.range(measure)?;
    let values = |step: &StepSummary| -> Vec<f64> {
        let samples = run.samples_of(&step.samples).iter();
        samples.filter_map(|sample| sample.value(measure)).collect()
    };
    let histogram = Histogram::of(values(step), range, BINS)?;
    let first = run.steps.first().filter(|first| first.step != step.step);
    let first = first.and_then(|first| Histogram::of(values(first), range, BINS));
    let highest =
        |histogram: &Histogram| histogram.counts.iter().copied().max().unwrap_or_default();
    // Steps may have different numbers of samples: each histogram fills the height.
    let outline = first.map(|first| outline(&first, highest(&first)));
    let mean = spread
        .mean
        .map(|mean| format!("M{:.1} 0V{SIDE}", place_in(range, mean)));
    let is_share = measure.is_share();
    let text = |value| sample_figure_text(value, is_share, measure.is_count());
    let name = match measure {
        Measure::Reward => shown.reward_title(),
        measure => measure.title(),
    };
    let samples = run.samples_of(&step.samples).iter();
    let with_reward = (*measure != Measure::Reward).then(|| {
        let pairs = samples.filter_map(|sample| Some((sample.reward?, sample.value(measure)?)));
        correlation(pairs)
    });
    let with_reward = with_reward.flatten().filter(|r| r.abs() >= CLEAR);
    let with_reward = with_reward.map(|r| format!("r = {r:+.2} with reward").replace('-', "−"));
    let mut aside = Vec::new();
    if spread.missing > 0 {
        aside.push(format!("{} without", count_text(spread.missing)));
    }
    if spread.not_finite > 0 {
        aside.push(format!("{} NaN or infinite", count_text(spread.not_finite)));
    }
    aside.extend(with_reward);
    let about = format!(
        "{name}: {} from {} to {}, mean {}",
        plural(spread.count, "value"),
        text(spread.range()?.0),
        text(spread.range()?.1),
        spread_text(spread.mean, spread.deviation, is_share)
    );
    let highest = highest(&histogram);
    let width = SIDE / histogram.counts.len() as f64;
    // The names of the bars, for the pointer.
    let bins = histogram.counts.iter().enumerate().map(|(bin, count)| {
        let (low, high) = histogram.interval(bin);
        let interval = if low < high {
            format!("{} to {}", text(low), text(high))
        } else {
            text(low)
        };
        view! {
            <rect class="run-bin" x=bin as f64 * width width=width height=SIDE>
                <title>{format!("{interval}: {}", plural(*count, "sample"))}</title>
            </rect>
        }
    });
    let bins = bins.collect_view();
    Some(
        view! {
            <section class="run-card" title=measure.about()>
                <header>
                    <h3 dir="auto">{inert(&name)}</h3>
                    <strong class="run-now">
                        {spread_text(spread.mean, spread.deviation, is_share)}
                    </strong>
                    <span class="faint run-change">{aside.join(" · ")}</span>
                </header>
                <div class="run-histogram plot" role="img" aria-label=about>
                    <svg
                        viewBox=format!("0 0 {SIDE} {SIDE}")
                        preserveAspectRatio="none"
                        aria-hidden="true"
                    >
                        <path class="run-bars" d=bars(&histogram, highest)></path>
                        {outline.map(|outline| view! { <path class="run-outline" d=outline></path> })}
                        <path class="run-mean" d=mean></path>
                        {bins}
                    </svg>
                </div>
                <div class="plot-x" aria-hidden="true">
                    <span>{text(range.0)}</span>
                    <span>{format!("highest bar: {}", plural(highest, "sample"))}</span>
                    <span>{text(range.1)}</span>
                </div>
            </section>
        }
        .into_any(),
    )
}
