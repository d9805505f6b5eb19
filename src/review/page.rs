//! The page of Review: the library, or what the address names.

use leptos::prelude::*;
use volary_protocol::library::Origin;
use volary_trajectory::annotations::Target;

use super::KEYS;
use super::actions::actions;
use super::compare_page::compare_page;
use super::comparison::Comparison;
use super::episode_page::{episode_page, focus_find};
use super::fetch_question::fetch_question;
use super::grid_page::{Grid, grid_page};
use super::library_page::library_page;
use super::linked_file::{Elsewhere, LinkedFile};
use super::notes::Notes;
use super::opening::{Opening, compare, compare_live, follow, line_up, renew};
use super::panels::NOTES;
use super::progress::progress;
use super::quote::selected_passage;
use super::viewer::Viewer;
use crate::browser::{element, location, network, timers};
use crate::components::AlertBox;
use crate::components::erased::{dynamic, flag, kept, shown, watch, words};
use crate::components::markup::{El, all, el, nothing};
use crate::library::client::Shelf;
use crate::navigation::{Hooks, Page, Pages, use_pages};
use crate::playground::state::use_playground;
use crate::projection::notice::Notice;
use crate::route::{IN_PLAYGROUND, ReviewPlace, Route};

/// Review.
pub fn page() -> AnyView {
    let (playground, pages) = (use_playground(), use_pages());
    let shelf = Shelf::new();
    // While another page is shown, this one keeps its state.
    let place = Memo::new(move |former: Option<&ReviewPlace>| {
        let place = pages.route.with(|route| match route {
            Route::Review(place) => Some(place.clone()),
            _ => None,
        });
        place.or(former.cloned()).unwrap_or_default()
    });
    let wanted = Memo::new(move |_| place.with(|place| (place.url.clone(), place.open)));
    // The worker starts to fetch and read while the page is built.
    let fetched = StoredValue::new(wanted.get_untracked());
    let asked = RwSignal::new(None);
    let opening = RwSignal::new(Opening::Nothing);
    fetch_wanted(shelf, pages, place, asked);
    shelf.list();
    shelf.read_site();
    let is_table =
        Memo::new(move |_| place.with(|place| place.episode.is_none() && place.open.is_none()));
    watch(move || shelf.look_through(is_table.get()));
    let viewer = Viewer::new();
    let (comparison, grid) = (Comparison::new(), Grid::new());
    let notes = Notes::new();
    let agreements = RwSignal::new(0_u32);
    watch(move || {
        // An episode that could not be opened may arrive with a file that the user agreed to.
        agreements.track();
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
    // The playground's episode grows.
    watch(move || {
        let now = playground.episode.get();
        if comparison.live.get_untracked() {
            comparison.go_on(now);
        }
    });
    watch(move || {
        if pages.shown.get() == Page::Review {
            shelf.take_unkept();
        }
    });
    watch(move || {
        let now = wanted.get();
        let former = fetched.get_value();
        fetched.set_value(now.clone());
        // Once it is opened, the address names it, and the file is available.
        let is_opened = former.0 == now.0 && now.1.is_none();
        if former != now && !is_opened {
            untrack(|| fetch_wanted(shelf, pages, place, asked));
        }
    });
    watch(move || {
        if let Some((begun, whole)) = shelf.grown.get() {
            let renamed = untrack(|| renew(shelf, viewer, opening, &begun, &whole));
            if renamed {
                let now = place.get_untracked();
                go_on_at(
                    pages,
                    ReviewPlace {
                        episode: Some(whole.to_string()),
                        ..now
                    },
                );
            }
        }
    });
    watch(move || {
        let step = viewer.shown.selected.get();
        let is_shown = pages.shown.get_untracked() == Page::Review
            && opening.with_untracked(|opening| matches!(opening, Opening::Shown(_)));
        if is_shown {
            let step = (step > 0).then_some(step);
            let now = place.get_untracked();
            // Selecting another step leaves the passage of a link.
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
    // A requested episode is loading: build its page meanwhile.
    let opening_one = move || {
        place.with(|place| place.open.is_some() && place.url.is_some() && place.episode.is_none())
    };
    let reading_one = move || opening_one() || beside(0..=0);
    // A trajectory in the library needs no file.
    let is_missing = Memo::new(move |_| {
        let is_named = place.with(|place| place.episode.is_some());
        !is_named || opening.with(|opening| matches!(opening, Opening::Failed(_)))
    });
    let is_asking = Memo::new(move |_| asked.with(Option::is_some) && is_missing.get());
    let hooks = Hooks {
        keys: KEYS,
        drop_words: "Drop trajectories from any common tool: files, folders or archives. They stay \
             in your browser.",
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
    let in_library = move || !(reading_one() || comparing() || lining_up());
    let library = el("div")
        .class("page")
        .attr("hidden", flag(move || !in_library()))
        .child(kept(in_library, move || library_page(shelf).view()));
    let question = dynamic(move || {
        let file = asked.get().filter(|_| is_asking.get());
        file.map_or_else(nothing, |file: Elsewhere| {
            let url = file.url.clone();
            let fetch = move |origin| {
                asked.set(None);
                fetch_file(shelf, pages, place.get_untracked(), &url, origin);
                agreements.update(|count| *count += 1);
            };
            let decline = move || {
                asked.set(None);
                leave_file(pages, place.get_untracked());
            };
            fetch_question(&file, fetch, decline).view()
        })
    });
    let arriving = shown(
        move || opening_one() && !is_asking.get(),
        move || {
            el("div")
                .class("page")
                .child(progress(shelf))
                .child(opening_words())
                .view()
        },
    );
    let one = part(
        move || reading_one() && !is_asking.get(),
        opening,
        move || opening.with(|opening| matches!(opening, Opening::Shown(_))),
        move || {
            let actions = actions(shelf, viewer, playground);
            episode_page(shelf, viewer, notes, playground, actions)
        },
    );
    let two = part(
        move || comparing() && !is_asking.get(),
        opening,
        move || comparison.pair.with(Option::is_some),
        move || compare_page(comparison),
    );
    let several = part(
        move || lining_up() && !is_asking.get(),
        opening,
        move || grid.episodes.with(|episodes| !episodes.is_empty()),
        move || grid_page(grid),
    );
    all(vec![
        // First, because the page is as high as the window and content after it is out of view.
        el("div")
            .class("notices review-notices")
            .child(view! { <AlertBox notice=shelf.notice/> }.into_any())
            .view(),
        question,
        library.view(),
        arriving,
        one,
        two,
        several,
        el("p")
            .class("news")
            .attr("role", "status")
            .attr("aria-label", "Notifications")
            .child(words(move || shelf.said.get()))
            .view(),
    ])
}

/// A part that is built on first use: its content when loaded, or why it could not be opened.
fn part(
    is_wanted: impl Fn() -> bool + Copy + Send + Sync + 'static,
    opening: RwSignal<Opening>,
    is_there: impl Fn() -> bool + Copy + Send + Sync + 'static,
    shows: impl Fn() -> El + Copy + Send + 'static,
) -> AnyView {
    let view = move || {
        let state = dynamic(move || match opening.get() {
            Opening::Failed(reason) => failed(&reason).view(),
            Opening::Wanted(_) => opening_words().view(),
            Opening::Nothing | Opening::Shown(_) => ().into_any(),
        });
        let content = el("div")
            .class("page")
            .attr("hidden", flag(move || !is_there()))
            .child(shows());
        all(vec![state, content.view()])
    };
    el("div")
        .class("page")
        .attr("hidden", flag(move || !is_wanted()))
        .child(kept(is_wanted, view))
        .view()
}

/// Fetches the file in the address if that is allowed without confirmation; otherwise sets `asked`.
fn fetch_wanted(
    shelf: Shelf,
    pages: Pages,
    place: Memo<ReviewPlace>,
    asked: RwSignal<Option<Elsewhere>>,
) {
    asked.set(None);
    let wanted = place.get_untracked();
    let Some(url) = &wanted.url else {
        return;
    };
    let whole = location::whole(url).unwrap_or_default();
    match LinkedFile::of(&whole, &network::page().origin) {
        LinkedFile::SameOrigin { url } => fetch_file(shelf, pages, wanted, &url, Origin::Imported),
        LinkedFile::Elsewhere(file) => asked.set(Some(file)),
        LinkedFile::Refused(why) => {
            shelf.notice.set(Some(Notice::new(
                "The file in this address was not fetched.",
                why.to_string(),
                "To read it, download it and import it here.",
            )));
            leave_file(pages, wanted);
        }
    }
}

/// Continues without the file in the address.
fn leave_file(pages: Pages, place: ReviewPlace) {
    go_on_at(
        pages,
        ReviewPlace {
            url: None,
            open: None,
            ..place
        },
    );
}

/// Fetches a file and opens the trajectory in it that the address names.
fn fetch_file(shelf: Shelf, pages: Pages, wanted: ReviewPlace, url: &str, origin: Origin) {
    let Some(open) = wanted.open.filter(|_| wanted.episode.is_none()) else {
        return shelf.fetch(url, origin);
    };
    shelf.fetch_one(url, origin, open, move |id| {
        // The user may have navigated away, before the page was notified.
        if Route::parse(&location::hash()) == Route::Review(wanted.clone()) {
            let episode = id.map(|id| id.to_string());
            go_on_at(
                pages,
                ReviewPlace {
                    episode,
                    open: None,
                    ..wanted
                },
            );
        }
    });
}

/// Replaces the current address.
fn go_on_at(pages: Pages, place: ReviewPlace) {
    let route = Route::Review(place);
    location::replace(&route.to_hash());
    pages.route.set(route);
}

/// Starts a note on the selected text, or else on the selected step.
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
        .child(el("h1").child("This trajectory cannot be shown."))
        .child(el("p").child(reason.to_owned()))
        .child(
            el("a")
                .class("button")
                .attr("href", "#/review")
                .child("All trajectories"),
        )
}
