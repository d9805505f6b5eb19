//! Several episodes as a grid: one column per episode, one row per step. Intended for tries of one task: which
//! actions agree, where they first differ, and the results.

use std::sync::Arc;

use leptos::prelude::*;
use volary_trajectory::Episode;
use volary_trajectory::align::common_steps;

use super::library_page::back_link;
use crate::components::erased::{dynamic, words};
use crate::components::markup::{El, el, nothing};
use crate::components::rows::Rows;
use crate::components::text::inert_in;
use crate::projection::outline::{class_and_name, line};
use crate::projection::summary::reward_text;
use crate::projection::text::{count_text, plural};
use crate::route::{ReviewPlace, Route};

/// The height of a row, as in the style sheet.
const ROW: f64 = 34.0;
/// The maximum number of episodes in a grid.
pub const MOST: usize = 24;

/// The state of a grid.
#[derive(Clone, Copy)]
pub struct Grid {
    /// The episodes, one per column.
    pub episodes: RwSignal<Arc<Vec<Arc<Episode>>>>,
    /// The number of initial steps with the same actions.
    common: Memo<usize>,
}

impl Grid {
    /// An empty grid.
    pub fn new() -> Grid {
        let episodes = RwSignal::new(Arc::<Vec<Arc<Episode>>>::default());
        Grid {
            episodes,
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

/// The page of a grid.
pub fn grid_page(grid: Grid) -> El {
    let said = words(move || {
        grid.episodes
            .with(|episodes| summary(episodes, grid.common.get()))
    });
    let head = dynamic(move || {
        grid.episodes.with(|episodes| {
            let corner = el("div")
                .attr("role", "columnheader")
                .class("grid-number")
                .child("Step");
            let first = episodes.first().map(|first| first.id.to_string());
            let columns = episodes
                .iter()
                .map(|episode| column(episode, first.as_deref()).view());
            el("div")
                .class("grid-row grid-head")
                .attr("role", "row")
                .child(corner)
                .child(columns.collect::<Vec<_>>())
                .view()
        })
    });
    let count = Memo::new(move |_| {
        grid.episodes.with(|episodes| {
            let longest = episodes.iter().map(|episode| episode.steps.len()).max();
            longest.map_or(0, |longest| longest + 1)
        })
    });
    let edition = Memo::new(move |edition: Option<&u32>| {
        grid.episodes.track();
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
        grid.episodes
            .with_untracked(|episodes| row(episodes, step, common).view())
    });
    el("div")
        .class("compare grid-page")
        .child(
            el("header")
                .class("library-head compare-head")
                .child(back_link())
                .child(el("h1").class("episode-title").child("Side by side"))
                .child(el("p").class("faint").attr("role", "status").child(said)),
        )
        .child(
            el("div")
                .class("grid-scroll")
                // Scrollable sideways, and therefore focusable.
                .attr("tabindex", "0")
                .attr("role", "region")
                .attr("aria-label", "Grid")
                .child(
                    el("div")
                        .class("grid-table")
                        .attr("role", "table")
                        .attr("aria-label", "Steps side by side")
                        .child(el("div").attr("role", "rowgroup").child(head))
                        .child(body),
                ),
        )
}

fn summary(episodes: &[Arc<Episode>], common: usize) -> String {
    let rewards: Vec<f64> = episodes
        .iter()
        .filter_map(|episode| episode.reward())
        .collect();
    let mean = match rewards.is_empty() {
        true => String::new(),
        false => {
            let mean = rewards.iter().sum::<f64>() / rewards.len() as f64;
            format!(", mean reward {}", reward_text(mean))
        }
    };
    let alike = match common {
        0 => "first difference: step 1".to_owned(),
        common => format!("same actions for {}", plural(common, "step")),
    };
    format!(
        "{} side by side{mean}; {alike}.",
        plural(episodes.len(), "episode")
    )
}

fn column(episode: &Episode, first: Option<&str>) -> El {
    let name = match episode.name.trim() {
        "" => &*episode.id,
        name => name,
    };
    let mut facts = vec![plural(episode.steps.len(), "step")];
    facts.extend(
        episode
            .reward()
            .map(|reward| format!("reward {}", reward_text(reward))),
    );
    facts.extend(episode.outcome.as_ref().map(|outcome| outcome.to_string()));
    let beside = first.filter(|first| **first != *episode.id).map(|first| {
        let place = ReviewPlace {
            episode: Some(first.to_owned()),
            beside: vec![episode.id.to_string()],
            ..ReviewPlace::default()
        };
        el("a")
            .attr("href", Route::Review(place).to_hash())
            .attr("aria-label", format!("Compare {name} with the first"))
            .child("Compare with the first")
    });
    el("div")
        .attr("role", "columnheader")
        .class("grid-column")
        .child(link(episode, None).child(inert_in("strong", "", name)))
        .child(inert_in("span", "faint", &facts.join(", ")))
        .child(beside)
}

fn link(episode: &Episode, step: Option<usize>) -> El {
    let place = ReviewPlace {
        episode: Some(episode.id.to_string()),
        step,
        ..ReviewPlace::default()
    };
    el("a").attr("href", Route::Review(place).to_hash())
}

fn row(episodes: &[Arc<Episode>], step: usize, common: usize) -> El {
    let alike = step <= common;
    let number = match step {
        0 => "Start".to_owned(),
        step => count_text(step),
    };
    let cells = episodes.iter().map(|episode| cell(episode, step).view());
    el("div")
        .class(if alike { "grid-row alike" } else { "grid-row" })
        .attr("role", "row")
        .child(
            el("div")
                .attr("role", "rowheader")
                .class("grid-number")
                .attr("title", alike.then_some("All actions are the same"))
                .child(number),
        )
        .child(cells.collect::<Vec<_>>())
}

fn cell(episode: &Episode, step: usize) -> El {
    let cell = el("div").attr("role", "cell");
    if step > episode.steps.len() {
        return cell.class("grid-cell missing").child(nothing());
    }
    let line = line(episode, step);
    let (kind, name) = class_and_name(line.kind);
    let reward = line.reward.map(|reward| {
        let class = if reward < 0.0 {
            "reward bad"
        } else {
            "reward good"
        };
        el("span").class(class).child(reward_text(reward))
    });
    let title = match line.title.is_empty() {
        true => el("span").class("outline-title").child("no text"),
        false => inert_in("span", "outline-title", &line.title),
    };
    cell.class("grid-cell").child(
        link(episode, Some(step))
            .child(
                el("span")
                    .class(format!("kind-mark {kind}"))
                    .attr("role", "img")
                    .attr("aria-label", name)
                    .attr("title", name),
            )
            .child(title)
            .child(reward),
    )
}
