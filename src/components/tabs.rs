//! Tabs: one of several panels is shown. The panels are the caller's: `{prefix}-panel-{i}`.

use leptos::ev::KeyboardEvent;
use leptos::prelude::*;

use super::erased::words;
use super::markup::{button, el};
use crate::browser;

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
    let tab = |place: usize, name: &'static str| {
        let chosen = move || active.get() == place;
        let tab_index = move || if chosen() { "0" } else { "-1" };
        button("tab")
            .attr("role", "tab")
            .attr("id", format!("{id_prefix}-tab-{place}"))
            .attr("aria-controls", format!("{id_prefix}-panel-{place}"))
            .attr("aria-selected", words(move || chosen().to_string()))
            .attr("tabindex", words(move || tab_index().to_owned()))
            .on_click(move || active.set(place))
            .child(name)
            .view()
    };
    let tabs = names.iter().enumerate();
    el("div")
        .class("tabs")
        .attr("role", "tablist")
        .attr("aria-label", label)
        .on("keydown", pressed)
        .child(
            tabs.map(|(place, name)| tab(place, name))
                .collect::<Vec<_>>(),
        )
        .view()
}
