//! A step: distributions of its samples, and its groups as a grid.

use std::collections::BTreeSet;
use std::sync::Arc;

use leptos::prelude::*;
use volary_core::json::Text;
use volary_trajectory::EndingKind;
use volary_trajectory::table::Column;
use volary_trajectory::table::filter::Filter;
use volary_trajectory::table::view::View;
use volary_trajectory::training::spread::correlation;
use volary_trajectory::training::times::StepTimes;
use volary_trajectory::training::{Histogram, Measure, Sample, SampleGroup, StepSummary};

use super::{Shown, Training, group_key};
use crate::components::text::inert;
use crate::projection::summary::seconds_text;
use crate::projection::text::{count_text, plural};
use crate::projection::training::{SIDE, bars, figure_text, outline, place_in, spread_text};
use crate::route::{ReviewPlace, Route, TrainingPlace};

/// The number of intervals of a histogram.
const BINS: usize = 20;
/// The maximum number of groups shown.
const MOST_GROUPS: usize = 500;
/// The maximum number of samples whose rewards a tile shows.
const MOST_BARS: usize = 64;
/// The maximum number of files that a filter of the table names.
const MOST_FILES: usize = 16;
/// The smallest correlation that is named.
const CLEAR: f64 = 0.3;

/// The order of the groups.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum GroupSort {
    Number,
    Mean,
    Spread,
}

pub(super) fn view(
    training: Training,
    shown: &Arc<Shown>,
    at: usize,
    step: &StepSummary,
) -> AnyView {
    let cards = shown
        .run
        .measures
        .iter()
        .filter_map(|measure| card(shown, at, step, measure));
    let first = shown
        .run
        .steps
        .first()
        .filter(|first| first.step != step.step);
    let legend = first.map(|first| {
        view! {
            <p class="run-legend">
                <span class="run-key">{format!("Step {}", step.step)}</span>
                <span class="run-key first">{format!("Step {}, as an outline", first.step)}</span>
            </p>
        }
    });
    view! {
        <div class="run-line-of-facts">
            <p class="run-facts">{facts(step)}</p>
            <a class="button small" href=table_address(shown, step)>
                {"Show in table"}
            </a>
        </div>
        {groups(training, shown, at)}
        <h2 class="run-section">{"Distributions"}</h2>
        {legend}
        <div class="run-cards">{cards.collect_view()}</div>
        {times(training, shown, step)}
    }
    .into_any()
}

