//! The layout around every page: header, navigation, alerts, and the help overlay.

use leptos::ev::MouseEvent;
use leptos::prelude::*;
use volary_app::playground::Event;
use volary_app::playground::consent::EpisodeAttempt;
use volary_app::playground::run::Run;
use volary_view::route::Route;

use crate::pages;
use volary_browser::storage::{self, Keep};
use volary_browser::{appearance, element, files, keys, location};
use volary_playground::files as playground_files;
use volary_playground::next_action::focus_next_action;
use volary_playground::page::PlaygroundPage;
use volary_playground::state::Playground;
use volary_playground::{choices, start, url_sync};
use volary_ui::keep_alive::KeepAlive;
use volary_ui::key_help::KeyHelpContent;
use volary_ui::lazy::{Coming, lazy};
use volary_ui::navigation::{Page, Pages};
use volary_ui::{AlertBox, Mark, Theme, ThemeSwitch};

/// The keyboard shortcuts, as the help overlay lists them.
const KEYS: &[(&str, &str)] = &[
    ("?", "Show this help"),
    ("j", "Select the next step"),
    ("k", "Select the previous step"),
    ("g", "Select the reset"),
    ("G", "Select the last step"),
    ("p", "Play or pause"),
    ("Control+Enter", "Send the action (Step)"),
    ("r", "Run, or stop"),
    ("u", "Undo the last step"),
    ("R", "Reset"),
    ("s", "Share"),
    ("Enter in a tool's form", "Send the action (Step)"),
    ("Arrow keys on the timeline", "Move from step to step"),
    ("Escape", "Close the open dialog or menu"),
];

