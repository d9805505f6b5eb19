//! Tabs: one of several panels is shown. The panels are the caller's: `{prefix}-panel-{i}`.

use leptos::prelude::*;

use super::erased::{self, keyed, label as label_of, words};
use crate::shell;

/// A list of tabs. Arrow keys move among them.
#[component]
pub fn Tabs(
    /// What is chosen among.
    label: &'static str,
    /// The names of the tabs.
    names: &'static [&'static str],
    /// The place of the chosen one.
    active: RwSignal<usize>,
    /// What the ids of tabs and panels begin with.
    id_prefix: &'static str,
) -> impl IntoView {
    let pressed = keyed(move |event| {
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
        shell::element::focus_id(&format!("{id_prefix}-tab-{to}"));
    });
    let tabs = names
        .iter()
        .enumerate()
        .map(|(place, name)| {
            let chosen = move || active.get() == place;
            let choose = erased::pressed(move |_| active.set(place));
            view! {
                <button
                    type="button"
                    role="tab"
                    class="tab"
                    id=format!("{id_prefix}-tab-{place}")
                    aria-controls=format!("{id_prefix}-panel-{place}")
                    aria-selected=words(move || chosen().to_string())
                    tabindex=label_of(move || if chosen() { "0" } else { "-1" })
                    on:click=choose
                >
                    {*name}
                </button>
            }
        })
        .collect_view();
    view! {
        <div class="tabs" role="tablist" aria-label=label on:keydown=pressed>
            {tabs}
        </div>
    }
    .into_any()
}