/// When the samples ran, one lane each, and the slowest ones.
fn times(training: Training, shown: &Arc<Shown>, step: &StepSummary) -> Option<AnyView> {
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

fn facts(step: &StepSummary) -> String {
    let mut parts = vec![plural(step.samples.len(), "sample")];
    let groups = step.group_count();
    if groups > 0 {
        let uniform = count_text(step.uniform_groups());
        parts.push(format!(
            "{}, {uniform} without variance",
            plural(groups, "group")
        ));
    }
    let reward = step.spreads.first().copied().unwrap_or_default();
    for (count, words) in [
        (step.truncated, "truncated"),
        (step.aborted, "aborted or failed"),
        (step.mixed_policies, "sampled from several policies"),
        (reward.missing, "without a reward"),
        (reward.not_finite, "with a NaN or infinite reward"),
    ] {
        if count > 0 {
            parts.push(format!("{} {words}", count_text(count)));
        }
    }
    parts.join(" · ")
}

/// The table of trajectories, filtered to the samples of a step.
fn table_address(shown: &Shown, step: &StepSummary) -> String {
    let samples = shown.run.samples_of(&step.samples);
    let has_step = samples
        .first()
        .is_some_and(|sample| sample.row.metadata.contains_key("step"));
    let key = if has_step { "step" } else { "iteration" };
    let of_step = (
        Column::Metadata(vec![key.into()]),
        Filter::OneOf(vec![step.step.to_string()]),
    );
    let files: BTreeSet<&Text> = samples
        .iter()
        .filter_map(|sample| sample.row.run.as_ref())
        .collect();
    let of_files = (!files.is_empty() && files.len() <= MOST_FILES).then(|| {
        let files = files.iter().map(|file| file.to_string());
        (Column::Run, Filter::OneOf(files.collect()))
    });
    let view = View {
        filters: std::iter::once(of_step).chain(of_files).collect(),
        ..View::default()
    };
    let place = ReviewPlace {
        view: view.to_query(),
        ..ReviewPlace::default()
    };
    Route::Review(place).to_hash()
}

/// The distribution of a measure, with that of the first step as an outline.
fn card(shown: &Arc<Shown>, at: usize, step: &StepSummary, measure: &Measure) -> Option<AnyView> {
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
    let name = match measure {
        Measure::Reward => match shown.reward_name() {
            "Reward" => "Reward".to_owned(),
            name => format!("Reward ({name})"),
        },
        measure => measure.name().to_owned(),
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
        figure_text(spread.range()?.0, is_share),
        figure_text(spread.range()?.1, is_share),
        spread_text(spread.mean, spread.deviation, is_share)
    );
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
                <div class="run-histogram" role="img" aria-label=about>
                    <svg
                        viewBox=format!("0 0 {SIDE} {SIDE}")
                        preserveAspectRatio="none"
                        aria-hidden="true"
                    >
                        <path class="run-bars" d=bars(&histogram, highest(&histogram))></path>
                        {outline.map(|outline| view! { <path class="run-outline" d=outline></path> })}
                        <path class="run-mean" d=mean></path>
                    </svg>
                </div>
                <div class="run-x" aria-hidden="true">
                    <span>{figure_text(range.0, is_share)}</span>
                    <span>{figure_text(range.1, is_share)}</span>
                </div>
            </section>
        }
        .into_any(),
    )
}

/// The groups as tiles, coloured by mean reward.
fn groups(training: Training, shown: &Arc<Shown>, at: usize) -> AnyView {
    let sort = RwSignal::new(GroupSort::Number);
    let shown = Arc::clone(shown);
    let tiles = move || {
        let step = shown.run.steps.get(at)?;
        let range = shown.run.range(&Measure::Reward).unwrap_or_default();
        let mut groups: Vec<&SampleGroup> = step.groups.iter().collect();
        let known = |value: Option<f64>| value.unwrap_or(f64::NEG_INFINITY);
        match sort.get() {
            GroupSort::Number => {}
            GroupSort::Mean => groups
                .sort_by(|one, other| known(other.reward.mean).total_cmp(&known(one.reward.mean))),
            GroupSort::Spread => groups.sort_by(|one, other| {
                known(other.reward.deviation).total_cmp(&known(one.reward.deviation))
            }),
        }
        let here = TrainingPlace {
            step: Some(step.step),
            ..training.here()
        };
        let more = groups
            .len()
            .checked_sub(MOST_GROUPS)
            .filter(|more| *more > 0);
        let more = more.map(|more| {
            let words = format!(
                "{} more groups. Use Show in table to see their samples.",
                count_text(more)
            );
            view! { <p class="faint">{words}</p> }
        });
        let groups = groups.into_iter().take(MOST_GROUPS);
        let tiles = groups
            .map(|group| tile(&shown, &here, group, range))
            .collect_view();
        Some(view! {
            <ul class="group-tiles" aria-label="Groups">
                {tiles}
            </ul>
            {more}
        })
    };
    let option = move |value: GroupSort, name: &'static str, key: &'static str| {
        view! {
            <option value=key prop:selected=move || sort.get() == value>
                {name}
            </option>
        }
    };
    let change = move |event| {
        sort.set(match &*event_target_value(&event) {
            "mean" => GroupSort::Mean,
            "spread" => GroupSort::Spread,
            _ => GroupSort::Number,
        });
    };
    view! {
        <div class="run-line-of-facts">
            <h2 class="run-section">{"Groups"}</h2>
            <p class="tile-legend faint">
                <span>{"low"}</span>
                <span class={"tile-key tile-0"}></span>
                <span class={"tile-key tile-1"}></span>
                <span class={"tile-key tile-2"}></span>
                <span class={"tile-key tile-3"}></span>
                <span class={"tile-key tile-4"}></span>
                <span>{"high mean reward"}</span>
                <span class={"tile-key uniform"}></span>
                <span>{"no variance"}</span>
            </p>
            <label class="group-choice">
                <span>{"Order"}</span>
                <select on:change=change>
                    {option(GroupSort::Number, "by number", "number")}
                    {option(GroupSort::Mean, "by mean reward", "mean")}
                    {option(GroupSort::Spread, "by spread", "spread")}
                </select>
            </label>
        </div>
        {tiles}
    }
    .into_any()
}

