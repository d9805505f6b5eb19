//! The groups of a step as tiles, coloured by mean reward, each with the rewards of its samples as bars.

use std::sync::Arc;

use leptos::prelude::*;
use volary_trajectory::training::{Measure, SampleGroup};

use super::shown_run::group_key;
use super::{ShownRun, Training};
use crate::components::text::inert;
use crate::projection::text::{count_text, plural};
use crate::projection::training::{SIDE, spread_text};
use crate::route::TrainingPlace;

/// The maximum number of groups shown.
const MOST_GROUPS: usize = 500;
/// The maximum number of samples whose rewards a tile shows.
const MOST_BARS: usize = 64;

/// The order of the groups.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum GroupSort {
    Number,
    Mean,
    Spread,
}

/// The groups as tiles, coloured by mean reward.
pub(super) fn groups(training: Training, shown: &Arc<ShownRun>, at: usize) -> AnyView {
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

fn tile(shown: &ShownRun, here: &TrainingPlace, group: &SampleGroup, range: (f64, f64)) -> AnyView {
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
fn reward_bars(shown: &ShownRun, group: &SampleGroup, (low, high): (f64, f64)) -> String {
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
