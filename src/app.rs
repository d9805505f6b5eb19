//! The layout around every page: header, navigation, alerts, the overlay of keys.

use leptos::ev::MouseEvent;
use leptos::prelude::*;

use crate::components::erased::{shown, watch};
use crate::components::markup::{El, all, button, el};
use crate::components::theme::Theme;
use crate::components::{AlertBox, KeyHelp, ThemeSwitch};
use crate::playground::page::playground_page;
use crate::playground::state::Playground;
use crate::route::Route;
use crate::shell::storage::{self, Keep};
use crate::shell::{appearance, element, files, keys, location};

/// The keys that work, as the overlay lists them.
const KEYS: &[(&str, &str)] = &[
    ("?", "Show these keys"),
    ("j", "Select the next step"),
    ("k", "Select the step before"),
    ("g", "Select the reset"),
    ("G", "Select the last step"),
    ("p", "Play or pause"),
    ("Control+Enter", "Send the action (Step)"),
    ("Enter in a tool's form", "Send the action (Step)"),
    ("Arrow keys on the timeline", "Move from step to step"),
    ("Escape", "Close what is open"),
];

/// The page.
pub fn app() -> AnyView {
    let playground = Playground::provide();
    // Before anything is drawn: the worker starts while the page does.
    playground.warm_up();
    playground.follow(Route::parse(&location::hash()));
    location::on_change(move |hash| playground.follow(Route::parse(&hash)));
    playground.write_address();
    playground.play_along();
    playground.offer_rescue();
    files::on_drop(
        move |over| {
            if playground.transfer.dragging.get_untracked() != over {
                playground.transfer.dragging.set(over);
            }
        },
        move |files| playground.take_files(files),
    );
    let help = RwSignal::new(false);
    keys::on_press(move |press| press_key(playground, help, &press));

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
        header(help).view(),
        el("main")
            .attr("id", "main")
            .class("app-main")
            .attr("tabindex", "-1")
            .child(playground_page())
            .view(),
        el("div")
            .class("notices")
            .child(view! { <AlertBox notice=playground.notice/> }.into_any())
            .view(),
        drop_overlay(playground),
        view! { <KeyHelp open=help keys=KEYS/> }.into_any(),
    ])
}

fn header(help: RwSignal<bool>) -> El {
    let theme = RwSignal::new(stored_theme());
    watch(move || {
        let name = theme_name(theme.get());
        appearance::set_theme(name);
        match name {
            Some(name) => {
                storage::set(Keep::Always, "theme", name);
            }
            None => storage::remove(Keep::Always, "theme"),
        }
    });
    let home = |text: &'static str| el("a").attr("href", "#/").child(text);
    let keys = button("icon-button")
        .attr("aria-label", "Keys")
        .attr("aria-haspopup", "dialog")
        .on_click(move || help.set(true))
        .child("?");
    el("header")
        .class("app-header")
        .child(home("Volary").class("brand"))
        .child(
            el("nav")
                .attr("aria-label", "Main")
                .child(home("Playground").attr("aria-current", "page")),
        )
        .child(
            el("div")
                .class("app-actions")
                .child(keys)
                .child(view! { <ThemeSwitch theme=theme/> }.into_any()),
        )
}

fn drop_overlay(playground: Playground) -> AnyView {
    shown(
        move || playground.transfer.dragging.get(),
        || {
            let words = "Drop it: an episode (JSON, Renderer zip) or a GSM8K file (JSONL). \
                         It stays in your browser.";
            el("div")
                .class("drop-overlay")
                .child(el("p").child(words))
                .view()
        },
    )
}

fn press_key(playground: Playground, help: RwSignal<bool>, press: &keys::KeyPress) -> bool {
    if press.command {
        if press.key == "Enter" {
            playground.step();
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
        "?" => {
            help.set(true);
            true
        }
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
    match storage::get(Keep::Always, "theme").as_deref() {
        Some("light") => Theme::Light,
        Some("dark") => Theme::Dark,
        _ => Theme::System,
    }
}

fn theme_name(theme: Theme) -> Option<&'static str> {
    match theme {
        Theme::System => None,
        Theme::Light => Some("light"),
        Theme::Dark => Some("dark"),
    }
}
