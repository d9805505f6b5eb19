//! Several episodes as a grid: one column per episode, one row per step. Intended for trials of one task: which
//! actions agree, where they first differ, and the results.

use std::sync::Arc;

use leptos::prelude::*;
use volary_analysis::align::common_steps;
use volary_analysis::align::grid::{EpisodeTotal, GridOrder, StepTotal, step_totals};
use volary_analysis::table::order::Direction;
use volary_episode::Episode;
use volary_view::outline::{class_and_name, line};
use volary_view::route::{ReviewPlace, Route};
use volary_view::summary::reward_text;

use super::library_page::BackLink;
use volary_ui::rows::Rows;
use volary_ui::text::inert;
use volary_view::review::grid_texts::{
    facts, order_name, order_named, row_count, step_number, step_text, sum, summary, title,
    total_text,
};

/// The height of a row in pixels, as in the style sheet.
const ROW: f64 = 34.0;
/// The maximum number of episodes in a grid.
pub const MOST: usize = 24;

/// The state of a grid.
#[derive(Clone, Copy)]
pub struct Grid {
    /// The episodes, one per column.
    pub episodes: RwSignal<Arc<Vec<Arc<Episode>>>>,
    /// The number of initial steps that have the same actions in all episodes.
    common: Memo<usize>,
    order: RwSignal<(GridOrder, Direction)>,
    /// The episodes in that order.
    sorted: Memo<Arc<Vec<Arc<Episode>>>>,
    /// The agreement of the episodes at each step.
    totals: Memo<Arc<Vec<StepTotal>>>,
}

impl Grid {
    /// An empty grid.
    pub fn new() -> Grid {
        let episodes = RwSignal::new(Arc::<Vec<Arc<Episode>>>::default());
        let order = RwSignal::new((GridOrder::Chosen, Direction::Ascending));
        Grid {
            episodes,
            order,
            sorted: Memo::new(move |_| {
                let (order, direction) = order.get();
                episodes.with(|episodes| {
                    let places = order.indices(episodes, direction).into_iter();
                    Arc::new(places.map(|place| Arc::clone(&episodes[place])).collect())
                })
            }),
            totals: Memo::new(move |_| episodes.with(|episodes| Arc::new(step_totals(episodes)))),
            common: Memo::new(move |_| {
                episodes.with(|episodes| {
                    let episodes: Vec<&Episode> =
                        episodes.iter().map(|episode| &**episode).collect();
                    common_steps(&episodes)
                })
            }),
        }
    }
}

impl Default for Grid {
    fn default() -> Self {
        Grid::new()
    }
}

#[component]
pub(super) fn GridPage(grid: Grid) -> impl IntoView {
    let count = Memo::new(move |_| grid.episodes.with(|episodes| row_count(episodes)));
    let edition = Memo::new(move |edition: Option<&u32>| {
        grid.sorted.track();
        edition.map_or(0, |edition| edition.wrapping_add(1))
    });
    let rows = Rows {
        count: count.into(),
        edition: edition.into(),
        height: ROW,
        seen: Signal::derive(|| None),
        role: "rowgroup",
        class: "grid-rows",
        name: None,
    };
    let body = rows.view(move |step| {
        let common = grid.common.get_untracked();
        let total = grid
            .totals
            .with_untracked(|totals| totals.get(step.checked_sub(1)?).copied());
        grid.sorted
            .with_untracked(|episodes| row(episodes, step, common, total))
    });
    let said = move || {
        grid.episodes
            .with(|episodes| summary(episodes, grid.common.get()))
    };
    let columns = move || {
        grid.sorted.with(|episodes| {
            let first = episodes.first().map(|first| first.id.to_string());
            let columns = episodes.iter();
            columns
                .map(|episode| column(episode, first.as_deref()))
                .collect_view()
        })
    };
    // The grid scrolls horizontally and therefore must be focusable.
    view! {
        <div class="compare grid-page">
            <header class="library-head compare-head">
                <BackLink/>
                <h1 class="episode-title">{"Side by side"}</h1>
                <p class="faint" role="status">
                    {said}
                </p>
                <OrderChoice grid/>
            </header>
            <div class="grid-scroll" tabindex="0" role="region" aria-label="Grid">
                <div class="grid-table" role="table" aria-label="Steps side by side">
                    <div role="rowgroup">
                        <div class="grid-row grid-head" role="row">
                            <div role="columnheader" class="grid-number">
                                {"Step"}
                            </div>
                            {columns}
                            <div role="columnheader" class="grid-total">
                                {"All"}
                            </div>
                        </div>
                        {move || grid.sorted.with(|episodes| totals_row(episodes))}
                    </div>
                    {body}
                </div>
            </div>
        </div>
    }
}

