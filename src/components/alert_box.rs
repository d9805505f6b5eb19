//! An alert with what went wrong, why, and what to do.

use leptos::prelude::*;

use super::erased::dynamic;
use super::icon::{Glyph, icon, named_icon};
use super::markup::{El, button, el, nothing};
use super::text::inert_in;
use crate::projection::notice::Notice;

/// Shows a notice until it is dismissed.
#[component]
pub fn AlertBox(
    /// What went wrong; `None` for nothing.
    notice: RwSignal<Option<Notice>>,
) -> impl IntoView {
    dynamic(move || {
        let Some(Notice { what, why, advice }) = notice.get() else {
            return nothing();
        };
        let words = alert_words(&what, &why, &advice);
        let dismiss = button("quiet icon-button")
            .on_click(move || notice.set(None))
            .child(named_icon(Glyph::Close, "Dismiss"));
        el("div")
            .class("alert")
            .attr("role", "alert")
            .child(icon(Glyph::Warning))
            .child(words)
            .child(dismiss)
            .view()
    })
}

/// The three texts of a notice, as in any alert.
pub fn alert_words(what: &str, why: &str, advice: &str) -> El {
    el("div")
        .class("alert-words")
        .child(inert_in("p", "alert-what", what))
        .child(inert_in("p", "alert-why", why))
        .child(inert_in("p", "alert-advice", advice))
}
