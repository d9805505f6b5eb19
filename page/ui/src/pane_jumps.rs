//! A bar with a link to each pane, for narrow screens, on which panes are stacked.

use leptos::prelude::*;

use volary_browser as browser;

/// Buttons that scroll to a pane. Visible on narrow screens only.
#[component]
pub fn PaneJumps(
    /// The id and the name of each pane.
    panes: &'static [(&'static str, &'static str)],
) -> impl IntoView {
    let jumps = panes.iter().map(|(id, name)| {
        let jump = move |_| browser::element::scroll_to_id(id);
        view! {
            <button type="button" class="pane-jump" on:click=jump>
                {*name}
            </button>
        }
    });
    view! {
        <nav class="pane-jumps" aria-label="Panes">
            {jumps.collect_view()}
        </nav>
    }
}
