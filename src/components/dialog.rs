//! A modal dialog: the browser's own element, which traps the focus and restores it.

use leptos::ev::Event;
use leptos::prelude::*;

use super::erased::watch;
use super::icon::{Glyph, named_icon};
use super::markup::{ElementRef, button, el};
use crate::browser;

/// A dialog with a title and a close button.
#[component]
pub fn Dialog(
    /// Whether it is shown.
    open: RwSignal<bool>,
    /// The title.
    #[prop(into)]
    title: String,
    /// The content.
    children: Children,
) -> impl IntoView {
    dialog(open, title, children())
}

/// A dialog with a title and a close button.
pub fn dialog(open: RwSignal<bool>, title: String, content: AnyView) -> AnyView {
    let reference = ElementRef::new();
    watch(move || {
        let open = open.get();
        if let Some(dialog) = reference.get() {
            browser::element::show_dialog(&dialog, open);
        }
    });
    let close = button("quiet icon-button")
        .on_click(move || open.set(false))
        .child(named_icon(Glyph::Close, "Close"));
    let head = el("header")
        .class("dialog-head")
        .child(el("h2").child(title.clone()))
        .child(close);
    el("dialog")
        .class("dialog")
        .attr("aria-label", title)
        .element_ref(reference)
        .on("close", move |_: Event| open.set(false))
        .child(head)
        .child(el("div").class("dialog-body").child(content))
        .view()
}