/// The root component.
pub fn app() -> AnyView {
    let playground = start::provide();
    let pages = Pages::provide(Route::parse(&location::hash()));
    start::start(playground);
    let follow = move |route: Route| {
        match Page::of(&route) {
            Page::Playground => url_sync::follow(playground, route.clone()),
            page => {
                // A notice of the playground does not apply to another page.
                playground.notice().set(None);
                // Other pages show connected environments as well; Review draws its rows first.
                if page != Page::Review {
                    start::load_all(playground);
                }
            }
        }
        pages.route.set(route);
    };
    follow(pages.route.get_untracked());
    location::on_change(move |hash| follow(Route::parse(&hash)));
    files::on_drop(
        move |over| {
            if playground.transfer().dragging.get_untracked() != over {
                playground.transfer().dragging.set(over);
            }
        },
        move |files| match pages.shown.get_untracked() {
            Page::Playground => playground_files::take_files(playground, files),
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
    let keys = Signal::derive(move || match pages.shown.get() {
        Page::Playground => KEYS,
        _ => pages.keys().unwrap_or(&[]),
    });
    provide_context(KeyHelpContent { open: help, keys });
    let was_asked = Memo::new(move |former: Option<&bool>| former == Some(&true) || help.get());
    let others = Page::ALL.iter().filter_map(|(page, name, _)| {
        let (page, load) = (*page, pages::load(*page)?);
        Some(view! { <LazyPage pages page name load/> })
    });
    let is_playing = move || pages.shown.get() == Page::Playground;
    let skip = move |event: MouseEvent| {
        event.prevent_default();
        let has_focused = untrack(is_playing) && focus_next_action();
        if !has_focused {
            element::focus_id("main");
        }
    };
    let skip_name = move || {
        if is_playing() {
            "Skip to the next action"
        } else {
            "Skip to the content"
        }
    };
    view! {
        <a class="skip-link" href="#main" on:click=skip>
            {skip_name}
        </a>
        <Header playground pages help/>
        <div class="notices">
            <AlertBox notice=playground.notice()/>
        </div>
        <main id="main" class="app-main" tabindex="-1">
            <KeepAlive is_wanted=is_shown(pages, Page::Playground)>
                <PlaygroundPage/>
            </KeepAlive>
            {others.collect_view()}
        </main>
        <DropOverlay playground pages/>
        <Show when=move || was_asked.get()>{lazy("the help", pages::key_help)}</Show>
    }
    .into_any()
}

/// The root component in a frame of another page (`?embed=1`).
pub fn embedded() -> AnyView {
    start::provide();
    lazy("The episode", pages::embed)
}

#[component]
fn Header(
    playground: Playground,
    pages: Pages,
    /// Whether the help overlay is open.
    help: RwSignal<bool>,
) -> impl IntoView {
    let theme = RwSignal::new(stored_theme());
    Effect::new(move |_| {
        let name = theme.get().name();
        appearance::set_theme(name);
        match name {
            Some(name) => {
                storage::set(Keep::Always, "theme", name);
            }
            None => storage::remove(Keep::Always, "theme"),
        }
    });
    // Link to the current episode.
    let home = Signal::derive(move || Route::Playground(playground.place().get()).to_hash());
    let linked = Page::ALL.iter().filter(|(page, ..)| page.is_in_header());
    let links = linked.map(|(page, name, address)| {
        let page = *page;
        let address = match page {
            Page::Playground => home,
            _ => Signal::stored((*address).to_owned()),
        };
        let current = move || (pages.shown.get() == page).then_some("page");
        view! {
            <a href=address title=page.purpose() aria-current=current>
                {*name}
            </a>
        }
    });
    view! {
        <header class="app-header">
            // The first link leads to the same place.
            <a href=home class="brand" tabindex="-1">
                <Mark/>
                {"Volary"}
            </a>
            <nav aria-label="Main">{links.collect_view()}</nav>
            <div class="app-actions">
                <button
                    type="button"
                    class="icon-button"
                    aria-label="Help"
                    aria-haspopup="dialog"
                    on:click=move |_| help.set(true)
                >
                    {"?"}
                </button>
                <ThemeSwitch theme/>
            </div>
        </header>
    }
}

fn is_shown(pages: Pages, page: Page) -> Signal<bool> {
    Signal::derive(move || pages.shown.get() == page)
}

/// A page whose code is loaded at the first visit.
#[component]
fn LazyPage(
    pages: Pages,
    page: Page,
    /// The display name of the page.
    name: &'static str,
    load: fn() -> Coming,
) -> impl IntoView {
    view! { <KeepAlive is_wanted=is_shown(pages, page)>{lazy(name, load)}</KeepAlive> }
}

#[component]
fn DropOverlay(playground: Playground, pages: Pages) -> impl IntoView {
    let words = move || {
        let words = match pages.shown.get_untracked() {
            Page::Playground => None,
            _ => pages.with_hooks(|hooks| hooks.drop_words),
        };
        words.unwrap_or(
            "Drop an episode (JSON, Renderer zip) or a GSM8K file (JSONL). It stays in your \
             browser.",
        )
    };
    view! {
        <Show when=move || playground.transfer().dragging.get()>
            <div class="drop-overlay">
                <p>{words()}</p>
            </div>
        </Show>
    }
}

fn press_key(playground: Playground, press: &keys::KeyPress) -> bool {
    if press.command {
        if press.key == "Enter" {
            playground.update(Event::Attempt(EpisodeAttempt::Step));
            return true;
        }
        return false;
    }
    if press.typing {
        return false;
    }
    let select = |step: usize| {
        playground.selected().set(step.min(playground.last_step()));
        true
    };
    let selected = playground.selected().get_untracked();
    match press.key.as_str() {
        "j" => select(selected + 1),
        "k" => select(selected.saturating_sub(1)),
        "g" => select(0),
        "G" => select(usize::MAX),
        "r" => {
            let is_running = playground.policy().run.get_untracked() != Run::Idle;
            playground.update(if is_running {
                Event::Stop
            } else {
                Event::Attempt(EpisodeAttempt::Run)
            });
            true
        }
        "u" => {
            playground.update(Event::Undo);
            true
        }
        "R" => {
            choices::start_over(playground);
            true
        }
        "s" => {
            playground_files::share(playground);
            true
        }
        "p" => {
            playground
                .transfer()
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
