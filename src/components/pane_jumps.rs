//! A bar that links to each pane, for narrow screens, where panes are stacked.

use leptos::prelude::*;

use super::markup::{button, el};
use crate::browser;

/// Buttons that scroll to a pane. Visible on narrow screens only.
#[component]
pub fn PaneJumps(
    /// The id and the name of each pane.
    panes: &'static [(&'static str, &'static str)],
) -> impl IntoView {
    let jumps = panes.iter().map(|(id, name)| {
        button("pane-jump")
            .on_click(move || browser::element::scroll_to_id(id))
            .child(*name)
            .view()
    });
    el("nav")
        .class("pane-jumps")
        .attr("aria-label", "Panes")
        .child(jumps.collect::<Vec<_>>())
        .view()
}
