//! What stands where nothing is yet.

use leptos::prelude::*;

use super::markup::el;

/// Says that there is nothing yet, and what would bring something.
#[component]
pub fn EmptyState(
    /// What is not there.
    title: &'static str,
    /// What to do about it.
    children: Children,
) -> impl IntoView {
    el("div")
        .class("empty-state")
        .child(el("p").class("empty-title").child(title))
        .child(el("div").child(children()))
        .view()
}
