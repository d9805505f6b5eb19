//! A tab list for one of several panels. The caller renders the panels, with the ids `{prefix}-panel-{i}`.

use leptos::ev::KeyboardEvent;
use leptos::prelude::*;

use volary_browser as browser;

/// A tab list. Arrow keys move between tabs.
#[component]
pub fn Tabs(
    /// The accessible name of the tab list.
    label: &'static str,
    /// The names of the tabs.
    names: &'static [&'static str],
    /// The index of the selected tab.
    active: RwSignal<usize>,
    /// Prefix of the ids of tabs and panels.
    id_prefix: &'static str,
) -> impl IntoView {
    let pressed = move |event: KeyboardEvent| {
        let (at, last) = (active.get_untracked(), names.len().saturating_sub(1));
        let to = match event.key().as_str() {
            "ArrowLeft" if at == 0 => last,
            "ArrowLeft" => at - 1,
            "ArrowRight" if at == last => 0,
            "ArrowRight" => at + 1,
            "Home" => 0,
            "End" => last,
            _ => return,
        };
        event.prevent_default();
        active.set(to);
        browser::element::focus_id(&format!("{id_prefix}-tab-{to}"));
    };
    let tabs = names.iter().enumerate().map(|(place, name)| {
        let chosen = move || active.get() == place;
        view! {
            <button
                type="button"
                class="tab"
                role="tab"
                id=format!("{id_prefix}-tab-{place}")
                aria-controls=format!("{id_prefix}-panel-{place}")
                aria-selected=move || chosen().to_string()
                tabindex=move || if chosen() { "0" } else { "-1" }
                on:click=move |_| active.set(place)
            >
                {*name}
            </button>
        }
    });
    view! {
        <div class="tabs" role="tablist" aria-label=label on:keydown=pressed>
            {tabs.collect_view()}
        </div>
    }
}
