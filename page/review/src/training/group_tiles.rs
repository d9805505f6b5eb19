//! The groups of a step as tiles, coloured by mean reward, each with the rewards of its samples as bars.

use std::sync::Arc;

use leptos::prelude::*;
use volary_analysis::training::{Measure, SampleGroup};
use volary_core::quantity::count_text;
use volary_view::route::TrainingPlace;
use volary_view::training::SIDE;

use super::{ShownRun, Training};
use volary_ui::text::inert;
use volary_view::review::training::shown_run::group_key;
use volary_view::review::training::texts::{TileOrder, TileTexts, reward_bars};

/// The maximum number of groups shown.
const MOST_GROUPS: usize = 500;

/// The groups as tiles, coloured by mean reward.
pub(super) fn groups(training: Training, shown: &Arc<ShownRun>, at: usize) -> AnyView {
    let kept = training.kept;
    let sort = Memo::new(move |_| {
        kept.with(|kept| TileOrder::of_key(kept.tiles.as_deref().unwrap_or_default()))
    });
    let shown = Arc::clone(shown);
    let tiles = move || {
        let step = shown.run.steps.get(at)?;
        let range = shown.run.range(&Measure::Reward).unwrap_or_default();
        let groups = sort.get().sorted(&step.groups);
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
    let options = TileOrder::ALL.map(|order| {
        view! {
            <option value=order.key() prop:selected=move || sort.get() == order>
                {order.name()}
            </option>
        }
    });
    let change = move |event| {
        let order = TileOrder::of_key(&event_target_value(&event));
        let tiles = (order != TileOrder::default()).then(|| order.key().to_owned());
        kept.update(|kept| kept.tiles = tiles);
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
                <span><span class={"tile-key uniform"}></span>{"no variance"}</span>
            </p>
            <label class="group-choice">
                <span>{"Order"}</span>
                <select on:change=change>
                    {options.into_iter().collect_view()}
                </select>
            </label>
        </div>
        {tiles}
    }
    .into_any()
}

fn tile(shown: &ShownRun, here: &TrainingPlace, group: &SampleGroup, range: (f64, f64)) -> AnyView {
    let target = TrainingPlace {
        group: Some(group_key(group)),
        ..here.clone()
    };
    let samples = shown.run.samples_of(&group.samples);
    let rewards: Vec<Option<f64>> = samples.iter().map(|sample| sample.reward).collect();
    let TileTexts {
        class,
        name,
        task,
        mean,
        remark,
        label,
    } = TileTexts::of(group, range);
    let title = task.clone().unwrap_or_else(|| name.clone());
    view! {
        <li>
            <a
                class=class
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
                    <path d=reward_bars(&rewards, range)></path>
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
