//! What stands where nothing is yet.

use leptos::prelude::*;

/// Says that there is nothing yet, and what would bring something.
#[component]
pub fn EmptyState(
    /// What is not there.
    title: &'static str,
    /// What to do about it.
    children: Children,
) -> impl IntoView {
    view! {
        <div class="empty-state">
            <p class="empty-title">{title}</p>
            <div>{children()}</div>
        </div>
    }
    .into_any()
}
