//! Review as a page: the library, or one of its episodes, as the address says.

use leptos::prelude::*;
use volary_trace::annotations::Target;

use super::KEYS;
use super::actions::actions;
use super::compare_page::{Comparison, compare_page};
use super::episode_page::{episode_page, focus_find};
use super::grid_page::{Grid, grid_page};
use super::library_page::library_page;
use super::notes::Notes;
use super::opening::{Opening, compare, compare_live, follow, line_up};
use super::panels::NOTES;
use super::quote::selected_passage;
use super::viewer::Viewer;
use crate::components::AlertBox;
use crate::components::erased::{dynamic, flag, watch, words};
use crate::components::markup::{El, all, el};
use crate::library::shelf::Shelf;
use crate::pages::{Hooks, Page, use_pages};
use crate::playground::state::use_playground;
use crate::route::{IN_PLAYGROUND, ReviewPlace, Route};
use crate::shell::{element, location, timers};

/// Review.
pub fn page() -> AnyView {
    let (playground, pages) = (use_playground(), use_pages());
    let shelf = Shelf::new();
    shelf.list();
    shelf.read_site();
    let viewer = Viewer::new();
    let (comparison, grid) = (Comparison::new(), Grid::new());
    let notes = Notes::new();
    let opening = RwSignal::new(Opening::Nothing);
    // While another page is shown, this one stays where it was.
    let place = Memo::new(move |former: Option<&ReviewPlace>| {
        let place = pages.route.with(|route| match route {
            Route::Review(place) => Some(place.clone()),
            _ => None,
        });
        place.or(former.cloned()).unwrap_or_default()
    });
    watch(move || {
        let place = place.get();
        match place.beside.as_slice() {
            [] => follow(shelf, viewer, opening, &place),
            [beside] if beside == IN_PLAYGROUND => {
                compare_live(shelf, comparison, opening, &place, playground);
            }
            [beside] => compare(shelf, comparison, opening, &place, beside),
            _ => line_up(shelf, grid, opening, &place),
        }
    });
    // The one in the playground goes on.
    watch(move || {
        let now = playground.episode.get();
        if comparison.live.get_untracked() {
            comparison.pair.update(|pair| {
                if let Some((_, right)) = pair {
                    *right = now;
                }
            });
        }
    });
    watch(move || {
        if pages.shown.get() == Page::Review {
            shelf.take_unkept();
        }
    });
    watch(move || {
        if let Some(url) = place.with(|place| place.url.clone()) {
            shelf.fetch(url);
        }
    });
    watch(move || {
        let step = viewer.shown.selected.get();
        let is_shown = pages.shown.get_untracked() == Page::Review
            && opening.with_untracked(|opening| matches!(opening, Opening::Shown(_)));
        if is_shown {
            let step = (step > 0).then_some(step);
            let now = place.get_untracked();
            // A link to a passage is left with its step.
            let (at, words) = match now.step == step {
                true => (now.at.clone(), now.words.clone()),
                false => (None, None),
            };
            let route = Route::Review(ReviewPlace {
                step,
                at,
                words,
                ..now
            });
            location::replace(&route.to_hash());
        }
    });
    let beside = move |count: std::ops::RangeInclusive<usize>| {
        place.with(|place| place.episode.is_some() && count.contains(&place.beside.len()))
    };
    let comparing = move || beside(1..=1);
    let lining_up = move || beside(2..=usize::MAX);
    let reading_one = move || beside(0..=0);
    let hooks = Hooks {
        keys: KEYS,
        drop_words: "Drop it: trajectories of any common tool, loose, in a folder or packed. \
                     They stay in your browser.",
        press: Box::new(move |press| {
            if press.command || press.typing {
                return false;
            }
            let one = untrack(reading_one);
            match press.key.as_str() {
                "/" if one => {
                    focus_find();
                    true
                }
                "/" => element::focus_id("search-trajectories"),
                key if untrack(comparing) => comparison.press(key),
                "a" if one => {
                    begin_note(viewer, notes);
                    true
                }
                key => one && viewer.press(key),
            }
        }),
        take_files: Box::new(move |files| shelf.read(files)),
    };
    pages.hook(Page::Review, hooks);
    let one = el("div")
        .attr("hidden", flag(move || !reading_one()))
        .class("page")
        .child(dynamic(move || match opening.get() {
            Opening::Failed(reason) => failed(&reason).view(),
            Opening::Wanted(_) => opening_words().view(),
            Opening::Nothing | Opening::Shown(_) => ().into_any(),
        }))
        .child(
            el("div")
                .class("page")
                .attr(
                    "hidden",
                    flag(move || !opening.with(|opening| matches!(opening, Opening::Shown(_)))),
                )
                .child(episode_page(
                    shelf,
                    viewer,
                    notes,
                    playground,
                    actions(shelf, viewer, playground),
                )),
        );
    let library = el("div")
        .class("page")
        .attr(
            "hidden",
            flag(move || reading_one() || comparing() || lining_up()),
        )
        .child(library_page(shelf));
    let two = el("div")
        .class("page")
        .attr("hidden", flag(move || !comparing()))
        .child(dynamic(move || match opening.get() {
            Opening::Failed(reason) => failed(&reason).view(),
            _ => ().into_any(),
        }))
        .child(
            el("div")
                .class("page")
                .attr(
                    "hidden",
                    flag(move || comparison.pair.with(Option::is_none)),
                )
                .child(compare_page(comparison)),
        );
    let several = el("div")
        .attr("hidden", flag(move || !lining_up()))
        .class("page")
        .child(dynamic(move || match opening.get() {
            Opening::Failed(reason) => failed(&reason).view(),
            Opening::Wanted(_) => opening_words().view(),
            Opening::Nothing | Opening::Shown(_) => ().into_any(),
        }))
        .child(
            el("div")
                .class("page")
                .attr(
                    "hidden",
                    flag(move || grid.episodes.with(|episodes| episodes.is_empty())),
                )
                .child(grid_page(grid)),
        );
    all(vec![
        library.view(),
        one.view(),
        two.view(),
        several.view(),
        el("p")
            .class("news")
            .attr("role", "status")
            .attr("aria-label", "News")
            .child(words(move || shelf.said.get()))
            .view(),
        el("div")
            .class("notices")
            .child(view! { <AlertBox notice=shelf.notice/> }.into_any())
            .view(),
    ])
}

/// Begins a note on the selected words, or else on the selected step.
fn begin_note(viewer: Viewer, notes: Notes) {
    let step = viewer.shown.selected.get_untracked();
    let passage = viewer
        .shown
        .episode
        .with_untracked(|episode| selected_passage(episode));
    notes.begin(passage.unwrap_or(Target::Step { step }));
    viewer.panel.set(NOTES);
    timers::next_frame(|| {
        element::focus_id("note-text");
    });
}

fn opening_words() -> El {
    el("p")
        .class("opening")
        .attr("role", "status")
        .child("Opening…")
}

fn failed(reason: &str) -> El {
    el("div")
        .class("empty-state")
        .attr("role", "alert")
        .child(el("h1").child("This trajectory can't be shown."))
        .child(el("p").child(reason.to_owned()))
        .child(
            el("a")
                .class("button")
                .attr("href", "#/review")
                .child("All trajectories"),
        )
}