/// The select for the order of the columns.
#[component]
fn OrderChoice(grid: Grid) -> impl IntoView {
    let change = move |event| {
        let order = order_named(&event_target_value(&event));
        grid.order.update(|known| known.0 = order);
    };
    let options = GridOrder::ALL.map(|order| {
        view! { <option value=order_name(order)>{order_name(order)}</option> }
    });
    let is_down = move || {
        grid.order
            .with(|(_, direction)| *direction == Direction::Descending)
    };
    let turn = move |_| {
        grid.order.update(|(_, direction)| {
            *direction = match direction {
                Direction::Ascending => Direction::Descending,
                Direction::Descending => Direction::Ascending,
            };
        });
    };
    view! {
        <span class="grid-order">
            <label class="group-choice">
                <span>{"Sort by"}</span>
                <select prop:value=move || order_name(grid.order.get().0) on:change=change>
                    {options.into_iter().collect_view()}
                </select>
            </label>
            <button
                type="button"
                class="quiet small"
                aria-pressed=move || is_down().to_string()
                on:click=turn
            >
                {"Descending"}
            </button>
        </span>
    }
}

/// The totals of each episode and of all episodes.
fn totals_row(episodes: &[Arc<Episode>]) -> AnyView {
    let totals: Vec<EpisodeTotal> = episodes
        .iter()
        .map(|episode| EpisodeTotal::of(episode))
        .collect();
    let cells = totals.iter().map(|total| {
        view! {
            <div role="cell" class="grid-cell">
                {total_text(total)}
            </div>
        }
    });
    let sum = sum(&totals);
    view! {
        <div class="grid-row grid-totals" role="row">
            <div role="rowheader" class="grid-number">
                {"Total"}
            </div>
            {cells.collect_view()}
            <div role="cell" class="grid-total">
                {total_text(&sum)}
            </div>
        </div>
    }
    .into_any()
}

fn column(episode: &Episode, first: Option<&str>) -> impl IntoView + use<> {
    let (name, facts) = (title(episode), facts(episode));
    let beside = first.filter(|first| **first != *episode.id).map(|first| {
        let place = ReviewPlace {
            episode: Some(first.to_owned()),
            beside: vec![episode.id.to_string()],
            ..ReviewPlace::default()
        };
        view! {
            <a
                href=Route::Review(place).to_hash()
                aria-label=format!("Compare {name} with the first")
            >
                {"Compare with the first"}
            </a>
        }
    });
    view! {
        <div role="columnheader" class="grid-column">
            <a href=address(episode, None)>
                <strong dir="auto">{inert(name)}</strong>
            </a>
            <span class="faint" dir="auto">
                {inert(&facts)}
            </span>
            {beside}
        </div>
    }
}

fn address(episode: &Episode, step: Option<usize>) -> String {
    let place = ReviewPlace {
        episode: Some(episode.id.to_string()),
        step,
        ..ReviewPlace::default()
    };
    Route::Review(place).to_hash()
}

fn row(episodes: &[Arc<Episode>], step: usize, common: usize, total: Option<StepTotal>) -> AnyView {
    let is_alike = step <= common;
    let number = step_number(step);
    let cells: Vec<AnyView> = episodes.iter().map(|episode| cell(episode, step)).collect();
    view! {
        <div class=if is_alike { "grid-row alike" } else { "grid-row" } role="row">
            <div
                role="rowheader"
                class="grid-number"
                title=is_alike.then_some("All actions are the same")
            >
                {number}
            </div>
            {cells}
            <div role="cell" class="grid-total">
                {total.as_ref().map(step_text)}
            </div>
        </div>
    }
    .into_any()
}

fn cell(episode: &Episode, step: usize) -> AnyView {
    if step > episode.steps.len() {
        return view! { <div role="cell" class="grid-cell missing"></div> }.into_any();
    }
    let line = line(episode, step);
    let (kind, name) = class_and_name(line.kind);
    let reward = line.reward.map(|reward| {
        let class = if reward < 0.0 {
            "reward bad"
        } else {
            "reward good"
        };
        view! { <span class=class>{reward_text(reward)}</span> }
    });
    let title = if line.title.is_empty() {
        view! { <span class="outline-title">"no text"</span> }.into_any()
    } else {
        view! {
            <span class="outline-title" dir="auto">
                {inert(&line.title)}
            </span>
        }
        .into_any()
    };
    view! {
        <div role="cell" class="grid-cell">
            <a href=address(episode, Some(step))>
                <span
                    class=format!("kind-mark {kind}")
                    role="img"
                    aria-label=name
                    title=name
                ></span>
                {title}
                {reward}
            </a>
        </div>
    }
    .into_any()
}
