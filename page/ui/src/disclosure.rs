//! A button that shows and hides what it names.

use leptos::prelude::*;

/// Toggles `is_open`. The caller draws what it shows, next to it.
#[component]
pub fn DisclosureButton(
    is_open: RwSignal<bool>,
    /// What is shown or hidden. It stays the same in both states, which `aria-expanded` tells apart.
    #[prop(into)]
    name: Signal<String>,
) -> impl IntoView {
    view! {
        <button
            type="button"
            class="quiet small"
            aria-expanded=move || is_open.get().to_string()
            on:click=move |_| is_open.update(|is_open| *is_open = !*is_open)
        >
            {name}
        </button>
    }
}