fn tile(shown: &Shown, here: &TrainingPlace, group: &SampleGroup, range: (f64, f64)) -> AnyView {
    /// The number of shades.
    const SHADES: f64 = 5.0;
    let (low, high) = range;
    let shade = group.reward.mean.map(|mean| match high > low {
        true => (((mean - low) / (high - low) * SHADES) as usize).min(SHADES as usize - 1),
        false => 2,
    });
    let shade = shade.map_or_else(|| "tile-none".to_owned(), |shade| format!("tile-{shade}"));
    let uniform = if group.is_uniform() { " uniform" } else { "" };
    let target = TrainingPlace {
        group: Some(group_key(group)),
        ..here.clone()
    };
    let samples = shown.run.samples_of(&group.samples);
    let name = group.name();
    let task = group
        .task
        .as_deref()
        .filter(|task| **task != *name)
        .map(str::to_owned);
    let mean = spread_text(group.reward.mean, group.reward.deviation, false);
    let remark = match (group.is_uniform(), group.reward.count, group.reward.missing) {
        (true, ..) => "no variance".to_owned(),
        (_, 0, _) => "no reward".to_owned(),
        (_, _, missing) if missing > 0 => format!("{} without reward", count_text(missing)),
        _ => String::new(),
    };
    let count = plural(samples.len(), "sample");
    let label = [&*name, &*format!("mean reward {mean}"), &*count, &*remark];
    let label: Vec<&str> = label.into_iter().filter(|part| !part.is_empty()).collect();
    let label = label.join(", ");
    let title = task.clone().unwrap_or_else(|| name.clone());
    view! {
        <li>
            <a
                class=format!("group-tile {shade}{uniform}")
                href=target.to_hash()
                aria-label=label
                title=title
            >
                <span class="tile-name" dir="auto">
                    {inert(&name)}
                </span>
                <strong>{mean}</strong>
                <svg
                    class="tile-bars"
                    viewBox=format!("0 0 {SIDE} {SIDE}")
                    preserveAspectRatio="none"
                    aria-hidden="true"
                >
                    <path d=reward_bars(shown, group, range)></path>
                </svg>
                <span class="tile-task" dir="auto">
                    {inert(task.as_deref().unwrap_or_default())}
                </span>
                <span class="tile-remark">{remark}</span>
            </a>
        </li>
    }
    .into_any()
}

/// One bar for each sample; one without a reward has none.
fn reward_bars(shown: &Shown, group: &SampleGroup, (low, high): (f64, f64)) -> String {
    /// The height of the lowest reward, so that it differs from none.
    const LOWEST: f64 = 80.0;
    let samples = shown.run.samples_of(&group.samples);
    let count = samples.len().clamp(1, MOST_BARS);
    let width = SIDE / count as f64;
    let bars = samples
        .iter()
        .take(count)
        .enumerate()
        .filter_map(|(place, sample)| {
            let reward = sample.reward.filter(|reward| reward.is_finite())?;
            let share = if high > low {
                (reward - low) / (high - low)
            } else {
                0.5
            };
            let height = LOWEST + share.clamp(0.0, 1.0) * (SIDE - LOWEST);
            let left = place as f64 * width;
            Some(format!(
                "M{left:.1} {SIDE}v{:.1}h{:.1}v{height:.1}Z",
                -height,
                width * 0.8
            ))
        });
    bars.collect()
}
