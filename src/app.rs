//! The layout around every page: header, navigation, alerts, the overlay of keys.

use leptos::prelude::*;

use crate::components::erased::{pressed, shown, watch};
use crate::components::theme::Theme;
use crate::components::{AlertBox, KeyHelp, ThemeSwitch};
use crate::playground::page::PlaygroundPage;
use crate::playground::state::Playground;
use crate::route::Route;
use crate::shell::storage::{self, Keep};
use crate::shell::{appearance, files, keys, location};

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
#[component]
pub fn App() -> impl IntoView {
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

    view! {
        <a
            class="skip-link"
            href="#main"
            on:click=pressed(move |event| {
                event.prevent_default();
                crate::shell::element::focus_id("main");
            })
        >
            "Skip to the content"
        </a>
        <Header help=help/>
        <main id="main" class="app-main" tabindex="-1">
            <PlaygroundPage/>
        </main>
        <div class="notices">
            <AlertBox notice=playground.notice/>
        </div>
        {shown(
            move || playground.transfer.dragging.get(),
            || {
                view! {
                    <div class="drop-overlay">
                        <p>
                            "Drop it: an episode (JSON, Renderer zip) or a GSM8K file (JSONL). It stays in your browser."
                        </p>
                    </div>
                }
                    .into_any()
            },
        )}
        <KeyHelp open=help keys=KEYS/>
    }
}

#[component]
fn Header(help: RwSignal<bool>) -> impl IntoView {
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
    view! {
        <header class="app-header">
            <a class="brand" href="#/">"Volary"</a>
            <nav aria-label="Main">
                <a href="#/" aria-current="page">"Playground"</a>
            </nav>
            <div class="app-actions">
                <button
                    type="button"
                    class="icon-button"
                    aria-label="Keys"
                    aria-haspopup="dialog"
                    on:click=pressed(move |_| help.set(true))
                >
                    "?"
                </button>
                <ThemeSwitch theme=theme/>
            </div>
        </header>
    }
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
