//! The layout around every page: header, navigation, alerts, the overlay of keys.

use leptos::ev::MouseEvent;
use leptos::prelude::*;

use crate::browser::storage::{self, Keep};
use crate::browser::{appearance, element, files, keys, location};
use crate::components::erased::{dynamic, flag, kept, maybe_words, shown, watch, words};
use crate::components::key_help::KEY_HELP;
use crate::components::lazy::{Coming, lazy};
use crate::components::markup::{El, all, button, el, nothing};
use crate::components::{AlertBox, Theme, ThemeSwitch};
use crate::navigation::{Page, Pages};
use crate::pages;
use crate::playground::intents::Intent;
use crate::playground::page::playground_page;
use crate::playground::state::Playground;
use crate::route::Route;

/// The keys that work, as the overlay lists them.
const KEYS: &[(&str, &str)] = &[
    ("?", "Show keyboard shortcuts"),
    ("j", "Select the next step"),
    ("k", "Select the previous step"),
    ("g", "Select the reset"),
    ("G", "Select the last step"),
    ("p", "Play or pause"),
    ("Control+Enter", "Send the action (Step)"),
    ("Enter in a tool's form", "Send the action (Step)"),
    ("Arrow keys on the timeline", "Move from step to step"),
    ("Escape", "Close the open dialog or menu"),
];

/// The page.
pub fn app() -> AnyView {
    let playground = Playground::provide();
    playground.await_person();
    let pages = Pages::provide(Route::parse(&location::hash()));
    let follow = move |route: Route| {
        match Page::of(&route) {
            Page::Playground => playground.follow(route.clone()),
            _ => {
                // A notice of the playground says nothing about another page.
                playground.notice.set(None);
                // Other pages show and run its environments too.
                playground.intend(Intent::Nothing);
            }
        }
        pages.route.set(route);
    };
    follow(pages.route.get_untracked());
    location::on_change(move |hash| follow(Route::parse(&hash)));
    files::on_drop(
        move |over| {
            if playground.transfer.dragging.get_untracked() != over {
                playground.transfer.dragging.set(over);
            }
        },
        move |files| match pages.shown.get_untracked() {
            Page::Playground => playground.intend(Intent::TakeFiles(files)),
            _ => {
                pages.with_hooks(move |hooks| (hooks.take_files)(files));
            }
        },
    );
    let help = RwSignal::new(false);
    keys::on_press(move |press| {
        if press.key == "?" && !press.command && !press.typing {
            help.set(true);
            return true;
        }
        match pages.shown.get_untracked() {
            Page::Playground => press_key(playground, &press),
            _ => pages
                .with_hooks(|hooks| (hooks.press)(&press))
                .unwrap_or_default(),
        }
    });
    let key_help = dynamic(move || {
        let keys = match pages.shown.get() {
            Page::Playground => KEYS,
            _ => pages.keys().unwrap_or(&[]),
        };
        playground.whole.track();
        KEY_HELP.get().map_or_else(nothing, |view| view(help, keys))
    });
    let others = Page::ALL.iter().filter_map(|(page, name, _)| {
        Some(kept_page(
            pages,
            *page,
            lazy_page(name, pages::load(*page)?),
        ))
    });
    let main = el("main")
        .attr("id", "main")
        .class("app-main")
        .attr("tabindex", "-1")
        .child(kept_page(pages, Page::Playground, || {
            playground_page().view()
        }))
        .child(others.collect::<Vec<_>>());

    all(vec![
        el("a")
            .class("skip-link")
            .attr("href", "#main")
            .on("click", |event: MouseEvent| {
                event.prevent_default();
                element::focus_id("main");
            })
            .child("Skip to the content")
            .view(),
        header(playground, pages, help).view(),
        el("div")
            .class("notices")
            .child(view! { <AlertBox notice=playground.notice/> }.into_any())
            .view(),
        main.view(),
        drop_overlay(playground, pages),
        key_help,
    ])
}

fn header(playground: Playground, pages: Pages, help: RwSignal<bool>) -> El {
    let theme = RwSignal::new(stored_theme());
    watch(move || {
        let name = theme.get().name();
        appearance::set_theme(name);
        match name {
            Some(name) => {
                storage::set(Keep::Always, "theme", name);
            }
            None => storage::remove(Keep::Always, "theme"),
        }
    });
    // Leads back to the episode that is there.
    let home = words(move || Route::Playground(playground.place.get()).to_hash());
    let linked = Page::ALL.iter().filter(|(page, ..)| page.is_in_header());
    let links = linked.map(|(of, name, address)| {
        let of = *of;
        let current = maybe_words(move || (pages.shown.get() == of).then(|| "page".to_owned()));
        let address = match of {
            Page::Playground => home,
            _ => Signal::stored((*address).to_owned()),
        };
        el("a")
            .attr("href", address)
            .attr("aria-current", current)
            .child(*name)
            .view()
    });
    let keys = button("icon-button")
        .attr("aria-label", "Keyboard shortcuts")
        .attr("aria-haspopup", "dialog")
        .on_click(move || help.set(true))
        .child("?");
    el("header")
        .class("app-header")
        .child(el("a").attr("href", home).class("brand").child("Volary"))
        .child(
            el("nav")
                .attr("aria-label", "Main")
                .child(links.collect::<Vec<_>>()),
        )
        .child(
            el("div")
                .class("app-actions")
                .child(keys)
                .child(view! { <ThemeSwitch theme=theme/> }.into_any()),
        )
}

/// A page that is made at the first visit, is seen while it is visited, and kept from then on.
fn kept_page(pages: Pages, page: Page, load: impl Fn() -> AnyView + Send + 'static) -> AnyView {
    el("div")
        .class("page")
        .attr("hidden", flag(move || pages.shown.get() != page))
        .child(kept(move || pages.shown.get() == page, load))
        .view()
}

fn lazy_page(name: &'static str, load: fn() -> Coming) -> impl Fn() -> AnyView + Send + 'static {
    move || lazy(name, load)
}

fn drop_overlay(playground: Playground, pages: Pages) -> AnyView {
    shown(
        move || playground.transfer.dragging.get(),
        move || {
            let words = match pages.shown.get_untracked() {
                Page::Playground => None,
                _ => pages.with_hooks(|hooks| hooks.drop_words),
            };
            let words = words.unwrap_or(
                "Drop an episode (JSON, Renderer zip) or a GSM8K file (JSONL). It stays in your \
                 browser.",
            );
            el("div")
                .class("drop-overlay")
                .child(el("p").child(words))
                .view()
        },
    )
}

fn press_key(playground: Playground, press: &keys::KeyPress) -> bool {
    if press.command {
        if press.key == "Enter" {
            playground.intend(Intent::Step);
            return true;
        }
        return false;
    }
    if press.typing {
        return false;
    }
    let select = |step: usize| {
        playground.selected.set(step.min(playground.last_step()));
        true
    };
    let selected = playground.selected.get_untracked();
    match press.key.as_str() {
        "j" => select(selected + 1),
        "k" => select(selected.saturating_sub(1)),
        "g" => select(0),
        "G" => select(usize::MAX),
        "p" => {
            playground
                .transfer
                .playing
                .update(|playing| *playing = !*playing);
            true
        }
        _ => false,
    }
}

fn stored_theme() -> Theme {
    Theme::of_name(storage::get(Keep::Always, "theme").as_deref())
}
